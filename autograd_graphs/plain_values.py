"""Read any object into plain Python values, and say one in a few words.

A plain value is None, `...`, a bool, int, float, str, or a tuple or frozenset of plain values.
"""

import sys
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType

import torch

from autograd_graphs.text import visible

MOST = 10_000  # elements in one answer, however they are nested
DEEPEST = 8
LARGEST = 1 << 1_000  # an integer that a float cannot hold


class NotRead(Exception):
    """Say why an answer could not be read; the text, if any, ends a sentence."""


def plain(value: object) -> object:
    """Return `value` as plain Python values.

    Tensors and arrays become nested tuples, a backward function, a class or a dtype becomes its
    name. Raises NotRead for what has no such form: too large, too deep, without values, or of
    another kind.
    """
    try:
        return _plain(value, DEEPEST, [MOST])
    except NotRead:
        raise
    except Exception:
        raise NotRead("its own class fails to read it") from None


def _plain(value: object, depth: int, room: list[int]) -> object:
    room[0] -= 1
    if depth < 0 or room[0] < 0:
        raise NotRead("it is too large or too deeply nested")
    if value is None or value is Ellipsis or isinstance(value, bool):
        return value
    if isinstance(value, torch.Tensor):
        return _plain(_of_tensor(value, room[0]), depth, room)
    if _is_of_numpy(value):
        return _plain(_of_numpy(value, room[0]), depth, room)
    if isinstance(value, (list, tuple, range)):
        return tuple(_plain(item, depth - 1, room) for item in value)
    if isinstance(value, (set, frozenset)):
        return frozenset(_plain(item, depth - 1, room) for item in value)
    if isinstance(value, (int, float, complex, Fraction, Decimal)):
        return _number(value)
    return _name(value)


def _of_tensor(value: torch.Tensor, room: int) -> object:
    if type(value).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise NotRead("this tensor gives its values through code of its own class")
    try:
        with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
            _fits(value.numel(), room)
            if value.layout == torch.strided:  # torch refuses where the storage was freed
                dense = value.detach().as_strided(
                    value.shape, value.stride(), value.storage_offset()
                )
            else:
                dense = value.detach().to_dense()
            return dense.clone().cpu().tolist()  # functorch's zeros have no memory until then
    except (RuntimeError, NotImplementedError, TypeError, AttributeError):
        raise NotRead("this tensor doesn't give its values") from None


def _is_of_numpy(value: object) -> bool:
    """Tell a numpy value, which can only be there if numpy was imported."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def _of_numpy(value: object, room: int) -> object:
    """Return an array or a numpy scalar as Python values."""
    _fits(value.size, room)
    read = value.tolist()
    if type(read) is type(value):
        raise NotRead("this numpy scalar has no Python form")
    return read


def _fits(count: int, room: int) -> None:
    if count > room:
        raise NotRead("it has too many elements for an answer")


def _number(value: complex | Fraction | Decimal) -> int | float:
    if isinstance(value, int):
        if abs(value) >= LARGEST:
            raise NotRead("the number is too large")
        return int(value)
    if isinstance(value, complex):
        if value.imag:
            raise NotRead("it has an imaginary part")
        return value.real
    try:
        return float(value)
    except (OverflowError, ValueError):
        raise NotRead("the number is too large") from None


def _name(value: object) -> str:
    if isinstance(value, str):
        if len(value) > 1_000:
            raise NotRead("the text is too long")
        return str(value)
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.autograd.graph.Node):
        return type(value).__name__
    raise NotRead


def describe(answer: object) -> str:
    """Return at most 160 characters: the kind of `answer`, its shape, and a short value."""
    try:
        return visible(_describe(answer), 160)
    except Exception:
        return _of_type(answer)


def _describe(answer: object) -> str:
    if isinstance(answer, torch.Tensor):
        return _tensor(answer)
    if isinstance(answer, type):
        return f"the class {visible(answer.__name__, 60)}"
    if isinstance(answer, (FunctionType, BuiltinFunctionType)):
        return f"the function {visible(answer.__name__, 60)}"
    if isinstance(answer, MethodType):
        return f"the method {visible(answer.__name__, 60)}"
    if isinstance(answer, str):
        return f"the text {show(answer)}"
    if answer is None or isinstance(answer, bool):
        return str(answer)
    return f"{_kind(answer)}{_value(answer)}"


def _kind(answer: object) -> str:
    for kind in (list, tuple, set, dict):
        if isinstance(answer, kind):
            return f"a {kind.__name__} of {len(answer)}"
    if isinstance(answer, (int, float)):
        return "the number"
    return _of_type(answer)


def _of_type(answer: object) -> str:
    return f"an object of type {visible(type(answer).__name__, 60)}"


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
    if isinstance(answer, (int, float)):
        return f" {show(value)}"
    return f": {show(value)}"


def show(value: object) -> str:
    """Return a plain value as short text: floats to six digits, at most eight elements a level."""
    if isinstance(value, tuple):
        return "[" + _joined(value) + "]"
    if isinstance(value, frozenset):
        return "{" + _joined(sorted(value, key=show)) + "}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return f'"{visible(value, 60)}"'
    return visible(str(value), 60)


def _joined(values: tuple | list) -> str:
    shown = list(map(show, values[:8]))
    if len(values) > 8:
        shown.append("…")
    return ", ".join(shown)
