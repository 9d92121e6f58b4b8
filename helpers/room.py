"""Estimate the room that the picture of a graph takes, before anything is laid out. Plain data in, numbers out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helpers.graph import Graph, Node

LINE, CARD, GAP = 16, 40, 32  # px: a line of a card, the rest of it, the way to the next one


def height(graph: Graph) -> int:
    """Return how many px the longest way from a root to a leaf takes, downwards."""
    own = [_height(node) for node in graph.nodes]
    bottom, below = list(own), graph.inputs_by_node()
    waits = Counter(edge.target for edge in graph.edges)
    ready = [node for node in range(len(graph.nodes)) if not waits[node]]
    for node in ready:  # the list grows as we go
        for edge in below.get(node, ()):
            if edge.target is not None:
                bottom[edge.target] = max(bottom[edge.target], bottom[node] + GAP + own[edge.target])
                waits[edge.target] -= 1
                ready += [edge.target] * (not waits[edge.target])
    return max(bottom, default=0)


def _height(node: Node) -> int:
    return CARD + LINE * (1 + bool(node.folded) + len(node.saved)) if not node.is_leaf else CARD + LINE // 2
