"""Find the learner's source: cells that ran, functions in them, and the cell of a line."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from autograd_graphs.answer_card import code
from autograd_graphs.looking.running_code import runs
from autograd_graphs.looking.source import scope_of
from autograd_graphs.looking.statements import Text, lines_of
from autograd_graphs.looking.users_line import is_users
from autograd_graphs.text import visible

LONGEST = 90  # characters of a line that are shown


@dataclass(frozen=True)
class Place:
    """Hold a source: `cell` is the number that is told, 0 of a file or of the cell at hand."""

    text: Text
    cell: int = 0

    def line(self, stmt: ast.stmt) -> str:
        return f"{self.where(stmt)}: {code(self.words(stmt))}"

    def where(self, stmt: ast.stmt) -> str:
        if self.cell:
            return f"line {stmt.lineno} of cell [{self.cell}]"
        return f"line {stmt.lineno}"

    def words(self, stmt: ast.stmt) -> str:
        return visible(self.text.lines[stmt.lineno - 1].strip(), LONGEST)


def place_of_function(function: Any) -> tuple[Place, Any] | None:
    """Return the source of a function of the learner's and its syntax tree; None of any other."""
    while isinstance(getattr(function, "__wrapped__", None), FunctionType):
        function = function.__wrapped__
    if not isinstance(function, FunctionType):
        return None
    made = function.__code__
    if not is_users(made.co_filename):
        return None
    found = body_of(made, cells_in(function.__globals__))
    if found is None or made.co_name != "<lambda>":
        return found
    tree = lambda_in(found[0].text.tree, made.co_firstlineno)
    return None if tree is None else (found[0], tree)


@lru_cache(maxsize=64)
def lambda_in(module: ast.Module, number: int) -> ast.FunctionDef | None:
    """Return the one lambda that begins in a line, as a function that returns its body; else None."""
    nodes = (node for node in ast.walk(module) if isinstance(node, ast.Lambda))
    here = [node for node in nodes if node.lineno == number]
    if len(here) != 1:
        return None
    body = [ast.copy_location(ast.Return(here[0].body), here[0].body)]
    made = ast.FunctionDef("<lambda>", here[0].args, body, [])
    return ast.copy_location(made, here[0])


def body_of(made: CodeType, cells: tuple[str, ...]) -> tuple[Place, Any] | None:
    """Return the source that a code stands in, and its function or module."""
    place = place_of(tuple(lines_of(made.co_filename)), cells)
    if place is None:
        return None
    tree = scope_of(place.text.tree, made)
    if tree is None and made.co_name.startswith("<"):  # a lambda, or `... for ... in ...`
        tree = around(place.text.tree, made.co_firstlineno)
    return None if tree is None else (place, tree)


def around(module: ast.Module, number: int) -> Any:
    """Return the innermost function that a line stands in, or else the module."""
    innermost: Any = module
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.lineno < number <= node.end_lineno:
            innermost = node
    return innermost


def is_as_it_ran(made: CodeType, number: int) -> bool:
    """Say whether the text of a line is the one that ran: a cell's is, a file may be edited since."""
    if not os.path.isfile(made.co_filename):
        return True
    try:
        return runs(stripped(lines_of(made.co_filename)), number, made)
    except (SyntaxError, ValueError):
        return False


@lru_cache(maxsize=256)
def place_of(lines: tuple[str, ...], cells: tuple[str, ...]) -> Place | None:
    if not lines:
        return None
    try:
        text = Text(lines)
    except (SyntaxError, ValueError):
        return None
    return Place(text, max(cells_with(lines, cells), default=0))


def cells_with(lines: Sequence[str], cells: Sequence[str]) -> set[int]:
    """Return the numbers of the cells that have the same lines, if there are lines."""
    wanted = list(stripped(lines))
    return {nr for nr, cell in enumerate(cells) if wanted and cell.splitlines() == wanted}


def stripped(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple([line.rstrip("\r\n") for line in lines])


def cells_in(space: dict[str, Any]) -> tuple[str, ...]:
    cells = space.get("In")
    if type(cells) is list and set(map(type, cells)) <= {str}:
        return tuple(cells)
    return ()


def cells_before(cells: tuple[str, ...]) -> list[Place]:
    """Return the sources of cells, in order, those that can be read."""
    places = []
    for order, cell in enumerate(cells):
        place = place_of(tuple(cell.splitlines()), ())
        if place is not None:
            places.append(Place(place.text, order))
    return places
