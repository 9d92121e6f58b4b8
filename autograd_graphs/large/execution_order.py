"""Read a graph as the program that made it: its operations in the order in which they ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from heapq import heappop, heappush

from autograd_graphs.data import Edge, Graph


class Program:
    """Number the operations of a graph from 0 in the order in which they ran: these numbers are
    called places.

    `nodes` are the operations by place, `place` is the way back, `below` the edges of every node,
    `readers` how many edges lead to one. `asked` are the places whose results are the roots.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.below = graph.inputs_by_node()
        self.nodes = in_order(graph.ran, self.below)
        self.place = {node: at for at, node in enumerate(self.nodes)}
        self.readers = Counter(edge.target for edge in graph.edges)
        self.asked = {self.place[root.node] for root in graph.roots if root.node in self.place}

    def __len__(self) -> int:
        return len(self.nodes)

    def operation(self, at: int) -> str:
        return self.graph.nodes[self.nodes[at]].operation

    def has_own_leaf(self, at: int) -> bool:
        """Say whether an operation reads a leaf that nothing else reads."""
        for edge in self.below.get(self.nodes[at], ()):
            is_own = edge.target is not None and self.readers[edge.target] == 1
            if is_own and self.graph.nodes[edge.target].is_leaf:
                return True
        return False

    def does(self, at: int) -> tuple:
        """Return what equal operations share: their name, how much they make, whether a root."""
        node = self.graph.nodes[self.nodes[at]]
        return node.operation, len(node.outputs), at in self.asked and len(self.asked) > 1


def in_order(ran: tuple[int, ...], below: Mapping[int, Sequence[Edge]]) -> list[int]:
    """Return the operations in the order in which they ran, none before one that it reads.

    An edit in place, or several threads, may have rewritten a graph so that they seem to.
    """
    rank = {node: at for at, node in enumerate(ran)}
    sorter: TopologicalSorter = TopologicalSorter()
    for node in ran:
        inputs = {edge.target for edge in below.get(node, ())}
        sorter.add(node, *(inputs & rank.keys()))
    sorter.prepare()
    ready: list[int] = []
    ordered = []
    while sorter.is_active():
        for node in sorter.get_ready():
            heappush(ready, rank[node])
        ordered.append(node := ran[heappop(ready)])
        sorter.done(node)
    return ordered
