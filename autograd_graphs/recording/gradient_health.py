"""Say how healthy the gradients of a backward were. Plain data in and out."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median_low

from autograd_graphs.data import Gradient, Graph, elements
from autograd_graphs.recording.trace import Step, Trace, changer, defined, title

EXPLODING = 1_000  # times the median norm: what is larger explodes
GROWN = 10  # times the norm at the start: what is smaller only looks large where all else vanishes
BAD = ("NaN", "inf")  # the worse first


@dataclass(frozen=True, slots=True)
class First:
    """Hold the first NaN or inf of a backward: at which step, which of both (`health`), and how.

    `how` is "made" where what arrived at the step was finite, "given" where backward() started with
    it, and "arrived" where a hook made it, or the sum of what finite gradients handed on.
    """

    step: int
    health: str
    how: str


def norm_of(gradient: Gradient | None) -> float | None:
    """Return the norm of a gradient; None where there is none, or where it was not computed."""
    if gradient is None:
        return None
    if gradient.values is not None:
        return hypotenuse(map(abs, elements(gradient.values)))
    return gradient.norm


def hypotenuse(sizes: Iterable[float]) -> float:
    """Return the root of the sum of squares; a NaN in it makes a NaN, as in torch."""
    sizes = list(sizes)
    if any(map(math.isnan, sizes)):
        return math.nan
    return math.hypot(*sizes)


def health_of(gradient: Gradient | None) -> str:
    """Say what is wrong with a gradient: "NaN", "inf" or "zero"; of what is not known, ""."""
    if gradient is None:
        return ""
    if gradient.values is not None:
        values = elements(gradient.values)
    else:
        values = [bound for bound in (gradient.least, gradient.greatest) if bound is not None]
    if gradient.nans or any(map(cmath.isnan, values)):
        return "NaN"
    if gradient.infs or any(map(cmath.isinf, values)):
        return "inf"
    return "zero" if values and not any(values) else ""


def norm_at(step: Step) -> float | None:
    """Return the norm of all that arrived at a step; None where that is not known."""
    norms = list(map(norm_of, defined(step.grad_outputs)))
    if not norms or None in norms:
        return None
    return hypotenuse(norms)


def health_at(step: Step) -> str:
    """Say what is wrong with what arrived at a step: "NaN", "inf", "zero" where all is; or ""."""
    words = set(map(health_of, defined(step.grad_outputs)))
    if words == {"zero"}:
        return "zero"
    return worst(words)


def worst(words: Iterable[str]) -> str:
    """Return "NaN", "inf", or "" where neither is among the words."""
    words = set(words)
    return next((word for word in BAD if word in words), "")


def first(trace: Trace) -> First | None:
    """Return the first NaN or inf in the engine's order; None where all was finite."""
    begins = {root.node for root in trace.graph.roots}
    for number, step in enumerate(trace.steps):
        arrived = worst(map(health_of, (*step.before_hooks, *step.grad_outputs)))
        if arrived and step.node in begins and worst(map(health_of, step.before_hooks)):
            return First(number, arrived, "given")
        if arrived:
            return First(number, arrived, "arrived")
        if made := worst(map(health_of, (*step.grad_inputs, summed(step)))):
            return First(number, made, "made")
    return None


def summed(step: Step) -> Gradient | None:
    """Return the `.grad` that a step made of a finite one; None where it made none."""
    if step.leaf is None or worst([health_of(step.leaf.before)]):
        return None
    return step.leaf.after


def first_words(trace: Trace, trouble: First) -> str:
    """Say in a sentence where the first NaN or inf is."""
    step = trace.steps[trouble.step]
    node = step.node
    where = title(trace.graph.nodes[node])
    if module := called_in(trace.graph, node):
        where += f" in {module}"
    if trouble.how == "given":
        return f"backward() starts with {trouble.health}, at {where}."
    if trouble.how == "arrived":
        maker = changer(step) if step.edited_by else "a hook or a sum"
        return f"The first {trouble.health} arrives at {where}: {maker} made it."
    return f"The first {trouble.health} arises at {where}."


def called_in(graph: Graph, node: int) -> str:
    """Name the innermost module call that ran a node's operation; empty where none is known."""
    if node not in graph.ran:
        return ""
    place = graph.ran.index(node)
    calls = [call for call in graph.calls if call.start <= place < call.stop]
    return max(calls, key=lambda call: call.depth).label if calls else ""


def exploding(trace: Trace) -> frozenset[int]:
    """Return the numbers of the steps at which a gradient arrived that explodes.

    Its norm is more than `EXPLODING` times the median of all norms but zeros, and more than `GROWN`
    times the largest that backward() started with: where gradients vanish on the way, the first
    ones only look large.
    """
    norms = {nr: norm_at(step) for nr, step in enumerate(trace.steps) if health_at(step) not in BAD}
    sizes = sorted(norm for norm in norms.values() if norm)
    if not sizes:
        return frozenset()
    begins = {root.node for root in trace.graph.roots}
    starts = [norm or 0.0 for nr, norm in norms.items() if trace.steps[nr].node in begins]
    least = max(EXPLODING * median_low(sizes), GROWN * max(starts, default=0.0))
    return frozenset(nr for nr, norm in norms.items() if norm and norm > least)
