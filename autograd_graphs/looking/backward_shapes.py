"""Say how operations of torch show in a graph: as which backward functions, over which inputs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

MOST_PARTS = 4  # of an index
LEAF = "leaf"


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


def shapes_of(name: str, expr: ast.expr, count: int) -> Iterator[Shape | int]:
    """Yield how an operation may show, over `count` inputs; a number is an operand itself."""
    name = SAME.get(name, name)
    if name == "getitem":
        yield from indexed(expr)
    elif name in SHAPES:
        yield from SHAPES[name]
    elif name and name not in NO_GRADIENT:
        yield Shape(name, *range(count))


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


def numbers_in(part: Input) -> Iterator[int]:
    """Yield the numbers of the operands that a part of a shape uses."""
    if isinstance(part, int):
        yield part
    elif isinstance(part, Plain):
        yield part.number
    elif isinstance(part, Shape):
        for inner in part.inputs:
            yield from numbers_in(inner)
