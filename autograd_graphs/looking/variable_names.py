"""Find what the learner calls each tensor: variables of the calling frame, parameters of modules in
reach.

Modules are read from their `__dict__`: a property of theirs may run anything.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import torch

from autograd_graphs.looking.tensors import may_be_stale, read
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.text import is_ours, visible

MOST_NAMES = 2
MOST_MODULES = 10_000
_IPYTHON = re.compile(r"_+|_i+|_i?\d+|_[iod]h|In|Out")


class Names:
    """Remember the names of tensors, by themselves and by the (node, output_nr) that made them."""

    def __init__(self) -> None:
        self._keep: list[Any] = []  # strong references: an id stays true as long as we look
        self._found: dict[Any, tuple[str, ...]] = {}
        self._tensor: dict[Any, torch.Tensor] = {}
        self.calls: Any = None  # the ModuleCalls that was given, if one was
        self.weights: list[torch.Tensor] = []  # of models, frozen ones and buffers too

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
        return self._tensor.get((id(node), output_nr))

    def _keys(self, tensor: torch.Tensor) -> Iterator[Any]:
        self._keep.append(tensor)
        yield id(tensor)
        if read(tensor, "requires_grad") and not may_be_stale(tensor):
            node = read(tensor, "grad_fn")
            if node is not None:
                self._keep.append(node)
                yield id(node), read(tensor, "output_nr")


def find_names(
    frame: FrameType | None, given: Mapping[str, torch.Tensor] | torch.nn.Module | None = None
) -> Names:
    """Collect names: `given` first, then the frame's locals, then its globals, in order of
    definition.

    Parameters of a model that is given go by their paths, whatever variable holds it: by these
    alone, or after the name that a model has in a dict.
    """
    names = Names()
    with quietly():
        first = [("", given)] if isinstance(given, torch.nn.Module) else list((given or {}).items())
        models = {id(thing) for _, thing in first if isinstance(thing, torch.nn.Module)}
        rest = [pair for pair in variables(frame) if id(pair[1]) not in models]
        for name, thing in [*first, *rest]:
            if torch.is_tensor(thing):
                names.add(visible(name), thing)
            elif isinstance(thing, torch.nn.Module):
                for path, parameter in parameters(thing):
                    names.add(visible(f"{name}.{path}".removeprefix(".")), parameter)
                    names.weights.append(parameter)
                names.weights += [buffer for _, buffer in _in_modules(thing, "_buffers")]
    return names


def caller() -> FrameType | None:
    """Return the nearest frame outside this package: the learner's cell or function."""
    frame = sys._getframe(1)
    while frame is not None and is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return frame


def variables(frame: FrameType | None) -> list[tuple[str, Any]]:
    """List a frame's variables, locals before globals, but for shadowed globals and IPython's own.

    A local name shadows a global also after it was deleted, or the frame cleared.
    """
    if frame is None:
        return []
    things = dict(_locals(frame))
    made = frame.f_code
    local = {*made.co_varnames, *made.co_cellvars, *made.co_freevars}
    for name, thing in named(frame.f_globals):
        if name not in local:
            things.setdefault(name, thing)
    found = []
    for name, thing in things.items():
        if not is_ipythons(name) and tells_its_class(thing):
            found.append((name, thing))
    return found


def tells_its_class(thing: object) -> bool:
    """Say whether a thing can be asked what it is: a proxy of what is not there may raise."""
    try:
        return thing.__class__ is not None
    except Exception:
        return False


def is_ipythons(name: str) -> bool:
    """Say whether IPython keeps something of its own under a name, such as `In` or `_3`."""
    return _IPYTHON.fullmatch(name) is not None


def named(space: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """Copy what a dict holds under names: another thread may change it meanwhile."""
    return [(name, thing) for name, thing in list(space.items()) if isinstance(name, str)]


def _locals(frame: FrameType) -> list[tuple[str, Any]]:
    """Copy a frame's locals.

    Before Python 3.13 the frame keeps the dict that it hands out, and so every tensor
    in it, until the function ends: empty it, unless someone else (`d = locals()`) holds it too.
    """
    handed_out = frame.f_locals
    copied = named(handed_out)
    cached = sys.version_info < (3, 13) and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if cached and sys.getrefcount(handed_out) <= 3:  # the frame, this function, getrefcount
        handed_out.clear()
    return copied


def parameters(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield (dotted path, parameter), as `named_parameters()` would, without calling the module."""
    yield from _in_modules(module, "_parameters")


def _in_modules(module: torch.nn.Module, what: str) -> Iterator[tuple[str, torch.Tensor]]:
    seen = set()
    for path, part in submodules(module):
        if id(part) in seen:
            continue
        seen.add(id(part))
        for name, tensor in _dict_of(part, what):
            if torch.is_tensor(tensor):
                yield f"{path}.{name}".removeprefix("."), tensor


def submodules(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    """Yield (dotted path, module) of a model and all in it, outer first; nothing is called."""
    queue: list[tuple[str, torch.nn.Module, tuple[int, ...]]] = [("", model, ())]
    count = 0
    while queue and count < MOST_MODULES:
        path, module, above = queue.pop()
        count += 1
        yield path, module
        if id(module) in above:
            continue
        for name, child in reversed(_dict_of(module, "_modules")):
            if isinstance(child, torch.nn.Module):
                inside = f"{path}.{name}".removeprefix(".")
                queue.append((inside, child, (*above, id(module))))


def _dict_of(module: torch.nn.Module, attribute: str) -> list[tuple[str, Any]]:
    """Return what a module holds in one of its dicts; nothing where its `__init__` made none."""
    inside = vars(module).get(attribute)
    if not isinstance(inside, dict):
        return []
    return named(inside)
