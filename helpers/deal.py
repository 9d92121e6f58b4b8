"""Deal the cards of a picture: one per node of a graph, and the wires between them. Plain data in and out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from helpers.cards import MOST_USES, Card, card, stub
from helpers.devices import devices, home
from helpers.graph import Edge, Graph
from helpers.text import visible

MOST_WIRES = 4  # more edges between the same two cards are drawn as one
MOST_CARDS = 400


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
        word = f"× {times:,}" if times > 1 and edge.target is not None else output(graph, edge)
        ways = (cards[edge.source].device, cards[target].device)
        crosses = f"{ways[0].name} → {ways[1].name}" if all(ways) and ways[0] != ways[1] else ""
        wires.append(Wire(edge.source, target, number, ", ".join(filter(None, [word, crosses]))))
    return Cards(tuple(cards), tuple(wires))


def output(graph: Graph, edge: Edge) -> str:
    """Say which of several outputs an edge leads to; those of a folded part have no number, but may have a name."""
    made = graph.nodes[edge.target].outputs if edge.target is not None else ()
    if len(made) < 2:
        return ""
    return visible(made[edge.input_nr].name, 20) if graph.nodes[edge.target].folded else f"output {edge.input_nr}"


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
