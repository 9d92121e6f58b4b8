"""Gather what is known about an error: frames, tensors in reach, and the way of their values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import CodeType, FrameType, TracebackType
from typing import Any

import torch

from autograd_graphs.answer_card import code, listed
from autograd_graphs.diagnosing.catalogue import FINDINGS, LESSONS
from autograd_graphs.diagnosing.dataflow import Event, Placed, Scope, Values, placed
from autograd_graphs.diagnosing.detectors import freed_by_earlier_lines
from autograd_graphs.diagnosing.earlier_lines import Past
from autograd_graphs.diagnosing.errors import frames_of, learners_lines
from autograd_graphs.diagnosing.failed_backward import (
    FailedBackward,
    failed_backward,
    perhaps_freed_by,
)
from autograd_graphs.diagnosing.reach import reached
from autograd_graphs.diagnosing.sources import (
    Place,
    body_of,
    cells_before,
    cells_in,
    is_as_it_ran,
    place_of,
)
from autograd_graphs.diagnosing.syntax import called, head, names_in, nodes_in
from autograd_graphs.looking.source import call_at
from autograd_graphs.looking.statements import lines_of
from autograd_graphs.looking.variable_names import variables

_CODE, _FITTING = re.compile("`(.*?)`"), re.compile(r"\{([^{}|]*)\|([^{}]*)\}")


@dataclass(frozen=True)
class Finding:
    """Hold a diagnosis: what happened, on which lines of the learner's, what to try, and the lesson
    that teaches it, where it differs from the lesson of the message.
    """

    what: str
    lines: tuple[str, ...]
    remedy: str
    lesson: str = ""


def finding(kind: str, lines: Iterable[Any], names: Sequence[str] = (), /, **words: Any) -> Finding:
    """Return what findings.toml says of a kind; some of its words fit the number of `names`. A
    `lesson` among the words is told before that of the table.
    """
    if names:
        words["names"] = listed(names)
    sentences = []
    fitting = each(names, r"\1", r"\2")
    for text in FINDINGS[kind].values():
        text = _FITTING.sub(fitting, _CODE.sub(code(r"\1"), text))
        sentences.append(text.format(**words))
    lesson = words.get("lesson") or LESSONS.get(kind, "")
    return Finding(sentences[0], tuple(texts_of(lines)), sentences[1], lesson)


def texts_of(lines: Iterable[Any]) -> list[str]:
    """Return the texts of lines or events, each once."""
    return list(dict.fromkeys(map(str, lines)))


@dataclass(frozen=True)
class Spot:
    """Hold a line that ran: its module's namespace, the scope of its names, its statement there."""

    globals: dict[str, Any]
    scope: Scope
    nr: int

    @property
    def row(self) -> Placed:
        return self.scope.body[self.nr]

    @property
    def stmt(self) -> ast.stmt:
        return self.row.stmt

    def __str__(self) -> str:
        return str(self.row)

    def called(self) -> str:
        """Return what the learner calls the first tensor of this line; "" where it names none."""
        names = names_in(self.stmt)
        return next((name for name in names if torch.is_tensor(self.scope.space.get(name))), "")


def spot_in(
    made: CodeType,
    number: int,
    space: dict[str, Any],
    known: dict[str, Any],
    cell: int = 0,
    column: int | None = None,
) -> Spot | None:
    """Return the statement at a line of a code, with all that ran before; `known` are its names.

    Of several statements of one line it is the one at `column`, or else the last.
    """
    cells = cells_in(space)
    source = body_of(made, cells)
    if source is None or not is_as_it_ran(made, number):
        return None
    place, tree = source
    body = []
    if isinstance(tree, ast.Module):
        for earlier in cells_before(cells[: place.cell or len(cells)]):
            body += placed(earlier.text.tree.body, earlier)
    shown = 0 if cell in (0, place.cell) else place.cell
    here = Place(place.text, shown)
    body += placed(tree.body, here)
    spot = None
    for nr, (stmt, _, where) in enumerate(body):
        is_later = column is not None and (stmt.lineno, stmt.col_offset) > (number, column)
        if where is here and stmt.lineno <= number <= stmt.end_lineno and not is_later:
            spot = Spot(space, Scope(here, body, known, is_live=True), nr)
    return spot


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
        lines = learners_lines(self.traceback)
        if self.is_past:  # of an older error every line says its cell
            self.cell = -1
        elif lines:
            outer = lines[-1][0]
            place = place_of(tuple(lines_of(outer.f_code.co_filename)), cells_in(outer.f_globals))
            self.cell = place.cell if place else 0
        pairs = []
        for frame, number, column in lines:
            known = dict(variables(frame))
            spot = spot_in(frame.f_code, number, frame.f_globals, known, self.cell, column)
            if spot is not None:
                pairs.append((frame, spot))
        return pairs

    @cached_property
    def spots(self) -> list[Spot]:
        """Return the learner's lines, the innermost first."""
        return [self.heard] if self.heard else [spot for _, spot in self.framed]

    @property
    def spot(self) -> Spot | None:
        return next(iter(self.spots), None)

    @cached_property
    def call(self) -> FailedBackward | None:
        return failed_backward(frames_of(self.traceback))

    @cached_property
    def past(self) -> Past | None:
        """Return what ran before the error; None of an older one, since when cells ran."""
        if self.is_past or not self.framed:
            return None
        try:
            return Past(self.spot.scope, self.spot.nr)
        except Exception:  # whatever a source is like: what is known without it is still said
            return None

    @cached_property
    def unsure(self) -> list[Any] | None:
        """Return the nodes that the call itself may have freed; None where nothing is known."""
        if self.is_past:
            return None
        known = freed_by_earlier_lines(self.past) if self.past else []
        return perhaps_freed_by(self.call, known)

    @cached_property
    def names(self) -> list[tuple[str, torch.Tensor]]:
        return list(reached([spot.scope.space for spot in self.spots]))

    @cached_property
    def line_names(self) -> list[tuple[str, torch.Tensor]]:
        """Return the tensors that the names in the failing lines lead to, the innermost first."""
        pairs = {}
        for spot in self.spots:
            here = names_in(spot.stmt)
            begin = set(map(head, here))
            in_order = sorted(reached([spot.scope.space]), key=lambda pair: pair[0] not in here)
            for name, tensor in in_order:
                if head(name) in begin:
                    pairs.setdefault(id(tensor), (name, tensor))
        return list(pairs.values())

    @cached_property
    def values(self) -> Values:
        values = Values()
        for inner, outer in pairwise(self.framed):
            bind_arguments(values, inner, outer)
        for spot in self.spots:
            values.statement(spot.scope, spot.nr)
        return values

    def of(self, kind: str) -> list[Event]:
        return self.values.of_kind(kind)

    def seen_cuts(self) -> list[Event]:
        """Return where graphs end, as far as one sees what ran since."""
        return [cut for cut in self.of("cut") if cut.stmt not in self.past.unseen]

    def as_told(self, line: str) -> str:
        """Return a line as it is told: of the cell at hand it is clear which cell is meant."""
        return line.replace(f" of cell [{self.cell}]: ", ": ", 1)


