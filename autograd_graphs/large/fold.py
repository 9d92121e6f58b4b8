"""Fold a large graph into one that fits a screen: each part of its outline becomes one node."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeVar

from autograd_graphs.data import Graph
from autograd_graphs.large.contract import Contraction, members, singly
from autograd_graphs.large.execution_order import Program
from autograd_graphs.large.folded_leaves import Leaves
from autograd_graphs.large.lookup import LONGEST, NOWHERE, Lookup
from autograd_graphs.large.opened_calls import opened_calls
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
    if isinstance(unfold, str):
        return [unfold]
    if isinstance(unfold, list | tuple) and all(isinstance(name, str) for name in unfold):
        return unfold
    kind = visible(type(unfold).__name__, LONGEST)
    raise TypeError(
        f"unfold is {kind}. Pass the name of a part, such as 'encoder.3', several of them in a "
        "list, or True to draw every node."
    )


def is_large(graph: Graph) -> bool:
    """Say whether a graph is large enough to be folded, and the order in which it ran known."""
    most = LARGE_WITH_CALLS if graph.calls else LARGE
    return len(graph.nodes) > most and bool(graph.ran)


# Boxes are opened until none hides too much, and never so many that a picture is crowded.
HALF, TENTH = 2, 10  # a box is opened that hides more than this part of what there is to see
FEW = 8  # cards: in a picture of fewer a tenth is too much, else half
MOST = 20  # cards that a picture may have when a box was opened
SHORT = 4  # copies: a longer row stays one box
TINY = 4  # operations: what hides no more stays one box

Parts = Sequence[Part]


class Screen(NamedTuple):
    """Hold what a picture shows: the parts that are open in it, its boxes, how many cards it has."""

    is_open: frozenset[Part]
    boxes: Parts
    cards: int


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
        if not opened:
            return self.unasked.boxes
        return self._further(self.unasked.is_open, opened).boxes

    @cached_property
    def unasked(self) -> Screen:
        """Hold what is shown where nobody asked for a part."""
        return self._further(frozenset(), ())

    def _further(self, is_open: frozenset[Part], opened: Parts) -> Screen:
        """Open the box that hides most, and all equal to it, in turn, where the cards stay few."""
        screen, tried = self._screen(is_open, opened), set[Part]()
        while alike := self._hides_much(screen, tried, opened):
            tried.update(alike)
            deeper = self._screen(screen.is_open.union(alike), opened)
            if deeper.cards <= MOST:
                screen = deeper
        return screen

    def _screen(self, is_open: frozenset[Part], opened: Parts) -> Screen:
        """Draw with these parts open, and what the reader opened; leaves are cards, too."""
        boxes = list(self._boxes(self.outline.outer, is_open, opened))
        leaves = Leaves(self.whole, self.program, boxes)
        cards = set(map(leaves.box, range(len(self.whole.nodes))))
        return Screen(is_open, boxes, len(cards))

    def _hides_much(self, screen: Screen, tried: Collection[Part], opened: Parts) -> list[Part]:
        """Return the box that hides most, and all equal to it; none where it hides little enough."""
        likely = []
        for box in screen.boxes:
            if box not in tried and self._may_open(box, opened):
                likely.append(box)
        if not likely:
            return []
        largest = max(likely, key=lambda box: box.period)
        to_see = sum(part.period for part in opened) or len(self.program)
        share = TENTH if screen.cards < FEW else HALF
        if largest.period * share <= to_see:
            return []
        form = self.outline.form(largest)
        return [box for box in likely if self.outline.form(box) == form]

    def _may_open(self, part: Part, opened: Parts) -> bool:
        """Say whether a box hides something, is no long row, and lies in what the reader opened."""
        if part.period <= TINY or len(part.copies) > SHORT:
            return False
        return not opened or any(outer.holds(part) for outer in opened)

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
        is_meant = part in is_open or len(further) < len(opened)
        if is_meant or len(part.copies) == 1:
            yield from self._boxes(self.outline.inside(part), is_open, further)
            return
        copies = part.each()
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
