"""Ask the nodes of a graph: what they are called, where they lead, what they still hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from autograd_graphs.looking.nodes import is_custom, leaf_of
from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.tensors import may_be_stale, read

MEANS = {"Mean", "MseLoss", "L1Loss", "NllLoss", "SmoothL1Loss", "HuberLoss"}
MEANS |= {"BinaryCrossEntropyWithLogits", "BinaryCrossEntropy"}


def node_of(thing: Any) -> Any:
    """Return the node that made a tensor; None of anything else, or where it cannot be asked."""
    if not torch.is_tensor(thing) or may_be_stale(thing):
        return None
    return read(thing, "grad_fn")


def kind_of(node: Any) -> str:
    """Return the name of a node's operation: "Sqrt" of SqrtBackward0."""
    return re.sub(r"Backward\d*$", "", type(node).__name__)


def is_mean(node: Any) -> bool:
    """Say whether a node made a mean: a loss of torch's may also be a sum."""
    return kind_of(node) in MEANS and getattr(node, "_saved_reduction", 1) == 1


def is_compiled(node: Any) -> bool:
    """Say whether a node is that of a compiled piece, whose class torch.compile makes."""
    made = getattr(type(node), "_forward_cls", None)
    return is_custom(node) and str(getattr(made, "__module__", "")).startswith("torch._functorch")


def is_own(node: Any) -> bool:
    """Say whether a node is of a Function that a person wrote."""
    return is_custom(node) and not is_compiled(node)


def gives_once(node: Any) -> bool:
    """Say whether a node is that of a compiled piece which refuses to keep what it saved: its
    backward was made for a call without retain_graph, and may write into it.
    """
    known = getattr(getattr(type(node), "_forward_cls", None), "metadata", None)
    return is_compiled(node) and bool(getattr(known, "bw_donated_idxs", None))


def walk_from(things: Iterable[Any]) -> Walk:
    """Walk the graphs of tensors; those that cannot be asked without a trace are left out."""
    return Walk([thing for thing in things if torch.is_tensor(thing) and not may_be_stale(thing)])


def met_nodes(walk: Walk) -> list[Any]:
    return [node for node in walk.met if not torch.is_tensor(node)]


def nodes_of(tensors: Iterable[Any]) -> list[Any]:
    return met_nodes(walk_from(tensors))


def pairs_in(walk: Walk) -> Iterator[tuple[Any, Any]]:
    """Yield the nodes of a graph, each with one that it hands its gradient to."""
    for edge in walk.edges:
        if edge.target is not None and not torch.is_tensor(walk.met[edge.target]):
            yield walk.met[edge.source], walk.met[edge.target]


def leaves_of(node: Any) -> list[Any]:
    return [leaf_of(child) for child, _ in node.next_functions]


def states_of(node: Any) -> list[str]:
    return [tensor.state for tensor in saved(node, nameless)]


def is_freed(node: Any) -> bool:
    return "freed" in states_of(node)


def is_held(node: Any) -> bool:
    states = states_of(node)
    return bool(states) and "freed" not in states


def nameless(tensor: torch.Tensor) -> tuple[str, ...]:
    return ()


def read_flag(thing: Any) -> bool:
    return torch.is_tensor(thing) and bool(read(thing, "requires_grad"))
