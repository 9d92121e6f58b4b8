"""Draw a graph for a player: cards as marks; wires, capsules and slots as data that it can move.

No caption and no legend: the player's panel has them. Plain data in and out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autograd_graphs.data import Graph
from autograd_graphs.drawing import frames
from autograd_graphs.drawing.cards import ROUND, Card, Rows, draw_card, legend, line_width, measured
from autograd_graphs.drawing.devices import Device
from autograd_graphs.drawing.diagram import (
    CAPSULE,
    Cards,
    Laid,
    Wire,
    Word,
    alt_text,
    draw_word,
    fit,
    laid_on_side,
    laid_out,
    make_cards,
    middles_of,
    solid,
    wanted,
)
from autograd_graphs.drawing.display_list import Mark, Owner, Pen
from autograd_graphs.drawing.layout import Placed, Point
from autograd_graphs.drawing.palette import TITLE
from autograd_graphs.drawing.room import Room, around, beside_capsules
from autograd_graphs.text import width

EDGE = 10  # px around everything
FLIES = 34  # px by which a capsule stands off the card where it enters from the right
ENTERS = 40  # px of the wire along which the first gradient enters
FEW, SOME = 16, 40  # nodes: of no more cards of several lines are tried, leaves of two lines
LEAF_SIDES = 18  # px beside what stands in a leaf of two lines
LARGE = 940  # px: what is wider lying gets cards of one line, so that a slide shows all of it
FLAT = 1300, 300  # px: what is larger lying on its side stays upright
TICK = 20  # px: the room of the tick at the corner of a card
BASELINE = 14  # px from the top of a factor to the line on which it is written
PANE = 590, 540  # px: what is drawn larger in cards of several lines gets cards of one line

Size = tuple[int, int]
Sizes = Mapping[int, Size]
Box = tuple[int, int, int, int]  # x, y of the upper left corner, width, height; px


@dataclass(frozen=True, slots=True)
class Reserve:
    """Hold the room that has to be kept, px: of capsules by the number of their edge, of what
    enters roots from above, and the width of the slots of `.grad`, by that of the node. `factors`
    stand beside capsules where there is room: "× 3", by the edge.
    """

    capsules: Sizes
    starts: Sizes
    slots: Mapping[int, int]
    factors: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one wire: the edge that it stands for, its curve, the box of its capsule, and where the
    factor beside that begins, on its baseline; None where there is no room for one.

    `edge` is None where the first gradient enters `target` from above. `target` is None at a stub.
    """

    edge: int | None
    target: int | None
    curve: tuple[Point, ...]
    capsule: Box | None = None
    factor: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """Hold the place of a `.grad`: of which node, and where."""

    node: int
    box: Box


@dataclass(frozen=True, slots=True)
class PlayerPicture:
    """Hold a picture without words around it; `corners` are where the badge of a node stands."""

    width: int
    height: int
    marks: tuple[Mark, ...]
    lines: tuple[Line, ...]
    slots: tuple[Slot, ...]
    corners: tuple[tuple[int, int, int], ...]
    keys: tuple[str | Device, ...]
    alt: str
    drawn: int


def player_picture(graph: Graph, reserve: Reserve) -> PlayerPicture:
    """Return the picture of a graph with some room kept.

    A small graph has cards of several lines where that fits a player's pane, a larger one only
    leaves of two lines, or none.
    """
    part, _ = fit(graph, has_capsules=bool(reserve.capsules))
    pictures = []
    for has_long_cards, has_tall_leaves in forms(part):
        cards = cards_with_slots(part, reserve.slots, has_long_cards, has_tall_leaves)
        pictures.append(drawn(part, cards, reserve, not has_long_cards))
        if overflow(pictures[-1]) <= 1:
            break
    return min(pictures, key=overflow)


def on_its_side(graph: Graph, reserve: Reserve) -> PlayerPicture | None:
    """Return the picture with its result at the right; None where that would be too wide."""
    if len(graph.nodes) > FEW or any(node.folded for node in graph.nodes):
        return None
    for has_long_cards in (True, False):
        cards = cards_with_slots(graph, reserve.slots, has_long_cards, True)
        picture = drawn(graph, cards, reserve, not has_long_cards, is_lying=True)
        if picture.width <= LARGE:
            break
    if picture.width > FLAT[0] or picture.height > FLAT[1]:
        return None
    return picture


def forms(part: Graph) -> list[tuple[bool, bool]]:
    """Return the forms of cards to try: (several lines, leaves of two lines)."""
    count = len(part.nodes)
    if count > SOME:
        return [(False, False)]
    if any(node.folded for node in part.nodes) or count > FEW:
        return [(False, True), (False, False)]
    return [(True, True), (False, True), (False, False)]


