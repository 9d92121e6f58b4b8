"""Find the hooks that a backward through a graph would run. Looks at live objects; runs none.

torch does not say which hooks a node has. But a hook lives in a dict, and Python knows every dict:
where no tensor, module or optimizer holds it, a node does, or a tensor that only torch still has.
Whose they are shows when a backward comes to them: it meets listeners in their place.
"""

from __future__ import annotations

import contextlib
import gc
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import torch

from autograd_graphs.diagnosing.catalogue import SAID
from autograd_graphs.diagnosing.facts import quoted
from autograd_graphs.looking.tensors import may_be_stale, read

OF_MODULES = torch.utils.hooks.BackwardHook.__module__


class Alive:
    """Hold the tensors and the dicts of hooks that are alive: all objects are looked through once."""

    def __init__(self) -> None:
        things = gc.get_objects()
        # isinstance would ask each object for its class, and torch has some that warn when asked.
        self.tensors = [thing for thing in things if issubclass(type(thing), torch.Tensor)]
        known = {id(read(tensor, "_backward_hooks")) for tensor in self.tensors}
        dicts = [thing for thing in things if type(thing) is OrderedDict]
        self.hooks = [hooks for hooks in dicts if id(hooks) not in known and is_hooks(hooks)]

    def in_the_way(self, met: list[Any], names: dict[int, str]) -> str:
        """Say which hook a backward through these nodes and leaves may run; "" if none."""
        for node in met:
            if type(node).__name__.startswith("BackwardHookFunction"):
                return SAID["hook_of_module"]
        for tensor in self.tensors:
            if read(tensor, "_backward_hooks") and is_in(tensor, met):
                name = names.get(id(tensor), "")
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
        return [hooks for hooks in self.hooks if id(hooks) not in held]

    @contextlib.contextmanager
    def retained_as_it_was(self, met: list[Any]) -> Iterator[None]:
        """Give tensors of a graph that retain their gradient back the one that they had."""
        before = []
        for tensor in self.tensors:
            if read(tensor, "retains_grad") and is_in(tensor, met):
                before.append((tensor, read(tensor, "grad")))
        try:
            yield
        finally:
            for tensor, gradient in before:
                if read(tensor, "grad") is not gradient:
                    tensor.grad = gradient


def is_in(tensor: torch.Tensor, met: list[Any]) -> bool:
    """Say whether a graph holds a tensor, or the node that made it, as far as one can ask."""
    if may_be_stale(tensor):
        return True
    node = read(tensor, "grad_fn")
    return any(behind is tensor or behind is node for behind in met)


def is_hooks(thing: Any) -> bool:
    """Say whether a dict is one as torch keeps hooks in: by the number of their handle. Those
    through which torch calls the hooks of modules sit on nodes that one can see.
    """
    if not thing or set(map(type, thing)) != {int} or not all(map(callable, thing.values())):
        return False
    return any(getattr(hook, "__module__", "") != OF_MODULES for hook in thing.values())
