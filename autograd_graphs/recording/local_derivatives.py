"""Find how each input's gradient is made of what arrived, and say it only where numbers agree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from autograd_graphs.data import Gradient, Node, stem
from autograd_graphs.looking.summaries import gradient
from autograd_graphs.looking.tensors import dtype_name
from autograd_graphs.recording.derivatives import MAY_DIFFER, RULES, Form, Rule, unchanged
from autograd_graphs.recording.saved_values import Saved, computable, is_small, is_usable, signed
from autograd_graphs.recording.trace import LocalDerivative, filled
from autograd_graphs.text import short_number, visible

CLEAR, NOISY = 10, 1_000  # times what is close, and times what is rounded: surely another number
DOUBLE = torch.float64
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 4e-2}
Tensors = Sequence[torch.Tensor | None]

_WORDS = re.compile(r" [a-z]+ ")  # "1 where {self} > 0, else 0"
_FIELDS = re.compile(r"\{(\w+)\}")


def local_derivatives(
    formulas: Sequence[tuple[str, str]],
    node: Node,
    held: Mapping[str, object],
    grad_outputs: Tensors,
    grad_inputs: Tensors,
    describe: Callable[[torch.Tensor], Any] = gradient,
) -> tuple[LocalDerivative | None, ...]:
    """Return, for each input, how its gradient is made of what arrived; None where no form is known
    or it was not tried, or where rounding may have been too much; `REFUTED` where a form is known,
    and the numbers of this step are others.

    `held` is what the node saved, by torch's names; `describe` makes the value of a factor. Nothing
    is computed over more than `saved_values.MOST_VERIFIED` elements, and nothing raises.
    """
    nothing = (None,) * len(grad_inputs)
    try:
        names = names_of_inputs(formulas, len(grad_inputs))
        step = StepValues(node, held, grad_outputs, grad_inputs, describe)
        return tuple(step.derivative(*name, place) for place, name in enumerate(names)) or nothing
    except Exception:
        return nothing


def names_of_inputs(formulas: Sequence[tuple[str, str]], count: int) -> Sequence[tuple[str, str]]:
    """Return (input, formula) for each input; a list of tensors has one for all of them."""
    if len(formulas) == 1:
        return list(formulas) * count
    return formulas if len(formulas) == count else []


UNCHANGED = LocalDerivative("×", "1", value=Gradient((), 1), form="g", is_unchanged=True)
REFUTED = LocalDerivative(form="not what the rule gives: a hook?", is_refuted=True)


class StepValues:
    """Hold the tensors of one step while its forms are verified."""

    def __init__(
        self,
        node: Node,
        held: Mapping[str, object],
        grad_outputs: Tensors,
        grad_inputs: Tensors,
        describe: Callable[[torch.Tensor], Any],
    ) -> None:
        self.operation, self.describe = stem(node.operation), describe
        self.names = {}
        for saved in node.saved:
            if saved.tensor and saved.tensor.names:
                self.names[saved.name] = saved.tensor.names[0]
        self.held = {name: signed(value) for name, value in held.items()}
        self.grad_outputs, self.grad_inputs = tuple(grad_outputs), grad_inputs

    def derivative(self, name: str, formula: str, position: int) -> LocalDerivative | None:
        """Return how one input's gradient is made, where a rule is known and verified."""
        key = f"{self.operation} {name}"
        rule = unchanged if formula == "grad" else RULES.get(key)
        grad_input, grad_output = self.grad_inputs[position], self.grad_outputs[0]
        if rule is None or grad_input is None or grad_output is None:
            return None
        if not is_small(grad_input) or not is_small(grad_output):
            return None
        try:
            return self.verified(rule, self.saved(position), grad_input, key not in MAY_DIFFER)
        except Exception:
            return None

    def saved(self, position: int) -> Saved:
        shapes = tuple([grad if grad is None else tuple(grad.shape) for grad in self.grad_inputs])
        own = {"shape": shapes[position], "shapes": shapes, "position": position}
        return Saved(self.held, grad=self.grad_outputs[0], **own)

    def verified(
        self, rule: Rule, saved: Saved, grad_input: torch.Tensor, is_sure: bool
    ) -> LocalDerivative | None:
        """Compute a form, and tell it where it gives what was handed on."""
        form = rule(saved)
        if form is None:
            return None
        is_plain = form.text == "g" and saved.grad.dtype == grad_input.dtype
        if is_plain and torch.equal(saved.grad, grad_input):
            return UNCHANGED
        after = fit(form.made, grad_input, partial(self.noise, form))
        if after is None and is_sure and self.refutes(rule, saved, form.made, grad_input):
            return REFUTED
        if after is None:
            return None
        if saved.grad.dtype != grad_input.dtype:
            after = f"{after}, as {dtype_name(grad_input.dtype)}".removeprefix(", ")
        return self.derivative_of(rule, saved, form, after)

    def refutes(
        self, rule: Rule, saved: Saved, made: torch.Tensor, grad_input: torch.Tensor
    ) -> bool:
        """Say whether what was handed on is surely not what a rule gives: neither rounding can
        explain it, as a computation in double precision tells, nor a place where there is no slope.
        """
        used = [saved.grad, *filter(torch.is_tensor, self.held.values())]
        tensors = [made, grad_input, *filter(is_usable, used)]
        if any(tensor.is_complex() for tensor in tensors):
            return False
        exact = shaped(rule(saved.changed(widened)).made, grad_input)
        if not all(bool(tensor.isfinite().all()) for tensor in (exact, *tensors)):
            return False
        made, grad_input = shaped(made, grad_input).double(), grad_input.double()
        off, noise = largest(grad_input - exact), largest(made - exact)
        least = CLEAR * CLOSE.get(tensors[1].dtype, 1e-4) * max(largest(grad_input), largest(exact))
        return off > max(least, NOISY * noise)

    def noise(self, form: Form) -> float:
        """Return how large the gradient is that arrives, where it may have been cancelled out."""
        return 0.0 if form.sign else largest(self.grad_outputs[0])

    def derivative_of(self, rule: Rule, saved: Saved, form: Form, after: str) -> LocalDerivative:
        text = form.text
        if after and not form.moved:
            text = f"{text}, {after}"
        after = form.moved or after
        fields = sorted(set(_FIELDS.findall(form.text)))
        return LocalDerivative(
            form.sign,
            form.symbol,
            self.numbers(rule, saved, form),
            self.described(form.factor),
            text,
            after,
            form.symbol == "1" and not after,
            tuple((name, self.name(name)) for name in fields),
            kind=form.kind,
            scale=form.scale,
        )

    def described(self, factor: Any) -> Any:
        if factor is None:
            return None
        if isinstance(factor, torch.Tensor):
            return self.describe(factor)
        return Gradient((), factor)

    def name(self, name: str) -> str:
        """Return what the learner calls a saved tensor; an unnamed lone number as text."""
        if name in self.names:
            return visible(self.names[name])
        return lone_number(self.held.get(name)) or name

    def numbers(self, rule: Rule, saved: Saved, form: Form) -> str:
        """Return a symbol with its numbers, where all that stands in it are single numbers, and
        these, rounded as they are written, give the factor to three significant digits.
        """
        fields, value = set(_FIELDS.findall(form.symbol)), lone(form.factor)
        texts = {name: lone_number(self.held.get(name)) for name in fields}
        if not fields or value is None or not all(texts.values()) or _WORDS.search(form.symbol):
            return ""
        text = filled(form.symbol.replace(" · ", "·"), texts)
        if text == short_number(value):
            return ""
        written = lone(rule(saved.changed(as_written)).factor)
        if written is None or not abs(written - value) <= 1e-3 * abs(value):
            return ""
        return text


