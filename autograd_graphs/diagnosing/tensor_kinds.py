"""Explain errors about what tensors are: types, devices, shapes, copies, views, inference mode."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import torch

from autograd_graphs.answer_card import listed
from autograd_graphs.diagnosing.facts import (
    Facts,
    Finding,
    aside,
    assigned,
    each,
    finding,
    made_line,
    quoted,
)
from autograd_graphs.diagnosing.message_clues import tuple_of
from autograd_graphs.diagnosing.syntax import called, first_given, head, names_in, nodes_in
from autograd_graphs.looking.tensors import (
    device_name,
    dtype_name,
    read,
    shape_of,
    shows_flag_of_base,
)

WHOLE = re.compile("Long|Int|Short|Byte|Bool|Char")


def class_numbers(facts: Facts, _: Any) -> Finding | None:
    """The target of cross_entropy is to hold the numbers of classes."""
    for name, tensor in reversed(facts.line_names):
        is_data = name in names_in(facts.spot.stmt) and not read(tensor, "requires_grad")
        dtype = read(tensor, "dtype")
        if is_data and dtype.is_floating_point:
            lines = origin(facts, [name])
            return finding("class_numbers", lines, name=name, type=dtype_name(dtype))
    return None


def two_types(facts: Facts, _: Any) -> Finding | None:
    kinds = []
    for name, tensor in facts.line_names:
        dtype = read(tensor, "dtype")
        if dtype.is_floating_point or WHOLE.search(facts.text):
            kinds.append((name, dtype_name(dtype)))
    return odd_one(facts, "two_types", kinds)


def two_devices(facts: Facts, _: Any) -> Finding | None:
    devices = [(name, device_name(read(tensor, "device"))) for name, tensor in facts.line_names]
    kinds = [(name, f"on {device}") for name, device in devices]
    return odd_one(facts, "two_devices", kinds)


def odd_one(facts: Facts, kind: str, kinds: list[tuple[str, str]]) -> Finding | None:
    """Tell which tensors of the failing lines are of another kind than the others."""
    groups: dict[str, list[str]] = {}
    for name, its_kind in kinds:
        if not name.endswith(".grad"):
            groups.setdefault(its_kind, []).append(name)
    if len(groups) < 2:
        return None
    texts = []
    for its_kind, names in groups.items():
        shortest = sorted(names, key=lambda name: name.count("."))
        texts.append(f"{listed(shortest)} {each(names, 'is', 'are')} {its_kind}")
    return finding(kind, origin(facts, min(groups.values(), key=len)), kinds="; ".join(texts))


def origin(facts: Facts, names: Sequence[str]) -> list[str]:
    """Return the failing line, and the lines that made the tensors of these names."""
    lines = [str(facts.spot)]
    for name in names[:3]:
        made = [line for spot in facts.spots for line in made_line(spot, name)]
        if not made and "." in name:
            made = assigned(facts.spot.globals, name.rpartition(".")[2])
        lines += made[:1]
    return lines[:3]


def deep_copy(facts: Facts, _: Any) -> Finding | None:
    names = [name for name, tensor in facts.line_names if read(tensor, "grad_fn") is not None]
    if not names:
        return None
    kept = names[0].rpartition(".")[2]
    owner = head(names[0]) if "." in names[0] else "model"
    lines = [facts.spot, *assigned(facts.spot.globals, kept)[:1]]
    return finding("deep_copy", lines, names, owner=owner, kept=kept)


def inference(facts: Facts, _: Any) -> Finding | None:
    names = [name for name, tensor in facts.line_names if torch.is_inference(tensor)]
    if not names:
        return None
    return finding("inference", origin(facts, names), names, first=names[0])


def view_of_leaf(facts: Facts, _: Any) -> Finding | None:
    for name, tensor in facts.line_names:
        if shows_flag_of_base(tensor):
            return finding("view_of_leaf", origin(facts, [name]), name=name)
    return None


def sizes(facts: Facts, match: Any) -> Finding | None:
    by_size: dict[str, list[str]] = {}
    for call in nodes_in(facts.spot.stmt, ast.Call):
        for argument in call.args:
            name = getattr(argument, "id", "")
            by_size.setdefault(str(shape_of(facts.spot.scope.space.get(name))), []).append(name)
    words = {}
    for word, size in (("target", tuple_of(match[1])), ("prediction", tuple_of(match[2]))):
        words[word] = f"{word} has shape {size}"
        names = by_size.get(size, [])
        if len(names) == 1 and names[0] != word:
            words[word] = f"{word}{aside(names[0])} has shape {size}"
    return finding("sizes", [facts.spot], **words)


def copied(facts: Facts, _: Any) -> Finding | None:
    calls = nodes_in(facts.spot.stmt, ast.Call)
    name = next((first_given(call) for call in calls if called(call) == "tensor"), "")
    return finding("copied", [facts.spot], what=quoted(name, "a tensor"))
