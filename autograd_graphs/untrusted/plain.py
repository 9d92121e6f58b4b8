"""Read any object into plain Python values without running its own code; touches torch and numpy,
to read.

A plain value is None, `...`, a bool, int, float, str, or a tuple or frozenset of plain values.
"""

import sys
from decimal import Decimal
from fractions import Fraction
from types import EllipsisType

import torch

from autograd_graphs.untrusted.messages import type_name

MOST = 10_000  # elements in one answer, however they are nested
DEEPEST = 8


class NotRead(Exception):
    """Say why an answer could not be read; the text, if any, ends a sentence."""


def is_a(value: object, *kinds: type) -> bool:
    """Tell whether `value` is of one of these classes, by its real type and not `__class__`."""
    return issubclass(type(value), kinds)


def plain(value: object) -> object:
    """Return `value` as plain Python values.

    Tensors and arrays become nested tuples, a backward function, a class or a dtype becomes its
    name. Raises NotRead for what has no such form: too large, too deep, without values, or of
    another kind.
    """
    return _plain(value, DEEPEST, [MOST])


def _plain(value: object, depth: int, room: list[int]) -> object:
    room[0] -= 1
    if depth < 0 or room[0] < 0:
        raise NotRead("it is too large or too deeply nested")
    if value is None or value is Ellipsis or value is True or value is False:
        return value
    if type(value) is Fraction or type(value) is Decimal:  # an abstract base would ask the class
        return _fraction(value)
    for kind, read in _kinds():
        if is_a(value, kind):
            return read(value, depth, room)
    if type(type(value)) is type and is_a(value, torch.autograd.graph.Node):
        return type_name(type(value))
    raise NotRead


def _kinds() -> tuple:
    """List the readable classes; a numpy value can only be there if numpy was imported."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return _BUILTIN
    return (numpy.ndarray, _array), (numpy.generic, _scalar), *_BUILTIN


def _tensor(value: torch.Tensor, depth: int, room: list[int]) -> object:
    mro = type.__dict__["__mro__"].__get__(type(value))
    for kind in mro[: mro.index(torch.Tensor)]:
        if "__torch_dispatch__" in type.__dict__["__dict__"].__get__(kind):
            raise NotRead("this tensor gives its values by code of its own class")
    try:
        with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
            _fits(value.numel(), room)
            dense = value.detach().clone()  # functorch's zeros have no memory until then
            if value.layout != torch.strided:
                dense = dense.to_dense()
            return _plain(dense.cpu().tolist(), depth, room)
    except (RuntimeError, NotImplementedError, TypeError, AttributeError):
        raise NotRead("this tensor does not give its values") from None


def _array(value: object, depth: int, room: list[int]) -> object:
    array = sys.modules["numpy"].ndarray
    _fits(array.size.__get__(value), room)
    return _plain(array.tolist(value), depth, room)


def _scalar(value: object, depth: int, room: list[int]) -> object:
    inner = sys.modules["numpy"].generic.item(value)
    if is_a(inner, sys.modules["numpy"].generic):
        raise NotRead("this numpy scalar has no Python form")
    return _plain(inner, depth, room)


def _fits(count: int, room: list[int]) -> None:
    if count > room[0]:
        raise NotRead("it has too many elements for an answer")


def _sequence(value: object, depth: int, room: list[int]) -> tuple:
    """Read a list or tuple by the base class's own methods: a subclass could make these endless."""
    base = next(kind for kind in (list, tuple, range) if is_a(value, kind))
    return tuple(_plain(item, depth - 1, room) for item in base.__iter__(value))


def _set(value: object, depth: int, room: list[int]) -> frozenset:
    base = set if is_a(value, set) else frozenset
    return frozenset(_plain(item, depth - 1, room) for item in base.__iter__(value))


def _integer(value: int, depth: int, room: list[int]) -> int:
    if int.bit_length(value) > 1_000:  # what a float cannot hold
        raise NotRead("the number is too large")
    return int.__add__(value, 0)


def _fraction(value: Fraction | Decimal) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):
        raise NotRead("the number is too large") from None


def _real(value: complex) -> float:
    if complex.imag.__get__(value):
        raise NotRead("it has an imaginary part")
    return complex.real.__get__(value)


def _text(value: str, depth: int, room: list[int]) -> str:
    if str.__len__(value) > 1_000:
        raise NotRead("the text is too long")
    return str.__str__(value)


_BUILTIN = (
    (torch.Tensor, _tensor),
    (int, _integer),
    (float, lambda value, depth, room: float.__add__(value, 0.0)),
    (complex, lambda value, depth, room: _real(value)),
    (str, _text),
    (list, _sequence),
    (tuple, _sequence),
    (range, _sequence),
    (set, _set),
    (frozenset, _set),
    (type, lambda value, depth, room: type_name(value)),
    (torch.dtype, lambda value, depth, room: str(value)),
    (EllipsisType, lambda value, depth, room: value),
)
