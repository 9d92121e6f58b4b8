"""Count and plot the bytes of the tensors that a forward and a backward make, as they come and go.

Sees what operations return; not what one uses while it runs, nor the tensor that torch makes of a
Python number (the 2 in `x * 2`), nor a sparse tensor, nor that a storage grows later, nor what a
checkpoint keeps of the state of generators. A storage counts once and whole, as long as it or a
view of it is there. While this watches, torch adds gradients that meet at a node into a new tensor,
where it would else reuse one of them: the peak comes out higher there.
"""

from __future__ import annotations

import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

from autograd_graphs.data import counted, stem
from autograd_graphs.looking.nodes import ran_as
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.torch_private import next_number
from autograd_graphs.text import in_bytes, shortened
from helpers.plots import Plot, plot

if TYPE_CHECKING:  # matplotlib takes half a second: only who plots waits for it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MADE, PASSED, KEPT = "results of the forward", "gradients on their way", ".grad that stays"
COLOURS = {KEPT: "#f6b26b", MADE: "#b5d6ec", PASSED: "#5b9bc8"}  # of the areas, from the ground up
STACK = PASSED, MADE, KEPT  # the same, from the top down
BACKWARD = "backward()"  # the name of a step
MOST_NAMES, LONGEST, POINTS = 7, 10, 11  # names below a plot, their letters and their size
NO_COLUMN = "AccumulateGrad", "T"  # what these make counts in the column before them


def bytes_in_use(forward: Callable[[], torch.Tensor], **how: Any) -> tuple[list[int], list[int]]:
    """Run `loss = forward()` and `loss.backward(**how)`; return for each of the two how many bytes
    were in use after each change. What was there before counts 0.
    """
    with _Meter() as meter:
        loss = forward()
        start = len(meter.changes)
        loss.backward(**how)
        in_use = list(accumulate([size for _, size in meter.changes], initial=0))
    return in_use[: start + 1], in_use[start:]


def most_bytes(forward: Callable[[], torch.Tensor]) -> int:
    """Return the most bytes that are in use at a time during `forward().backward()`."""
    return max(map(max, bytes_in_use(forward)))


def most_bytes_while(run: Callable[[], object]) -> int:
    """Return the most bytes that are in use at a time while `run()` runs, its result included.
    Forward mode copies some tensors only because this watches; what grows and what doesn't is true.
    """
    with _Meter() as meter:
        _result = run()
        return max(accumulate([size for _, size in meter.changes], initial=0))


def plot_bytes(forward: Callable[[], torch.Tensor], leaf: torch.Tensor) -> Plot:
    """Plot the bytes in use during `forward().backward()`, without and with `retain_graph=True`.

    Empties the `.grad` of `leaf` before each run, so that both begin alike.
    """
    from matplotlib.ticker import MaxNLocator

    figure, (axes,) = _figure(1, size=(7, 2.8))
    for keep in (False, True):
        leaf.grad = None
        _, back = bytes_in_use(forward, retain_graph=keep)
        axes.plot(back, label=f"retain_graph={keep}")
    axes.set(xlabel="allocations and frees during backward", ylim=(0, None))
    axes.set_title("bytes in use", loc="left", fontsize=POINTS)
    axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 4, 8, 10]))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", alpha=0.4)
    axes.legend(loc="lower left")
    return plot(figure)


