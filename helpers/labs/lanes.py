"""Two ranks side by side, each in a lane of its own: what has run, what is to come, and the sums between them."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_graphs.drawing.display_list import Drawing, Mark, Owner, Pen
from autograd_graphs.drawing.palette import TITLE
from autograd_graphs.text import width
from helpers.labs.engine.lab import as_text
from helpers.labs.engine.scene import Drawn
from helpers.labs.engine.state_map import State
from helpers.labs.stepped_ranks import PROGRAMS, Line

# px: around everything, the labels above the lanes, a line, and one with the room below it; the width of a
# lane, of a wire and of a sum; between the border of a line and its words, and the least room for those
EDGE, HEAD, HIGH, STEP, LANE, WIRE, SUM, INSET, WORDS = 6, 24, 28, 32, 216, 12, 116, 9, 106
MOST = max([len(lines) for pair in PROGRAMS.values() for lines in pair])
MIDDLE = EDGE + LANE + WIRE
LEFTS = EDGE, MIDDLE + SUM + WIRE
WIDE, TALL = LEFTS[1] + LANE + EDGE, EDGE + HEAD + MOST * STEP - (STEP - HIGH) + EDGE
LEGEND = (("operation", "done", "has run, or is there"), ("operation", "ghost", "not yet"))


def lanes(states: Sequence[State], alt: str) -> Drawn:
    """Draw each state as two lanes, with the sums in the middle."""
    drawn = [Drawing(WIDE, TALL, tuple(marks(state)), as_text(state), alt) for state in states]
    return Drawn(drawn, (), LEGEND)


def marks(state: State) -> list[Mark]:
    pen = Pen()
    pair = PROGRAMS[state.chosen[0] if state.chosen else "model"]
    for nr, lines in enumerate(pair):
        begin(pen, nr, 0)
        pen.write("label", LEFTS[nr] + LANE // 2, EDGE + 15, (f"rank {nr}", ""))
        draw_lane(pen, nr, lines, parts(state, f"rank {nr}"))
    places = [[row for row, line in enumerate(lines) if line.sends()] for lines in pair]
    if any(places):
        begin(pen, len(pair), 0)
        pen.write("label", MIDDLE + SUM // 2, EDGE + 15, ("all-reduce", ""))
    draw_sums(pen, places, parts(state, "all-reduce"))
    if state.fact("c"):
        sum_box(pen, max(map(max, places)) + 1, f"c: {state.fact('c')}")
    return pen.marks


def parts(state: State, label: str) -> list[str]:
    """Return what a fact tells, piece by piece."""
    text = state.fact(label)
    return text.split("; ") if text else []


def begin(pen: Pen, column: int, row: int) -> None:
    """Let what is drawn now belong together, at its place. A first mark that is a row, be it without words,
    makes the player know it by that place: a 5 that is new here was not there before.
    """
    pen.owner = Owner("box", column * (MOST + 1) + row)
    x = MIDDLE if column == len(LEFTS) else LEFTS[column]
    pen.write("row", x, top(row))


def top(row: int) -> int:
    """Return the upper edge of a row of boxes; row 0 is that of the labels."""
    return EDGE + HEAD + (row - 1) * STEP if row else EDGE


def draw_lane(pen: Pen, nr: int, lines: Sequence[Line], told: Sequence[str]) -> None:
    """Draw all lines of a rank: those that ran with what came of them, the next one with what it waits for."""
    x = LEFTS[nr]
    for row, line in enumerate(lines):
        words, _, came = told[row].partition(": ") if row < len(told) else (line.words, "", "")
        is_waiting = words != line.words
        look = "" if row < len(told) and not is_waiting else "ghost"
        y = top(row + 1)
        begin(pen, nr, row + 1)
        pen.rect("operation", x, y, LANE, HIGH, 6, state=look or "done")
        pen.write("start", x + INSET, y + 20, (words, ""), state="wrong" if is_waiting else look)
        beside = x + INSET + max(WORDS, width(line.words, TITLE) + 8)
        pen.write("start", beside, y + 20, (came, ""))


def draw_sums(pen: Pen, places: Sequence[Sequence[int]], told: Sequence[str]) -> None:
    """Draw a box for each sum, level with the lines that send, and a wire from each of them."""
    for nr in range(max(map(len, places))):
        words = told[nr] if nr < len(told) else ""
        row = max(places, key=len)[nr]
        sum_box(pen, row, words)
        sent = words.partition(" = ")[0].split(" + ") if words else ["…", "…"]
        for rank, rows in enumerate(places):
            if nr < len(rows):
                x = MIDDLE + SUM * rank - WIRE * (1 - rank)
                line = [(x + step * WIRE / 3, top(row + 1) + HIGH // 2) for step in range(4)]
                pen.path("edge", *line, state="ghost" if sent[rank] == "…" else "done")


def sum_box(pen: Pen, row: int, words: str) -> None:
    """Draw the box of a sum; without its result it is not there yet."""
    begin(pen, len(LEFTS), row + 1)
    pen.rect(
        "operation", MIDDLE, top(row + 1), SUM, HIGH, 14, state="done" if "=" in words else "ghost"
    )
    pen.write("middle", MIDDLE + SUM // 2, top(row + 1) + 20, (words, ""))
