"""Find the operation at which NaN began, from what the nodes of a graph have saved."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from autograd_graphs.looking.saved_tensors import values_held
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.torch_private import is_plain, is_tensor, ran_as, read, type_name
from helpers.answers import code
from helpers.clinic.catalogue import DANGERS, Danger
from helpers.clinic.facts import Finding
from helpers.clinic.values import Event

Held = dict[str, Any]


def is_zero(held: Held, name: str) -> bool:
    return is_number(held.get(name)) and bool((held[name].detach() == 0).any())


def is_infinite(held: Held, name: str) -> bool:
    return is_number(held.get(name)) and bool(torch.isinf(held[name].detach()).any())


def is_low(held: Held, least: float) -> bool:
    return is_number(held.get("self")) and bool((held["self"].detach() <= least).any())


def is_root_of_zero(held: Held) -> bool:
    exponent = held.get("exponent")
    return isinstance(exponent, (int, float)) and exponent < 1 and is_low(held, 0)


def is_at_one(held: Held) -> bool:
    return is_number(held.get("self")) and bool((held["self"].detach().abs() >= 1).any())


def is_number(thing: Any) -> bool:
    """Say whether a thing is a tensor whose values can be read."""
    if not is_tensor(thing) or not read(thing, "dtype").is_floating_point:
        return False
    return is_plain(thing) and not thing.is_meta


# of an operation: when its slope, or the operation itself, has no number
IS_BAD: dict[str, Callable[[Held], bool]] = {
    "Sqrt": lambda held: is_zero(held, "result") or has_nan(held.get("result")),
    "Log": lambda held: is_low(held, 0),
    "Div": lambda held: is_zero(held, "other"),
    "Pow": is_root_of_zero,
    "Exp": lambda held: is_infinite(held, "result"),
    "Rsqrt": lambda held: is_infinite(held, "result"),
    "Reciprocal": lambda held: is_infinite(held, "result"),
    "Std": lambda held: is_zero(held, "result") or has_nan(held.get("result")),
    "Acos": is_at_one,
    "Asin": is_at_one,
}


def has_nan(thing: Any) -> bool:
    return is_number(thing) and bool(torch.isnan(thing.detach()).any())


def kind_of(node: Any) -> str:
    """Return the name of a node's operation: "Sqrt" of SqrtBackward0."""
    return re.sub(r"Backward\d*$", "", type_name(node))


def dangerous(nodes: Sequence[Any]) -> Any:
    """Return the earliest node whose saved values show that its slope, or it itself, has no number."""
    for node in sorted(nodes, key=ran_as):
        kind = kind_of(node)
        if kind in IS_BAD and IS_BAD[kind](values_held(node)):
            return node
    return None


def before_it(walk: Walk, maker: str) -> Any:
    """Return the node that handed its gradient to one of a name, if that one is dangerous itself."""
    for edge in walk.edges:
        if edge.target is None or is_tensor(walk.met[edge.target]):
            continue
        is_next = type_name(walk.met[edge.target]) == maker
        if is_next and kind_of(walk.met[edge.source]) in ("Sqrt", "Log", "Div", "Std", "Rsqrt"):
            return walk.met[edge.source]
    return None


def nan_finding(events: Sequence[Event], kind: str, line: str, told: str) -> Finding:
    """Tell at which operation NaN began; `line` is where it surely was, "" where nobody knows."""
    known = DANGERS.get(kind) or Danger(
        "", "keep the values away from where it has no number", [kind.lower()]
    )
    events = [one for one in events if one.word in known.words]
    exact = [one for one in events if line and one.place.words(one.stmt) in line]
    events = exact or ([] if line else events)
    lines = [str(one) for one in events] or ([line] if line else [])
    name = next((one.name for one in events if one.name), "")
    what = f"{kind.lower()}{' of ' + code(name) if name else ''}"
    return Finding(
        f"{told} It began at {what}. {known.why + '.' if known.why else ''}".strip(),
        tuple(dict.fromkeys(lines))[:3],
        known.remedy,
    )
