"""The functions that stand in our forms of torch's formulas, each with the words that a learner
reads: `@said("sum({0})")` is written "sum(g · y)" where its first argument is "g · y".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

MOST_WINDOWS = 1_000_000  # entries of the matrix by which a pooling is undone
FUNCTIONS: dict[str, Callable[..., Any]] = {}
WORDS: dict[str, str] = {}
MOVES: set[str] = set()  # functions that only move what arrives, and compute nothing
UNSURE = frozenset(
    [
        "added_strided",
        "added_windows",
        "added_over_copies",
        "shared_by_window",
        "shared_adaptively",
        "centred",
        "standardised",
        "mean_used",
        "inverse_used",
        "attention",
        "to_scores",
        "even_share",
        "mean_over",
        "minus_at_target",
        "between",
        "tanh_gelu_slope",
        "normal_share",
        "normal_density",
    ]
)  # at some places, or for some arguments, torch hands on something else, or they are rounded much

Tensor = torch.Tensor
Sizes = tuple[int, ...]


def said(words: str, moves: bool = False) -> Callable[[Callable], Callable]:
    """Make a function known to the forms, with its words."""

    def add(function: Callable) -> Callable:
        name = function.__name__.removesuffix("_")
        FUNCTIONS[name] = function
        WORDS[name] = words
        if moves:
            MOVES.add(name)
        return function

    return add


# Elementwise functions, which may be given numbers.


def elementwise(name: str, words: str = "") -> None:
    """Make a function of torch's known to the forms; numbers are computed in double precision."""

    def apply(value: Tensor | float) -> Tensor:
        if not isinstance(value, torch.Tensor):
            value = torch.tensor(value, dtype=torch.float64)
        return getattr(torch, name)(value)

    FUNCTIONS[name] = apply
    WORDS[name] = words or f"{name}({{0}})"


_SMOOTH = ("exp", "exp2", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh", "sigmoid", "erfinv")
for _name in _SMOOTH:
    elementwise(_name)
elementwise("abs", "|{0}|")
elementwise("sgn", "sign({0})")
FUNCTIONS["softplus"], WORDS["softplus"] = F.softplus, "softplus({0})"


@said("{1} where {0}, else {2}")
def where(condition: Tensor, then: Any, other: Any) -> Tensor:
    pair = [
        value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)
        for value in (then, other)
    ]
    return torch.where(condition, *pair)


@said("floor({0!} / {1!})")
def floored(value: Tensor, other: Any) -> Tensor:
    return torch.div(value, other, rounding_mode="floor")


@said("{1} < {0} < {2}")
def between(value: Tensor, low: float, high: float) -> Tensor:
    return (value > low) & (value < high)


@said("{1} ≤ {0} ≤ {2}")
def within(value: Tensor, low: Any, high: Any) -> Tensor:
    return (value >= low) & (value <= high)


@said("1 where {0} > {1}, 0.5 where equal, else 0")
def is_greater(value: Tensor, other: Tensor) -> Tensor:
    return (value > other) + 0.5 * (value == other)


@said("1 where {0} < {1}, 0.5 where equal, else 0")
def is_less(value: Tensor, other: Tensor) -> Tensor:
    return is_greater(other, value)


@said("{1} where it was kept, else 0")
def where_kept(mask: Tensor, scale: float) -> Tensor:
    return mask * scale


@said("Φ({0})")
def normal_share(value: Tensor) -> Tensor:
    return (1 + torch.erf(value / math.sqrt(2))) / 2


@said("φ({0})")
def normal_density(value: Tensor) -> Tensor:
    return torch.exp(-(value**2) / 2) / math.sqrt(2 * math.pi)


@said("the slope of tanh-gelu at {0}")
def tanh_gelu_slope(value: Tensor) -> Tensor:
    scale = math.sqrt(2 / math.pi)
    bent = torch.tanh(scale * (value + 0.044715 * value**3))
    inner = scale * (1 + 3 * 0.044715 * value**2)
    return 0.5 * (1 + bent) + 0.5 * value * (1 - bent**2) * inner


@said("through both halves of {1}: {0!} · sigmoid(2nd) joined with {0!} · 1st · sigmoid'(2nd)")
def through_gate(grad: Tensor, value: Tensor, dim: int) -> Tensor:
    first, second = value.chunk(2, dim)
    gate = torch.sigmoid(second)
    return torch.cat([grad * gate, grad * first * gate * (1 - gate)], dim)


