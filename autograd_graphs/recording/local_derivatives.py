"""Find how the gradient of each input is made of what arrived in one step, and say it only where
the numbers of that step agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any

import torch

from autograd_graphs.data import Gradient, Node
from autograd_graphs.looking.summaries import gradient
from autograd_graphs.looking.torch_private import LARGE, dtype_name, is_plain, is_tensor
from autograd_graphs.recording.human_forms import (
    GLOBALS,
    HumanForm,
    Known,
    expression,
    human_form,
    is_writable,
)
from autograd_graphs.recording.trace import LocalDerivative, filled
from autograd_graphs.text import short_number, visible

MOST_VERIFIED = 10_000  # elements of each tensor: a form is verified while a backward is recorded
UNSIGNED = 1 << 64  # torch tells a dimension of -1 as this, less 1
CLEAR, NOISY = 10, 1_000  # times what is close, and times what is rounded: surely another number
DOUBLE = torch.float64
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 4e-2}
Tensors = Sequence[torch.Tensor | None]

_WORDS = re.compile(r" [a-z]+ ")  # "1 where {self} > 0, else 0"
_ARGUMENT = re.compile(r"(Tensor(?:\([^)]*\))?(?:\[\d*\])?\??)\s+(\w+)")


def formulas(operation: str) -> dict[str, str]:
    """Return {input: formula} of a backward function, in the order of its `next_functions`.

    `grad` is what arrives, `self` and `other` are inputs, `result` the output. Empty where torch's
    file has no entry: for AccumulateGrad, CopySlices, a custom Function.
    """
    return _table().get(operation.removesuffix("_copy"), {})


@cache
def _table() -> dict[str, dict[str, str]]:
    """Read the file once; classes are numbered in its order, as torch's generator does it."""
    import yaml  # costly, and needed here alone

    text = (files("torchgen") / "packaged" / "autograd" / "derivatives.yaml").read_text(
        encoding="utf-8"
    )
    table, count = {}, Counter()
    for entry in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        for key, rules in entry.get("dispatch", {"Default": entry}).items():
            found = _inputs(entry["name"], rules)
            if found:
                prefix = _class_name(entry["name"]) + ("" if key == "Default" else key)
                table[f"{prefix}{count[prefix]}"] = found
                count[prefix] += 1
    return table


def _inputs(schema: str, rules: dict[str, Any]) -> dict[str, str]:
    """Pick the formulas of the tensors that can be differentiated, in the order of the schema."""
    by_name = {
        name.strip(): str(rule) for names, rule in rules.items() for name in names.split(",")
    }
    inside = schema.partition("(")[2].rpartition(") ->")[0]
    arguments = [name for _, name in _ARGUMENT.findall(inside)]
    found = {name: by_name[name] for name in arguments if name in by_name}
    return {
        name: " ".join(rule.split())
        for name, rule in found.items()
        if rule.lower() != "non_differentiable"
    }


