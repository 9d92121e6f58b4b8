"""Draw a graph for a player: cards as marks; wires, capsules and slots as data that it can move.

No caption and no legend: the player's panel has them. Plain data in and out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autograd_graphs.data import Graph
from autograd_graphs.drawing import frames
from autograd_graphs.drawing.cards import ABOVE, Card, Rows, draw_card, legend, line_width, measured
from autograd_graphs.drawing.devices import Device
from autograd_graphs.drawing.diagram import (
    CAPSULE,
    Cards,
    Laid,
    Word,
    alt_text,
    deal,
    draw_word,
    fit,
    laid_on_side,
    laid_out,
    nearest,
)
from autograd_graphs.drawing.display_list import Mark, Owner, Pen
from autograd_graphs.drawing.layout import LOOSE, TIGHT, Placed, Point

EDGE = 10  # px around everything
CLOSER = 12  # px by which a capsule may come closer to what is beside it
FLIES = 34  # px of the same where it enters from the right
ENTERS = 40  # px of the wire along which the first gradient enters
FEW, SOME = 16, 40  # nodes: of no more cards of several lines are tried, leaves of two lines
LEAF_SIDES = 18  # px beside what stands in a leaf of two lines
LARGE = 940  # px: what is wider lying gets cards of one line, so that a slide shows all of it
FLAT = 1300, 300  # px: what is larger lying on its side stays upright
PANE = 590, 540  # px: what is drawn larger in cards of several lines gets cards of one line

Size = tuple[int, int]
Sizes = Mapping[int, Size]
Box = tuple[int, int, int, int]  # x, y of the upper left corner, width, height; px


@dataclass(frozen=True, slots=True)
class Room:
    """Hold the room that has to be kept, px: of capsules by the number of their edge, of what
    enters roots from above, and the width of the slots of `.grad`, by that of the node.
    """

    capsules: Sizes
    starts: Sizes
    slots: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one wire: the edge that it stands for, its curve, and the box of its capsule.

    `edge` is None where the first gradient enters `target` from above. `target` is None at a stub.
    """

    edge: int | None
    target: int | None
    curve: tuple[Point, ...]
    capsule: Box | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """Hold the place of a `.grad`: of which node, and where."""

    node: int
    box: Box


@dataclass(frozen=True, slots=True)
class Bare:
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


def bare(graph: Graph, room: Room) -> Bare:
    """Return the picture of a graph with some room kept.

    A small graph has cards of several lines where that fits a player's pane, a larger one only
    leaves of two lines, or none.
    """
    part, _ = fit(graph, has_capsules=bool(room.capsules))
    found = []
    for has_long_cards, has_tall_leaves in forms(part):
        dealt = dealt_for(part, room.slots, has_long_cards, has_tall_leaves)
        found.append(drawn(part, dealt, room, not has_long_cards))
        if overflow(found[-1]) <= 1:
            return found[-1]
    return min(found, key=overflow)


def on_its_side(graph: Graph, room: Room) -> Bare | None:
    """Return the picture with its result at the right; None where that would be too wide."""
    if len(graph.nodes) > FEW or any(node.folded for node in graph.nodes):
        return None
    dealt = dealt_for(graph, room.slots, True, True)
    found = drawn(graph, dealt, room, False, is_lying=True)
    if found.width > LARGE:
        dealt = dealt_for(graph, room.slots, False, True)
        found = drawn(graph, dealt, room, True, is_lying=True)
    return found if found.width <= FLAT[0] and found.height <= FLAT[1] else None


def forms(part: Graph) -> list[tuple[bool, bool]]:
    """Return the forms of cards to try: (several lines, leaves of two lines)."""
    count = len(part.nodes)
    if count > SOME:
        return [(False, False)]
    if any(node.folded for node in part.nodes) or count > FEW:
        return [(False, True), (False, False)]
    return [(True, True), (False, True), (False, False)]


def overflow(picture: Bare) -> float:
    """Return by how much a picture has to shrink to fit the pane."""
    return max(picture.width / PANE[0], picture.height / PANE[1])


def dealt_for(
    part: Graph, slots: Mapping[int, int], has_long_cards: bool, has_tall_leaves: bool
) -> Cards:
    """Return cards and wires, the cards with room for every `.grad` that will be seen."""
    dealt = wanted(deal(part, not has_long_cards))
    tall = dealt
    if has_long_cards != has_tall_leaves:
        tall = wanted(deal(part, not has_tall_leaves))
    cards = []
    for one, other in zip(dealt.cards, tall.cards, strict=True):
        own = other if one.kind == "leaf" else one
        cards.append(roomy(own, slots.get(own.node, 0)))
    return replace(dealt, cards=tuple(cards))


def wanted(dealt: Cards) -> Cards:
    """Return cards and wires without those that say that no gradient is wanted."""
    places = [nr for nr, one in enumerate(dealt.cards) if one.kind != "none"]
    number = {old: new for new, old in enumerate(places)}
    wires = []
    for wire in dealt.wires:
        if wire.target in number:
            wires.append(replace(wire, source=number[wire.source], target=number[wire.target]))
    return Cards(tuple([dealt.cards[nr] for nr in places]), tuple(wires))


