"""Find the tensors that a learner's variables lead to: themselves, entries of lists and dicts,
attributes of models and of plain objects. Nothing of the learner's runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from autograd_graphs.looking.variable_names import named
from autograd_graphs.text import visible

MOST = 5_000  # things that are looked at
MOST_ENTRIES = 100  # of one list or dict
DEEPEST = 5


def reached(spaces: Iterable[dict[str, Any]]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors that variables lead to, with the learner's names, short ones first."""
    waiting = [(name, thing, 0) for space in spaces for name, thing in named(space)]
    seen: set[int] = set()
    for count, (name, thing, depth) in enumerate(waiting):  # the list grows as we go
        if count > MOST:
            return
        if torch.is_tensor(thing):
            yield visible(name), thing
        elif id(thing) not in seen and depth < DEEPEST:
            seen.add(id(thing))
            waiting += [(inner, part, depth + 1) for inner, part in parts(name, thing)]


def parts(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a container or an object holds, each with its name."""
    if isinstance(thing, (dict, list, tuple)):
        for key, entry in entries_of(thing):
            if type(key) in (str, int):
                yield f"{name}[{key!r}]", entry
    elif isinstance(thing, torch.nn.Module):
        for inner, part in inside(thing):
            yield spelt(name, inner), part
    elif is_plain_object(thing):
        for inner, part in attributes(thing):
            yield f"{name}.{inner}", part


def entries_of(container: Any) -> list[tuple[Any, Any]]:
    """Return the first entries of a dict, a list or a tuple, each with its key or number."""
    if isinstance(container, dict):
        return list(container.items())[:MOST_ENTRIES]
    return list(enumerate(container[:MOST_ENTRIES]))


def spelt(name: str, path: str) -> str:
    """Return how one writes the part of a model that has a path: `net[0].weight`."""
    for part in filter(None, path.split(".")):
        name = f"{name}[{part}]" if name and part.isdecimal() else f"{name}.{part}"
    return name.removeprefix(".")


def inside(module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield parameters, buffers and parts of a module, and what else it has as attributes."""
    for inner, thing in attributes(module):
        if inner in ("_parameters", "_buffers", "_modules"):
            yield from named(thing)
        elif not inner.startswith("_"):
            yield inner, thing


def attributes(thing: Any) -> list[tuple[str, Any]]:
    try:
        stored = vars(thing)
    except Exception:
        return []
    return named(stored)[:MOST_ENTRIES] if type(stored) is dict else []


def is_other_in_eval(module: torch.nn.Module) -> bool:
    """Say whether a module is in eval mode, and computes something else there than in training."""
    if module.training:
        return False
    if isinstance(module, torch.nn.modules.dropout._DropoutNd):
        return module.p > 0
    is_norm = isinstance(module, torch.nn.modules.batchnorm._BatchNorm)
    return is_norm and module.running_mean is not None


def is_ddp(module: Any) -> bool:
    """Say whether a module averages the gradients of several processes, without importing its class."""
    return type(module).__name__ == "DistributedDataParallel" and isinstance(
        module, torch.nn.Module
    )


def is_plain_object(thing: Any) -> bool:
    """Say whether a thing is of a class that the learner wrote in a cell or script."""
    if isinstance(thing, type):
        return False
    return type(thing).__module__ == "__main__"
