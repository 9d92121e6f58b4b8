"""Fold a large graph into one that fits a screen: each part of its outline becomes one node. Plain data in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helpers.graph import Graph

LARGE = 60  # nodes: a smaller graph is drawn as it is


def fold(graph: Graph, unfold: str | Sequence[str] | bool = ()) -> Graph:
    """Return a graph in which what repeats, and what belongs to a module, is one node each; a small one as it is.

    `unfold` names the parts to open, such as "encoder.3"; True opens all. Raises ValueError for a part that is
    not there, TypeError for anything but names.
    """
    wanted = demand_names(unfold)
    if wanted is True or not (wanted or is_large(graph)):
        return graph
    from helpers.folding import Folding  # only large graphs wait for what folds them
    from helpers.lookup import Lookup

    folding = Folding(graph)
    lookup = Lookup(folding.outline)
    if not is_large(graph):
        for name in wanted:
            lookup.check(name)
        return graph
    return folding.graph(list(dict.fromkeys(lookup.find(name) for name in wanted)))


def demand_names(unfold: object) -> Sequence[str] | bool:
    """Return the names of the parts to open, or True for all. Raises TypeError, with what to pass, for others."""
    names = [unfold] if type(unfold) is str else [] if unfold is False else unfold
    if names is True or ((type(names) is tuple or type(names) is list) and all(type(name) is str for name in names)):
        return names
    raise TypeError(
        f"unfold is {type.__dict__['__name__'].__get__(type(unfold))}. Pass the name of a part, such as 'encoder.3', "
        "several of them in a list, or True to draw every node."
    )


def is_large(graph: Graph) -> bool:
    """Say whether a graph is to be folded, and can be: the order in which its operations ran is known."""
    return len(graph.nodes) > LARGE and bool(graph.ran)
