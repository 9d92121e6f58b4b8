"""Find the views of a graph: one folded, and for each part one in which that part is open."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from autograd_graphs.data import Graph
from autograd_graphs.large.contract import Contraction, members, singly
from autograd_graphs.large.fold import Folding, is_large, or_plainly
from autograd_graphs.large.lookup import NOWHERE
from autograd_graphs.large.parts import Part

MOST_NODES = 400  # in all views together
Opened = tuple[Part, ...]
Ran = tuple[Opened, tuple[int, ...]]  # a copy: what is open where it is, and its nodes


@dataclass(frozen=True, slots=True)
class Copy:
    """Hold one copy of a folded part: its operations, and the view in which it is open, or 0."""

    nodes: tuple[int, ...]
    view: int


@dataclass(frozen=True, slots=True)
class View:
    """Hold one way to draw a graph: another graph, and what its nodes and edges stand for.

    `nodes` and `edges` have, for each of those of `graph`, the numbers of those of the whole one
    that it stands for. `copies` are there for each folded node. `parent` is the view in which what
    is open here is folded.
    """

    graph: Graph
    nodes: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, ...], ...]
    parent: int = 0
    copies: tuple[tuple[int, tuple[Copy, ...]], ...] = ()


def views(graph: Graph, most: int) -> tuple[View, ...]:
    """Return at most so many views, outer parts first; a graph that is not folded has one."""
    return or_plainly(graph, lambda whole: _folded(whole, most), _plain)


def _folded(graph: Graph, most: int) -> tuple[View, ...]:
    if is_large(graph) and (folding := Folding(graph)).boxes():
        return tuple(Views(folding, most).views())
    return _plain(graph)


def _plain(graph: Graph) -> tuple[View, ...]:
    return (View(graph, singly(len(graph.nodes)), singly(len(graph.edges))),)


class Views:
    """Open one part after the other, breadth first; of copies first the one that ran last."""

    def __init__(self, folding: Folding, most: int) -> None:
        self.folding = folding
        self.number: dict[tuple, int] = {}
        self.drawn: list[tuple[Opened, int, Contraction, Graph]] = []
        waiting: deque[tuple[Opened, int]] = deque([((), 0)])
        nodes = 0
        while waiting and (not self.drawn or (len(self.drawn) < most and nodes < MOST_NODES)):
            opened, parent = waiting.popleft()
            if key(opened) not in self.number:
                number = len(self.drawn)
                waiting += zip(self._draw(opened, parent), repeat(number))
                nodes += len(self.drawn[-1][3].nodes)

    def _draw(self, opened: Opened, parent: int) -> list[Opened]:
        """Draw a view; return what can be opened from it, what has few copies first."""
        contraction = self.folding.contraction(opened)
        self.number[key(opened)] = len(self.drawn)
        self.drawn.append((opened, parent, contraction, contraction.graph()))
        rows = sorted(boxes(contraction, opened), key=lambda row: len(row[1]))
        openings: list[Opened] = []
        for _, copies in rows:
            openings += [opening for opening, _ in reversed(copies)]
        return openings

    def views(self) -> Iterator[View]:
        for opened, parent, contraction, graph in self.drawn:
            copies = []
            for node, rows in boxes(contraction, opened):
                row = [Copy(ran, self.number.get(key(opening), 0)) for opening, ran in rows]
                copies.append((node, tuple(row)))
            yield View(graph, members(contraction), sources(contraction), parent, tuple(copies))


def boxes(contraction: Contraction, opened: Opened) -> Iterator[tuple[int, Sequence[Ran]]]:
    """Yield each folded node with its copies."""
    ran, leaves = contraction.program.nodes, contraction.leaves
    for nr, part in enumerate(contraction.parts):
        copies = [((copy,), tuple(ran[copy.start : copy.stop])) for copy in part.each()]
        yield contraction.number["part", nr], copies
    for nr, group in enumerate(leaves.groups):
        name = leaves.name(group)
        apart = (*opened, Part(NOWHERE, NOWHERE, name, (name,)))
        yield contraction.number["leaves", nr], [(apart, tuple(group))]


def key(opened: Opened) -> tuple:
    return tuple(map(span_of, opened))


def span_of(part: Part) -> tuple:
    """Return where a part that is open ran; leaves ran nowhere, but have a name."""
    return (part.name,) if part.start == NOWHERE else (part.start, part.stop)


def sources(contraction: Contraction) -> tuple[tuple[int, ...], ...]:
    """Return for each new edge the old ones that it stands for."""
    number_of = {}
    for nr, edge in enumerate(contraction.old.edges):
        number_of[edge.source, edge.position] = nr
    numbers = []
    for edges in contraction.stands:
        numbers.append(tuple([number_of[edge.source, edge.position] for edge in edges]))
    return tuple(numbers)
