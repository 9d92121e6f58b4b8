"""Match what a source says against the graph that is there: a place in the source counts only where
all below it agrees, down to leaves and to tensors that names hold now.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from torch.autograd.function import FunctionMeta

from autograd_graphs.data import Edge, Graph
from autograd_graphs.looking.backward_shapes import (
    LEAF,
    MODULES,
    NO_GRADIENT,
    Input,
    Plain,
    Shape,
    numbers_in,
    shapes_of,
)
from autograd_graphs.looking.certain import NOTHING, Claims, Place, agreed_by_all
from autograd_graphs.looking.live_tensors import LiveTensors
from autograd_graphs.looking.statements import Replay, Value, base_name
from autograd_graphs.looking.tensors import read

MOST_STEPS = 50_000  # of the matching of one graph
_BACKWARD = re.compile(r"Backward\d*$")
End = Place | None  # what an edge leads to


class TooLong(Exception):
    """Tell that a matching took too many steps."""


class Matcher:
    """Match values of a replayed source against the nodes of a graph that was walked."""

    def __init__(self, graph: Graph, met: Sequence[Any], replay: Replay) -> None:
        self.graph, self.edges = graph, graph.inputs_by_node()
        self.tensors = LiveTensors(met, replay)
        self.current = replay.names
        self.steps = 0

    def matched(self, value: Value, place: Place) -> Claims | None:
        """Return what is certain of a value that is the output of a node; None where all is not."""
        try:
            if value.kind != "either":
                return self._trial(value, place)
            newest, *others = [self._trial(operand, place) for _, operand in value.operands]
        except (TooLong, RecursionError):
            return None
        if any(others):
            return None
        return newest

    def _trial(self, value: Value, place: Place) -> Claims | None:
        if value.kind == "unknown":  # a name's value before its cell, which may be anything
            return NOTHING
        if value.kind == "op":
            return self._operation(value, place, NOTHING)
        return self._value(value.expr, value, place, NOTHING)

    def _value(self, expr: ast.expr, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with a value at the end of an edge; None where it cannot be there."""
        self._count()
        if value.kind == "either":
            return self._either(expr, value, place, claims)
        if place is None:
            return claims if self._may_be_plain(value) else None
        if claims.seen.get(id(value), place) != place:
            return None
        held = self.tensors.held(value)
        if held is not None:
            fits = self.tensors.where_made(held) == place
        elif value.kind == "op":
            if id(value) in claims.seen:
                return claims
            return self._operation(value, place, claims)
        else:
            fits = value.kind == "leaf" and self._is_leaf(place)
        return claims.used(expr, value, place) if fits else None

    def _either(self, expr: ast.expr, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with the newest of several values, where no other one fits as well."""
        (_, newest), *others = value.operands
        held = self.tensors.held(value)
        if held is not None and newest.kind != "op":
            if place is None or self.tensors.where_made(held) != place:
                return None
            return claims
        for _, other in others:
            if other.kind == "unknown" or self._value(expr, other, place, claims):
                return None
        return self._value(expr, newest, place, claims)

    def _count(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong

    def _is_leaf(self, place: Place) -> bool:
        return self.graph.nodes[place[0]].is_leaf

    def _may_be_plain(self, value: Value) -> bool:
        """Say whether a value may be one that no gradient goes to."""
        self.steps += 1
        if value.kind in ("plain", "leaf"):
            return value.kind == "plain"
        held = self.tensors.held(value)
        if held is not None:
            return not read(held, "requires_grad")
        if value.kind == "either":
            return self._may_be_plain(value.operands[0][1])
        if value.kind == "op" and (value.callee or value.op in NO_GRADIENT):
            return True
        return all(self._may_be_plain(operand) for _, operand in value.operands)

    def _operation(self, value: Value, place: Place, claims: Claims) -> Claims | None:
        """Return the claims with a node's operation and all below; None unless all agrees."""
        name, trials = value.op or self._called(value), []
        for shape in shapes_of(name, value.expr, len(self._inputs(place[0]))):
            trial = self._part(shape, value, place, claims)
            if trial is not None and self._rest_is_plain(shape, value):
                trials.append(trial.at(value, place))
        return agreed_by_all(trials)

    def _called(self, value: Value) -> str:
        """Return the function of a called module, or whose `apply` it is, if its name holds it."""
        func = value.expr.func
        name = base_name(func)
        if name is None or self.current.get(name) is not value.callee:
            return ""
        if isinstance(func, ast.Attribute) and func.attr == "apply":
            owner = self.tensors.reached(func.value)
            if not isinstance(owner, FunctionMeta):
                return ""
            return owner.__name__
        return MODULES.get(type(self.tensors.reached(func)), "")

    def _part(self, part: Input, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with what a part of a shape says of a place; None where it differs."""
        if isinstance(part, Shape):
            return self._node(part, value, place, claims)
        if isinstance(part, Plain) and place is None:
            part = part.number
        if isinstance(part, int):
            operands = operands_of(value)
            if part >= len(operands):
                return None
            return self._value(*operands[part], place, claims)
        if place is None or (part == LEAF and self._is_leaf(place)):
            return claims
        return None

    def _node(self, shape: Shape, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with a node that has a shape's name, and inputs as the shape says."""
        if place is None or place[1] or place[0] in claims.values:
            return None
        node, inputs = place[0], []
        if not self._may_fit(shape, node):
            return None
        for part, edge in zip(shape.inputs, self._inputs(node), strict=True):
            below = None if edge.target is None else (edge.target, edge.input_nr)
            claims = self._part(part, value, below, claims)
            if claims is None:
                return None
            inputs.append(operand_expr(value, part))
        return claims.made(node, value, tuple(inputs))

    def _inputs(self, node: int) -> Sequence[Edge]:
        return self.edges.get(node, ())

    def _may_fit(self, shape: Shape, node: int) -> bool:
        """Say whether a node has a shape's name and count of inputs, and none was cut off."""
        edges = self._inputs(node)
        if len(edges) != len(shape.inputs) or any(edge.cut for edge in edges):
            return False
        operation = self.graph.nodes[node].operation  # "MseLossBackward0" of "mse_loss"
        stem = _BACKWARD.sub("", operation)
        return stem != operation and stem.lower() == shape.function.replace("_", "").lower()

    def _rest_is_plain(self, shape: Shape | int, value: Value) -> bool:
        """Say whether what a shape does not use may be without a gradient."""
        if isinstance(shape, int):
            return True
        used = set(numbers_in(shape))
        rest = [operand for nr, operand in enumerate(operands_of(value)) if nr not in used]
        return all(self._may_be_plain(operand) for _, operand in [*rest, *value.plain_operands])


def operands_of(value: Value) -> tuple[tuple[ast.expr, Value], ...]:
    """Return an operation's operands; a list that stands alone in front counts as its parts."""
    if value.operands and value.operands[0][1].kind == "several":
        return (*value.operands[0][1].operands, *value.operands[1:])
    return value.operands


def operand_expr(value: Value, part: Input) -> ast.expr | None:
    """Return the expression of an operand that a part of a shape stands for."""
    if isinstance(part, Plain):
        part = part.number
    if not isinstance(part, int):
        return None
    return operands_of(value)[part][0]
