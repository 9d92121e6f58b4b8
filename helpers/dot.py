"""Write a graph as DOT source, for those who want to draw it themselves. Labels are quoted, nothing is run."""

from __future__ import annotations

from html import escape

import graphviz

from helpers.graph import Graph
from helpers.tree import line


def dot(graph: Graph) -> str:
    """Return DOT source with our own numbers as ids: equal programs give equal source."""
    source = graphviz.Digraph("backward_graph", node_attr={"shape": "box"})
    for number, node in enumerate(graph.nodes):
        source.node(str(number), label(line(node)))
    for number, edge in enumerate(graph.edges):
        target = str(edge.target)
        if edge.target is None:
            target = f"stub{number}"
            source.node(target, label("…" if edge.cut else "None"), shape="plaintext")
        source.edge(str(edge.source), target)
    return source.source


def label(text: str) -> str:
    """Quote any text for DOT: no markup, no escapes, no HTML label, never an empty first line."""
    return graphviz.nohtml(graphviz.escape(escape(text or "unnamed")))
