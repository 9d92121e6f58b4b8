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


def of_absolute(s: Saved) -> Form | None:
    if s.self.is_complex():
        return None
    return times(s, s.self.sgn(), "sign({self})", kind="sign")


def of_relu(s: Saved) -> Form:
    return times_sum(s, (s.result > 0).double(), "1 where {result} > 0, else 0")


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


# What moves elements


def of_view(s: Saved) -> Form:
    return moved(s.grad.reshape(s.shape), f"reshaped to {s.shape}")


def of_permuted_dims(s: Saved) -> Form:
    order = all_dims(s.dims, len(s.dims))
    back = [order.index(dim) for dim in range(len(order))]
    return moved(s.grad.permute(back), "its dims put back in order")


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
    "Relu self": of_relu,
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
    "Addmm self": lambda s: scaled(s, s.beta),
    "Addmm mat1": lambda s: right_of(s, s.mat2.mT, "{mat2}ᵀ", s.alpha),
    "Addmm mat2": lambda s: left_of(s, s.mat1.mT, "{mat1}ᵀ", s.alpha),
    # What moves elements
    **dict.fromkeys(("View self", "UnsafeView self", "Reshape self", "ReshapeAlias self"), of_view),
    **dict.fromkeys(("Squeeze self", "Unsqueeze self"), of_view),
    "T self": lambda s: moved(s.grad.t(), "transposed back"),
    "Transpose self": lambda s: moved(s.grad.transpose(s.dim0, s.dim1), "transposed back"),
    "Permute self": of_permuted_dims,
}
