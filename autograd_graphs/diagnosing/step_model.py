"""Check model and optimizer: what is not registered, held, trained, or hooked more than once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from autograd_graphs.answer_card import listed
from autograd_graphs.diagnosing.facts import (
    Finding,
    assigned,
    calls_of,
    each,
    finding,
    made_line,
    texts_of,
)
from autograd_graphs.diagnosing.graph_nodes import leaves_of, walk_from
from autograd_graphs.diagnosing.live_names import ids_of
from autograd_graphs.diagnosing.reach import attributes, is_ddp, is_other_in_eval, parts
from autograd_graphs.diagnosing.syntax import head, names_in, set_by
from autograd_graphs.diagnosing.training_step import TrainingStep
from autograd_graphs.looking.tensors import read


def plain_attributes(step: TrainingStep) -> Iterator[Finding]:
    """What a module has as an attribute, and not as a part: model.parameters() misses it."""
    own = set(map(id, [*step.parameters.values(), *dict(step.modules).values()]))
    for path, module in step.modules:
        for name, thing in attributes(module):
            kind, made = "plain_layers", ""
            held: Iterable[tuple[str, Any]] = ()
            if type(thing) in (list, tuple, dict):
                held = parts(name, thing)
            if torch.is_tensor(thing):
                kind, made, held = "plain_tensor", "the result of an operation", [(name, thing)]
                if read(thing, "grad_fn") is None:
                    made = "a plain tensor"
            if name.startswith("_") or not any(is_lost(part, own) for _, part in held):
                continue
            full, lines = f"{path}.{name}".removeprefix("."), assigned(step.space, name)[:2]
            words = {"name": step.spelt(full), "kind": type(thing).__name__, "attribute": name}
            yield finding(kind, lines, made=made, **words)


def ends_of(tensor: torch.Tensor) -> set[int]:
    """Return the ids of the leaves at which the graph of a tensor ends, or of itself."""
    return set(map(id, filter(torch.is_tensor, walk_from([tensor]).met)))


def is_lost(thing: Any, own: set[int]) -> bool:
    """Say whether a tensor or layer asks for gradients and has nothing of the model's own."""
    if not isinstance(thing, torch.nn.Module) and not torch.is_tensor(thing):
        return False
    leaves = (
        ends_of(thing) if torch.is_tensor(thing) else {id(thing)}
    )  # a result of forward has own ones
    return own.isdisjoint(leaves) and bool(ids_of(thing))


def not_held(step: TrainingStep) -> Iterator[Finding]:
    """Parameters that learn and that no optimizer in reach has; what this one has instead."""
    held = set(map(id, step.held))
    moved = held | set(map(id, step.held_by_others))
    missing = []
    for name, tensor in step.asked.items():
        is_cut_off = torch.is_tensor(step.loss) and name in step.unreached
        if id(tensor) not in moved and (id(tensor) in step.learning or not is_cut_off):
            missing.append(name)
    if not missing or not step.groups:
        return
    strange = held.difference(map(id, step.parameters.values()))
    instead = ""
    if strange:
        count = each(strange, "one tensor", f"{len(strange)} tensors")
        instead = f" It holds {count} that this model doesn't have. Was a layer replaced?"
    what = listed(missing)
    if len(missing) == len(step.parameters):
        what = "any parameter of this model"
    yield finding("not_held", made_and_later(step), missing, what=what, instead=instead)


def made_and_later(step: TrainingStep) -> list[str]:
    """Return the line that made the optimizer, and later ones that change parts or flags."""
    scope, model = step.spot.scope, step.model_name
    made = scope.made_at(step.name_of(step.optimizer), step.spot.nr)
    if made is None:
        return []
    body, lines = scope.body, [made]
    if not model:
        return texts_of(lines)
    for row in body[body.index(made) + 1 :]:
        is_part = isinstance(row.stmt, ast.Assign) and model in map(head, set_by(row.stmt))
        is_plain = isinstance(row.stmt, (ast.Assign, ast.Expr))
        if is_part or (is_plain and "requires_grad" in " ".join(names_in(row.stmt))):
            lines.append(row)
    return texts_of(lines)[:3]


def strange_flags(step: TrainingStep) -> Iterator[Finding]:
    """An attribute that looks like a flag and is none."""
    for path, module in step.modules:
        value = dict(attributes(module)).get("requires_grad")
        if type(value) is bool:
            name = step.name_of(module) or step.spelt(path)
            lines = assigned(step.space, "requires_grad")[:1]
            yield finding("flag", lines, name=name, value=value)


def stepped_copy(step: TrainingStep) -> Iterator[Finding]:
    """The optimizer holds a tensor, and the learner's name means a result computed from it."""
    hidden = set(map(id, step.held)).difference(step.names_by_id)
    if step.modules:
        return
    for name, tensor in step.names:
        node = read(tensor, "grad_fn")
        if node is None or "[" in name:
            continue
        if not hidden.isdisjoint(map(id, leaves_of(node))):
            lines = made_line(step.spot, name)
            lines += made_line(step.spot, step.name_of(step.optimizer))
            yield finding("stepped_copy", lines, name=name)


def went_round(step: TrainingStep) -> Iterator[Finding]:
    """The loss comes from the model inside of a DDP, whose own forward has never been called."""
    inside = dict(attributes(step.model)) if is_ddp(step.model) else {}
    unused = inside.get("_lazy_init_ran") is False and inside.get("_use_python_reducer") is False
    if not unused or len(step.unreached) == len(step.asked):
        return
    name = step.model_name or "model"
    made = [line for line in made_line(step.spot, step.loss_name) if ".module" in line]
    yield finding("went_round", made or calls_of(step.space, "module")[:1], name=name)


def modes(step: TrainingStep) -> Iterator[Finding]:
    names = []
    if isinstance(step.model, torch.nn.Module) and step.model.training:
        return  # a part of it was put into eval mode on purpose
    for path, module in step.modules:
        if is_other_in_eval(module):
            names.append(step.spelt(path) or type(module).__name__)
    if names:
        own = f"{step.model_name}.eval("
        lines = [line for line in calls_of(step.space, "eval") if own in line]
        yield finding("modes", lines[:1], names)  # the newest


def hooked(step: TrainingStep) -> Iterator[Finding]:
    """Hooks that change gradients, or that pile up."""
    with_hook = [name for name, tensor in step.parameters.items() if tensor._backward_hooks]
    if with_hook:
        yield finding("hooked", calls_of(step.space, "register_hook")[:2], with_hook)
    makers = "register_forward_hook", "register_full_backward_hook"
    for path, module in step.modules:
        inside = dict(attributes(module))
        for kind in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
            codes = [getattr(hook, "__code__", hook) for hook in inside.get(kind, {}).values()]
            most = max(map(codes.count, codes), default=0)
            if most > 1:
                name = step.spelt(path) or type(module).__name__
                lines = calls_of(step.space, *makers)[:2]
                yield finding("hooks_pile_up", lines, name=name, most=most)
