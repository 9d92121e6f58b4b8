"""A Jacobian that is filled bit by bit: what presses prove of it, and how it is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import torch

from autograd_graphs.drawing.display_list import Drawing, Mark, Owner, Pen
from helpers.labs.engine.lab import as_text
from helpers.labs.engine.scene import Drawn
from helpers.labs.engine.state_map import State

Place = tuple[int, int]  # a row and a column
Weights = tuple[float, ...]
SIDE = 5  # rows, and columns
OPEN = "?"
ROWS, COLUMNS = "rows", "columns"


def equations(places: Sequence[Place], kind: str, weights: Weights) -> Iterator[tuple[float, ...]]:
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
EDGE, LABEL, CELL, STEP, APART = 8, (50, 24), (45, 30), (49, 34), 12
SUMS = ("all rows", "all columns", "even columns", "odd columns")
LEFT, TOP = EDGE + LABEL[0], EDGE + LABEL[1]
WIDE = LEFT + (SIDE + len(SUMS) - 1) * STEP[0] + APART - (STEP[0] - CELL[0]) + EDGE
HIGH = TOP + (SIDE + 1) * STEP[1] + APART - (STEP[1] - CELL[1]) + EDGE
LEGEND = (
    ("operation", "ghost", "not known"),
    ("operation", "done", "proven"),
    ("operation", "", "a sum that came back"),
)


def tables(states: Sequence[State], alt: str) -> Drawn:
    """Draw each state as a table of rows and columns; to the right and below it the sums that came back."""
    drawn = [Drawing(WIDE, HIGH, tuple(marks(state)), as_text(state), alt) for state in states]
    return Drawn(drawn, (), LEGEND)


def marks(state: State) -> list[Mark]:
    pen = Pen()
    for nr in range(SIDE):
        head(pen, f"row {nr}", -1, nr)
        head(pen, f"col {nr}", nr, -1)
        for column, text in enumerate(state.fact(f"row {nr}").split()):
            if text == "0":
                begin(pen, column, nr)
                pen.write("middle", *middle(column, nr), (text, ""), state="ghost")
            else:
                cell(pen, column, nr, text, "done")
    draw_sums(pen, state)
    return pen.marks


def draw_sums(pen: Pen, state: State) -> None:
    """Draw the sums that came back: of rows below the table, of columns beside it."""
    of_rows, *of_columns = [state.fact(name).split() for name in SUMS]
    if of_rows:
        head(pen, "all", -1, SIDE)
    for column, text in enumerate(of_rows):
        cell(pen, column, SIDE, text, "")
    for column, numbers in enumerate(of_columns, start=SIDE):
        if numbers:
            head(pen, SUMS[column - SIDE + 1].split()[0], column, -1)
        for row, text in enumerate(numbers):
            cell(pen, column, row, text, "")


def corner(column: int, row: int) -> Place:
    """Return the upper left corner of a cell; the row and the column of sums stand apart, labels have -1."""
    x = LEFT + column * STEP[0] + APART * (column >= SIDE)
    y = TOP + row * STEP[1] + APART * (row >= SIDE)
    return x, y


def begin(pen: Pen, column: int, row: int) -> None:
    """Let what is drawn now belong together, at its place. A first mark that is a row, be it without words,
    makes the player know it by that place: a 5 that is new here was not there before.
    """
    pen.owner = Owner("box", (SIDE + len(SUMS)) * (row + 1) + column + 1)
    pen.write("row", *middle(max(column, 0), max(row, 0)))


def head(pen: Pen, word: str, column: int, row: int) -> None:
    """Write a label at the left of a row or above a column."""
    begin(pen, column, row)
    x, y = middle(max(column, 0), max(row, 0))
    if column < 0:
        x = EDGE + LABEL[0] // 2 - 3
    else:
        y -= CELL[1] // 2 + 14
    pen.write("label", x, y, (word, ""))


def middle(column: int, row: int) -> Place:
    """Return where the text of a cell stands."""
    x, y = corner(column, row)
    return x + CELL[0] // 2, y + CELL[1] // 2 + 5


def cell(pen: Pen, column: int, row: int, text: str, known: str) -> None:
    """Draw a cell with its number, or with nothing where it is open."""
    is_open = text == OPEN
    begin(pen, column, row)
    pen.rect("operation", *corner(column, row), *CELL, 6, state="ghost" if is_open else known)
    pen.write("middle", *middle(column, row), ("" if is_open else text, ""))