def _figure(rows: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure  # it takes half a second: only who plots waits for it

    figure = Figure(figsize=size, layout="constrained")
    return figure, list(figure.subplots(rows, squeeze=False)[:, 0])


def timeline(
    forward: Callable[[], torch.Tensor],
) -> tuple[int, dict[str, list[int]], list[tuple[str, int]]]:
    """Run `forward().backward()`; return after how many changes backward began, for each kind of
    bytes how many were in use after each change, and the name of each operation and node, as they
    ran, with how many changes came before it.

    An operation has the name of the node that it made. What a checkpoint computes again is a result
    of the forward; whatever else backward makes counts as a gradient.
    """
    with _Meter() as meter, ExitStack() as hooks:
        loss = forward()
        start = len(meter.changes)
        live = [node for node in Walk((loss,)).live if not isinstance(node, torch.Tensor)]
        names = _names([node for node in live if stem(type(node).__name__) not in NO_COLUMN])
        for node, name in names.items():
            hooks.enter_context(node.register_prehook(partial(meter.enter, name)))
        meter.enter(BACKWARD)
        with torch.no_grad():  # the gradient of the loss itself is no result of the forward
            loss.backward()
        stays, changes = {number for number, _ in meter.live.values()}, list(meter.changes)
    bytes_of = {kind: [0] for kind in COLOURS}
    for number, size in changes:
        made_by_backward = KEPT if number in stays else PASSED
        kind = MADE if number in meter.results else made_by_backward
        for name, line in bytes_of.items():
            line.append(line[-1] + size * (name == kind))
    made_by = {ran_as(node): name for node, name in names.items()}
    return start, bytes_of, [(made_by.get(key, key), at) for key, at in meter.steps]


def _names(nodes: Sequence[Any]) -> dict[Any, str]:
    """Name nodes; those of the same kind are numbered in the order of the forward."""
    kinds = {node: stem(type(node).__name__) for node in sorted(nodes, key=ran_as)}
    often, so_far = Counter(kinds.values()), Counter()
    for node, kind in kinds.items():
        so_far[kind] += 1
        if often[kind] > 1:
            kinds[node] = f"{kind} {so_far[kind]}"
    return kinds


def plot_steps(forwards: dict[str, Callable[[], torch.Tensor]]) -> Plot:
    """Plot for each what is in use during `forward().backward()`, and what for, all to one scale.

    Across are the operations of the forward, then the nodes of backward, as they run. What an
    AccumulateGrad or the transposing of a weight makes counts in the column before it. Empties the
    gradients of what a forward leads to before it goes back; what it warns of is not said again.
    """
    return _plot_steps(forwards, alike=True)


def plot_timeline(model: torch.nn.Module, *inputs: torch.Tensor) -> Plot:
    """Plot for each input what is in use during `model(x).sum().backward()`, to its own scale."""
    forwards = {counted(len(x), "row"): lambda x=x: model(x).sum() for x in inputs}
    return _plot_steps(forwards, alike=False)


def _plot_steps(forwards: dict[str, Callable[[], torch.Tensor]], alike: bool) -> Plot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = [timeline(partial(_emptied, forward))[1:] for forward in forwards.values()]
    names = [[name for name, _ in steps] for _, steps in runs]
    sizes = [(max(_whole(bytes_of)), len(steps)) for bytes_of, steps in runs]
    said_once = len(set(map(tuple, names))) == 1
    figure, rows = _figure(len(runs), size=(8.6, 1.1 + 1.2 * len(runs)))
    said = []
    for number, (axes, title, run) in enumerate(zip(rows, forwards, runs, strict=True)):
        _draw(axes, *run, *(map(max, zip(*sizes, strict=True)) if alike else sizes[number]))
        peak, parts = _at_the_peak(*run)
        axes.set_title(f"{title}: {peak}", loc="left", fontsize=POINTS)
        axes.tick_params(labelbottom=not said_once or number == len(runs) - 1)
        across = "" if said_once else f" Across: {', '.join(names[number])}."
        said.append(f"{axes.get_title('left')}, {parts}.{across}")
    if said_once:
        said.append(f"Across: {', '.join(names[0])}.")
    areas = dict(zip(COLOURS, rows[0].collections, strict=False))
    words = {"frameon": False, "fontsize": POINTS, "handlelength": 1}
    figure.legend([areas[kind] for kind in STACK], STACK, loc="outside right upper", **words)
    return plot(figure, alt=" ".join(said))


def _emptied(forward: Callable[[], torch.Tensor]) -> torch.Tensor:
    """Run a forward; empty `.grad` of the leaves that it leads to."""
    loss = forward()
    for node in Walk((loss,)).live:
        if hasattr(node, "variable"):
            node.variable.grad = None
    return loss


def _whole(bytes_of: dict[str, list[int]]) -> list[int]:
    return list(map(sum, zip(*bytes_of.values(), strict=True)))


def _at_the_peak(bytes_of: dict[str, list[int]], steps: list[tuple[str, int]]) -> tuple[str, str]:
    """Say how much is in use at most and where; and what for."""
    whole = _whole(bytes_of)
    peak = whole.index(max(whole))
    before = [name for name, at in steps if at < peak]
    part = "backward" if BACKWARD in before else "the forward"
    parts = [f"{line[peak]:,} bytes of {kind}" for kind, line in bytes_of.items()]
    return f"peak {in_bytes(whole[peak])}, at {before[-1]} of {part}", ", ".join(parts)


def _draw(
    axes: Axes,
    bytes_of: dict[str, list[int]],
    steps: list[tuple[str, int]],
    top: int,
    columns: int,
) -> None:
    """Draw the kinds of bytes as areas, one on the other; each step has a column."""
    from matplotlib.ticker import EngFormatter

    places = _places(steps, len(bytes_of[MADE]))
    most = max(_whole(bytes_of))
    low = [0] * len(places)
    for kind, line in bytes_of.items():
        high = list(map(sum, zip(low, [*line, line[-1]], strict=True)))
        axes.fill_between(places, low, high, step="post", color=COLOURS[kind], linewidth=0)
        low = high
    peak = low.index(most)
    until = min(places[peak + 1], int(places[peak]) + 1)  # the end of its column
    axes.plot((places[peak] + until) / 2, most + 0.07 * top, "v", color="black")
    names = [shortened(name, LONGEST) for name, _ in steps]
    axes.axvline(names.index(BACKWARD), color="black", linestyle=":", zorder=0)
    axes.set_xticks([at + 0.5 for at in range(len(names))], minor=True)
    named = _named(names, columns)
    axes.set_xticks([at + 0.5 for at in named], [names[at] for at in named])
    axes.set(xlim=(0, columns), ylim=(0, 1.2 * top))
    axes.yaxis.set_major_formatter(EngFormatter("B"))
    axes.locator_params(axis="y", nbins=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=POINTS)


def _named(names: list[str], columns: int) -> list[int]:
    """Return which columns have room for their names: backward(), and others far enough apart."""
    middle, apart = names.index(BACKWARD), -(-columns // MOST_NAMES)
    after = range(middle + apart, len(names), apart)
    return [*range(middle % apart, middle, apart), middle, *after]


def _places(steps: list[tuple[str, int]], count: int) -> list[float]:
    """Return where to draw each of so many numbers of bytes: the column of a step is 1 wide."""
    places = [0.0]
    ends = [at for _, at in steps[1:]] + [count - 1]
    for column, ((_, at), end) in enumerate(zip(steps, ends, strict=True)):
        places += [column + part / (end - at) for part in range(end - at)]
    return [*places, len(steps)]


def in_blocks(layers: Sequence[torch.nn.Module], x: torch.Tensor, blocks: int) -> torch.Tensor:
    """Run layers in so many blocks of equal length, each under a checkpoint. None may draw a random
    number: the state of a generator, kept for each block, would be larger than small results.
    """
    checkpointed = partial(checkpoint, use_reentrant=False, preserve_rng_state=False)
    size = len(layers) // blocks
    for at in range(0, len(layers), size):
        x = checkpointed(torch.nn.Sequential(*layers[at : at + size]), x)
    return x


def plot_trade(layers: Sequence[torch.nn.Module], x: torch.Tensor) -> Plot:
    """Plot the most bytes in use and how often a layer runs: without checkpoints, and for each
    number of blocks that divides the number of layers.

    Empties `x.grad` before each run.
    """
    counts = [count for count in range(1, len(layers) + 1) if len(layers) % count == 0]
    forwards = {"none": torch.nn.Sequential(*layers)}
    forwards |= {str(count): partial(in_blocks, layers, blocks=count) for count in counts}
    runs: list[int] = []
    most, often = [], []
    for forward in forwards.values():
        x.grad = None
        runs.clear()
        with ExitStack() as hooks:
            for layer in layers:
                hooks.enter_context(layer.register_forward_pre_hook(lambda *_: runs.append(1)))
            most.append(most_bytes(lambda forward=forward: forward(x).sum()))
        often.append(len(runs))
    figure, (above, below) = _figure(2, size=(7, 3))
    colours = ["#bbbbbb"] + [COLOURS[PASSED]] * len(counts)
    said = [f"Blocks under a checkpoint: {', '.join(forwards)}."]
    for axes, title, heights, labels in (
        (above, "the peak: the most memory in use at a time", most, list(map(in_bytes, most))),
        (below, "how often a layer runs, in forward and backward together", often, often),
    ):
        axes.bar_label(axes.bar(list(forwards), heights, color=colours), labels)
        axes.set_title(title, loc="left", fontsize=10)
        axes.set(ylim=(0, 1.25 * max(heights)), yticks=[])
        axes.spines[["top", "left", "right"]].set_visible(False)
        said.append(f"{title}: {', '.join(map(str, labels))}.")
    below.set_xlabel("blocks under a checkpoint")
    return plot(figure, alt=" ".join(said))


class _Meter(TorchDispatchMode):
    """Follow the storages that operations make, until they are freed."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[tuple[int, int]] = []  # which storage, and by how many bytes
        self.live: dict[int, tuple[int, int]] = {}  # which storage, and its size
        self.results: set[int] = set()  # storages that the forward made
        self.steps: list[tuple[Any, int]] = []  # what runs, and how many changes came before it
        self.is_forward, self.next_node = True, next_number()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say no: to compile nothing, torch would import its compiler, which takes seconds."""
        return False

    def enter(self, name: str, *_: Any) -> None:
        """Note which node runs from now on, as a hook of it."""
        self.is_forward = False
        self.steps.append((name, len(self.changes)))

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        given = _storages((args, kwargs))
        known = {old._cdata for old in given if not _is_lifted(operation, old)} | self.live.keys()
        made = [storage for storage in _storages(result) if storage._cdata not in known]
        if self.is_forward:
            self._step(operation, bool(made))
        for storage in made:
            self._came(storage)
        return result

    def _step(self, operation: Any, makes: bool) -> None:
        """Note an operation by the number of its node; by its name, if torch made it no node."""
        before, self.next_node = self.next_node, next_number()
        key = self.next_node - 1 if self.next_node > before else operation.overloadpacket.__name__
        if makes:
            self.steps.append((key, len(self.changes)))

    def _came(self, storage: torch.UntypedStorage) -> None:
        number = len(self.changes)
        if self.is_forward or torch.is_grad_enabled():
            self.results.add(number)
        self.live[storage._cdata] = number, storage.nbytes()
        self.changes.append((number, storage.nbytes()))
        weakref.finalize(storage, self._went, storage._cdata).atexit = False

    def _went(self, key: int) -> None:
        number, size = self.live.pop(key)
        self.changes.append((number, -size))


def _is_lifted(operation: Any, storage: torch.UntypedStorage) -> bool:
    """Tell whether this is what `torch.tensor(...)` has just made: its one operation is given that.
    Memory of numpy's is lifted, too, but was there before; torch cannot resize it.
    """
    return operation is torch.ops.aten.lift_fresh.default and storage.resizable()


def _storages(values: Any) -> list[torch.UntypedStorage]:
    tensors = [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]
    return [tensor.untyped_storage() for tensor in tensors if tensor.layout == torch.strided]
