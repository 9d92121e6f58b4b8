"""A Jacobian that is filled bit by bit: what presses prove of it, and how it is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import torch

from autograd_graphs.drawing.display_list import Drawing, Mark, Pen
from helpers.labs.engine.lab import as_text
from helpers.labs.engine.scene import Drawn
from helpers.labs.engine.state_map import State

Place = tuple[int, int]  # a row and a column
Weights = tuple[float, ...]
SIDE = 5  # rows, and columns
OPEN = "?"
ROWS, COLUMNS = "rows", "columns"


def equations(
    places: Sequence[Place], kind: str, weights: Weights
) -> Iterator[tuple[float, ...]]:
    """Yield, for each number that a press returns, how often it holds each place of the table."""
    for nr in range(SIDE):
        if kind == ROWS:
            yield tuple([weights[row] * (column == nr) for row, column in places])
        else:
            yield tuple([weights[column] * (row == nr) for row, column in places])


@cache
def solver(
    places: tuple[Place, ...], pressed: tuple[tuple[str, Weights], ...]
) -> tuple[torch.Tensor, list[bool]]:
    """Return the matrix that makes the numbers of the table out of those that came back, and of which
    numbers that is true: two tables that differ in any other could have returned the same.
    """
    rows = [row for kind, weights in pressed for row in equations(places, kind, weights)]
    made = torch.tensor(rows, dtype=torch.float64).reshape(len(rows), len(places))
    inverse = torch.linalg.pinv(made)
    return inverse, ((inverse @ made).diagonal() > 1 - 1e-9).tolist()


def proven(
    places: tuple[Place, ...], pressed: Sequence[tuple[str, Weights]], got: Sequence[float]
) -> dict[Place, float]:
    """Return the numbers that follow from what presses returned, by their places; all others are zero."""
    inverse, are_proven = solver(places, tuple(pressed))
    numbers = (inverse @ torch.tensor(got, dtype=torch.float64)).tolist()
    found = zip(places, numbers, are_proven, strict=True)
    return {place: round(number, 6) for place, number, is_proven in found if is_proven}


# px: around everything, the room for labels, a cell and what it takes with the room beside it, and
# the room between the table and the sums
EDGE, LABEL, CELL, STEP, APART = 8, (52, 26), (46, 32), (50, 36), 12
SUMS = ("even columns", "odd columns", "all columns")
LEFT, TOP = EDGE + LABEL[0], EDGE + LABEL[1]
WIDE = LEFT + (SIDE + len(SUMS)) * STEP[0] + APART - (STEP[0] - CELL[0]) + EDGE
HIGH = TOP + (SIDE + 1) * STEP[1] + APART - (STEP[1] - CELL[1]) + EDGE
LEGEND = (
    ("operation", "ghost", "not known"),
    ("operation", "done", "proven"),
    ("operation", "", "a sum that came back"),
)


def tables(states: Sequence[State], alt: str) -> Drawn:
    """Draw each state as a table of rows and columns; to the right and below it what sums returned."""
    drawn = [Drawing(WIDE, HIGH, tuple(marks(state)), as_text(state), alt) for state in states]
    return Drawn(drawn, (), LEGEND)


def marks(state: State) -> list[Mark]:
    """Return the marks of a state, of which those with the same zeros have as many."""
    pen, single = Pen(), state.fact("alone").split(", ")
    for nr in range(SIDE):
        for word, x, y in ((f"row {nr}", -1, nr), (f"col {nr}", nr, -1)):
            head(pen, word, x, y, is_pressed=word in single)
        for column, text in enumerate(state.fact(f"row {nr}").split()):
            if text == "0":
                pen.write("middle", *middle(column, nr), (text, ""), state="ghost")
            else:
                cell(pen, column, nr, text, "done")
    for nr, name in enumerate(SUMS):
        sums = state.fact(name).split()
        head(pen, f"Σ {name.split()[0]}", SIDE + nr, -1, is_pressed=bool(sums))
        for row in range(SIDE):
            cell(pen, SIDE + nr, row, sums[row] if sums else OPEN, "")
    sums = state.fact("all rows").split()
    head(pen, "Σ all", -1, SIDE, is_pressed=bool(sums))
    for column in range(SIDE):
        cell(pen, column, SIDE, sums[column] if sums else OPEN, "")
    return pen.marks


def corner(column: int, row: int) -> Place:
    """Return the upper left corner of a cell; the row and the column of sums stand apart, labels have -1."""
    x = LEFT + column * STEP[0] + APART * (column >= SIDE)
    y = TOP + row * STEP[1] + APART * (row >= SIDE)
    return x, y


def head(pen: Pen, word: str, column: int, row: int, is_pressed: bool) -> None:
    """Write a label at the left of a row or above a column."""
    x, y = corner(max(column, 0), max(row, 0))
    if column < 0:
        x, y = EDGE + LABEL[0] // 2 - 3, y + CELL[1] // 2 + 5
    else:
        x, y = x + CELL[0] // 2, y - 9
    pen.write("label", x, y, (word, ""), state="done" if is_pressed else "")


def middle(column: int, row: int) -> Place:
    """Return where the text of a cell stands."""
    x, y = corner(column, row)
    return x + CELL[0] // 2, y + CELL[1] // 2 + 5


def cell(pen: Pen, column: int, row: int, text: str, known: str) -> None:
    """Draw a cell with its number, or with nothing where it is open."""
    is_open = text == OPEN
    pen.rect("operation", *corner(column, row), *CELL, 6, state="ghost" if is_open else known)
    pen.write("middle", *middle(column, row), ("" if is_open else text, ""))
