"""Match what a source says against the graph that is there: a place in the source counts only where
all below it agrees, down to leaves and to tensors that names hold now.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.autograd.function import FunctionMeta

from autograd_graphs.data import Graph
from autograd_graphs.looking.statements import Replay, Value, base_name
from autograd_graphs.looking.tensors import may_be_stale, read
from autograd_graphs.looking.variable_names import named

MOST_STEPS, MOST_PARTS = 50_000, 4  # of the matching of one graph; parts of an index
_BACKWARD = re.compile(r"Backward\d*$")
LEAF = "leaf"
Place = tuple[int, int]  # a node, and which of its outputs
End = Place | None  # what an edge leads to


class Plain(NamedTuple):
    """Tell the number of an operand that gets no gradient here: a number before an operator."""

    number: int


class Shape:
    """Tell how an operation shows in the graph: as a backward function over inputs.

    An input is the number of an operand, a `Plain` one, None for no gradient, LEAF for a parameter
    that the source does not name, or another shape.
    """

    def __init__(self, function: str, *inputs: Input) -> None:
        self.function, self.inputs = function, inputs


Input = int | Plain | Shape | str | None


def _linear(weight: Input, bias: Input) -> tuple[Shape, ...]:
    """Return how a linear layer shows: the input may have more than two dimensions, or one."""
    turned = Shape("T", weight)
    return (
        Shape("Addmm", bias, 0, turned),
        Shape("Mm", 0, turned),
        Shape("View", Shape("Addmm", bias, Shape("View", 0), turned)),
        Shape("View", Shape("Addmm", bias, 0, turned)),
    )


_CAST = (Shape("ToCopy", 0), 0)
_VIEW = (Shape("View", 0), Shape("UnsafeView", Shape("Clone", 0)), Shape("UnsafeView", 0), 0)
# A lone number: the operand itself. What is not here is called as its function.
SHAPES: dict[str, tuple[Shape | int, ...]] = {
    "add": (Shape("Add", 0, 1), Shape("Add", 1, Plain(0))),
    "mul": (Shape("Mul", 0, 1), Shape("Mul", 1, Plain(0))),
    "sub": (Shape("Sub", 0, 1), Shape("Rsub", 1)),
    "div": (Shape("Div", 0, 1), Shape("Mul", Shape("Reciprocal", 1), None)),
    "pow": (Shape("Pow", 0), Shape("Pow", 0, 1), Shape("Pow", 1)),
    "remainder": (Shape("Remainder", 0), Shape("Remainder", 0, 1)),
    "square": (Shape("Pow", 0),),
    "matmul": (
        *[Shape(function, 0, 1) for function in ("Mm", "Mv", "Dot")],
        Shape("Squeeze", Shape("Mm", Shape("Unsqueeze", 0), 1)),
    ),
    "inner": (Shape("Dot", 0, 1),),
    "T": (Shape("Permute", 0), Shape("T", 0)),
    "mT": (Shape("Transpose", 0),),
    "norm": (Shape("LinalgVectorNorm", 0),),
    "vector_norm": (Shape("LinalgVectorNorm", 0),),
    "det": (Shape("LinalgDet", 0),),
    "where": (Shape("Where", 1, 2),),
    "linear": _linear(weight=1, bias=2),
    "Linear": _linear(weight=LEAF, bias=LEAF),
    "layer_norm": (Shape("NativeLayerNorm", 0, 2, 3), Shape("NativeLayerNorm", 0, None, None)),
    "embedding": (Shape("Embedding", 1),),
    "cross_entropy": (Shape("NllLoss", Shape("LogSoftmax", 0)),),
    "l1_loss": (Shape("Mean", Shape("Abs", Shape("Sub", 0, 1))),),
    "outer": (Shape("Mul", Shape("View", 0), 1),),
    "max": (Shape("Max", 0), Shape("Maximum", 0, 1)),
    "min": (Shape("Min", 0), Shape("Minimum", 0, 1)),
    **dict.fromkeys(("to", "type", "type_as", "float", "double", "half", "bfloat16"), _CAST),
    **dict.fromkeys(("cpu", "cuda"), _CAST),
    **dict.fromkeys(("view", "reshape", "flatten", "ravel", "view_as", "reshape_as"), _VIEW),
    "contiguous": (Shape("Clone", 0), 0),
}
SAME = {
    **{"multiply": "mul", "divide": "div", "true_divide": "div", "subtract": "sub"},
    **{"negative": "neg", "clip": "clamp", "absolute": "abs", "swapaxes": "transpose"},
    **{"arctan2": "atan2", "arcsin": "asin", "arccos": "acos", "arctan": "atan"},
    "expit": "sigmoid",
    **{"concat": "cat", "concatenate": "cat", "hstack": "cat", "matrix_transpose": "mT"},
}
MODULES = {
    torch.nn.MSELoss: "mse_loss",
    torch.nn.L1Loss: "l1_loss",
    torch.nn.SmoothL1Loss: "smooth_l1_loss",
    torch.nn.HuberLoss: "huber_loss",
    torch.nn.CrossEntropyLoss: "cross_entropy",
    torch.nn.NLLLoss: "nll_loss",
    torch.nn.BCELoss: "binary_cross_entropy",
    torch.nn.BCEWithLogitsLoss: "binary_cross_entropy_with_logits",
    torch.nn.ReLU: "relu",
    torch.nn.Sigmoid: "sigmoid",
    torch.nn.Tanh: "tanh",
    torch.nn.GELU: "gelu",
    torch.nn.SiLU: "silu",
    torch.nn.Softplus: "softplus",
    torch.nn.Softmax: "softmax",
    torch.nn.LogSoftmax: "log_softmax",
    torch.nn.Linear: "Linear",
}
NO_GRADIENT = {"detach", "item", "tolist", "numpy", "size", "numel", "dim", "argmax", "argmin"}


class TooLong(Exception):
    """Tell that a matching took too many steps."""


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


class Matcher:
    """Match values of a replayed source against the nodes of a graph that was walked."""

    def __init__(self, graph: Graph, met: Sequence[Any], replay: Replay) -> None:
        self.graph, self.live = graph, replay.live
        self.edges = graph.inputs_by_node()
        self.index = {id(node): number for number, node in enumerate(met)}
        self.names: dict[int, list[str]] = {}
        for name, value in replay.names.items():
            self.names.setdefault(id(value), []).append(name)
        self.current = replay.names
        self.steps = 0

    def place(self, thing: Any) -> Place | None:
        """Return the node that made a tensor, and its output; None where the graph has none."""
        if not torch.is_tensor(thing) or not read(thing, "requires_grad") or may_be_stale(thing):
            return None
        node, output_nr = read(thing, "grad_fn"), 0
        if node is None:
            node = thing  # a leaf
        else:
            output_nr = read(thing, "output_nr")
        if id(node) not in self.index:
            return None
        return self.index[id(node)], output_nr

    def matched(self, value: Value, place: Place) -> Claims | None:
        """Return what is certain of a value that is the output of a node; None where all is not."""
        try:
            if value.kind != "either":
                return self._trial(value, place)
            newest, *others = [self._trial(operand, place) for _, operand in value.operands]
            return None if any(others) else newest
        except (TooLong, RecursionError):
            return None

    def _trial(self, value: Value, place: Place) -> Claims | None:
        if value.kind == "unknown":  # a name's value before its cell, which may be anything
            return NOTHING
        if value.kind == "op":
            return self._operation(value, place, NOTHING)
        return self._value(value.expr, value, place, NOTHING)

    def _value(self, expr: ast.expr, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with a value at the end of an edge; None where it cannot be there."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        if value.kind == "either":
            return self._either(expr, value, place, claims)
        if place is None:
            return claims if self.may_be_plain(value) else None
        if claims.seen.get(id(value), place) != place:
            return None
        held = self.held(expr, value)
        if held is None and value.kind == "op":
            return claims if id(value) in claims.seen else self._operation(value, place, claims)
        fits = value.kind == "leaf" and self.graph.nodes[place[0]].is_leaf
        if held is not None:
            fits = self.place(held) == place
        return claims.used(expr, value, place) if fits else None

    def _either(self, expr: ast.expr, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with the newest of several values, where no other one fits as well."""
        (_, newest), *others = value.operands
        held = self.held(expr, value)
        if held is not None and newest.kind != "op":
            return claims if place is not None and self.place(held) == place else None
        for _, other in others:
            if other.kind == "unknown" or self._value(expr, other, place, claims):
                return None
        return self._value(expr, newest, place, claims)

    def held(self, expr: ast.expr | None, value: Value) -> Any:
        """Return the tensor that a name holds which still stands for a value; None where none."""
        for name in self.names.get(id(value), ()):
            if torch.is_tensor(self.live.get(name)):
                return self.live[name]
        thing = None
        if value.kind == "unknown" and isinstance(value.expr, (ast.Attribute, ast.Subscript)):
            thing = self.reached(value.expr)
        return thing if torch.is_tensor(thing) else None

    def reached(self, expr: ast.expr) -> Any:
        """Return what an expression of names, module attributes and plain containers holds now."""
        if isinstance(expr, ast.Name):
            value = self.current.get(expr.id)
            known = value is None or value.kind == "unknown" or value.callee is not None
            return self.live.get(expr.id) if known else None
        if isinstance(expr, ast.Attribute):
            return part_of(self.reached(expr.value), expr.attr)
        if isinstance(expr, ast.Subscript) and isinstance(expr.slice, ast.Constant):
            return item_of(self.reached(expr.value), expr.slice.value)
        return None

    def may_be_plain(self, value: Value) -> bool:
        """Say whether a value may be one that no gradient goes to."""
        self.steps += 1
        if value.kind in ("plain", "leaf"):
            return value.kind == "plain"
        held = self.held(value.expr, value)
        if held is not None:
            return not read(held, "requires_grad")
        if value.kind == "either":
            return self.may_be_plain(value.operands[0][1])
        if value.kind == "op" and (value.callee or value.op in NO_GRADIENT):
            return True
        return all(self.may_be_plain(operand) for _, operand in value.operands)

    def _operation(self, value: Value, place: Place, claims: Claims) -> Claims | None:
        """Return the claims with a node's operation and all below; None unless all agrees."""
        trials = []
        for shape in self.shapes(value, place[0]):
            if self._may_fit(shape, place[0]):
                trial = self._fits(shape, value, place, claims)
                if trial is not None and self._rest_is_plain(shape, value):
                    trials.append(trial.at(value, place))
        return common(trials)

    def _may_fit(self, shape: Shape | int, node: int) -> bool:
        """Say whether a node has a shape's name and count of inputs."""
        if isinstance(shape, int):
            return True
        count = len(self.edges.get(node, ()))
        return count == len(shape.inputs) and self._is_called(node, shape.function)

    def shapes(self, value: Value, node: int) -> Iterator[Shape | int]:
        """Yield how an operation may show in the graph."""
        name = value.op or self._called(value)
        name = SAME.get(name, name)
        if name == "getitem":
            yield from indexed(value.expr)
        elif name in SHAPES:
            yield from SHAPES[name]
        elif name and name not in NO_GRADIENT:
            count = len(self.edges.get(node, ()))
            yield Shape(name, *range(count))

    def _called(self, value: Value) -> str:
        """Return the function of a called module, or whose `apply` it is, if its name holds it."""
        func = value.expr.func
        name = base_name(func)
        if name is None or self.current.get(name) is not value.callee:
            return ""
        if isinstance(func, ast.Attribute) and func.attr == "apply":
            owner = self.reached(func.value)
            return owner.__name__ if isinstance(owner, FunctionMeta) else ""
        thing = self.reached(func)
        return next((name for kind, name in MODULES.items() if type(thing) is kind), "")

    def _fits(self, part: Input, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with what a part of a shape says of a place; None where it differs."""
        if isinstance(part, Shape):
            return self._node(part, value, place, claims)
        if isinstance(part, Plain) and place is None:
            part = part.number
        if isinstance(part, int):
            operands = operands_of(value)
            return self._value(*operands[part], place, claims) if part < len(operands) else None
        if place is None:
            return claims
        return claims if part == LEAF and self.graph.nodes[place[0]].is_leaf else None

    def _node(self, shape: Shape, value: Value, place: End, claims: Claims) -> Claims | None:
        """Return the claims with a node that has a shape's name, and inputs as the shape says."""
        if place is None or place[1] or place[0] in claims.values:
            return None
        node, edges = place[0], self.edges.get(place[0], ())
        if not self._may_fit(shape, node) or any(edge.cut for edge in edges):
            return None
        for part, edge in zip(shape.inputs, edges, strict=True):
            below = None if edge.target is None else (edge.target, edge.input_nr)
            claims = self._fits(part, value, below, claims)
            if claims is None:
                return None
        return claims.made(node, value, tuple([operand_expr(value, part) for part in shape.inputs]))

    def _is_called(self, node: int, name: str) -> bool:
        """Say whether a node is the backward of a function: "MseLossBackward0" of "mse_loss"."""
        operation = self.graph.nodes[node].operation
        stem = _BACKWARD.sub("", operation)
        return stem != operation and stem.lower() == name.replace("_", "").lower()

    def _rest_is_plain(self, shape: Shape | int, value: Value) -> bool:
        """Say whether what a shape does not use may be without a gradient."""
        if isinstance(shape, int):
            return True
        used = set(numbers_in(shape))
        rest = [operand for nr, operand in enumerate(operands_of(value)) if nr not in used]
        return all(self.may_be_plain(operand) for _, operand in [*rest, *value.plain_operands])


def operands_of(value: Value) -> tuple[tuple[ast.expr, Value], ...]:
    """Return an operation's operands; a list that stands alone in front counts as its parts."""
    if value.operands and value.operands[0][1].kind == "several":
        return (*value.operands[0][1].operands, *value.operands[1:])
    return value.operands


def operand_expr(value: Value, part: Input) -> ast.expr | None:
    """Return the expression of an operand that a part of a shape stands for."""
    if isinstance(part, Plain):
        part = part.number
    return operands_of(value)[part][0] if isinstance(part, int) else None


def numbers_in(part: Input) -> Iterator[int]:
    """Yield the numbers of the operands that a part of a shape uses."""
    if isinstance(part, int):
        yield part
    elif isinstance(part, Plain):
        yield part.number
    elif isinstance(part, Shape):
        for inner in part.inputs:
            yield from numbers_in(inner)


def common(trials: Sequence[Claims]) -> Claims | None:
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


def indexed(expr: ast.Subscript) -> Iterator[Shape | int]:
    """Yield how an index may show: each part of it is an operation of its own, or none."""
    is_tuple = isinstance(expr.slice, ast.Tuple)
    parts = expr.slice.elts if is_tuple else [expr.slice]
    shapes: list[Shape | int] = [0]
    for part in parts[:MOST_PARTS]:
        before, shapes = shapes, []
        for inner in before:
            for function in part_names(part):
                shapes.append(Shape(function, inner) if function else inner)
    if len(parts) <= MOST_PARTS:
        yield from [shape for shape in shapes if shape != 0]
    if is_tuple and len(parts) <= MOST_PARTS:
        yield Shape("Alias", 0)


def part_names(part: ast.expr) -> Sequence[str]:
    """Return by which operations one part of an index may show; an empty text for none."""
    if isinstance(part, ast.Slice):
        return "Slice", ""
    if isinstance(part, ast.Constant):
        if part.value is None:
            return ("Unsqueeze",)
        return ("Alias", "") if part.value is Ellipsis else ("Select",)
    if isinstance(part, ast.UnaryOp):
        return ("Select",)
    return "Select", "Index"


def part_of(thing: Any, name: str) -> Any:
    """Return a module's parameter, buffer or submodule, without asking the module."""
    if not isinstance(thing, torch.nn.Module):
        return None
    inside = torch.nn.Module.__dict__["__dict__"].__get__(thing)
    for kind in ("_parameters", "_buffers", "_modules"):
        held = dict.get(inside, kind)
        if isinstance(held, dict) and (part := dict.get(held, name)) is not None:
            return part
    part = dict.get(inside, name)
    return part if torch.is_tensor(part) else None


def item_of(thing: Any, key: Any) -> Any:
    """Return what a plain list, tuple or dict holds under a plain key."""
    if type(thing) is dict and type(key) is str:
        return dict(named(thing)).get(key)
    if type(thing) in (list, tuple) and type(key) is int and -len(thing) <= key < len(thing):
        return thing[key]
    return None
