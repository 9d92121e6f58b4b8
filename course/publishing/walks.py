"""Make a table of a stored player's backward: what arrives at each node, and what it hands on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from nbformat import NotebookNode

from autograd_graphs.playing.player import FILM

TIMES = ["arrives", "sign", "factor", "sign", "handed"]  # of a row of the panel, cell by cell
ADDS = ["before", "sign", "arrives", "sign", "total"]
LEAST = 2  # nodes, leaves apart, that make it worth a table


@dataclass(frozen=True)
class InputGradient:
    """What a node hands on: to which input, its derivative as a `rule` and as numbers."""

    to: str
    rule: str
    factor: str
    gradient: str


@dataclass(frozen=True)
class Turn:
    """One node at its turn; a leaf `keeps` its gradient there, where `total` then stands."""

    node: str
    arrives: str
    inputs: tuple[InputGradient, ...] = ()
    keeps: str = ""
    total: str = ""


def walk_of(outputs: Sequence[NotebookNode]) -> tuple[Turn, ...]:
    """Return the turns of the first player's backward; none where it is more than numbers."""
    films = [output.metadata[FILM] for output in outputs if FILM in output.get("metadata", {})]
    try:
        return turns_of(json.loads(films[0]))
    except LookupError:  # no film, no backward, or a stranger's number that leads nowhere
        return ()


def turns_of(film: dict[str, Any]) -> tuple[Turn, ...]:
    """Return one turn for each step, or none where a step is no row of a table."""
    moments = film["moments"][1 : film["steps"] + 1]  # the first only starts the walk
    turns = [turn(film, step, moment) for step, moment in enumerate(moments)]
    if None in turns or len([one for one in turns if one.inputs]) < LEAST:
        return ()
    return tuple(turns)


def turn(film: dict[str, Any], step: int, moment: dict[str, Any] | int) -> Turn | None:
    """Return what happens at a step; None for what does not go into a line of a table."""
    if not isinstance(moment, dict) or "kind" not in moment:
        return None
    lines, rows = film["lines"], moment.get("rows", [])
    if not rows or not all(map(is_in_words, rows)):
        return None
    title, kind = lines[moment["title"]], lines[moment["kind"]]
    if all(signs(row) == TIMES for row in rows):
        node, made = title + kind, tag_of(film, step)
        if made:
            node += f" → {made}"
        return Turn(node, rows[0][0][1], tuple(input_gradient(lines, row) for row in rows))
    if signs(rows[-1]) == ADDS:
        *sums, last = rows
        arrives = last[2][1]
        if sums:
            arrives = " ".join(cell[1] for cell in sums[-1])
        return Turn(kind.strip(), arrives, keeps=title, total=last[-1][1])
    return None


def is_in_words(row: list[list[Any]]) -> bool:
    return all(isinstance(cell[1], str) for cell in row)


def signs(row: list[list[Any]]) -> list[str]:
    return [cell[0] for cell in row]


def tag_of(film: dict[str, Any], step: int) -> str:
    """Return what the drawing calls the tensor that a step's node made; "" where it has no name."""
    scene = film["scenes"][0]
    for node, (stretches, *_) in enumerate(scene["turns"], start=1):
        if step in stretches[::2]:
            for _, role, _, *rest in scene["marks"][node]:
                if film["roles"][role] == "tagged" and len(rest) > 2:
                    return str(rest[2])
    return ""


def input_gradient(lines: list[str], row: list[list[Any]]) -> InputGradient:
    _, _, factor, _, handed = row
    return InputGradient(lines[handed[2]], lines[factor[2]], factor[1], handed[1])


def table(turns: Sequence[Turn], *, filled: bool) -> str:
    """Return a table of them in HTML, or the same with room to write."""
    heads = ("Node", "What arrives", "Local derivative", "What it hands on")
    head = "".join(f'<th scope="col">{words}</th>' for words in heads)
    body = "".join(rows(one, filled) for one in turns)
    return f'<table class="walk"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def rows(one: Turn, filled: bool) -> str:
    """Return the rows of one node, one for each input."""
    span, arrives, total = "", "", ""
    if len(one.inputs) > 1:
        span = f' rowspan="{len(one.inputs)}"'
    if filled:
        arrives, total = escape(one.arrives), escape(one.total)
    opening = f'<th scope="row"{span}>{escape(one.node)}</th><td{span}>{arrives}</td>'
    if not one.inputs:
        return f'<tr>{opening}<td class="none">–</td><td>{escape(one.keeps)} = {total}</td></tr>'
    made = ""
    for each in one.inputs:
        to = f"<small>{escape(each.to)}</small>"
        cells = f'<td></td><td class="room">{to}</td>'
        if filled:
            cells = f"<td>{escape(derivative(each))}</td><td>{escape(each.gradient)} {to}</td>"
        made += f"<tr>{opening}{cells}</tr>"
        opening = ""  # it spans the rows below
    return made


def derivative(one: InputGradient) -> str:
    """Return a local derivative in words and in numbers: "cos(x) = cos(2)"."""
    if one.rule in ("", "unchanged", one.factor):
        return one.factor
    return f"{one.rule} = {one.factor}"
