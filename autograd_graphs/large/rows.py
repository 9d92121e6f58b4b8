"""Find what repeats side by side in a program: equal calls in a row, the rounds of a loop."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from autograd_graphs.large.pieces import Item, Piece, Reader, extent

MOST_PERIODS = 32  # periods that are tried, those with most votes first
MOST_AHEAD = 8  # equal items that follow an item and vote for their distance
MOST_ROWS = 100  # in one call
LEAST_SAVED = 6  # operations that a row must hide
LEAST_ROUNDS = 4  # of a loop in which no module is called
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Row:
    """Hold that the items start … stop - 1 are equal to those one period later."""

    start: int
    stop: int
    period: int

    @property
    def count(self) -> int:
        return (self.stop - self.start) // self.period

    def within(self, low: int, high: int) -> Row:
        return Row(max(self.start, low), min(self.stop, high), self.period)


class Rows:
    """Find rows among items."""

    def __init__(self, reader: Reader, items: Sequence[Item]) -> None:
        self.items = items
        self.keys = list(map(reader.key, items))
        self.paths = list(map(path_of, items))
        self.patterns = [_NUMBER.sub("#", path) for path in self.paths]
        self.sums = [0]
        for start, stop in map(extent, items):
            self.sums.append(self.sums[-1] + stop - start)

    def best(self) -> list[Row]:
        """Return rows that do not overlap, in order: what hides most operations goes first."""
        likely = list(chain.from_iterable(map(self._of, self._periods())))
        gaps, rows = [(0, len(self.items))], []
        while gaps and likely and len(rows) < MOST_ROWS:
            low, high = gaps.pop()
            worth = list(self._worth(likely, low, high))
            if worth:
                best = max(worth, key=lambda row: (self._saved(row), -row.period, -row.start))
                rows.append(best)
                gaps += [(low, best.start), (best.stop, high)]
        return sorted(rows, key=lambda row: row.start)

    def _worth(self, likely: Sequence[Row], low: int, high: int) -> Iterator[Row]:
        """Yield the parts of rows between two places that hide enough."""
        for row in likely:
            row = row.within(low, high)
            if row.count > 1:
                row = self._aligned(row)
                if self._is_worth(row):
                    yield row

    def _periods(self) -> list[int]:
        """Return the distances at which equal items follow each other, most frequent first."""
        count: Counter[int] = Counter()
        places: dict[int, list[int]] = {}
        for at, key in enumerate(self.keys):
            before = places.setdefault(key, [])
            count.update(at - place for place in before[-MOST_AHEAD:])
            before.append(at)
        return sorted(count, key=lambda period: (-count[period], period))[:MOST_PERIODS]

    def _of(self, period: int) -> Iterator[Row]:
        """Yield the longest rows of a period."""
        start = None
        for at in range(len(self.items)):
            if start is not None and not self._goes_on(start, at, period):
                yield Row(start, at + period, period)
                start = None
            if start is None and self._goes_on(at, at, period):
                start = at

    def _goes_on(self, start: int, at: int, period: int) -> bool:
        """Say whether an item is equal to the one a period later, and called in the same way as
        before: one module again and again, or the next one of numbered modules.
        """
        later = at + period
        if later >= len(self.items) or self.keys[at] != self.keys[later]:
            return False
        if self.patterns[at] != self.patterns[later]:
            return False
        is_again = self.paths[at] == self.paths[later]
        if not is_again and numbers(self.paths[at]) > numbers(self.paths[later]):
            return False
        return at - period < start or is_again == (self.paths[at - period] == self.paths[at])

    def _aligned(self, row: Row) -> Row:
        """Return as many whole copies as there are, each beginning with a call where it can."""
        length = row.count * row.period
        for start in range(row.start, row.stop - length + 1):
            if self.paths[start]:
                return Row(start, start + length, row.period)
        return Row(row.start, row.start + length, row.period)

    def _saved(self, row: Row) -> int:
        """Return how many operations are hidden by drawing one copy only."""
        return self.sums[row.stop] - self.sums[row.start + row.period]

    def _is_worth(self, row: Row) -> bool:
        if self._saved(row) < LEAST_SAVED:
            return False
        has_call = any(self.paths[row.start : row.start + row.period])
        return has_call or row.count >= LEAST_ROUNDS


def path_of(item: Item) -> str:
    return item.path if isinstance(item, Piece) else ""


def numbers(path: str) -> list[int]:
    """Return the numbers in a path: equal modules in a row are in the order of theirs."""
    return list(map(int, _NUMBER.findall(path)))
