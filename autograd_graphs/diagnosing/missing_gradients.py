"""Explain gradients that are missing, or that do not fit what they are given to."""

from __future__ import annotations

import ast
from typing import Any

import torch

from autograd_graphs.answer_card import code
from autograd_graphs.diagnosing.captured import inside_compiled
from autograd_graphs.diagnosing.catalogue import SAID
from autograd_graphs.diagnosing.facts import Facts, Finding, aside, finding, made_line, quoted
from autograd_graphs.diagnosing.freed_graphs import ids_behind, results
from autograd_graphs.diagnosing.graph_nodes import leaves_of, nodes_of, read_flag
from autograd_graphs.diagnosing.message_clues import tuple_of
from autograd_graphs.diagnosing.own_functions import own_functions
from autograd_graphs.diagnosing.reach import is_ddp
from autograd_graphs.diagnosing.syntax import head, names_in, started_from
from autograd_graphs.looking.tensors import may_be_stale, read, shape_of
from autograd_graphs.looking.variable_names import parameters


def shape_of_gradient(facts: Facts, match: Any) -> Finding | None:
    name, given = started_from(facts.spot.stmt)
    given_shape, wanted = tuple_of(match[2]), tuple_of(match[3])
    words = {"given": aside(given), "given_shape": given_shape, "output": aside(name)}
    words |= {"number": match[1], "shape": wanted, "name": name or "y"}
    return finding("shape_of_gradient", [facts.spot], **words)


def left_out(facts: Facts, _: Any) -> Finding | None:
    """Tell which parameters of a DistributedDataParallel the last loss did not reach."""
    asked = asked_of_workers(facts)
    for name, tensor, _ in results(facts):
        used = ids_behind([tensor])
        missing = [path for path, parameter in asked.items() if id(parameter) not in used]
        if shape_of(tensor) == () and 0 < len(missing) < len(asked):
            return finding("left_out", [facts.spot], missing, loss=name)
    return None


def asked_of_workers(facts: Facts) -> dict[str, torch.Tensor]:
    """Return the parameters of a DistributedDataParallel that ask for gradients, by their path."""
    for spot in facts.spots:
        for model in filter(is_ddp, spot.scope.space.values()):
            asked = [pair for pair in parameters(model) if read_flag(pair[1])]
            return {path.removeprefix("module."): parameter for path, parameter in asked}
    return {}


def empty_gradient(facts: Facts, _: Any) -> Finding | None:
    known = dict(facts.names)
    for spot in facts.spots:
        for owner in owners_of_grad(facts.spot.stmt):
            tensor = spot.scope.space.get(owner)
            tensor = tensor if torch.is_tensor(tensor) else known.get(owner)
            if torch.is_tensor(tensor) and has_no_grad(tensor):
                return why_empty(facts, owner, tensor)
    return None


def owners_of_grad(stmt: ast.stmt) -> list[str]:
    """Return the names of which a statement reads `.grad`."""
    return [name.removesuffix(".grad") for name in names_in(stmt) if name.endswith(".grad")]


def has_no_grad(tensor: torch.Tensor) -> bool:
    """Say whether .grad is None, without asking a result for it: torch would warn."""
    if read(tensor, "is_leaf") or read(tensor, "retains_grad"):
        return read(tensor, "grad") is None
    return True


def why_empty(facts: Facts, owner: str, tensor: torch.Tensor) -> Finding:
    """Say why a tensor has no gradient, as far as it tells itself."""
    longer = [name for name, known in facts.names if known is tensor and name != owner]
    longer = sorted(longer, key=lambda name: (name.startswith("self."), -len(name)))
    words = {"name": owner, "also": f", which is {code(longer[0])}," if longer else ""}
    if not read(tensor, "requires_grad"):
        return finding("empty", [facts.spot], why=SAID["not_required"], **words)
    if not read(tensor, "is_leaf"):
        lines = [facts.spot, *made_line(facts.spot, owner)]
        return finding("empty_of_result", lines, **words)
    if functions := own_functions_at(facts, tensor):
        return finding("empty_by_function", [facts.spot], functions, **words)
    model = head((*longer, owner)[0])
    why = SAID["none_has"]
    for name, known in facts.names:
        if head(name) == model and read(known, "is_leaf") and read(known, "grad") is not None:
            why = SAID["others_have"]
    return finding("empty", [facts.spot], why=why, **words)


def own_functions_at(facts: Facts, tensor: torch.Tensor) -> list[str]:
    """Return the names of the learner's Functions that hand a leaf its gradient."""
    roots = [known for _, known in facts.names if read(known, "requires_grad")]
    nodes = [node for node in nodes_of(roots) if id(tensor) in map(id, leaves_of(node))]
    return list(dict.fromkeys(own_functions(nodes)))


def many_numbers(facts: Facts, _: Any) -> Finding | None:
    """backward() began at a tensor with several elements."""
    name, _ = started_from(facts.spot.stmt)
    tensor = facts.spot.scope.space.get(name)
    if not torch.is_tensor(tensor) or shape_of(tensor) == ():
        return None
    lines = [facts.spot, *made_line(facts.spot, name)]
    return finding("many_numbers", lines, name=name, shape=shape_of(tensor))


def not_used(facts: Facts, _: Any) -> Finding | None:
    """autograd.grad() was asked for a tensor that the output was not computed from."""
    if facts.call is None:
        return None
    met = set(map(id, facts.call.walk.met))
    left, lines = [], [facts.spot]
    for name, tensor in facts.line_names:
        if may_be_stale(tensor) or read(tensor, "_version"):
            return None  # the name may mean a newer result
        own = read(tensor, "grad_fn") or tensor
        if "." not in name and read_flag(tensor) and id(own) not in met:
            left.append(name)
            lines += made_line(facts.spot, name)
    if not left:
        return inside_compiled(facts)
    start, _ = started_from(facts.spot.stmt)
    what = quoted(start, "The output")
    return finding("not_used", lines, left, what=what, start=start or "the output", first=left[0])


def grad_of_result(facts: Facts, _: Any) -> Finding | None:
    owners = owners_of_grad(facts.spot.stmt)
    if not owners:
        return None
    lines = [facts.spot, *made_line(facts.spot, owners[0])]
    return finding("grad_of_result", lines, name=owners[0])
