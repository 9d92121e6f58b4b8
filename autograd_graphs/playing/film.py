"""Frozen, plain data that the player plays as a lab: scenes, and states that change them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from autograd_graphs.drawing.display_list import Drawing, Mark, Owner

ENDS, IDLE = -1, -2  # a state that the map does not hold; what ran and changed nothing
CLICK = -1  # what leads on to a node that is clicked, in place of an action


@dataclass(frozen=True, slots=True)
class Change:
    """Hold what one mark of the scene is in a state: another look, or other words."""

    mark: int
    state: str = ""
    runs: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class Button:
    """Hold one action: the line that it runs, what that does, what it is called, and how it looks.

    `adds` are the numbers that it adds to the first stack, or None. Buttons of a `group` belong
    together. What is done `anew` begins with the set-up.
    """

    words: str
    does: str
    adds: tuple[float, ...] | None = None
    group: str = ""
    anew: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """Hold where one answer is seen: at a state, by its number, or in what an action of a state makes,
    (state, action), where it is refused or changes nothing. Where a question tells which actions to
    press, they are `pressed`, in any order that leads there; else `fewest` are the fewest presses.
    """

    stops: tuple[int | tuple[int, int], ...]
    fewest: int = 0
    pressed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Goal:
    """Hold a question in one line, and all that one has to see for its answer."""

    words: str
    ends: tuple[End, ...]


@dataclass(frozen=True, slots=True)
class Transition:
    """Hold what an action makes of a state: the next one, ENDS or IDLE; and what it raised."""

    to: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Stack:
    """Hold the place of the blocks of a tensor, px: the left of the first column, the ground line,
    from column to column, the height of 1.0 and the width of a block. `name` is what leads to the
    tensor.
    """

    name: str
    x: int
    base: int
    step: int
    unit: int
    wide: int


@dataclass(frozen=True, slots=True)
class LabState:
    """Hold one state: what is said and drawn of it, and where each action leads.

    `focus` is the node that the talk is of; clicking it comes here. `reached_by` are the state
    and the action that lead here first; a click is no action, but CLICK. `chosen` are marked actions.
    `totals` are the numbers of each stack, None where it has no tensor. `text` says what the
    picture shows.
    """

    title: str
    sentence: str
    scene: int = 0
    changes: tuple[Change, ...] = ()
    focus: Owner | None = None
    text: str = ""
    transitions: tuple[Transition, ...] = ()
    reached_by: tuple[int, int] | None = None
    chosen: tuple[int, ...] = ()
    totals: tuple[tuple[float, ...] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class LabFilm:
    """Hold all that a player needs to show a lab, with or without a kernel.

    `code` are the lines of the set-up, `start` the actions from state 0 to state `first`, with
    which the lab begins; CLICK is one on the next node. `legend` are (role, state, words). `text` is
    what is shown where nothing plays, `alt` says in one sentence what to notice. `aside` is how far
    a graph under boxes moves on a slide, to the right and up; (0, 0) where it stays. `left` says of each
    state how many actions lead on from there, where the map ends.
    """

    code: tuple[str, ...]
    buttons: tuple[Button, ...]
    scenes: tuple[Drawing, ...]
    states: tuple[LabState, ...]
    text: str
    alt: str
    start: tuple[int, ...] = ()
    first: int = 0
    stacks: tuple[Stack, ...] = ()
    legend: tuple[tuple[str, str, str], ...] = ()
    aside: tuple[int, int] = (0, 0)
    goals: tuple[Goal, ...] = ()
    left: tuple[int, ...] = ()

    def steps(self) -> Iterator[tuple[int, int, Transition]]:
        """Yield (state, action, transition) of the start; a click leads on, or to ENDS."""
        number = 0
        for action in self.start:
            transition = Transition(self.clicked(number))
            if action != CLICK:
                transition = self.states[number].transitions[action]
            yield number, action, transition
            if transition.to != IDLE:
                number = transition.to

    @property
    def refusal(self) -> str:
        """Return what the last action of the start raised, or nothing."""
        error = ""
        for _, _, transition in self.steps():
            error = transition.error
        return error

    def clicked(self, number: int) -> int:
        """Return the state about the next node of the same picture; ENDS after the last."""
        scene = self.states[number].scene
        for nr in range(number + 1, len(self.states)):
            if self.states[nr].focus is not None and self.states[nr].scene == scene:
                return nr
        return ENDS


def marks_of(film: LabFilm, number: int) -> tuple[Mark, ...]:
    """Return the marks of a state as they are seen; blocks are the player's."""
    state = film.states[number]
    changes = {change.mark: change for change in state.changes}
    marks = film.scenes[state.scene].marks
    return tuple([changed(mark, changes.get(nr)) for nr, mark in enumerate(marks)])


def changed(mark: Mark, change: Change | None) -> Mark:
    if change is None:
        return mark
    if change.runs is not None:
        mark = replace(mark, runs=change.runs)
    return replace(mark, state=change.state or mark.state)
