"""Frozen, plain data about one backward that really ran: its graph, its steps and their sentences.
No torch in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from helpers.graph import Gradient, Graph, Node
from helpers.text import visible

LONGEST = 60  # characters of a formula in a sentence
MOST_LEAVES = 6  # whose `.grad` the last sentence tells


@dataclass(frozen=True, slots=True)
class LeafGrad:
    """Hold a leaf's `.grad` before and after its AccumulateGrad ran; None where it was empty."""

    before: Gradient | None
    after: Gradient | None


@dataclass(frozen=True, slots=True)
class Step:
    """Hold what one node did. None stands for an undefined gradient.

    `grad_outputs` has one gradient per output of the node, as its backward got them; `before_hooks`
    the same before any hook of the user's. `grad_inputs` has one per input, in the order of
    `next_functions`: what it handed on. `factors` says, per input, by what the gradient was
    multiplied ("1 / d = 0.1"), where that was verified. `used` are the names of the saved tensors
    that it could use, `freed` of those that were freed after it. `leaf` is there for an
    AccumulateGrad.
    """

    node: int
    formulas: tuple[tuple[str, str], ...] = ()
    before_hooks: tuple[Gradient | None, ...] = ()
    grad_outputs: tuple[Gradient | None, ...] = ()
    grad_inputs: tuple[Gradient | None, ...] = ()
    factors: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    freed: tuple[str, ...] = ()
    leaf: LeafGrad | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Hold a backward that ran: the graph before it, the graph after it, and its steps in the
    engine's order.

    `error` is the first line of what stopped it, or empty.
    """

    graph: Graph
    after: Graph
    steps: tuple[Step, ...]
    error: str = ""

    def sentence(self, number: int) -> str:
        """Say in one sentence, with its numbers, what step `number` (from 0) does."""
        step = self.steps[number]
        name = title(self.graph.nodes[step.node])
        return f"step {number + 1} of {len(self.steps)}: {name}: {action(step)}"

    def __str__(self) -> str:
        lines = [self.sentence(number) for number in range(len(self.steps))]
        if self.error:
            lines.append(f"stopped: {self.error}")
        if self.graph.left_out:
            lines.append(self.graph.left_out)
        return "\n".join(lines) or "no step: nothing was differentiated"


def with_saved(step: Step, before: Graph, after: Graph) -> Step:
    """Add to a step the saved tensors that it could use, and those of them that were freed after
    it.
    """
    used = usable(before.nodes[step.node])
    left = usable(after.nodes[step.node])
    return replace(step, used=used, freed=tuple(name for name in used if name not in left))


def usable(node: Node) -> tuple[str, ...]:
    """Return the names of the saved tensors of a node that are not freed."""
    return tuple(saved.name for saved in node.saved if saved.state != "freed")


def title(node: Node) -> str:
    """Name a node: "LogBackward0 (t)", or "AccumulateGrad (leaf a)"."""
    if node.is_leaf:
        return f"{node.operation} (leaf {node.name or 'unnamed'})"
    if node.name:
        return f"{node.operation} ({node.name})"
    return node.operation


def action(step: Step) -> str:
    """Say what arrives at a step, what becomes of it, and what it hands on."""
    if step.leaf:
        return f"{arrival(step)}, .grad goes from {step.leaf.before} to {step.leaf.after}"
    parts = [hands_on(step, position) for position in range(len(step.grad_inputs))]
    words = f"{arrival(step)}, hands on {' and '.join(parts) or 'nothing'}"
    if step.freed:
        words += f"; freed: {', '.join(step.freed)}"
    return words


def arrival(step: Step) -> str:
    """Say what arrives at a step, before and after a hook of the user's."""
    arrived = joined(step.before_hooks)
    if step.before_hooks != step.grad_outputs:
        return f"{arrived} arrives, a hook makes it {joined(step.grad_outputs)}"
    if len(step.grad_outputs) > 1:
        return f"{arrived} arrive"
    return f"{arrived} arrives"


def joined(gradients: Sequence[Gradient | None]) -> str:
    """Return gradients as text, an undefined one as "nothing"."""
    words = ["nothing" if gradient is None else str(gradient) for gradient in gradients]
    return " and ".join(words) or "nothing"


def hands_on(step: Step, position: int) -> str:
    """Say what one input gets: by which factor, where that was verified in this step, else by which
    formula.
    """
    gradient, factor = step.grad_inputs[position], step.factors[position]
    if gradient is None:
        return "nothing"
    if factor:
        return f"{gradient} (times {factor})"
    if len(step.formulas) == len(step.grad_inputs):
        _, formula = step.formulas[position]
        return f"{gradient} (by {visible(formula, LONGEST)})"
    return str(gradient)


def script(trace: Trace) -> list[tuple[str, str]]:
    """Return (sentence, question) of the frame before all steps, of each step, and of the frame
    after them.
    """
    steps = [
        (trace.sentence(number), question(trace, number)) for number in range(len(trace.steps))
    ]
    return [(begin(trace), ""), *steps, (end(trace), "")]


def begin(trace: Trace) -> str:
    """Say how many steps are to come, and where they start."""
    names = ", ".join(root.tensor.name or "the root" for root in trace.graph.roots)
    return f"{len(trace.steps)} steps to come. backward() starts at {names}."


def end(trace: Trace) -> str:
    """Say how it ended: with an error, or with which `.grad`s."""
    count = len(trace.steps)
    if trace.error:
        return f"backward() stopped after {count} steps: {trace.error}"
    leaves = [step for step in trace.steps if step.leaf]
    told = [
        f"{trace.graph.nodes[step.node].name or 'a leaf'}.grad = {step.leaf.after}"
        for step in leaves
    ]
    if len(told) > MOST_LEAVES:
        told[MOST_LEAVES:] = ["…"]
    return f"After {count} steps: {', '.join(told) or 'no leaf got a gradient'}."


def question(trace: Trace, number: int) -> str:
    """Say what arrives at a step, and ask for the numbers that it brings."""
    step = trace.steps[number]
    asked = "What is .grad now?" if step.leaf else "What does it hand on?"
    name = title(trace.graph.nodes[step.node])
    return f"step {number + 1} of {len(trace.steps)}: {name}: {arrival(step)}. {asked}"
