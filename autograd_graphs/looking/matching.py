"""Match what a source says against the graph that is there: a place in the source counts only where
all below it agrees, down to leaves and to tensors that names hold now.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.autograd.function import FunctionMeta

from autograd_graphs.data import Graph
from autograd_graphs.looking.statements import Replay, Value, base_name
from autograd_graphs.looking.torch_private import is_a, is_module, is_tensor, may_be_stale, read
from autograd_graphs.looking.variable_names import named

MOST_STEPS = 50_000  # of the matching of one graph
_BACKWARD = re.compile(r"Backward\d*$")
# How an operation shows in the graph: (backward function, an input ...); an input is the number of
# an operand, None for no gradient, LEAF for a parameter that the source does not name, or another
# such tuple. A lone number: the operand itself. What is not here is called as its function.
LEAF = "leaf"
Place = tuple[int, int]  # a node, and which of its outputs


class Plain(NamedTuple):
    """Tell the number of an operand that gets no gradient here: a number before an operator."""

    number: int


_CAST = (("ToCopy", 0), 0)
_VIEW = (("View", 0), ("UnsafeView", ("Clone", 0)), ("UnsafeView", 0), 0)
_MATMUL = (*(("Mm", 0, 1), ("Mv", 0, 1), ("Dot", 0, 1)), ("Squeeze", ("Mm", ("Unsqueeze", 0), 1)))
_LINEAR = (
    *(("Addmm", LEAF, 0, ("T", LEAF)), ("Mm", 0, ("T", LEAF))),
    ("View", ("Addmm", LEAF, ("View", 0), ("T", LEAF))),
    ("View", ("Addmm", LEAF, 0, ("T", LEAF))),
)
SHAPES: dict[str, tuple[Any, ...]] = {
    "add": (("Add", 0, 1), ("Add", 1, Plain(0))),
    "mul": (("Mul", 0, 1), ("Mul", 1, Plain(0))),
    "sub": (("Sub", 0, 1), ("Rsub", 1)),
    "div": (("Div", 0, 1), ("Mul", ("Reciprocal", 1), None)),
    "pow": (("Pow", 0), ("Pow", 0, 1), ("Pow", 1)),
    "remainder": (("Remainder", 0), ("Remainder", 0, 1)),
    "square": (("Pow", 0),),
    "matmul": _MATMUL,
    "inner": (("Dot", 0, 1),),
    "T": (("Permute", 0), ("T", 0)),
    "mT": (("Transpose", 0),),
    "norm": (("LinalgVectorNorm", 0),),
    "vector_norm": (("LinalgVectorNorm", 0),),
    "det": (("LinalgDet", 0),),
    "where": (("Where", 1, 2),),
    "linear": (
        *(("Addmm", 2, 0, ("T", 1)), ("Mm", 0, ("T", 1))),
        ("View", ("Addmm", 2, 0, ("T", 1))),
        ("View", ("Addmm", 2, ("View", 0), ("T", 1))),
    ),
    "layer_norm": (("NativeLayerNorm", 0, 2, 3), ("NativeLayerNorm", 0, None, None)),
    "embedding": (("Embedding", 1),),
    "cross_entropy": (("NllLoss", ("LogSoftmax", 0)),),
    "l1_loss": (("Mean", ("Abs", ("Sub", 0, 1))),),
    "outer": (("Mul", ("View", 0), 1),),
    "max": (("Max", 0), ("Maximum", 0, 1)),
    "min": (("Min", 0), ("Minimum", 0, 1)),
    **dict.fromkeys(("to", "type", "type_as", "float", "double", "half", "bfloat16"), _CAST),
    **dict.fromkeys(("cpu", "cuda"), _CAST),
    **dict.fromkeys(("view", "reshape", "flatten", "ravel", "view_as", "reshape_as"), _VIEW),
    "contiguous": (("Clone", 0), 0),
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


@dataclass(slots=True)
class Claims:
    """Hold what a matching says: which value made a node (None where it may be one or another),
    from which inputs, and the uses of leaves.
    """

    values: dict[int, Value | None] = field(default_factory=dict)
    inputs: dict[int, tuple[ast.expr | None, ...]] = field(default_factory=dict)
    seen: dict[int, tuple[int | None, int]] = field(default_factory=dict)
    uses: dict[int, list[ast.expr]] = field(default_factory=dict)

    def copy(self) -> Claims:
        uses = {node: list(found) for node, found in self.uses.items()}
        return Claims(dict(self.values), dict(self.inputs), dict(self.seen), uses)


class Matcher:
    """Match values of a replayed source against the nodes of a graph that was walked."""

    def __init__(self, graph: Graph, met: Sequence[Any], replay: Replay) -> None:
        self.graph, self.live = graph, replay.live
        self.edges = graph.inputs_by_node()
        self.index = {id(one): number for number, one in enumerate(met)}
        self.names: dict[int, list[str]] = {}
        for name, value in replay.names.items():
            self.names.setdefault(id(value), []).append(name)
        self.current = replay.names
        self.steps = 0

    def place(self, thing: Any) -> Place | None:
        """Return the node that made a tensor, and its output; None where the graph has none."""
        if not is_tensor(thing) or not read(thing, "requires_grad") or may_be_stale(thing):
            return None
        node = read(thing, "grad_fn")
        if node is None:
            found, output_nr = self.index.get(id(thing)), 0
        else:
            found, output_nr = self.index.get(id(node)), read(thing, "output_nr")
        return None if found is None else (found, output_nr)

    def matched(self, value: Value, place: Place) -> Claims | None:
        """Return what is certain of a value that is the output of a node; None where all is not."""
        try:
            if value.kind != "either":
                return self._trial(value, place)
            trials = [self._trial(one, place) for _, one in value.operands]
            return trials[0] if not any(trials[1:]) else None
        except (TooLong, RecursionError):
            return None

    def _trial(self, value: Value, place: Place) -> Claims | None:
        claims = Claims()
        if value.kind == "unknown":  # a name's value before its cell, which may be anything
            return claims
        if value.kind == "op":
            return self._operation(value, place, claims)
        return claims if self._value(value.expr, value, place, claims) else None

    def _value(self, expr: ast.expr, value: Value, place: Place | None, claims: Claims) -> bool:
        """Say whether a value can be what an entry of `next_functions` leads to."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLong
        if value.kind == "either":
            return self._either(expr, value, place, claims)
        if place is None:
            return self.may_be_plain(value)
        have = claims.seen.get(id(value))
        if have is not None and have != place:
            return False
        held = self.held(expr, value)
        if held is not None:
            return self.place(held) == place and self._agree(expr, value, place, claims)
        if value.kind == "op":
            found = claims if have else self._operation(value, place, claims)
            return found is not None and self._take(claims, found)
        is_leaf = self.graph.nodes[place[0]].is_leaf
        return value.kind == "leaf" and is_leaf and self._agree(expr, value, place, claims)

    def _either(self, expr: ast.expr, value: Value, place: Place | None, claims: Claims) -> bool:
        """Say whether the newest of several values fits, and no other one."""
        (_, newest), *others = value.operands
        held = self.held(expr, value)
        if held is not None and newest.kind != "op":
            return place is not None and self.place(held) == place
        for _, other in others:
            if other.kind == "unknown" or self._value(expr, other, place, claims.copy()):
                return False
        return self._value(expr, newest, place, claims)

    def _agree(self, expr: ast.expr, value: Value, place: Place, claims: Claims) -> bool:
        """Write down that a name was used for what a node made."""
        claims.seen[id(value)] = place
        uses = claims.uses.setdefault(place[0], [])
        if all(one is not expr for one in uses):
            uses.append(expr)
        return True

    @staticmethod
    def _take(claims: Claims, found: Claims) -> bool:
        claims.values, claims.inputs, claims.seen = found.values, found.inputs, found.seen
        claims.uses = found.uses
        return True

    def held(self, expr: ast.expr | None, value: Value) -> Any:
        """Return the tensor that a name holds which still stands for a value; None where none."""
        for name in self.names.get(id(value), ()):
            if is_tensor(self.live.get(name)):
                return self.live[name]
        if value.kind == "unknown" and isinstance(value.expr, (ast.Attribute, ast.Subscript)):
            found = self.reached(value.expr)
            return found if is_tensor(found) else None
        return None

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
        return all(self.may_be_plain(one) for _, one in value.operands)

    def _operation(self, value: Value, place: Place, claims: Claims) -> Claims | None:
        """Return the claims with a node's operation and all below; None unless all agrees."""
        node = place[0]
        found: list[Claims] = []
        shapes = [shape for shape in self.shapes(value, node) if self._may_fit(shape, node)]
        for shape in shapes:
            trial = claims.copy() if len(shapes) > 1 else claims
            if self._fits(shape, value, place, trial, is_top=True):
                trial.seen[id(value)] = place
                found.append(trial)
        return common(found)

    def _may_fit(self, shape: Any, node: int) -> bool:
        """Say whether a node has a shape's name and count of inputs."""
        if isinstance(shape, int):
            return True
        count = len(self.edges.get(node, ()))
        return count == len(shape) - 1 and self._is_called(node, shape[0])

    def shapes(self, value: Value, node: int) -> Iterator[Any]:
        """Yield how an operation may show in the graph."""
        name = value.op or self._called(value)
        name = SAME.get(name, name)
        if name == "getitem":
            yield from indexed(value.expr)
        elif name == "Linear":
            yield from _LINEAR
        elif name in SHAPES:
            yield from SHAPES[name]
        elif name and name not in NO_GRADIENT:
            count = len(self.edges.get(node, ()))
            yield (name, *range(count))

    def _called(self, value: Value) -> str:
        """Return the function that a called module is, or the class whose `apply` is called, where
        the name still holds it.
        """
        func = value.expr.func
        name = base_name(func)
        if name is None or self.current.get(name) is not value.callee:
            return ""
        if isinstance(func, ast.Attribute) and func.attr == "apply":
            owner = self.reached(func.value)
            return type.__dict__["__name__"].__get__(owner) if is_a(owner, FunctionMeta) else ""
        thing = self.reached(func)
        return next((name for kind, name in MODULES.items() if type(thing) is kind), "")

    def _fits(
        self, shape: Any, value: Value, place: Place | None, claims: Claims, is_top: bool
    ) -> bool:
        """Say whether a node and its inputs are as a shape says, and claim the node if so."""
        if isinstance(shape, int):
            operands = operands_of(value)
            return shape < len(operands) and self._value(*operands[shape], place, claims)
        if isinstance(shape, Plain):
            return place is None and self._fits(shape.number, value, place, claims, is_top=False)
        if shape is None or shape == LEAF:
            if place is None:
                return True
            return shape == LEAF and self.graph.nodes[place[0]].is_leaf
        if not self._claims(shape, value, place, claims):
            return False
        return not is_top or self._rest_is_plain(shape, value)

    def _claims(self, shape: Any, value: Value, place: Place | None, claims: Claims) -> bool:
        """Claim a node that has a shape's name, and whose inputs are as the shape says."""
        if place is None or place[1] or place[0] in claims.values:
            return False
        entries = self.edges.get(place[0], ())
        if not self._may_fit(shape, place[0]) or any(entry.cut for entry in entries):
            return False
        claims.values[place[0]] = value
        for part, entry in zip(shape[1:], entries, strict=True):
            below = None if entry.target is None else (entry.target, entry.input_nr)
            if not self._fits(part, value, below, claims, is_top=False):
                return False
        claims.inputs[place[0]] = tuple([operand(value, part) for part in shape[1:]])
        return True

    def _is_called(self, node: int, name: str) -> bool:
        """Say whether a node is the backward of a function: "MseLossBackward0" of "mse_loss"."""
        operation = self.graph.nodes[node].operation
        stem = _BACKWARD.sub("", operation)
        return stem != operation and stem.lower() == name.replace("_", "").lower()

    def _rest_is_plain(self, shape: Any, value: Value) -> bool:
        """Say whether what a shape does not use may be without a gradient."""
        used = set(numbers_in(shape))
        rest = [one for nr, (_, one) in enumerate(operands_of(value)) if nr not in used]
        return all(map(self.may_be_plain, [*rest, *[one for _, one in value.plain_operands]]))


