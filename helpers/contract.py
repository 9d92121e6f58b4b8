"""Draw parts of a graph together: each becomes one node of a new graph. Plain data in and out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.folded import Folded, counted
from helpers.outline import Part
from helpers.program import Program

if TYPE_CHECKING:
    from helpers.graph import Edge, Graph, Node, Root
    from helpers.tensors import SavedTensor

MOST_TITLES = 2  # operations that a part without a module is called by


def contract(graph: Graph, program: Program, parts: Sequence[Part]) -> Graph:
    """Return the graph in which each part is one node, found breadth first from the roots like any other.

    A part takes in the leaves that only one copy of it uses. Parts are stretches of the order in which operations
    ran, so the new graph has no cycle.
    """
    return Contraction(graph, program, parts).graph()


class Contraction:
    """Know which part every node belongs to, and number what is left anew."""

    def __init__(self, graph: Graph, program: Program, parts: Sequence[Part]) -> None:
        self.old, self.program, self.parts = graph, program, parts
        self.below = graph.inputs_by_node()
        self.member = {program.nodes[at]: nr for nr, part in enumerate(parts) for at in range(part.start, part.stop)}
        self.leaves = self._own_leaves()
        self.made = self._results()
        self.met: list[tuple[str, int]] = []
        self.number: dict[tuple[str, int], int] = {}

    def _own_leaves(self) -> dict[int, int]:
        """Return the part of every leaf that only one copy uses, where the other copies have one of their own there."""
        users: dict[int, set[tuple[int, int, int, int] | None]] = {}
        for edge in self.old.edges:
            if edge.target is not None and self.old.nodes[edge.target].is_leaf:
                users.setdefault(edge.target, set()).add(self._use(edge))
        users |= {root.node: {None} for root in self.old.roots if root.node is not None}
        own = {
            leaf: min(uses) for leaf, uses in users.items() if None not in uses and len({use[:2] for use in uses}) == 1
        }
        slots = Counter((part, *slot) for part, _, *slot in own.values())
        return {
            leaf: part for leaf, (part, _, *slot) in own.items() if slots[(part, *slot)] == len(self.parts[part].copies)
        }

    def _use(self, edge: Edge) -> tuple[int, int, int, int] | None:
        """Return where a leaf is used: part, copy, place in the copy, position; None outside of all parts."""
        if (part := self.member.get(edge.source)) is None:
            return None
        copy, place = divmod(self.program.place[edge.source] - self.parts[part].start, self.parts[part].period)
        return part, copy, place, edge.position

    def _results(self) -> dict[int, list[tuple[int, int]]]:
        """Return per part what the rest takes from it, as (place in a copy, output)."""
        taken = {(edge.target, edge.input_nr) for edge in self.old.edges if self._enters(edge)}
        taken |= {(root.node, root.output_nr) for root in self.old.roots if root.node in self.member}
        found: dict[int, set[tuple[int, int]]] = {}
        for node, nr in taken:
            found.setdefault(self.member[node], set()).add(self._slot(node, nr))
        return {part: sorted(slots) for part, slots in found.items()}

    def _slot(self, node: int, nr: int) -> tuple[int, int]:
        part = self.parts[self.member[node]]
        return (self.program.place[node] - part.start) % part.period, nr

    def _enters(self, edge: Edge) -> bool:
        return edge.target in self.member and self.member[edge.target] != self.member.get(edge.source)

    def graph(self) -> Graph:
        """Walk breadth first and write the new nodes, edges and roots down."""
        roots = tuple(
            replace(root, node=self._meet(root.node), output_nr=self._output(root)) for root in self.old.roots
        )
        edges: list[Edge] = []
        for source, box in enumerate(self.met):  # the list grows as we go
            for position, edge in enumerate(self._edges(box)):
                new = {"source": source, "position": position, "target": self._meet(edge.target)}
                edges.append(replace(edge, **new, input_nr=self._output(edge)))
        nodes = tuple(self.old.nodes[nr] if kind == "node" else self._node(nr) for kind, nr in self.met)
        return replace(self.old, nodes=nodes, edges=tuple(edges), roots=roots, ran=())

    def _meet(self, node: int | None) -> int | None:
        if node is None:
            return None
        box = ("part", self.member[node]) if node in self.member else ("node", node)
        if box not in self.number:
            self.number[box] = len(self.met)
            self.met.append(box)
        return self.number[box]

    def _output(self, end: Edge | Root) -> int:
        """Return which output of its new node an edge or a root is about."""
        node, nr = (end.node, end.output_nr) if hasattr(end, "node") else (end.target, end.input_nr)
        return self.made[self.member[node]].index(self._slot(node, nr)) if node in self.member else nr

    def _edges(self, box: tuple[str, int]) -> Iterator[Edge]:
        """Yield the edges of a new node: each result of a part is read once, each thing outside by a part once."""
        seen = set()
        for edge in self._old_edges(*box):
            end = (self._meet(edge.target), self._output(edge))
            if edge.cut or not (edge.target in self.member or box[0] == "part") or end not in seen:
                seen.add(end)
                yield edge

    def _old_edges(self, kind: str, nr: int) -> Iterator[Edge]:
        """Yield the edges of a node; of a part those that lead out of it, from what ran last."""
        if kind == "node":
            yield from self.below.get(nr, ())
            return
        for at in reversed(range(self.parts[nr].start, self.parts[nr].stop)):
            for edge in self.below.get(self.program.nodes[at], ()):
                ends = (self.member.get(edge.target), self.leaves.get(edge.target))
                if edge.cut or (edge.target is not None and nr not in ends):
                    yield edge

    def _node(self, nr: int) -> Node:
        part = self.parts[nr]
        nodes = [self.old.nodes[node] for node in self.program.nodes[part.start : part.stop]]
        own = [self.old.nodes[leaf] for leaf, owner in self.leaves.items() if owner == nr]
        with_grad = sum(leaf.outputs[0].grad not in (None, "None") for leaf in own)
        folded = Folded(part.copies, part.period, len(own) // len(part.copies), with_grad)
        last = nodes[-part.period :]
        outputs = tuple(last[place].outputs[output] for place, output in self.made.get(nr, ()))
        return replace(last[0], operation=title(part, last), outputs=outputs, saved=summary(nodes), folded=folded)


def summary(nodes: Sequence[Node]) -> tuple[SavedTensor, ...]:
    """Count what nodes saved, one line for each state."""
    saved = [one for node in nodes for one in node.saved]
    count = Counter(one.state for one in saved)
    first = {one.state: one for one in reversed(saved)}
    return tuple(
        replace(first[state], name=counted(count[state], "saved tensor"), tensor=None, version=None, version_now=None)
        for state in sorted(count)
    )


def title(part: Part, nodes: Sequence[Node]) -> str:
    """Name a part, with its operations where these are few: "encoder.0 … 11", "block 2: SinBackward0"."""
    is_short = len(nodes) <= MOST_TITLES
    return f"{part.name}: {', '.join(node.operation for node in nodes)}" if is_short else part.name
