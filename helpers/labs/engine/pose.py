"""Place the graphs of all states of a lab: graphs of one shape get one layout, so that only what differs moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from helpers.cards import TITLE, Card
from helpers.deal import Cards, deal
from helpers.draw import CAPSULE, describe, sizes
from helpers.labs.ghosts import Overlay, overlay
from helpers.layout import Placed, place
from helpers.statemap import State
from helpers.text import width

LINE, WORD = 18, 44  # px: height of a line of the caption, room for the word "None" on an edge


@dataclass(frozen=True, slots=True)
class Pose:
    """Hold what is drawn of a state's graph: its cards, where they are, and what is a ghost."""

    shown: Overlay
    dealt: Cards
    placed: Placed
    caption: tuple[str, ...]

    @property
    def height(self) -> int:
        return LINE * len(self.caption) + round(self.placed.height)

    @property
    def width(self) -> int:
        return max([round(self.placed.width), *(width(line, TITLE, bold=True) for line in self.caption)])


def poses(states: Sequence[State]) -> list[Pose]:
    """Return one pose per state."""
    shown = [overlay(state.graph, state.ghost) for state in states]
    dealt = [deal(one.graph) for one in shown]
    alike: dict[object, list[int]] = {}
    for number, one in enumerate(dealt):
        alike.setdefault((tuple(card.kind for card in one.cards), one.wires), []).append(number)
    found: dict[int, Pose] = {}
    for group in alike.values():
        even = level([dealt[number] for number in group])
        placed = common(even, any(shown[number].edges for number in group))
        for number, cards in zip(group, even, strict=True):
            found[number] = Pose(shown[number], cards, placed, caption(states[number]))
    return [found[number] for number in range(len(states))]


def common(group: list[Cards], has_words: bool) -> Placed:
    """Lay out cards that fit all of a group, with room on every edge for a word if there are any."""
    rooms = [tuple(map(max, zip(*sides, strict=True))) for sides in zip(*map(sizes, group), strict=True)]
    wires = group[0].wires
    words = dict.fromkeys(range(len(wires)), (WORD, CAPSULE)) if has_words else {}
    return place(rooms, [(wire.source, wire.target) for wire in wires], words)


def level(group: list[Cards]) -> list[Cards]:
    """Give every card the size of the largest at its place."""
    places = [largest(cards) for cards in zip(*(one.cards for one in group), strict=True)]
    return [replace(one, cards=tuple(map(resized, one.cards, places))) for one in group]


def largest(cards: tuple[Card, ...]) -> tuple[int, int]:
    return max(card.width for card in cards), max(card.height for card in cards)


def resized(card: Card, size: tuple[int, int]) -> Card:
    return replace(card, width=size[0], height=size[1])


def caption(state: State) -> tuple[str, ...]:
    """Say why there is no graph, where there is none; the table says the rest."""
    if state.ghost or state.graph.nodes:
        return ()
    return tuple(describe(state.graph)) or ("No name leads to a graph.",)
