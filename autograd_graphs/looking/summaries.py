"""Describe gradients by their numbers, many together: in a hook only what must be seen at once is
looked at, and the rest is computed on copies, all of one shape in one go.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch

from autograd_graphs.data import Gradient, tile_of
from autograd_graphs.looking.tensors import LARGE, SMALL, is_plain, shape_of, values_of

WHOLE = 10_000  # elements: what is larger is summed up at once, and only a sample of it is copied
SAMPLE = 1_000  # elements, about, that a histogram counts
BINS = 15
MOST_TILED = 64  # elements, in at most so many rows and columns
MOST_ROWS, MOST_COLUMNS = 8, 16
TOGETHER = 64  # tensors: so much stays in a processor's cache
MOST_KEPT = 64_000_000  # bytes of copies; then they are summed up and dropped
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
PRIMES = (2, 3, 5, 7, 11, 13, 17, 23, 31, 43, 59, 83, 113, 157, 211, 293, 401, 503, 557, 769, 1_009)


class PendingSummary:
    """Stand for a summary that is still to be computed.

    `kept` is a copy of the tensor, or of a sample of a large one, whose `numbers` (norm, least,
    greatest, how many nan, how many inf) are there already.
    """

    __slots__ = ("kept", "numbers", "sizes", "summary")

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes = sizes
        self.kept: torch.Tensor | None = None
        self.numbers: Any = None
        self.summary: Gradient | None = None

    @property
    def whole(self) -> torch.Tensor | None:
        """Return the copy of all of the tensor, where that is what is kept."""
        return self.kept if self.numbers is None else None


class Summaries:
    """Take gradients, and describe them later; no gradient is referred to in between."""

    def __init__(self) -> None:
        self._open: list[PendingSummary] = []
        self._bytes = 0

    def take(self, tensor: torch.Tensor | None) -> Gradient | PendingSummary | None:
        """Return the description of a gradient where it is had at once, else what stands for it."""
        if tensor is None:
            return None
        sizes = shape_of(tensor)
        if sizes is None:
            return Gradient(None)
        count = math.prod(sizes)
        if count <= SMALL and (small := values_of(tensor)) is not None:
            return Gradient(sizes, small, tile=tile_of(small))
        if not 0 < count <= LARGE or (seen := readable(tensor)) is None:
            return Gradient(sizes)
        try:
            return self._keep(PendingSummary(sizes), seen, count)
        except Exception:  # what torch cannot sum up
            return Gradient(sizes)

    def _keep(self, pending: PendingSummary, seen: torch.Tensor, count: int) -> PendingSummary:
        """Copy what a summary needs of a tensor."""
        if count <= WHOLE:
            pending.kept = seen.clone(memory_format=torch.contiguous_format)
        else:
            (pending.numbers,) = numbers_by_row(seen.reshape(1, -1))
            pending.kept = sample(seen).clone()
        self._open.append(pending)
        self._bytes += pending.kept.numel() * pending.kept.element_size()
        if self._bytes > MOST_KEPT:
            self.settle()
        return pending

    def settle(self) -> None:
        """Describe all that was taken, and drop the copies."""
        groups = defaultdict(list)
        for pending in self._open:
            kept = pending.kept
            groups[pending.sizes, kept.dtype, kept.device].append(pending)
        self._open, self._bytes = [], 0
        for group in groups.values():
            for begin in range(0, len(group), TOGETHER):
                describe(group[begin : begin + TOGETHER])

    def described(self, taken: Any) -> Any:
        """Return the description that is pending; anything else as it is."""
        if type(taken) is not PendingSummary:
            return taken
        if taken.summary is None:
            self.settle()
        return taken.summary


def gradient(tensor: torch.Tensor | None) -> Gradient | None:
    """Describe a gradient: its values where it is small, else shape, norm, least and greatest
    value, and its values as a tile or their histogram.

    Nothing is computed over more than `LARGE` elements: of those only the shape is told. More than
    `SAMPLE` elements are counted in bins as a sample, one in so many.
    """
    summaries = Summaries()
    return summaries.described(summaries.take(tensor))


def readable(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return a view of a tensor that torch may read and compute with; None of an odd one, or where
    its storage does not hold all of it any more.
    """
    if tensor.layout is not torch.strided or tensor.is_meta or not is_plain(tensor):
        return None
    if tensor.is_nested or tensor.dtype not in FLOATS:
        return None
    try:
        flat = tensor.detach()
        return flat.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    except RuntimeError:
        return None


