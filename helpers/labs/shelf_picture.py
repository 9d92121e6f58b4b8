"""Draw the shelf of lesson 16: three places for graphs with their locks, and what the last call got."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_graphs.drawing.display_list import Drawing, Mark, Pen
from helpers.labs.engine.lab import as_text
from helpers.labs.engine.scene import Drawn
from helpers.labs.engine.state_map import State

ROOM = 3
# px: the picture, a graph's card and the step to the next, a line of locks, the results
WIDE, HIGH, CARD, STEP, LINE = 470, 268, (150, 142), 160, 20
BOARD, RESULT, LOW = 146, (150, 40), 172


def shelves(states: Sequence[State], alt: str) -> Drawn:
    """Draw each state as a shelf; the frame is at the graph that ran, red locks kept the call out."""
    drawn = [Drawing(WIDE, HIGH, tuple(marks(state)), as_text(state), alt) for state in states]
    return Drawn(drawn, (), (("operation", "now", "it ran"), ("saved", "held", "a lock")))


def marks(state: State) -> list[Mark]:
    pen = Pen()
    ran = state.fact("ran").partition(",")[0]
    for nr in range(ROOM):
        name = f"graph {nr + 1}"
        draw_graph(pen, nr * STEP, name, state.fact(name), name == ran)
    pen.rect("tag", 0, BOARD, WIDE, 6, 3)
    draw_results(pen, ran, state.fact("eager's y"))
    pen.write("row", 0, HIGH - 14, ("lin", ""))
    pen.write("start", 32, HIGH - 14, (state.fact("lin"), ""))
    return pen.marks


def draw_graph(pen: Pen, x: int, name: str, locks: str, is_running: bool) -> None:
    """Draw a place on the shelf: a graph with its locks, or nothing."""
    wide, high = CARD
    middle = x + wide // 2
    if locks == "none":
        pen.rect("none", x, 2, wide, high, 8)
        pen.write("middle", middle, high // 2, ("empty", ""), state="ghost")
        return
    pen.rect("operation", x, 2, wide, high, 8, state="now" if is_running else "")
    pen.write("label", middle, 22, (name, ""))
    for nr, lock in enumerate(locks.split(", ")):
        y, word = 46 + LINE * nr, lock.removeprefix("✗ ")
        if word.startswith("made"):
            pen.write("middle", middle, y + 4, (word, ""))
            continue
        look = "wrong" if lock != word else ""
        pen.circle("saved", x + 14, y - 5, 4, state="modified" if look else "held")
        pen.write("start", x + 26, y, (word, ""), state=look)


def draw_results(pen: Pen, ran: str, eager: str) -> None:
    """Draw y beside eager's."""
    wide, high = RESULT
    is_same = eager == "the same"
    right = WIDE - wide
    for x, name, holds in (
        (0, "fast", "f, eagerly" if ran == "none" else ran),
        (right, "eager", eager),
    ):
        pen.rect("leaf", x, LOW, wide, high, 8)
        pen.write("middle", x + wide // 2, LOW + 26, (holds, ""))
    pen.write("label", WIDE // 2, LOW + 26, ("=" if is_same else "≠", ""))
