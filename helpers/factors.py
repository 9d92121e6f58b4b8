"""Find by what a gradient was multiplied in one step, and say it only where the numbers of that step agree."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import torch

from helpers import peek
from helpers.graph import Node
from helpers.text import number

# What a formula of torch's comes to, where that is one elementwise factor. Whether it is true is checked each time.
_SHAPES = [
    (r"grad", "1"),
    (r"grad\.neg\(\)", "-1"),
    (r"handle_r_to_c\(\w+\.scalar_type\(\), grad\)", "1"),
    (r"handle_r_to_c\(\w+\.scalar_type\(\), maybe_multiply\((-?)grad, (alpha)\.conj\(\)\)\)", r"\1\2"),
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
    came: Sequence[torch.Tensor | None],
    went: Sequence[torch.Tensor | None],
) -> tuple[str, ...]:
    """Return by what each input's gradient was multiplied, where the numbers of a step agree; else ""."""
    if len(came) != 1 or came[0] is None or len(formulas) != len(went):
        return ("",) * len(went)
    names = {one.name: one.tensor.name for one in node.saved if one.tensor}
    pairs = zip(formulas, went, strict=True)
    return tuple("" if one is None else factor(formula, held, names, came[0], one) for (_, formula), one in pairs)


def factor(
    formula: str, saved: Mapping[str, object], names: Mapping[str, str], came: torch.Tensor, went: torch.Tensor
) -> str:
    """Return "1 / d = 0.1" if `went` is `came` times that, elementwise; else, or where that is not computed, "".

    `saved` holds what the node saved, by torch's names; `names` what the learner calls it.
    """
    if not (computable(came) and computable(went)):
        return ""
    for shape, expression in _SHAPES:
        if match := re.fullmatch(shape, formula):
            return _verified(match.expand(expression), saved, names, came, went)
    return ""


def computable(tensor: torch.Tensor) -> bool:
    """Say whether arithmetic on a tensor is safe and cheap: a plain, dense one with values, of at most `LARGE`.

    Without its class's own code a nested or wrapped tensor is a shape with no memory behind it: torch crashes.
    """
    wrapped = not peek.is_plain(tensor)
    return (
        not wrapped
        and tensor.layout == torch.strided
        and not (tensor.is_nested or tensor.is_meta or tensor.numel() > peek.LARGE)
    )


def _verified(
    expression: str, saved: Mapping[str, object], names: Mapping[str, str], came: torch.Tensor, went: torch.Tensor
) -> str:
    try:
        known = {name: one for name, one in saved.items() if not peek.is_tensor(one) or computable(one)}
        value = eval(expression, {"__builtins__": {}}, known)  # ours, above: nothing of the user's is in it
        if came.shape != went.shape or not torch.allclose(came * value, went, equal_nan=True):
            return ""
        short = peek.values(value) if isinstance(value, torch.Tensor) else number(value)
    except Exception:
        return ""
    words = _NAME.sub(lambda name: names.get(name[0]) or _plain(saved.get(name[0]), name[0]), expression)
    return words if not short or words == short else f"{words} = {short}"


def _plain(value: object, name: str) -> str:
    """Return a lone number that nobody named as text; anything else by torch's name."""
    if isinstance(value, torch.Tensor) and value.dim() == 0:
        return peek.values(value) or name
    return number(value) if isinstance(value, (int, float)) else name
