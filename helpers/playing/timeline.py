"""Know when each node of a view has its turn, and what it and its edges are at every step.

Plain data in and out.

A step is told by its number, from 0; -1 is before all of them, the count of steps after all. A node
that stands for many has its turn when one of them has, an edge that stands for many carries what
any of them does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from helpers.drawing.display_list import Owner
from helpers.graph import Folded, Gradient
from helpers.playing.views import Copy, View
from helpers.recording.trace import Step, Trace


class Turns:
    """Hold the turns of all nodes and edges of a view, as numbers of steps in their order."""

    def __init__(self, trace: Trace, view: View) -> None:
        self.trace, self.view, self.last = trace, view, len(trace.steps)
        self.of = {step.node: number for number, step in enumerate(trace.steps)}
        self.box = {one: nr for nr, inside in enumerate(view.nodes) for one in inside}
        self.nodes = [
            sorted(self.of[one] for one in inside if one in self.of) for inside in view.nodes
        ]
        self.edges = [sorted(map(self._way, filter(self.handed, inside))) for inside in view.edges]
        self.freed = [[turn for turn in turns if trace.steps[turn].freed] for turns in self.nodes]
        self.gains = [
            [turn for turn in turns if is_gain(trace.steps[turn])] for turns in self.nodes
        ]

    def handed(self, number: int) -> Gradient | None:
        """Return the gradient that is handed on along an edge of the whole graph."""
        edge = self.trace.graph.edges[number]
        if edge.target is None or edge.source not in self.of:
            return None
        grad_inputs = self.trace.steps[self.of[edge.source]].grad_inputs
        return grad_inputs[edge.position] if edge.position < len(grad_inputs) else None

    def _way(self, edge: int) -> tuple[int, int]:
        """Return the turns of both ends of an edge; what never has its turn comes after all."""
        one = self.trace.graph.edges[edge]
        return self.of[one.source], self.of.get(one.target, self.last + 1)

    def node(self, nr: int, now: int) -> str:
        """Return "now" while one that it stands for has its turn, "done" when all have had theirs."""
        turns = self.nodes[nr]
        had = bisect_right(turns, now)
        if had and turns[had - 1] == now:
            return "now"
        return "done" if had and had == len(self.view.nodes[nr]) else ""

    def edge(self, nr: int, now: int) -> str:
        """Return "now" when a gradient arrives, "next" while one is on its way, "done" when all
        have arrived.
        """
        ways = self.edges[nr]
        goals = [goal for start, goal in ways if start <= now]
        if now in goals:
            return "now"
        if any(goal > now for goal in goals):
            return "next"
        return "done" if goals and len(goals) == len(ways) else ""

    def is_freed(self, nr: int, now: int) -> bool:
        """Say whether all that is freed in a node was freed before this step."""
        return bool(self.freed[nr]) and self.freed[nr][-1] < now

    def folded(self, nr: int, now: int) -> Folded:
        """Return what a folded node says of itself at a step."""
        one = self.view.graph.nodes[nr].folded
        return replace(one, with_grad=one.with_grad + bisect_right(self.gains[nr], now))

    def moments(self, owner: Owner | None) -> set[int]:
        """Return the steps at which something of a node or an edge may change."""
        found: set[int] = set()
        if owner is None:
            return found
        if owner.kind == "node":
            for turn in self.nodes[owner.number]:
                found |= {turn, turn + 1}
        else:
            for start, goal in self.edges[owner.number]:
                found |= {start, goal, goal + 1}
        return found

    def opens(self) -> Iterator[tuple[Owner | None, tuple[tuple[int, int], ...]]]:
        """Yield for each folded node which view it opens, as (from this frame on, view); first for
        the one with a turn.

        Of the copies in a row that have a view it is the one that has its turn, or had it last,
        else has it first, or ran last. View 0 stands for none.
        """
        ways = {node: self._opens(copies) for node, copies in self.view.copies}
        boxes = [self.box[step.node] for step in self.trace.steps]
        at_turn = [ways[one][nr] if one in ways else 0 for nr, one in enumerate(boxes, start=1)]
        first, last = (
            next((view for view in order if view), 0) for order in (at_turn, reversed(at_turn))
        )
        yield None, starts([first, *at_turn, last])
        for node, views in ways.items():
            yield Owner("node", node), starts(views)

    def _opens(self, copies: tuple[Copy, ...]) -> list[int]:
        """Return for every frame the view that a folded node opens."""
        view = {
            self.of[node]: copy.view
            for copy in copies
            for node in copy.nodes
            if node in self.of and copy.view
        }
        found = [view[min(view)] if view else copies[-1].view]
        for now in range(self.last + 1):
            found.append(view.get(now, found[-1]))
        return found


def is_gain(step: Step) -> bool:
    """Say whether a leaf gets its first `.grad`."""
    return step.leaf is not None and step.leaf.before is None and step.leaf.after is not None


def starts(values: list[int]) -> tuple[tuple[int, int], ...]:
    """Return where a list takes another value: (place, value)."""
    return tuple((at, one) for at, one in enumerate(values) if at == 0 or one != values[at - 1])
