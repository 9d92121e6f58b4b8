"""Divide a program into parts that can be drawn as one box each: what repeats, and what belongs to a module.

Plain data in and out. Places are those of `Program`: operations in the order in which they ran.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.modules import Modules, Owned
from helpers.parts import Part
from helpers.program import Program
from helpers.repeats import LEAST_SAVED, Odd, Stretch, odd, stretches, worth
from helpers.titles import Titles

MOST_STARTS = 64  # places that are tried for the start of a copy


class Outline:
    """Know the parts of a program, and the parts of each part."""

    def __init__(self, program: Program) -> None:
        self.program, self.modules = program, Modules(program)
        self._parts: dict[tuple[int, int | None, str], list[Part]] = {}
        self.titles = Titles(self.modules)
        self.repeated = stretches(program.votes(), program.alike)
        self.owned = self.modules.owned()
        self.crossing, self.begins = program.crossing(), {one.start for one in self.owned}

    def parts(self, low: int = 0, high: int | None = None, parent: str = "") -> list[Part]:
        """Return the outermost parts between two places, in the order in which they ran; `parent` is whose they are."""
        if (asked := (low, high, parent)) not in self._parts:
            found = self._divide(low, len(self.program) if high is None else high)
            self._parts[asked] = self.titles.parts(sorted(found, key=lambda one: one.start), parent)
        return self._parts[asked]

    def _divide(self, low: int, high: int) -> list[Stretch | Owned | Odd]:
        """Take what saves most boxes, and the longest modules that it is not at odds with; then look in the gaps."""
        repeat = next(filter(None, map(self._aligned, worth(self.repeated, low, high))), None)
        found: list[Stretch | Owned | Odd] = self._odds(repeat, low, high, [])
        for whole in self.owned:
            one = _clear(whole, low, high, repeat)
            inside = one and self.modules.is_worth(one) and one.stop - one.start < high - low and self._ends(one)
            if inside and all(_apart(one, other) for other in found) and (not repeat or _agree(one, repeat)):
                found.append(one)
        if repeat and all(_apart(one, repeat) for one in found):
            found += [repeat, *self._odds(repeat, low, high, found)]
        gaps = _gaps(low, high, found) if found else []
        return found + [one for gap in gaps for one in self._divide(*gap)]

    def _odds(self, repeat: Stretch | None, low: int, high: int, found: list[Stretch | Owned | Odd]) -> list[Odd]:
        """Return what stands next to equal copies and is nearly one; modules go first where the copies are modules."""
        if not repeat or (not found and self.titles.own(repeat)):
            return []
        gaps = _gaps(low, high, [*found, repeat])
        return [one for gap in gaps if (one := odd(repeat, *gap, self.program.operations)) and self._ends(one)]

    def _ends(self, one: Stretch | Owned | Odd) -> bool:
        """Say whether no root lies inside of a copy: a box that goes on behind it would seem to be needed for it."""
        period = one.period if isinstance(one, Stretch) else one.stop - one.start
        inside = (at for at in self.program.asked if one.start <= at < one.stop)
        return all((at - one.start + 1) % period == 0 for at in inside)

    def _aligned(self, one: Stretch) -> Stretch | None:
        """Start each copy where a module begins, and else where least is on its way from one copy to the next.

        Return nothing where the copies are not the same inside from any start, the first copy left out or not.
        """
        for first in (one.start, one.start + one.period):
            starts = range(first, min(first + one.period, one.stop - 2 * one.period + 1))
            likely = sorted(starts, key=lambda at: (self.crossing[at], at not in self.begins, -one.cut(at).count, at))
            cuts = [one.cut(at) for at in likely[:MOST_STARTS]]
            rows = [cut for cut in cuts if self._ends(cut) and self.program.is_row(cut.start, cut.stop, cut.period)]
            rows = [cut for cut in rows if cut.saved >= LEAST_SAVED]
            if rows:
                return next((cut for cut in rows if self.titles.own(cut)), rows[0])
        return None


def _clear(one: Owned, low: int, high: int, repeat: Stretch | None) -> Owned | None:
    """Return what of a module lies between two places, and beside what repeats."""
    if repeat and one.core[0] >= repeat.stop:
        low = max(low, repeat.stop)
    elif repeat and one.core[1] <= repeat.start:
        high = min(high, repeat.start)
    return one.within(low, high)


def _apart(one: Stretch | Owned | Odd, other: Stretch | Owned | Odd) -> bool:
    return one.stop <= other.start or other.stop <= one.start


def _agree(module: Owned, repeat: Stretch) -> bool:
    """Say whether a module lies outside of what repeats, or holds it and more."""
    holds = module.start <= repeat.start and repeat.stop <= module.stop
    return _apart(module, repeat) or (holds and module.stop - module.start > repeat.stop - repeat.start)


def _gaps(low: int, high: int, found: list[Stretch | Owned | Odd]) -> Iterator[tuple[int, int]]:
    for one in sorted(found, key=lambda part: part.start):
        if low < one.start:
            yield low, one.start
        low = one.stop
    if low < high:
        yield low, high
