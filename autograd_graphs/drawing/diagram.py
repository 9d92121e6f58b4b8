"""Draw a graph as a display list: which cards there are, and where cards, wires and words go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from autograd_graphs.data import Edge, Frame, Graph, Root, TensorInfo, counted, tree
from autograd_graphs.drawing import frames
from autograd_graphs.drawing.cards import (
    ABOVE,
    MOST_USES,
    ROUND,
    Card,
    draw_card,
    draw_legend,
    entry_width,
    legend,
    measured,
    node_card,
    stub,
    with_tint,
)
from autograd_graphs.drawing.devices import Device, devices, home
from autograd_graphs.drawing.display_list import LEGEND, Drawing, Owner, Pen
from autograd_graphs.drawing.layout import (
    LOOSE,
    MOST_WORK,
    TIGHT,
    Placed,
    Point,
    lay_out,
    work,
)
from autograd_graphs.drawing.palette import SMALL, TITLE
from autograd_graphs.drawing.room import Room, on_wires, points_of
from autograd_graphs.drawing.rows import in_rows
from autograd_graphs.drawing.spine import NARROW, STRAIGHT, TRUNK, WIDEST, Rule, spine
from autograd_graphs.drawing.tints import Tint, Tints, tinted
from autograd_graphs.text import sentence, visible, width

# px: around everything, height of a capsule, width of the text, height of a line of the caption
MARGIN, CAPSULE, NARROWEST, LINE = 20, 24, 312, 21
LETTERS = 72  # in a line of the sentence that stands in place of a picture
MOST_SHOWN = 24  # lines below it
CLOSER = 12  # px by which a capsule may come closer to what is beside it
BETWEEN = 16  # px: more between two cards that lie beside each other, for the wire beside a capsule
SLIM = 3  # px: around a picture on a slide, for its lines
FEW = 60  # cards: of no more a layout by `dot` is tried before branches follow each other
DENSE = 10  # nodes: from so many on a card has one line
MOST_WIRES = 4  # more edges between the same two cards are drawn as one
MOST_CARDS = 400
MOST_HEARD = 6  # leaves that the alternative text names
NO_NAME = "this tensor"
LONGEST_NAMES = 120  # characters of the names of all roots in the caption
Framed = Sequence[frozenset[int]]  # the cards in each frame
NodeTints = Mapping[int, Tint]


@dataclass(frozen=True, slots=True)
class Wire:
    """Join two cards; `edge` is the place of the edge in `Graph.edges`, `word` is written on it."""

    source: int
    target: int
    edge: int
    word: str = ""


@dataclass(frozen=True, slots=True)
class Cards:
    """Hold the cards of a picture and the wires between them, by their places in `cards`."""

    cards: tuple[Card, ...]
    wires: tuple[Wire, ...]

    @property
    def edges(self) -> list[tuple[int, int]]:
        return [(wire.source, wire.target) for wire in self.wires]

    @property
    def above(self) -> int:
        """Return the room that their tags need above them, px."""
        return ABOVE if any(card.tag for card in self.cards) else 0


@dataclass(frozen=True, slots=True)
class Laid:
    """Hold cards with their places, and the frames around some; `room` is what all of it takes."""

    cards: Cards
    placed: Placed
    around: Sequence[frames.Outline]
    room: frames.Rect
    is_lying: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """Hold what stands on a wire: a plain word, or a capsule of so many px that a player fills.

    A capsule may come nearer to what is beside it, so layout reserves less.
    """

    text: str
    size: tuple[int, int] | None = None

    @property
    def room(self) -> tuple[int, int]:
        """Return the px that layout has to reserve for it."""
        if self.size:
            return self.size[0] - CLOSER, self.size[1]
        return self.drawn

    @property
    def drawn(self) -> tuple[int, int]:
        """Return the px that it takes."""
        return self.size or (width(self.text, SMALL) + 10, CAPSULE)


def drawing(graph: Graph, *, alt: str | None = None, tints: Tints | None = None) -> Drawing:
    """Return the display list of a graph; what is too much to lay out is cut, with a sentence.

    `tints` fill cards by what arrived there.
    """
    tints = tints or Tints()
    part, cards = fit(graph, tints.nodes)
    words = [Word(wire.word) for wire in cards.wires]
    laid = laid_out(part, cards, words, is_dense(part))
    notes = [*part.remarks, *filter(None, [graph.memory])]
    caption = [*describe(graph), *tints.remarks, *notes]
    keys = [*filter(None, [tints.scale]), *legend(laid.cards.cards)]
    room = laid.room
    texts = caption_width(caption)
    wide = round(max([NARROWEST, room.right - room.left, texts, *map(entry_width, keys)]))
    pen = Pen(MARGIN, 30)
    draw_caption(pen, caption)
    pen.dx = MARGIN + int(wide - room.right - room.left) // 2
    pen.dy = 22 + LINE * len(caption) + cards.above - round(room.top)
    for outline in reversed(laid.around):
        frames.draw(pen, outline)
    draw_graph(pen, laid.cards, laid.placed, words)
    pen.marks = list(tinted(pen.marks, tints.nodes))
    pen.dx, pen.dy = MARGIN, round(pen.dy + room.bottom + 20 * bool(keys))
    pen.owner = LEGEND
    size = wide + 2 * MARGIN, pen.dy + draw_legend(pen, keys, wide) + MARGIN // 2
    lines = {node: tint.line for node, tint in tints.nodes.items()}
    text = tree(graph, [*tints.remarks, *graph.closing], lines)
    return Drawing(*size, tuple(pen.marks), text, alt or alt_text(graph))


def in_words(why: str, text: str, shown: Sequence[str] = ()) -> Drawing:
    """Return the sentence `why` in place of a picture, above its text; with the first of the lines
    `shown`.
    """
    lines = wrap(why, LETTERS)
    for line in shown[:MOST_SHOWN]:
        lines += wrap(line, 100)
    if len(shown) > MOST_SHOWN:
        lines.append(f"and {len(shown) - MOST_SHOWN:,} more, in the text")
    pen = Pen(MARGIN, 30)
    draw_caption(pen, lines)
    size = caption_width(lines) + 2 * MARGIN, 22 + LINE * len(lines) + MARGIN // 2
    return Drawing(*size, tuple(pen.marks), f"{why}\n\n{text}", why)


def for_slide(
    graph: Graph, rows: int = 1, form: str = "long", most_uses: int = MOST_USES
) -> Drawing:
    """Return the cards and wires of a graph alone, for a slide, which has title and words of its
    own. It lies on its side, in so many rows: the result is at the right, and backward goes to the
    left.

    Cards in "short" form have one line, "bare" ones a name; a leaf with more than `most_uses` is
    drawn once per use.
    """
    part, _ = fit(graph)
    cards = make_cards(part, form != "long" or is_dense(part), most_uses=most_uses)
    if form == "bare":
        cards = replace(wanted(cards), cards=tuple(map(named_alone, wanted(cards).cards)))
    cards = replace(cards, cards=tuple(map(with_small_rest, cards.cards)))
    words = [Word(wire.word) for wire in cards.wires]
    laid = laid_on_side(cards, words, form != "long" or rows > 1, rows)
    room = frames.Rect.around([laid.room, *rects(laid.cards.cards, laid.placed)])
    pen = Pen(round(SLIM - room.left), round(SLIM - room.top))
    draw_graph(pen, laid.cards, laid.placed, words)
    wide, high = round(room.right - room.left), round(room.bottom - room.top)
    return Drawing(wide + 2 * SLIM, high + 2 * SLIM, tuple(pen.marks), tree(graph), alt_text(graph))


def laid_on_side(cards: Cards, words: Sequence[Word], is_tight: bool, rows: int = 1) -> Laid:
    """Return cards with their places, the result at the right.

    A tag sticks out above the wires that come in, and needs no room beside them.
    """
    rooms = {}
    for nr, word in enumerate(words):
        if word.text or word.size:
            rooms[nr] = word.room[0] + BETWEEN, word.room[1]
    boxes = [card.size for card in cards.cards]
    placed = in_rows(boxes, cards.edges, rooms, TIGHT if is_tight else LOOSE, rows)
    return Laid(cards, placed, (), frames.extent(placed, ()), is_lying=True)


def named_alone(card: Card) -> Card:
    """Return a card without all that stands beside its name."""
    bare = measured(replace(card, rest="", beside=(), lines=()), card.device)
    return replace(bare, width=bare.width + 2 * ROUND) if card.kind == "leaf" else bare


def with_small_rest(card: Card) -> Card:
    """Return a card whose "Backward0" is small, as it is on slides."""
    if card.kind != "operation" or (not card.lines and card.beside):
        return card
    return measured(replace(card, look="small"), card.device)


def laid_out(part: Graph, cards: Cards, words: Sequence[Word], has_short_cards: bool) -> Laid:
    """Return the cards of a graph with their places, and the frames around them."""
    framed = [framed_cards(frame, cards) for frame in part.frames]
    cards, placed = arranged(cards, words, has_short_cards, framed)
    wires = []
    if framed:
        for wire, curve in zip(cards.wires, placed.curves, strict=True):
            wires.append((wire.source, wire.target, points_of(curve)))
    around = frames.outlines(part.frames, framed, rects(cards.cards, placed), wires)
    return Laid(cards, placed, around, frames.extent(placed, around))


def is_dense(graph: Graph) -> bool:
    """Say whether a graph is so large, or was, that a card has to do with one line."""
    return len(graph.nodes) >= DENSE or any(node.folded for node in graph.nodes)


def framed_cards(frame: Frame, cards: Cards) -> frozenset[int]:
    """Return the cards in a frame: of its nodes, of leaves drawn again, and stubs beside them."""
    members = set(frame.nodes)
    for wire in cards.wires:
        node = cards.cards[wire.target].node
        is_own = node is None or node in frame.nodes
        if is_own and wire.source in members:
            members.add(wire.target)
    return frozenset(members)


def rects(cards: Sequence[Card], placed: Placed) -> list[frames.Rect]:
    """Return the room that each card takes, its tag and the pile under it among it."""
    taken = []
    for card, (x, y) in zip(cards, placed.centres, strict=True):
        wide, high = card.size
        left, top = x - wide / 2, y - high / 2
        right = left + card.width + max(card.pile, card.overhang)
        above = ABOVE if card.tag else 0
        taken.append(frames.Rect(left, top - above, right, top + high))
    return taken


def arranged(
    cards: Cards, words: Sequence[Word], has_short_cards: bool, framed: Framed = ()
) -> tuple[Cards, Placed]:
    """Return cards and their places: along a spine in a dense graph that has one, else by `dot`."""
    rooms = {nr: word.room for nr, word in enumerate(words) if word.text or word.size}
    if not has_short_cards or not cards.cards:
        return cards, lay_out(sizes(cards), cards.edges, rooms, LOOSE)
    in_line = replace(cards, cards=tuple(aligned(cards.cards)))
    placed = along_spine(in_line, rooms, STRAIGHT, framed)
    if placed and placed.width <= WIDEST:
        return in_line, placed
    narrow = along_spine(in_line, rooms, NARROW, framed)
    if narrow and len(cards.cards) > FEW:  # so many hardly ever fit side by side
        return in_line, narrow
    spread = lay_out(sizes(cards), cards.edges, rooms, LOOSE if framed else TIGHT)
    if narrow and spread.width > max(WIDEST, narrow.width):
        return in_line, narrow
    return cards, spread


def along_spine(
    cards: Cards, rooms: Mapping[int, tuple[int, int]], rules: Sequence[Rule], framed: Framed
) -> Placed | None:
    """Return the places of cards along a spine; None where they have none by these rules."""
    boxes, overhangs, leaves = [], [], []
    for nr, card in enumerate(cards.cards):
        boxes.append(card.size)
        overhangs.append(card.overhang)
        if card.kind in ("leaf", "none"):
            leaves.append(nr)
    return spine(boxes, cards.edges, rooms, overhangs, leaves, rules, framed)


def aligned(cards: Sequence[Card]) -> list[Card]:
    """Return cards for a spine: leaves equally wide, wires of operations coming in at the left."""
    leaves = [card.width for card in cards if card.kind == "leaf"]
    in_line = []
    for card in cards:
        if card.kind == "leaf":
            in_line.append(replace(card, width=max(leaves)))
        else:
            in_line.append(replace(card, inlet=min(TRUNK, card.width // 2)))
    return in_line


def fit(
    graph: Graph, tints: NodeTints | None = None, has_capsules: bool = False
) -> tuple[Graph, Cards]:
    """Return the part of a graph nearest to its roots that is laid out in a second or two."""
    count = min(len(graph.nodes), MOST_CARDS)
    while True:
        part = graph.head(count)
        cards = make_cards(part, is_dense(part), tints)
        if count <= 1 or is_drawable(cards, has_capsules):
            return part, cards
        over = len(cards.cards) - MOST_CARDS
        count = count - over if 0 < over < count // 4 else count * 3 // 4


def is_drawable(cards: Cards, has_capsules: bool) -> bool:
    """Say whether cards and wires are few enough to be laid out."""
    has_words = has_capsules or any(wire.word for wire in cards.wires)
    count = len(cards.cards)
    return count <= MOST_CARDS and work(count, cards.edges, has_words) <= MOST_WORK


def make_cards(
    graph: Graph,
    is_dense: bool = False,
    tints: NodeTints | None = None,
    most_uses: int = MOST_USES,
) -> Cards:
    """Make the cards and wires of a graph; stubs and repeated leaves come last."""
    uses = Counter(edge.target for edge in graph.edges)
    places = devices(graph)
    cards = []
    for nr, node in enumerate(graph.nodes):
        cards.append(node_card(node, nr, uses[nr], places.get(home(node)), is_dense))
    for nr, tint in (tints or {}).items():
        if nr < len(cards):
            cards[nr] = with_tint(cards[nr], tint, is_dense)
    wires: list[Wire] = []
    used: set[int] = set()
    for number, edge, times in bundles(graph):
        target = edge.target
        if target is None:
            cards.append(stub(edge, times))
            target = len(cards) - 1
        elif target in used and cards[target].kind == "leaf" and uses[target] > most_uses:
            cards.append(cards[target])
            target = len(cards) - 1
        used.add(target)
        words = [wire_word(graph, edge, times), crossing(cards[edge.source], cards[target])]
        wires.append(Wire(edge.source, target, number, ", ".join(filter(None, words))))
    return Cards(tuple(cards), tuple(wires))


def wanted(cards: Cards) -> Cards:
    """Return cards and wires without those that say that no gradient is wanted."""
    kept, number = [], {}
    for nr, card in enumerate(cards.cards):
        if card.kind != "none":
            number[nr] = len(kept)
            kept.append(card)
    wires = []
    for wire in cards.wires:
        if wire.target in number:
            wires.append(replace(wire, source=number[wire.source], target=number[wire.target]))
    return Cards(tuple(kept), tuple(wires))


def bundles(graph: Graph) -> Iterator[tuple[int, Edge, int]]:
    """Yield (number, edge, how many it stands for): many between the same two are one."""
    count = Counter((edge.source, edge.target, edge.cut) for edge in graph.edges)
    for number, edge in enumerate(graph.edges):
        times = count[edge.source, edge.target, edge.cut]
        if 0 < times <= MOST_WIRES and not edge.cut:
            yield number, edge, 1
        elif times > 0:
            yield number, edge, times
            count[edge.source, edge.target, edge.cut] = 0


def wire_word(graph: Graph, edge: Edge, times: int) -> str:
    """Say how many edges a wire stands for, or to which of several outputs it leads."""
    if edge.target is None:
        return ""
    if times > 1:
        return f"× {times:,}"
    target = graph.nodes[edge.target]
    if len(target.outputs) < 2:
        return ""
    if target.folded:
        return visible(target.outputs[edge.input_nr].name, 20)
    return f"output {edge.input_nr}"


def crossing(source: Card, target: Card) -> str:
    """Say from which device to which a wire leads, where they are two."""
    if not (source.device and target.device) or source.device == target.device:
        return ""
    return f"{source.device.name} → {target.device.name}"


def sizes(cards: Cards) -> list[tuple[int, int]]:
    """Return the room of every card; a tag sticks out, so its card gets as much on both sides."""
    boxes = []
    for card in cards.cards:
        wide, high = card.size
        boxes.append((max(card.width + 2 * card.overhang, wide), high))
    return boxes


def draw_caption(pen: Pen, lines: Sequence[str]) -> None:
    """Draw the sentences above a graph, the first as its title."""
    for nr, text in enumerate(lines):
        pen.write("title" if nr == 0 else "note", 0, LINE * nr, (text, ""))


def caption_width(lines: Sequence[str]) -> int:
    notes = [width(text, SMALL) for text in lines[1:]]
    return max([0, *[width(text, TITLE, bold=True) for text in lines[:1]], *notes])


def draw_graph(
    pen: Pen, cards: Cards, placed: Placed, words: Sequence[Word], is_lying: bool = False
) -> None:
    """Draw wires first and cards on top of them."""
    middles = middles_of(cards, placed, words, is_lying)
    for nr, wire in enumerate(cards.wires):
        pen.owner = Owner("edge", wire.edge)
        draw_wire(pen, placed.curves[nr], cards.cards[wire.target].device)
        if words[nr].text:
            draw_word(pen, words[nr], *middles[nr])
    pen.owner = None
    for card, centre in zip(cards.cards, placed.centres, strict=True):
        draw_card(pen, card, *centre)


def middles_of(
    cards: Cards, placed: Placed, words: Sequence[Word], is_lying: bool = False
) -> dict[int, Point]:
    """Return where the middle of what stands on each wire is."""
    sizes = {nr: word.drawn for nr, word in enumerate(words) if word.text or word.size}
    if not sizes:
        return {}
    room = Room(solid(cards.cards, placed), placed.curves)
    return on_wires(room, placed.curves, placed.labels, sizes, is_lying)


def solid(cards: Sequence[Card], placed: Placed) -> list[frames.Rect]:
    """Return the rectangles of cards and of their tags."""
    found = []
    for card, (x, y) in zip(cards, placed.centres, strict=True):
        left, top = x - card.size[0] / 2, y - card.size[1] / 2
        found.append(frames.Rect(left, top, left + card.size[0], top + card.size[1]))
        if card.tag:
            begin = left + card.tag_left
            found.append(frames.Rect(begin, top - ABOVE, begin + card.tag_width, top))
    return found


def draw_wire(pen: Pen, curve: Sequence[Point], goal: Device | None) -> None:
    """Draw a curve with an arrow at its end.

    A gradient on its way lives where it is to arrive: the curve looks like the device of its goal.
    """
    look = goal.look if goal else ""
    pen.path("edge", *curve, state=look)
    pen.polygon("arrow", *arrow(curve), state=look)


def draw_word(pen: Pen, word: Word, x: float, y: float) -> None:
    """Draw a word on its wire, around a point of the curve."""
    wide = word.room[0]
    pen.rect("ground", x - wide / 2, y - CAPSULE / 2, wide, CAPSULE, CAPSULE // 2, part="word")
    pen.write("word", x, y + 5, (word.text, ""), part="word")


def arrow(curve: Sequence[Point]) -> list[Point]:
    """Return the three corners of the arrow at the end of a curve."""
    (bx, by), (x, y) = curve[-2], curve[-1]
    length = max(((x - bx) ** 2 + (y - by) ** 2) ** 0.5, 1e-6)
    dx, dy = (x - bx) / length, (y - by) / length
    left = x - 8 * dx + 4 * dy, y - 8 * dy - 4 * dx
    right = x - 8 * dx - 4 * dy, y - 8 * dy + 4 * dx
    return [(x, y), left, right]


def describe(graph: Graph) -> list[str]:
    """Say what the picture shows, and which tensors have no graph, once for each reason."""
    named: list[str] = []
    without: dict[str, list[str]] = {}
    for root in graph.roots:
        names = named
        if root.node is None:
            names = without.setdefault(root.reason, [])
        names.append(root_name(root))
    without_graph: list[str] = []
    for reason, names in without.items():
        without_graph += no_graph(names, reason)
    title = visible(", ".join(together(named)), LONGEST_NAMES)
    if not title:
        return without_graph
    operations, leaves = graph.size
    if not operations:
        return [f"{title}: a leaf, no operation yet", *without_graph]
    size = f"{counted(operations, 'operation')}, {counted(leaves, 'leaf', 'leaves')}"
    if graph.at_least:
        size = f"at least {graph.at_least:,} operations and leaves"
    return [f"{title}: {size}", *without_graph]


def together(names: list[str]) -> list[str]:
    """Count the tensors without a name, where there are several."""
    unnamed = names.count(NO_NAME)
    if unnamed < 2:
        return names
    return [*(name for name in names if name != NO_NAME), counted(unnamed, "tensor")]


def no_graph(names: list[str], reason: str) -> list[str]:
    """Say which tensors have no graph, and in a line of its own what may be the cause."""
    has = "have" if len(names) > 1 else "has"
    fact, _, why = reason.partition(": ")
    who = visible(" and ".join(names), LONGEST_NAMES)
    return list(filter(None, [f"{who} {has} no graph: {fact}", why]))


def root_name(root: Root) -> str:
    return visible(root.tensor.name or NO_NAME, 60)


def alt_text(graph: Graph) -> str:
    """Say in one sentence, for someone who does not see the picture, what it is of."""
    if not graph.nodes:
        return visible(". ".join(map(sentence, describe(graph))) + ".")
    places = devices(graph)
    heard = [leaf_heard(leaf.outputs[0], places) for leaf in graph.leaves[:MOST_HEARD]]
    leaves = ", ".join(heard) or "none"
    rest = graph.size[1] - len(heard)
    if rest and heard:
        leaves += f" and {rest:,} more"
    elif rest:
        leaves = f"{rest:,}, none of them drawn"
    return visible(f"Backward graph of {'; '.join(describe(graph))}. Leaves: {leaves}.")


def leaf_heard(leaf: TensorInfo, places: Mapping[str, Device]) -> str:
    """Name a leaf for those who listen, with its device, if there are several, and `.grad`."""
    words = leaf.name or "unnamed"
    if places:
        words += f" {places[leaf.device].words}"
    if leaf.grad is not None:
        words += f" with .grad {leaf.grad}"
    return words