def _class_name(schema: str) -> str:
    name = re.split(r"[.(]", schema, maxsplit=1)[0]
    return ("".join(part.title() for part in name.split("_")) + "Backward").replace(
        "ForwardBackward", "Backward"
    )


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
    is computed over more than `MOST_VERIFIED` elements, and nothing raises.
    """
    nothing = (None,) * len(grad_inputs)
    try:
        lines = lines_of(formulas, len(grad_inputs))
        if not lines:
            return nothing
        step = StepValues(node, held, grad_outputs, grad_inputs, describe)
        return tuple(step.derivative(line, place) for place, line in enumerate(lines))
    except Exception:
        return nothing


def lines_of(formulas: Sequence[tuple[str, str]], count: int) -> list[str]:
    """Return "input: formula" for each input; a list of tensors has one formula for all of them."""
    lines = [f"{name}: {formula}" for name, formula in formulas]
    if len(lines) == 1:
        return lines * count
    return lines if len(lines) == count else []


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
        self.describe = describe
        self.names = {
            saved.name: saved.tensor.names[0]
            for saved in node.saved
            if saved.tensor and saved.tensor.names
        }
        self.held = {name: signed(value) for name, value in held.items()}
        self.grads, self.grad_inputs = tuple(grad_outputs), grad_inputs
        self.shapes = tuple(
            [tensor if tensor is None else tuple(tensor.shape) for tensor in grad_inputs]
        )

    def derivative(self, line: str, position: int) -> LocalDerivative | None:
        """Return how one input's gradient is made, where a form is known and verified."""
        handed, found = self.grad_inputs[position], expression(line)
        if handed is None or found is None or not is_small(handed):
            return None
        arrived = [grad for grad in self.grads if grad is not None]
        if not arrived or not all(map(is_small, arrived)):
            return None
        try:
            form = human_form(line, self.known(found[1], position))
            return form and self.verified(form, handed)
        except Exception:
            return None

    def known(self, names: frozenset[str], position: int) -> Known:
        """Return the numbers that stand in a form under these names."""
        handed, grad = self.grad_inputs[position], self.grads[0]
        value = self.held.get("input")
        known: dict[str, Any] = {
            "shape": tuple(handed.shape),
            "size": handed.numel(),
            "copies": handed.numel() // max(grad.numel(), 1) if grad is not None else 0,
            "position": position,
            "is_complex": handed.is_complex(),
            "shapes": self.shapes,
            "input_shape": tuple(value.shape) if isinstance(value, torch.Tensor) else None,
        }
        known.update((name, value) for name, value in self.held.items() if is_known(value))
        return tuple(
            (name, type(known[name]).__name__, known[name])
            for name in sorted(names)
            if name in known
        )

    def verified(self, form: HumanForm, handed: torch.Tensor) -> LocalDerivative | None:
        """Compute a form, and tell it where it gives what was handed on."""
        used = {name: self.held[name] for name in form.names & self.held.keys()}
        if not all(map(is_usable, used.values())):
            return None
        if form.text == "g" and is_same(self.grads[0], handed):
            return UNCHANGED
        values = {**used, "grad": self.grads[0], "grads": self.grads}
        made = eval(form.whole, GLOBALS, values)  # ours or torch's: nothing of the user's is in it
        after = fit(made, handed, partial(self.noise, form))
        if after is None:
            return REFUTED if self.refutes(form, values, made, handed) else None
        if arrived_dtype(self.grads) not in (None, handed.dtype):
            after = f"{after}, as {dtype_name(handed.dtype)}".removeprefix(", ")
        factor = None if form.factor is None else eval(form.factor, GLOBALS, values)
        return self.told(form, after, factor)

    def refutes(
        self, form: HumanForm, values: Mapping[str, Any], made: torch.Tensor, handed: torch.Tensor
    ) -> bool:
        """Say whether what was handed on is surely not what a form gives: neither rounding can
        explain it, as a computation in double precision tells, nor a place where there is no slope.
        """
        found = [made, handed, *filter(is_tensor, values.values())]
        if not form.is_sure or any(tensor.is_complex() for tensor in found):
            return False
        exact = shaped(eval(form.whole, GLOBALS, widened(values)), handed)
        if not all(bool(tensor.isfinite().all()) for tensor in (exact, *found)):
            return False
        made, handed = shaped(made, handed).double(), handed.double()
        off, noise = largest(handed - exact), largest(made - exact)
        least = CLEAR * CLOSE.get(found[1].dtype, 1e-4) * max(largest(handed), largest(exact))
        return off > max(least, NOISY * noise)

    def noise(self, form: HumanForm) -> float:
        """Return how large the gradient is that arrives, where it may have been cancelled out."""
        return 0.0 if form.sign else max(largest(grad) for grad in self.grads if grad is not None)

    def told(self, form: HumanForm, after: str, factor: Any) -> LocalDerivative:
        """Put a verified form into plain data."""
        after = form.moved or after
        value = self.described(factor)
        names = tuple((name, self.name(name)) for name in sorted(form.names - {"grad", "grads"}))
        text = form.text
        if after and not form.moved:
            text = f"{text}, {after}"
        return LocalDerivative(
            form.sign,
            form.symbol,
            self.numbers(form, factor),
            value,
            text,
            after,
            form.symbol == "1" and not after,
            names,
        )

    def described(self, factor: Any) -> Any:
        """Describe a factor as a gradient is described."""
        if isinstance(factor, torch.Tensor):
            return self.describe(factor)
        return None if factor is None else Gradient((), factor)

    def name(self, name: str) -> str:
        """Return what the learner calls a saved tensor; an unnamed lone number as text."""
        if name in self.names:
            return visible(self.names[name])
        return lone_number(self.held.get(name)) or name

    def numbers(self, form: HumanForm, factor: Any) -> str:
        """Return a symbol with its numbers, where all that stands in it are single numbers, and
        these, rounded as they are written, give the factor to three significant digits.
        """
        fields = set(re.findall(r"\{(\w+)\}", form.symbol))
        told = {name: lone_number(self.held.get(name)) for name in fields}
        value = lone(factor)
        if not fields or value is None or not all(told.values()) or _WORDS.search(form.symbol):
            return ""
        text = filled(form.symbol.replace(" · ", "·"), told)
        if text == short_number(value):
            return ""
        rounded = {name: read_again(number) for name, number in told.items()}
        written = lone(eval(form.rounded, GLOBALS, {**self.held, **rounded}))
        return text if written is not None and is_near(written, value) else ""


def signed(value: object) -> object:
    """Return a number, or a list of them, as torch means it: below 0 where it was wrapped."""
    if isinstance(value, tuple | list):
        return tuple(map(signed, value))
    if type(value) is int and value >= UNSIGNED // 2:
        return value - UNSIGNED
    return value


def is_known(value: object) -> bool:
    """Say whether a saved value is plain, so that it can stand in a form as it is."""
    if isinstance(value, tuple):
        return all(map(is_known, value))
    return value is None or type(value) in (bool, int, float, str)


def is_usable(value: object) -> bool:
    if isinstance(value, tuple):
        return all(one is None or is_usable(one) for one in value)
    return is_small(value) if is_tensor(value) else True


