"""What the operations that people meet most hand on: a rule for each input of each, in one table.

A rule looks at what its node saved, by torch's names, and at what arrived. It computes what is
handed on and writes the same beside it; `local_derivatives` compares that with what torch handed
on, and shows it only where they agree. An operation without a rule here is shown with torch's
own formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from autograd_graphs.recording.saved_values import Saved
from autograd_graphs.text import short_number

Tensor = torch.Tensor


@dataclass(frozen=True)
class Form:
    """Hold what one input is handed on, and how one writes that.

    `made` is the gradient, before it is spread or summed to the shape of the input. In `text` "g"
    is what arrives, and a saved tensor stands as {name}. `sign`, `factor`, `symbol`, `moved`,
    `kind` and `scale` are as in `LocalDerivative`.
    """

    made: Tensor
    text: str
    sign: str = ""
    factor: Any = None
    symbol: str = ""
    moved: str = ""
    kind: str = ""
    scale: float = 1


Rule = Callable[[Saved], Form | None]  # None where it does not know
MAY_DIFFER = {"NllLoss self", "NllLoss2D self"}  # for some targets torch hands on something else


# The ways in which a gradient is handed on


def unchanged(s: Saved) -> Form:
    return Form(s.grad, "g", "×", 1, "1")


def times(s: Saved, factor: Any, symbol: str, kind: str = "") -> Form:
    """Multiply what arrives by a factor, whose text needs no parentheses."""
    return Form(s.grad * factor, f"g × {symbol}", "×", factor, symbol, kind=kind)


def times_sum(s: Saved, factor: Any, symbol: str) -> Form:
    """Multiply what arrives by a factor whose text falls apart beside a sign."""
    return replace(times(s, factor, symbol), text=f"g × ({symbol})")


def over(s: Saved, divisor: Any, symbol: str) -> Form:
    return Form(s.grad / divisor, f"g / {symbol}", "×", 1 / divisor, f"1 / {symbol}")


def scaled(s: Saved, scale: float) -> Form:
    """Multiply what arrives by a number of the call's, such as alpha."""
    if scale == 1:
        return unchanged(s)
    form = times(s, scale, short_number(scale))
    if scale == -1:
        form = replace(form, text="-g")
    return replace(form, scale=scale)


def moved(made: Tensor, words: str) -> Form:
    """Hand on the same numbers, each in the place that it came from."""
    return Form(made, f"g, {words}", "×", 1, "1", moved=words)


def right_of(s: Saved, matrix: Tensor, symbol: str, scale: float = 1) -> Form:
    """Multiply what arrives by a matrix on its right."""
    if scale == 1:
        return Form(s.grad @ matrix, f"g @ {symbol}", "@", matrix, symbol)
    symbol = f"{short_number(scale)} · {symbol}"
    matrix = scale * matrix
    return Form(s.grad @ matrix, f"g @ ({symbol})", "@", matrix, symbol, scale=scale)


def left_of(s: Saved, matrix: Tensor, symbol: str, scale: float = 1) -> Form:
    """Multiply what arrives by a matrix on its left."""
    if scale != 1:
        symbol = f"{short_number(scale)} · {symbol}"
        matrix = scale * matrix
    return Form(matrix @ s.grad, f"{symbol} @ g", "@left", matrix, symbol, scale=scale)


def text_of(s: Saved, name: str) -> str:
    """Write a saved tensor as its name, a plain number as itself."""
    value = getattr(s, name)
    if isinstance(value, Tensor):
        return f"{{{name}}}"
    return short_number(value)


def where(condition: Tensor, then: float, other: float) -> Tensor:
    """Choose between two numbers, in double precision."""
    then, other = torch.tensor([then, other], dtype=torch.float64)
    return torch.where(condition, then, other)


def passed(s: Saved, condition: Tensor, words: str) -> Form:
    """Hand on what arrives where a condition holds, and 0 elsewhere."""
    return times_sum(s, where(condition, 1, 0), f"1 where {words}, else 0")


# Sums and products


def of_jumps(s: Saved) -> Form:
    return times(s, 0, "0", kind="zero")


def of_numerator(s: Saved) -> Form:
    if rounds(s):
        return of_jumps(s)
    return over(s, s.other, text_of(s, "other"))


def of_denominator(s: Saved) -> Form:
    if rounds(s):
        return of_jumps(s)
    return times(s, -s.self / s.other**2, f"-{text_of(s, 'self')} / {{other}}²")


