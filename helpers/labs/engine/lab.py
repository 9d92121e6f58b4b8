"""Turn a world into a lab: its map, its film, and the widget that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from helpers.drawing.display_list import Drawing, Owner
from helpers.labs.engine.explore import explore
from helpers.labs.engine.scene import scenes
from helpers.labs.engine.state_map import State, StateMap
from helpers.labs.engine.world import World
from helpers.playing.film import Change, Film, Frame
from helpers.playing.player import Player, player
from helpers.text import number


@dataclass(frozen=True, slots=True)
class Lab:
    """Be a lab: call it to show it. `names` are paths to the states that a lesson speaks of."""

    name: str
    world: type[World]
    depth: int
    alt: str
    names: Mapping[str, str] = field(hash=False)

    def __call__(self, start: str = "start") -> Player:
        """Show the lab, beginning at a named state.

        Raises ValueError, with the names, for any other.
        """
        return player(self.film(start))

    def map(self) -> StateMap:
        """Return all states of the lab; they are explored once, when first asked for."""
        return _explored(self.world, self.depth)

    def number(self, name: str) -> int:
        """Return the number of a named state. Raises ValueError, with the names, for any other."""
        known = {"start": "", **self.names}
        if not isinstance(name, str) or name not in known:
            raise ValueError(
                f"The lab {self.name} has no state {name!r}. Start it from one of: {', '.join(known)}."
            )
        return self.map().after(tuple(known[name].split()))

    def film(self, start: str = "start") -> Film:
        """Return the frames of the lab, one per state, with the actions that lead from one to
        another.
        """
        number = self.number(start)
        return replace(_filmed(self), start=number, text=self.text(start))

    def text(self, start: str = "start") -> str:
        """Return what the lab is where nothing plays: its start, and the states that have a name."""
        states = self.map().states
        told = [f"  {name}: {states[self.number(name)].sentence}" for name in self.names]
        head = f"lab {self.name}, {len(states)} states; at {start!r}: {states[self.number(start)].sentence}"
        return "\n".join([head, *told, *filter(None, [self.map().cut])])


@cache
def _explored(world: type[World], depth: int) -> StateMap:
    return explore(world, depth)


@cache
def _filmed(lab: Lab) -> Film:
    states = lab.map().states
    drawn, shots = shared(scenes(states, lab.alt))
    buttons = tuple((name, words) for name, words in lab.map().actions if words)
    frames = tuple(
        frame(state, *shot, dict(buttons)) for state, shot in zip(states, shots, strict=True)
    )
    return Film(drawn, frames, lab.text(), lab.alt, buttons)


def frame(
    state: State, scene: int, changes: tuple[Change, ...], buttons: Mapping[str, str]
) -> Frame:
    """Return the frame of a state; what has no button is done by clicking a node, or not at all."""
    focus = None if state.focus is None else Owner("node", state.focus)
    moves = tuple(move for move in state.moves if move[0] in buttons)
    return Frame(state.sentence, scene, changes, focus, moves=moves, text=told(state))


def told(state: State) -> str:
    """Return all that a state shows, as text: its values and bars, its error, its graph."""
    rows = [f"{name}: {text}" for name, text in state.values if text]
    bars = [f"{label}: {', '.join(map(number, heights))}" for label, heights in state.bars]
    return "\n".join([*rows, *bars, *filter(None, [state.error, str(state.graph)])])


def shared(
    drawings: Sequence[Drawing],
) -> tuple[tuple[Drawing, ...], list[tuple[int, tuple[Change, ...]]]]:
    """Let drawings with the same marks at the same places be one scene; the rest of each is its
    changes.
    """
    alike: dict[object, list[Drawing]] = {}
    for one in drawings:
        alike.setdefault(outline(one), []).append(one)
    numbers = {key: number for number, key in enumerate(alike)}
    scenes = tuple(common(group) for group in alike.values())
    shots = [(numbers[outline(one)], one) for one in drawings]
    return scenes, [(number, changes(scenes[number], one)) for number, one in shots]


def outline(one: Drawing) -> object:
    return tuple((mark.shape, mark.role, mark.at, mark.owner) for mark in one.marks)


def common(group: list[Drawing]) -> Drawing:
    """Return the scene of a group: a mark without state wherever one of them has none there."""
    states = [
        min(mark.state for mark in marks)
        for marks in zip(*(one.marks for one in group), strict=True)
    ]
    marks = zip(group[0].marks, states, strict=True)
    return replace(group[0], marks=tuple(replace(mark, state=state) for mark, state in marks))


def changes(scene: Drawing, one: Drawing) -> tuple[Change, ...]:
    """Return what turns a scene into one of its drawings."""
    pairs = enumerate(zip(scene.marks, one.marks, strict=True))
    return tuple(
        Change(nr, new.state, None if old.runs == new.runs else new.runs)
        for nr, (old, new) in pairs
        if old != new
    )
