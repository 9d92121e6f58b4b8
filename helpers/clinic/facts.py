"""Gather what is known about an error: its frames, the tensors in reach, and the way of the values
that the failing line used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import CodeType, FrameType, TracebackType
from typing import Any

import torch

from autograd_graphs.looking.source import call_at
from autograd_graphs.looking.statements import lines_of
from autograd_graphs.looking.torch_private import is_tensor
from autograd_graphs.looking.variable_names import variables
from helpers.answers import code
from helpers.clinic.reach import reached
from helpers.clinic.sources import (
    Place,
    body_of,
    cells_before,
    cells_in,
    place_of,
)
from helpers.clinic.values import Event, Scope, Values, dotted, flat, targets
from helpers.users_line import is_users


@dataclass(frozen=True)
class Finding:
    """Hold a diagnosis: what happened, on which lines of the learner's, and what to try."""

    what: str
    lines: tuple[str, ...]
    remedy: str


@dataclass(frozen=True)
class Spot:
    """Hold a line that ran: the namespace of its module, the scope that its names are looked up in,
    and its statement there.
    """

    globals: dict[str, Any]
    scope: Scope
    nr: int

    @property
    def stmt(self) -> ast.stmt:
        return self.scope.body[self.nr][0]

    def __str__(self) -> str:
        return self.scope.body[self.nr][2].line(self.stmt)

    def called(self) -> str:
        """Return what the learner calls the first tensor of this line; "" where it names none."""
        names = names_in(self.stmt)
        return next((name for name in names if is_tensor(self.scope.space.get(name))), "")


def spot_of(frame: FrameType, number: int, cell: int) -> Spot | None:
    """Return the statement at a line of a frame, with all that ran before it; `cell` is at hand."""
    return spot_in(frame.f_code, number, frame.f_globals, dict(variables(frame)), cell)


def spot_in(
    made: CodeType, number: int, space: dict[str, Any], known: dict[str, Any], cell: int = 0
) -> Spot | None:
    """Return the statement at a line of a code that runs in a namespace; `known` are its names."""
    cells = cells_in(space)
    found = body_of(made, cells)
    if found is None:
        return None
    place, tree = found
    body = []
    if isinstance(tree, ast.Module):
        for earlier in cells_before(cells[: place.cell or len(cells)]):
            if earlier.text.lines != place.text.lines:
                body += [(stmt, blocks, earlier) for stmt, blocks in flat(earlier.text.tree.body)]
    here = Place(place.text, place.cell if cell != place.cell and cell else 0)
    body += [(stmt, blocks, here) for stmt, blocks in flat(tree.body)]
    at = [
        nr
        for nr, (stmt, _, where) in enumerate(body)
        if where is here and stmt.lineno <= number <= stmt.end_lineno
    ]
    return Spot(space, Scope(here, body, known, is_live=True), at[-1]) if at else None


def cell_at(made: CodeType, space: dict[str, Any]) -> int:
    """Return the number of the cell that a code stands in; 0 of a file."""
    found = place_of(tuple(lines_of(made.co_filename)), cells_in(space))
    return found.cell if found else 0


