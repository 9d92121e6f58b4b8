"""Draw the states of a lab, all in one size: a table, bars and an error at the left, the graph at the right."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from helpers.devices import Device
from helpers.draw import MARGIN, draw_caption, draw_graph
from helpers.faces import draw_legend, legend
from helpers.labs.ghosts import Overlay
from helpers.labs.pose import LINE, Pose, poses
from helpers.labs.table import Table
from helpers.marks import Drawing, Mark, Pen
from helpers.statemap import State

GAP, ROW, CHARACTER = 36, 17, 6.6  # px; a character of an error is about so wide
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
    sheet = Sheet(wide, left, low, high, legend(tuple(card for one in posed for card in one.dealt.cards)))
    return [sheet.draw(*one, table, alt) for one in zip(states, posed, lines, strict=True)]


def rest(state: State) -> str:
    """Return what torch says beyond its first sentence, with which the sentence of the state begins."""
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
        wide, aside = self.wide + 2 * MARGIN, (MARGIN + self.left - GAP // 2, self.low + MARGIN + GAP // 2)
        return Drawing(wide, pen.dy + MARGIN // 2, tuple(pen.marks), str(state.graph), alt, aside)

    def graph(self, pen: Pen, one: Pose, focus: int | None) -> None:
        """Draw the graph, and say of every mark whether it is a ghost or has the focus."""
        before = len(pen.marks)
        gone = one.shown.edges
        words = [
            ("None", "ground") if wire.edge in gone and self.leads(one, wire.source) else (wire.word, "ground")
            for wire in one.dealt.wires
        ]
        draw_graph(pen, one.dealt, one.placed, words)
        pen.marks[before:] = [dressed(mark, one.shown, focus) for mark in pen.marks[before:]]

    def leads(self, one: Pose, source: int) -> bool:
        """Say whether a card is there, so that its edge is an entry that holds None."""
        return one.dealt.cards[source].node not in one.shown.nodes

    def ghost_key(self, pen: Pen) -> None:
        pen.put("rect", "operation", 2, 1, 22, 14, 3, state="ghost")
        pen.write("row", 30, 12, (GHOST, ""))


def dressed(mark: Mark, shown: Overlay, focus: int | None) -> Mark:
    """Return a mark of the graph in its state: a ghost if what it belongs to is not in the graph."""
    whose, _, number = mark.of.partition(" ")
    is_ghost = number and int(number) in {"node": shown.nodes, "edge": shown.edges}[whose]
    if is_ghost and mark.role not in ("ground", "label"):
        return replace(mark, state="ghost", runs=tuple((text, "") for text, _ in mark.runs))
    if focus is not None and mark.of == f"node {focus}" and mark.role in ("operation", "leaf"):
        return replace(mark, state="now")
    return mark
