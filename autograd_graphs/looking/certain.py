"""Claim which expression of a source made which node of a graph, and keep what several agree on."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from autograd_graphs.looking.statements import Value

Place = tuple[int, int]  # a node, and which of its outputs


class Claims(NamedTuple):
    """Hold what a matching says: which value made a node (None where it may be one or another),
    from which inputs, at which place a value was seen, by its id, and the uses of leaves.
    """

    values: Mapping[int, Value | None]
    inputs: Mapping[int, tuple[ast.expr | None, ...]]
    seen: Mapping[int, Place]
    uses: Mapping[int, tuple[ast.expr, ...]]

    def made(self, node: int, value: Value, inputs: tuple[ast.expr | None, ...]) -> Claims:
        """Return these claims, and that a value made a node from inputs."""
        values = {**self.values, node: value}
        return self._replace(values=values, inputs={**self.inputs, node: inputs})

    def at(self, value: Value, place: Place) -> Claims:
        """Return these claims, and that a value was seen at a place."""
        return self._replace(seen={**self.seen, id(value): place})

    def used(self, expr: ast.expr, value: Value, place: Place) -> Claims:
        """Return these claims, and that an expression uses what stands at a place."""
        uses = self.uses.get(place[0], ())
        if all(use is not expr for use in uses):
            uses = (*uses, expr)
        return self.at(value, place)._replace(uses={**self.uses, place[0]: uses})


NOTHING = Claims({}, {}, {}, {})


def agreed_by_all(trials: Sequence[Claims]) -> Claims | None:
    """Return what all of several claims say; None where there are none."""
    if not trials:
        return None
    first, *others = trials
    for other in others:
        uncertain = dict.fromkeys([*first.values, *other.values])
        values = {**uncertain, **same(first.values, other.values)}
        inputs, seen = same(first.inputs, other.inputs), same(first.seen, other.seen)
        first = Claims(values, inputs, seen, same(first.uses, other.uses))
    return first


def same(here: Mapping[int, Any], there: Mapping[int, Any]) -> dict[int, Any]:
    """Return what two dicts both hold."""
    return {key: thing for key, thing in here.items() if key in there and there[key] == thing}


def merged(trials: Sequence[Claims]) -> Claims:
    """Return what several claims say together, but for nodes that two values claim."""
    values, inputs, uses, doubted = {}, {}, {}, set()
    for claims in trials:
        for node, value in claims.values.items():
            if value is not None and values.setdefault(node, value) is not value:
                doubted.add(node)
        for node, exprs in claims.inputs.items():
            if inputs.setdefault(node, exprs) != exprs:
                doubted.add(node)
        for node, exprs in claims.uses.items():
            before = uses.get(node, ())
            uses[node] = (*before, *[expr for expr in exprs if expr not in before])
    for node in doubted:
        values.pop(node, None)
        inputs.pop(node, None)
    return Claims(values, inputs, {}, uses)
