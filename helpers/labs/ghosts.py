"""Lay what is there over what would be there if everything were recorded: plain data in, plain data out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from helpers.graph import Edge, Graph, Node


@dataclass(frozen=True, slots=True)
class Overlay:
    """Hold a graph to draw, and the numbers of those of its nodes and edges that do not exist."""

    graph: Graph
    nodes: frozenset[int] = frozenset()
    edges: frozenset[int] = frozenset()


def overlay(graph: Graph, ghost: Graph | None) -> Overlay:
    """Return a graph with its ghost behind it; nodes are the same where their tensors have the same names."""
    if ghost is None:
        return Overlay(graph)
    real = {node.name: node for node in graph.nodes}
    nodes = tuple(real.get(node.name) or vanished(node) for node in ghost.nodes)
    missing = frozenset(nr for nr, node in enumerate(ghost.nodes) if node.name not in real)
    ways = {way(graph, edge) for edge in graph.edges}
    gone = frozenset(nr for nr, edge in enumerate(ghost.edges) if way(ghost, edge) not in ways)
    return Overlay(Graph(nodes, ghost.edges, ghost.roots), missing, gone)


def way(graph: Graph, edge: Edge) -> tuple[str, int, str | None]:
    """Name an edge by what it joins, so that it can be found in another graph."""
    return (
        graph.nodes[edge.source].name,
        edge.position,
        None if edge.target is None else graph.nodes[edge.target].name,
    )


def vanished(node: Node) -> Node:
    """Return a node as it is drawn where it does not exist: with nothing saved, a leaf that wants no gradient."""
    outputs = tuple(replace(one, requires_grad=False) for one in node.outputs)
    return replace(node, outputs=outputs, saved=())
