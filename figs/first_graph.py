"""Draw figs/first_graph.svg, which opens lesson 00: the graph behind y = sin(w * x) + b, from a live
graph.

It leaves out what each card keeps: that is what the lesson asks first.
"""

from dataclasses import replace
from pathlib import Path

import torch

from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.svg import svg
from autograd_graphs.large.fold import fold
from autograd_graphs.looking.snapshot import snapshot


def draw() -> str:
    """Return the picture as SVG text."""
    w, x, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 0.5, 1.0))
    y = torch.sin(w * x) + b
    graph = snapshot(y, names={"w": w, "x": x, "b": b, "y": y})
    bare = replace(graph, nodes=tuple([replace(node, saved=()) for node in graph.nodes]))
    alt = (
        "The graph behind y = sin(w * x) + b: arrows lead back from y through cards Add, Sin, Mul "
        "to leaves b, w, x."
    )
    return svg(drawing(fold(bare), alt=alt))


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