# Reductions. `kept` gives a reduced tensor its lost dimensions back, with size 1.


@said("{0}")
def kept(tensor: Tensor, dim: Any, keepdim: bool, shape: Sizes) -> Tensor:
    if tensor.dim() == 0 or keepdim or dim is None:
        return tensor
    for one in sorted(all_dims(dim, len(shape))):
        tensor = tensor.unsqueeze(one)
    return tensor


def all_dims(dim: Any, count: int) -> list[int]:
    """Return dimensions as numbers from 0 on; none given means all."""
    if dim is None or dim == ():
        return list(range(count))
    given = dim if isinstance(dim, tuple) else (dim,)
    return [one % count if count else one for one in given]


@said("sum({0})")
def sum_over(tensor: Tensor, dim: Any) -> Tensor:
    return tensor.sum(all_dims(dim, tensor.dim()), keepdim=True)


@said("mean({0})")
def mean_over(tensor: Tensor, dim: Any) -> Tensor:
    return tensor.mean(all_dims(dim, tensor.dim()), keepdim=True)


@said("1 where {0}, else 0, equal ones sharing it")
def even_share(is_it: Tensor, dim: Any) -> Tensor:
    return is_it / is_it.sum(all_dims(dim, is_it.dim()), keepdim=True)


@said("sum({0}) from each place on")
def sum_from_here(tensor: Tensor, dim: int) -> Tensor:
    if tensor.dim() == 0:
        return tensor
    return tensor.flip(dim).cumsum(dim).flip(dim)


@said("-1 at the target, else 0")
def minus_at_target(target: Tensor, ignored: int, shape: Sizes) -> Tensor:
    """Return -1 at the class of each target, of those that are not to be ignored."""
    dim = 1 if len(shape) > 1 else 0
    counts = target != ignored
    place = torch.where(counts, target, 0).unsqueeze(dim)
    found = torch.zeros(shape, dtype=torch.float64)
    return -found.scatter(dim, place, counts.unsqueeze(dim).double())


@said("{0}")
def per_class(weight: Tensor, shape: Sizes) -> Tensor:
    """Give a tensor with one number per class or channel the dimensions of the whole."""
    if len(shape) < 2:
        return weight
    return weight.reshape(-1, *[1] * (len(shape) - 2))


# Products of matrices, convolutions, attention.


@said("outer({0}, {1})")
def outer(first: Tensor, second: Tensor) -> Tensor:
    return first[:, None] * second[None, :]


@said("{0} convolved back with {1}")
def convolved_back(
    grad: Tensor,
    weight: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    groups: int,
    shape: Sizes,
) -> Tensor:
    """Go from the output of a convolution back to its input: the other kind of convolution."""
    missing = [0] * len(stride)
    if not transposed:
        missing = [
            size - (have - 1) * step + 2 * pad - gap * (kernel - 1) - 1
            for size, have, step, pad, gap, kernel in zip(
                shape[2:], grad.shape[2:], stride, padding, dilation, weight.shape[2:], strict=True
            )
        ]
    return torch.convolution(
        grad, weight, None, stride, padding, dilation, not transposed, missing, groups
    )


@said("{1} convolved with {0}")
def correlated(
    grad: Tensor,
    value: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    groups: int,
    shape: Sizes,
) -> Tensor:
    """Sum up, for each place in a kernel, what came in there times the gradient that arrives."""
    if transposed:
        grad, value = value, grad
    none = [0] * len(stride)
    found = []
    for part, arrived in zip(value.chunk(groups, 1), grad.chunk(groups, 1), strict=True):
        kernel = arrived.transpose(0, 1)
        made = torch.convolution(
            part.transpose(0, 1), kernel, None, dilation, padding, stride, False, none, 1
        )
        found.append(made.transpose(0, 1))
    whole = torch.cat(found)
    for dim, size in enumerate(shape[2:], 2):
        whole = whole.narrow(dim, 0, size)
    return whole


@said("attention({0}, {1})")
def attention(
    query: Tensor, key: Tensor, logsumexp: Tensor, mask: Any, is_causal: bool, scale: float
) -> Tensor:
    """Return the weights of an attention, from the logsumexp that it saved."""
    scores = query @ key.mT * scale
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
    if mask is not None:
        scores = scores + mask
    return torch.exp(scores - logsumexp.unsqueeze(-1))


