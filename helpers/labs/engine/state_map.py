"""Frozen, plain data about an explored world: its states, and what each action makes of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from autograd_graphs.data import Graph


class Row(NamedTuple):
    """Hold one line of a box: a label, a text, and whether the text is a warning."""

    label: str
    text: str
    is_wrong: bool = False

    def __str__(self) -> str:
        return f"{self.label} {self.text}".strip() + " (wrong)" * self.is_wrong


@dataclass(frozen=True, slots=True)
class Box:
    """Hold one tensor, and the names that lead to it.

    Where there is none it has no rows, and `why` says "None" or "not bound". `totals` are numbers
    that are drawn as blocks. `place` is the name at whose place it stands.
    """

    names: tuple[str, ...]
    rows: tuple[Row, ...] = ()
    totals: tuple[float, ...] | None = None
    why: str = ""
    place: str = ""

    def __str__(self) -> str:
        names = " and ".join(self.names)
        return f"{names}: " + (self.why or ", ".join(map(str, self.rows)))


class Outcome(NamedTuple):
    """Hold what an action makes of a state: the state after it, and what it raised.

    `to` is None where the map ends. `error` is "Type: whole message", or empty.
    """

    to: int | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """Hold one state: the first path to it, what is seen there, and where each action leads.

    `ghost` is the graph that would be there if all were recorded; `focus` a node of the graph;
    `words` are what is written on its edges, by their numbers.
    """

    path: tuple[str, ...]
    graph: Graph
    boxes: tuple[Box, ...] = ()
    facts: tuple[Row, ...] = ()
    title: str = ""
    sentence: str = ""
    chosen: tuple[str, ...] = ()
    ghost: Graph | None = None
    focus: int | None = None
    words: tuple[tuple[int, str], ...] = ()
    outcomes: tuple[tuple[str, Outcome], ...] = ()

    def box(self, name: str) -> Box:
        """Return the box that a name leads to. Raises KeyError where the lab shows no such name."""
        for box in self.boxes:
            if name in box.names:
                return box
        raise KeyError(name)

    def value(self, name: str, label: str = "") -> str:
        """Return one line of a name's box by its label, or why there is none. Raises KeyError."""
        box = self.box(name)
        return box.why or {row.label: row.text for row in box.rows}[label]

    def fact(self, label: str) -> str:
        """Return a fact that belongs to no tensor alone. Raises KeyError if there is no such one."""
        return {row.label: row.text for row in self.facts}[label]

    def after(self, action: str) -> Outcome:
        """Return what an action makes of this state. Raises KeyError for an unknown one."""
        return dict(self.outcomes)[action]


@dataclass(frozen=True, slots=True)
class StateMap:
    """Hold all states of a world, breadth first from number 0; `cut` says where the map ends."""

    world: str
    states: tuple[State, ...]
    cut: str = ""

    def walk(self, path: tuple[str, ...]) -> Outcome:
        """Return the end of a path: the number of the state, None where the map ends with the last
        action, and what that raised.

        Raises KeyError where the map ends earlier, or has no such action.
        """
        outcome = Outcome(0)
        for action in path:
            if outcome.to is None:
                raise KeyError(f"The map of {self.world} ends before {action!r}.")
            outcome = self.states[outcome.to].after(action)
        return outcome
