"""Find what repeats in a row of items: stretches in which every item is like the one a period later. Plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

MOST_PERIODS = 32  # periods that are tried, those with most votes first
MOST_AHEAD = 8  # equal items that follow an item and vote for their distance
LEAST_SAVED = 3  # boxes that a repeat must save
FOREIGN = 4  # items of a copy that make up for one that is not of it

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


@dataclass(frozen=True, slots=True)
class Odd:
    """Hold the places start … stop - 1: nearly a copy of what repeats next to it, such as the first step of a loop."""

    start: int
    stop: int
    of: Stretch


def stretches(votes: Sequence[Sequence[Hashable | None]], alike: Alike) -> list[Stretch]:
    """Return all stretches of the likeliest periods; equal items of a row vote, `alike(at, period)` decides."""
    return [one for period in periods(*votes) for one in _stretches(len(votes[0]), period, alike)]


def periods(*votes: Sequence[Hashable | None]) -> list[int]:
    """Return the distances at which equal items follow each other, those met most often first; None has no vote."""
    count: Counter[int] = Counter()
    for row in votes:
        places: dict[Hashable, list[int]] = {}
        for at, key in enumerate(row):
            if key is not None:
                before = places.setdefault(key, [])
                count.update(at - place for place in before[-MOST_AHEAD:])
                before.append(at)
    return sorted(count, key=lambda period: (-count[period], period))[:MOST_PERIODS]


def _stretches(length: int, period: int, alike: Alike) -> Iterator[Stretch]:
    start = None
    for at in range(length - period + 1):
        if at < length - period and alike(at, period):
            start = at if start is None else start
        elif start is not None:
            yield Stretch(start, at + period, period)
            start = None


def worth(found: Sequence[Stretch], low: int, high: int) -> list[Stretch]:
    """Return what repeats between two places, what saves most boxes first; of equals that with the shortest period."""
    clipped = (one.within(low, high) for one in found if one.start < high and one.stop > low)
    saving = [one for one in clipped if one.count > 1 and one.saved >= LEAST_SAVED]
    return sorted(saving, key=lambda one: (-one.saved, one.period, one.start))


def odd(repeat: Stretch, low: int, high: int, keys: Sequence[Hashable]) -> Odd | None:
    """Return what stands next to equal copies, between two places, and is mostly made of what a copy is made of."""
    if high == repeat.start and (length := _likeness(repeat, range(low, high)[::-1], keys)):
        return Odd(high - length, high, repeat)
    if low == repeat.stop and (length := _likeness(repeat, range(low, high), keys)):
        return Odd(low, low + length, repeat)
    return None


def _likeness(repeat: Stretch, places: range, keys: Sequence[Hashable]) -> int:
    """Return how many of the places, from the first on, have mostly keys of a copy; 0 where these are few."""
    left = Counter(keys[repeat.start : repeat.start + repeat.period])
    score = top = length = 0
    for count, at in enumerate(places, start=1):
        score += 1 if left[keys[at]] > 0 else -FOREIGN
        left[keys[at]] -= 1
        if score >= top:
            top, length = score, count
    return length if length >= max(LEAST_SAVED, repeat.period / 4) else 0
