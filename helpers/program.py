"""Read a graph as the program that made it: its operations in the order in which they ran. Plain data in and out."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helpers.graph import Edge, Graph

OUTSIDE = -1


class Program:
    """Number the operations of a graph from 0 in the order in which they ran: these numbers are called places.

    `inputs` are, per place and in order, what an operation reads: (place, number of its output), or OUTSIDE for a
    leaf and for what needs no gradient. `leaves` are the ids of the leaves that it reads. `asked` are the places
    whose results are the roots of the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        below = graph.inputs_by_node()
        self.nodes = in_order(graph.ran, {node: {edge.target for edge in below.get(node, ())} for node in graph.ran})
        self.place = {node: at for at, node in enumerate(self.nodes)}
        reads = [below.get(node, ()) for node in self.nodes]
        self.inputs = [[(self.place.get(edge.target, OUTSIDE), edge.input_nr) for edge in edges] for edges in reads]
        leaves = {nr for nr, node in enumerate(graph.nodes) if node.is_leaf}
        self.leaves = [[edge.target for edge in edges if edge.target in leaves] for edges in reads]
        self.keys = [self._key(node, edges) for node, edges in zip(self.nodes, reads, strict=True)]
        self.reads = [tuple(self._leaf(edge) for edge in edges) for edges in reads]
        self.operations = [graph.nodes[node].operation for node in self.nodes]
        self.asked = {self.place[root.node] for root in graph.roots if root.node in self.place}
        self.last_use = self._last_uses()

    def __len__(self) -> int:
        return len(self.nodes)

    def _key(self, node: int, edges: tuple[Edge, ...]) -> tuple:
        """Return what two operations must have in common to be alike: what they are and make, and what was cut."""
        return self._makes(node), tuple(edge.cut for edge in edges)

    def _makes(self, node: int) -> tuple:
        one = self.graph.nodes[node]
        return one.operation, tuple((out.shape, out.dtype, out.device) for out in one.outputs)

    def _leaf(self, edge: Edge) -> tuple | None:
        """Return what kind of leaf an operation reads; None for anything else."""
        is_leaf = edge.target is not None and self.graph.nodes[edge.target].is_leaf
        return self._makes(edge.target) if is_leaf else None

    def _last_uses(self) -> list[int]:
        last = list(range(len(self.nodes)))
        for at, reads in enumerate(self.inputs):
            for place, _ in reads:
                if place != OUTSIDE:
                    last[place] = at
        return last

    def votes(self) -> list[list[Hashable | None]]:
        """Return what tells at which distance the program may repeat: like operations, and leaves that are read again.

        A loop around a loop is seen by the second alone.
        """
        return [list(self.keys), [tuple(leaves) or None for leaves in self.leaves]]

    def alike(self, at: int, period: int) -> bool:
        """Say whether two operations do the same, and read the same from what are then copies of one stretch."""
        if self.keys[at] != self.keys[at + period]:
            return False
        pairs = zip(self.inputs[at], self.inputs[at + period], strict=True)
        kinds = zip(self.reads[at], self.reads[at + period], strict=True)
        return all(
            one == other if first == second == (OUTSIDE, 0) else self._reads_alike(first, second, at, period)
            for (first, second), (one, other) in zip(pairs, kinds, strict=True)
        )

    def _reads_alike(self, one: tuple[int, int], other: tuple[int, int], at: int, period: int) -> bool:
        """Say whether two inputs are alike: of the same neighbour each, of one that both read, or both from far off.

        The first of a row of copies reads from outside what the others read from the copy before them.
        """
        (first, nr), (second, other_nr) = one, other
        if one == other or (first + period, nr) == (second, other_nr):
            return True
        if first == OUTSIDE or (first < at - period and second >= at):
            return second >= at
        far = first < at - period and OUTSIDE < second < at
        return far and nr == other_nr and self.keys[first] == self.keys[second]

    def is_row(self, start: int, stop: int, period: int) -> bool:
        """Say whether what repeats from a start on is the same in each copy: results go the same ways inside of it."""
        inside = (self._inside(copy, copy + period) for copy in range(start, stop, period))
        first = next(inside)
        return all(one == first for one in inside)

    def _inside(self, start: int, stop: int) -> list[list[int | None]]:
        """Return for each place, and each of its inputs, how far from the start it is made; None for those outside."""
        rows = self.inputs[start:stop]
        return [[place - start if start <= place < stop else None for place, _ in row] for row in rows]

    def crossing(self) -> list[int]:
        """Return for each place how many results made before it are still to be read at it or later."""
        change = [0] * (len(self) + 1)
        for at, last in enumerate(self.last_use):
            change[min(at + 1, len(self))] += 1
            change[min(last + 1, len(self))] -= 1
        total, found = 0, []
        for one in change:
            found.append(total := total + one)
        return found


def in_order(ran: tuple[int, ...], reads: dict[int, set[int]]) -> list[int]:
    """Return the operations in the order in which they ran, none before one that it reads.

    The second holds by itself but for graphs that were rewritten: by an edit in place, or from several threads.
    """
    rank = {node: at for at, node in enumerate(ran)}
    waits = {node: len(inputs & rank.keys()) for node, inputs in reads.items()}
    readers: dict[int, list[int]] = {}
    for node, inputs in reads.items():
        for one in inputs:
            readers.setdefault(one, []).append(node)
    ready = [rank[node] for node in ran if not waits[node]]
    heapify(ready)
    found = []
    while ready:
        found.append(node := ran[heappop(ready)])
        for reader in readers.get(node, ()):
            waits[reader] -= 1
            if not waits[reader]:
                heappush(ready, rank[reader])
    return found
