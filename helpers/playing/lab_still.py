"""Draw the state that a lab begins with, for where nothing plays: its marks, and the blocks that the
player would draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from helpers.drawing.display_list import Drawing, Mark, Pen
from helpers.playing.film import CLICK, IDLE, LabFilm, Stack, marks_of
from helpers.text import short_number


def still(film: LabFilm) -> Drawing:
    """Return the state that a film starts with as a drawing of its own."""
    pen = Pen(0, 0)
    for nr, stack in enumerate(film.stacks):
        for column, parts in enumerate(columns(film, nr)):
            pile(pen, stack, column, parts)
    drawn = film.scenes[film.states[film.first].scene]
    marks: tuple[Mark, ...] = (*marks_of(film, film.first), *pen.marks)
    return replace(drawn, marks=marks, text="", alt=film.alt)


def opening(film: LabFilm) -> str:
    """Return what is said of the state that a film starts with, what was raised first."""
    state = film.states[film.first]
    return opening_of(film.refusal, state.title, state.sentence)


def opening_of(error: str, title: str, sentence: str) -> str:
    """Return the first line of an error, a title and a sentence as one line."""
    first = error.partition("\n")[0].rstrip(".")
    return " ".join([f"{words}." for words in (first, title) if words] + [sentence])


def columns(film: LabFilm, stack: int) -> list[tuple[float, ...]]:
    """Return the blocks of each column of a stack, the lowest first: of the first stack one for each
    gradient that was added on the way to the start, of others one.
    """
    total = film.states[film.first].totals[stack]
    if total is None:
        return []
    parts = added(film) if stack == 0 else []
    rest = [number - sum([one[nr] for one in parts]) for nr, number in enumerate(total)]
    return [(number, *[one[nr] for one in parts]) for nr, number in enumerate(rest)]


def added(film: LabFilm) -> list[tuple[float, ...]]:
    """Return what the last actions on the way to the start have added, one after the other."""
    found: list[tuple[float, ...]] = []
    for number, action, way in film.steps():
        adds = None if action == CLICK else film.buttons[action].adds
        if adds and not way.error:
            found.append(adds)
        elif way.to != IDLE and film.states[way.to].totals[0] != film.states[number].totals[0]:
            found = []
    return found


def pile(pen: Pen, stack: Stack, column: int, parts: Sequence[float]) -> None:
    """Draw the blocks of one column on its ground line, and their sum above them."""
    x, y = stack.x + column * stack.step, stack.base
    middle = x + stack.wide / 2
    for part in parts:
        if part:
            high = round(part * stack.unit)
            y -= high
            pen.rect("leaf", x, y + 1, stack.wide, high - 2, 3)
    pen.path("edge", *[(x - 4, stack.base)] * 2, *[(x + stack.wide + 4, stack.base)] * 2)
    pen.write("label", middle, y - 5, (short_number(float(sum(parts))), ""))
