"""Find what repeats in a row of items: stretches in which every item is like the one a period later. Plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

MOST_PERIODS = 32  # periods that are tried, those with most votes first
MOST_AHEAD = 8  # equal items that follow an item and vote for their distance
LEAST_SAVED = 3  # boxes that a repeat must save

Alike = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Hold that the items start … stop - 1 repeat: each is like the one `period` later, as long as there is one."""

    start: int
    stop: int
    period: int

    @property
    def count(self) -> int:
        return (self.stop - self.start) // self.period

    @property
    def saved(self) -> int:
        """Return how many boxes are saved by drawing one copy only."""
        return (self.count - 1) * self.period

    def within(self, low: int, high: int) -> Stretch:
        return Stretch(max(self.start, low), min(self.stop, high), self.period)

    def cut(self, start: int) -> Stretch:
        """Return the whole copies from `start` on."""
        return Stretch(start, start + (self.stop - start) // self.period * self.period, self.period)


def stretches(keys: Sequence[Hashable], alike: Alike) -> list[Stretch]:
    """Return all stretches of the likeliest periods; equal keys vote, `alike(at, period)` decides."""
    return [one for period in periods(keys) for one in _stretches(len(keys), period, alike)]


def periods(keys: Sequence[Hashable]) -> list[int]:
    """Return the distances at which equal keys follow each other, those met most often first."""
    votes: Counter[int] = Counter()
    places: dict[Hashable, list[int]] = {}
    for at, key in enumerate(keys):
        before = places.setdefault(key, [])
        votes.update(at - place for place in before[-MOST_AHEAD:])
        before.append(at)
    return sorted(votes, key=lambda period: (-votes[period], period))[:MOST_PERIODS]


def _stretches(length: int, period: int, alike: Alike) -> Iterator[Stretch]:
    start = None
    for at in range(length - period + 1):
        if at < length - period and alike(at, period):
            start = at if start is None else start
        elif start is not None:
            yield Stretch(start, at + period, period)
            start = None


def best(found: Sequence[Stretch], low: int, high: int) -> Stretch | None:
    """Return what repeats between two places and saves most boxes; of equals that with the shortest period."""
    clipped = (one.within(low, high) for one in found if one.start < high and one.stop > low)
    worth = [one for one in clipped if one.count > 1 and one.saved >= LEAST_SAVED]
    return max(worth, key=lambda one: (one.saved, -one.period, -one.start), default=None)