class Facts:
    """Hold what is known about an error; each part is found when it is asked for."""

    def __init__(self, text: str, traceback: TracebackType | None, is_past: bool) -> None:
        self.text, self.traceback, self.is_past = text, traceback, is_past
        self.records = torch.is_grad_enabled()
        self.heard: Spot | None = None  # where a warning came from
        self.cell = 0  # the number of the cell at hand

    @cached_property
    def framed(self) -> list[tuple[FrameType, Spot]]:
        """Return the learner's frames in the traceback and their lines, the innermost first."""
        found, one = [], self.traceback
        while one is not None:
            frame = one.tb_frame
            if is_users(frame.f_code.co_filename):
                if not found:  # of an older error every line says its cell
                    self.cell = -1 if self.is_past else cell_at(frame.f_code, frame.f_globals)
                found.append((frame, spot_of(frame, one.tb_lineno or 0, self.cell)))
            one = one.tb_next
        return [(frame, spot) for frame, spot in reversed(found) if spot is not None]

    @cached_property
    def spots(self) -> list[Spot]:
        """Return the learner's lines, the innermost first."""
        return [self.heard] if self.heard else [spot for _, spot in self.framed]

    @property
    def spot(self) -> Spot | None:
        return self.spots[0] if self.spots else None

    @cached_property
    def names(self) -> list[tuple[str, torch.Tensor]]:
        return list(reached([spot.scope.space for spot in self.spots]))

    @cached_property
    def line_names(self) -> list[tuple[str, torch.Tensor]]:
        """Return the tensors that the names in the failing lines lead to, the innermost first."""
        found, seen = [], set()
        for spot in self.spots:
            here = names_in(spot.stmt)
            begin = {name.partition(".")[0] for name in here}
            pairs = [pair for pair in reached([spot.scope.space]) if head(pair[0]) in begin]
            for name, one in sorted(pairs, key=lambda pair: pair[0] not in here):
                if id(one) not in seen:
                    seen.add(id(one))
                    found.append((name, one))
        return found

    @cached_property
    def values(self) -> Values:
        """Return the values of the failing lines, with what they went through."""
        values = Values()
        for inner, outer in pairwise(self.framed):
            bind_arguments(values, inner, outer)
        for spot in self.spots:
            values.statement(spot.scope, spot.nr)
        return values

    def of(self, kind: str) -> list[Event]:
        return [one for one in self.values.events if one.kind == kind]

    def told(self, line: str) -> str:
        """Return a line as it is told: of the cell at hand it is clear which cell is meant."""
        return line.replace(f" of cell [{self.cell}]: ", ": ", 1)


def bind_arguments(
    values: Values, inner: tuple[FrameType, Spot], outer: tuple[FrameType, Spot]
) -> None:
    """Give a function's arguments what the call in the frame above gave them."""
    (frame, spot), (above, caller) = inner, outer
    call = call_at(caller.scope.place.text, above)
    found = body_of(frame.f_code, ())
    is_named = not frame.f_code.co_name.startswith("<")
    if call is None or found is None or isinstance(found[1], ast.Module) or not is_named:
        return
    names = [one.arg for one in found[1].args.args]
    if isinstance(call.func, ast.Attribute) or (names and names[0] == "self"):
        names = names[1:]
    for name, one in zip(names, call.args, strict=False):
        spot.scope.given[name] = values.at(caller.scope, one, caller.nr)


def head(name: str) -> str:
    return name.replace("[", ".").partition(".")[0]


def names_in(tree: ast.AST) -> list[str]:
    """Return the names, plain and dotted, that a statement reads, without those of blocks in it."""
    found = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node):
            found.append(dotted(node))
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]
    return list(dict.fromkeys(found))


def made_at(spot: Spot, name: str) -> tuple[ast.stmt, Place] | None:
    """Return the last statement before a spot that gave a name its value."""
    for stmt, _, place in reversed(spot.scope.body[: spot.nr]):
        if any(target == name for target, _ in targets(stmt)) and isinstance(
            stmt, (ast.Assign, ast.AnnAssign, ast.For)
        ):
            return stmt, place
    return None


def made_line(spot: Spot, name: str) -> list[str]:
    """Return the line that gave a name its value, if there is one."""
    made = made_at(spot, name)
    return [made[1].line(made[0])] if made else []


def places(space: dict[str, Any]) -> list[Place]:
    """Return all sources of the learner's that a namespace tells of: its cells, or its file."""
    found = cells_before(cells_in(space))
    file = space.get("__file__")
    if found or type(file) is not str:
        return found
    own = place_of(tuple(lines_of(file)), ())
    return [own] if own else []


def in_sources(space: dict[str, Any], kind: type) -> Iterator[tuple[Any, Place]]:
    """Yield the syntax nodes of a kind in all of the learner's sources, the newest first."""
    for place in reversed(places(space)):
        for node in ast.walk(place.text.tree):
            if isinstance(node, kind):
                yield node, place


def assigned(space: dict[str, Any], attribute: str) -> Iterable[str]:
    """Return the lines that give an attribute of that name a value."""
    found = []
    for stmt, place in in_sources(space, ast.Assign):
        for target in stmt.targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            if any(isinstance(one, ast.Attribute) and one.attr == attribute for one in parts):
                found.append(place.line(stmt))
    return list(dict.fromkeys(found))


def each(things: Sized, one: Any, many: Any) -> Any:
    """Return the words for one thing, or those for several."""
    return one if len(things) == 1 else many


def quoted(name: str, otherwise: str) -> str:
    """Return a name as code; other words where nobody has a name."""
    return code(name) if name else otherwise