def is_small(tensor: torch.Tensor) -> bool:
    """Say whether a form may be computed with a tensor."""
    return computable(tensor) and tensor.numel() <= MOST_VERIFIED


def computable(tensor: torch.Tensor) -> bool:
    """Say whether arithmetic on a tensor is safe and cheap: a plain, dense one with values, of at
    most `LARGE`.

    Without its class's own code a nested or wrapped tensor is a shape with no memory behind it:
    torch crashes.
    """
    if not is_plain(tensor) or tensor.layout != torch.strided:
        return False
    return not (tensor.is_nested or tensor.is_meta or tensor.numel() > LARGE)


def is_same(arrived: torch.Tensor | None, handed: torch.Tensor) -> bool:
    """Say whether what was handed on is what arrived, to the last bit."""
    if arrived is None or arrived.dtype != handed.dtype or arrived.shape != handed.shape:
        return False
    return torch.equal(arrived, handed)


def fit(made: torch.Tensor, handed: torch.Tensor, noise: Callable[[], float]) -> str | None:
    """Say what has to be done to what a form gives so that it has the input's shape: "" for
    nothing; None where it is not what was handed on.
    """
    target, after = handed.shape, ""
    if made.shape != target:
        if is_broadcast(made.shape, target):
            after = spread(made.shape, target)
            made = made.expand(target)
        else:
            after = f"summed over {summed(made.shape, target)}"
            made = made.sum_to_size(target)
    return after if agree(made.to(handed.dtype), handed, noise) else None


def shaped(made: torch.Tensor, handed: torch.Tensor) -> torch.Tensor:
    """Give what a form gives the shape of what was handed on."""
    if is_broadcast(made.shape, handed.shape):
        return made.expand(handed.shape)
    return made.sum_to_size(handed.shape)


def widened(value: Any) -> Any:
    """Return floating-point tensors in double precision."""
    if isinstance(value, dict):
        return {name: widened(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return tuple(map(widened, value))
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if is_float else value


def is_broadcast(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Say whether a tensor of this shape can be expanded to the other."""
    return len(shape) <= len(target) and all(
        size in (1, wanted) for size, wanted in zip(shape[::-1], target[::-1], strict=False)
    )


def spread(shape: Sequence[int], target: Sequence[int]) -> str:
    """Say over what a gradient is spread: "spread over all 6 elements", "spread over dim 1"; ""
    where that makes no copies.
    """
    size = torch.Size(target).numel()
    if size == torch.Size(shape).numel():
        return ""
    if torch.Size(shape).numel() == 1:
        return f"spread over all {size} elements"
    missing = len(target) - len(shape)
    found = [
        dim
        for dim, wanted in enumerate(target)
        if wanted != 1 and (dim < missing or shape[dim - missing] != wanted)
    ]
    return f"spread over {dims(found)}"


def summed(shape: Sequence[int], target: Sequence[int]) -> str:
    """Say over which dimensions a gradient is summed up."""
    extra = len(shape) - len(target)
    return dims(
        [dim for dim, size in enumerate(shape) if dim < extra or target[dim - extra] != size]
    )


def dims(found: Sequence[int]) -> str:
    if len(found) == 1:
        return f"dim {found[0]}"
    return f"dims {', '.join(map(str, found[:-1]))} and {found[-1]}"


def agree(made: torch.Tensor, handed: torch.Tensor, noise: Callable[[], float]) -> bool:
    """Say whether two gradients are the same but for rounding."""
    if torch.equal(made, handed):
        return True
    close = CLOSE.get(handed.dtype, 1e-4)
    least = close / 100 * max(largest(handed), noise())
    return torch.allclose(made, handed, rtol=close, atol=least, equal_nan=True)


def largest(tensor: torch.Tensor) -> float:
    """Return the largest finite magnitude in a tensor."""
    finite = tensor[tensor.isfinite()]
    return finite.abs().max().item() if finite.numel() else 0.0


def arrived_dtype(grads: Tensors) -> torch.dtype | None:
    return None if grads[0] is None else grads[0].dtype


def lone_number(value: object) -> str:
    """Return a single number as text, "" for anything else."""
    found = lone(value)
    return "" if found is None else short_number(found)


def lone(value: object) -> complex | float | int | None:
    """Return a single number, None for anything else."""
    if isinstance(value, torch.Tensor) and value.dim() == 0 and computable(value):
        value = value.item()
    return value if type(value) in (int, float, complex) else None


def read_again(text: str) -> torch.Tensor:
    """Return the number that a text says, in double precision."""
    value = complex(text)
    return torch.tensor(value if value.imag else value.real, dtype=None if value.imag else DOUBLE)


def is_near(written: complex, value: complex) -> bool:
    """Say whether two numbers are the same to three significant digits."""
    return abs(written - value) <= 1e-3 * abs(value)


def known_operations() -> dict[str, str]:
    """Return {backward function: its inputs that have a human form} of all of torch's."""
    found = {}
    for operation, rules in _table().items():
        told = [name for name, rule in rules.items() if is_writable(f"{name}: {rule}")]
        if told:
            found[operation] = ", ".join(told)
    return found
