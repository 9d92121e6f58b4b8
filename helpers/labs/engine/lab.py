"""Turn a world into a lab: its map, its film, and the widget that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from autograd_graphs.drawing.display_list import Drawing, Owner
from autograd_graphs.playing.film import (
    CLICK,
    ENDS,
    IDLE,
    Button,
    Change,
    LabFilm,
    LabState,
    Stack,
    Transition,
)
from autograd_graphs.playing.lab_still import opening_of
from autograd_graphs.playing.player import Player
from helpers.labs.engine.explore import explore
from helpers.labs.engine.goals import Question, goal
from helpers.labs.engine.scene import Drawn, scenes
from helpers.labs.engine.state_map import State, StateMap
from helpers.labs.engine.world import Action, World

Totals = tuple[float, ...] | None
_SHOWN: dict[tuple[str, str], Player] = {}


@dataclass(frozen=True, slots=True)
class Lab:
    """Be a lab: call it to show it. `names` are paths to the states that a lesson speaks of; `drawn`
    draws them all. `questions` are those of its lesson, in a line each.
    """

    name: str
    world: type[World]
    depth: int
    alt: str
    names: Mapping[str, str] = field(hash=False)
    questions: Sequence[Question] = field(default=(), hash=False)
    drawn: Callable[[Sequence[State], str], Drawn] = scenes

    def __call__(self, start: str = "start") -> Player:
        """Show the lab, beginning at a named state, or where it was left when its cell ran before.
        Raises ValueError for any other.
        """
        made, before = Player(self.film(start)), _SHOWN.get((self.name, start))
        if before:
            made.frame, made.done = before.frame, before.done
        _SHOWN[self.name, start] = made
        return made

    def map(self) -> StateMap:
        """Return all states of the lab; they are explored once, when first asked for."""
        return _explored(self.world, self.depth)

    def path(self, name: str) -> tuple[str, ...]:
        """Return the actions that lead to a named state. Raises ValueError for any other."""
        known = {"start": "", **self.names}
        if not isinstance(name, str) or name not in known:
            raise ValueError(
                f"The lab {self.name} has no state {name!r}. Start it from one of: {', '.join(known)}."
            )
        return tuple(known[name].split())

    def state(self, name: str) -> State:
        """Return a named state. Raises ValueError, with the names, for any other."""
        return self.map().states[self.map().walk(self.path(name)).to]

    def error(self, name: str) -> str:
        """Return what the last action on the way to a named state raised, or nothing."""
        return self.map().walk(self.path(name)).error

    def film(self, start: str = "start") -> LabFilm:
        """Return the states of the lab, and what each action makes of each."""
        path, numbers = self.path(start), numbered(with_buttons(self.world))
        actions = tuple([numbers.get(name, CLICK) for name in path])
        first = self.map().walk(path).to
        return replace(_filmed(self), start=actions, first=first, text=self.text(start))

    def text(self, start: str = "start") -> str:
        """Return what the lab is where nothing plays: its start, and the states that have a name."""
        count = len(self.map().states)
        lines = [f"lab {self.name}, {count} states; at {start!r}: {self.summary(start)}"]
        for name in self.names:
            lines.append(f"  {name}: {self.summary(name)}")
        if self.map().cut:
            lines.append(self.map().cut)
        return "\n".join(lines)

    def summary(self, name: str) -> str:
        """Return what is said of a named state, what was raised first."""
        state = self.state(name)
        return opening_of(self.error(name), state.title, state.sentence)


def with_buttons(world: type[World]) -> list[Action]:
    return [action for action in world.actions if action.code]


def numbered(actions: Sequence[Action]) -> dict[str, int]:
    return {action.name: nr for nr, action in enumerate(actions)}


@cache
def _explored(world: type[World], depth: int) -> StateMap:
    return explore(world, depth)


@cache
def _filmed(lab: Lab) -> LabFilm:
    explored = lab.map().states
    drawings, stacks, legend, aside = lab.drawn(explored, lab.alt)
    drawn, shots = shared(drawings)
    actions = with_buttons(lab.world)
    numbers = {state.path: nr for nr, state in enumerate(explored)}
    states = []
    for state, shot in zip(explored, shots, strict=True):
        states.append(lab_state(state, shot, actions, numbers, stacks))
    buttons = tuple([button(action, explored, stacks[:1]) for action in actions])
    pressed = numbered(actions)
    goals = tuple([goal(question, lab.map(), pressed) for question in lab.questions])
    beside = {"stacks": stacks, "legend": legend, "aside": aside, "goals": goals}
    if lab.map().cut:
        beside["left"] = tuple([lab.depth - len(state.path) for state in explored])
    return LabFilm(lab.world.setup, buttons, drawn, tuple(states), lab.text(), lab.alt, **beside)


def lab_state(
    state: State,
    shot: tuple[int, tuple[Change, ...]],
    actions: Sequence[Action],
    numbers: Mapping[tuple[str, ...], int],
    stacks: Sequence[Stack],
) -> LabState:
    """Return a state as the player has it: actions and states by their numbers."""
    pressed = numbered(actions)
    reached_by, focus = None, None
    if state.path:
        reached_by = (numbers[state.path[:-1]], pressed.get(state.path[-1], CLICK))
    if state.focus is not None:
        focus = Owner("node", state.focus)
    scene, changes = shot
    return LabState(
        title=state.title,
        sentence=state.sentence,
        scene=scene,
        changes=changes,
        focus=focus,
        text=as_text(state),
        transitions=tuple([transition(numbers[state.path], state, action) for action in actions]),
        reached_by=reached_by,
        chosen=tuple([pressed[name] for name in state.chosen]),
        totals=tuple([totals(state, stack.name) for stack in stacks]),
    )


def transition(nr: int, state: State, action: Action) -> Transition:
    outcome = state.after(action.name)
    if outcome.to is None:
        return Transition(ENDS)
    if outcome.to == nr and not outcome.error:
        return Transition(IDLE)
    return Transition(outcome.to, outcome.error)


def totals(state: State, name: str) -> Totals:
    """Return the numbers that are drawn as blocks at the place of a name."""
    for box in state.boxes:
        if box.place == name:
            return box.totals
    return None


def button(action: Action, states: Sequence[State], stacks: Sequence[Stack]) -> Button:
    """Return the button of an action, with what it adds to the first stack wherever it runs."""
    adds: set[tuple[float, ...]] = set()
    for state in states:
        to = state.after(action.name).to
        if stacks and to is not None:
            name = stacks[0].name
            adds.add(added(state.box(name).totals, states[to].box(name).totals))
    same = None
    if len(adds) == 1 and any(*adds):
        same = adds.pop()
    name = action.called or action.name
    return Button(action.code, action.does, same, action.group, action.anew, name)


def added(before: Totals, after: Totals) -> tuple[float, ...]:
    """Return what came to the numbers of a tensor; one that is not there counts as zeros."""
    if after is None:
        return ()
    old = before or (0.0,) * len(after)
    return tuple([new - number for number, new in zip(old, after, strict=True)])


def as_text(state: State) -> str:
    """Return all that a state shows, as text: its names, its facts, its graph."""
    facts = [row for row in state.facts if row.text]
    return "\n".join(map(str, [*state.boxes, *facts, state.graph]))


def shared(
    drawings: Sequence[Drawing],
) -> tuple[tuple[Drawing, ...], list[tuple[int, tuple[Change, ...]]]]:
    """Let drawings with the same marks at the same places be one scene, and tell the rest."""
    alike: dict[object, list[Drawing]] = {}
    for drawing in drawings:
        alike.setdefault(outline(drawing), []).append(drawing)
    outlines, scenes = list(alike), tuple(map(common, alike.values()))
    shots = []
    for drawing in drawings:
        number = outlines.index(outline(drawing))
        shots.append((number, changes(scenes[number], drawing)))
    return scenes, shots


def outline(drawing: Drawing) -> object:
    return tuple((mark.shape, mark.role, mark.at, mark.owner) for mark in drawing.marks)


def common(group: list[Drawing]) -> Drawing:
    """Return the scene of a group: a mark without state wherever one of them has none there."""
    marks = []
    for alike in zip(*[drawing.marks for drawing in group], strict=True):
        marks.append(replace(alike[0], state=min([mark.state for mark in alike])))
    return replace(group[0], marks=tuple(marks))


def changes(scene: Drawing, drawing: Drawing) -> tuple[Change, ...]:
    changed = []
    for nr, (old, new) in enumerate(zip(scene.marks, drawing.marks, strict=True)):
        if old.runs != new.runs:
            changed.append(Change(nr, new.state, new.runs))
        elif old != new:
            changed.append(Change(nr, new.state, None))
    return tuple(changed)
