"""Check the loss of a step: its graph, its shape, what is computed twice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import torch

from autograd_graphs.diagnosing.catalogue import CUTS
from autograd_graphs.diagnosing.dataflow import Event
from autograd_graphs.diagnosing.facts import (
    Finding,
    calls_of,
    finding,
    lines_with,
    quoted,
    texts_of,
)
from autograd_graphs.diagnosing.graph_nodes import is_mean, kind_of, leaves_of, pairs_in
from autograd_graphs.diagnosing.nans import first_name
from autograd_graphs.diagnosing.syntax import nodes_in
from autograd_graphs.diagnosing.training_step import TrainingStep
from autograd_graphs.looking.saved_tensors import values_held
from autograd_graphs.looking.tensors import read, shape_of

OF_LOSS = {
    "Sub": {"Sub", "sub"},
    "L1Loss": {"l1_loss", "L1Loss"},
    "MseLoss": {"mse_loss", "MSELoss"},
    "SmoothL1Loss": {"smooth_l1_loss", "SmoothL1Loss"},
    "HuberLoss": {"huber_loss", "HuberLoss"},
}
TWICE = {
    ("LogSoftmax", "Softmax"): ("cross_entropy", "softmax"),
    ("BinaryCrossEntropyWithLogits", "Sigmoid"): ("binary_cross_entropy_with_logits", "sigmoid"),
}


def no_tensor(step: TrainingStep) -> Iterator[Finding]:
    """The loss is a number of Python's or NumPy's."""
    if torch.is_tensor(step.loss):
        return
    cuts = step.of("cut")
    why, remedy = "", "give diagnose the tensor before it became one"
    if isinstance(step.loss, torch.nn.Module):
        remedy = "write diagnose(model, loss, optimizer), in this order"
    if cuts:
        why, remedy = f": {CUTS[cuts[0].word].why}", CUTS[cuts[0].word].remedy
    words = {"name": step.loss_name, "kind": type(step.loss).__name__, "why": why}
    yield finding("no_tensor", cuts, remedy=remedy, **words)


def no_graph(step: TrainingStep) -> Iterator[Finding]:
    """The loss is a tensor that nothing leads back from."""
    if not torch.is_tensor(step.loss) or read(step.loss, "requires_grad"):
        return
    name, cuts = step.loss_name, step.of("cut")
    if cuts:
        for cut in cuts[:2]:
            yield finding("loss_cut", [cut], name=name, **of_cut(cut))
    elif not step.records:
        yield finding("loss_grad_mode", calls_of(step.space, "set_grad_enabled"), name=name)
    elif step.parameters and not step.asked:
        yield finding("loss_frozen", lines_with(step.space, "requires_grad")[:2], name=name)
    else:
        yield finding("loss_alone", (), name=name)


def of_cut(cut: Event) -> dict[str, str]:
    known = CUTS[cut.word]
    where = quoted(cut.name, "this line")
    told = {"why": known.why, "remedy": known.remedy, "lesson": known.lesson}
    return {"where": where, **told}


def made_shape(node: Any) -> tuple[int, ...] | None:
    """Return the shape of what a node made, or of a leaf."""
    if torch.is_tensor(node):
        return shape_of(node)
    return next(filter(None, map(shape_of, node._input_metadata)), ())


def broadcast(step: TrainingStep) -> Iterator[Finding]:
    """A column minus a row of data: every prediction is compared with every target."""
    for node in step.nodes:
        kind = kind_of(node)
        if kind not in OF_LOSS:
            continue
        sides = [side for side in leaves_of(node) if side is not None]
        if len(sides) != 1:  # both sides have a graph, so neither is a target
            continue
        side, outer = sides[0], made_shape(node)
        if kind_of(side) == "Expand":  # torch's losses broadcast first; l1_loss then subtracts
            kind = "L1Loss" if kind == "Sub" else kind
            side, outer = leaves_of(side)[0], made_shape(side)
        if is_square(made_shape(side), outer) and not is_stood_up(side):
            yield broadcast_finding(step, kind, made_shape(side))
            return


def is_stood_up(node: Any) -> bool:
    """Say whether a row became a column right here: then it is meant to be broadcast."""
    is_new = kind_of(node) in ("Unsqueeze", "View", "ReshapeAlias")
    return is_new and len(made_shape(leaves_of(node)[0]) or ()) == 1


def is_square(inner: Any, outer: Any) -> bool:
    """Say whether n values in a row or a column became n times n."""
    if inner is None or len(outer) != 2 or outer[0] != outer[1] or outer[0] < 2:
        return False
    return inner in ((outer[0], 1), (1, outer[0]), (outer[0],))


def broadcast_finding(step: TrainingStep, kind: str, inner: Any) -> Finding:
    events = [event for event in step.of("op") if event.word in OF_LOSS[kind] and event.ids]
    lines = texts_of(events)[:2]
    name = events[0].name if len(lines) == 1 else ""
    if kind != "Sub" and shape_of(step.known.get(name)) != inner:
        name = ""  # of a loss the first argument may be the target
    side = quoted(name, "The side that comes from the model")
    return finding("broadcast", lines, side=side, shape=inner, count=max(inner))


def mean_twice(step: TrainingStep) -> Iterator[Finding]:
    """A mean over the batch is divided by the batch's size once more."""
    divided = [event for event in step.of("op") if is_by_batch(step, event)]
    if not divided:
        return
    for node, mean in pairs_in(step.walk):
        if is_mean(mean) and kind_of(node) == "Div" and is_count(values_held(node).get("other")):
            yield finding("mean_twice", texts_of(divided)[:2])
            return


def is_count(divisor: Any) -> bool:
    """Say whether a divisor may be the size of a batch: a whole number above 1."""
    if not torch.is_tensor(divisor) or divisor.numel() != 1:
        return False
    return float(divisor) > 1 and float(divisor).is_integer()


def is_by_batch(step: TrainingStep, event: Event) -> bool:
    """Say whether a statement divides by the size of the batch, not by a number of batches."""
    if event.word != "Div":
        return False
    for node in nodes_in(event.stmt, ast.BinOp):
        if isinstance(node.op, ast.Div):
            below = ast.unparse(node.right)
            counted = re.fullmatch(r"len\((\w+)\)", below)
            if counted and torch.is_tensor(step.known.get(counted[1])):
                return True
            if re.search(r"\.shape\[0\]$|\.size\(0\)$|\bbatch_size$", below):
                return True
    return False


def normalized_twice(step: TrainingStep) -> Iterator[Finding]:
    """A loss that normalizes itself gets what was normalized before."""
    for node, earlier in pairs_in(step.walk):
        loss, word = TWICE.get((kind_of(node), kind_of(earlier)), ("", ""))
        if not word:
            continue
        words = (word, f"log_{word}")
        events = [event for event in step.of("op") if event.word.lower() in words]
        name, lines = quoted(first_name(events), "its input"), texts_of(events)[:2]
        yield finding("normalized_twice", lines, loss=loss, word=word, name=name)
        return


def target_with_graph(step: TrainingStep) -> Iterator[Finding]:
    for node in step.nodes:
        kind, children = kind_of(node), node.next_functions
        if kind not in ("MseLoss", "SmoothL1Loss", "HuberLoss", "L1Loss"):
            continue
        if len(children) > 1 and all(child is not None for child, _ in children[:2]):
            yield finding("target_with_graph", step.ops(kind))
            return
