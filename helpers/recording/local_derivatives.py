"""Find by what a gradient was multiplied in one step, and say it only where the numbers of that
step agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import torch

from helpers.graph import Node
from helpers.looking.torch_private import LARGE, is_plain, is_tensor, values
from helpers.text import number, numbers

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


# What a formula of torch's comes to, where that is one elementwise factor. Whether it is true is
# checked each time.
_SHAPES = [
    (r"grad", "1"),
    (r"grad\.neg\(\)", "-1"),
    (r"handle_r_to_c\(\w+\.scalar_type\(\), grad\)", "1"),
    (
        r"handle_r_to_c\(\w+\.scalar_type\(\), maybe_multiply\((-?)grad, (alpha)\.conj\(\)\)\)",
        r"\1\2",
    ),
    (r"grad \* (\w+)\.conj\(\)", r"\1"),
    (r"grad \* (\w+)\.(\w+)\(\)\.conj\(\)", r"\1.\2()"),
    (r"grad \* -(\w+)\.(\w+)\(\)\.conj\(\)", r"-\1.\2()"),
    (r"grad\.div\((\w+)\.conj\(\)\)", r"1 / \1"),
    (r"grad / \(2 \* (\w+)\.conj\(\)\)", r"1 / (2 * \1)"),
    (r"mul_tensor_backward\(grad, (\w+), .*\)", r"\1"),
    (r"div_tensor_self_backward\(grad, (\w+), .*\)", r"1 / \1"),
    (r"pow_backward\(grad, (\w+), (\w+)\)", r"\2 * \1 ** (\2 - 1)"),
    (r"tanh_backward\(grad, (\w+)\)", r"1 - \1 ** 2"),
    (r"sigmoid_backward\(grad, (\w+)\)", r"\1 * (1 - \1)"),
]
_NAME = re.compile(r"\b[a-z_]\w*\b(?!\()")


def factors(
    formulas: Sequence[tuple[str, str]],
    node: Node,
    held: Mapping[str, object],
    grad_outputs: Sequence[torch.Tensor | None],
    grad_inputs: Sequence[torch.Tensor | None],
) -> tuple[str, ...]:
    """Return by what each input's gradient was multiplied, where the numbers of a step agree; else
    "".
    """
    if len(grad_outputs) != 1 or grad_outputs[0] is None or len(formulas) != len(grad_inputs):
        return ("",) * len(grad_inputs)
    names = {saved.name: saved.tensor.name for saved in node.saved if saved.tensor}
    found = []
    for (_, formula), grad_input in zip(formulas, grad_inputs, strict=True):
        if grad_input is None:
            found.append("")
        else:
            found.append(factor(formula, held, names, grad_outputs[0], grad_input))
    return tuple(found)


def factor(
    formula: str,
    held: Mapping[str, object],
    names: Mapping[str, str],
    grad_output: torch.Tensor,
    grad_input: torch.Tensor,
) -> str:
    """Return "1 / d = 0.1" if `grad_input` is `grad_output` times that, elementwise.

    Else, or where that is not computed, return "". `held` is what the node saved, by torch's names;
    `names` what the learner calls it.
    """
    if not (computable(grad_output) and computable(grad_input)):
        return ""
    for shape, expression in _SHAPES:
        if match := re.fullmatch(shape, formula):
            return _verified(match.expand(expression), held, names, grad_output, grad_input)
    return ""


def computable(tensor: torch.Tensor) -> bool:
    """Say whether arithmetic on a tensor is safe and cheap: a plain, dense one with values, of at
    most `LARGE`.

    Without its class's own code a nested or wrapped tensor is a shape with no memory behind it:
    torch crashes.
    """
    if not is_plain(tensor) or tensor.layout != torch.strided:
        return False
    return not (tensor.is_nested or tensor.is_meta or tensor.numel() > LARGE)


def _verified(
    expression: str,
    held: Mapping[str, object],
    names: Mapping[str, str],
    grad_output: torch.Tensor,
    grad_input: torch.Tensor,
) -> str:
    """Return an expression in the learner's names, and its value, if it is what one gradient is
    times the other.
    """
    try:
        known = {
            name: value for name, value in held.items() if not is_tensor(value) or computable(value)
        }
        value = eval(
            expression, {"__builtins__": {}}, known
        )  # ours, above: nothing of the user's is in it
        if grad_output.shape != grad_input.shape:
            return ""
        if not torch.allclose(grad_output * value, grad_input, equal_nan=True):
            return ""
        told = _told(value)
    except Exception:
        return ""
    words = _NAME.sub(lambda match: names.get(match[0]) or _told_of(held, match[0]), expression)
    if told in ("", words):
        return words
    return f"{words} = {told}"


def _told(value: object) -> str:
    """Return a number, or a small tensor's values, as text; "" for a larger one."""
    if not isinstance(value, torch.Tensor):
        return number(value)
    small = values(value)
    return "" if small is None else numbers(small)


def _told_of(held: Mapping[str, object], name: str) -> str:
    """Return a lone number that nobody named as text; anything else by torch's name."""
    value = held.get(name)
    is_number = isinstance(value, int | float) or (
        isinstance(value, torch.Tensor) and value.dim() == 0
    )
    return (is_number and _told(value)) or name