def rounds(s: Saved) -> bool:
    """Say whether a division rounds its result, which is then constant between jumps."""
    return getattr(s, "rounding_mode", None) is not None


# Functions of one number


POWERS = {1: "", 2: "²", 3: "³"}


def of_base(s: Saved) -> Form:
    exponent = s.exponent
    if isinstance(exponent, Tensor):
        symbol = "{exponent} · {self}^({exponent} - 1)"
        return times(s, exponent * s.self ** (exponent - 1), symbol)
    if exponent == 0:
        return times(s, 0, "0", kind="zero")
    if exponent == 1:
        return unchanged(s)
    factor = exponent * s.self ** (exponent - 1)
    kind = "square" if exponent == 2 else ""
    before = "-" if exponent == -1 else f"{short_number(exponent)} · "
    return times(s, factor, before + power("{self}", exponent - 1), kind)


def power(base: str, exponent: float) -> str:
    if exponent in POWERS:
        return base + POWERS[exponent]
    number = short_number(exponent)
    return f"{base}^({number})" if exponent < 0 else f"{base}^{number}"


def of_exponent(s: Saved) -> Form:
    base = torch.as_tensor(s.self, dtype=s.result.dtype)
    return times(s, s.result * base.log(), f"{{result}} · log({text_of(s, 'self')})")


def of_absolute(s: Saved) -> Form:
    if s.self.is_complex():
        return times(s, s.self / s.self.abs(), "{self} / |{self}|", kind="direction")
    return times(s, s.self.sgn(), "sign({self})", kind="sign")


def of_leaky_relu(s: Saved) -> Form:
    factor = where(s.self > 0, 1, s.negative_slope)
    return times_sum(s, factor, f"1 where {{self}} > 0, else {text_of(s, 'negative_slope')}")


def of_lower_limit(s: Saved) -> Form:
    return passed(s, s.self >= s.min, f"{{self}} ≥ {text_of(s, 'min')}")


def of_upper_limit(s: Saved) -> Form:
    return passed(s, s.self <= s.max, f"{{self}} ≤ {text_of(s, 'max')}")


def of_limits(s: Saved) -> Form:
    if s.min is None:
        return of_upper_limit(s)
    if s.max is None:
        return of_lower_limit(s)
    is_inside = (s.self >= s.min) & (s.self <= s.max)
    return passed(s, is_inside, f"{text_of(s, 'min')} ≤ {{self}} ≤ {text_of(s, 'max')}")


def of_dropout(s: Saved) -> Form:
    if s.p == 1:
        return times(s, 0, "0")
    symbol = f"1 / {short_number(1 - s.p)} where it was kept, else 0"
    return times_sum(s, s.result1 / (1 - s.p), symbol)


# Reductions


def with_lost_dims(s: Saved) -> Tensor:
    """Give what arrives the dimensions back that a reduction took, with size 1."""
    grad, dims = s.grad, getattr(s, "dim", None)
    if grad.dim() == 0 or dims is None or s.keepdim:
        return grad
    for dim in sorted(all_dims(dims, len(s.shape))):
        grad = grad.unsqueeze(dim)
    return grad


def all_dims(dims: Any, count: int) -> list[int]:
    """Return dimensions as numbers from 0 on; none given means all."""
    if dims == ():
        return list(range(count))
    given = dims if isinstance(dims, tuple) else (dims,)
    return [dim % count for dim in given]


def of_sum(s: Saved) -> Form:
    return replace(unchanged(s), made=with_lost_dims(s))


def of_mean(s: Saved) -> Form:
    copies = math.prod(s.shape) // max(s.grad.numel(), 1)
    if copies == 1:
        return of_sum(s)
    form = over(s, copies, short_number(copies))
    return replace(form, made=with_lost_dims(s) / copies)


def of_softmax(s: Saved) -> Form:
    shared = (s.grad * s.result).sum(s.dim, keepdim=True)
    return Form(s.result * (s.grad - shared), "{result} · (g - sum(g · {result}))")


def of_log_softmax(s: Saved) -> Form:
    made = s.grad - s.result.exp() * s.grad.sum(s.dim, keepdim=True)
    return Form(made, "g - exp({result}) · sum(g)")


# Losses; reduction is 0 for none, 1 for mean, 2 for sum


