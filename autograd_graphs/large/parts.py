"""Hold the parts of a program that can be a box each, and give each a name of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from autograd_graphs.large.owners import common
from autograd_graphs.large.pieces import Piece

CALL = re.compile(r"\[[^\]]*\]")  # which call of a module is meant
MOST_JOINED = 3  # modules that are named one by one: "lower+upper"


class NoPart(Exception):
    """Say that a graph has no part of a name: the reader's mistake, not ours."""


@dataclass(frozen=True, slots=True)
class Part:
    """Hold the places start … stop - 1: one stretch, or equal copies of one; `name` is that of all
    together.

    `pieces` are the copies with what is in them, `scope` says where parts in it lie.
    """

    start: int
    stop: int
    name: str
    copies: tuple[str, ...]
    pieces: tuple[Piece, ...] = field(default=(), compare=False, repr=False)
    scope: str = field(default="", compare=False)

    @property
    def period(self) -> int:
        return (self.stop - self.start) // len(self.copies)

    @property
    def is_call(self) -> bool:
        """Say whether it is one module call, or several alike."""
        return bool(self.pieces and self.pieces[0].path)

    def each(self) -> list[Part]:
        """Return its copies, each as a part of its own."""
        return [self.some(nr, nr + 1) for nr in range(len(self.copies))]

    def holds(self, other: Part) -> bool:
        return self.start <= other.start and other.stop <= self.stop

    def some(self, first: int, last: int) -> Part:
        """Return copies first … last - 1 as a part of their own, called by their names."""
        copies = self.copies[first:last]
        if copies == self.copies:
            return self
        start = self.start + first * self.period
        stop = self.start + last * self.period
        name = span(copies)
        scope = self.scope
        if len(copies) == 1 and (self.is_call or name.endswith("]")):
            scope = name
        return Part(start, stop, name, copies, self.pieces[first:last], scope)


def qualified(name: str, scope: str) -> str:
    """Say in which call a part lies: "layer.norm" in "layer[3]" is "layer[3].norm"."""
    whole = plain(scope)
    if not scope:
        return name
    if name.startswith(f"{whole}."):
        return scope + name.removeprefix(whole)
    return f"{scope}.{name}"


def plain(name: str) -> str:
    """Return a name without the numbers of calls: "layer" of "layer[3]"."""
    return CALL.sub("", name)


def span(copies: Sequence[str]) -> str:
    """Call several copies by the first and the last: "encoder.0 … 11", "cell[0] … [48]"."""
    first, last = copies[0], copies[-1]
    if len(copies) == 1:
        return first
    if last.endswith("]") and first[: first.rfind("[")] == last[: last.rfind("[")]:
        return f"{first} … {last[last.rindex('[') :]}"
    return f"{first} … {last.rpartition('.')[2]}"


def joined(paths: Sequence[str]) -> str:
    """Call neighbours by their modules: "lower+upper", "layers.0-1"; "" where there is none."""
    split = [tuple(path.split(".")) for path in dict.fromkeys(paths)]
    if len(split) < 2:
        return "".join(paths[:1])
    shared = common(names[:-1] for names in split)
    ends = [".".join(names[len(shared) :]) for names in split]
    if all(map(str.isdecimal, ends)):
        end = f"{ends[0]}-{ends[-1]}"
    elif len(ends) <= MOST_JOINED:
        end = "+".join(ends)
    else:
        end = f"{ends[0]}+…+{ends[-1]}"
    return ".".join((*shared, end))


def row_names(
    pieces: Sequence[Piece], scope: str, block: str, beside: str
) -> tuple[str, tuple[str, ...]]:
    """Name a row and its copies: by their modules, by which call of one it is, else by `block`.

    `beside` names the operations of a copy that no module of it called: "layers.0+Relu".
    """
    if not called(pieces[0]):
        return block, tuple(f"{block}[{nr}]" for nr in range(len(pieces)))
    names = [qualified(joined(called(piece)), scope) for piece in pieces]
    if len(set(names)) == len(names):
        return span(names) + beside, tuple(name + beside for name in names)
    copies = tuple(f"{name}{beside}[{nr}]" for nr, name in enumerate(names))
    return names[0] + beside if len(set(names)) == 1 else span(copies), copies


def called(piece: Piece) -> list[str]:
    """Return the path of a call, or those of the calls directly in what is none."""
    if piece.path:
        return [piece.path]
    return [item.path for item in piece.items if isinstance(item, Piece)]


def distinct(parts: Sequence[Part]) -> list[Part]:
    """Tell apart parts with one name: the second call of a module is "tower[call 2]"."""
    met: Counter[str] = Counter()
    apart = []
    for part in parts:
        names = {part.name, *part.copies, *names_inside(part)}
        met.update(names)
        call = max(map(met.get, names))
        apart.append(numbered(part, call) if call > 1 else part)
    return apart


def names_inside(part: Part) -> set[str]:
    """Return the names that the calls in several modules drawn as one, "lower+upper", will have."""
    if part.is_call or part.name.endswith("]"):
        return set()
    paths = chain.from_iterable(map(called, part.pieces))
    return {qualified(path, part.scope) for path in paths}


def numbered(part: Part, call: int) -> Part:
    """Say of a part which call of its modules it is."""
    copies = tuple(f"{copy}[call {call}]" for copy in part.copies)
    scope = copies[0] if part.scope == part.name else part.scope
    return replace(part, copies=copies, name=span(copies), scope=scope)
