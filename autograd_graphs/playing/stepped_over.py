"""Say what happened where the player stepped over a folded part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autograd_graphs.data import Edge, Gradient, counted
from autograd_graphs.playing.backward_film import Cell, Moment, Row, Stop
from autograd_graphs.playing.equations import (
    LONGEST_PATH,
    arrives,
    as_shown,
    caption,
    ended,
    in_words,
)
from autograd_graphs.playing.moments import Moments
from autograd_graphs.playing.scenes import Stage
from autograd_graphs.recording.gradient_health import health_of, norm_of, worst
from autograd_graphs.recording.trace import defined, nth
from autograd_graphs.text import visible

MOST_ROWS = 2
MOST_BARS = 96
LONGEST = 48  # characters of a title


class Summaries:
    """Make the moments of all steps over a folded part of one view."""

    def __init__(self, stage: Stage, moments: Moments) -> None:
        self.stage, self.moments = stage, moments
        self.equations, self.steps = moments.equations, stage.trace.steps

    def moment(self, stop: Stop) -> Moment:
        box = self.stage.box_of[self.steps[stop.first].node]
        node = self.stage.graph.nodes[box]
        steps = range(stop.first, stop.last + 1)
        bars = self.bars(box, steps)
        rows = self.rows(box, steps)
        said = f"Stepped over {counted(len(steps), 'step')}"
        leaves = sum(self.steps[number].leaf is not None for number in steps)
        if leaves == 1:
            said += ", 1 of them at a leaf"
        elif leaves:
            said += f", {leaves:,} of them at leaves"
        if node.folded.count > 1:
            said += f", in {counted(node.folded.count, 'copy', 'copies')}"
        said += "."
        if bars:
            said += " Below: how large the gradient was as it entered each, the last first."
            rows = rows[:1]
        return Moment(
            visible(node.title, LONGEST),
            "",
            said,
            rows=tuple(rows),
            bars=bars,
            bytes_held=self.moments.bytes_held[stop.last],
            health=self.health(steps),
        )

    def rows(self, box: int, steps: range) -> list[Row]:
        """Return what entered the part, and what left it, else the `.grad`s that it became."""
        words = counted(len(steps), "step")
        ends = list(self.left(box, steps)) or list(self.totals(steps))
        rows: list[Row] = []
        for end in ends[:MOST_ROWS]:
            arriving = arrives(self.entered(steps.start), is_first=not rows)
            rows.append((*in_words(arriving, words), end))
        return rows

    def goal(self, edge: Edge) -> str:
        """Say to whom an edge leads in this view."""
        node = self.stage.graph.nodes[self.stage.box_of[edge.target]]
        name = node.title
        if not node.folded:
            name = self.equations.goal(edge)
        return ended(visible(name, LONGEST), LONGEST_PATH)

    def entered(self, number: int) -> Gradient | None:
        return nth(defined(self.steps[number].grad_outputs), 0)

    def left(self, box: int, steps: range) -> Iterator[Cell]:
        for number in steps:
            for edge in self.equations.inputs.get(self.steps[number].node, ()):
                grad_input = self.stage.grad_input(edge)
                if grad_input is not None and self.stage.box_of.get(edge.target) != box:
                    words = caption(grad_input, f"to {self.goal(edge)}")
                    yield Cell("handed", as_shown(grad_input), words)

    def totals(self, steps: range) -> Iterator[Cell]:
        """Yield the `.grad`s of the part's leaves."""
        for number in steps:
            if self.steps[number].leaf is not None:
                yield replace(self.equations.leaf_row(self.steps[number])[-1], is_asked=False)

    def bars(self, box: int, steps: range) -> tuple[tuple[str, float], ...]:
        """Return for each copy of the part how large the gradient was that entered it."""
        copies = self.stage.copies.get(box, ())
        names = self.stage.graph.nodes[box].folded.copies
        bars = []
        for nr, copy in enumerate(copies):
            inside = [turn for turn in self.stage.turns(copy.nodes) if turn in steps]
            if inside:
                size = norm_of(self.entered(inside[0]))
                if size is None:
                    return ()
                bars.append((inside[0], visible(nth(names, nr, ""), LONGEST), size))
        if not 1 < len(bars) <= MOST_BARS:
            return ()
        return tuple([(name, size) for _, name, size in sorted(bars)])

    def health(self, steps: range) -> str:
        """Say the worst that is not well in the steps."""
        healths = []
        for number in steps:
            healths += map(health_of, self.steps[number].grad_inputs)
        return worst(healths)
