"""Say what a lab's film refers to that is not there, and what in it contradicts itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from autograd_graphs.playing.film import CLICK, ENDS, IDLE, LabFilm, Way

LARGEST = 100_000  # what is drawn as blocks stays below it


def complaints(film: LabFilm) -> Iterator[str]:
    """Yield what cannot be played, the first fault first; later ones may follow from it."""
    if not film.states or not film.scenes:
        yield "This film has no state, or no scene, so there is nothing to play"
        return
    for number in range(len(film.states)):
        for what in state_complaints(film, number):
            yield f"State {number} {what}"
    yield from start_complaints(film)
    yield from block_complaints(film)


def state_complaints(film: LabFilm, number: int) -> Iterator[str]:
    """Yield what one state refers to that is not there."""
    state = film.states[number]
    if state.scene not in range(len(film.scenes)):
        yield f"is of scene {state.scene}, and there are {len(film.scenes)}"
        return
    yield from change_complaints(film, number)
    marks = film.scenes[state.scene].marks
    if state.focus is not None and state.focus not in [mark.owner for mark in marks]:
        yield f"is about {state.focus}, of which its scene has no mark"
    for action in state.chosen:
        if action not in range(len(film.buttons)):
            yield f"marks action {action} as chosen, and there are {len(film.buttons)} actions"
    if len(state.ways) != len(film.buttons):
        yield f"has {len(state.ways)} ways, and there are {len(film.buttons)} actions"
        return
    for way in state.ways:
        if way.to not in range(len(film.states)) and (way.error or way.to not in (ENDS, IDLE)):
            yield f"leads to state {way.to}, and there are {len(film.states)}"
    yield from came_complaints(film, number)


def change_complaints(film: LabFilm, number: int) -> Iterator[str]:
    """Yield what is wrong with the marks that a state changes."""
    state = film.states[number]
    marks = film.scenes[state.scene].marks
    places = Counter(change.mark for change in state.changes)
    for change in state.changes:
        if change.mark not in range(len(marks)):
            yield f"has no mark {change.mark}, its scene has {len(marks)}"
        elif change.runs is not None and marks[change.mark].shape != "text":
            yield f"writes on mark {change.mark}, which is no text"
        elif places[change.mark] > 1:
            yield f"changes mark {change.mark} twice"


def came_complaints(film: LabFilm, number: int) -> Iterator[str]:
    """Yield what is wrong with how a state is reached: from an earlier one, or by a click."""
    state = film.states[number]
    if number == 0 or state.came is None:
        if (number == 0) != (state.came is None):
            yield f"is reached by {state.came}, and state 0 alone is reached by nothing"
        return
    before, action = state.came
    if before not in range(number):
        yield f"is reached from state {before}, which is no earlier one"
    elif action == CLICK:
        if state.focus is None:
            yield "is reached by a click, and is about no node"
    elif action not in range(len(film.buttons)):
        yield f"is reached by action {action}, and there are {len(film.buttons)} actions"
    elif after(before, film.states[before].ways[action]) != number:
        yield f"is reached by action {action} of state {before}, which leads elsewhere"


def start_complaints(film: LabFilm) -> Iterator[str]:
    """Yield what is wrong with the actions that a film starts with."""
    if film.first not in range(len(film.states)):
        yield f"The film starts at state {film.first}, and there are {len(film.states)}"
    for action in film.start:
        if action not in range(CLICK, len(film.buttons)):
            yield f"The film starts with action {action}, and there are {len(film.buttons)} actions"
            return
    number = 0
    for state, action, way in film.steps():
        if way.to == ENDS:
            what = "a click" if action == CLICK else f"action {action}"
            yield f"The film starts with {what} of state {state}, where the map ends"
            return
        number = after(state, way)
    if number != film.first:
        yield f"The film starts at state {film.first}, and its actions lead to {number}"


def block_complaints(film: LabFilm) -> Iterator[str]:
    """Yield what is wrong with the numbers that are drawn as blocks."""
    for number, state in enumerate(film.states):
        if len(state.totals) != len(film.stacks):
            yield f"State {number} has {len(state.totals)} totals, and there are {len(film.stacks)} stacks"
            return
    for nr, stack in enumerate(film.stacks):
        lists = [state.totals[nr] for state in film.states if state.totals[nr] is not None]
        if nr == 0:
            lists += [button.adds for button in film.buttons if button.adds]
        if len({len(one) for one in lists}) > 1:
            yield f"The columns of {stack.name} are not as many everywhere"
        if not all(math.isfinite(one) and abs(one) < LARGEST for each in lists for one in each):
            yield f"A number of {stack.name} cannot be drawn as a block"
    if not film.stacks and any(button.adds for button in film.buttons):
        yield "An action adds to a stack, and there are no stacks"


def after(number: int, way: Way) -> int:
    """Return the state after a way."""
    return number if way.to == IDLE else way.to
