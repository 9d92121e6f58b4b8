"""Show torchviz's picture of a graph beside ours: its boxes, words, colours and arrows, with no
`dot` program.

torchviz decides what is drawn. Only the layout is ours, because Graphviz sizes torchviz's boxes by
the fonts of the machine, and its labels, which begin with an empty line, can crash Graphviz 14.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import graphviz
import torch

from autograd_graphs.data import Graph, counted
from autograd_graphs.drawing.diagram import MARGIN, arrow, drawing
from autograd_graphs.drawing.display_list import LEGEND, Drawing, Mark, Pen
from autograd_graphs.drawing.layout import MOST_WORK, TIGHT, lay_out, work
from autograd_graphs.drawing.palette import SMALL, TITLE
from autograd_graphs.looking.snapshot import Walk, snapshot
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.picture import Picture, picture
from autograd_graphs.text import visible, width

LETTER = 0.605 * SMALL  # px: a letter of a monospaced font
MOST_NODES = 200  # torchviz recurses: a deep graph would end in a RecursionError
_COLOURS = {
    "darkolivegreen1": "output",
    "darkolivegreen3": "output",
    "lightblue": "leaf",
    "orange": "saved",
}


@dataclass(frozen=True, slots=True)
class TheirGraph:
    """Hold what torchviz drew: boxes of (lines, kind) and arrows between them, by number."""

    boxes: tuple[tuple[tuple[str, ...], str], ...]
    arrows: tuple[tuple[int, int], ...]
    trouble: str = ""


class _Recorder(graphviz.Digraph):
    """Be the Digraph that torchviz fills, and remember what it put in."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.boxes: dict[str, tuple[tuple[str, ...], str]] = {}
        self.arrows: list[tuple[str, str]] = []

    def node(self, name: str, label: str | None = None, **attrs: str) -> None:
        parts = map(str.strip, (label or "").split("\n"))
        lines = tuple([visible(part, 40) for part in parts if part])
        self.boxes[name] = lines, _COLOURS.get(attrs.get("fillcolor", ""), "function")

    def edge(self, tail_name: str, head_name: str, **attrs: str) -> None:
        self.arrows.append((tail_name, head_name))


def beside_torchviz(
    tensor: torch.Tensor, params: Mapping[str, torch.Tensor] | None = None
) -> Picture:
    """Draw torchviz's picture of a tensor's graph and ours side by side; the text names the
    difference.

    The left one is what `make_dot(tensor, params=params)` builds: these names stand in its boxes.
    Without `params` leaves get the names that their variables have.

    torchviz reads the saved tensors of custom Functions, which runs saved-tensor hooks: `show`
    never does. Raises TypeError for anything that is not a tensor, and for names of anything else.
    """
    graph = snapshot(tensor)
    names = leaf_names(tensor, graph) if params is None else given_names(params)
    theirs, ours = their_graph(tensor, graph, names), drawing(graph)
    text = f"{difference(theirs, graph)}\n\n{ours.text}"
    return picture(graph, side_by_side(draw_theirs(theirs), without_legend(ours), text))


def given_names(params: object) -> dict[str, torch.Tensor]:
    """Return names for torchviz as a dictionary of tensors. Raises TypeError where they are none."""
    example = 'It is a dictionary of names and tensors, such as params={"x": x}.'
    if not isinstance(params, Mapping):
        raise TypeError(f"params is {type(params).__name__}. {example}")
    for name, tensor in params.items():
        if not isinstance(name, str):
            raise TypeError(f"A name in params is {type(name).__name__}. {example}")
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f'params["{visible(name, 40)}"] is {type(tensor).__name__}. {example}')
    return dict(params)


