"""Look up what a name, an attribute or an entry holds now, as it is stored. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any

import torch

from autograd_graphs.looking.tensors import read
from autograd_graphs.looking.variable_names import parameters

MOST_ENTRIES = 100  # of one list or dict
Ids = frozenset[int]  # of the tensors that ask for gradients and that a value comes from


def inplace_parts(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a module, of torch's own classes, that edit their input in place."""
    inner = attribute(module, "_modules") if type(module) is torch.nn.Sequential else {}
    for path, part in {"": module, **inner}.items():
        if isinstance(part, torch.nn.Module) and attribute(part, "inplace") is True:
            yield path, part


def closure_of(function: FunctionType) -> dict[str, Any]:
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            variables[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return variables


def attribute(thing: Any, name: str) -> Any:
    """Return an attribute as it is stored: of a module, a plain object, a class, a namespace."""
    if thing is None or torch.is_tensor(thing):
        return None
    try:
        inside = vars(thing)
    except Exception:
        return None
    if name in inside and not isinstance(thing, type):
        return inside[name]
    for part in ("_modules", "_parameters", "_buffers"):
        if isinstance(thing, torch.nn.Module) and name in inside.get(part, {}):
            return inside[part][name]
    return of_class(thing, name)


def of_class(thing: Any, name: str) -> Any:
    """Return what a class, or that of an object, has under a name; a method bound to the object."""
    kind = thing if isinstance(thing, type) else type(thing)
    for base in kind.__mro__:
        if name in base.__dict__:
            member = base.__dict__[name]
            if isinstance(member, (staticmethod, classmethod)):
                return member.__func__
            if isinstance(member, FunctionType) and kind is not thing:
                return MethodType(member, thing)
            return member
    return None


def entry(thing: Any, key: Any) -> Any:
    if isinstance(thing, torch.nn.Module):
        inner = attribute(thing, "_modules") or {}
        if type(key) is str:
            return inner.get(key)
        thing = list(inner.values())
    if type(thing) in (list, tuple) and type(key) is int and -len(thing) <= key < len(thing):
        return thing[key]
    if type(thing) is dict and type(key) in (int, str):
        return thing.get(key)
    return None


def modules_in(thing: Any) -> list[Any]:
    if isinstance(thing, torch.nn.Module):
        thing = list((attribute(thing, "_modules") or {}).values())
    if type(thing) in (list, tuple):
        return [one for one in thing if isinstance(one, torch.nn.Module)]
    return []


def ids_of(thing: Any) -> Ids:
    """Return the id of a tensor that requires grad, or those of the ones in a list or a model."""
    if torch.is_tensor(thing) and read(thing, "requires_grad"):
        return frozenset([id(thing)])
    inside: Sequence[Any] = ()
    if isinstance(thing, torch.nn.Module):
        inside = list(dict(parameters(thing)).values())
    elif type(thing) is dict:
        inside = list(thing.values())[:MOST_ENTRIES]
    elif type(thing) in (list, tuple):
        inside = thing[:MOST_ENTRIES]
    return frozenset().union(*map(ids_of, inside))