def fit(made: torch.Tensor, grad_input: torch.Tensor, noise: Callable[[], float]) -> str | None:
    """Say what has to be done to what a form gives so that it has the input's shape: "" for
    nothing; None where it is not what was handed on.
    """
    if is_broadcast(made.shape, grad_input.shape):
        after = spread(made.shape, grad_input.shape)
    else:
        after = f"summed over {summed(made.shape, grad_input.shape)}"
    made = shaped(made, grad_input).to(grad_input.dtype)
    return after if agree(made, grad_input, noise) else None


def shaped(made: torch.Tensor, grad_input: torch.Tensor) -> torch.Tensor:
    """Give what a form gives the shape of what was handed on."""
    if is_broadcast(made.shape, grad_input.shape):
        return made.expand(grad_input.shape)
    return made.sum_to_size(grad_input.shape)


def widened(value: Any) -> Any:
    """Return floating-point tensors in double precision."""
    if isinstance(value, tuple):
        return tuple(map(widened, value))
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    return value


def as_written(value: Any) -> Any:
    """Return a single number as one reads it, anything else as it is."""
    text = lone_number(value)
    if text and isinstance(value, torch.Tensor):
        return read_again(text)
    if text and isinstance(value, float):
        return float(text)
    return value


def is_broadcast(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Say whether a tensor of this shape can be expanded to the other."""
    pairs = zip(shape[::-1], target[::-1], strict=False)
    return len(shape) <= len(target) and all(size in (1, wanted) for size, wanted in pairs)


def spread(shape: Sequence[int], target: Sequence[int]) -> str:
    """Say over what a gradient is spread: "spread over dim 1"; "" where that makes no copies."""
    size = torch.Size(target).numel()
    if size == torch.Size(shape).numel():
        return ""
    if torch.Size(shape).numel() == 1:
        return f"spread over all {size} elements"
    whole = [1] * (len(target) - len(shape)) + list(shape)
    changed = [dim for dim, size in enumerate(whole) if size != target[dim]]
    return f"spread over {dims(changed)}"


def summed(shape: Sequence[int], target: Sequence[int]) -> str:
    """Say over which dimensions a gradient is summed up."""
    extra = len(shape) - len(target)
    changed = [dim for dim, size in enumerate(shape) if dim < extra or size != target[dim - extra]]
    return dims(changed)


def dims(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"dim {numbers[0]}"
    return f"dims {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def agree(made: torch.Tensor, grad_input: torch.Tensor, noise: Callable[[], float]) -> bool:
    """Say whether two gradients are the same but for rounding."""
    if torch.equal(made, grad_input):
        return True
    close = CLOSE.get(grad_input.dtype, 1e-4)
    least = close / 100 * max(largest(grad_input), noise())
    return torch.allclose(made, grad_input, rtol=close, atol=least, equal_nan=True)


def largest(tensor: torch.Tensor) -> float:
    """Return the largest finite magnitude in a tensor."""
    finite = tensor[tensor.isfinite()]
    return finite.abs().max().item() if finite.numel() else 0.0


def lone_number(value: object) -> str:
    """Return a single number as text, "" for anything else."""
    number = lone(value)
    return "" if number is None else short_number(number)


def lone(value: object) -> complex | float | int | None:
    """Return a single number, None for anything else."""
    if isinstance(value, torch.Tensor) and value.dim() == 0 and computable(value):
        value = value.item()
    if type(value) not in (int, float, complex):
        return None
    return value


def read_again(text: str) -> torch.Tensor:
    """Return the number that a text says, in double precision."""
    value = complex(text)
    if value.imag:
        return torch.tensor(value)
    return torch.tensor(value.real, dtype=DOUBLE)
