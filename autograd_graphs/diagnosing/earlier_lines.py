"""Read the lines that ran before an error: of earlier cells, of its own cell or function.

Source is read and never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from autograd_graphs.answer_card import code
from autograd_graphs.diagnosing.dataflow import Scope
from autograd_graphs.diagnosing.sources import Place
from autograd_graphs.diagnosing.syntax import LOOPS, MODES, binds, called
from autograd_graphs.looking.cells import failures
from autograd_graphs.looking.statements import SCOPES, bodies, declared, rebinds
from autograd_graphs.looking.variable_names import parameters

MOST = 2_000  # statements that are read
MAYBE = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try, ast.TryStar, ast.Match)


@dataclass(frozen=True, slots=True)
class Line:
    """Hold a statement that ran before the error, or may have; `is_sure` that it did, if the error
    came later. `where` is told of one that can only have run in an earlier round of a loop.
    """

    node: ast.stmt
    place: Place
    is_sure: bool
    where: str = ""

    def __str__(self) -> str:
        where = self.where or self.place.where(self.node)
        return f"{where}: {code(self.place.words(self.node))}"


class Past:
    """Hold the statements before one of a scope that failed, and what their names hold now."""

    def __init__(self, scope: Scope, nr: int) -> None:
        self.live = dict(scope.space)
        self.here = scope.body[nr].place
        self.lines = list(statements(scope, nr))
        self.unseen: list[ast.stmt] = []  # stand before one of which nobody sees what it runs
        self.rebound: set[str] = set()
        for nr, line in enumerate(self.lines):
            self.rebound |= declared(line.node)
            if rebinds(line.node):  # a magic such as `%%time`, `exec()`
                self.unseen = [before.node for before in self.lines[: nr + 1]]
        for nr, _ in enumerate(self.unseen):
            self.lines[nr] = replace(self.lines[nr], is_sure=False)
        for name, thing in scope.space.items():
            if isinstance(thing, torch.nn.Module):
                for path, parameter in parameters(thing):
                    self.live[f"{name}.{path}"] = parameter

    def still(self, name: str, line: Line) -> Any:
        """Return what a name holds since a line; None where it may have been bound anew."""
        base = name.partition(".")[0]
        later = self.lines[self.lines.index(line) + 1 :]
        if base in self.rebound or any(base in binds(after.node) for after in later):
            return None
        return self.live.get(name)


def statements(scope: Scope, nr: int) -> Iterator[Line]:
    """Yield what ran before a statement: earlier cells, then its own cell or function."""
    stop, around, here = scope.body[nr]
    loop = next((block for block in around if isinstance(block, LOOPS)), None)
    failed = failures()
    for stmt, blocks, place in scope.body[max(0, nr - MOST) : nr]:
        is_ended = place is here or (failed is not None and place.cell not in failed)
        if stmt is loop:
            yield from earlier_rounds(scope, stmt, stop)
        if stmt.lineno != stop.lineno or place is not here:
            for block in blocks:
                has_run = block in around and is_above(block, stmt, stop)
                is_ended = is_ended and (has_run or runs_whole(block))
            yield Line(stmt, place, is_ended)


def is_above(block: ast.stmt, stmt: ast.stmt, stop: ast.stmt) -> bool:
    """Say whether two statements stand in the same part of a block: what stands above in it ran."""
    for part in bodies(block):
        if part[0].lineno <= stmt.lineno and stop.lineno <= part[-1].end_lineno:
            return True
    return False


def runs_whole(stmt: ast.stmt) -> bool:
    """Say whether what a compound statement holds runs once and to its end, if no error is seen."""
    if not isinstance(stmt, (ast.With, ast.AsyncWith)):
        return not isinstance(stmt, MAYBE)
    # others, such as suppress(), may hide that a line failed
    return all(called(item.context_expr) in MODES for item in stmt.items)


def earlier_rounds(scope: Scope, loop: ast.stmt, stop: ast.stmt) -> Iterator[Line]:
    """Yield the simple statements of a loop, from the line of the error on."""
    for stmt, blocks, place in scope.body:
        is_simple = isinstance(stmt, SCOPES) or not any(bodies(stmt))
        if loop in blocks and is_simple and stmt.end_lineno >= stop.lineno:
            own = "this same line"
            if stmt.lineno > stop.lineno:
                own = place.where(stmt)
            yield Line(stmt, place, False, f"{own}, in an earlier round of its loop")
