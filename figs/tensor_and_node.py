"""Draw tensor_and_node.svg: how tensors and nodes hold on to each other. Writes that file only.

Every name and number in it is read from a graph that this script builds: y = x * 2, z = y.sum().
"""

from collections.abc import Mapping
from pathlib import Path

import torch

from autograd_graphs.drawing.diagram import arrow
from autograd_graphs.drawing.display_list import Drawing, Pen
from autograd_graphs.drawing.palette import SMALL, TITLE
from autograd_graphs.drawing.svg import svg
from autograd_graphs.text import width

WIDE, HIGH, TALL = 712, 276, 32  # px: the picture, and the height of a box
TENSORS, NODES, BESIDE = 122, 398, 650  # px: the middles of three columns
ROWS = (72, 132, 192, 252)  # px: the middles of four rows
ALT = (
    "Tensors on the left, nodes on the right. grad_fn leads from z and y into the graph, next_functions leads "
    "from node to node. Only AccumulateGrad leads back to a tensor: its variable is x, whose grad is a tensor too."
)

Place = tuple[int, int]  # column and row of a box


def draw() -> str:
    """Return the SVG text; the same bytes each time."""
    pen = Pen()
    pen.write("title", 12, 22, ("y = x * 2;  z = y.sum();  z.backward()", ""))
    for middle, words in ((TENSORS, "tensors: your values"), (NODES, "nodes: the backward graph")):
        pen.write("middle", middle, 48, (words, "faint"))
    placed = boxes()
    halves = {place: half(words) for place, (_, words) in placed.items()}
    for (begin, end), words in arrows().items():
        draw_arrow(pen, begin, end, words, halves)
    for (middle, row), (role, words) in placed.items():
        draw_box(pen, role, words, middle, ROWS[row])
    return svg(Drawing(WIDE, HIGH, tuple(pen.marks), ALT, ALT))


def boxes() -> dict[Place, tuple[str, str]]:
    """Return what stands where: (column, row) → (role, words), read from a live graph."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    z = y.sum()
    (multiply, _), (accumulate, _) = z.grad_fn.next_functions[0], y.grad_fn.next_functions[0]
    assert multiply is y.grad_fn
    assert accumulate.variable is x
    assert x.grad_fn is None
    z.backward()
    texts = [
        f"{name} = {tensor.tolist()}"
        for name, tensor in (("z", z), ("y", y), ("x", x), ("x.grad", x.grad))
    ]
    nodes = [type(node).__name__ for node in (z.grad_fn, multiply, accumulate)]
    tensors = {(TENSORS, row): ("tag", text) for row, text in enumerate(texts)}
    cards = {
        (NODES, row): ("leaf" if row == 2 else "operation", name) for row, name in enumerate(nodes)
    }
    return {**tensors, **cards, (BESIDE, 2): ("none", str(y.grad_fn.next_functions[1]))}


def arrows() -> dict[tuple[Place, Place], str]:
    """Return begin and end of each arrow, as (column, row), and the attribute that it stands for."""
    return {
        ((TENSORS, 0), (NODES, 0)): ".grad_fn",
        ((TENSORS, 1), (NODES, 1)): ".grad_fn",
        ((NODES, 0), (NODES, 1)): ".next_functions[0]",
        ((NODES, 1), (NODES, 2)): ".next_functions[0]",
        ((NODES, 1), (BESIDE, 2)): ".next_functions[1]",
        ((NODES, 2), (TENSORS, 2)): ".variable",
        ((TENSORS, 2), (TENSORS, 3)): ".grad",
    }


def draw_arrow(pen: Pen, begin: Place, end: Place, words: str, halves: Mapping[Place, int]) -> None:
    """Draw an arrow from box to box, its words on it; the one that changes column and row bends.

    `halves` holds half the width of every box.
    """
    (x, row), (to_x, to_row) = begin, end
    y, to_y = ROWS[row], ROWS[to_row]
    if x != to_x:
        x += halves[begin] if to_x > x else -halves[begin]
    if row != to_row:
        to_y -= TALL // 2
    if x == to_x:
        y += TALL // 2
    if row == to_row:
        to_x += halves[end] if to_x < x else -halves[end]
    corner = (to_x, y) if row != to_row else ((x + to_x) / 2, y)
    draw_curve(pen, ((x, y), corner, corner, (to_x, to_y)))
    bends = x != to_x and row != to_row
    draw_words(pen, words, (x + to_x) / 2 - 8 * bends, y if bends else (y + to_y) / 2)


def draw_curve(pen: Pen, curve: tuple[tuple[float, float], ...]) -> None:
    pen.path("edge", *curve)
    pen.polygon("arrow", *arrow(curve))


def draw_words(pen: Pen, words: str, x: float, y: float) -> None:
    room = width(words, SMALL) + 8
    pen.rect("ground", x - room / 2, y - 9, room, 18, 0)
    pen.write("word", x, y + 5, (words, ""))


def half(words: str) -> int:
    """Return half the width of the box of these words."""
    return width(words, TITLE) // 2 + 14


def draw_box(pen: Pen, role: str, words: str, x: int, y: int) -> None:
    wide = half(words)
    pen.rect(role, x - wide, y - TALL / 2, 2 * wide, TALL, 18 if role in ("leaf", "none") else 7)
    pen.write("tagged" if role == "tag" else "middle", x, y + 5, (words, ""))


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8", newline="\n")