@said("scale")
def scale_of(query: Tensor, scale: float | None) -> float:
    return query.shape[-1] ** -0.5 if scale is None else scale


@said("{2!} · ({0!} @ {1!}ᵀ - sum({0!} · {3!}))")
def to_scores(grad: Tensor, value: Tensor, weights: Tensor, output: Tensor) -> Tensor:
    """Carry a gradient back to the scores of an attention."""
    return weights * (grad @ value.mT - (grad * output).sum(-1, keepdim=True))


# Normalisations.


@said("({0} - mean) / std")
def standardised(value: Tensor, mean: Tensor, inverse_std: Tensor) -> Tensor:
    return (value - mean) * inverse_std


@said("({0} - mean({0}) - x̂ · mean({0!} · x̂)) / std, where x̂ = ({1} - mean) / std")
def centred(grad: Tensor, value: Tensor, mean: Tensor, inverse_std: Tensor, dim: Any) -> Tensor:
    """Go back through a normalisation over some dimensions."""
    dims = all_dims(dim, grad.dim())
    normal = (value - mean) * inverse_std
    inner = grad - grad.mean(dims, keepdim=True)
    return inverse_std * (inner - normal * (grad * normal).mean(dims, keepdim=True))


@said("mean")
def mean_used(mean: Any, running: Any, training: bool, shape: Sizes) -> Tensor:
    return per_class(mean if training else running, shape)


@said("1 / std")
def inverse_used(inverse: Any, variance: Any, training: bool, eps: float, shape: Sizes) -> Tensor:
    return per_class(inverse if training else (variance + eps).rsqrt(), shape)


@said("sum({0}) for each channel")
def per_channel(tensor: Tensor) -> Tensor:
    return tensor.sum([dim for dim in range(tensor.dim()) if dim != 1])


@said("{0}")
def in_groups(tensor: Tensor, groups: int) -> Tensor:
    return tensor.reshape(tensor.shape[0], groups, -1)


@said("{0}", moves=True)
def ungrouped(tensor: Tensor, shape: Sizes) -> Tensor:
    return tensor.reshape(shape)


@said("{0}")
def per_group(tensor: Tensor) -> Tensor:
    return tensor.unsqueeze(-1)


@said("the last dims")
def last_dims(shape: Sizes) -> Sizes:
    return tuple(range(-len(shape), 0))


@said("all dims but 1")
def batch_dims(shape: Sizes) -> Sizes:
    return tuple(dim for dim in range(len(shape)) if dim != 1)


# Windows.


@said("{0}, only to the element of each window that was the largest")
def to_largest(grad: Tensor, indices: Tensor, shape: Sizes) -> Tensor:
    flat = torch.zeros(shape, dtype=grad.dtype).flatten(-2)
    return flat.scatter_add(-1, indices.flatten(-2), grad.flatten(-2)).reshape(shape)


def transposed_of(run: Callable[[Tensor], Tensor], grad: Tensor, shape: Sizes) -> Tensor:
    """Go back through a linear function of the last two dimensions, by the matrix that it is."""
    height, width = shape[-2:]
    if height * width * grad.shape[-1] * grad.shape[-2] > MOST_WINDOWS:
        raise ValueError("too large")
    unit = torch.eye(height * width, dtype=grad.dtype).reshape(-1, 1, height, width)
    matrix = run(unit).reshape(height * width, -1)
    return (grad.flatten(-2) @ matrix.T).reshape(shape)


@said("{0}, shared evenly by the elements of each window")
def shared_by_window(
    grad: Tensor,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: Any,
    shape: Sizes,
) -> Tensor:
    def run(unit: Tensor) -> Tensor:
        return F.avg_pool2d(
            unit, kernel, stride or kernel, padding, ceil_mode, count_include_pad, divisor
        )

    return transposed_of(run, grad, shape)


@said("{0}, shared evenly by the elements of each window")
def shared_adaptively(grad: Tensor, shape: Sizes) -> Tensor:
    return transposed_of(
        lambda unit: F.adaptive_avg_pool2d(unit, tuple(grad.shape[-2:])), grad, shape
    )


@said("{0}, added up over the copies of each element")
def added_over_copies(grad: Tensor, shape: Sizes) -> Tensor:
    return transposed_of(lambda unit: F.interpolate(unit, size=tuple(grad.shape[-2:])), grad, shape)


