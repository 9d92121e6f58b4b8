"""Fold a large graph into one that fits a screen: each part of its outline becomes one node."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from graphlib import TopologicalSorter
from typing import NamedTuple, TypeVar

from autograd_graphs.data import Graph
from autograd_graphs.large.contract import Contraction, Leaves, members, singly
from autograd_graphs.large.execution_order import Program
from autograd_graphs.large.frames import opened_calls
from autograd_graphs.large.lookup import LONGEST, NOWHERE, Lookup
from autograd_graphs.large.outline import Outline
from autograd_graphs.large.parts import NoPart, Part
from autograd_graphs.text import visible

LARGE = 60  # nodes: a smaller graph is drawn as it is
LARGE_WITH_CALLS = 25  # nodes: the same where module calls were taken down
FAULTS = "FOLDING_FAULTS"  # environment variable: with "raise", as in tests, faults are seen
Drawn = TypeVar("Drawn")
Members = tuple[tuple[int, ...], ...]


def fold(graph: Graph, unfold: str | Sequence[str] | bool = ()) -> Graph:
    """Return a graph in which what repeats, and what belongs to a module, is one node each; a small
    one as it is.

    `unfold` names the parts to open, such as "encoder.3"; True opens all. Raises ValueError for a
    part that is not there, TypeError for anything but names. A graph that cannot be folded comes
    back whole, and says so.
    """
    return fold_and_tell(graph, unfold)[0]


def fold_and_tell(graph: Graph, unfold: str | Sequence[str] | bool = ()) -> tuple[Graph, Members]:
    """Fold a graph, and tell of each node of the folded one which nodes it stands for."""
    wanted = demand_names(unfold)
    if wanted is True or not (wanted or is_large(graph)):
        return _whole(graph)
    try:
        return or_plainly(graph, lambda whole: _folded(whole, wanted), _whole)
    except NoPart as fault:
        raise ValueError(str(fault)) from None


def _whole(graph: Graph) -> tuple[Graph, Members]:
    return graph, singly(len(graph.nodes))


def or_plainly(
    graph: Graph, folded: Callable[[Graph], Drawn], plain: Callable[[Graph], Drawn]
) -> Drawn:
    """Return what folding makes of a graph; where it fails, but not under test, the plain graph."""
    try:
        return folded(graph)
    except NoPart:
        raise
    except Exception:
        if os.environ.get(FAULTS) == "raise":
            raise
        return plain(replace(graph, folding_failed=True))


def _folded(graph: Graph, wanted: Sequence[str]) -> tuple[Graph, Members]:
    folding = Folding(graph)
    lookup = Lookup(folding.outline)
    if not is_large(graph):
        for name in wanted:
            lookup.check(name)
        return _whole(graph)
    opened = list(dict.fromkeys(map(lookup.find, wanted)))
    for part in opened:
        if part.start == NOWHERE and not folding.draws_leaves(part.name, opened):
            raise NoPart(lookup.fault(part.name))
    contraction = folding.contraction(opened)
    return contraction.graph(), members(contraction)


def demand_names(unfold: object) -> Sequence[str] | bool:
    """Return the names of the parts to open, or True for all. Raises TypeError for others."""
    if unfold is True:
        return True
    if unfold is False:
        return []
    if type(unfold) is str:
        return [unfold]
    is_list = type(unfold) is tuple or type(unfold) is list
    if is_list and all(type(name) is str for name in unfold):
        return unfold
    kind = visible(type.__dict__["__name__"].__get__(type(unfold)), LONGEST)
    raise TypeError(
        f"unfold is {kind}. Pass the name of a part, such as 'encoder.3', several of them in a "
        "list, or True to draw every node."
    )


def is_large(graph: Graph) -> bool:
    """Say whether a graph is large enough to be folded, and the order in which it ran known."""
    most = LARGE_WITH_CALLS if graph.calls else LARGE
    return len(graph.nodes) > most and bool(graph.ran)


# px: what a box is high, the way to the next one, the borders of a frame
HEIGHTS, GAP, FRAME = {"node": 36, "part": 66, "leaves": 66}, 26, 33


class Budget(NamedTuple):
    """Hold what a picture takes, or may take: so many nodes, so many px downwards."""

    nodes: int
    height: int


def cost(graph: Graph, leaves: Leaves) -> Budget:
    """Return what a graph takes with its parts folded; the longest way down is its height."""
    boxes = list(map(leaves.box, range(len(graph.nodes))))
    readers: dict[tuple[str, int], set[tuple[str, int]]] = {box: set() for box in boxes}
    for edge in graph.edges:
        if edge.target is not None and boxes[edge.source] != boxes[edge.target]:
            readers[boxes[edge.target]].add(boxes[edge.source])
    bottom: dict[tuple[str, int], int] = {}
    for box in TopologicalSorter(readers).static_order():
        top = max(map(bottom.get, readers[box]), default=-GAP) + GAP
        bottom[box] = top + HEIGHTS[box[0]]
    return Budget(len(readers), max(bottom.values(), default=0))


MUCH = 0.1  # part of the operations that are there to see: a box that hides less stays folded
FEW = 8  # cards: where there are fewer, smaller boxes are opened too
BARE = 3  # nodes: so few tell next to nothing
SHORT = 4  # copies: a row of no more is opened where there is little to see
TINY = 4  # operations: a box that hides no more stays folded
SCREEN = Budget(25, 760)  # large parts are opened as long as what is drawn takes no more
HIDDEN = Budget(25, 1_000)  # the same for what hides a third of the graph, with little beside it
TALL = Budget(30, 2_000)  # the same where else there would be next to nothing to see
OPEN = Budget(30, 1_240)  # the same where the reader asked for a part to be opened

Parts = Sequence[Part]


class Folding:
    """Know the outline of a graph, and draw its parts folded or opened."""

    def __init__(self, graph: Graph) -> None:
        self.whole, self.program = graph, Program(graph)
        self.outline = Outline(self.program)

    def contraction(self, opened: Parts = ()) -> Contraction:
        """Return what folds all parts, but for opened ones and those that hold them, to a node."""
        apart = {part.name for part in opened if part.start == NOWHERE}
        boxes = self.boxes(opened)
        calls = opened_calls(self.outline, boxes)
        return Contraction(self.whole, self.program, boxes, apart, calls)

    def draws_leaves(self, name: str, opened: Parts) -> bool:
        """Say whether leaves of a name are one box, where they are not drawn apart."""
        leaves = Contraction(self.whole, self.program, self.boxes(opened)).leaves
        return any(leaves.is_called(group, name) for group in leaves.groups)

    def boxes(self, opened: Parts = ()) -> Parts:
        """Return the parts that are one box each."""
        open_anyway, drawn = self.screen
        if opened:
            drawn = self._further(open_anyway, opened, OPEN)[1]
        return drawn

    @cached_property
    def screen(self) -> tuple[frozenset[Part], Parts]:
        """Hold the modules that are open, and the boxes, where nobody asked for any."""
        is_open, drawn = self._further(frozenset(), (), SCREEN)
        if not self.outline.is_guess and self._cost(drawn).nodes <= BARE:
            return self._further(frozenset(), (), TALL)
        return is_open, drawn

    def _further(
        self, is_open: frozenset[Part], opened: Parts, most: Budget
    ) -> tuple[frozenset[Part], Parts]:
        """Open the largest modules in turn, as long as the graph takes at most so much room."""
        tried: set[Part] = set()
        drawn = list(self._boxes(self.outline.outer, is_open, opened))
        whole = sum(part.period for part in opened) if opened else len(self.program)
        while likely := [box for box in drawn if box not in tried and self._may_open(box, opened)]:
            tried.add(largest := max(likely, key=lambda box: box.period))
            if not self._is_large(largest, whole, len(drawn)):
                continue
            deeper = list(self._boxes(self.outline.outer, is_open | {largest}, opened))
            is_dominant = len(largest.copies) == 1 and largest.period > len(self.program) / 3
            limit = most
            if most == SCREEN and is_dominant and len(drawn) < FEW:
                limit = HIDDEN
            taken = self._cost(deeper)
            if taken.nodes <= limit.nodes and taken.height <= limit.height:
                is_open, drawn = is_open | {largest}, deeper
        return is_open, drawn

    def _may_open(self, part: Part, opened: Parts) -> bool:
        """Say whether a box is no long row, and lies in what the reader opened."""
        is_inside = not opened or any(outer.holds(part) for outer in opened)
        return len(part.copies) <= SHORT and is_inside

    def _is_large(self, part: Part, whole: int, cards: int) -> bool:
        """Say whether a box hides much of what there is to see, or of a little anything."""
        if part.period <= TINY:
            return False
        return cards < FEW or (len(part.copies) == 1 and part.period > whole * MUCH)

    def _cost(self, drawn: Parts) -> Budget:
        """Return what the graph takes with these parts folded, frames of opened calls included."""
        taken = cost(self.whole, Leaves(self.whole, self.program, drawn))
        frames = len(opened_calls(self.outline, drawn))
        return Budget(taken.nodes, taken.height + FRAME * frames)

    def _boxes(self, parts: Parts, is_open: frozenset[Part], opened: Parts) -> Iterator[Part]:
        """Yield the parts that are a box each: none that is open, or holds what is opened."""
        for part in parts:
            if within := [inner for inner in opened if part.holds(inner)]:
                yield from self._open(part, is_open, within)
            elif part in is_open or self._is_wrapper(part) or self._hides_a_root(part):
                yield from self._boxes(self.outline.inside(part), is_open, ())
            else:
                yield part

    def _open(self, part: Part, is_open: frozenset[Part], opened: Parts) -> Iterator[Part]:
        """Open a part that the reader asked for, or that holds one; of copies only those meant."""
        further = [inner for inner in opened if inner != part]
        copies = part.each()
        if len(copies) == 1:
            yield from self._boxes(self.outline.inside(part), is_open, further)
        elif len(further) < len(opened):
            yield from self._boxes(copies, is_open, further)
        else:
            for first, last in stretches([_holds(copy, opened) for copy in copies]):
                if _holds(copies[first], opened):
                    yield from self._boxes(copies[first:last], is_open, opened)
                else:
                    yield from self._boxes([part.some(first, last)], is_open, opened)

    def _is_wrapper(self, part: Part) -> bool:
        """Say whether all that a part does is in one part inside of it, which tells more."""
        inside = self.outline.inside(part) if len(part.copies) == 1 else ()
        return len(inside) == 1 and (inside[0].start, inside[0].stop) == (part.start, part.stop)

    def _hides_a_root(self, part: Part) -> bool:
        """Say whether a root lies inside of a copy: it would seem to need what follows it."""
        for at in self.program.asked:
            if part.start <= at < part.stop and (at - part.start + 1) % part.period:
                return True
        return False


def stretches(values: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield where each stretch of equal values starts, and the place after its last."""
    start = 0
    for at in range(1, len(values) + 1):
        if at == len(values) or values[at] != values[start]:
            yield start, at
            start = at


def _holds(part: Part, opened: Parts) -> bool:
    return any(map(part.holds, opened))
