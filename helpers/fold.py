"""Fold a large graph into one that fits a screen: each part of its outline becomes one node. Plain data in and out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from helpers.contract import contract
from helpers.outline import Outline, Part
from helpers.program import Program

if TYPE_CHECKING:
    from helpers.graph import Graph

LARGE = 60  # nodes: a smaller graph is drawn as it is
SCREEN = (25, 8)  # nodes and ranks of a folded graph: modules are opened, level by level, as long as it has no more
OPEN = (40, 40)  # the same where the reader asked for a part to be opened
MOST_NAMED = 8  # parts that an error names

Parts = Sequence[Part]


def fold(graph: Graph, unfold: str | Sequence[str] | bool = ()) -> Graph:
    """Return a graph in which what repeats, and what belongs to a module, is one node each; a small one as it is.

    `unfold` names the parts to open, such as "encoder.3"; True opens all. Raises ValueError for a part that is
    not there, TypeError for anything but names.
    """
    wanted = demand_names(unfold)
    if wanted is True or len(graph.nodes) <= LARGE or not graph.ran:
        return graph
    folding = Folding(graph)
    return folding.graph([folding.find(name) for name in wanted])


def demand_names(unfold: object) -> Sequence[str] | bool:
    """Return the names of the parts to open, or True for all. Raises TypeError, with what to pass, for others."""
    names = [unfold] if type(unfold) is str else [] if unfold is False else unfold
    if names is True or (type(names) in (tuple, list) and all(type(name) is str for name in names)):
        return names
    raise TypeError(
        f"unfold is {type.__dict__['__name__'].__get__(type(unfold))}. Pass the name of a part, such as 'encoder.3', "
        "several of them in a list, or True to draw every node."
    )


class Folding:
    """Know the outline of a graph, and draw its parts folded or opened."""

    def __init__(self, graph: Graph) -> None:
        self.whole, self.program = graph, Program(graph)
        self.outline = Outline(self.program)

    def graph(self, opened: Parts = ()) -> Graph:
        """Return the graph with its parts folded, but for those that are opened and all that hold them."""
        level, folded = self._deepest(lambda level: self._boxes(self.outline.parts(), level, 0, ()), SCREEN)
        if opened:
            _, folded = self._deepest(lambda deep: self._boxes(self.outline.parts(), level, deep, opened), OPEN)
        return folded

    def _deepest(self, boxes: Callable[[int], Iterator[Part]], most: tuple[int, int]) -> tuple[int, Graph]:
        """Return the deepest level at which the graph has at most so many nodes and ranks; level 0 in any case."""
        level, drawn = 0, list(boxes(0))
        folded = contract(self.whole, self.program, drawn)
        while (deeper := list(boxes(level + 1))) != drawn:
            opened = contract(self.whole, self.program, deeper)
            if len(opened.nodes) > most[0] or ranks(opened) > most[1]:
                break
            level, drawn, folded = level + 1, deeper, opened
        return level, folded

    def _boxes(self, parts: Parts, level: int, deep: int, opened: Parts) -> Iterator[Part]:
        """Yield the parts that are a box each: modules down to a level, what repeats; `deep` is for opened parts."""
        for part in parts:
            within = [one for one in opened if part.start <= one.start and one.stop <= part.stop]
            if within:
                yield from self._open(part, level, deep, within)
            elif len(part.copies) == 1 and (level or self._is_wrapper(part)):
                yield from self._boxes(self._inside(part), max(level - 1, 0), deep, ())
            else:
                yield part

    def _open(self, part: Part, level: int, deep: int, opened: Parts) -> Iterator[Part]:
        """Open a part that the reader asked for, or that holds one; of several copies only those that are meant."""
        if len(part.copies) == 1:
            further = [one for one in opened if (one.start, one.stop) != (part.start, part.stop)]
            yield from self._boxes(self._inside(part), 0 if further else deep, deep, further)
            return
        copies = [part.some(nr, nr + 1) for nr in range(len(part.copies))]
        if any((one.start, one.stop) == (part.start, part.stop) for one in opened):
            yield from copies
            return
        for is_meant, some in groupby(enumerate(copies), lambda one: _holds(one[1], opened)):
            numbers = [nr for nr, _ in some]
            together = [part.some(numbers[0], numbers[-1] + 1)] if not is_meant else [copies[nr] for nr in numbers]
            yield from self._boxes(together, 0, deep, opened)

    def _inside(self, part: Part) -> Parts:
        return self.outline.parts(part.start, part.stop, part.name)

    def _is_wrapper(self, part: Part) -> bool:
        """Say whether a module holds little more than a row of equal copies, which tell more than it does."""
        inside = self._inside(part)
        return len(inside) == 1 and inside[0].period * len(inside[0].copies) > 0.9 * part.period

    def find(self, name: str) -> Part:
        """Return the part with a name, which may leave out that of the model. Raises ValueError if there is none."""
        known = {part.name: part for part in reversed(list(self.every(self.outline.parts())))}
        found = [name] if name in known else [one for one in known if one.endswith(f".{name}")]
        if len(found) == 1:
            return known[found[0]]
        some = ", ".join((found or list(reversed(known)))[:MOST_NAMED])
        fault = f"{len(found)} parts end in" if found else "There is no part"
        raise ValueError(f"{fault} {name!r}. Pass one of the names that the folded picture shows: {some}.")

    def every(self, parts: Parts) -> Iterator[Part]:
        """Yield parts, their copies, and the parts inside of each, outer ones first."""
        yield from parts
        for part in parts:
            copies = [part.some(nr, nr + 1) for nr in range(len(part.copies))]
            if len(copies) > 1:
                yield from copies
            for one in copies:
                yield from self.every(self._inside(one))


def _holds(part: Part, opened: Parts) -> bool:
    return any(part.start <= one.start and one.stop <= part.stop for one in opened)


def ranks(graph: Graph) -> int:
    """Return how many nodes the longest way from a root to a leaf has."""
    rank, below = [1] * len(graph.nodes), graph.inputs_by_node()
    waits = Counter(edge.target for edge in graph.edges)
    ready = [node for node in range(len(graph.nodes)) if not waits[node]]
    for node in ready:  # the list grows as we go
        for edge in below.get(node, ()):
            if edge.target is not None:
                rank[edge.target] = max(rank[edge.target], rank[node] + 1)
                waits[edge.target] -= 1
                ready += [edge.target] * (not waits[edge.target])
    return max(rank, default=0)
