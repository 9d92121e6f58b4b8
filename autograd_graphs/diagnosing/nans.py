"""Find the operation at which NaN began, from what the nodes of a graph have saved."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from autograd_graphs.answer_card import code
from autograd_graphs.diagnosing.catalogue import DANGERS
from autograd_graphs.diagnosing.dataflow import Event
from autograd_graphs.diagnosing.facts import Facts, Finding, finding
from autograd_graphs.diagnosing.graph_nodes import kind_of, pairs_in
from autograd_graphs.looking.nodes import ran_as
from autograd_graphs.looking.saved_tensors import values_held
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.tensors import is_plain, read
from autograd_graphs.looking.users_line import is_users
from autograd_graphs.text import visible

# of an operation: what of it shows that its slope, or the operation itself, has no number
BAD: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = {
    "Sqrt": ("result", lambda result: (result == 0) | result.isnan()),
    "Log": ("self", lambda given: given <= 0),
    "Div": ("other", lambda other: other == 0),
    "Pow": ("self", torch.isnan),  # by its exponent: bad_power
    "Exp": ("result", torch.isinf),
    "Rsqrt": ("result", torch.isinf),
    "Reciprocal": ("result", torch.isinf),
    "Std": ("result", torch.isnan),
    "Acos": ("self", lambda given: given.abs() >= 1),
    "Asin": ("self", lambda given: given.abs() >= 1),
}


def is_number(thing: Any) -> bool:
    """Say whether a thing is a tensor whose values can be read."""
    if not torch.is_tensor(thing) or not read(thing, "dtype").is_floating_point:
        return False
    return is_plain(thing) and not thing.is_meta


def are_finite(tensors: list[torch.Tensor]) -> bool:
    """Say whether all numbers of tensors are finite; of kinds that nobody can read they are."""
    try:
        if all(math.isfinite(float(tensor.sum())) for tensor in tensors):
            return True
        for tensor in tensors:
            if tensor.is_sparse:
                tensor = tensor.coalesce().values()
            if not tensor.isfinite().all():  # a sum may overflow
                return False
    except (RuntimeError, TypeError):
        return True
    return True


def has_nan(thing: Any) -> bool:
    return is_number(thing) and bool(torch.isnan(thing.detach()).any())


def dangerous(nodes: Sequence[Any]) -> Any:
    """Return the earliest node whose saved values show that its slope, or it itself, has no number."""
    for node in sorted(nodes, key=ran_as):
        if kind_of(node) not in BAD:
            continue
        held = values_held(node)
        name, is_bad = BAD[kind_of(node)]
        if kind_of(node) == "Pow":
            is_bad = bad_power(held.get("exponent"))
        if is_bad and is_number(held.get(name)) and bool(is_bad(held[name].detach()).any()):
            return node
    return None


def bad_power(exponent: Any) -> Callable[[torch.Tensor], torch.Tensor] | None:
    """Return what tells at which numbers a power, or its slope, has no number; None if at none."""
    if not isinstance(exponent, (int, float)) or exponent == 0:
        return None
    is_fraction = exponent != int(exponent)
    return lambda given: ((given == 0) & (exponent < 1)) | ((given < 0) & is_fraction)


def before_it(walk: Walk, maker: str) -> Any:
    """Return the node that handed its gradient to one of a name, if that one is dangerous itself."""
    for node, following in pairs_in(walk):
        is_next = type(following).__name__ == maker
        if is_next and kind_of(node) in ("Sqrt", "Log", "Div", "Rsqrt"):
            return node
    return None


def nan_finding(events: Sequence[Event], kind: str, line: str, fact: str) -> Finding:
    """Tell at which operation NaN began; `line` is where it surely was, "" where nobody knows."""
    why, remedy, words = "", "keep the values away from where it has no number", [kind.lower()]
    if kind in DANGERS:
        known = DANGERS[kind]
        why, remedy, words = f" {known.why}.", known.remedy, known.words
    there = []
    for event in events:
        if event.word in words and (not line or event.place.words(event.stmt) in line):
            there.append(event)
    lines = list(map(str, there))
    if line and not lines:
        lines = [line]
    where = kind.lower()
    name = first_name(there)
    if name:
        where += f" of {code(name)}"
    return finding("nan", lines[:3], fact=fact, where=where, why=why, remedy=remedy)


def first_name(events: Sequence[Event]) -> str:
    """Return the first name that a learner gave a tensor of some events; "" where none has one."""
    return next((event.name for event in events if event.name), "")


def anomaly(facts: Facts, match: Any) -> Finding | None:
    if facts.call is None:
        return None
    same = [node for node in facts.call.nodes if type(node).__name__ == match[1]]
    begun = dangerous(facts.call.nodes) or before_it(facts.call.walk, match[1])
    if begun is None and len(same) == 1:
        begun = same[0]
    fact = "The loss is a number, its gradient NaN."
    if any(map(has_nan, facts.call.roots)):
        fact = "The forward gave NaN already."
    kind, line = re.sub(r"Backward\d*$", "", match[1]), ""
    if begun is not None:
        kind, line = kind_of(begun), recorded_line(begun)
    return nan_finding(facts.of("op"), kind, line, fact)


def recorded_line(node: Any) -> str:
    """Return the learner's line that anomaly mode has kept of a node's forward; "" without one."""
    line = ""
    for entry in node.metadata.get("traceback_", ()):
        match = re.match(r'\s*File "(.*?)", line (\d+), in .*\n\s*(.*)', entry)
        if match and is_users(match[1]) and match[3]:
            line = f"line {match[2]}: {visible(match[3].strip(), 90)}"
    return line
