"""Read the learner's training loops: in which order a round empties gradients, goes backward and
steps, and what it keeps. Source is read and never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch

from autograd_graphs.looking.torch_private import is_a
from helpers.clinic.earlier_lines import LOOPS, heads
from helpers.clinic.facts import places
from helpers.clinic.sources import Place
from helpers.clinic.values import called, dotted, flat, mentions, owner_of, targets

LEARNING = (torch.nn.Module, torch.optim.Optimizer)
SCALARS = {"item", "tolist", "detach", "numpy", "float", "int", "len"}


@dataclass(frozen=True)
class Habit:
    """Hold something that a loop does in every round: what is "kept", or a finding's name."""

    kind: str
    name: str
    line: str


@dataclass(frozen=True)
class Act:
    """Hold a call of a round that matters: "zero", "backward", "step" or "schedule"."""

    kind: str
    name: str
    stmt: ast.stmt
    call: ast.Call
    block: tuple[ast.stmt, ...]

    @property
    def is_retaining(self) -> bool:
        return self.kind == "backward" and "retain_graph=True" in ast.unparse(self.call)

    def habit(self, kind: str, place: Place) -> Habit:
        return Habit(kind, self.name, place.line(self.stmt))


def in_rounds(health: Any) -> list[Habit]:
    """Return what the loop that this step belongs to does that costs something, each once.

    Only the newest such loop counts: an older one may be the same before it was mended.
    """
    learning = {name for name, one in health.known.items() if is_a(one, LEARNING)}
    later: set[str] = set()  # of those, what cells after the loop made anew
    for place in reversed(places(health.space)):
        known = [pair for pair in loops(place.text.tree) if is_about(health, [*acts_in(pair[1])])]
        if known:
            found = [habits(place, *pair) for pair in known if not later & names_read(pair[0])]
            return list(dict.fromkeys(habit for one in found for habit in one))
        later |= learning & made_in(place.text.tree)
    return []


def made_in(tree: ast.Module) -> set[str]:
    """Return the names that a cell gives a value."""
    return {name for stmt, _ in flat(tree.body) for name, _ in targets(stmt)}


def names_read(loop: ast.stmt) -> set[str]:
    """Return the names that a loop needs from before it."""
    names = [node for node in ast.walk(loop) if isinstance(node, ast.Name)]
    made = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    return {one.id for one in names if isinstance(one.ctx, ast.Load)} - made


def is_about(health: Any, acts: list[Act]) -> bool:
    """Say whether a loop steps the optimizer in question, or goes back from the loss."""
    known = health.known
    for act in acts:
        if act.kind == "backward" and act.name == health.loss_name:
            return True
        # a name within a function is not known here
        is_it = act.name not in known or known[act.name] is health.optimizer
        if act.kind == "step" and health.groups and is_it:
            return True
    return False


def loops(tree: ast.AST) -> Iterator[tuple[Any, list[tuple[ast.stmt, tuple[ast.stmt, ...]]]]]:
    """Yield loops with their statements, and functions: one may be called in each round."""
    for loop in ast.walk(tree):
        if isinstance(loop, (*LOOPS, ast.FunctionDef)):
            yield loop, list(flat(loop.body))


def habits(place: Place, loop: ast.stmt, body: list) -> Iterator[Habit]:
    acts = list(acts_in(body))
    if not any(act.kind == "backward" for act in acts):
        return
    inner = {stmt for stmt, _ in body if isinstance(stmt, LOOPS)}
    is_outer = any(act.kind == "backward" and inner & set(act.block) for act in acts)
    is_function = isinstance(loop, ast.FunctionDef)
    local = names_bound(loop, body) if is_function else set()
    yield from [one for one in kept(place, body) if one.name.partition(".")[0] not in local]
    if not is_outer:
        yield from order(place, acts, body, is_function)


def names_bound(function: ast.FunctionDef, body: list) -> set[str]:
    """Return the names that belong to a function: a global of such a name is another thing."""
    names = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    return names | {name for stmt, _ in body for name, _ in targets(stmt) if not grows(stmt)}


