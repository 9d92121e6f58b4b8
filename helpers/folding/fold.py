"""Choose which parts of a large graph are one box each, so that it fits a screen. Plain data in and out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from helpers.contract import Contraction, contract
from helpers.lookup import NOWHERE
from helpers.outline import Outline
from helpers.parts import Part
from helpers.program import Program
from helpers.room import height

if TYPE_CHECKING:
    from helpers.graph import Graph

MUCH = 0.1  # part of the operations that are there to see: a box that hides less stays folded
MOST_BESIDE = 2  # boxes that a module may have which is never drawn folded, as a row of copies tells more than it
SCREEN = (25, 700)  # nodes, and px downwards: large modules are opened as long as there are no more
HIDDEN = (25, 1_100)  # the same for a module that hides most of the graph
OPEN = (30, 1_500)  # the same where the reader asked for a part to be opened

Parts = Sequence[Part]


class Folding:
    """Know the outline of a graph, and draw its parts folded or opened."""

    def __init__(self, graph: Graph) -> None:
        self.whole, self.program = graph, Program(graph)
        self.outline = Outline(self.program)

    def graph(self, opened: Parts = ()) -> Graph:
        """Return the graph with its parts folded, but for those that are opened and all that hold them."""
        return self.contraction(opened).graph()

    def contraction(self, opened: Parts = ()) -> Contraction:
        """Return what knows which nodes of the whole graph each node stands for."""
        apart = {one.name for one in opened if one.start == NOWHERE}
        return Contraction(self.whole, self.program, self.boxes(opened), apart)

    def boxes(self, opened: Parts = ()) -> Parts:
        """Return the parts that are one box each."""
        open_anyway, drawn = self.screen
        if opened:
            drawn = self._further(open_anyway, opened, OPEN)[1]
        return drawn

    @cached_property
    def screen(self) -> tuple[frozenset[Part], Parts]:
        """Hold the modules that are open, and the parts that are one box each, where nobody asked for any."""
        return self._further(frozenset(), (), SCREEN)

    def _further(self, is_open: frozenset[Part], opened: Parts, most: tuple[int, int]) -> tuple[frozenset[Part], Parts]:
        """Open the largest modules, one after the other, as long as the graph takes at most so much room.

        Where the reader opened parts, it is only modules inside of these.
        """
        tried: set[Part] = set()
        drawn = list(self._boxes(self.outline.parts(), is_open, opened))
        whole = sum(one.period for one in opened if one.start != NOWHERE) if opened else len(self.program)
        while likely := [one for one in drawn if one not in tried and self._is_large(one, whole, opened)]:
            tried.add(largest := max(likely, key=lambda one: one.period))
            deeper = list(self._boxes(self.outline.parts(), is_open | {largest}, opened))
            if self._fits(deeper, max(most, HIDDEN) if largest.period > len(self.program) / 2 else most):
                is_open, drawn = is_open | {largest}, deeper
        return is_open, drawn

    def _is_large(self, part: Part, whole: int, opened: Parts) -> bool:
        """Say whether a box hides much of what there is to see, and can be opened."""
        is_asked = not opened or any(one.holds(part) for one in opened)
        return is_asked and len(part.copies) == 1 and part.period > whole * MUCH

    def _fits(self, drawn: Parts, most: tuple[int, int]) -> bool:
        folded = contract(self.whole, self.program, drawn)
        return len(folded.nodes) <= most[0] and height(folded) <= most[1]

    def _boxes(self, parts: Parts, is_open: frozenset[Part], opened: Parts) -> Iterator[Part]:
        """Yield the parts that are a box each: `opened` and what holds them are not, nor modules that are open."""
        for part in parts:
            within = [one for one in opened if part.holds(one)]
            if within:
                yield from self._open(part, is_open, within)
            elif len(part.copies) == 1 and (part in is_open or self._is_wrapper(part)):
                yield from self._boxes(self._inside(part), is_open, ())
            else:
                yield part

    def _open(self, part: Part, is_open: frozenset[Part], opened: Parts) -> Iterator[Part]:
        """Open a part that the reader asked for, or that holds one; of several copies only those that are meant."""
        further = [one for one in opened if (one.start, one.stop) != (part.start, part.stop)]
        copies = part.each()
        if len(copies) == 1:
            yield from self._boxes(self._inside(part), is_open, further)
        elif len(further) < len(opened):
            yield from self._boxes(copies, is_open, further)
        else:
            for is_meant, some in groupby(enumerate(copies), lambda one: _holds(one[1], opened)):
                numbers = [nr for nr, _ in some]
                together = [part.some(numbers[0], numbers[-1] + 1)]
                yield from self._boxes(copies[numbers[0] : numbers[-1] + 1] if is_meant else together, is_open, opened)

    def _inside(self, part: Part) -> Parts:
        return self.outline.parts(part.start, part.stop, part.name)

    def _is_wrapper(self, part: Part) -> bool:
        """Say whether a module holds little more than a row of equal copies, which tell more than it does."""
        inside = self._inside(part)
        rows = [one for one in inside if len(one.copies) > 1]
        return len(inside) <= MOST_BESIDE and any(one.stop - one.start > 0.9 * part.period for one in rows)


def _holds(part: Part, opened: Parts) -> bool:
    return any(part.holds(one) for one in opened)
