"""What the operations that people meet most hand on: a plain function for each input of each.

A function looks at what its node saved, by torch's names, and at what arrived. It computes what is
handed on and writes the same beside it; `local_derivatives` compares that with what torch handed
on, and shows it only where they agree. An operation without a function here is shown with torch's
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
RULES: dict[str, Rule] = {}  # by operation and input: "Mul other"
MAY_DIFFER = {"NllLoss self", "NllLoss2D self"}  # for some targets torch hands on something else


def of(*names: str) -> Callable[[Rule], Rule]:
    """Make a function the rule of these inputs."""

    def add(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return add


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


# Sums and products


@of("Add self", "Sub self", "Rsub other")
@of("Expand self", "Clone self", "Alias self", "ToCopy self")
def of_term(s: Saved) -> Form:
    return unchanged(s)


@of("Add other")
def of_second_term(s: Saved) -> Form:
    return scaled(s, s.alpha)


@of("Sub other", "Rsub self")
def of_what_is_taken_away(s: Saved) -> Form:
    return scaled(s, -s.alpha)


@of("Neg self")
def of_negation(s: Saved) -> Form:
    return scaled(s, -1)


@of("Mul self")
def of_first_factor(s: Saved) -> Form:
    return times(s, s.other, text_of(s, "other"))


@of("Mul other")
def of_second_factor(s: Saved) -> Form:
    return times(s, s.self, text_of(s, "self"))


@of("Sign self", "Floor self", "Ceil self", "Round self", "Trunc self")
def of_jumps(s: Saved) -> Form:
    return times(s, 0, "0", kind="zero")


@of("Div self")
def of_numerator(s: Saved) -> Form:
    if rounds(s):
        return of_jumps(s)
    return over(s, s.other, text_of(s, "other"))


@of("Div other")
def of_denominator(s: Saved) -> Form:
    if rounds(s):
        return of_jumps(s)
    return times(s, -s.self / s.other**2, f"-{text_of(s, 'self')} / {{other}}²")


def rounds(s: Saved) -> bool:
    """Say whether a division rounds its result, which is then constant between jumps."""
    return getattr(s, "rounding_mode", None) is not None


# Functions of one number


POWERS = {1: "", 2: "²", 3: "³"}


@of("Pow self")
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


@of("Pow exponent")
def of_exponent(s: Saved) -> Form:
    base = torch.as_tensor(s.self, dtype=s.result.dtype)
    return times(s, s.result * base.log(), f"{{result}} · log({text_of(s, 'self')})")


@of("Exp self")
def of_exponential(s: Saved) -> Form:
    return times(s, s.result, "{result}")


@of("Log self")
def of_logarithm(s: Saved) -> Form:
    return over(s, s.self, "{self}")


@of("Log1P self")
def of_logarithm_of_one_more(s: Saved) -> Form:
    return over(s, s.self + 1, "({self} + 1)")


@of("Sqrt self")
def of_root(s: Saved) -> Form:
    return over(s, 2 * s.result, "(2 · {result})")


@of("Reciprocal self")
def of_reciprocal(s: Saved) -> Form:
    return times(s, -(s.result**2), "-{result}²")


@of("Sin self")
def of_sine(s: Saved) -> Form:
    return times(s, s.self.cos(), "cos({self})")


@of("Cos self")
def of_cosine(s: Saved) -> Form:
    return times(s, -s.self.sin(), "-sin({self})")


@of("Tanh self")
def of_tanh(s: Saved) -> Form:
    return times_sum(s, 1 - s.result**2, "1 - {result}²")


@of("Sigmoid self")
def of_sigmoid(s: Saved) -> Form:
    return times(s, s.result * (1 - s.result), "{result} · (1 - {result})")


@of("Abs self")
def of_absolute(s: Saved) -> Form:
    if s.self.is_complex():
        return times(s, s.self / s.self.abs(), "{self} / |{self}|", kind="direction")
    return times(s, s.self.sgn(), "sign({self})", kind="sign")


@of("Relu self")
def of_relu(s: Saved) -> Form:
    factor = where(s.result > 0, 1, 0)
    return times_sum(s, factor, "1 where {result} > 0, else 0")


@of("LeakyRelu self")
def of_leaky_relu(s: Saved) -> Form:
    factor = where(s.self > 0, 1, s.negative_slope)
    return times_sum(s, factor, f"1 where {{self}} > 0, else {text_of(s, 'negative_slope')}")


@of("ClampMin self")
def of_lower_limit(s: Saved) -> Form:
    factor = where(s.self >= s.min, 1, 0)
    return times_sum(s, factor, f"1 where {{self}} ≥ {text_of(s, 'min')}, else 0")


@of("ClampMax self")
def of_upper_limit(s: Saved) -> Form:
    factor = where(s.self <= s.max, 1, 0)
    return times_sum(s, factor, f"1 where {{self}} ≤ {text_of(s, 'max')}, else 0")


@of("Clamp self")
def of_limits(s: Saved) -> Form:
    if s.min is None:
        return of_upper_limit(s)
    if s.max is None:
        return of_lower_limit(s)
    factor = where((s.self >= s.min) & (s.self <= s.max), 1, 0)
    low, high = text_of(s, "min"), text_of(s, "max")
    return times_sum(s, factor, f"1 where {low} ≤ {{self}} ≤ {high}, else 0")


@of("Where self")
def of_chosen(s: Saved) -> Form:
    return times_sum(s, where(s.condition, 1, 0), "1 where {condition}, else 0")


@of("Where other")
def of_not_chosen(s: Saved) -> Form:
    return times_sum(s, where(s.condition, 0, 1), "0 where {condition}, else 1")


@of("MaskedFill self")
def of_masked(s: Saved) -> Form:
    return times_sum(s, where(s.mask, 0, 1), "0 where {mask}, else 1")


@of("NativeDropout input")
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


@of("Sum self")
def of_sum(s: Saved) -> Form:
    return replace(unchanged(s), made=with_lost_dims(s))


@of("Mean self")
def of_mean(s: Saved) -> Form:
    copies = math.prod(s.shape) // max(s.grad.numel(), 1)
    if copies == 1:
        return of_sum(s)
    form = over(s, copies, short_number(copies))
    return replace(form, made=with_lost_dims(s) / copies)


@of("Softmax self")
def of_softmax(s: Saved) -> Form:
    shared = (s.grad * s.result).sum(s.dim, keepdim=True)
    return Form(s.result * (s.grad - shared), "{result} · (g - sum(g · {result}))")


@of("LogSoftmax self")
def of_log_softmax(s: Saved) -> Form:
    made = s.grad - s.result.exp() * s.grad.sum(s.dim, keepdim=True)
    return Form(made, "g - exp({result}) · sum(g)")


# Losses; reduction is 0 for none, 1 for mean, 2 for sum


@of("MseLoss self")
def of_squared_error(s: Saved) -> Form:
    return of_error(s, 2 * (s.self - s.target), "2 · ({self} - {target})")


@of("MseLoss target")
def of_target(s: Saved) -> Form:
    return of_error(s, 2 * (s.target - s.self), "2 · ({target} - {self})")


@of("BinaryCrossEntropyWithLogits self")
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


@of("NllLoss self", "NllLoss2D self")
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


@of("Mm self", "Bmm self")
def of_left_matrix(s: Saved) -> Form:
    return right_of(s, s.mat2.mT, "{mat2}ᵀ")


@of("Mm mat2", "Bmm mat2")
def of_right_matrix(s: Saved) -> Form:
    return left_of(s, s.self.mT, "{self}ᵀ")


@of("Mv self")
def of_matrix(s: Saved) -> Form:
    return Form(s.grad[:, None] * s.vec, "outer(g, {vec})")


@of("Mv vec")
def of_vector(s: Saved) -> Form:
    return left_of(s, s.self.mT, "{self}ᵀ")


@of("Dot self")
def of_first_vector(s: Saved) -> Form:
    return times(s, s.tensor, "{tensor}")


@of("Dot tensor")
def of_second_vector(s: Saved) -> Form:
    return times(s, s.self, "{self}")


@of("Addmm self", "Addmv self")
def of_what_is_added(s: Saved) -> Form:
    return scaled(s, s.beta)


@of("Addmm mat1")
def of_added_left_matrix(s: Saved) -> Form:
    return right_of(s, s.mat2.mT, "{mat2}ᵀ", s.alpha)


@of("Addmm mat2")
def of_added_right_matrix(s: Saved) -> Form:
    return left_of(s, s.mat1.mT, "{mat1}ᵀ", s.alpha)


@of("Addmv mat")
def of_added_matrix(s: Saved) -> Form:
    form = of_matrix(s)
    if s.alpha == 1:
        return form
    return replace(form, made=s.alpha * form.made, text=f"{form.text} · {text_of(s, 'alpha')}")


@of("Addmv vec")
def of_added_vector(s: Saved) -> Form:
    return left_of(s, s.mat.mT, "{mat}ᵀ", s.alpha)


# What moves elements, or reads some of them


@of("View self", "UnsafeView self", "Reshape self", "ReshapeAlias self")
@of("Squeeze self", "Unsqueeze self")
def of_view(s: Saved) -> Form:
    return moved(s.grad.reshape(s.shape), f"reshaped to {s.shape}")


@of("T self")
def of_transpose(s: Saved) -> Form:
    return moved(s.grad.t(), "transposed back")


@of("Transpose self")
def of_swapped_dims(s: Saved) -> Form:
    return moved(s.grad.transpose(s.dim0, s.dim1), "transposed back")


@of("Permute self")
def of_permuted_dims(s: Saved) -> Form:
    order = all_dims(s.dims, len(s.dims))
    back = [order.index(dim) for dim in range(len(order))]
    return moved(s.grad.permute(back), "its dims put back in order")


def nothing_yet(s: Saved) -> Tensor:
    """Return zeros of the input's shape, to be filled with what arrives."""
    return torch.zeros(s.shape, dtype=s.grad.dtype)


