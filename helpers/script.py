"""Write the words of a stepped backward: a sentence for each frame, and the question that a class may guess. Plain."""

from __future__ import annotations

from helpers.trace import Step, Trace, arrival, title


def script(trace: Trace) -> list[tuple[str, str]]:
    """Return (sentence, question) of the frame before all steps, of each step, and of the frame after them."""
    steps = [(trace.sentence(number), question(trace, number)) for number in range(len(trace.steps))]
    return [(begin(trace), ""), *steps, (end(trace), "")]


def begin(trace: Trace) -> str:
    names = ", ".join(root.tensor.name or "the root" for root in trace.graph.roots)
    return f"{len(trace.steps)} steps to come. backward() starts at {names}."


def end(trace: Trace) -> str:
    count = len(trace.steps)
    if trace.error:
        return f"backward() stopped after {count} steps: {trace.error}"
    leaves = [(trace.graph.nodes[step.node].name, step.leaf[1]) for step in trace.steps if step.leaf]
    got = [f"{name or 'a leaf'}.grad = {text}" for name, text in leaves[:6]] + ["…"] * (len(leaves) > 6)
    return f"After {count} steps: {', '.join(got) or 'no leaf got a gradient'}."


def question(trace: Trace, number: int) -> str:
    """Say what arrives at a step, and ask for the numbers that it brings."""
    step = trace.steps[number]
    name = title(trace.graph.nodes[step.node])
    return f"step {number + 1} of {len(trace.steps)}: {name}: {arrival(step)}. {ask(step)}"


def ask(step: Step) -> str:
    """Ask for the numbers that a step brings."""
    return "What is .grad now?" if step.leaf else "What does it hand on?"
