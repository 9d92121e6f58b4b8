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

from autograd_graphs.looking.torch_private import is_tensor, may_be_stale, read, type_name
from helpers.answers import code

OF_MODULES = torch.utils.hooks.BackwardHook.__module__
CHANGES = "may change the gradients, so I did not compute them."
HIDDEN = (
    "A hook on a node of this graph, or on a tensor that no variable holds, may change the "
    "gradients, so I did not compute them."
)


def hook_in_the_way(met: list[Any], names: Iterable[tuple[str, torch.Tensor]]) -> str:
    """Say which hook a backward through these nodes and leaves may run; "" if none."""
    if any(type_name(one).startswith("BackwardHookFunction") for one in met):
        return f"A backward hook on a module {CHANGES}"
    for one in tensors():
        if read(one, "_backward_hooks") and is_in(one, met):
            called = next((code(name) for name, tensor in names if tensor is one), "a tensor")
            return f"A hook on {called} {CHANGES}"
    return ""


def tensors() -> list[torch.Tensor]:
    """Return all tensors that are alive."""
    things = gc.get_objects()
    examples = {type(one): one for one in things}  # to ask once for each class
    kinds = {kind for kind, one in examples.items() if is_tensor(one)}
    return [one for one in things if type(one) in kinds]


def is_in(tensor: torch.Tensor, met: list[Any]) -> bool:
    """Say whether a graph holds a tensor, or the node that made it, as far as one can ask."""
    if may_be_stale(tensor):
        return True
    node = read(tensor, "grad_fn")
    return any(one is tensor or (node is not None and one is node) for one in met)


@contextlib.contextmanager
def silenced() -> Iterator[list[bool]]:
    """Let no hidden hook run; yield a list that gets an item for each call that was meant for one."""
    heard: list[bool] = []
    before = [(hooks, dict(hooks)) for hooks in hidden()]
    for hooks, was in before:
        hooks.update(dict.fromkeys(was, lambda *gradients: heard.append(True)))
    try:
        yield heard
    finally:
        for hooks, was in before:
            hooks.update((number, hook) for number, hook in was.items() if number in hooks)


def hidden() -> list[OrderedDict[int, Any]]:
    """Return the dicts of hooks that no tensor, and nothing else of Python's, holds."""
    known = {id(read(one, "_backward_hooks")) for one in tensors()}
    left = [one for one in gc.get_objects() if is_hooks(one) and id(one) not in known]
    held = set()
    for owner in gc.get_referrers(*left):
        if owner is not left:
            held.update(map(id, gc.get_referents(owner)))
    return [one for one in left if id(one) not in held]


def is_hooks(thing: Any) -> bool:
    """Say whether a thing is a dict as torch keeps hooks in: by the number of their handle. Those
    through which torch calls the hooks of modules sit on nodes that one can see.
    """
    if type(thing) is not OrderedDict or not thing or any(type(key) is not int for key in thing):
        return False
    if not all(map(callable, thing.values())):
        return False
    return not all(getattr(one, "__module__", "") == OF_MODULES for one in thing.values())


@contextlib.contextmanager
def retained_as_it_was(met: list[Any]) -> Iterator[None]:
    """Give tensors of a graph that retain their gradient back the one that they had."""
    retained = [one for one in tensors() if read(one, "retains_grad") and is_in(one, met)]
    before = [(one, read(one, "grad")) for one in retained]
    try:
        yield
    finally:
        for one, gradient in before:
            if read(one, "grad") is not gradient:
                one.grad = gradient