def overflow(picture: PlayerPicture) -> float:
    """Return by how much a picture has to shrink to fit the pane."""
    return max(picture.width / PANE[0], picture.height / PANE[1])


def cards_with_slots(
    part: Graph, slots: Mapping[int, int], has_long_cards: bool, has_tall_leaves: bool
) -> Cards:
    """Return cards and wires, the cards with room for every `.grad` that will be seen."""
    cards = tall = wanted(make_cards(part, not has_long_cards))
    if has_long_cards != has_tall_leaves:
        tall = wanted(make_cards(part, not has_tall_leaves))
    roomier = []
    for card, tall_card in zip(cards.cards, tall.cards, strict=True):
        if card.kind == "leaf":
            card = tall_card
        roomier.append(roomy(card, slots.get(card.node, 0)))
    return replace(cards, cards=tuple(roomier))


def roomy(card: Card, slot: int) -> Card:
    """Return a card whose slots are so wide, and which does not say what the operation made."""
    beside, *lines = [with_room(line, slot) for line in (card.beside, *card.lines)]
    if card.look == "small":
        card = replace(card, rest="", look="faint")
    card = replace(card, beside=beside, lines=tuple(lines))
    if card.kind == "leaf" and lines:
        wide = max([card.width - LEAF_SIDES, *map(line_width, lines)]) + LEAF_SIDES
        return replace(card, width=wide, slot=measured(card, card.device).slot)
    if card.kind == "leaf":
        card = measured(card, card.device)
        return replace(card, width=card.width + 2 * ROUND)
    if card.kind in ("operation", "folded"):
        return measured(card, card.device)
    return card


def with_room(line: Rows, slot: int) -> Rows:
    return tuple([replace(row, room=slot) for row in line])


def drawn(
    part: Graph, cards: Cards, reserve: Reserve, is_dense: bool, is_lying: bool = False
) -> PlayerPicture:
    """Return the picture of cards and wires."""
    starts = reserve.starts
    words = [word_on(wire, reserve.capsules) for wire in cards.wires]
    laid = laid_out(part, cards, words, is_dense)
    if is_lying:
        laid = laid_on_side(cards, words, is_dense)
    middles = middles_of(laid.cards, laid.placed, words, is_lying)
    room = around_all(laid, words, middles)
    places = {}
    if not is_lying:  # slides show no factors
        places = factor_places(laid, words, middles, reserve.factors, room)
        room = frames.Rect.around([room, *places.values()])
    pen = Pen(EDGE - round(room.left), EDGE - round(room.top))
    pen.dy += ENTERS if starts and not is_lying else cards.above
    for outline in reversed(laid.around):
        frames.draw(pen, outline)
    lines = draw_lines(pen, laid, words, middles, places)
    slots = draw_cards(pen, laid.cards, laid.placed)
    lines += entries(pen, laid, starts)
    across = round(room.right - room.left) + 2 * EDGE
    if is_lying:
        across += max([FLIES + wide for wide, _ in starts.values()], default=0)
    height = round(pen.dy + room.bottom) + EDGE
    parts = tuple(pen.marks), tuple(lines), tuple(slots), tuple(corners_of(pen, laid))
    keys = tuple(legend(laid.cards.cards))
    return PlayerPicture(across, height, *parts, keys, alt_text(part), len(part.nodes))


def factor_places(
    laid: Laid,
    words: Sequence[Word],
    middles: Mapping[int, Point],
    factors: Mapping[int, str],
    room: frames.Rect,
) -> dict[int, frames.Rect]:
    """Return where factors stand, by the number of their wire; a picture that is narrower than the
    pane may grow to its sides.
    """
    capsules = {nr: around(middle, words[nr].drawn) for nr, middle in middles.items()}
    widths = {}
    for nr, wire in enumerate(laid.cards.wires):
        if nr in capsules and wire.edge in factors:
            widths[nr] = width(factors[wire.edge], TITLE, bold=True)
    taken = [*solid(laid.cards.cards, laid.placed), *ticks(laid), *capsules.values()]
    taken += [outline.named for outline in laid.around]
    spare = max(0, PANE[0] - 2 * EDGE - (room.right - room.left)) / 2
    picture = room._replace(left=room.left - spare, right=room.right + spare)
    curves = laid.placed.curves
    return beside_capsules(Room(taken, curves), picture, widths, capsules, curves)


def ticks(laid: Laid) -> Iterator[frames.Rect]:
    """Yield the room of the ticks at the corners of cards."""
    for card, (x, y) in zip(laid.cards.cards, laid.placed.centres, strict=True):
        if card.node is not None:
            yield around((x - card.width / 2, y - card.height / 2), (TICK, TICK))