def their_graph(tensor: torch.Tensor, graph: Graph, names: dict[str, torch.Tensor]) -> TheirGraph:
    """Let torchviz draw, and return what it drew; in `trouble`, why it could not."""
    if len(graph.nodes) > MOST_NODES:
        trouble = (
            f"torchviz draws by recursion, so it isn't asked to draw more than {MOST_NODES} nodes."
        )
        return TheirGraph((), (), trouble)
    from unittest import mock  # costly to import, and needed here alone

    try:
        with warnings.catch_warnings(), mock.patch("torchviz.dot.Digraph", _Recorder):
            warnings.simplefilter("ignore")
            from torchviz import make_dot

            drawn = make_dot(tensor, params=names)
    except Exception as error:
        return TheirGraph((), (), f"torchviz failed with {type(error).__name__}.")
    number = {name: nr for nr, name in enumerate(drawn.boxes)}
    pairs = [(number[tail], number[head]) for tail, head in drawn.arrows]
    if work(len(drawn.boxes), pairs) > MOST_WORK:
        return TheirGraph((), (), "torchviz's picture is too large to lay out.")
    return TheirGraph(tuple(drawn.boxes.values()), tuple(pairs))


def leaf_names(tensor: torch.Tensor, graph: Graph) -> dict[str, torch.Tensor]:
    """Return the leaves by the names that `snapshot` found, as torchviz wants them."""
    with quietly():
        walk = Walk([tensor])
    pairs = zip(walk.met, graph.nodes, strict=True)
    return {node.name: tensor for tensor, node in pairs if node.is_leaf and node.name}


def difference(theirs: TheirGraph, graph: Graph) -> str:
    drawn = counted(len(theirs.boxes), "box", "boxes")
    ours = counted(len(graph.nodes), "box", "boxes")
    if theirs.trouble:
        return f"{theirs.trouble} Ours: {ours}."
    if not graph.operations:
        return f"torchviz (left): {drawn}, the tensor. Ours (right): {ours}."
    return (
        f"torchviz (left): {drawn}, arrows from inputs to outputs. "
        "A leaf is two boxes, the tensor and its AccumulateGrad, and the result is one more.\n"
        f"Ours (right): {ours}, one for each backward function; arrows follow next_functions, "
        "from the result to the leaves; names, values and saved tensors are written on the cards."
    )


def draw_theirs(theirs: TheirGraph) -> Drawing:
    pen = Pen(MARGIN, 42)
    heading = theirs.trouble or "torchviz: arrows from inputs to outputs"
    pen.write("title", 0, -12, (heading, ""))
    sizes = []
    for lines, _ in theirs.boxes:
        letters = max([0, *map(len, lines)])
        sizes.append((max(30, round(LETTER * letters) + 8), 10 + 16 * len(lines)))
    placed = lay_out(sizes, theirs.arrows, apart=TIGHT)
    for curve in placed.curves:
        pen.path("edge", *curve)
        pen.polygon("arrow", *arrow(curve))
    boxes = zip(theirs.boxes, sizes, placed.centres, strict=True)
    for (lines, kind), (wide, high), (x, y) in boxes:
        pen.rect(f"torchviz {kind}", x - wide / 2, y - high / 2, wide, high, 0)
        for nr, line in enumerate(lines):
            pen.write("torchviz", x, y - high / 2 + 18 + 16 * nr, (line, ""))
    wide = max(round(placed.width), width(heading, TITLE, bold=True))
    return Drawing(wide + 2 * MARGIN, round(placed.height) + 42 + MARGIN, tuple(pen.marks), "", "")


def side_by_side(left: Drawing, right: Drawing, text: str) -> Drawing:
    """Put two drawings into one, the second to the right."""
    beside = left.width - MARGIN
    moved = tuple(shift(mark, beside) for mark in right.marks)
    alt = f"On the left torchviz's picture, with arrows from inputs to outputs. On the right ours. {right.alt}"
    size = beside + right.width, max(left.height, right.height)
    return Drawing(*size, (*left.marks, *moved), text, alt)


def without_legend(drawn: Drawing) -> Drawing:
    """Return a drawing without the words on its signs, which would make two pictures too small to read."""
    legend = [mark for mark in drawn.marks if mark.owner == LEGEND]
    high = min([drawn.height, *(mark.at[1] - MARGIN for mark in legend)])
    marks = tuple([mark for mark in drawn.marks if mark.owner != LEGEND])
    return replace(drawn, height=high, marks=marks)


def shift(mark: Mark, dx: int) -> Mark:
    places = len(mark.at) if mark.shape in ("path", "polygon") else 2
    at = list(mark.at)
    for nr in range(0, places, 2):
        at[nr] += dx
    return replace(mark, at=tuple(at))
