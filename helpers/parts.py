"""Hold the parts of a program that can be drawn as one box each, and give every one a name of its own. Plain data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

CALL = re.compile(r"\[[^\]]*\]")  # which call of a module is meant


@dataclass(frozen=True, slots=True)
class Part:
    """Hold the places start … stop - 1: one stretch, or equal copies of one; `name` is that of all together."""

    start: int
    stop: int
    name: str
    copies: tuple[str, ...]

    @property
    def period(self) -> int:
        return (self.stop - self.start) // len(self.copies)

    def each(self) -> list[Part]:
        """Return its copies, each as a part of its own."""
        return [self.some(nr, nr + 1) for nr in range(len(self.copies))]

    def holds(self, other: Part) -> bool:
        return self.start <= other.start and other.stop <= self.stop

    def some(self, first: int, last: int) -> Part:
        """Return copies first … last - 1 as a part of their own, called by their names."""
        start, stop = (self.start + nr * self.period for nr in (first, last))
        copies = self.copies[first:last]
        name = self.name if copies == self.copies else span(copies)
        return replace(self, start=start, stop=stop, copies=copies, name=name)


def qualified(name: str, parent: str) -> str:
    """Say in which call of a module a part lies: "self_attn" of "layer" in "layer[3]" is "layer[3].self_attn"."""
    whole = plain(parent)
    if whole == parent:
        return name
    return parent + name.removeprefix(whole) if name.startswith(f"{whole}.") else f"{parent}.{name}"


def plain(name: str) -> str:
    """Return a name without the numbers of calls: "layer" of "layer[3]"."""
    return CALL.sub("", name)


def span(copies: Sequence[str]) -> str:
    """Call several copies by the first and the last: "encoder.0 … 11", "cell[0] … [48]"."""
    if len(copies) == 1:
        return copies[0]
    first, last = copies[0], copies[-1]
    is_call = last.endswith("]") and first[: first.rfind("[")] == last[: last.rfind("[")]
    return f"{first} … " + (last[last.rindex("[") :] if is_call else last.rpartition(".")[2])


def distinct(parts: list[Part]) -> list[Part]:
    """Say of parts that would be called alike which is which: the second call of a module is "tower[call 2]"."""
    met: Counter[str] = Counter()
    found = []
    for part in parts:
        met.update(part.copies)
        if (call := max(met[copy] for copy in part.copies)) > 1:
            copies = tuple(f"{copy}[call {call}]" for copy in part.copies)
            part = replace(part, copies=copies, name=span(copies))
        found.append(part)
    return found
