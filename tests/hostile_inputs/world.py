"""All that a look could change: tensors, their graph, and the process. Read without running
anybody's code.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

from autograd_graphs.looking import freeing

BASE, CUSTOM = torch._C.TensorBase, torch._C._FunctionBase
HELD = freeing.HELD  # the one thing that a look may leave behind, on nodes of a deep graph
MOST_WATCHED = 300  # nodes: Python must not touch a long chain
FLAGS = (
    "requires_grad", "is_leaf", "retains_grad", "_version", "output_nr", "_backward_hooks",
    "names",
)  # fmt: skip


class Same:
    """Be equal to nothing but itself, and keep what it stands for alive so that no other can take
    its place.
    """

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return self.thing is other.thing

    __hash__ = None


def is_a(thing: object, kind: type) -> bool:
    return any(one is kind for one in type.__dict__["__mro__"].__get__(type(thing)))


def is_tensor(thing: object) -> bool:
    return is_a(thing, torch.Tensor)


def world(things: tuple) -> list[object]:
    """Describe what must not change, so that two descriptions are equal where nothing did."""
    with (
        torch._C.DisableTorchFunction(),
        torch._C._DisableTorchDispatch(),
        torch._C._DisableFuncTorch(),
    ):
        found = [part for one in things if is_tensor(one) for part in tensor(one)]
        return [*process(), *found]


def process() -> list[object]:
    """Describe the process: random numbers, modes, filters, and the number that the next node would
    get.
    """
    return [
        torch.default_generator.get_state().numpy().tobytes(),
        random.getstate(),
        torch._C._autograd._get_sequence_nr(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_anomaly_enabled(),
        torch.get_default_dtype(),
        torch._C._len_torch_function_stack(),
        torch._C._len_torch_dispatch_stack(),
        warnings.filters[:],
        sys.getrecursionlimit(),
        sys.getswitchinterval(),
    ]


def tensor(one: torch.Tensor) -> Iterator[object]:
    """Describe a tensor and the graph behind it."""
    yield [
        value if isinstance(value, bool | int | str | tuple) else Same(value)
        for value in map(reader(one), FLAGS)
    ]
    read = reader(one)
    yield Same(read("grad") if read("is_leaf") is True or read("retains_grad") is True else None)
    yield {
        name: Same(value) for name, value in torch.Tensor.__dict__["__dict__"].__get__(one).items()
    }
    if not (BASE._is_view(one) and read("_version") != 0):
        yield from nodes(read("grad_fn"))


def reader(one: torch.Tensor) -> Callable[[str], Any]:
    """Return what reads an attribute of a tensor: where torch refuses, its words."""

    def read(name: str) -> Any:
        try:
            return getattr(BASE, name).__get__(one)
        except Exception as error:
            return str(error)

    return read


def nodes(begin: Any) -> Iterator[object]:
    """Describe the nearest nodes of a graph."""
    met, seen = [begin], set()
    for node in met:
        if node is None or is_a(node, str) or id(node) in seen or len(seen) > MOST_WATCHED:
            continue
        seen.add(id(node))
        owner = CUSTOM if is_a(node, CUSTOM) else type(node)
        is_leaf = owner is not CUSTOM and hasattr(owner, "variable")
        yield Same(node), None if is_leaf else owner._sequence_nr(node)
        metadata = owner.metadata.__get__(node).items()
        yield {key: Same(value) for key, value in metadata if key is not HELD}
        met += [child for child, _ in owner.next_functions.__get__(node)]