@of("Select self")
def of_one_index(s: Saved) -> Form:
    made = nothing_yet(s)
    made.select(s.dim, s.index).copy_(s.grad)
    return Form(made, f"g at index {s.index} of dim {s.dim}, 0 elsewhere")


@of("Slice self")
def of_slice(s: Saved) -> Form:
    made = nothing_yet(s)
    taken = [slice(None)] * len(s.shape)
    taken[s.dim] = slice(s.start, s.end, s.step)
    made[tuple(taken)] = s.grad
    return Form(made, f"g in the slice of dim {s.dim} that was taken, 0 elsewhere")


@of("Index self")
def of_indices(s: Saved) -> Form:
    made = torch.ops.aten.index_put(nothing_yet(s), list(s.indices), s.grad, True)
    return Form(made, "g, added at the places that were read, 0 elsewhere")


@of("Embedding weight")
def of_rows(s: Saved) -> Form | None:
    if s.scale_grad_by_freq or s.padding_idx >= 0:
        return None
    grad = s.grad.reshape(-1, s.shape[-1])
    made = nothing_yet(s).index_add(0, s.indices.reshape(-1), grad)
    return Form(made, "g, added to the rows that were looked up, 0 elsewhere")


@of("Cat tensors")
def of_joined(s: Saved) -> Form:
    before, after = s.shapes[: s.position], s.shapes[s.position + 1 :]
    if None not in before:
        start = sum(shape[s.dim] for shape in before)
    else:  # a piece that gets no gradient has no size here: count from the end
        behind = sum(shape[s.dim] for shape in after)
        start = s.grad.shape[s.dim] - s.shape[s.dim] - behind
    made = s.grad.narrow(s.dim, start, s.shape[s.dim])
    return Form(made, f"its part of g along dim {s.dim}")


@of("Stack tensors")
def of_stacked(s: Saved) -> Form:
    return Form(s.grad.select(s.dim, s.position), f"g at index {s.position} of dim {s.dim}")
