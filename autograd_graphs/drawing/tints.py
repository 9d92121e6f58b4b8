"""Fill cards by how much arrived at them, on a scale of a few steps: what a card wears and says for
that, and its marks rewritten. Plain data in and out.

Each card that is tinted has the number in words: never colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from autograd_graphs.drawing.display_list import Mark
from autograd_graphs.drawing.palette import LEVELS

LEAST = 10  # times: a scale spans no less, for else a few percent would look like much


@dataclass(frozen=True, slots=True)
class Tint:
    """Hold what a card shows of what arrived: its step on the scale, 0 for none, and its words.

    `health` is a word of its own, such as "first NaN", with a `rim` of a kind: "first", "bad" or
    "zero". `line` is what the text tree says.
    """

    level: int = 0
    words: str = ""
    health: str = ""
    rim: str = ""
    line: str = ""

    @property
    def look(self) -> str:
        """Name the state in which the body of a card is drawn."""
        return f"tint{self.level}{self.rim}"


@dataclass(frozen=True, slots=True)
class Scale:
    """Hold the ends of a logarithmic scale."""

    low: float
    high: float

    def level(self, value: float) -> int:
        """Return the step of a value above 0, from 1 to `LEVELS`; beyond an end is at the end."""
        if value >= self.high:
            return LEVELS
        if value <= self.low:
            return 1
        way = math.log(value) - math.log(self.low)  # a quotient could overflow
        whole = math.log(self.high) - math.log(self.low)
        return min(1 + int(way / whole * LEVELS), LEVELS)


@dataclass(frozen=True, slots=True)
class Tints:
    """Hold the tint of every card that has one, by its node.

    `remarks` are sentences under the title of the picture.
    """

    nodes: Mapping[int, Tint] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def lines(self) -> dict[int, str]:
        """Return what the text tree says of each node."""
        return {node: tint.line for node, tint in self.nodes.items()}


def scale_of(values: Iterable[float]) -> Scale | None:
    """Return the scale over values above 0; None where there are none."""
    told = [value for value in values if 0 < value < math.inf]
    if not told:
        return None
    low = min(min(told), max(told) / LEAST)
    return Scale(low or min(told), max(told))  # a tenth of the least float there is, is 0


def tinted(marks: Iterable[Mark], tints: Mapping[int, Tint]) -> Iterator[Mark]:
    """Yield marks as they look on the tint of their card."""
    for mark in marks:
        tint = None
        if mark.owner is not None and mark.owner.kind == "node":
            tint = tints.get(mark.owner.number)
        yield mark if tint is None else dressed(mark, tint)


RUNS = {"faint": "tint", "small": "tintsmall", "none": "tintsmall"}
ROWS = {"freed": "freedtint"}


def dressed(mark: Mark, tint: Tint) -> Mark:
    """Return a mark of a card on the card's tint: what was faint is read as well as all else."""
    if mark.part == "body":
        return replace(mark, state=tint.look)
    if not tint.level:
        return mark
    if mark.role == "bar":
        return replace(mark, state="tint")
    if mark.shape == "text":
        state = ROWS.get(mark.state, "tint") if mark.role == "row" else mark.state
        runs = tuple((text, RUNS.get(look, look)) for text, look in mark.runs)
        return replace(mark, state=state, runs=runs)
    return mark
