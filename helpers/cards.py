"""Decide what a picture of a graph holds: one card per node, its words, its size, and the wires between cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from helpers.devices import Device, devices, home, kind
from helpers.graph import Edge, Graph, Node, SavedTensor
from helpers.text import visible, width
from helpers.tree import grads

TITLE, SMALL = 13, 12  # font sizes, px
OVERHANG = 14  # how far the dark tag of a tensor sticks out of its card, px
MOST_ROWS = 6  # saved tensors spelled out in one card
MOST_USES = 4  # a leaf with more uses is drawn once per use
MOST_WIRES = 4  # more edges between the same two cards are drawn as one
MOST_CARDS = 400


@dataclass(frozen=True, slots=True)
class Card:
    """Hold the words and the size (px) of one box. `kind` is operation, leaf, none or cut.

    `device` is None where all of the graph is on one device.
    """

    kind: str
    title: str
    node: int | None = None
    tag: str = ""
    rows: tuple[SavedTensor | str, ...] = ()
    width: int = 0
    height: int = 0
    device: Device | None = None


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


def deal(graph: Graph) -> Cards:
    """Make the cards and wires of a graph, in the order of its nodes; stubs and repeated leaves come last."""
    uses = Counter(edge.target for edge in graph.edges)
    places = devices(graph)
    cards = [card(node, nr, uses[nr], places.get(home(node))) for nr, node in enumerate(graph.nodes)]
    wires: list[Wire] = []
    used: set[int] = set()
    for number, edge, times in bundles(graph):
        target = edge.target
        if target is None:
            target = _append(cards, stub(edge, times))
        elif target in used and cards[target].kind == "leaf" and uses[target] > MOST_USES:
            target = _append(cards, cards[target])
        used.add(target)
        several = edge.target is not None and len(graph.nodes[edge.target].outputs) > 1
        word = f"× {times:,}" if times > 1 and edge.target is not None else f"output {edge.input_nr}" * several
        ways = (cards[edge.source].device, cards[target].device)
        crosses = f"{ways[0].name} → {ways[1].name}" if all(ways) and ways[0] != ways[1] else ""
        wires.append(Wire(edge.source, target, number, ", ".join(filter(None, [word, crosses]))))
    return Cards(tuple(cards), tuple(wires))


def bundles(graph: Graph) -> Iterator[tuple[int, Edge, int]]:
    """Yield (number, edge, how many it stands for): many edges between the same two are drawn as one."""
    count = Counter((edge.source, edge.target, edge.cut) for edge in graph.edges)
    for number, edge in enumerate(graph.edges):
        times = count[edge.source, edge.target, edge.cut]
        if 0 < times <= MOST_WIRES and not edge.cut:
            yield number, edge, 1
        elif times > 0:
            yield number, edge, times
            count[edge.source, edge.target, edge.cut] = 0


def _append(cards: list[Card], one: Card) -> int:
    cards.append(one)
    return len(cards) - 1


def stub(edge: Edge, times: int) -> Card:
    """Make the small card at the end of an edge that leads nowhere, or further than is shown."""
    title = f"… {times:,} more" if edge.cut else "None" if times == 1 else f"None × {times:,}"
    return Card("cut" if edge.cut else "none", title, width=width(title, SMALL) + 18, height=22)


def card(node: Node, number: int, uses: int, device: Device | None = None) -> Card:
    return leaf_card(node, number, uses, device) if node.is_leaf else operation_card(node, number, device)


def operation_card(node: Node, number: int, device: Device | None) -> Card:
    title, tag = visible(node.operation, 40), visible(node.name, 30)
    made = kind(node.outputs[0], device) if node.outputs else ""
    rows: list[SavedTensor | str] = [f"→ {made}"] if made else []
    rows += grads(node)
    rows += node.saved[:MOST_ROWS]
    if len(node.saved) > MOST_ROWS:
        rows.append(f"… {len(node.saved) - MOST_ROWS} more saved")
    tag_room = width(tag, SMALL) + 14 - OVERHANG + 6 if tag else 0
    stem, rest = split_title(title)
    name = width(stem, TITLE, bold=True) + width(rest, TITLE)
    inner = max([name + tag_room, *map(row_width, rows)]) + (device.room if device else 0)
    high = 34 + (6 + 16 * len(rows) if rows else 0)
    return Card("operation", title, number, tag, tuple(rows), inner + 24, high, device)


def split_title(title: str) -> tuple[str, str]:
    """Split "MulBackward0" into what it does, drawn bold, and the faint rest."""
    cut = title.rfind("Backward") if "Backward" in title[1:] else len(title)
    return title[:cut], title[cut:]


def split_leaf(title: str) -> tuple[str, str]:
    """Split "a = 2.0" or "w  (3, 4)" into the name, drawn bold, and the rest."""
    cut = min((at for at in (title.find(" = "), title.find("  ")) if at >= 0), default=len(title))
    return title[:cut], title[cut:]


def leaf_card(node: Node, number: int, uses: int, device: Device | None) -> Card:
    leaf = node.outputs[0]
    value = f" = {leaf.value}" if leaf.value else f"  {kind(leaf, device)}".rstrip()
    value += f"  {device.words}" if device and leaf.value else ""
    title = visible(leaf.name or "unnamed", 40) + value
    grad = f".grad  {leaf.grad}" if leaf.requires_grad else "requires_grad=False"
    again = (f"same leaf, {uses} uses",) if uses > MOST_USES else ()
    rows = (grad, *again)
    inner = max(width(title, TITLE, bold=True), *(width(row, SMALL, bold=True) for row in rows))
    inner += device.room if device else 0
    return Card("leaf", title, number, "", rows, inner + 36, 48 + 17 * len(again), device)


def row_text(row: SavedTensor | str) -> str:
    """Return a row without its mark, which is drawn."""
    return visible(row if isinstance(row, str) else str(row)[2:], 60)


def row_width(row: SavedTensor | str) -> int:
    return width(row_text(row), SMALL) + (0 if isinstance(row, str) else 16)
