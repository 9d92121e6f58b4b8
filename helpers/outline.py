"""Divide a program into parts that can be drawn as one box each: what repeats, and what belongs to a module.

Plain data in and out. Places are those of `Program`: operations in the order in which they ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from helpers.modules import Modules, Owned
from helpers.program import Program
from helpers.repeats import Stretch, best, stretches

MOST_STARTS = 64  # places that are tried for the start of a copy


@dataclass(frozen=True, slots=True)
class Part:
    """Hold the places start … stop - 1: one stretch, or equal copies of one; `name` is that of all together."""

    start: int
    stop: int
    name: str
    copies: tuple[str, ...]

    @property
    def period(self) -> int:
        return (self.stop - self.start) // len(self.copies)

    def some(self, first: int, last: int) -> Part:
        """Return copies first … last - 1 as a part of their own, called by their names."""
        start, stop = (self.start + nr * self.period for nr in (first, last))
        copies = self.copies[first:last]
        name = self.name if copies == self.copies else span(copies)
        return replace(self, start=start, stop=stop, copies=copies, name=name)


class Outline:
    """Know the parts of a program, and the parts of each part."""

    def __init__(self, program: Program) -> None:
        self.program, self.modules = program, Modules(program)
        self.repeated = stretches(program.keys, program.alike)
        self.owned = self.modules.owned()
        self.crossing, self.begins = program.crossing(), {one.start for one in self.owned}

    def parts(self, low: int = 0, high: int | None = None, parent: str = "") -> list[Part]:
        """Return the outermost parts between two places, in the order in which they ran; `parent` is whose they are."""
        found = sorted(self._divide(low, len(self.program) if high is None else high), key=lambda one: one.start)
        return [
            self._named(one, parent, len(found) - nr) for nr, one in enumerate(found)
        ]  # what ran last is first seen

    def _divide(self, low: int, high: int) -> list[Stretch | Owned]:
        """Take what saves most boxes, and the longest modules that it is not at odds with; then look in the gaps."""
        repeat = best(self.repeated, low, high)
        repeat = repeat and self._aligned(repeat)
        found: list[Stretch | Owned] = []
        for one in self.owned:
            inside = low <= one.start and one.stop <= high and one.stop - one.start < high - low
            if inside and all(_apart(one, other) for other in found) and (not repeat or _agree(one, repeat)):
                found.append(one)
        if repeat and all(_apart(one, repeat) for one in found):
            found.append(repeat)
        gaps = _gaps(low, high, found) if found else []
        return found + [one for gap in gaps for one in self._divide(*gap)]

    def _aligned(self, one: Stretch) -> Stretch:
        """Start each copy where a module begins, and else where least is on its way from one copy to the next."""
        starts = range(one.start, min(one.start + one.period, one.stop - 2 * one.period + 1))
        likely = sorted(starts, key=lambda at: (self.crossing[at], at not in self.begins, -one.cut(at).count, at))
        cuts = [one.cut(at) for at in likely[:MOST_STARTS]]
        return next((cut for cut in cuts if self._own_names(cut)), cuts[0])

    def _own_names(self, one: Stretch) -> tuple[str, ...]:
        """Return the names of the modules that the copies are; nothing where they are not one module each."""
        paths = [self.modules.of(at, at + one.period) for at in range(one.start, one.stop, one.period)]
        differ = len(set(paths)) == len(paths) and len({len(path) for path in paths}) == 1
        return tuple(map(".".join, paths)) if differ else ()

    def _named(self, one: Stretch | Owned, parent: str, number: int) -> Part:
        """Call a part by its module; copies are modules of their own, calls of one module, or just a block."""
        if isinstance(one, Owned):
            name = ".".join(one.path)
            return Part(one.start, one.stop, name, (name,))
        if copies := self._own_names(one):
            return Part(one.start, one.stop, span(copies), copies)
        name = self._called(one) or f"{parent}.block {number}".removeprefix(".")
        return Part(one.start, one.stop, name, tuple(f"{name}[{nr}]" for nr in range(one.count)))

    def _called(self, one: Stretch) -> str:
        """Return the name of the module that is called again by every copy, with the same parameters."""
        first, second = (
            {leaf for leaves in self.program.leaves[at : at + one.period] for leaf in leaves}
            for at in (one.start + one.period, one.stop - one.period)
        )
        return ".".join(self.modules.of(one.start, one.stop)) if first and first == second else ""


def span(copies: tuple[str, ...]) -> str:
    """Call several copies by the first and the last: "encoder.0 … 11", "cell[0] … [48]"."""
    if len(copies) == 1:
        return copies[0]
    first, last = copies[0], copies[-1]
    return f"{first} … " + (last[last.rindex("[") :] if last.endswith("]") else last.rpartition(".")[2])


def _apart(one: Stretch | Owned, other: Stretch | Owned) -> bool:
    return one.stop <= other.start or other.stop <= one.start


def _agree(module: Owned, repeat: Stretch) -> bool:
    """Say whether a module lies outside of what repeats, or holds it and more."""
    holds = module.start <= repeat.start and repeat.stop <= module.stop
    return _apart(module, repeat) or (holds and module.stop - module.start > repeat.stop - repeat.start)


def _gaps(low: int, high: int, found: list[Stretch | Owned]) -> Iterator[tuple[int, int]]:
    for one in sorted(found, key=lambda part: part.start):
        if low < one.start:
            yield low, one.start
        low = one.stop
    if low < high:
        yield low, high
