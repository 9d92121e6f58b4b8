"""Fill cards by how much arrived at them, on a scale of a few steps: what a card wears and says for
that, and its marks rewritten. Plain data in and out.

Each card that is tinted has the number in words: never colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from autograd_graphs.drawing.display_list import Mark, Pen
from autograd_graphs.drawing.palette import LEVELS, SMALL
from autograd_graphs.text import number, width

LEAST = 10  # times: a scale spans no less, for else a few percent would look like much
SWATCH, SWATCH_HIGH, TICK = 18, 14, 8  # px: of a step of the scale in the legend, beside its ends
BADGE, BADGE_SIGN = 20, 14  # px: height of a badge, room of its sign


@dataclass(frozen=True, slots=True)
class Tint:
    """Hold what a card shows of what arrived: its step on the scale, 0 for none, and its words.

    `health` is a word of its own, such as "first NaN", in a badge of the kind `badge`: "first",
    "bad" or "zero". `line` is what the text tree says.
    """

    level: int = 0
    words: str = ""
    health: str = ""
    badge: str = ""
    line: str = ""

    @property
    def look(self) -> str:
        """Name the state in which the body of a card is drawn: a badge comes with a rim."""
        return f"tint{self.level}{self.badge}"


@dataclass(frozen=True, slots=True)
class Scale:
    """Hold the ends of a logarithmic scale; it is an entry of the legend."""

    low: float
    high: float
    what: str = "gradient norm"

    @property
    def room(self) -> int:
        """Return the px that it takes in the legend."""
        low, high = self.texts
        return width(low, SMALL) + width(high, SMALL) + 3 * TICK + SWATCH * LEVELS + 18

    @property
    def texts(self) -> tuple[str, str]:
        """Return what stands at its ends."""
        return f"{self.what} {number(self.low)}", number(self.high)

    def level(self, value: float) -> int:
        """Return the step of a value above 0, from 1 to `LEVELS`; beyond an end is at the end."""
        if value >= self.high:
            return LEVELS
        if value <= self.low:
            return 1
        way = math.log(value) - math.log(self.low)  # a quotient could overflow
        whole = math.log(self.high) - math.log(self.low)
        return min(1 + int(way / whole * LEVELS), LEVELS)

    def draw(self, pen: Pen, x: float, y: float) -> None:
        """Draw the scale: a number at each end of its steps."""
        low, high = self.texts
        pen.write("row", x, y + 13, (low, ""))
        x += width(low, SMALL) + TICK
        for nr in range(1, LEVELS + 1):
            left = x + SWATCH * (nr - 1)
            pen.rect("operation", left, y + 1, SWATCH, SWATCH_HIGH, 0, state=f"tint{nr}")
        pen.write("row", x + SWATCH * LEVELS + TICK, y + 13, (high, ""))


@dataclass(frozen=True, slots=True)
class Tints:
    """Hold the tint of every card that has one, by its node, and their scale, where there is any.

    `remarks` are sentences under the title of the picture.
    """

    nodes: Mapping[int, Tint] = field(default_factory=dict)
    scale: Scale | None = None
    remarks: tuple[str, ...] = ()


def scale_of(values: Iterable[float]) -> Scale | None:
    """Return the scale over values above 0; None where there are none."""
    positive = [value for value in values if 0 < value < math.inf]
    if not positive:
        return None
    low = min(min(positive), max(positive) / LEAST)
    return Scale(low or min(positive), max(positive))  # a tenth of the least float there is, is 0


def badge_width(text: str) -> int:
    return width(text, SMALL, bold=True) + BADGE_SIGN + 14


def draw_badge(pen: Pen, kind: str, text: str, left: float, middle: float) -> None:
    """Draw a word in a frame behind a sign: a triangle warns, an empty circle says zero."""
    pen.rect("badge", left, middle - 10, badge_width(text), BADGE, 5, state=kind, part="health")
    x = left + 12
    if kind == "zero":
        pen.circle("badgesign", x, middle, 4, state=kind, part="health")
    else:
        corners = (x, middle - 5), (x - 5, middle + 4), (x + 5, middle + 4)
        pen.polygon("badgesign", *corners, state=kind, part="health")
    pen.write("badgeword", left + 7 + BADGE_SIGN, middle + 5, (text, ""), state=kind, part="health")


def tinted(marks: Iterable[Mark], tints: Mapping[int, Tint]) -> Iterator[Mark]:
    """Yield marks as they look on the tint of their card; of a pile only the top has the rim."""
    for mark, following in pairwise([*marks, None]):
        tint = None
        if mark.owner is not None and mark.owner.kind == "node":
            tint = tints.get(mark.owner.number)
        if tint is None:
            yield mark
        elif mark.part == "body" and following and following.part == "body":
            yield replace(mark, state=f"tint{tint.level}")
        else:
            yield dressed(mark, tint)


RUNS = {"faint": "tint", "small": "tintsmall", "none": "tintsmall"}
ROWS = {"freed": "freedtint"}


def dressed(mark: Mark, tint: Tint) -> Mark:
    """Return a mark of a card on the card's tint: what was faint is read as well as all else."""
    if mark.part == "body":
        return replace(mark, state=tint.look)
    if not tint.level or mark.part == "health":
        return mark
    if mark.role == "bar":
        return replace(mark, state="tint")
    if mark.shape == "text":
        state = ROWS.get(mark.state, "tint") if mark.role == "row" else mark.state
        runs = tuple((text, RUNS.get(look, look)) for text, look in mark.runs)
        return replace(mark, state=state, runs=runs)
    return mark
