"""Find in the frames of an error the call of backward() that failed, and what it may have freed.

Nothing runs: frames and nodes are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.torch_private import (
    ENGINE,
    is_custom,
    is_tensor,
    may_be_stale,
    of_node,
    ran_as,
)
from autograd_graphs.looking.variable_names import variables


@dataclass(frozen=True, slots=True)
class FailedBackward:
    """Hold how a backward() or grad() that failed was called.

    `roots` are the tensors that it started from; `has_inputs`: it went towards some tensors only.
    """

    roots: tuple[torch.Tensor, ...]
    keeps_graph: bool
    has_inputs: bool


def failed_backward(frames: Iterable[FrameType]) -> FailedBackward | None:
    """Return the call that the frames of an error show; None without one, or of one in another."""
    engines = [frame for frame in frames if frame.f_code is ENGINE]
    if len(engines) != 1:
        return None
    given = dict(variables(engines[0]))
    roots, options = given.get("t_outputs"), given.get("args")
    if type(roots) not in (tuple, list) or type(options) is not tuple or len(options) < 4:
        return None
    if not all(map(is_tensor, roots)) or any(map(may_be_stale, roots)):
        return None
    return FailedBackward(tuple(roots), bool(options[1]), bool(options[3]))


def perhaps_freed_by(call: FailedBackward | None, known: Iterable[Any]) -> list[Any] | None:
    """Return the nodes that a call which failed may have freed itself; None where nothing is known.

    `known` are nodes that were surely freed before. The engine takes the latest node first, frees
    what it has run, and stops at the first node whose saved tensors are gone. So it freed no node
    that is as early as one that was gone.
    """
    if call is None:
        return None
    if call.keeps_graph:
        return []
    walk = Walk(call.roots)
    nodes = met_nodes(walk)
    if walk.is_cut or not is_in_order(walk) or len(devices(nodes)) > 1:
        return None
    ids = set(map(id, known))
    last = earliest_end(call, nodes, ids)
    later = [node for node in nodes if ran_as(node) > last and id(node) not in ids]
    return list(filter(is_freed, later))


def earliest_end(call: FailedBackward, nodes: list[Any], known: set[int]) -> int:
    """Return the number of the earliest node at which the engine can have stopped; 0 if none.

    That node is freed. It is no earlier than a `known` one, and later than all that still hold
    something: those did not run.
    """
    freed = list(filter(is_freed, nodes))
    ends = list(map(ran_as, freed))
    if not call.has_inputs:
        held = max(map(ran_as, filter(is_held, nodes)), default=-1)
        ends = [number for number in ends if number > held] or ends
    # an own Function that asks for nothing that it saved stops nobody
    gone = [ran_as(node) for node in freed if id(node) in known and not is_custom(node)]
    return max([min(ends, default=0), *gone])


def is_in_order(walk: Walk) -> bool:
    """Say whether every node is later than those that it hands gradients to; graphs that several
    threads made need not be.
    """
    for edge in walk.edges:
        if edge.target is None or is_tensor(walk.met[edge.target]):
            continue
        if ran_as(walk.met[edge.source]) <= ran_as(walk.met[edge.target]):
            return False
    return True


def devices(nodes: Iterable[Any]) -> set[Any]:
    """Return the devices of what nodes made: on each the engine has an order of its own."""
    return {made.device for node in nodes for made in of_node(node, "_input_metadata")}


def met_nodes(walk: Walk) -> list[Any]:
    """Return the backward functions that a walk has met."""
    return [one for one in walk.met if not is_tensor(one)]


def states_of(node: Any) -> list[str]:
    return [one.state for one in saved(node, nameless)]


def is_freed(node: Any) -> bool:
    return "freed" in states_of(node)


def is_held(node: Any) -> bool:
    states = states_of(node)
    return bool(states) and "freed" not in states


def nameless(tensor: torch.Tensor) -> tuple[str, ...]:
    return ()
