"""Find the hooks that a backward through a graph would run. Looks at live objects; runs none.

torch does not say which hooks a node has. But a hook lives in a dict, and Python knows every dict:
where no tensor, module or optimizer holds it, a node does, or a tensor that only torch still has.
Whose they are shows when a backward comes to them: it meets listeners in their place.
"""

from __future__ import annotations

import contextlib
import gc
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from autograd_graphs.looking.torch_private import may_be_stale, read, type_name
from helpers.clinic.catalogue import SAID
from helpers.clinic.facts import quoted

OF_MODULES = torch.utils.hooks.BackwardHook.__module__


class Alive:
    """Hold the tensors and the dicts of hooks that are alive: all objects are looked through once."""

    def __init__(self) -> None:
        things = gc.get_objects()
        kinds = {kind for kind in set(map(type, things)) if issubclass(kind, torch.Tensor)}
        self.tensors = [one for one in things if type(one) in kinds]
        known = {id(read(one, "_backward_hooks")) for one in self.tensors}
        dicts = [one for one in things if type(one) is OrderedDict]
        self.hooks = [one for one in dicts if id(one) not in known and is_hooks(one)]

    def in_the_way(self, met: list[Any], names: Iterable[tuple[str, torch.Tensor]]) -> str:
        """Say which hook a backward through these nodes and leaves may run; "" if none."""
        if any(type_name(one).startswith("BackwardHookFunction") for one in met):
            return SAID["hook_of_module"]
        for one in self.tensors:
            if read(one, "_backward_hooks") and is_in(one, met):
                name = next((name for name, tensor in names if tensor is one), "")
                return SAID["hook_of_tensor"].format(quoted(name, "a tensor"))
        return ""

    @contextlib.contextmanager
    def silenced(self) -> Iterator[list[bool]]:
        """Let no hidden hook run; yield a list with an item for each call that was meant for one."""
        heard: list[bool] = []
        before = [(hooks, dict(hooks)) for hooks in self.hidden()]
        for hooks, was in before:
            hooks.update(dict.fromkeys(was, lambda *gradients: heard.append(True)))
        try:
            yield heard
        finally:
            for hooks, was in before:
                hooks.update((number, hook) for number, hook in was.items() if number in hooks)

    def hidden(self) -> list[OrderedDict[int, Any]]:
        """Return the dicts of hooks that no tensor, and nothing else of Python's, holds."""
        held = set()
        for owner in gc.get_referrers(*self.hooks):
            if owner is not self.hooks:
                held.update(map(id, gc.get_referents(owner)))
        return [one for one in self.hooks if id(one) not in held]

    @contextlib.contextmanager
    def retained_as_it_was(self, met: list[Any]) -> Iterator[None]:
        """Give tensors of a graph that retain their gradient back the one that they had."""
        retained = [one for one in self.tensors if read(one, "retains_grad") and is_in(one, met)]
        before = [(one, read(one, "grad")) for one in retained]
        try:
            yield
        finally:
            for one, gradient in before:
                if read(one, "grad") is not gradient:
                    one.grad = gradient


def is_in(tensor: torch.Tensor, met: list[Any]) -> bool:
    """Say whether a graph holds a tensor, or the node that made it, as far as one can ask."""
    if may_be_stale(tensor):
        return True
    node = read(tensor, "grad_fn")
    return any(one is tensor or (node is not None and one is node) for one in met)


def is_hooks(thing: Any) -> bool:
    """Say whether a dict is one as torch keeps hooks in: by the number of their handle. Those
    through which torch calls the hooks of modules sit on nodes that one can see.
    """
    if not thing or set(map(type, thing)) != {int} or not all(map(callable, thing.values())):
        return False
    return any(getattr(one, "__module__", "") != OF_MODULES for one in thing.values())
