"""Make the cards of `draw` from a live graph: what can be connected, and what torch connected.

Nobody types an edge, or why there is none: both are read off the graph.
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from string import ascii_uppercase
from typing import Any

import torch

from autograd_graphs.data import Graph
from helpers.predicting.graph_cards import Card, card_of, split

COLUMNS = 3
MOST = 8  # cards: more of them nobody draws
UNEVEN, ASIDE, ROOM = 8, 0.1, 0.01  # a crooked edge, a card aside; what room between two is worth


class CannotBeDrawn(ValueError):
    """Say to the author of a round why nobody could draw its graph."""


def drawing(graph: Graph, names: dict[str, Any], decoys: tuple[str, ...] = ()) -> dict[str, dict]:
    """Return what `draw` shows of a graph, {"shown": …}, and what it tells once drawn, {"told": …}.

    `names` are the variables of the cell that made it. Named leaves that no node stands for are
    decoys by themselves; `decoys` name operations that tempt, such as "DetachBackward0". Raises
    CannotBeDrawn where cards look alike or are too many.
    """
    tensors = {name: value for name, value in names.items() if torch.is_tensor(value)}
    cards = sorted(all_cards(graph, tensors, decoys), key=in_order)
    refuse(cards)
    letter = {card.node: ascii_uppercase[i] for i, card in enumerate(cards)}
    pairs = [(one.source, one.target) for one in graph.edges if one.target is not None]
    edges = sorted(letter[source] + letter[target] for source, target in pairs)
    places = real_places(cards, pairs)
    rows = 1 + max(row for _, row in places)
    shown = [
        on_board(*one) for one in zip(ascii_uppercase, cards, starts(cards, rows), strict=False)
    ]
    at = {name: list(place) for name, place in zip(ascii_uppercase, places, strict=False)}
    told = {"edges": " ".join(edges), "places": at, "reasons": reasons(cards, pairs, tensors)}
    return {"shown": {"cards": shown, "cols": COLUMNS, "rows": rows}, "told": told}


def all_cards(graph: Graph, tensors: dict[str, Any], decoys: tuple[str, ...]) -> list[Card]:
    """Return a card for each node, each named leaf that no node stands for, and each decoy."""
    cards = [card_of(node, i) for i, node in enumerate(graph.nodes)]
    inside = {name for node in graph.nodes for made in node.outputs for name in made.names}
    for name, tensor in tensors.items():
        if name not in inside and tensor.is_leaf:
            rest = "requires grad" if tensor.requires_grad else "plain"
            cards.append(Card(name, rest, name, "leaf"))
    return cards + [Card(*split(operation), "", "op") for operation in decoys]


def in_order(card: Card) -> tuple:
    """Order cards so that their places tell nothing: operations by the alphabet, then leaves."""
    return card.kind == "leaf", card.title, card.rest


def refuse(cards: list[Card]) -> None:
    """Raise CannotBeDrawn for what a student could not draw."""
    if len(cards) > MOST:
        raise CannotBeDrawn(f"There are {len(cards)} cards, over {MOST}: show a smaller graph.")
    ((look, count),) = Counter((one.title, one.rest) for one in cards).most_common(1)
    if count > 1:
        raise CannotBeDrawn(f"Two cards say {' '.join(look)}: give one of their tensors a name.")


def on_board(name: str, card: Card, place: tuple[int, int]) -> dict[str, Any]:
    """Return a card as the browser is told of it."""
    words = {"title": card.title, "rest": card.rest, "name": card.name, "kind": card.kind}
    return {"id": name, **words, "at": list(place)}


def starts(cards: list[Card], rows: int) -> list[tuple[int, int]]:
    """Lay operations out from the top, leaves from the bottom."""
    operations = sum(card.kind == "op" for card in cards)
    low = rows - -(-(len(cards) - operations) // COLUMNS)
    above = [(i % COLUMNS, i // COLUMNS) for i in range(operations)]
    below = [(i % COLUMNS, low + i // COLUMNS) for i in range(len(cards) - operations)]
    return above + below


def real_places(cards: list[Card], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return (column, row) of each card as torch's graph has it; decoys stand below."""
    nodes = [card.node for card in cards if card.node is not None]
    found = layout(len(nodes), pairs)
    below = 1 + max(row for _, row in found.values())
    places, loose = [], 0
    for card in cards:
        if card.node is not None:
            places.append(found[card.node])
            continue
        places.append((loose % COLUMNS, below + loose // COLUMNS))
        loose += 1
    return places


def layout(size: int, pairs: list[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Put each node in the row of its longest way from a root, and into the column that leaves the
    edges straightest.
    """
    depth = dict.fromkeys(range(size), 0)
    for _ in range(size):
        for source, target in pairs:
            depth[target] = max(depth[target], depth[source] + 1)
    layers: list[list[int]] = [[] for _ in range(max(depth.values()) + 1)]
    for node, row in depth.items():
        layers[row].append(node)
    if max(map(len, layers)) > COLUMNS:
        raise CannotBeDrawn(f"More than {COLUMNS} nodes are in one row: show a smaller graph.")
    choices = product(*(permutations(range(COLUMNS), len(layer)) for layer in layers))
    flat = [node for layer in layers for node in layer]
    columns = [dict(zip(flat, sum(choice, ()), strict=True)) for choice in choices]
    best = min(columns, key=lambda column: cost(column, pairs, depth))
    return {node: (best[node], depth[node]) for node in depth}


def cost(column: dict[int, int], pairs: list[tuple[int, int]], depth: dict[int, int]) -> float:
    """Long edges cost, a node that does not stand above the middle of what it leads to, and a little
    what is not in the middle of the board.
    """
    total = sum((column[source] - column[target]) ** 2 for source, target in pairs)
    for node in {source for source, _ in pairs}:
        below = [column[target] for source, target in pairs if source == node]
        total += UNEVEN * (column[node] - sum(below) / len(below)) ** 2
    total += ASIDE * sum(abs(at - COLUMNS // 2) for at in column.values())
    beside = [abs(column[a] - column[b]) for a in column for b in column if depth[a] == depth[b]]
    return total - ROOM * sum(beside)


def reasons(
    cards: list[Card], pairs: list[tuple[int, int]], tensors: dict[str, Any]
) -> dict[str, str]:
    """Return why there is no edge, for each pair of cards without one."""
    found = {}
    for (a, one), (b, other) in permutations(zip(ascii_uppercase, cards, strict=False), 2):
        if (one.node, other.node) not in pairs:
            found[a + b] = reason(one, other, cards, pairs, tensors)
    return found


def reason(one: Card, other: Card, cards: list[Card], pairs: list, tensors: dict) -> str:
    """Say why no edge leads from one card to the other."""
    for card in (other, one):
        if card.node is None:
            return why_outside(card, cards, tensors)
    if one.kind == "leaf":
        return f"`{one.title}` is a leaf, so nothing leads on from it.{shares(one, tensors)}"
    if ways := paths(one.node, other.node, pairs):
        return several_steps(one, other, cards, ways)
    if paths(other.node, one.node, pairs):
        return f"the path leads from `{other.title}` to `{one.title}`, not the other way round."
    return f"what `{other.title}` made isn't an input of this `{one.title}`."


def several_steps(one: Card, other: Card, cards: list[Card], ways: list[list[int]]) -> str:
    """Say through which card the ways lead; "only" if each of them passes it."""
    first = ways[0][1]
    between = next(card.title for card in cards if card.node == first)
    if all(first in way for way in ways):
        said = f"`{one.title}` reaches `{other.title}` only through `{between}`."
    else:
        said = f"`{one.title}` takes several steps to `{other.title}`, for example through `{between}`."
    return f"{said} An edge is one step."


def why_outside(card: Card, cards: list[Card], tensors: dict) -> str:
    """Say why a card is not in the graph at all."""
    if card.kind == "op":
        is_second = any(one.title == card.title and one.node is not None for one in cards)
        which = "another node" if is_second else "a node"
        return f"no operation left {which} `{card.title}` in this graph."
    if tensors[card.name].requires_grad:
        return f"`{card.title}` requires grad, but no path in this graph leads to it."
    return f"`{card.title}` does not require grad, so it has no node, and no edge leads to it."


def shares(card: Card, tensors: dict) -> str:
    """Say with which other tensor a leaf shares memory, "" where with none."""
    mine = tensors.get(card.name)
    for name, tensor in tensors.items():
        if mine is None or tensor is mine:
            continue
        if tensor.data_ptr() == mine.data_ptr():
            return f" It shows the memory of `{name}`, but has no history."
    return ""


def paths(start: int, end: int, pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Return every path from one node to another, each as the nodes on it."""
    if start == end:
        return [[start]]
    steps = sorted({target for source, target in pairs if source == start})
    return [[start, *rest] for step in steps for rest in paths(step, end, pairs)]
