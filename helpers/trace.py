"""Frozen, plain data about one backward that really ran: its graph and its steps. No tensor, no torch in here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from helpers.graph import Graph, Node
from helpers.text import visible

LONGEST = 60  # characters of a formula in a sentence


@dataclass(frozen=True, slots=True)
class Step:
    """Hold what one node did. Gradients are short texts; None stands for an undefined gradient.

    `arrived` has one gradient per output of the node, as its backward got them; `before_hooks` the same before
    any hook of the user's. `handed_on` has one per input, in the order of `next_functions`; `factors` says, per
    input, by what the gradient was multiplied ("1 / d = 0.1"), where that was verified. `leaf` is `.grad`
    before and after, for an AccumulateGrad.
    """

    node: int
    formulas: tuple[tuple[str, str], ...] = ()
    before_hooks: tuple[str | None, ...] = ()
    arrived: tuple[str | None, ...] = ()
    handed_on: tuple[str | None, ...] = ()
    factors: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    freed: tuple[str, ...] = ()
    leaf: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Hold a backward that ran: the graph before it, the graph after it, and its steps in the engine's order.

    `error` is the first line of what stopped it, or empty.
    """

    graph: Graph
    after: Graph
    steps: tuple[Step, ...]
    error: str = ""

    def sentence(self, number: int) -> str:
        """Say in one sentence, with its numbers, what step `number` (from 0) does."""
        step = self.steps[number]
        return f"step {number + 1} of {len(self.steps)}: {title(self.graph.nodes[step.node])}: {action(step)}"

    def __str__(self) -> str:
        lines = [self.sentence(number) for number in range(len(self.steps))]
        lines += [f"stopped: {self.error}"] if self.error else []
        return "\n".join([*lines, *filter(None, [self.graph.left_out])]) or "no step: nothing was differentiated"


def with_saved(step: Step, before: Graph, after: Graph) -> Step:
    """Add to a step the saved tensors that it used, and those of them that were freed after it."""
    used = tuple(one.name for one in before.nodes[step.node].saved if one.state != "freed")
    left = {one.name for one in after.nodes[step.node].saved if one.state != "freed"}
    return replace(step, used=used, freed=tuple(name for name in used if name not in left))


def title(node: Node) -> str:
    """Name a node: "LogBackward0 (t)", or "AccumulateGrad (leaf a)"."""
    if node.is_leaf:
        return f"{node.operation} (leaf {node.name or 'unnamed'})"
    return f"{node.operation} ({node.name})" if node.name else node.operation


def arrival(step: Step) -> str:
    """Say what arrives at a step, before and after a hook of the user's."""
    came = " and ".join(text or "nothing" for text in step.before_hooks) or "nothing"
    if step.before_hooks != step.arrived:
        return f"{came} arrives, a hook makes it {' and '.join(text or 'nothing' for text in step.arrived)}"
    return f"{came} {'arrives' if len(step.arrived) < 2 else 'arrive'}"


def action(step: Step) -> str:
    """Say what arrives at a step, what becomes of it, and what it hands on."""
    if step.leaf:
        return f"{arrival(step)}, .grad goes from {step.leaf[0]} to {step.leaf[1]}"
    parts = [hands_on(step, position) for position in range(len(step.handed_on))]
    freed = f"; freed: {', '.join(step.freed)}" if step.freed else ""
    return f"{arrival(step)}, hands on {' and '.join(parts) or 'nothing'}{freed}"


def hands_on(step: Step, position: int) -> str:
    """Say what one input gets: by which factor, where that was verified in this step, else by which formula."""
    gradient, factor = step.handed_on[position], step.factors[position]
    if gradient is None:
        return "nothing"
    if factor:
        return f"{gradient} (times {factor})"
    one_each = len(step.formulas) == len(step.handed_on)
    return f"{gradient} (by {visible(step.formulas[position][1], LONGEST)})" if one_each else gradient