@said("{0} of all windows, added up")
def added_windows(grad: Tensor, dim: int, size: int, step: int, shape: Sizes) -> Tensor:
    dim %= len(shape)
    places = torch.arange(shape[dim]).unfold(0, size, step).flatten()
    windows = grad.movedim(-1, dim + 1).flatten(dim, dim + 1)
    return empty(grad, shape).index_add(dim, places, windows)


# Indexing.


def empty(grad: Tensor, shape: Sizes) -> Tensor:
    return torch.zeros(shape, dtype=grad.dtype)


@said("{0} back at the places that were selected, 0 elsewhere")
def at_selected(grad: Tensor, dim: int, indices: Tensor, shape: Sizes) -> Tensor:
    if not shape:
        return grad
    return empty(grad, shape).scatter_add(dim, indices, grad)


@said("{0} at index {2} of dim {1}, 0 elsewhere")
def at_index(grad: Tensor, dim: int, index: int, shape: Sizes) -> Tensor:
    found = empty(grad, shape)
    found.select(dim, index).copy_(grad)
    return found


@said("{0} in the slice of dim {1} that was taken, 0 elsewhere")
def in_slice(
    grad: Tensor, dim: int, start: int | None, end: int | None, step: int, shape: Sizes
) -> Tensor:
    found = empty(grad, shape)
    taken = [slice(None)] * len(shape)
    taken[dim] = slice(start, end, step)
    found[tuple(taken)] = grad
    return found


@said("{0}, added at the places that were read, 0 elsewhere")
def added_at(grad: Tensor, indices: Sequence[Tensor | None], shape: Sizes) -> Tensor:
    return torch.ops.aten.index_put(empty(grad, shape), list(indices), grad, True)


