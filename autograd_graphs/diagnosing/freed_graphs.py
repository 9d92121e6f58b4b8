"""Explain an error about a graph that was freed: which line freed it, and what brought it along."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from autograd_graphs.diagnosing.dataflow import Event, placed
from autograd_graphs.diagnosing.detectors import lines_that_freed, walked
from autograd_graphs.diagnosing.earlier_lines import Line, Past
from autograd_graphs.diagnosing.facts import (
    Facts,
    Finding,
    assigned,
    finding,
    in_sources,
    made_line,
)
from autograd_graphs.diagnosing.graph_nodes import is_freed, is_held, node_of, walk_from
from autograd_graphs.diagnosing.syntax import dotted


def freed(facts: Facts, _: Any) -> Finding | None:
    call, past = facts.call, facts.past
    if call is None or past is None:
        return None
    carried = carried_state(facts)
    if carried is not None:
        return finding("carried", [carried], name=carried.name)
    lines, is_sure = lines_that_freed(past, call.roots)
    led = lines if is_sure else []
    has_lost_all = any(map(is_freed, call.nodes)) and not any(map(is_held, call.nodes))
    roots = set(map(id, call.roots))
    names = {name for name, tensor in facts.names if id(tensor) in roots}
    for name, _ in gone_back(past, lines):
        if has_lost_all and name in names:
            return finding("twice", led, name=name)
    return above_the_loop(facts) or kept_in_model(facts) or shared(facts, lines, led)


def carried_state(facts: Facts) -> Event | None:
    """Return where a loop that the error came in hands a value with a graph to its next round."""
    around: set[ast.stmt] = set()
    for spot in facts.spots:
        around.update(spot.row.blocks)
    for event in facts.of("carry"):
        is_attribute = event.loops == (event.stmt,)
        if event.ids and (is_attribute or not around.isdisjoint(event.loops)):
            return event
    return None


def freed_before(facts: Facts) -> set[int]:
    """Return the ids of the nodes that were surely freed before the call."""
    if facts.unsure is None:
        return set()
    return set(map(id, filter(is_freed, facts.call.nodes))).difference(map(id, facts.unsure))


def gone_back(past: Past, lines: Sequence[Line]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors from which lines went backward and whose names still hold them."""
    for line in lines:
        for root, _ in walked(line.node):
            tensor = past.still(dotted(root), line)
            if torch.is_tensor(tensor):
                yield dotted(root), tensor


def results(facts: Facts) -> Iterator[tuple[str, torch.Tensor, Any]]:
    """Yield the names of results of operations, with the node that made each."""
    for name, tensor in facts.names:
        node = node_of(tensor)
        if node is not None:
            yield name, tensor, node


def ids_behind(tensors: Iterable[torch.Tensor]) -> set[int]:
    """Return the ids of the nodes and leaves in the graphs of tensors."""
    return set(map(id, walk_from(tensors).met))


def shared(facts: Facts, lines: Sequence[Line], led: Sequence[Line]) -> Finding | None:
    """Tell of two losses through one forward: the tensor that both went through."""
    first = ids_behind(dict(gone_back(facts.past, lines)).values())
    name = first_named(facts, first or freed_before(facts))
    if not name:
        return None
    if not first:
        lines = made_line(facts.spot, name)
    return finding("shared", led or lines, name=name)


def first_named(facts: Facts, nodes: set[int]) -> str:
    """Return the name of the first tensor behind the roots that one of some nodes made."""
    inner = nodes.difference(map(id, map(node_of, facts.call.roots)))
    names: dict[int, str] = {}
    for name, _, node in results(facts):
        if id(node) in inner:
            names.setdefault(id(node), name)
    return next((names[id(node)] for node in facts.call.nodes if id(node) in names), "")


def above_the_loop(facts: Facts) -> Finding | None:
    """Tell of a tensor that was computed once, above the loop, and freed by the first round."""
    before, spot = freed_before(facts), facts.spot
    if not spot.row.loops:
        return None
    roots = set(map(id, facts.call.roots))
    for name, tensor, _ in results(facts):
        made = spot.scope.made_at(name, spot.nr)
        if made is None or spot.row.loops[-1] in made.blocks or id(tensor) in roots:
            continue
        if not before.isdisjoint(ids_behind([tensor])):
            return finding("above_the_loop", [made, spot], name=name)
    return None


def kept_in_model(facts: Facts) -> Finding | None:
    """Tell of a result that `__init__` computed, and that every forward goes back through."""
    before, space = freed_before(facts), facts.spot.globals
    for name, tensor, _ in results(facts):
        if "." not in name or before.isdisjoint(ids_behind([tensor])):
            continue
        lines = assigned(space, name.rpartition(".")[2])
        if lines and lines_of_init(space).issuperset(lines):
            return finding("kept_in_model", [*lines, facts.spot], name=name)
    return None


def lines_of_init(space: dict[str, Any]) -> set[str]:
    lines = set()
    for function, place in in_sources(space, ast.FunctionDef):
        if function.name == "__init__":
            lines.update(map(str, placed(function.body, place)))
    return lines