def operands_of(value: Value) -> tuple[tuple[ast.expr, Value], ...]:
    """Return an operation's operands; a list that stands alone in front counts as its parts."""
    if value.operands and value.operands[0][1].kind == "several":
        return (*value.operands[0][1].operands, *value.operands[1:])
    return value.operands


def operand(value: Value, part: Any) -> ast.expr | None:
    """Return the expression of an operand that a part of a shape stands for."""
    if isinstance(part, Plain):
        part = part.number
    return operands_of(value)[part][0] if isinstance(part, int) else None


def numbers_in(shape: Any) -> Iterator[int]:
    """Yield the numbers of the operands that a shape uses."""
    if isinstance(shape, int):
        yield shape
    elif isinstance(shape, tuple):
        for part in shape:
            yield from numbers_in(part)


def common(found: Sequence[Claims]) -> Claims | None:
    """Return what all of several claims say; None where there are none."""
    if not found:
        return None
    first = found[0]
    for other in found[1:]:
        for node in {*first.values, *other.values}:
            if first.values.get(node) is not other.values.get(node):
                first.values[node] = None  # it was made there, or elsewhere
        first.inputs = same(first.inputs, other.inputs)
        first.uses = same(first.uses, other.uses)
        first.seen = same(first.seen, other.seen)
    return first