def acts_in(body: list) -> Iterator[Act]:
    for stmt, block in body:
        for call in filter(is_call, heads(stmt)):
            if kind := kind_of(call):
                yield Act(kind, owner_of(call), stmt, call, block)


def kind_of(call: ast.Call) -> str:
    word = called(call)
    if word == "step" and "sched" in owner_of(call).lower():
        return "schedule"
    return {"zero_grad": "zero", "backward": "backward", "step": "step"}.get(word, "")


def order(place: Place, acts: list[Act], body: list, is_function: bool) -> Iterator[Habit]:
    """Tell of a round whose calls stand in an order that loses something; what a function leaves
    out its caller may do.
    """
    kinds = [act.kind for act in acts]
    back = kinds.index("backward")
    step = kinds.index("step", back) if "step" in kinds[back:] else -1
    for act in acts[back + 1 : max(step, 0)]:
        if act.kind == "zero" and act.name == acts[step].name:
            yield act.habit("emptied", place)
    if not is_function and "step" in kinds:
        if step > back and "zero" not in kinds and not empties(body):
            yield acts[back].habit("never_emptied", place)
        if is_not_divided(acts[back], acts[kinds.index("step")], body):
            yield acts[back].habit("not_divided", place)
    yield from [act.habit("back_twice", place) for act in back_twice(acts, body)]
    yield from [act.habit("retained", place) for act in acts if act.is_retaining]


def back_twice(acts: list[Act], body: list) -> Iterator[Act]:
    """Yield the calls that go back from a loss once more, without computing it anew."""
    back = [act for act in acts if act.kind == "backward" and act.name]
    for first, second in pairwise(back):
        between = [one for one, _ in body if first.stmt.lineno < one.lineno <= second.stmt.lineno]
        made = {name for stmt in between for name, _ in targets(stmt)}
        is_same = first.name == second.name and first.block == second.block
        if is_same and first.name not in made:
            yield second


def is_not_divided(back: Act, step: Act, body: list) -> bool:
    """Say whether gradients of several rounds are added up, and nothing divides the loss."""
    tests = [one.test for one in step.block if isinstance(one, ast.If)]
    is_each = not any(holds(test, ast.Mod) for test in tests)
    if is_each or len(back.block) >= len(step.block):
        return False
    return not any(holds(stmt, ast.Div) for stmt, _ in body)


def holds(tree: ast.AST, kind: type) -> bool:
    return any(isinstance(node, kind) for node in ast.walk(tree))


def empties(body: list) -> bool:
    """Say whether a loop empties gradients in another way: p.grad = None, or zero_()."""
    nodes = [node for stmt, _ in body for node in ast.walk(stmt)]
    return any(getattr(node, "attr", "") == "grad" for node in nodes)


def grows(stmt: ast.stmt) -> bool:
    """Say whether a statement puts something into a list."""
    func = stmt.value.func if isinstance(stmt, ast.Expr) and is_call(stmt.value) else None
    return isinstance(func, ast.Attribute) and func.attr in ("append", "extend")


def is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call)


def is_scalar(given: list[ast.expr]) -> bool:
    """Say whether what is given has no graph, as its last call tells."""
    return bool(given) and is_call(given[0]) and called(given[0]) in SCALARS


def kept(place: Place, body: list) -> Iterator[Habit]:
    """Tell what a loop collects: a list that grows, a sum that goes on."""
    for stmt, _ in body:
        names = []
        if isinstance(stmt, ast.AugAssign) and isinstance(stmt.op, ast.Add):
            names = [dotted(stmt.target)]
        if grows(stmt) and not is_scalar(stmt.value.args):
            names = [dotted(stmt.value.func.value)]
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.BinOp):
            names = [name for name in map(dotted, stmt.targets) if mentions(stmt.value, name)]
        for name in names:
            yield Habit("kept", name, place.line(stmt))
