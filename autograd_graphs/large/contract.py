"""Draw parts of a graph together: each becomes one node of a new graph. Plain data in and out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from autograd_graphs.data import Edge, Folded, Frame, Graph, Node, SavedTensor, counted, stem
from autograd_graphs.large.execution_order import Program
from autograd_graphs.large.folded_leaves import Leaves
from autograd_graphs.large.opened_calls import frame
from autograd_graphs.large.owners import common
from autograd_graphs.large.parts import Part, called

MOST_TITLES = 3  # operations that a part without a module is called by


class Contraction:
    """Draw each part of a graph as one node: know which part every node belongs to, and number what
    is left anew, breadth first from the roots.

    A part takes in the leaves that only one copy of it uses; many leaves that the same parts use
    become one node, but for those called as in `apart`. Parts are stretches of the order in which
    operations ran: there is no cycle. Calls that are `opened` become frames.
    """

    def __init__(
        self,
        graph: Graph,
        program: Program,
        parts: Sequence[Part],
        apart: Collection[str] = (),
        opened: Sequence[Part] = (),
    ) -> None:
        self.old, self.program, self.parts, self.opened = graph, program, parts, opened
        self.below = program.below
        self.leaves = Leaves(graph, program, parts, apart)
        self.member, self.own = self.leaves.member, self.leaves.own
        self.box = self.leaves.box
        names = [part.name for part in parts]
        self.prefix = prefix([*names, *map(self.leaves.name, self.leaves.groups)])
        self.made = self._results()
        self.met: list[tuple[str, int]] = []
        self.number: dict[tuple[str, int], int] = {}
        self.stands: list[tuple[Edge, ...]] = []

    def _results(self) -> dict[int, list[tuple[int, int]]]:
        """Return per part what the rest takes from it, as (place in a copy, output)."""
        taken = [(root.node, root.output_nr) for root in self.old.roots]
        for edge in self.old.edges:
            if self.member.get(edge.target) != self.member.get(edge.source):
                taken.append((edge.target, edge.input_nr))
        slots: dict[int, set[tuple[int, int]]] = {}
        for node, nr in taken:
            if node in self.member:
                slots.setdefault(self.member[node], set()).add(self._slot(node, nr))
        return {part: sorted(of_part) for part, of_part in slots.items()}

    def _slot(self, node: int, nr: int) -> tuple[int, int]:
        part = self.parts[self.member[node]]
        return (self.program.place[node] - part.start) % part.period, nr

    def graph(self) -> Graph:
        """Walk breadth first and write the new nodes, edges and roots down."""
        roots = []
        for root in self.old.roots:
            output = self._output(root.node, root.output_nr)
            roots.append(replace(root, node=self._meet(root.node), output_nr=output))
        edges: list[Edge] = []
        for source, box in enumerate(self.met):  # the list grows as we go
            for position, together in enumerate(self._edges(box)):
                target, output = self._end(together[0])
                ends = {"source": source, "target": target, "input_nr": output}
                edges.append(replace(together[0], position=position, **ends))
                self.stands.append(tuple(together))
        write = {"node": self.old.nodes.__getitem__, "part": self._part, "leaves": self._group}
        nodes: list[Node] = []
        for kind, nr in self.met:
            nodes.append(write[kind](nr))
        graph = replace(self.old, nodes=tuple(nodes), edges=tuple(edges), roots=tuple(roots))
        frames = tuple([self._frame(part, nodes, edges) for part in self.opened])
        return replace(graph, ran=(), calls=(), frames=frames)

    def _frame(self, part: Part, nodes: Sequence[Node], edges: Sequence[Edge]) -> Frame:
        nodes_in = self.program.nodes[part.start : part.stop]
        members = {self.number[self.box(node)] for node in nodes_in}
        return frame(part.name, members, nodes, edges)

    def _meet(self, node: int | None) -> int | None:
        if node is None:
            return None
        if (box := self.box(node)) not in self.number:
            self.number[box] = len(self.met)
            self.met.append(box)
        return self.number[box]

    def _output(self, node: int | None, nr: int) -> int:
        """Return which output of its new node output `nr` of a node is."""
        if node not in self.member:
            return nr
        return self.made[self.member[node]].index(self._slot(node, nr))

    def _end(self, edge: Edge) -> tuple[int | None, int]:
        """Return to which new node an edge leads, and to which output of it."""
        return self._meet(edge.target), self._output(edge.target, edge.input_nr)

    def _edges(self, box: tuple[str, int]) -> Iterable[list[Edge]]:
        """Return the edges of a new node: what a part takes, it takes once."""
        together: dict[object, list[Edge]] = {}
        for edge in self._old_edges(*box):
            key: object = self._end(edge)
            if edge.cut or (box[0] != "part" and self.box(edge.target)[0] == "node"):
                key = edge  # it stays as it is
            together.setdefault(key, []).append(edge)
        return together.values()

    def _old_edges(self, kind: str, nr: int) -> Iterator[Edge]:
        """Yield the edges of a node; of a part those that lead out of it, from what ran last."""
        if kind == "node":
            yield from self.below.get(nr, ())
        if kind != "part":
            return
        for at in reversed(range(self.parts[nr].start, self.parts[nr].stop)):
            for edge in self.below.get(self.program.nodes[at], ()):
                ends = (self.member.get(edge.target), self.own.get(edge.target))
                if edge.cut or (edge.target is not None and nr not in ends):
                    yield edge

    def _part(self, nr: int) -> Node:
        """Return the box of a part: its title, what leads out of it, its leaves and what it saved."""
        part = self.parts[nr]
        nodes = [self.old.nodes[node] for node in self.program.nodes[part.start : part.stop]]
        own = [self.old.nodes[leaf] for leaf, box in self.own.items() if box == nr]
        last = nodes[-part.period :]
        outputs = []
        for place, output in self.made.get(nr, ()):
            outputs.append(last[place].outputs[output])
        leaves = len(own) // len(part.copies)
        kind, is_guess = part.pieces[0].kind, self._is_guess(part)
        box = Folded(part.copies, part.period, leaves, with_grad(own), kind, is_guess)
        made = {"operation": self._title(part, last), "outputs": tuple(outputs)}
        return replace(last[0], **made, saved=summary(nodes), folded=box)

    def _is_guess(self, part: Part) -> bool:
        return not self.old.calls and bool(called(part.pieces[0]))

    def _title(self, part: Part, nodes: Sequence[Node]) -> str:
        """Name a part: "layers.0 … 11", "reads conv1.*", "norm: NativeBatchNorm"."""
        name = part.name.removeprefix(self.prefix)
        if self._is_guess(part):
            name = f"reads {name}"
            if part.is_call:
                name += ".*"
        if len(nodes) > 1 and called(part.pieces[0]):
            return name
        return f"{name}: {operations(nodes)}"

    def _group(self, nr: int) -> Node:
        """Return the box of many leaves."""
        leaves = [self.old.nodes[leaf] for leaf in self.leaves.groups[nr]]
        name = self.leaves.name(self.leaves.groups[nr])
        folded = Folded((name,), 0, len(leaves), with_grad(leaves))
        name = name.removeprefix(self.prefix)
        return replace(leaves[0], operation=name, outputs=(), is_leaf=False, folded=folded)


def members(contraction: Contraction) -> tuple[tuple[int, ...], ...]:
    """Return for each new node the old ones that it stands for, a part's own leaves among them."""
    old: list[list[int]] = [[] for _ in contraction.met]
    for nr in range(len(contraction.old.nodes)):
        old[contraction.number[contraction.box(nr)]].append(nr)
    return tuple(map(tuple, old))