def of_logits(s: Saved) -> Form | None:
    if s.weight is not None or s.pos_weight is not None:
        return None
    return of_error(s, s.self.sigmoid() - s.target, "(sigmoid({self}) - {target})")


def of_error(s: Saved, slope: Tensor, symbol: str) -> Form:
    """Take the slope of each element's loss, over their number where the loss is a mean."""
    count = math.prod(s.shape)
    if s.reduction != 1 or count == 1:
        return times(s, slope, symbol)
    return times(s, slope / count, f"{symbol} / {short_number(count)}")


def of_scores(s: Saved) -> Form | None:
    if s.weight is not None:
        return None
    dim = 1 if len(s.shape) > 1 else 0
    counts = s.target != s.ignore_index
    place = torch.where(counts, s.target, 0).unsqueeze(dim)
    at_target = torch.zeros(s.shape, dtype=s.grad.dtype)
    at_target = -at_target.scatter(dim, place, counts.unsqueeze(dim).to(s.grad.dtype))
    if s.reduction == 1:
        return times(s, at_target / s.total_weight, "(-1 at the target, else 0) / {total_weight}")
    grad = s.grad.unsqueeze(1) if s.grad.dim() else s.grad
    symbol = "-1 at the target, else 0"
    return Form(grad * at_target, f"g × ({symbol})", "×", at_target, symbol)


# Products of matrices


def of_matrix(s: Saved) -> Form:
    return Form(s.grad[:, None] * s.vec, "outer(g, {vec})")


def of_added_matrix(s: Saved) -> Form:
    form = of_matrix(s)
    if s.alpha == 1:
        return form
    return replace(form, made=s.alpha * form.made, text=f"{form.text} · {text_of(s, 'alpha')}")


# What moves elements, or reads some of them


def of_view(s: Saved) -> Form:
    return moved(s.grad.reshape(s.shape), f"reshaped to {s.shape}")


def of_permuted_dims(s: Saved) -> Form:
    order = all_dims(s.dims, len(s.dims))
    back = list(map(order.index, range(len(order))))
    return moved(s.grad.permute(back), "its dims put back in order")


def nothing_yet(s: Saved) -> Tensor:
    """Return zeros of the input's shape, to be filled with what arrives."""
    return torch.zeros(s.shape, dtype=s.grad.dtype)


def of_one_index(s: Saved) -> Form:
    made = nothing_yet(s)
    made.select(s.dim, s.index).copy_(s.grad)
    return Form(made, f"g at index {s.index} of dim {s.dim}, 0 elsewhere")


def of_slice(s: Saved) -> Form:
    made = nothing_yet(s)
    taken = [slice(None)] * len(s.shape)
    taken[s.dim] = slice(s.start, s.end, s.step)
    made[tuple(taken)] = s.grad
    return Form(made, f"g in the slice of dim {s.dim} that was taken, 0 elsewhere")


def of_indices(s: Saved) -> Form:
    made = torch.ops.aten.index_put(nothing_yet(s), list(s.indices), s.grad, True)
    return Form(made, "g, added at the places that were read, 0 elsewhere")


def of_rows(s: Saved) -> Form | None:
    if s.scale_grad_by_freq or s.padding_idx >= 0:
        return None
    grad = s.grad.reshape(-1, s.shape[-1])
    made = nothing_yet(s).index_add(0, s.indices.reshape(-1), grad)
    return Form(made, "g, added to the rows that were looked up, 0 elsewhere")


def of_joined(s: Saved) -> Form:
    before, after = s.shapes[: s.position], s.shapes[s.position + 1 :]
    if None not in before:
        start = sum(shape[s.dim] for shape in before)
    else:  # a piece that gets no gradient has no size here: count from the end
        behind = sum(shape[s.dim] for shape in after)
        start = s.grad.shape[s.dim] - s.shape[s.dim] - behind
    made = s.grad.narrow(s.dim, start, s.shape[s.dim])
    return Form(made, f"its part of g along dim {s.dim}")


def of_stacked(s: Saved) -> Form:
    return Form(s.grad.select(s.dim, s.position), f"g at index {s.position} of dim {s.dim}")


# What each input is handed on, by operation and input

