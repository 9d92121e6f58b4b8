"""Draw a graph as a display list: where each card, wire and word goes, and what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.cards import OVERHANG, PILE, SMALL, TITLE
from helpers.deal import MOST_CARDS, Cards, deal
from helpers.devices import Device, devices
from helpers.faces import draw_card, draw_legend, entry_width, legend
from helpers.folded import counted
from helpers.graph import Graph, Root, TensorInfo
from helpers.layout import MOST_WORK, Placed, Point, place, work
from helpers.marks import Drawing, Pen
from helpers.text import visible, width
from helpers.tree import tree

MARGIN, CAPSULE, NARROWEST = 20, 20, 280  # px: around everything, height of a capsule, width of the text


def drawing(
    graph: Graph, gradients: Mapping[int, str] | None = None, alt: str | None = None, also: Sequence[str] = ()
) -> Drawing:
    """Return the display list of a graph; `gradients` puts a capsule with a text on edges, by edge number.

    Room for every capsule is reserved before layout. What is too much to lay out is cut, with a sentence.
    `also` adds keys to the legend: for what will be seen later.
    """
    part, dealt = fit(graph, gradients or {})
    words = [_words(dealt, nr, gradients or {}) for nr in range(len(dealt.wires))]
    rooms = {nr: (width(text, SMALL) + 16, CAPSULE) for nr, (text, _) in enumerate(words) if text}
    placed = place(sizes(dealt), [(w.source, w.target) for w in dealt.wires], rooms)
    caption = [*describe(graph), *filter(None, [part.left_out, part.how_to_open])]
    keys = legend(dealt.cards, also)
    texts = [width(text, TITLE, bold=True) for text in caption]
    wide = round(max([NARROWEST, placed.width, *texts, *map(entry_width, keys)]))
    pen = Pen(MARGIN, 28)
    draw_caption(pen, caption)
    pen.dx, pen.dy = MARGIN + int(wide - placed.width) // 2, 36 + 18 * len(caption)
    draw_graph(pen, dealt, placed, words)
    pen.dx, pen.dy = MARGIN, round(pen.dy + placed.height + 28 * bool(keys))
    high = pen.dy + draw_legend(pen, keys, wide) + MARGIN // 2
    return Drawing(wide + 2 * MARGIN, high, tuple(pen.marks), tree(graph), alt or alt_text(graph))


def draw_caption(pen: Pen, lines: list[str]) -> None:
    for nr, text in enumerate(lines):
        pen.write("title" if nr == 0 else "note", 0, 18 * nr, (text, ""))


def draw_graph(pen: Pen, dealt: Cards, placed: Placed, words: list[tuple[str, str]]) -> None:
    """Draw wires first and cards on top of them."""
    for nr, wire in enumerate(dealt.wires):
        draw_wire(pen, placed, nr, f"edge {wire.edge}", *words[nr], goal=dealt.cards[wire.target].device)
    for nr, one in enumerate(dealt.cards):
        draw_card(pen, one, *placed.centres[nr])


def fit(graph: Graph, gradients: Mapping[int, str]) -> tuple[Graph, Cards]:
    """Return the part of a graph, nearest to its roots, that can be laid out in a second or two."""
    count = min(len(graph.nodes), MOST_CARDS)
    while True:
        part = graph.head(count)
        dealt = deal(part)
        labelled = bool(gradients) or any(wire.word for wire in dealt.wires)
        wires = [(wire.source, wire.target) for wire in dealt.wires]
        if count <= 1 or (len(dealt.cards) <= MOST_CARDS and work(len(dealt.cards), wires, labelled) <= MOST_WORK):
            return part, dealt
        over = len(dealt.cards) - MOST_CARDS
        count = count - over if 0 < over < count // 4 else count * 3 // 4


def sizes(dealt: Cards) -> list[tuple[int, int]]:
    """Return the room of every card; a tag sticks out, so its card gets as much on both sides."""
    pile = [2 * PILE if one.kind == "folded" else 0 for one in dealt.cards]
    tags = [2 * OVERHANG * bool(one.tag) for one in dealt.cards]
    return [(c.width + max(t, p), c.height + p) for c, t, p in zip(dealt.cards, tags, pile, strict=True)]


def _words(dealt: Cards, nr: int, gradients: Mapping[int, str]) -> tuple[str, str]:
    wire = dealt.wires[nr]
    if wire.edge in gradients:
        return visible(gradients[wire.edge], 30), "capsule"
    return wire.word, "ground"


def describe(graph: Graph) -> list[str]:
    """Say what the picture shows: one sentence on the graph, and one for each tensor that has none."""
    none = [(_name(root), *root.reason.partition(": ")) for root in graph.roots if root.node is None]
    calm = [line for name, fact, _, why in none for line in (f"{name} has no graph: {fact}", why) if line]
    names = ", ".join(_name(root) for root in graph.roots if root.node is not None)
    if not names:
        return calm
    operations, leaves = graph.size
    if not operations:
        return [f"{names}: a leaf, and no operation yet", *calm]
    return [f"{names}: {counted(operations, 'operation')}, {counted(leaves, 'leaf', 'leaves')}", *calm]


def _name(root: Root) -> str:
    return visible(root.tensor.name or "this tensor", 60)


def alt_text(graph: Graph) -> str:
    """Say in one sentence, for someone who does not see the picture, what it is of."""
    places = devices(graph)
    leaves = ", ".join(_heard(leaf.outputs[0], places) for leaf in graph.leaves[:6])
    rest = graph.size[1] - len(graph.leaves[:6])
    more = f" and {rest:,} more" if rest else ""
    if not graph.nodes:
        return visible(". ".join(describe(graph)) + ".")
    return visible(f"Backward graph of {'; '.join(describe(graph))}. Leaves: {leaves or 'none'}{more}.")


def _heard(leaf: TensorInfo, places: Mapping[str, Device]) -> str:
    """Name a leaf for those who listen, with its device if there are several, and its gradient once it has one."""
    where = f" {places[leaf.device].words}" if places else ""
    return (leaf.name or "unnamed") + where + (f" with .grad {leaf.grad}" if leaf.grad != "None" else "")


def draw_wire(pen: Pen, placed: Placed, nr: int, of: str, text: str, role: str, goal: Device | None = None) -> None:
    """Draw a curve with an arrow at its end, and its words on the curve.

    A gradient on its way lives where it is to arrive: the curve looks like the device of its goal.
    """
    curve, look = placed.curves[nr], goal.look if goal else ""
    pen.put("path", "edge", *(v for point in curve for v in point), of=of, state=look)
    pen.put("polygon", "arrow", *arrow(curve), of=of, state=look)
    if not text:
        return
    x, y = level(curve, placed.labels[nr][1])
    wide = width(text, SMALL) + (16 if role == "capsule" else 4)
    pen.put("rect", role, x - wide / 2, y - CAPSULE / 2, wide, CAPSULE, CAPSULE // 2, of=of)
    pen.write("label", x, y + 4, (text, ""), of=of)


def arrow(curve: tuple[Point, ...]) -> list[float]:
    """Return the three corners of the arrow at the end of a curve."""
    (bx, by), (x, y) = curve[-2], curve[-1]
    length = max(((x - bx) ** 2 + (y - by) ** 2) ** 0.5, 1e-6)
    dx, dy = (x - bx) / length, (y - by) / length
    return [x, y, x - 8 * dx + 4 * dy, y - 8 * dy - 4 * dx, x - 8 * dx - 4 * dy, y - 8 * dy + 4 * dx]


def level(curve: tuple[Point, ...], y: float) -> Point:
    """Return the point of a curve at the height `y`, where room was reserved for its label."""
    points = []
    for start in range(0, len(curve) - 1, 3):
        a, b, c, d = curve[start : start + 4]
        for t in (step / 16 for step in range(17)):
            parts = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            points.append(tuple(sum(w * p[k] for w, p in zip(parts, (a, b, c, d), strict=True)) for k in (0, 1)))
    return min(points, key=lambda point: abs(point[1] - y))
