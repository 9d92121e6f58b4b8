"""Hold the parts of a program that can be a box each, and give each a name of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from autograd_graphs.large.owners import common
from autograd_graphs.large.pieces import Piece

NUMBER = re.compile(r"\[(call )?(\d+)(?: … (\d+))?\]")  # which call of a module, which round
MOST_JOINED = 3  # modules that are named one by one: "lower+upper"


class NoPart(Exception):
    """Say that a graph has no part of a name: the reader's mistake, not ours."""


@dataclass(frozen=True, slots=True)
class Part:
    """Hold the places start … stop - 1: one stretch, or equal copies of one; `name` is that of all
    together.

    `pieces` are the copies with what is in them.
    """

    start: int
    stop: int
    name: str
    copies: tuple[str, ...]
    pieces: tuple[Piece, ...] = field(default=(), compare=False, repr=False)

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
        return Part(start, stop, span(copies), copies, self.pieces[first:last])


def span(copies: Sequence[str]) -> str:
    """Call several copies by the first and the last: "encoder.0 … 11", "cell[call 3 … 50]"."""
    first, last = copies[0], copies[-1]
    if len(copies) == 1 or first == last:
        return first
    if NUMBER.sub("#", first) != NUMBER.sub("#", last):
        return f"{first} … {last.rpartition('.')[2]}"
    ends = NUMBER.finditer(last)

    def both(number: re.Match[str]) -> str:
        end = next(ends)
        if number[0] == end[0]:
            return number[0]
        return f"[{number[1] or ''}{number[2]} … {end[3] or end[2]}]"

    return NUMBER.sub(both, first)


def joined(labels: Sequence[str]) -> str:
    """Call neighbours by their calls: "layers.0-1", "lower+upper[call 2]", "cell[call 1 … 3]"."""
    labels = list(dict.fromkeys(labels))
    if len(set(map(stem, labels))) == 1:
        return span(labels)
    numbers = {label.removeprefix(stem(label)) for label in labels}
    if len(numbers) == 1:
        return paths_joined(list(map(stem, labels))) + numbers.pop()
    return paths_joined(labels)


def paths_joined(paths: Sequence[str]) -> str:
    """Call several paths by what they share and how they end: "model.lower+upper"."""
    split = [tuple(path.split(".")) for path in paths]
    shared = common(names[:-1] for names in split)
    ends = [".".join(names[len(shared) :]) for names in split]
    if all(map(str.isdecimal, ends)):
        end = f"{ends[0]}-{ends[-1]}"
    elif len(ends) <= MOST_JOINED:
        end = "+".join(ends)
    else:
        end = f"{ends[0]}+…+{ends[-1]}"
    return ".".join((*shared, end))


def stem(label: str) -> str:
    """Return a label without the number at its end: "D.net" of "D.net[call 2]"."""
    numbers = list(NUMBER.finditer(label))
    if numbers and numbers[-1].end() == len(label):
        return label[: numbers[-1].start()]
    return label


def row_names(pieces: Sequence[Piece], block: str, beside: str) -> tuple[str, tuple[str, ...]]:
    """Name a row and its copies: by the calls in them, else by `block`.

    `beside` names the operations of a copy that no module of it called: "layers.0+Relu". A row of
    all calls of a module is called by the module alone.
    """
    if not called(pieces[0]):
        return block, tuple(f"{block}[{nr}]" for nr in range(len(pieces)))
    names, calls = [], []
    for piece in pieces:
        names.append(joined(labels_in(piece)))
        calls += called(piece)
    times = Counter(stem(call.label) for call in calls)
    if all(1 < call.times == times[stem(call.label)] for call in calls):
        name = joined(list(map(stem, labels_in(pieces[0]))))
    else:
        name = span(names)
    return name + beside, tuple(name + beside for name in names)


def labels_in(piece: Piece) -> list[str]:
    return [call.label for call in called(piece)]


def called(piece: Piece) -> list[Piece]:
    """Return a call alone, or the calls directly in what is none."""
    if piece.path:
        return [piece]
    return [item for item in piece.items if isinstance(item, Piece)]
