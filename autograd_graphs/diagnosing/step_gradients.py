"""Check the gradients of a step: where none arrives, where they are 0, NaN or very large."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch

from autograd_graphs.answer_card import code, listed
from autograd_graphs.diagnosing.dataflow import Event
from autograd_graphs.diagnosing.facts import Finding, assigned, each, finding, texts_of
from autograd_graphs.diagnosing.graph_nodes import is_compiled, is_own, kind_of
from autograd_graphs.diagnosing.nans import are_finite, dangerous, nan_finding
from autograd_graphs.diagnosing.reach import attributes, is_ddp
from autograd_graphs.diagnosing.step_loss import of_cut
from autograd_graphs.diagnosing.syntax import head
from autograd_graphs.diagnosing.training_step import TrainingStep, is_zero
from autograd_graphs.looking.saved_tensors import values_held
from autograd_graphs.looking.snapshot import Walk

HUGE = 1e4  # a gradient whose norm is this many times that of its weight is told
FLAT = {"Round", "Floor", "Ceil", "Sign", "Sgn", "Trunc", "Heaviside", "Bernoulli"}


def cut_off(step: TrainingStep) -> Iterator[Finding]:
    """Parameters that forward uses, that should learn, and whose graph a line ends."""
    for cut, names in step.cuts:
        if names:
            yield finding("cut_off", [cut], names, **of_cut(cut))


def unused(step: TrainingStep) -> Iterator[Finding]:
    """Parameters that the loss does not use at all, as far as the lines tell."""
    left = step.unexplained
    if not left:
        return
    # a checkpoint of the older kind, into which no graph leads
    hiding = [event for event in step.of("op") if is_reentrant(event)]
    if hiding or "CheckpointFunctionBackward" in [type(node).__name__ for node in step.nodes]:
        yield finding("hidden", texts_of(hiding)[:2], left, loss=step.loss_name)
        return
    lines, unseen = [], ""
    if step.values.sources.isdisjoint(id(step.asked[name]) for name in left):
        unseen = f", and I see no line that uses {each(left, 'it', 'them')}"
    wrapper = f"{step.model_name}.module." if is_ddp(step.model) else f"{step.model_name}."
    for name in left:
        lines += assigned(step.space, head(name.removeprefix(wrapper)))[:1]
    kind = "unused_in_ddp" if waits_for_all(step.model) else "unused"
    yield finding(kind, texts_of(lines)[:2], left, loss=step.loss_name, unseen=unseen)


def waits_for_all(model: Any) -> bool:
    """Say whether a model is a DDP that needs a gradient of each parameter before it averages."""
    inside = dict(attributes(model)) if is_ddp(model) else {}
    return inside.get("find_unused_parameters") is False and inside.get("static_graph") is False


def is_reentrant(event: Event) -> bool:
    return event.word == "checkpoint" and "use_reentrant=True" in ast.unparse(event.stmt)


def raised(step: TrainingStep) -> Iterator[Finding]:
    """Going backward raises, mostly in a backward that the learner wrote."""
    if not step.gradients.raised:
        return
    own = sorted({type(node).__name__ for node in filter(is_own, step.nodes)})
    whose = f", whose graph holds {listed(own)} with a backward of your own," if own else ""
    error = step.gradients.raised.rstrip(".")
    yield finding("raised", (), loss=step.loss_name, whose=whose, error=error)


def not_finite(step: TrainingStep) -> Iterator[Finding]:
    """NaN or infinity in the loss or in gradients, and where it began."""
    loss, is_bad = step.loss_name, not are_finite([step.loss.detach()])
    bad, spoilt = not_finite_in(step.gradients.known), not_finite_in(step.parameters)
    if is_bad and spoilt:
        yield finding("spoilt", (), spoilt, loss=loss)
    elif is_bad or bad:
        fact = f"{code(loss)} itself is NaN or infinite."
        if not is_bad:
            fact = f"The gradient of {listed(bad)} is NaN or infinite, although {code(loss)} is a "
            fact += "number."
        begun = dangerous(step.nodes)
        if begun is None:
            yield finding("not_finite", (), fact=fact)
        else:
            yield nan_finding(step.of("op"), kind_of(begun), "", fact)


def not_finite_in(tensors: dict[str, torch.Tensor]) -> list[str]:
    return [name for name, tensor in tensors.items() if not are_finite([tensor.detach()])]


def zeros(step: TrainingStep) -> Iterator[Finding]:
    """Gradients that are 0 everywhere, or that an own Function did not give."""
    none = [name for name, grad in step.gradients.by_name.items() if grad is None]
    if none:
        own = sorted(set(map(kind_of, filter(is_own, step.nodes))))
        whose = f"your Function {listed(own)}" if own else "a Function"
        kind = "none_returned" if own or not any(map(is_compiled, step.nodes)) else "none_inside"
        yield finding(kind, (), none, whose=whose, loss=step.loss_name)
    left, told = list(step.gradients.stopped), ""
    for kind in (*FLAT, "Relu"):
        nodes = [node for node in step.nodes if kind_of(node) == kind and lets_none_through(node)]
        hidden = behind(step.walk, nodes) if nodes else ()
        names = [name for name in left if id(step.asked[name]) in hidden]
        if names:
            told = "zero_relu" if kind == "Relu" else "zero_flat"
            yield finding(told, step.ops(kind), names, operation=kind.lower())
            left = [name for name in left if name not in names]
    if left and not told:  # else what they are multiplied by may be 0 for the same reason
        yield finding("zero", (), left)


def lets_none_through(node: Any) -> bool:
    """Say whether an operation hands on nothing but 0: a flat one, a relu that gave only 0."""
    if kind_of(node) in FLAT:
        return True
    result = values_held(node).get("result")
    return kind_of(node) == "Relu" and torch.is_tensor(result) and is_zero(result)


def behind(walk: Walk, nodes: list[Any]) -> set[int]:
    """Return the ids of what every way from the loss reaches only through some nodes."""
    ids = set(map(id, nodes))
    closed = {nr for nr, thing in enumerate(walk.met) if id(thing) in ids}
    reached, waiting = set(closed), [begin[0] for _, begin in walk.roots if begin]
    following: dict[int, list[int]] = {}
    for edge in walk.edges:
        following.setdefault(edge.source, []).append(edge.target)
    while waiting:
        nr = waiting.pop()
        if nr is not None and nr not in reached:
            reached.add(nr)
            waiting += following.get(nr, ())
    return {id(thing) for nr, thing in enumerate(walk.met) if nr not in reached}


def large(step: TrainingStep) -> Iterator[Finding]:
    norms, sizes = {}, {}
    for name, grad in step.gradients.known.items():
        size = norm(step.parameters[name].detach())
        if are_finite([grad]) and norm(grad) > HUGE * max(size, 1.0):
            norms[name], sizes[name] = norm(grad), size
    names = list(norms)
    if names:
        most = max(names, key=norms.get)
        lines = step.of("carry")[:1]
        whose = each(names, "Its", f"That of {code(most)} is the largest. Its")
        yield finding("explodes", lines, names, whose=whose, norm=norms[most], size=sizes[most])


def norm(tensor: torch.Tensor) -> float:
    return float(tensor.double().norm())