def are_equal(ours: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Say whether a tensor holds the same numbers, and no nan, as one of ours."""
    if ours.dtype is not tensor.dtype or ours.device != tensor.device:
        return False
    seen = readable(tensor)
    return seen is not None and torch.equal(ours, seen)


def sample(tensor: torch.Tensor) -> torch.Tensor:
    """Return about `SAMPLE` elements of a large tensor, so far apart that no row is missed."""
    return tensor.reshape(-1)[:: step(tensor.numel(), tensor.shape)]


def step(count: int, sizes: Sequence[int]) -> int:
    """Return how far apart the elements of a sample are: a prime that divides no size."""
    if count <= SAMPLE:
        return 1
    for prime in PRIMES:
        if prime * SAMPLE >= count and all(size % prime for size in sizes):
            return prime
    return PRIMES[-1]


def numbers_by_row(rows: torch.Tensor) -> list[tuple[float, float, float, int, int]]:
    """Return of every row norm, least and greatest value, and how many are nan and infinite."""
    norms = norms_of(rows)
    spans = zip(norms, rows.amin(1).tolist(), rows.amax(1).tolist(), strict=True)
    numbers = []
    for row, (norm, least, greatest) in zip(rows, spans, strict=True):
        nans = infs = 0
        largest = max(-least, greatest)
        if not math.isfinite(largest):
            nans, infs = int(row.isnan().sum()), int(row.isinf().sum())
        elif largest and norm in (0.0, math.inf):  # the squares left the range, the values did not
            (of_shares,) = norms_of(row[None] / largest)
            norm = largest * of_shares
        numbers.append((norm, least, greatest, nans, infs))
    return numbers


def norms_of(rows: torch.Tensor) -> list[float]:
    """Return the norm of every row, computed in float32 at least."""
    kind = rows.dtype if rows.dtype is torch.float64 else torch.float32
    return torch.linalg.vector_norm(rows, dim=1, dtype=kind).tolist()


def describe(group: Sequence[PendingSummary]) -> None:
    """Describe tensors of one shape and kind, and drop their copies."""
    try:
        describe_rows(group)
    except Exception:  # what torch cannot sum up
        for pending in group:
            pending.summary = Gradient(pending.sizes)
    for pending in group:
        pending.kept = None


def describe_rows(group: Sequence[PendingSummary]) -> None:
    """Describe tensors by their copies, each a row of one matrix."""
    sizes, numbers = group[0].sizes, [pending.numbers for pending in group]
    rows = torch.stack([pending.kept for pending in group]).flatten(1)
    if numbers[0] is None:
        numbers = numbers_by_row(rows)
        rows = rows[:, :: step(rows.shape[1], sizes)]
    if is_tile(sizes):
        kind, looks = "tile", tiles(rows, sizes)
    else:
        kind, looks = "bins", bins(rows, numbers)
    for pending, (*span, nans, infs), look in zip(group, numbers, looks, strict=True):
        pending.summary = Gradient(sizes, None, *span, nans=nans, infs=infs, **{kind: look})


def is_tile(sizes: tuple[int, ...]) -> bool:
    """Say whether all values of a tensor are told, in rows of its last dimension."""
    columns = sizes[-1] if sizes else 1
    count = math.prod(sizes)
    return 0 < count <= MOST_TILED and columns <= MOST_COLUMNS and count <= columns * MOST_ROWS


def tiles(rows: torch.Tensor, sizes: tuple[int, ...]) -> list[tuple[tuple[float, ...], ...]]:
    """Return the values of every tensor, each flat in a row, in rows of its last dimension."""
    wide = sizes[-1]
    return [tuple(map(tuple, tile)) for tile in rows.reshape(len(rows), -1, wide).tolist()]


def bins(rows: torch.Tensor, numbers: Sequence[tuple[float, ...]]) -> list[tuple[int, ...]]:
    """Return the histogram of every row, symmetric around 0; nan and inf are left out."""
    most = [max(-least, greatest) for _, least, greatest, *_ in numbers]
    odd = [nr for nr, (*_, nans, infs) in enumerate(numbers) if nans or infs]
    for nr in odd:
        most[nr] = 1.0
    histograms = list(map(tuple, counted(rows, most)))
    for nr in odd:
        finite = rows[nr][rows[nr].isfinite()]
        edge = finite.abs().amax().item() if len(finite) else 0.0
        histograms[nr] = tuple(counted(finite[None], [edge])[0])
    return histograms


def counted(rows: torch.Tensor, most: Sequence[float]) -> list[list[int]]:
    """Count every row into bins between minus and plus the number that is given for it."""
    if rows.dtype is not torch.float64:
        rows = rows.float()
    ends = rows.new_tensor([end or 1.0 for end in most])
    firsts = torch.arange(0, BINS * len(rows), BINS, device=rows.device)
    half = BINS / 2
    places = (rows / ends[:, None]).mul_(half).add_(half).nan_to_num_().clamp_(0, BINS - 1)
    places = places.to(torch.int64).add_(firsts[:, None])
    return torch.bincount(places.view(-1), minlength=BINS * len(rows)).view(-1, BINS).tolist()
