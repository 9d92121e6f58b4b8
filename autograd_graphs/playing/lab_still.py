"""Draw the state that a lab begins with, and its blocks, for where nothing plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograd_graphs.drawing.display_list import Drawing, Mark, Pen
from autograd_graphs.playing.film import CLICK, IDLE, LabFilm, Stack, marks_of
from autograd_graphs.text import short_number

ROUNDING = 1e-4  # what two numbers may differ by that are drawn as the same


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
    """Return the blocks of each column of a stack, the lowest first."""
    return list(zip(*layers(film, stack), strict=True))


def layers(film: LabFilm, stack: int) -> list[tuple[float, ...]]:
    """Return what lies on one another in a stack after the start: what an action adds on what was
    there, where it says so and it is so; else the total is one block.
    """
    blocks: list[tuple[float, ...]] = []
    was = film.states[0].totals[stack]
    if was is not None:
        blocks = [was]
    for _, action, transition in film.steps():
        if transition.to == IDLE:
            continue
        total = film.states[transition.to].totals[stack]
        adds = None if action == CLICK else film.buttons[action].adds
        if total is None:
            blocks = []
        elif was is None or (total != was and not is_sum(was, adds, total)):
            blocks = [total]
        elif total != was and adds is not None:
            blocks.append(adds)
        was = total
    return blocks


def is_sum(was: Sequence[float], adds: Sequence[float] | None, total: Sequence[float]) -> bool:
    """Say whether a total is what was there and what an action adds, but for rounding."""
    if adds is None or len(adds) != len(total):
        return False
    parts = zip(was, adds, total, strict=True)
    return all(abs(after - before - more) < ROUNDING for before, more, after in parts)


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
