"""Tell what a thing really is, from the `__mro__` of its type: no property and no metaclass of the user's runs."""

from __future__ import annotations

import torch

from helpers.text import visible

CUSTOM = torch._C._FunctionBase


def is_a(thing: object, kind: type) -> bool:
    """Say what `isinstance` would say of a thing that does not lie about its class."""
    return id(kind) in map(id, mro(thing))  # not `kind in`: a metaclass may say what equals it


def mro(thing: object) -> tuple[type, ...]:
    return type.__dict__["__mro__"].__get__(type(thing))


def is_tensor(thing: object) -> bool:
    return is_a(thing, torch.Tensor)


def is_module(thing: object) -> bool:
    return is_a(thing, torch.nn.Module)


def is_custom(node: object) -> bool:
    """Say whether a node belongs to a custom `autograd.Function`: only then may its class be the user's."""
    return is_a(node, CUSTOM)


def is_plain(tensor: torch.Tensor) -> bool:
    """Say whether a tensor is of torch's own class and no wrapper of `torch.func`, so that its values may be read."""
    own = type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter
    return own and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def type_name(thing: object) -> str:
    """Return the name of a thing's real type, whatever its metaclass says.

    For a backward function this is its operation; `node.name()` is never asked, a custom ctx can shadow it.
    """
    return visible(type.__dict__["__name__"].__get__(type(thing)))
