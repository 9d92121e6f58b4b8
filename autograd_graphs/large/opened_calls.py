"""Find the module calls that a folded graph shows opened: each is a frame around its parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from autograd_graphs.data import Edge, Frame, Node
from autograd_graphs.large.outline import Outline
from autograd_graphs.large.parts import Part


def opened_calls(outline: Outline, drawn: Sequence[Part]) -> list[Part]:
    """Return the module calls whose parts are drawn one by one, outer ones first; of two that hold
    the same the inner one, and none that holds all.
    """
    if outline.is_guess:
        return []
    calls: dict[tuple[int, int], Part] = {}
    for part in _opened(outline, outline.outer, drawn):
        calls[part.start, part.stop] = part
    calls.pop((0, len(outline.program)), None)
    return list(calls.values())


def _opened(outline: Outline, parts: Sequence[Part], drawn: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        if any(box.holds(part) for box in drawn):
            continue
        if len(part.copies) == 1 and part.is_call:
            yield part
        yield from _opened(outline, outline.inside(part), drawn)


def frame(
    name: str, members: Collection[int], nodes: Sequence[Node], edges: Sequence[Edge]
) -> Frame:
    """Return the frame around nodes, and around the leaves that only these read."""
    inside, outside = set(members), set()
    for edge in edges:
        if edge.target is None or nodes[edge.target].size[0]:
            continue  # it leads to no leaf
        if edge.source in members:
            inside.add(edge.target)
        else:
            outside.add(edge.target)
    return Frame(name, tuple(sorted(inside - outside)))