@said("{0} with 0 at the places that were overwritten")
def emptied_at(grad: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    zero = torch.zeros((), dtype=grad.dtype)
    return torch.ops.aten.index_put(grad, list(indices), zero, False)


@said("{0} read at the places that were written")
def read_at(grad: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    return torch.ops.aten.index(grad, list(indices))


@said("{0}, added to the rows that were read, 0 elsewhere")
def added_to_rows(grad: Tensor, dim: int, index: Tensor, shape: Sizes) -> Tensor:
    if not shape:
        return grad.sum()
    return empty(grad, shape).index_add(dim, index.reshape(-1), grad)


@said("{0}, added to the rows that were looked up, 0 elsewhere")
def added_to_words(grad: Tensor, indices: Tensor, shape: Sizes) -> Tensor:
    rows, flat = indices.reshape(-1), grad.reshape(-1, shape[-1])
    return empty(grad, shape).index_add(0, rows, flat)


@said("{0}, averaged in the rows that were looked up, 0 elsewhere")
def averaged_in_words(grad: Tensor, indices: Tensor, shape: Sizes) -> Tensor:
    rows, flat = indices.reshape(-1), grad.reshape(-1, shape[-1])
    return added_to_words(flat / torch.bincount(rows)[rows][:, None], indices, shape)


@said("{0} and in row {1}")
def emptied_word(tensor: Tensor, row: int) -> Tensor:
    return tensor.index_fill(0, torch.tensor(row), 0)


@said("{0} with 0 at the places that were overwritten")
def emptied_places(grad: Tensor, dim: int, index: Tensor) -> Tensor:
    return grad.scatter(dim, index, 0)


@said("{0} read at the places that were written")
def read_places(grad: Tensor, dim: int, index: Tensor) -> Tensor:
    return grad.gather(dim, index)


@said("{0} read at the rows that were written")
def read_rows(grad: Tensor, dim: int, index: Tensor) -> Tensor:
    return grad.index_select(dim, index)


@said("{0} with 0 in the rows that were overwritten")
def emptied_rows(grad: Tensor, dim: int, index: Tensor) -> Tensor:
    return grad.index_fill(dim, index, 0)


@said("{0} back at the places of the mask, 0 elsewhere")
def at_mask(grad: Tensor, mask: Tensor, shape: Sizes) -> Tensor:
    whole = torch.broadcast_shapes(mask.shape, shape)
    return empty(grad, whole).masked_scatter(mask.expand(whole), grad)


@said("{0}, added at the places that were read, 0 elsewhere")
def added_flat(grad: Tensor, index: Tensor, shape: Sizes) -> Tensor:
    flat = empty(grad, shape).reshape(-1)
    return flat.index_add(0, index.reshape(-1), grad.reshape(-1)).reshape(shape)


@said("{0}, added at the places that were read, 0 elsewhere")
def added_strided(
    grad: Tensor, size: Sizes, stride: Sizes, offset: int | None, shape: Sizes
) -> Tensor:
    places = torch.arange(math.prod(shape)).as_strided(size, stride, offset or 0)
    return added_flat(grad, places, shape)


@said("{0} on the diagonal, 0 elsewhere")
def on_diagonal(grad: Tensor, offset: int, dim1: int, dim2: int, shape: Sizes) -> Tensor:
    found = empty(grad, shape)
    found.diagonal(offset, dim1, dim2).copy_(grad)
    return found


@said("its part of {0} along dim {1}")
def part_of(
    grad: Tensor, dim: int, position: int, shapes: Sequence[Sizes | None], shape: Sizes
) -> Tensor:
    """Cut out of what arrives what belongs to one of several tensors that were joined."""
    before, after = shapes[:position], shapes[position + 1 :]
    if None not in before:
        start = sum(one[dim] for one in before)
    else:
        start = grad.shape[dim] - shape[dim] - sum(one[dim] for one in after)
    return grad.narrow(dim, start, shape[dim])


@said("{0} at index {2} of dim {1}")
def taken_at(grad: Tensor, dim: int, position: int) -> Tensor:
    return grad.select(dim, position)


@said("what arrives for each piece, joined along dim {1}")
def joined_pieces(
    grads: Sequence[Tensor | None], dim: int, split: int | Sizes, shape: Sizes
) -> Tensor:
    """Join the gradients of pieces; one that nobody used counts as 0."""
    found = []
    for number, grad in enumerate(grads):
        size = list(shape)
        size[dim] = (
            split[number] if isinstance(split, tuple) else min(split, shape[dim] - number * split)
        )
        found.append(torch.zeros(size) if grad is None else grad)
    return torch.cat(found, dim)


@said("what arrives for each piece, stacked along dim {1}")
def stacked_pieces(grads: Sequence[Tensor | None], dim: int) -> Tensor:
    like = next(grad for grad in grads if grad is not None)
    pieces = [torch.zeros_like(like) if grad is None else grad for grad in grads]
    return torch.stack(pieces, dim)


@said("sum of {0} over the copies")
def unrepeated(grad: Tensor, repeats: Sizes, shape: Sizes) -> Tensor:
    sizes = (1,) * (len(repeats) - len(shape)) + shape
    pairs = [size for pair in zip(repeats, sizes, strict=True) for size in pair]
    copies = list(range(0, len(pairs), 2))
    return grad.reshape(pairs).sum(copies).reshape(shape)


@said("{0} without the padding")
def unpadded(grad: Tensor, pad: Sizes) -> Tensor:
    return F.pad(grad, [-size for size in pad])


@said("the upper triangle of {0}, 0 elsewhere")
def triu(grad: Tensor, diagonal: int) -> Tensor:
    return grad.triu(diagonal)


@said("the lower triangle of {0}, 0 elsewhere")
def tril(grad: Tensor, diagonal: int) -> Tensor:
    return grad.tril(diagonal)


# What only moves.


@said("{0}, reshaped to {1}", moves=True)
def reshaped(grad: Tensor, shape: Sizes) -> Tensor:
    return grad.reshape(shape)


@said("{0}, transposed back", moves=True)
def transposed(grad: Tensor, dim0: int, dim1: int) -> Tensor:
    return grad if grad.dim() < 2 and dim0 == 0 else grad.transpose(dim0, dim1)


@said("{0}, its dims put back in order", moves=True)
def permuted(grad: Tensor, dims: Sizes) -> Tensor:
    order = all_dims(dims, len(dims))
    return grad.permute([order.index(dim) for dim in range(len(order))])


@said("{0}, flipped back", moves=True)
def flipped(grad: Tensor, dims: Sizes) -> Tensor:
    return grad.flip(dims)


@said("{0}, rolled back", moves=True)
def rolled(grad: Tensor, shifts: Sizes, dims: Sizes) -> Tensor:
    return grad.roll([-shift for shift in shifts], dims)
