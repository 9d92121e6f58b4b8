"""Say what happened where the player stepped over a folded part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autograd_graphs.data import Edge, Gradient, counted
from autograd_graphs.playing.backward_film import Cell, Moment, Row, Stop
from autograd_graphs.playing.equations import (
    LONGEST_PATH,
    Equations,
    again,
    caption,
    ended,
    in_words,
    told,
)
from autograd_graphs.playing.moments import Moments
from autograd_graphs.playing.scenes import Stage
from autograd_graphs.recording.health import health_of, norm_of, worst
from autograd_graphs.text import visible

MOST_ROWS = 2
MOST_BARS = 96
LONGEST = 48  # characters of a title


class Summaries:
    """Make the moments of all steps over a folded part of one view."""

    def __init__(self, stage: Stage, moments: Moments) -> None:
        self.stage, self.moments = stage, moments
        self.equations: Equations = moments.equations
        self.steps = stage.trace.steps

    def moment(self, stop: Stop) -> Moment:
        """Say what happened at a stop of several steps."""
        box = self.stage.box_of[self.steps[stop.first].node]
        node = self.stage.graph.nodes[box]
        steps = range(stop.first, stop.last + 1)
        bars = self.bars(box, steps)
        said = f"Stepped over {counted(len(steps), 'step')}"
        if leaves := sum(self.steps[number].leaf is not None for number in steps):
            said += f", {leaves:,} of them at {'leaves' if leaves > 1 else 'a leaf'}"
        if node.folded.count > 1:
            said += f", in {counted(node.folded.count, 'copy', 'copies')}"
        said += "."
        if bars:
            said += " Below: how large the gradient was as it entered each, the last first."
        return Moment(
            visible(node.title, LONGEST),
            "",
            said,
            rows=tuple(self.rows(box, steps)[: 1 if bars else MOST_ROWS]),
            bars=bars,
            bytes_held=self.moments.bytes_held[stop.last],
            health=self.health(steps),
        )

    def rows(self, box: int, steps: range) -> list[Row]:
        """Return what entered the part, and what left it."""
        came = self.entered(box, steps)
        words = counted(len(steps), "step")
        rows: list[Row] = []
        for edge, handed in self.left(box, steps):
            goal = self.goal(edge)
            out = Cell("handed", told(handed), caption(handed, f"to {goal}"))
            if len(rows) < MOST_ROWS:
                rows.append((*in_words(self.came(came, is_first=not rows), words), out))
        return rows or self.ends(came, words, steps)

    def came(self, gradient: Gradient | None, is_first: bool) -> Cell:
        """Return what entered the part; its norm stands in the first row alone."""
        words = caption(gradient, "arrives") if is_first else again(gradient)
        return Cell("arrives", told(gradient), words)

    def ends(self, came: Gradient | None, words: str, steps: range) -> list[Row]:
        """Return what entered a part that hands nothing on, and the `.grad`s that it became."""
        rows: list[Row] = []
        for number in steps:
            step = self.steps[number]
            if step.leaf is not None and len(rows) < MOST_ROWS:
                total = replace(self.equations.leaf_row(step)[-1], is_asked=False)
                rows.append((*in_words(self.came(came, is_first=not rows), words), total))
        return rows

    def goal(self, edge: Edge) -> str:
        """Say to whom an edge leads in this view."""
        node = self.stage.graph.nodes[self.stage.box_of[edge.target]]
        name = node.title if node.folded else self.equations.goal(edge)
        return ended(visible(name, LONGEST), LONGEST_PATH)

    def entered(self, box: int, steps: range) -> Gradient | None:
        """Return what arrived at the first of the steps."""
        for gradient in self.steps[steps.start].grad_outputs:
            if gradient is not None:
                return gradient
        return None

    def left(self, box: int, steps: range) -> Iterable[tuple[Edge, Gradient]]:
        """Yield what left the part: (edge, gradient)."""
        for number in steps:
            step = self.steps[number]
            for edge in self.equations.inputs.get(step.node, ()):
                if edge.target is None or self.stage.box_of.get(edge.target) == box:
                    continue
                handed = self.stage.handed(edge)
                if handed is not None:
                    yield edge, handed

    def bars(self, box: int, steps: range) -> tuple[tuple[str, float], ...]:
        """Return for each copy of the part how large the gradient was that entered it."""
        copies = self.stage.copies.get(box, ())
        names = self.stage.graph.nodes[box].folded.copies
        found = []
        for nr, copy in enumerate(copies):
            turns = [self.stage.turn_of.get(node, -1) for node in copy.nodes]
            inside = [turn for turn in turns if turn in steps]
            if inside:
                first = min(inside)
                size = norm_of(self.entered(box, range(first, first + 1)))
                name = names[nr] if nr < len(names) else ""
                found.append((first, visible(name, LONGEST), size))
        if not 1 < len(found) <= MOST_BARS or any(size is None for _, _, size in found):
            return ()
        return tuple([(name, size) for _, name, size in sorted(found)])

    def health(self, steps: range) -> str:
        """Say the worst that is not well in the steps."""
        found = []
        for number in steps:
            found += map(health_of, self.steps[number].grad_inputs)
        return worst(found)
