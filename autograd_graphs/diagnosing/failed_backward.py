"""Find in the frames of an error the call of backward() that failed, and what it may have freed.

Nothing runs: frames and nodes are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from types import FrameType
from typing import Any

import torch

from autograd_graphs.diagnosing.graph_nodes import is_freed, is_held, met_nodes, pairs_in
from autograd_graphs.looking.nodes import is_custom, ran_as
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.tensors import may_be_stale
from autograd_graphs.looking.torch_private import ENGINE
from autograd_graphs.looking.variable_names import variables


@dataclass(frozen=True)
class FailedBackward:
    """Hold how a backward() or grad() that failed was called.

    `roots` are the tensors that it started from; `has_inputs`: it went towards some tensors only.
    The walk from them is kept, so that the ids of nodes are their own.
    """

    roots: tuple[torch.Tensor, ...]
    keeps_graph: bool
    has_inputs: bool

    @cached_property
    def walk(self) -> Walk:
        return Walk(self.roots)

    @cached_property
    def nodes(self) -> list[Any]:
        return met_nodes(self.walk)


def failed_backward(frames: Iterable[FrameType]) -> FailedBackward | None:
    """Return the call that the frames of an error show; None without one, or of one in another."""
    engines = [frame for frame in frames if frame.f_code is ENGINE]
    if len(engines) != 1:
        return None
    given = dict(variables(engines[0]))
    roots, options = given.get("t_outputs"), given.get("args")
    if type(roots) not in (tuple, list) or type(options) is not tuple or len(options) < 4:
        return None
    if not all(map(torch.is_tensor, roots)) or any(map(may_be_stale, roots)):
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
    # graphs that several threads made need not be in order; each device has an order of its own
    is_in_order = all(ran_as(node) > ran_as(following) for node, following in pairs_in(call.walk))
    devices = {made.device for node in call.nodes for made in node._input_metadata}
    if call.walk.is_cut or not is_in_order or len(devices) > 1:
        return None
    ids = set(map(id, known))
    last = earliest_end(call, ids)
    later = [node for node in call.nodes if ran_as(node) > last and id(node) not in ids]
    return list(filter(is_freed, later))


def earliest_end(call: FailedBackward, known: set[int]) -> int:
    """Return the number of the earliest node at which the engine can have stopped; 0 if none.

    That node is freed. It is no earlier than a `known` one, and later than all that still hold
    something: those did not run.
    """
    freed = list(filter(is_freed, call.nodes))
    ends = list(map(ran_as, freed))
    if not call.has_inputs:
        held = max(map(ran_as, filter(is_held, call.nodes)), default=-1)
        ends = [number for number in ends if number > held] or ends
    earliest = min(ends, default=0)
    for node in freed:  # an own Function that asks for nothing that it saved stops nobody
        if id(node) in known and not is_custom(node):
            earliest = max(earliest, ran_as(node))
    return earliest
