"""What a benchmark says: rows of numbers with their spread and their goal, as a table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

HEADER = ("case", "what", "median", "least", "most", "unit", "goal", "words")


@dataclass(frozen=True)
class Row:
    """Hold what was measured of one thing, once a round; `words` tells a failure."""

    case: str
    what: str
    values: tuple[float, ...] = ()
    unit: str = "ms"
    most_wanted: float | None = None
    words: str = ""

    @property
    def goal(self) -> str:
        """Return the goal and whether the median meets it, or nothing where there is none."""
        if self.most_wanted is None:
            return ""
        met = bool(self.values) and statistics.median(self.values) <= self.most_wanted
        return f"≤ {self.most_wanted:g}: {'met' if met else 'MISSED'}"

    def cells(self) -> list[str]:
        """Return the line of a table."""
        numbers = ["–"] * 3
        if self.values:
            of_all = (statistics.median(self.values), min(self.values), max(self.values))
            numbers = [short(number) for number in of_all]
        return [self.case, self.what, *numbers, self.unit, self.goal, self.words]


def ms(work: Callable[[], object]) -> float:
    """Return how many milliseconds one call of `work` took."""
    begin = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begin)


def ratios(ours: Sequence[float], others: Sequence[float]) -> tuple[float, ...]:
    """Return how many times as long the others took, round by round."""
    return tuple(other / our for our, other in zip(ours, others, strict=True))


def short(value: float) -> str:
    """Return a number with three digits that count, and no exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(rows: Sequence[Row]) -> str:
    """Return rows as a table in Markdown."""
    lines = [HEADER, ["---"] * len(HEADER), *[row.cells() for row in rows]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
