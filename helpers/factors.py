"""Find by what a gradient was multiplied in one step, and say it only where the numbers of that step agree."""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch

from helpers import peek
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


def factor(
    formula: str, saved: Mapping[str, object], names: Mapping[str, str], came: torch.Tensor, went: torch.Tensor
) -> str:
    """Return "1 / d = 0.1" if `went` is `came` times that, elementwise; else, or over a million elements, "".

    `saved` holds what the node saved, by torch's names; `names` what the learner calls it.
    """
    if went.numel() > peek.LARGE:
        return ""
    for shape, expression in _SHAPES:
        if match := re.fullmatch(shape, formula):
            return _verified(match.expand(expression), saved, names, came, went)
    return ""


def _verified(
    expression: str, saved: Mapping[str, object], names: Mapping[str, str], came: torch.Tensor, went: torch.Tensor
) -> str:
    try:
        value = eval(expression, {"__builtins__": {}}, dict(saved))  # ours, above: nothing of the user's is in it
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
