"""Place the graphs of all states of a lab: graphs of one shape get one layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from autograd_graphs.data import Edge, Graph, Node
from autograd_graphs.drawing.cards import Card, Row, measured
from autograd_graphs.drawing.diagram import (
    BETWEEN,
    CAPSULE,
    LINE,
    Cards,
    Word,
    caption_width,
    describe,
    make_cards,
    rects,
    sizes,
)
from autograd_graphs.drawing.layout import LOOSE, TIGHT, Placed, lay_out
from autograd_graphs.drawing.rows import in_rows
from helpers.labs.engine.state_map import State

WORD = 48  # px: room for the word "None" on an edge


@dataclass(frozen=True, slots=True)
class Pose:
    """Hold what is drawn of a state's graph: its cards, where they are, and what is a ghost."""

    shown: Overlay
    cards: Cards
    placed: Placed
    caption: tuple[str, ...]
    is_lying: bool

    @property
    def height(self) -> int:
        return self.above + LINE * len(self.caption) + round(self.placed.height)

    @property
    def above(self) -> int:
        """Return the room for tags that stand above cards, px."""
        return self.cards.above

    @property
    def width(self) -> int:
        return max(round(self.placed.width), caption_width(self.caption))


def poses(states: Sequence[State], is_dense: bool, is_lying: bool) -> list[Pose]:
    """Return one pose per state; in a dense one cards of operations have one line."""
    shown, drawn = [], []
    alike: dict[object, list[int]] = {}
    for number, state in enumerate(states):
        shown.append(overlay(state.graph, state.ghost))
        drawn.append(slim(cards_of(shown[-1].graph, is_dense)))
        kinds = tuple(card.kind for card in drawn[-1].cards)
        alike.setdefault((kinds, drawn[-1].wires), []).append(number)
    has_graphs = any(state.graph.nodes for state in states)
    made: dict[int, Pose] = {}
    for group in alike.values():
        even = level([drawn[number] for number in group])
        own = [dict(states[number].words) for number in group]
        has_none = any(shown[number].edges for number in group)
        placed = common(even, has_none, own, is_lying, TIGHT if is_dense else LOOSE)
        for number, cards in zip(group, even, strict=True):
            words = caption(states[number]) if has_graphs else ()
            made[number] = Pose(shown[number], cards, placed, words, is_lying)
    return [made[number] for number in range(len(states))]


def cards_of(graph: Graph, is_dense: bool) -> Cards:
    """Return cards and wires, dense or not; leaves have two lines in both, which is narrower."""
    chosen, tall = make_cards(graph, is_dense), make_cards(graph)
    cards = list(chosen.cards)
    for nr, card in enumerate(tall.cards):
        if card.kind == "leaf":
            cards[nr] = card
    return replace(chosen, cards=tuple(cards))


def slim(whole: Cards) -> Cards:
    """Return cards of operations without "Backward0" and shapes: the panel says both."""
    cards = []
    for card in whole.cards:
        if card.kind == "operation":
            lines = map(parts_of, card.lines)
            card = replace(card, rest="", lines=tuple(filter(None, lines)))
            card = measured(card, card.device)
        cards.append(card)
    return replace(whole, cards=tuple(cards))


def parts_of(line: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the rows of a line that belong to a part of the graph."""
    return tuple([row for row in line if row.part])


def common(
    group: list[Cards],
    has_none: bool,
    own: Sequence[Mapping[int, str]],
    is_lying: bool,
    apart: float,
) -> Placed:
    """Lay out cards that fit all of a group, with room for "None" on every edge, or for the widest of
    the words that are its own.
    """
    rooms, beside = [], BETWEEN if is_lying else 0
    for sides in zip(*[room_of(cards, is_lying) for cards in group], strict=True):
        rooms.append(tuple(map(max, zip(*sides, strict=True))))
    edges, words = group[0].edges, {}
    if has_none:
        words = dict.fromkeys(range(len(edges)), (WORD + beside, CAPSULE))
    for nr, wire in enumerate(group[0].wires):
        texts = [named[wire.edge] for named in own if wire.edge in named]
        if texts:
            wide, high = max(Word(text).drawn for text in texts)
            words[nr] = wide + beside, high
    if not is_lying:
        return lay_out(rooms, edges, words)
    placed = in_rows(rooms, edges, words, apart, 1)
    ends = [rect.right for cards in group for rect in rects(cards.cards, placed)]
    return replace(placed, width=max([placed.width, *ends]))


def room_of(cards: Cards, is_lying: bool) -> list[tuple[int, int]]:
    """Return the room of each card; only in an upright layout a tag needs some beside it."""
    return [card.size for card in cards.cards] if is_lying else sizes(cards)


def level(group: list[Cards]) -> list[Cards]:
    """Give every card the size of the largest at its place."""
    places = list(map(largest, zip(*[cards.cards for cards in group], strict=True)))
    even = []
    for cards in group:
        even.append(replace(cards, cards=tuple(map(resized, cards.cards, places))))
    return even


def largest(cards: tuple[Card, ...]) -> tuple[int, int, int]:
    """Return the greatest width and height of cards, and of the slots in them."""
    wide = max(card.width for card in cards)
    high = max(card.height for card in cards)
    return wide, high, max(card.slot for card in cards)


def resized(card: Card, size: tuple[int, int, int]) -> Card:
    wide, high, slot = size
    return replace(card, width=wide, height=high, slot=slot)


def caption(state: State) -> tuple[str, ...]:
    """Say why there is no graph, where there is none; the table says the rest."""
    if state.ghost or state.graph.nodes:
        return ()
    return tuple(describe(state.graph)[:1]) or ("No name leads to a graph.",)


@dataclass(frozen=True, slots=True)
class Overlay:
    """Hold a graph to draw, and the numbers of those of its nodes and edges that do not exist."""

    graph: Graph
    nodes: frozenset[int] = frozenset()
    edges: frozenset[int] = frozenset()


def overlay(graph: Graph, ghost: Graph | None) -> Overlay:
    """Return a graph with its ghost behind it. Nodes of one operation are the same; where the ghost has
    an operation twice, those with the same name.
    """
    if ghost is None:
        return Overlay(graph)
    is_alone = len({node.operation for node in ghost.nodes}) == len(ghost.nodes)
    known_by = attrgetter("operation" if is_alone else "name")
    real = {known_by(node): node for node in graph.nodes}
    nodes, missing = [], set()
    for nr, node in enumerate(ghost.nodes):
        if known_by(node) not in real:
            missing.add(nr)
        nodes.append(real.get(known_by(node)) or as_ghost(node))
    ends, gone = {ends_of(graph, edge, known_by) for edge in graph.edges}, set()
    for nr, edge in enumerate(ghost.edges):
        if ends_of(ghost, edge, known_by) not in ends:
            gone.add(nr)
    drawn = Graph(tuple(nodes), ghost.edges, ghost.roots)
    return Overlay(drawn, frozenset(missing), frozenset(gone))


def as_ghost(node: Node) -> Node:
    """Return a node as it is drawn where it is not there: with nothing saved."""
    outputs = []
    for output in node.outputs:
        outputs.append(replace(output, requires_grad=False))
    return replace(node, outputs=tuple(outputs), saved=())


def ends_of(
    graph: Graph, edge: Edge, known_by: Callable[[Node], str]
) -> tuple[str, int, str | None]:
    """Name an edge by what it joins, so that it can be found in another graph."""
    target = None if edge.target is None else known_by(graph.nodes[edge.target])
    return known_by(graph.nodes[edge.source]), edge.position, target
