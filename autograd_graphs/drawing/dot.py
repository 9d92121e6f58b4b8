"""Write a graph as DOT source, for those who want to draw it themselves.

Labels are quoted, nothing is run.
"""

from __future__ import annotations

from html import escape

from autograd_graphs.data import Graph, line
from autograd_graphs.drawing.diagram import bundles
from autograd_graphs.text import visible

# characters: Graphviz reads no more than 16,384 bytes of one text, and some read fewer
MOST_LABEL = 120


def dot(graph: Graph) -> str:
    """Return DOT source with our own numbers as ids: equal programs give equal source."""
    import graphviz  # costly: the first picture waits for it, not the import of the course

    source = graphviz.Digraph("backward_graph", node_attr={"shape": "box"})
    for number, node in enumerate(graph.nodes):
        source.node(str(number), label(visible(line(node), MOST_LABEL)))
    for number, edge, times in bundles(graph):
        many = f"× {times:,}" if times > 1 else None
        target = str(edge.target)
        if edge.target is None:
            target = f"stub{number}"
            source.node(target, label("…" if edge.cut else "None"), shape="plaintext")
        source.edge(str(edge.source), target, many)
    return source.source


def label(text: str) -> str:
    """Quote any text for DOT: no markup, no escapes, no HTML label, never an empty first line."""
    import graphviz

    return graphviz.nohtml(graphviz.escape(escape(text or "unnamed")))
