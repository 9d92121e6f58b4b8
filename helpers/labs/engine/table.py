"""Draw the left side of a lab: a table of names and values, and bars."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.drawing.display_list import Pen
from helpers.drawing.palette import SMALL, TITLE
from helpers.labs.engine.state_map import State
from helpers.text import width

# px: a line, between columns, the highest bar, the breadth of one
LINE, GAP, HIGH, BAR = 20, 14, 96, 9
WRONG = "✗"  # a value that holds it is drawn as a warning


class Table:
    """Measure the tables of all states, so that each column and each bar has its place in all of
    them.
    """

    def __init__(self, states: Sequence[State]) -> None:
        values = [pair for state in states for pair in state.values]
        self.names = max((width(name, SMALL) for name, text in values if text), default=0)
        self.lines = max(len(state.values) for state in states)
        bars = [bar for state in states for bar in state.bars]
        self.tallest = (
            max((abs(height) for _, heights in bars for height in heights), default=0) or 1
        )
        self.step = max((width(label, TITLE, bold=True) for label, _ in bars), default=0) + GAP
        most = max(len(state.bars) for state in states)
        texts = max((width(text, TITLE, bold=WRONG in text) for _, text in values), default=0)
        self.width = max(self.names + GAP + texts, most * self.step)
        self.height = self.lines * LINE + bool(most) * (HIGH + 2 * LINE)

    def draw(self, pen: Pen, state: State) -> None:
        """Draw one state's table, and its bars under it."""
        for nr, (name, text) in enumerate(state.values):
            pen.write("row", 0, 14 + LINE * nr, (name, ""))
            pen.write(
                "start",
                self.names + GAP,
                14 + LINE * nr,
                (text, ""),
                state="wrong" if WRONG in text else "",
            )
        for nr, (label, heights) in enumerate(state.bars):
            self.bar(
                pen,
                nr * self.step,
                self.lines * LINE + GAP + HIGH,
                label,
                heights,
                nr == len(state.bars) - 1,
            )

    def bar(
        self, pen: Pen, x: int, y: int, label: str, heights: tuple[float, ...], now: bool
    ) -> None:
        """Draw one group of bars with its label below; the last group is the present one."""
        state = "now" if now else ""
        middle, left = x + self.step // 2, x + self.step // 2 - len(heights) * (BAR + 2) // 2
        for nr, height in enumerate(heights):
            tall = max(1, round(HIGH * abs(height) / self.tallest))
            pen.rect("bar", left + nr * (BAR + 2), y - tall, BAR, tall, 1, state=state)
        pen.write("label", middle, y + 16, (label, ""), state=state)
