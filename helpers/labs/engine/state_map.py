"""Frozen, plain data about an explored world: its states and the actions that lead from one to
another. No torch.
"""

from __future__ import annotations

from dataclasses import dataclass

from helpers.graph import Graph


@dataclass(frozen=True, slots=True)
class State:
    """Hold one state: the first path that led to it, what is seen there, and where each action
    leads.

    `error` is "Type: exact message" of what the last action of the path raised, or empty; `ghost`
    the graph that would be there if everything were recorded; `bars` are (label, heights); `focus`
    a node of the graph.
    """

    path: tuple[str, ...]
    graph: Graph
    values: tuple[tuple[str, str], ...] = ()
    sentence: str = ""
    error: str = ""
    moves: tuple[tuple[str, int], ...] = ()
    ghost: Graph | None = None
    bars: tuple[tuple[str, tuple[float, ...]], ...] = ()
    focus: int | None = None

    def value(self, name: str) -> str:
        """Return one entry of the table of values. Raises KeyError if there is no such entry."""
        return dict(self.values)[name]


@dataclass(frozen=True, slots=True)
class StateMap:
    """Hold all states of a world, breadth first from the start, which is number 0; `cut` says what
    is left out.
    """

    world: str
    actions: tuple[tuple[str, str], ...]
    states: tuple[State, ...]
    cut: str = ""

    def after(self, path: tuple[str, ...]) -> int:
        """Return the number of the state that a path leads to.

        Raises KeyError where the map has no such way.
        """
        number = 0
        for action in path:
            number = dict(self.states[number].moves)[action]
        return number

    def merged(self) -> tuple[tuple[tuple[str, ...], int], ...]:
        """Return every other way that ends in a known state: (path, number of that state)."""
        ways = ((state, *move) for state in self.states for move in state.moves)
        return tuple(
            ((*state.path, action), number)
            for state, action, number in ways
            if self.states[number].path != (*state.path, action)
        )

    def __str__(self) -> str:
        errors = sum(bool(state.error) for state in self.states)
        head = f"{self.world}: {len(self.states)} states, {len(self.actions)} actions, {errors} of the states an error"
        return "\n".join([head, f"start: {self.states[0].sentence}", *filter(None, [self.cut])])
