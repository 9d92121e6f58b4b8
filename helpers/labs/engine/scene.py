"""Draw the states of a lab, all in one size: a table, bars and an error at the left, the graph at
the right.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from helpers.drawing.cards import draw_legend, legend
from helpers.drawing.devices import Device
from helpers.drawing.diagram import LINE, MARGIN, Word, draw_caption, draw_graph
from helpers.drawing.display_list import Drawing, Mark, Pen
from helpers.labs.engine.pose import Overlay, Pose, poses
from helpers.labs.engine.state_map import State
from helpers.labs.engine.table import Table

GAP, ROW, CHARACTER = 36, 18, 7.2  # px; a character of an error is about so wide
NARROWEST, ERROR = 420, 318  # px: of the right side, of the lines of an error
GHOST = "not in the graph"


def scenes(states: Sequence[State], alt: str) -> list[Drawing]:
    """Return one drawing per state, all of one size."""
    posed, table = poses(states), Table(states)
    left = max(table.width, ERROR if any(state.error for state in states) else 0) + GAP
    lines = [wrap(rest(state), left - GAP) for state in states]
    low = table.height + ROW * max(map(len, lines)) + GAP // 2
    high = max(low, *(one.height for one in posed))
    wide = left + max(NARROWEST, *(one.width for one in posed))
    sheet = Sheet(
        wide, left, low, high, legend(tuple(card for one in posed for card in one.dealt.cards))
    )
    return [sheet.draw(*one, table, alt) for one in zip(states, posed, lines, strict=True)]


def rest(state: State) -> str:
    """Return what torch says beyond its first sentence, with which the sentence of the state
    begins.
    """
    pairs = zip(state.error, state.sentence, strict=False)
    told = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return f"… {more}" if (more := state.error[told:].lstrip(". \n")) else ""


def wrap(error: str, wide: int) -> list[str]:
    return textwrap.wrap(error, int(wide / CHARACTER), break_on_hyphens=False)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Hold the measures that all drawings of a lab have in common, in px."""

    wide: int
    left: int
    low: int
    high: int
    keys: list[str | Device]

    def draw(self, state: State, one: Pose, error: list[str], table: Table, alt: str) -> Drawing:
        pen = Pen(MARGIN, MARGIN)
        table.draw(pen, state)
        for nr, line in enumerate(error):
            pen.write("error", 0, table.height + GAP // 2 + 12 + ROW * nr, (line, ""))
        pen.dx, pen.dy = MARGIN + self.left, MARGIN
        draw_caption(pen, list(one.caption))
        pen.dx += (self.wide - self.left - round(one.placed.width)) // 2
        pen.dy += LINE * len(one.caption)
        self.graph(pen, one, state.focus)
        pen.dx, pen.dy = MARGIN + self.left, MARGIN + self.high + GAP // 2
        pen.dy += draw_legend(pen, self.keys, self.wide - self.left)
        if state.ghost:
            self.ghost_key(pen)
            pen.dy += 20
        wide, aside = (
            self.wide + 2 * MARGIN,
            (MARGIN + self.left - GAP // 2, self.low + MARGIN + GAP // 2),
        )
        return Drawing(wide, pen.dy + MARGIN // 2, tuple(pen.marks), str(state.graph), alt, aside)

    def graph(self, pen: Pen, one: Pose, focus: int | None) -> None:
        """Draw the graph, and say of every mark whether it is a ghost or has the focus."""
        before = len(pen.marks)
        words = []
        for wire in one.dealt.wires:
            is_none = wire.edge in one.shown.edges and self.leads(one, wire.source)
            words.append(Word("None" if is_none else wire.word))
        draw_graph(pen, one.dealt, one.placed, words)
        pen.marks[before:] = [dressed(mark, one.shown, focus) for mark in pen.marks[before:]]

    def leads(self, one: Pose, source: int) -> bool:
        """Say whether a card is there, so that its edge is an entry that holds None."""
        return one.dealt.cards[source].node not in one.shown.nodes

    def ghost_key(self, pen: Pen) -> None:
        pen.rect("operation", 2, 1, 22, 14, 3, state="ghost")
        pen.write("row", 30, 13, (GHOST, ""))


def dressed(mark: Mark, shown: Overlay, focus: int | None) -> Mark:
    """Return a mark of the graph in its state: a ghost if what it belongs to is not in the graph."""
    if mark.owner is None:
        return mark
    gone = shown.nodes if mark.owner.kind == "node" else shown.edges
    if mark.owner.number in gone and mark.role not in ("ground", "word"):
        return replace(mark, state="ghost", runs=tuple((text, "") for text, _ in mark.runs))
    if mark.owner == ("node", focus) and mark.part == "body":
        return replace(mark, state="now")
    return mark