RULES: dict[str, Rule] = {
    # Sums and products
    **dict.fromkeys(("Add self", "Sub self", "Rsub other"), unchanged),
    **dict.fromkeys(("Expand self", "Clone self", "Alias self", "ToCopy self"), unchanged),
    "Add other": lambda s: scaled(s, s.alpha),
    **dict.fromkeys(("Sub other", "Rsub self"), lambda s: scaled(s, -s.alpha)),
    "Neg self": lambda s: scaled(s, -1),
    "Mul self": lambda s: times(s, s.other, text_of(s, "other")),
    "Mul other": lambda s: times(s, s.self, text_of(s, "self")),
    **dict.fromkeys(("Sign self", "Floor self", "Ceil self", "Round self", "Trunc self"), of_jumps),
    "Div self": of_numerator,
    "Div other": of_denominator,
    # Functions of one number
    "Pow self": of_base,
    "Pow exponent": of_exponent,
    "Exp self": lambda s: times(s, s.result, "{result}"),
    "Log self": lambda s: over(s, s.self, "{self}"),
    "Log1P self": lambda s: over(s, s.self + 1, "({self} + 1)"),
    "Sqrt self": lambda s: over(s, 2 * s.result, "(2 · {result})"),
    "Reciprocal self": lambda s: times(s, -(s.result**2), "-{result}²"),
    "Sin self": lambda s: times(s, s.self.cos(), "cos({self})"),
    "Cos self": lambda s: times(s, -s.self.sin(), "-sin({self})"),
    "Tanh self": lambda s: times_sum(s, 1 - s.result**2, "1 - {result}²"),
    "Sigmoid self": lambda s: times(s, s.result * (1 - s.result), "{result} · (1 - {result})"),
    "Abs self": of_absolute,
    "Relu self": lambda s: passed(s, s.result > 0, "{result} > 0"),
    "LeakyRelu self": of_leaky_relu,
    "ClampMin self": of_lower_limit,
    "ClampMax self": of_upper_limit,
    "Clamp self": of_limits,
    "Where self": lambda s: passed(s, s.condition, "{condition}"),
    "Where other": lambda s: times_sum(s, where(s.condition, 0, 1), "0 where {condition}, else 1"),
    "MaskedFill self": lambda s: times_sum(s, where(s.mask, 0, 1), "0 where {mask}, else 1"),
    "NativeDropout input": of_dropout,
    # Reductions
    "Sum self": of_sum,
    "Mean self": of_mean,
    "Softmax self": of_softmax,
    "LogSoftmax self": of_log_softmax,
    # Losses
    "MseLoss self": lambda s: of_error(s, 2 * (s.self - s.target), "2 · ({self} - {target})"),
    "MseLoss target": lambda s: of_error(s, 2 * (s.target - s.self), "2 · ({target} - {self})"),
    "BinaryCrossEntropyWithLogits self": of_logits,
    **dict.fromkeys(("NllLoss self", "NllLoss2D self"), of_scores),
    # Products of matrices
    **dict.fromkeys(("Mm self", "Bmm self"), lambda s: right_of(s, s.mat2.mT, "{mat2}ᵀ")),
    **dict.fromkeys(("Mm mat2", "Bmm mat2", "Mv vec"), lambda s: left_of(s, s.self.mT, "{self}ᵀ")),
    "Mv self": of_matrix,
    "Dot self": lambda s: times(s, s.tensor, "{tensor}"),
    "Dot tensor": lambda s: times(s, s.self, "{self}"),
    **dict.fromkeys(("Addmm self", "Addmv self"), lambda s: scaled(s, s.beta)),
    "Addmm mat1": lambda s: right_of(s, s.mat2.mT, "{mat2}ᵀ", s.alpha),
    "Addmm mat2": lambda s: left_of(s, s.mat1.mT, "{mat1}ᵀ", s.alpha),
    "Addmv mat": of_added_matrix,
    "Addmv vec": lambda s: left_of(s, s.mat.mT, "{mat}ᵀ", s.alpha),
    # What moves elements, or reads some of them
    **dict.fromkeys(("View self", "UnsafeView self", "Reshape self", "ReshapeAlias self"), of_view),
    **dict.fromkeys(("Squeeze self", "Unsqueeze self"), of_view),
    "T self": lambda s: moved(s.grad.t(), "transposed back"),
    "Transpose self": lambda s: moved(s.grad.transpose(s.dim0, s.dim1), "transposed back"),
    "Permute self": of_permuted_dims,
    "Select self": of_one_index,
    "Slice self": of_slice,
    "Index self": of_indices,
    "Embedding weight": of_rows,
    "Cat tensors": of_joined,
    "Stack tensors": of_stacked,
}
