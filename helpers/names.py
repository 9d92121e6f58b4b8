"""Find what the learner calls each tensor: variables of the calling frame, parameters of modules in reach.

Nothing of the user's runs: types are read from their `__mro__`, modules from their `__dict__`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import torch

from helpers.peek import is_tensor, may_be_stale, quietly, read
from helpers.text import visible

MOST_NAMES = 2
MOST_MODULES = 10_000
_IPYTHON = re.compile(r"_+|_i+|_i?\d+|_[iod]h|In|Out")


class Names:
    """Remember the names of tensors, by the tensor itself and by the (node, output_nr) that made it."""

    def __init__(self) -> None:
        self._keep: list[Any] = []  # strong references: an id stays true as long as we look
        self._found: dict[Any, tuple[str, ...]] = {}
        self._tensor: dict[Any, torch.Tensor] = {}

    def add(self, name: str, tensor: torch.Tensor) -> None:
        for key in self._keys(tensor):
            self._tensor[key] = tensor
            have = self._found.get(key, ())
            if name not in have and len(have) < MOST_NAMES:
                self._found[key] = (*have, name)

    def of_tensor(self, tensor: torch.Tensor) -> tuple[str, ...]:
        return next((self._found[key] for key in self._keys(tensor) if key in self._found), ())

    def of_output(self, node: Any, output_nr: int) -> tuple[str, ...]:
        return self._found.get((id(node), output_nr), ())

    def tensor_of_output(self, node: Any, output_nr: int) -> torch.Tensor | None:
        """Return the named tensor that is this output of a node, if there is one."""
        return self._tensor.get((id(node), output_nr))

    def _keys(self, tensor: torch.Tensor) -> Iterator[Any]:
        self._keep.append(tensor)
        yield id(tensor)
        if read(tensor, "requires_grad") and not may_be_stale(tensor):
            node = read(tensor, "grad_fn")
            if node is not None:
                self._keep.append(node)
                yield id(node), read(tensor, "output_nr")


def find_names(frame: FrameType | None, given: Mapping[str, torch.Tensor] | torch.nn.Module | None = None) -> Names:
    """Collect names: `given` first, then the frame's locals, then its globals, in order of definition.

    Parameters of a model that is given go by their paths alone, whatever variable holds it.
    """
    names = Names()
    with quietly():
        first = [("", given)] if is_module(given) else list((given or {}).items())
        for name, thing in [*first, *(pair for pair in variables(frame) if pair[1] is not given)]:
            if is_tensor(thing):
                names.add(visible(name), thing)
            elif is_module(thing):
                for path, parameter in parameters(thing):
                    names.add(visible(f"{name}.{path}".removeprefix(".")), parameter)
    return names


def caller() -> FrameType | None:
    """Return the nearest frame outside this package: the learner's cell or function."""
    frame = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == "helpers":
        frame = frame.f_back
    return frame


def variables(frame: FrameType | None) -> list[tuple[str, Any]]:
    """List a frame's variables, locals before globals; a shadowed global and IPython's own are left out."""
    if frame is None:
        return []
    found = dict(_locals(frame))
    for name, thing in list(frame.f_globals.items()):
        found.setdefault(name, thing)
    return [(k, v) for k, v in found.items() if type(k) is str and not _IPYTHON.fullmatch(k)]


def _locals(frame: FrameType) -> list[tuple[str, Any]]:
    """Copy a frame's locals.

    Before Python 3.13 the frame keeps the dict that it hands out, and so every tensor
    in it, until the function ends: empty it, unless someone else (`d = locals()`) holds it too.
    """
    handed_out = frame.f_locals
    found = list(handed_out.items())
    cached = sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if cached and sys.getrefcount(handed_out) <= 3:  # the frame, this function, getrefcount
        handed_out.clear()
    return found


def is_module(thing: object) -> bool:
    """Say whether `thing` is an `nn.Module`, from its real type alone."""
    return torch.nn.Module in type.__dict__["__mro__"].__get__(type(thing))


def parameters(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield (dotted path, parameter), as `named_parameters()` would, without calling the module."""
    seen, queue = set(), [("", module)]
    while queue and len(seen) < MOST_MODULES:
        prefix, one = queue.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for name, parameter in _dict_of(one, "_parameters"):
            if is_tensor(parameter):
                yield prefix + name, parameter
        children = [(f"{prefix}{name}.", child) for name, child in _dict_of(one, "_modules")]
        queue += reversed([(path, child) for path, child in children if is_module(child)])


def _dict_of(module: torch.nn.Module, attribute: str) -> list[tuple[str, Any]]:
    inside = torch.nn.Module.__dict__["__dict__"].__get__(module).get(attribute)
    return [(k, v) for k, v in list(inside.items()) if type(k) is str] if type(inside) is dict else []