def singly(count: int) -> tuple[tuple[int, ...], ...]:
    """Return the same for a graph of so many nodes that is drawn as it is."""
    return tuple((nr,) for nr in range(count))


def prefix(names: Sequence[str]) -> str:
    """Return the path that titles lose because all share it, as long as they stay distinct words."""
    shared = common(tuple(name.split(".")[:-1]) for name in names if "." in name)
    while shared:
        start = ".".join((*shared, ""))
        short = {name.removeprefix(start) for name in names}
        is_word = all(name[0] not in "*0123456789" for name in short)
        if is_word and len(short) == len(set(names)):
            return start
        shared = shared[:-1]
    return ""


def operations(nodes: Sequence[Node]) -> str:
    """Name the operations of a part, of many the first ones: "Mul, Sin, Add, …"."""
    names = list(dict.fromkeys(stem(node.operation) for node in nodes))
    if len(names) > MOST_TITLES:
        names[MOST_TITLES:] = ["…"]
    return ", ".join(names)


def with_grad(leaves: Sequence[Node]) -> int:
    return sum(leaf.outputs[0].grad is not None for leaf in leaves)


def summary(nodes: Sequence[Node]) -> tuple[SavedTensor, ...]:
    """Count what nodes saved, one line for each state."""
    by_state: dict[str, list[SavedTensor]] = {}
    for node in nodes:
        for saved in node.saved:
            by_state.setdefault(saved.state, []).append(saved)
    lines = []
    for state, alike in sorted(by_state.items()):
        storages = []
        for saved in alike:
            storages += saved.storages
        words = counted(len(alike), "saved tensor")
        lines.append(SavedTensor(words, state, storages=tuple(dict.fromkeys(storages))))
    return tuple(lines)