def same(here: dict[int, Any], there: dict[int, Any]) -> dict[int, Any]:
    """Return what two dicts both hold."""
    return {key: one for key, one in here.items() if key in there and there[key] == one}


def indexed(expr: ast.Subscript) -> Iterator[Any]:
    """Yield how an index may show: each part of it is an operation of its own, or none."""
    index = expr.slice
    if not isinstance(index, ast.Tuple):
        yield from [(name, 0) for name in part_names(index) if name]
        return
    shapes: list[Any] = [0]
    for part in index.elts[:4]:
        before, shapes = shapes, []
        for inner in before:
            for name in part_names(part):
                shapes.append((name, inner) if name else inner)
    if len(index.elts) <= 4:
        yield from [shape for shape in shapes if shape != 0] + [("Alias", 0)]


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
    if not is_module(thing):
        return None
    inside = torch.nn.Module.__dict__["__dict__"].__get__(thing)
    for kind in ("_parameters", "_buffers", "_modules"):
        held = dict.get(inside, kind)
        if is_a(held, dict) and (found := dict.get(held, name)) is not None:
            return found
    found = dict.get(inside, name)
    return found if is_tensor(found) else None


def item_of(thing: Any, key: Any) -> Any:
    """Return what a plain list, tuple or dict holds under a plain key."""
    if type(thing) is dict and type(key) is str:
        return dict(named(thing)).get(key)
    if type(thing) in (list, tuple) and type(key) is int and -len(thing) <= key < len(thing):
        return thing[key]
    return None
