"""Nest module calls, and the operations that ran in them, as they ran. Plain data in and out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from autograd_graphs.data import Call
from autograd_graphs.large.execution_order import Program


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Hold a module call, or other neighbours in a program: the places start … stop - 1.

    `items` are what is directly in it, calls and places of operations, in order. Two pieces with
    one `key` are calls of one class with equal operations in equal calls inside. `label` tells calls
    of one module apart, `times` says how many there were.
    """

    path: str
    kind: str
    start: int
    stop: int
    items: tuple[Item, ...]
    key: int = -1
    label: str = ""
    times: int = 1


Item = Piece | int


def extent(item: Item) -> tuple[int, int]:
    """Return the place where a call or an operation starts, and the one after its last."""
    if isinstance(item, int):
        return item, item + 1
    return item.start, item.stop


@dataclass(slots=True)
class Open:
    """Hold a call that is being read: what was found in it, up to the place `at`."""

    call: Call | None
    at: int
    stop: int
    items: list[Item] = field(default_factory=list)


class Reader:
    """Nest the calls of a program, and number what is equal alike."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._numbers: dict[Hashable, int] = {}

    def _number(self, thing: Hashable) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))

    def key(self, item: Item) -> int:
        """Return a number that equal items share."""
        if isinstance(item, Piece):
            return item.key
        return self._number(self.program.does(item))

    def nested(self, calls: Iterable[Call]) -> tuple[Item, ...]:
        whole = Open(None, 0, len(self.program))
        running = [whole]
        for call in calls:
            while len(running) > call.depth + 1:
                self._close(running)
            running.append(Open(call, call.start, call.stop))
        while len(running) > 1:
            self._close(running)
        return (*whole.items, *range(whole.at, whole.stop))

    def _close(self, running: list[Open]) -> None:
        """Write down the innermost call that is being read, in the one around it."""
        done, outer = running.pop(), running[-1]
        call = done.call
        items = (*done.items, *range(done.at, done.stop))
        key = self._number((call.kind, tuple(map(self.key, items))))
        outer.items += range(outer.at, call.start)
        outer.at = max(outer.at, call.stop)
        piece = (call.name, call.kind, call.start, call.stop, items, key)
        outer.items.append(Piece(*piece, call.label, call.times))
