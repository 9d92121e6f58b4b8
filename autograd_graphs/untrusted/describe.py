"""Say in a few words what an answer is, without calling its `repr` or any code of its own."""

from types import BuiltinFunctionType, FunctionType, MethodType

import torch

from autograd_graphs.text import visible
from autograd_graphs.untrusted.messages import type_name
from autograd_graphs.untrusted.plain import NotRead, is_a, plain

_FUNCTIONS = (FunctionType, BuiltinFunctionType)


def describe(answer: object) -> str:
    """Return at most 160 characters: the kind of `answer`, its shape, and a short value."""
    try:
        return visible(_describe(answer), 160)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return f"an object of type {type_name(type(answer))}"


def _describe(answer: object) -> str:
    if is_a(answer, torch.Tensor):
        return _tensor(answer)
    if is_a(answer, type):
        return f"the class {type_name(answer)}"
    if is_a(answer, *_FUNCTIONS):
        return f"the function {visible(str.__str__(answer.__name__), 60)}"
    if is_a(answer, MethodType):
        return f"the method {visible(str.__str__(answer.__name__), 60)}"
    if is_a(answer, str):
        return f"the text {show(str.__getitem__(answer, slice(61)))}"
    if answer is None or is_a(answer, bool):
        return str(answer)
    return f"{_named(answer)}{_value(answer)}"


def _named(answer: object) -> str:
    for kind, name in ((list, "list"), (tuple, "tuple"), (set, "set"), (dict, "dict")):
        if is_a(answer, kind):
            return f"a {name} of {kind.__len__(answer)}"
    if is_a(answer, int, float):
        return "the number"
    return f"an object of type {type_name(type(answer))}"


def _tensor(answer: torch.Tensor) -> str:
    with torch._C.DisableTorchFunctionSubclass():
        dtype = str(answer.dtype).removeprefix("torch.")
        words = f"a tensor of shape {tuple(answer.shape)}, {dtype}"
        if answer.device.type != "cpu":
            words += f" on {answer.device.type}"
        if answer.numel() <= 8:
            words += _value(answer)
        return words


def _value(answer: object) -> str:
    try:
        value = plain(answer)
    except NotRead:
        return ""
    if is_a(answer, int, float):
        return f" {show(value)}"
    return f": {show(value)}"


def show(value: object) -> str:
    """Return a plain value as short text: floats to six digits, at most eight elements a level."""
    if is_a(value, tuple):
        return "[" + _joined(value) + "]"
    if is_a(value, frozenset):
        return "{" + _joined(sorted(value, key=show)) + "}"
    if is_a(value, float):
        return f"{value:.6g}"
    if is_a(value, str):
        return f'"{visible(value, 60)}"'
    return visible(str(value), 60)


def _joined(values: tuple | list) -> str:
    shown = list(map(show, values[:8]))
    if len(values) > 8:
        shown.append("…")
    return ", ".join(shown)
