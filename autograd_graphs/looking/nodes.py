"""Read backward functions: what they lead to, what they made, and when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograd_graphs.data import TensorInfo
from autograd_graphs.looking.tensors import device_name, dtype_name, shape_of

CUSTOM = torch._C._FunctionBase
with torch.inference_mode(False):  # whatever mode the course is imported in
    _LEAF = torch.ones(1, requires_grad=True)  # for the class of its node alone
    ACCUMULATE_GRAD = type(torch.autograd.graph.get_gradient_edge(_LEAF).node)


def is_custom(node: object) -> bool:
    """Say whether a node is of a custom `autograd.Function`."""
    return isinstance(node, CUSTOM)


def leaf_of(node: Any) -> Any:
    """Return the leaf tensor of an AccumulateGrad; any other node, or a tensor, as it is."""
    return node.variable if type(node) is ACCUMULATE_GRAD else node


def next_functions(node: Any) -> tuple[tuple[Any, int], ...]:
    """Return the `(Node, input_nr)` pairs of a node; a leaf tensor has none."""
    if isinstance(node, torch.Tensor):
        return ()
    return node.next_functions


def ran_as(node: Any) -> int:
    """Return torch's number of an operation: a later one of the same thread has a greater one."""
    return node._sequence_nr()


def outputs_of(node: Any, names: Callable[[Any, int], tuple[str, ...]]) -> list[TensorInfo]:
    """Describe what a node's operation made, by torch's metadata; `names(node, nr)` names it."""
    infos = []
    for nr, made in enumerate(node._input_metadata):
        dtype, device = dtype_name(made.dtype), device_name(made.device)
        infos.append(TensorInfo(names(node, nr), shape_of(made), dtype, device))
    return infos
