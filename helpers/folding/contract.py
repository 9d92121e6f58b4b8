"""Draw parts of a graph together: each becomes one node of a new graph. Plain data in and out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from helpers.folded import Folded, counted
from helpers.parts import Part
from helpers.program import Program
from helpers.shared import Leaves

if TYPE_CHECKING:
    from helpers.graph import Edge, Graph, Node, Root
    from helpers.tensors import SavedTensor

MOST_TITLES = 2  # operations that a part without a module is called by
SUFFIX = re.compile(r"(?<=.)Backward\d*$")


def contract(graph: Graph, program: Program, parts: Sequence[Part], apart: Collection[str] = ()) -> Graph:
    """Return the graph in which each part is one node, found breadth first from the roots like any other.

    A part takes in the leaves that only one copy of it uses; many leaves that the same parts use become one node, but
    for those called as in `apart`. Parts are stretches of the order in which operations ran: there is no cycle.
    """
    return Contraction(graph, program, parts, apart).graph()


class Contraction:
    """Know which part every node belongs to, and number what is left anew."""

    def __init__(self, graph: Graph, program: Program, parts: Sequence[Part], apart: Collection[str] = ()) -> None:
        self.old, self.program, self.parts = graph, program, parts
        self.below = graph.inputs_by_node()
        self.leaves = Leaves(graph, program, parts, apart)
        self.member, self.own = self.leaves.member, self.leaves.own
        self.made = self._results()
        self.met: list[tuple[str, int]] = []
        self.number: dict[tuple[str, int], int] = {}
        self.stands: list[tuple[Edge, ...]] = []

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
            for position, together in enumerate(self._edges(box)):
                new = {"source": source, "position": position, "target": self._meet(together[0].target)}
                edges.append(replace(together[0], **new, input_nr=self._output(together[0])))
                self.stands.append(tuple(together))
        write = {"node": self.old.nodes.__getitem__, "part": self._node, "leaves": self._group}
        nodes = tuple(write[kind](nr) for kind, nr in self.met)
        return replace(self.old, nodes=nodes, edges=tuple(edges), roots=roots, ran=())

    def box(self, node: int) -> tuple[str, int]:
        """Return what an old node is drawn as: a part, many leaves together, or itself."""
        if (part := self.member.get(node, self.own.get(node))) is not None:
            return "part", part
        return ("leaves", self.leaves.group[node]) if node in self.leaves.group else ("node", node)

    def _meet(self, node: int | None) -> int | None:
        if node is None:
            return None
        if (box := self.box(node)) not in self.number:
            self.number[box] = len(self.met)
            self.met.append(box)
        return self.number[box]

    def _output(self, end: Edge | Root) -> int:
        """Return which output of its new node an edge or a root is about."""
        node, nr = (end.node, end.output_nr) if hasattr(end, "node") else (end.target, end.input_nr)
        return self.made[self.member[node]].index(self._slot(node, nr)) if node in self.member else nr

    def _edges(self, box: tuple[str, int]) -> Iterable[list[Edge]]:
        """Return the edges of a new node: each result of a part is read once, each thing outside by a part once."""
        found: dict[object, list[Edge]] = {}
        for edge in self._old_edges(*box):
            end = (self._meet(edge.target), self._output(edge))
            is_many = edge.target in self.member or edge.target in self.leaves.group or box[0] == "part"
            is_one = edge.cut or not is_many
            found.setdefault(edge if is_one else end, []).append(edge)
        return found.values()

    def _old_edges(self, kind: str, nr: int) -> Iterator[Edge]:
        """Yield the edges of a node; of a part those that lead out of it, from what ran last."""
        if kind != "part":
            yield from self.below.get(nr, ()) if kind == "node" else ()
            return
        for at in reversed(range(self.parts[nr].start, self.parts[nr].stop)):
            for edge in self.below.get(self.program.nodes[at], ()):
                ends = (self.member.get(edge.target), self.own.get(edge.target))
                if edge.cut or (edge.target is not None and nr not in ends):
                    yield edge

    def _node(self, nr: int) -> Node:
        part = self.parts[nr]
        nodes = [self.old.nodes[node] for node in self.program.nodes[part.start : part.stop]]
        own = [self.old.nodes[leaf] for leaf, owner in self.own.items() if owner == nr]
        folded = Folded(part.copies, part.period, len(own) // len(part.copies), with_grad(own))
        last = nodes[-part.period :]
        outputs = tuple(last[place].outputs[output] for place, output in self.made.get(nr, ()))
        return replace(last[0], operation=title(part, last), outputs=outputs, saved=summary(nodes), folded=folded)

    def _group(self, nr: int) -> Node:
        leaves = [self.old.nodes[leaf] for leaf in self.leaves.groups[nr]]
        name = self.leaves.name(self.leaves.groups[nr])
        folded = Folded((name,), 0, len(leaves), with_grad(leaves))
        return replace(leaves[0], operation=name, outputs=(), is_leaf=False, folded=folded)


def with_grad(leaves: Sequence[Node]) -> int:
    """Count the leaves that have a gradient."""
    return sum(leaf.outputs[0].grad not in (None, "None") for leaf in leaves)


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
    """Name a part, with its operations where these are few: "encoder.0 … 11", "block 2: Mul, Sin"."""
    is_short = len(nodes) <= (MOST_TITLES if ".block " in f".{part.name}" else 1)
    return f"{part.name}: {', '.join(SUFFIX.sub('', node.operation) for node in nodes)}" if is_short else part.name
