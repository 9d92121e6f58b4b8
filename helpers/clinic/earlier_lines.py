"""Read the lines that ran before an error: of earlier cells, of its own cell or function.

Source is read and never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from autograd_graphs.looking.cells import MOST_SOURCE, cells_of, failures, read_cells
from autograd_graphs.looking.running_code import runs
from autograd_graphs.looking.source import scope_of
from autograd_graphs.looking.statements import (
    SCOPES,
    Text,
    bodies,
    bound,
    declared,
    lines_of,
    rebinds,
)
from autograd_graphs.looking.torch_private import is_module
from autograd_graphs.looking.variable_names import parameters, variables
from autograd_graphs.text import visible
from helpers.answers import code

LONGEST = 90  # characters of a line that are shown
MAYBE = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try, ast.TryStar, ast.Match)
GRAD_MODES = {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled"}
LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class Line:
    """Hold a statement that ran before the error, or may have.

    `where` says where it stands. `is_sure` that it ran, if the error came later; `is_round` that it
    can only have run in an earlier round of a loop.
    """

    node: ast.stmt
    where: str
    text: str
    is_sure: bool
    is_round: bool = False

    def __str__(self) -> str:
        again = ", in an earlier round of its loop" if self.is_round else ""
        return f"{self.where}{again}: {code(self.text)}"


class Past:
    """Hold the statements before the line of an error, and what their names hold now."""

    def __init__(self, frame: FrameType, number: int) -> None:
        self.live = dict(variables(frame))
        self.lines = doubted(statements(frame, number))
        self.rebound = {name for line in self.lines for name in declared(line.node)}
        for name, thing in list(self.live.items()):
            if is_module(thing):
                self.live.update({f"{name}.{path}": one for path, one in parameters(thing)})

    def still(self, name: str, line: Line) -> Any:
        """Return what a name holds since a line; None where it may have been bound anew."""
        base = name.partition(".")[0]
        if base in self.rebound or any(base in binds(one.node) for one in self.after(line)):
            return None
        return self.live.get(name)

    def after(self, line: Line) -> list[Line]:
        return self.lines[self.lines.index(line) + 1 :]


def doubted(lines: Iterable[Line]) -> list[Line]:
    """Return lines, those unsure that stand before one of which nobody sees what it runs: a magic
    such as `%%time`, `exec()`.
    """
    found: list[Line] = []
    is_seen = True
    for line in reversed(list(lines)):
        is_seen = is_seen and not rebinds(line.node)
        found.append(replace(line, is_sure=line.is_sure and is_seen))
    return found[::-1]


def statements(frame: FrameType, number: int) -> Iterator[Line]:
    """Yield what ran before a line of a frame: earlier cells, then the cell or function itself."""
    lines = tuple([line.rstrip("\r\n") for line in lines_of(frame.f_code.co_filename)])
    if not 0 < len(lines) <= MOST_SOURCE or not runs(lines, number, frame.f_code):
        return
    own = Text(lines)
    scope = scope_of(own.tree, frame.f_code)
    if scope is None:
        return
    if scope is own.tree:
        failed = failures()
        for cell in earlier_cells(frame, lines):
            is_sure = failed is not None and cell.order not in failed
            where = f" of cell [{cell.order}]"
            yield from within(cell, cell.tree.body, where, is_sure=is_sure)
    yield from within(own, scope.body, "", number)


def earlier_cells(frame: FrameType, own: Sequence[str]) -> list[Text]:
    """Return the cells that ran before one with a text."""
    cells = cells_of(frame)
    same = [order for order, cell in enumerate(cells) if tuple(cell.splitlines()) == tuple(own)]
    return read_cells(cells[: same[-1]], len(own)) if same else []


def within(
    text: Text, body: Sequence[ast.stmt], where: str, stop: int = 0, is_sure: bool = True
) -> Iterator[Line]:
    """Yield simple statements and the heads of compound ones, in order, up to line `stop`.

    Of a loop that holds `stop`, what an earlier round ran after it comes first.
    """
    for stmt in body:
        if stop and stmt.lineno > stop:
            return
        inner = [] if isinstance(stmt, SCOPES) else list(bodies(stmt))
        holds_stop = stop and stmt.end_lineno >= stop
        if holds_stop and isinstance(stmt, LOOPS):
            yield from rounds(text, inner, where, stop)
        if inner or not holds_stop:
            yield line_of(text, stmt, f"line {stmt.lineno}{where}", is_sure)
        for part in inner:
            # of the part that the error came in, the lines above it ran in this round
            here = holds_stop and part[0].lineno <= stop <= part[-1].end_lineno
            yield from within(text, part, where, stop, is_sure and (here or runs_whole(stmt)))


def runs_whole(stmt: ast.stmt) -> bool:
    """Say whether what a compound statement holds runs once and to its end, if no error is seen."""
    if not isinstance(stmt, (ast.With, ast.AsyncWith)):
        return not isinstance(stmt, MAYBE)
    calls = [getattr(item.context_expr, "func", None) for item in stmt.items]
    # others, such as suppress(), may hide that a line failed
    return all(getattr(one, "attr", getattr(one, "id", "")) in GRAD_MODES for one in calls)


def rounds(
    text: Text, parts: Sequence[Sequence[ast.stmt]], where: str, stop: int
) -> Iterator[Line]:
    """Yield the simple statements of a loop, from the line of the error on."""
    for stmt in [stmt for part in parts for stmt in part]:
        inner = [] if isinstance(stmt, SCOPES) else list(bodies(stmt))
        yield from rounds(text, inner, where, stop)
        if stmt.end_lineno >= stop and not inner:
            own = "this same line" if stmt.lineno <= stop else f"line {stmt.lineno}{where}"
            yield line_of(text, stmt, own, False, True)


def line_of(text: Text, stmt: ast.stmt, where: str, is_sure: bool, is_round: bool = False) -> Line:
    words = visible(text.lines[stmt.lineno - 1].strip(), LONGEST)
    return Line(stmt, where, words, is_sure, is_round)


def heads(stmt: ast.stmt) -> Iterator[ast.AST]:
    """Yield the tree of a statement without the statements in it, and without lambdas."""
    waiting: list[ast.AST] = [] if isinstance(stmt, SCOPES) else [stmt]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            inner = (ast.stmt, ast.Lambda, ast.ExceptHandler, ast.match_case)
            if not isinstance(child, inner):
                waiting.append(child)


def binds(stmt: ast.stmt) -> set[str]:
    """Return the names that a statement gives to something else; `y += 1` keeps its tensor."""
    if isinstance(stmt, ast.AugAssign):
        return set()
    if isinstance(stmt, SCOPES):
        return {stmt.name}
    return {name for node in heads(stmt) for name in bound_here(node)}


def bound_here(node: ast.AST) -> set[str]:
    if isinstance(node, ast.alias):
        return bound(node)
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return {node.id}
    return set()