def roomy(card: Card, slot: int) -> Card:
    """Return a card whose slots are so wide, and which does not say what the operation made."""
    beside, *lines = [with_room(line, slot) for line in (card.beside, *card.lines)]
    if card.look == "small":
        card = replace(card, rest="", look="faint")
    card = replace(card, beside=beside, lines=tuple(lines))
    if card.kind == "leaf" and lines:
        wide = max([card.width, *[line_width(line) + LEAF_SIDES for line in lines]])
        slots = [row.slot for row in card.rows if row.part]
        return replace(card, width=wide, slot=max(slots, default=0))
    if card.kind == "leaf":
        return replace(measured(card, card.device), width=measured(card, card.device).width + 8)
    if card.kind in ("operation", "folded"):
        return measured(card, card.device)
    return card


def with_room(line: Rows, slot: int) -> Rows:
    rows = list(line)
    for nr, row in enumerate(rows):
        if row.part == "grad":
            rows[nr] = replace(row, room=slot)
    return tuple(rows)


def drawn(part: Graph, dealt: Cards, kept: Room, is_dense: bool, is_lying: bool = False) -> Bare:
    """Return the picture of cards and wires."""
    starts = kept.starts
    words = [room_of(dealt, nr, kept.capsules) for nr in range(len(dealt.wires))]
    laid = laid_out(part, dealt, words, is_dense)
    if is_lying:
        laid = laid_on_side(dealt, words, TIGHT if is_dense else LOOSE)
    room = around_capsules(laid, kept.capsules)
    pen = Pen(EDGE - round(room.left), EDGE - round(room.top))
    above = starts and not is_lying
    pen.dy += ENTERS if above else ABOVE * any(one.tag for one in dealt.cards)
    for outline in reversed(laid.around):
        frames.draw(pen, outline)
    lines = draw_lines(pen, laid, words, kept.capsules)
    slots = draw_cards(pen, laid.dealt, laid.placed)
    lines += entries(pen, laid, starts)
    width = round(room.right - room.left) + 2 * EDGE
    if is_lying:
        width += max([FLIES + wide for wide, _ in starts.values()], default=0)
    height = round(pen.dy + room.bottom) + EDGE
    return Bare(
        *(width, height, tuple(pen.marks), tuple(lines), tuple(slots)),
        corners=tuple(corners_of(pen, laid)),
        keys=tuple(legend(laid.dealt.cards)),
        alt=alt_text(part),
        drawn=len(part.nodes),
    )


def around_capsules(laid: Laid, capsules: Sizes) -> frames.Rect:
    """Return what a layout takes, with capsules that stick out of it at a side."""
    left, right = [laid.room.left], [laid.room.right]
    for nr, wire in enumerate(laid.dealt.wires):
        if wire.edge in capsules:
            x, _ = nearest(laid.placed.curves[nr], laid.placed.labels[nr], laid.is_lying)
            half = capsules[wire.edge][0] / 2
            left.append(x - half)
            right.append(x + half)
    return replace(laid.room, left=min(left), right=max(right))


def room_of(dealt: Cards, nr: int, capsules: Sizes) -> Word:
    """Return what is written on a wire, or the room of its capsule."""
    wire = dealt.wires[nr]
    if wire.edge in capsules:
        wide, high = capsules[wire.edge]
        return Word("", size=(wide - CLOSER, high))
    return Word(wire.word)


def draw_lines(pen: Pen, laid: Laid, words: Sequence[Word], capsules: Sizes) -> list[Line]:
    """Return the wires as data; a plain word beside one is a mark."""
    found = []
    for nr, wire in enumerate(laid.dealt.wires):
        curve, capsule = laid.placed.curves[nr], None
        if words[nr].size or words[nr].text:
            middle = nearest(curve, laid.placed.labels[nr], laid.is_lying)
        if words[nr].size:
            capsule = box_around(pen, middle, capsules[wire.edge])
        elif words[nr].text:
            pen.owner = Owner("edge", wire.edge)
            draw_word(pen, words[nr], *middle)
            pen.owner = None
        goal = laid.dealt.cards[wire.target].node  # None where it ends at a stub
        found.append(Line(wire.edge, goal, moved(pen, curve), capsule))
    return found


def draw_cards(pen: Pen, dealt: Cards, placed: Placed) -> list[Slot]:
    """Draw cards without what stands in the slots of their `.grad`; return where the slots are."""
    slots = []
    for one, centre in zip(dealt.cards, placed.centres, strict=True):
        start = len(pen.marks)
        draw_card(pen, one, *centre)
        drawn = pen.marks[start:]
        pen.marks[start:] = [mark for mark in drawn if mark.part != "grad"]
        for mark in drawn:
            if mark.part == "grad" and mark.shape == "rect":
                slots.append(Slot(one.node, mark.at[:4]))
    return slots


def entries(pen: Pen, laid: Laid, starts: Sizes) -> list[Line]:
    """Return the wires along which the first gradients enter the roots, from above or the right."""
    found = []
    for one, (x, y) in zip(laid.dealt.cards, laid.placed.centres, strict=True):
        if one.node not in starts:
            continue
        if laid.is_lying:
            found.append(from_the_right(pen, one, (x, y), starts[one.node]))
            continue
        if one.inlet:
            x += one.inlet - one.width / 2
        top = y - one.height / 2
        wide, high = starts[one.node]
        begin = top - ENTERS + high / 2 + 8
        curve = ((x, begin), (x, begin), (x, top), (x, top))
        capsule = box_around(pen, (x, begin - high / 2), (wide, high))
        found.append(Line(None, one.node, moved(pen, curve), capsule))
    return found


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
    found = []
    for one, (x, y) in zip(laid.dealt.cards, laid.placed.centres, strict=True):
        if one.node is not None:
            ((left, top),) = moved(pen, [(x - one.width / 2, y - one.height / 2)])
            found.append((one.node, left, top))
    return found