def bind_arguments(
    values: Values, inner: tuple[FrameType, Spot], outer: tuple[FrameType, Spot]
) -> None:
    """Give a function's arguments what the call in the frame above gave them."""
    (frame, spot), (above, caller) = inner, outer
    call = call_at(caller.scope.place.text, above)
    source = body_of(frame.f_code, ())
    is_named = not frame.f_code.co_name.startswith("<")
    if call is None or source is None or isinstance(source[1], ast.Module) or not is_named:
        return
    names = [argument.arg for argument in source[1].args.args]
    if isinstance(call.func, ast.Attribute) or (names and names[0] == "self"):
        names = names[1:]
    for name, value in zip(names, call.args, strict=False):
        spot.scope.given[name] = values.at(caller.scope, value, caller.nr)


def made_line(spot: Spot, name: str) -> list[str]:
    made = spot.scope.made_at(name, spot.nr)
    return [str(made)] if made else []


def places(space: dict[str, Any]) -> list[Place]:
    """Return all sources of the learner's that a namespace tells of: its cells, or its file."""
    cells = cells_before(cells_in(space))
    file = space.get("__file__")
    if cells or type(file) is not str:
        return cells
    own = place_of(tuple(lines_of(file)), ())
    return [own] if own else []


def in_sources(space: dict[str, Any], kind: Any) -> Iterator[tuple[Any, Place]]:
    """Yield the syntax nodes of a kind in all of the learner's sources, the newest first."""
    for place in reversed(places(space)):
        for node in nodes_in(place.text.tree, kind):
            yield node, place


def calls_of(space: dict[str, Any], *words: str, given: str = "") -> tuple[str, ...]:
    """Return the lines that call something of these names, and give it what reads so."""
    lines = []
    for node, place in in_sources(space, ast.Call):
        if called(node) in words and given in ast.unparse(node):
            lines.append(place.line(node))
    return tuple(dict.fromkeys(lines))


def lines_with(space: dict[str, Any], word: str) -> tuple[str, ...]:
    """Return the lines that name something with a word in it, or set it."""
    lines = []
    for stmt, place in in_sources(space, (ast.Assign, ast.Expr)):
        if word in " ".join(names_in(stmt)):
            lines.append(place.line(stmt))
    return tuple(dict.fromkeys(lines))


def assigned(space: dict[str, Any], attribute: str) -> tuple[str, ...]:
    """Return the lines that give an attribute of that name a value."""
    lines = []
    for stmt, place in in_sources(space, ast.Assign):
        for node in nodes_in(stmt, ast.Attribute):
            if node.attr == attribute and isinstance(node.ctx, ast.Store):
                lines.append(place.line(stmt))
    return tuple(dict.fromkeys(lines))


def each(things: Sized, singular: Any, plural: Any) -> Any:
    """Return the words for one thing, or those for several."""
    return singular if len(things) == 1 else plural


def quoted(name: str, otherwise: str) -> str:
    """Return a name as code; other words where nobody has a name."""
    return code(name) if name else otherwise


def aside(name: str) -> str:
    """Return a name as it follows another word, between commas; "" where nobody has a name."""
    return f", {code(name)}," if name else ""
