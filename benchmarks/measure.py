"""What a benchmark says: rows of numbers with their spread and their goal, and the tables made of
them.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

# What the course does not need: torchview, torchlens and real models.
PACKAGES = Path(__file__).parents[1] / "build" / "bench" / "packages"
HEADER = ("case", "what", "median", "least", "most", "unit", "goal", "words")


@dataclass(frozen=True)
class Row:
    """Hold what was measured, once a round, of one thing; `words` tells a failure or what else is
    to be known.
    """

    benchmark: str
    case: str
    what: str
    values: tuple[float, ...] = ()
    unit: str = "ms"
    least_wanted: float | None = None
    most_wanted: float | None = None
    words: str = ""

    @property
    def median(self) -> float | None:
        return statistics.median(self.values) if self.values else None

    @property
    def goal(self) -> str:
        """Return the goal and whether the median meets it, or nothing where there is none."""
        sign, bound = (
            ("≥", self.least_wanted) if self.most_wanted is None else ("≤", self.most_wanted)
        )
        if bound is None:
            return ""
        return f"{sign} {bound:g}: {'met' if self.met else 'MISSED'}"

    @property
    def met(self) -> bool:
        low, high = self.least_wanted, self.most_wanted
        there = self.median is not None
        return (
            there and (low is None or self.median >= low) and (high is None or self.median <= high)
        )

    def cells(self) -> list[str]:
        numbers = [self.median, min(self.values), max(self.values)] if self.values else []
        texts = [short(value) for value in numbers] or ["–"] * 3
        return [self.case, self.what, *texts, self.unit, self.goal, self.words]


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long one call of `work` took by a clock."""
    begin = clock()
    work()
    return clock() - begin


def short(value: float) -> str:
    """Return a number with three digits that count, and no exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write every row with all that was measured, a line each."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["benchmark", *HEADER, "values"])
        out.writerows([row.benchmark, *row.cells(), " ".join(map(str, row.values))] for row in rows)
