"""The cards of `draw`, as a live graph has them. tests/drawn_cards.py lays them out for a lesson."""

from collections import Counter
from dataclasses import dataclass

from autograd_graphs.data import Graph, Node

NO_NAME = "unnamed"  # on the card of a leaf that no variable leads to, as in pictures


@dataclass(frozen=True)
class Card:
    """Hold one card: a node of the graph, or a decoy, which has no `node`.

    `title` is large on it, `rest` small below. `name` is that of its tensor, "" where it has none.
    """

    title: str
    rest: str
    name: str
    kind: str
    node: int | None = None


def same_graph(graph: Graph, shown: dict, told: dict) -> bool:
    """Tell whether a live graph is the one that the cards were made from: its nodes, and its edges."""
    titles = {card["id"]: (card["title"], card["name"]) for card in shown["cards"]}
    cards = [card_of(node, i) for i, node in enumerate(graph.nodes)]
    looks = [(card.title, card.name) for card in cards]
    stored, live = Counter(), Counter()
    for source, target in told["edges"].split():
        stored[titles[source], titles[target]] += 1
    for edge in graph.edges:
        if edge.target is not None:
            live[looks[edge.source], looks[edge.target]] += 1
    return stored == live


def card_of(node: Node, number: int) -> Card:
    if node.is_leaf:
        name = node.name.partition(", ")[0]  # that it has a second one may be the answer
        return Card(name or NO_NAME, "requires grad", name, "leaf", number)
    title, rest = split(node.operation)
    if node.name:
        rest = f"makes {node.name}"
    return Card(title, rest, node.name, "op", number)


def label(card: dict, cards: list[dict]) -> str:
    """Return a card's title; where another one has the same, also what this one makes."""
    alike = [other for other in cards if other["title"] == card["title"]]
    if card["name"] and len(alike) > 1:
        return f"{card['title']} (makes {card['name']})"
    return card["title"]


def split(operation: str) -> tuple[str, str]:
    """Return the two lines of an operation's card: "Pow", "Backward0"."""
    at = operation.rfind("Backward")
    if at < 0:
        return operation, ""
    title = operation[:at].removesuffix("Function")
    return title, operation.removeprefix(title)
