"""Draw a stored graph for a slide: on its side, in rows where it is long, in the slide's own type."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import product

from nbformat import NotebookNode

from autograd_graphs.data import Graph
from autograd_graphs.drawing.cards import MOST_USES
from autograd_graphs.drawing.diagram import for_slide
from autograd_graphs.drawing.display_list import SHAPES, Drawing, Mark, geometry
from autograd_graphs.playing.stylesheet import css_class
from autograd_graphs.stored import GRAPH, graph_from
from course.publishing.slide_drawings import HIGH, WIDE

ROOM = WIDE, HIGH
LINE = 40  # px of a printed line above a graph
ROWS = 1, 2, 3, 4
FORMS = ("long", "short"), ("bare",)  # of cards, in each number of rows
APART = MOST_USES, 1  # uses of a leaf: with more it is drawn once per use
LARGEST, READABLE = 2.0, 1.54  # times: then names have 30 px, or the smallest words 20


def slide_graph(text: str, alt: str = "", lines: int = 0) -> str:
    """Return a graph that was stored as inline SVG, under so many printed lines; "" for none."""
    graph = stored(text)
    if not graph:
        return ""
    return svg(best(graph, ROOM[1] - LINE * lines), alt)


def graph_of(outputs: Sequence[NotebookNode]) -> Graph | None:
    """Return the first graph that is stored beside a picture; None where there is none."""
    for output in outputs:
        graph = stored(output.get("metadata", {}).get(GRAPH, ""))
        if graph:
            return graph
    return None


def stored(text: str) -> Graph | None:
    """Return the graph in a text, None for one without nodes, or for what is no graph."""
    try:
        graph = graph_from(text)
    except ValueError:
        return None
    return graph if graph.nodes else None


def best(graph: Graph, high: int = ROOM[1]) -> Drawing:
    """Return the first drawing whose words can be read, else the one that can be shown largest."""
    made = []
    for forms, uses, rows in product(FORMS, APART, ROWS):
        for form in forms:
            made.append(for_slide(graph, rows, form, uses))
            if times(made[-1], high) >= READABLE:
                return made[-1]
    return max(made, key=lambda drawing: times(drawing, high))


def times(drawing: Drawing, high: int = ROOM[1]) -> float:
    return min(ROOM[0] / drawing.width, high / drawing.height, LARGEST)


def svg(drawing: Drawing, alt: str) -> str:
    """Return a drawing as SVG that wears the classes of the palette."""
    wide, high = drawing.width, drawing.height
    most = f"max-width:{round(wide * LARGEST)}px;max-height:{round(high * LARGEST)}px"
    size = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" style="{most}"'
    said, body = escape(alt or drawing.alt), "".join(map(element, drawing.marks))
    return f'<svg class="graph" role="img" aria-label="{said}" {size}>{body}</svg>'


def element(mark: Mark) -> str:
    tag, *attributes = SHAPES[mark.shape]
    pairs = zip(attributes, geometry(mark), strict=True)
    places = " ".join(f'{attribute}="{value}"' for attribute, value in pairs)
    start = f'<{tag} {places} class="{css_class(mark.role, mark.state)}"'
    return f"{start}>{tspans(mark)}</text>" if tag == "text" else f"{start}/>"


def tspans(mark: Mark) -> str:
    """Return what stands in a text; pieces with a role of their own are in a tspan."""
    made = ""
    for text, role in mark.runs:
        words = escape(text)
        if role:
            words = f'<tspan class="{css_class("run " + role)}">{words}</tspan>'
        made += words
    return made
