"""Explain why a backward() finds no graph: where it ended, or that nothing asked for one."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import torch

from autograd_graphs.answer_card import code
from autograd_graphs.diagnosing.catalogue import CUTS
from autograd_graphs.diagnosing.earlier_lines import Line
from autograd_graphs.diagnosing.errors import frames_of
from autograd_graphs.diagnosing.facts import (
    Facts,
    Finding,
    calls_of,
    finding,
    lines_with,
    made_line,
    quoted,
    texts_of,
)
from autograd_graphs.diagnosing.graph_nodes import read_flag
from autograd_graphs.diagnosing.syntax import called, calls_in, head, names_in, started_from
from autograd_graphs.looking.tensors import read
from autograd_graphs.looking.variable_names import parameters

_FLAG = re.compile(r"([\w.]+)\.requires_grad(?:_\(\)|_\(True\)| = True)")


def lost(facts: Facts, _: Any) -> Finding | None:
    if any(frame.f_code.co_name == "vmap_impl" for frame in frames_of(facts.traceback)):
        return finding("in_vmap", [facts.spot])
    cuts = facts.of("cut")
    if not cuts:
        explained = no_tensor(facts) or in_backward(facts) or frozen(facts)
        return explained or asked_late(facts) or never_asked(facts)
    if facts.past:
        cuts = facts.seen_cuts()
    if not cuts:
        return None
    start = facts.spot.called() or next(map(head, names_in(facts.spot.stmt)), "")
    if read_flag(facts.spot.scope.space.get(start)):  # the line made something else of it
        start = ""
    first, lines = cuts[0], texts_of(cuts)[:3]
    cut = CUTS[first.word]
    words = {"why": cut.why, "remedy": cut.remedy, "lesson": cut.lesson, "came": "The"}
    if first.name not in ("", start):
        words["came"] = f"It came from {code(first.name)}, and the"
    if ".numpy(" in str(first):
        words["remedy"] = CUTS["numpy"].remedy
    start = quoted(start, "What backward() was to start from")
    return finding("lost", lines, lines, start=start, **words)


def in_backward(facts: Facts) -> Finding | None:
    """Tell of a line that ran while another backward did: in a hook, or in a custom Function."""
    names = [frame.f_code.co_name for frame in frames_of(facts.traceback)]
    is_inner = names.count("_engine_run_backward") > 1
    return finding("in_backward", [facts.spot]) if is_inner else None


def frozen(facts: Facts) -> Finding | None:
    """Tell that nothing asked for gradients: a model that is frozen, or grad mode off."""
    space = facts.spot.globals
    if not facts.records:
        return finding("grad_mode", calls_of(space, "set_grad_enabled")[:1])
    models = []
    for name, thing in facts.spot.scope.space.items():
        if isinstance(thing, torch.nn.Module):
            own = dict(parameters(thing)).values()
            if not own or any(map(read_flag, own)):
                return None
            models.append(name)
    if not models:
        return None
    return finding("frozen", lines_with(space, "requires_grad")[:2], models)


def no_tensor(facts: Facts) -> Finding | None:
    """Tell of a list, or of None, that was to go backward."""
    name, _ = started_from(facts.spot.stmt)
    thing = facts.spot.scope.space.get(name, 0)
    lines = [facts.spot, *made_line(facts.spot, name)]
    if thing is None:
        return finding("none_given", lines, name=name)
    if type(thing) in (list, tuple) and thing and all(map(torch.is_tensor, thing)):
        return finding("several", lines, name=name, kind=type(thing).__name__, count=len(thing))
    return None


def asked_late(facts: Facts) -> Finding | None:
    """Tell of a leaf that was asked for its gradient after it was used."""
    before: list[Line] = []
    for line in facts.past.lines if facts.past else ():
        match = _FLAG.fullmatch(ast.unparse(line.node))
        leaf = facts.past.still(match[1], line) if match and line.is_sure else None
        if torch.is_tensor(leaf) and read(leaf, "is_leaf"):
            using = used_before_asked(match[1], before)
            if using:
                return finding("asked_late", [line, using[-1]], name=match[1])
        before.append(line)
    return None


def used_before_asked(name: str, before: Sequence[Line]) -> list[Line]:
    """Return the assignments that use a name; none where a line before asks for its gradient."""
    using = []
    for line in before:
        if name not in names_in(line.node):
            continue
        if "requires_grad" in ast.unparse(line.node):
            return []
        if isinstance(line.node, ast.Assign) and name in names_in(line.node.value):
            using.append(line)
    return using


def never_asked(facts: Facts) -> Finding | None:
    """Tell that nothing on the way requires grad, where the lines lead to no tensor that does."""
    calls = list(map(called, calls_in(facts.spot.stmt)))
    is_here = facts.framed and ("backward" in calls or "grad" in calls)
    is_asked = facts.values.sources or any(read_flag(tensor) for _, tensor in facts.line_names)
    if not is_here or is_asked or not facts.values.is_sure:
        return None
    name = facts.spot.called()
    lines = made_line(facts.spot, name) or [facts.spot]
    return finding("never_asked", lines, what=quoted(name, "What backward() was to start from"))
