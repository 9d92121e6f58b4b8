"""Find on a lab's map where the questions of a lesson are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from autograd_graphs.playing.film import End, Goal
from helpers.labs.engine.state_map import State, StateMap

Stop = int | tuple[int, int]
Seen = Callable[[State, str], bool]  # said of a state, and of what led to it raised


class Question(NamedTuple):
    """Hold a question in one line, and all that has to be seen for its answer: where a path of actions ends,
    or whatever fits.
    """

    words: str
    answers: Sequence[str | Seen]


def goal(question: Question, explored: StateMap, actions: Mapping[str, int]) -> Goal:
    """Return a question as the player has it; `actions` are the numbers of the buttons."""
    ends = []
    for wanted in question.answers:
        if isinstance(wanted, str):
            ends.append(told(tuple(wanted.split()), explored, actions))
        else:
            ends.append(found(wanted, explored, actions))
    return Goal(question.words, tuple(ends))


def told(path: tuple[str, ...], explored: StateMap, actions: Mapping[str, int]) -> End:
    """Return where a path ends: at its state, or in its last press where that is refused or changes nothing."""
    before, after = explored.walk(path[:-1]).to, explored.walk(path)
    pressed = tuple([actions[name] for name in path if name in actions])
    if after.error or after.to == before:
        return End(((before, pressed[-1]),), pressed=pressed)
    return End((after.to,), pressed=pressed)


def found(seen: Seen, explored: StateMap, actions: Mapping[str, int]) -> End:
    """Return where something is seen, and the fewest presses to it. Raises ValueError where it never is."""
    stops = list(places(seen, explored, actions))
    if not stops:
        raise ValueError(f"No state of {explored.world} answers a question: {seen}.")
    return End(tuple([stop for stop, _ in stops]), min(presses for _, presses in stops))


def places(
    seen: Seen, explored: StateMap, actions: Mapping[str, int]
) -> Iterator[tuple[Stop, int]]:
    """Yield where something is seen, and how many presses lead there."""
    for nr, state in enumerate(explored.states):
        presses = len([name for name in state.path if name in actions])
        if seen(state, ""):
            yield nr, presses
        for name, outcome in state.outcomes:
            to, error = outcome
            if error and to is not None and seen(explored.states[to], error):
                yield (nr, actions[name]), presses + 1
