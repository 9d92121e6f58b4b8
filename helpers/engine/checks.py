"""Say on which programs each stage is tried: fixed ones, the smallest that show a mistake, and random
ones. What is right is what PyTorch does.
"""

from collections.abc import Callable
from random import Random

from helpers.engine.cells import Cell
from helpers.engine.programs import drawn, on_torch

SEED, MANY = 4, 40  # of the random programs that the lesson tries
X, Y, W = (
    f"{name} = Value({data}, requires_grad=True)"
    for name, data in [("x", "3.0"), ("y", "5.0"), ("w", "2.0")]
)

GRAPH = ("z.data", "z.requires_grad", "the graph", "the shape in the node", "the photographs")
GRADIENTS = ("gradients", "the most times that a node ran", "nodes that never ran")

RECORD = (
    f"{X}\n{Y}\nz = x + y",
    f"{X}\n{Y}\nz = x * y",
    f"{X}\nz = x * x",
    f"{X}\ny = Value(5.0)\nz = y * x",
    "x = Value(3.0)\ny = Value(5.0)\nz = x * y",
    "x = Value([3.0, 1.0], requires_grad=True)\nz = x + x",
    f"{X}\nz = 2 * x + 1",
    f"{X}\nh = x * x\nz = h * h + h",
)
BACKWARD = (
    f"{X}\n{Y}\nz = x + y\nz.backward()",
    f"{X}\n{Y}\nz = x * y\nz.backward()",
    f"{X}\n{Y}\n{W}\nz = x * y * w\nz.backward()",
    f"{X}\nz = x * x\nz.backward()",
    f"{X}\ny = Value(5.0)\nz = x * y + 1\nz.backward()",
    f"{X}\nh = x * x\nz = h * h + h\nz.backward()",
    f"{X}\nh = x * x\nz = h + h * h\nz.backward()",
    "x = Value(1.0, requires_grad=True)\nz = x\nfor _ in range(40):\n    z = z + z\nz.backward()",
    "x = Value([3.0, 1.0], requires_grad=True)\nz = x * x\nz.backward(Value([1.0, 10.0]))",
    f"{X}\nh = x + x\nz = h + h\nz.backward()\nx.grad = None\nz.backward()",  # nothing is saved
)


TRIED = {
    "04": (RECORD, "graph"),
    "05": (BACKWARD, "backward"),
}  # on which programs, and what is looked at


def cases(stage: str, random: Random | None = None) -> tuple[Callable, ...]:
    """Return the cases on which a stage is tried, as a reader of functions wants them."""
    programs, look = TRIED[stage]
    random = random or Random(SEED)
    more = [drawn(random, 2 + nr // 5, look == "backward") for nr in range(MANY)]
    return tuple(_case(program, look) for program in (*programs, *more))


def _case(program: str, look: str) -> Callable:
    def case() -> tuple[str, str]:
        return program, look

    case.written = program.replace("\n    ", " ").replace("\n", "; ")
    return case


def trouble(cell: Cell) -> str:
    """Say what a stage does differently from PyTorch on the fixed programs; "" where nothing."""
    programs, look = TRIED[cell.stage]
    for program in programs:
        if cell(program, look) != on_torch(program, look):
            return f"`{program.splitlines()[-1]}` comes out wrong"
    return ""
