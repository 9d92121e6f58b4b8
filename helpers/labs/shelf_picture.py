"""Draw the shelf of lesson 16: places for three graphs with their locks, and what the last call got."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_graphs.drawing.display_list import Drawing, Mark, Owner, Pen
from helpers.labs.engine.lab import as_text
from helpers.labs.engine.scene import Drawn
from helpers.labs.engine.state_map import State

ROOM, INSIDE = 3, "with the hook"
# px: the picture, a place for a graph and the step to the next, a line of locks
WIDE, HIGH, PLACE, STEP, LINE = 470, 182, (150, 106), 160, 19
BOARD, RESULT, LOW = 110, (180, 30), 122  # px: the board, the boxes with results, and their top


def shelves(states: Sequence[State], alt: str) -> Drawn:
    """Draw each state as a shelf: framed is the graph that ran, and a red lock kept the call out."""
    drawn = [Drawing(WIDE, HIGH, tuple(marks(state)), as_text(state), alt) for state in states]
    legend = (
        ("operation", "now", "the graph that ran"),
        ("saved", "held", "a lock"),
        ("saved", "modified", "a lock that stayed shut"),
    )
    return Drawn(drawn, (), legend)


def marks(state: State) -> list[Mark]:
    pen, ran = Pen(), state.fact("ran").partition(",")[0]
    for nr in range(ROOM):
        name = f"graph {nr + 1}"
        pen.owner = Owner("box", nr)
        draw_place(pen, nr * STEP, name, state.fact(name), name == ran)
    pen.owner = Owner("fact", 0)
    pen.rect("tag", 0, BOARD, WIDE, 5, 2)
    draw_results(pen, "f itself" if ran == "none" else ran, state.fact("eager's y"))
    pen.owner = Owner("fact", 3)
    pen.write("start", 0, HIGH - 10, (f"lin: {state.fact('lin')}", ""))
    return pen.marks


def draw_place(pen: Pen, x: int, name: str, locks: str, has_run: bool) -> None:
    """Draw a place on the shelf: a graph with its locks, or nothing."""
    wide, high = PLACE
    middle = x + wide // 2
    if locks == "none":
        pen.rect("none", x, 2, wide, high, 8)
        pen.write("middle", middle, high // 2 + 6, ("empty", ""), state="ghost")
        return
    pen.rect("operation", x, 2, wide, high, 8, state="now" if has_run else "")
    pen.write("label", middle, 20, (name, ""))
    for nr, lock in enumerate(locks.split(", ")):
        draw_lock(pen, x, 41 + LINE * nr, lock)


def draw_lock(pen: Pen, x: int, y: int, lock: str) -> None:
    """Draw a line of a graph: a lock, or, without a dot, what is inside."""
    word = lock.removeprefix("✗ ")
    is_misfit = lock != word
    if word != INSIDE:
        pen.circle("saved", x + 14, y - 5, 4, state="modified" if is_misfit else "held")
        pen.write("start", x + 26, y, (word, ""), state="wrong" if is_misfit else "")
        return
    pen.write("middle", x + PLACE[0] // 2, y + 2, (word, ""))


def draw_results(pen: Pen, maker: str, eager: str) -> None:
    """Draw what came, and whether eager mode says the same."""
    (wide, high), is_same = RESULT, eager == "the same"
    right = WIDE - wide
    told = (
        "y in eager mode" if is_same else f"eager's: {eager.removesuffix(' times as large')} × that"
    )
    for nr, (x, words) in enumerate(((0, f"y, by {maker}"), (right, told))):
        pen.owner = Owner("fact", nr + 1)
        pen.rect("leaf", x, LOW, wide, high, 8)
        pen.write("middle", x + wide // 2, LOW + 20, (words, ""))
    pen.owner = Owner("fact", 4)
    sign = ("=", "") if is_same else ("≠", "wrong")
    pen.write("start", WIDE // 2 - 5, LOW + 20, (sign[0], ""), state=sign[1])
