"""Explain an error about an edit in place: which line edited what a graph had saved."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import torch

from autograd_graphs.answer_card import code, listed
from autograd_graphs.diagnosing.catalogue import FINDINGS
from autograd_graphs.diagnosing.dataflow import Event
from autograd_graphs.diagnosing.detectors import editors, memory_in, spoilt_by
from autograd_graphs.diagnosing.earlier_lines import Line, Past
from autograd_graphs.diagnosing.facts import Facts, Finding, calls_of, finding, quoted, texts_of
from autograd_graphs.diagnosing.freed_graphs import carried_state
from autograd_graphs.diagnosing.graph_nodes import read_flag
from autograd_graphs.diagnosing.nans import first_name
from autograd_graphs.diagnosing.syntax import dotted, set_by
from autograd_graphs.looking.tensors import read
from autograd_graphs.text import visible

SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "MatMult": "@"}
_MAKER = re.compile(r"which is output \d+ of (\w+?)(?:Backward\d*)?,")
# what torch calls a recorded edit, and the words that do it
EDITS = {
    "Add": {"Add", "Sub", "add_", "sub_"},
    "Sub": {"Sub", "sub_"},
    "Mul": {"Mult", "mul_", "Dropout", "dropout"},
    "Div": {"Div", "div_"},
    "Pow": {"Pow", "pow_"},
    "CopySlices": {"assign", "Add", "Sub", "Mult", "Div"},
    "IndexPut": {"assign", "index_put_"},
    "MaskedFill": {"masked_fill_", "assign"},
}


def modified(facts: Facts, _: Any) -> Finding | None:
    if facts.call is None or facts.past is None:
        return None
    maker, (_, places) = _MAKER.search(facts.text), spoilt_by(facts.call.nodes)
    names = [name for name, tensor in facts.names if places & memory_in(tensor)]
    events = [event for event in facts.of("edit") if event.ids or event.name in names]
    if events and maker and maker[1] not in ("AsStrided", "T"):
        return edit_finding(facts, edits_of(facts, events, maker[1]), names)
    if steps := stepped(facts):
        what = "a tensor of this graph"
        if names:
            what = listed(names)
        return step_finding(facts, steps, what)
    if not events:
        return None
    return edit_finding(facts, events, names)


def step_finding(facts: Facts, lines: Sequence[Any], what: str) -> Finding:
    """Tell of a step that edited what a graph had saved: perhaps that of an earlier round."""
    carried = carried_state(facts)
    if carried is not None:
        return finding("carried_stepped", [carried, *lines], name=carried.name, what=what)
    return finding("stepped", lines, what=what)


def edits_of(facts: Facts, events: Sequence[Event], maker: str) -> Sequence[Event]:
    """Return the edits that made the saved tensor, or else those of the result of what made it."""
    names: set[str] = set()
    for operation in facts.of("op"):
        if is_same(operation, maker):
            names.update(set_by(operation.stmt))
    exact, of_result = [], []
    for event in events:
        if event.word in EDITS.get(maker, ()) or is_same(event, maker):
            exact.append(event)
        elif event.name in names:
            of_result.append(event)
    return exact or of_result or events


def is_same(event: Event, maker: str) -> bool:
    """Say whether an operation has the name of one of torch's."""
    return event.word.rstrip("_").lower() == maker.lower()


def edit_finding(facts: Facts, events: Sequence[Event], names: Sequence[str]) -> Finding:
    """Tell of edits in place, one or several that may have been it."""
    lines = texts_of(events)
    name = first_name(events) or "".join(names[:1])
    tensor = dict(facts.names).get(name)
    remedy = instead_of_edit(events[0].word, name or "y", events[0].stmt)
    if read_flag(tensor) and read(tensor, "is_leaf"):
        remedy = f"call every backward() that needs the old {name} before you update it"
        remedy += ", or compute the loss again after the update"
    return finding("edited", lines, lines, what=quoted(name, "A tensor"), remedy=remedy)


def instead_of_edit(word: str, name: str, stmt: ast.stmt) -> str:
    if isinstance(stmt, ast.AugAssign):
        sign, side = SIGNS.get(type(stmt.op).__name__, "+"), visible(ast.unparse(stmt.value), 30)
        old = f"{name} {sign}= {side}"
        if isinstance(stmt.value, (ast.BinOp, ast.IfExp)):
            side = f"({side})"
        return f"write {code(f'{name} = {name} {sign} {side}')}, and not {code(old)}"
    if is_class(word):
        return f"make the module without inplace=True: {word}()"
    if word == "assign":
        return FINDINGS["assigned"]["try"].format(name=name)
    if word.endswith("_"):
        return f"write {name} = {name}.{word.rstrip('_')}(...), without the _ at the end"
    return "leave inplace=True out"


def is_class(word: str) -> bool:
    return isinstance(getattr(torch.nn, word, None), type)


def stepped(facts: Facts) -> list[Line]:
    """Return the lines with an optimizer's step that may have edited what the graph saved."""
    steps = []
    for spot in facts.spots:
        lines, _ = editors(Past(spot.scope, spot.nr), facts.call.roots)
        if any("step" in str(line) for line in lines):
            steps += lines
    return steps


def view_of_hook(facts: Facts, _: Any) -> Finding | None:
    """A full backward hook makes of a module's output a view."""
    hooks = "register_full_backward_hook", "register_full_backward_pre_hook"
    lines = [facts.spot, *calls_of(facts.spot.globals, *hooks)]
    return finding("view_of_hook", lines, what=quoted(edited_here(facts), "This tensor"))


def edited_here(facts: Facts) -> str:
    stmt = facts.spot.stmt
    if isinstance(stmt, ast.AugAssign):
        return dotted(stmt.target)
    return first_name([event for event in facts.of("edit") if event.stmt is stmt])


def module_edits_leaf(facts: Facts, _: Any) -> Finding | None:
    """A module with inplace=True got a leaf, or a line writes into a part of one."""
    for event in facts.of("edit"):
        if event.stmt is facts.spot.stmt and is_class(event.word):
            what = quoted(event.name, "what it gets here")
            return finding("module_edits_leaf", [event], module=event.word, what=what)
        if event.stmt is facts.spot.stmt and event.word == "assign":
            return finding("leaf_assigned", [event], name=event.name)
    return None