def around_all(laid: Laid, words: Sequence[Word], middles: Mapping[int, Point]) -> frames.Rect:
    """Return what a layout takes, with capsules and tags that stick out of it at a side."""
    left, right = [laid.room.left], [laid.room.right]
    for nr, (x, _) in middles.items():
        half = words[nr].drawn[0] / 2
        left.append(x - half)
        right.append(x + half)
    right += [rect.right for rect in solid(laid.cards.cards, laid.placed)]
    return laid.room._replace(left=min(left), right=max(right))


def word_on(wire: Wire, capsules: Sizes) -> Word:
    """Return what is written on a wire, or the room of its capsule."""
    if wire.edge in capsules:
        wide, high = capsules[wire.edge]
        return Word("", size=(wide, high))
    return Word(wire.word)


def draw_lines(
    pen: Pen,
    laid: Laid,
    words: Sequence[Word],
    middles: Mapping[int, Point],
    places: Mapping[int, frames.Rect],
) -> list[Line]:
    """Return the wires as data; a plain word beside one is a mark."""
    lines = []
    for nr, wire in enumerate(laid.cards.wires):
        curve, capsule, factor = laid.placed.curves[nr], None, None
        if nr in places:
            (factor,) = moved(pen, [(places[nr].left, places[nr].top + BASELINE)])
        if words[nr].size:
            capsule = box_around(pen, middles[nr], words[nr].size)
        elif words[nr].text:
            pen.owner = Owner("edge", wire.edge)
            draw_word(pen, words[nr], *middles[nr])
            pen.owner = None
        goal = laid.cards.cards[wire.target].node  # None where it ends at a stub
        lines.append(Line(wire.edge, goal, moved(pen, curve), capsule, factor))
    return lines


def draw_cards(pen: Pen, cards: Cards, placed: Placed) -> list[Slot]:
    """Draw cards without what stands in the slots of their `.grad`; return where the slots are."""
    slots = []
    for card, centre in zip(cards.cards, placed.centres, strict=True):
        start = len(pen.marks)
        draw_card(pen, card, *centre)
        drawn = pen.marks[start:]
        pen.marks[start:] = [mark for mark in drawn if mark.part != "grad"]
        for mark in drawn:
            if mark.part == "grad" and mark.shape == "rect":
                slots.append(Slot(card.node, mark.at[:4]))
    return slots


def entries(pen: Pen, laid: Laid, starts: Sizes) -> list[Line]:
    """Return the wires along which the first gradients enter the roots, from above or the right."""
    lines = []
    for card, (x, y) in zip(laid.cards.cards, laid.placed.centres, strict=True):
        if card.node not in starts:
            continue
        if laid.is_lying:
            lines.append(from_the_right(pen, card, (x, y), starts[card.node]))
            continue
        if card.inlet:
            x += card.inlet - card.width / 2
        top = y - card.height / 2
        wide, high = starts[card.node]
        begin = top - ENTERS + high / 2 + 8
        curve = ((x, begin), (x, begin), (x, top), (x, top))
        capsule = box_around(pen, (x, begin - high / 2), (wide, high))
        lines.append(Line(None, card.node, moved(pen, curve), capsule))
    return lines


def from_the_right(pen: Pen, card: Card, centre: Point, size: Size) -> Line:
    """Return the wire along which a gradient enters a card of a lying picture."""
    edge, y = centre[0] + card.width / 2, centre[1]
    begin = edge + FLIES
    capsule = box_around(pen, (begin + size[0] / 2, y), size)
    curve = ((begin, y), (begin, y), (edge, y), (edge, y))
    return Line(None, card.node, moved(pen, curve), capsule)


def box_around(pen: Pen, centre: Point, size: Size) -> Box:
    """Return the box of a capsule around a point of its wire, where the pen draws."""
    x, y = centre
    return (round(x + pen.dx - size[0] / 2), round(y + pen.dy - CAPSULE / 2), size[0], CAPSULE)


def moved(pen: Pen, curve: Sequence[Point]) -> tuple[Point, ...]:
    return tuple([(round(x + pen.dx), round(y + pen.dy)) for x, y in curve])


def corners_of(pen: Pen, laid: Laid) -> list[tuple[int, int, int]]:
    """Return for each card of a node its number and its upper left corner."""
    corners = []
    for card, (x, y) in zip(laid.cards.cards, laid.placed.centres, strict=True):
        if card.node is not None:
            ((left, top),) = moved(pen, [(x - card.width / 2, y - card.height / 2)])
            corners.append((card.node, left, top))
    return corners
