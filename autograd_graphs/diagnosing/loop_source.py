"""Read the learner's training loops: in which order a round empties gradients, goes backward and
steps, and what it keeps. Source is read and never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch

from autograd_graphs.diagnosing.dataflow import (
    called,
    dotted,
    flat,
    mentions,
    nodes_in,
    set_by,
    targets,
)
from autograd_graphs.diagnosing.earlier_lines import LOOPS, calls_in
from autograd_graphs.diagnosing.facts import in_sources, places
from autograd_graphs.diagnosing.sources import Place

LEARNING = (torch.nn.Module, torch.optim.Optimizer)
FUNCTION = (ast.FunctionDef, ast.ClassDef)  # a class may hold the function that is called
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

    def habit(self, kind: str, place: Place) -> Habit:
        return Habit(kind, self.name, place.line(self.stmt))


def in_rounds(health: Any) -> list[Habit]:
    """Return what the loop that this step belongs to does that costs something, each once.

    Only the newest such loop counts: an older one may be the same before it was mended.
    """
    learning = {name for name, thing in health.known.items() if isinstance(thing, LEARNING)}
    later: set[str] = set()  # of those, what cells after the loop made anew
    functions = {function.name: function for function, _ in in_sources(health.space, FUNCTION)}
    for place in reversed(places(health.space)):
        results, is_newest = [], False
        for loop, body in loops(place.text.tree):
            if is_about(health, acts_in(body)):
                is_newest = True
                if later.isdisjoint(names_read(loop)):
                    results += habits(place, loop, body, functions)
        if is_newest:
            return list(dict.fromkeys(results))
        later |= learning & made_in(place.text.tree)
    return []


def made_in(tree: ast.Module) -> set[str]:
    return {name for stmt, _ in flat(tree.body) for name in set_by(stmt)}


def names_read(loop: ast.stmt) -> set[str]:
    """Return the names that a loop needs from before it."""
    names = nodes_in(loop, ast.Name)
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - made


def is_about(health: Any, acts: Iterable[Act]) -> bool:
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


def habits(place: Place, loop: ast.stmt, body: list, functions: dict) -> Iterator[Habit]:
    """Tell what a loop does; `functions` are those of the learner's, which it may call."""
    acts = list(acts_in(body))
    back = [act for act in acts if act.kind == "backward"]
    if not back:
        return
    local = names_bound(loop, body) if isinstance(loop, ast.FunctionDef) else set()
    for habit in kept(place, body):
        if habit.name.partition(".")[0] not in local:
            yield habit
    if not any(isinstance(stmt, LOOPS) for act in back for stmt in act.block):
        called_ones = called_by(body, functions)
        yield from order(place, acts, body, called_ones, isinstance(loop, ast.FunctionDef))
        for act in back_twice(acts, body):
            yield act.habit("back_twice", place)
        if is_needless(back, body):
            yield back[0].habit("retained", place)


def called_by(body: list, functions: dict) -> list:
    """Return the learner's functions that statements call, and those that these call in turn."""
    found: list = []
    waiting = list(map(called, calls_of(body)))
    for word in waiting:  # the list grows as we go
        function = functions.get(word)
        if function is not None and function not in found:
            found.append(function)
            waiting += map(called, calls_of(list(flat(function.body))))
    return found


def names_bound(function: ast.FunctionDef, body: list) -> set[str]:
    """Return the names that belong to a function: a global of such a name is another thing."""
    names = {argument.arg for argument in nodes_in(function.args, ast.arg)}
    for stmt, _ in body:
        if not grows(stmt):
            names.update(set_by(stmt))
    return names


def acts_in(body: list) -> Iterator[Act]:
    for stmt, block in body:
        for call in calls_in(stmt):
            if kind := kind_of(call):
                yield Act(kind, dotted(call), stmt, call, block)


def kind_of(call: ast.Call) -> str:
    word = called(call)
    if word == "step" and "sched" in dotted(call).lower():
        return "schedule"
    return {"zero_grad": "zero", "backward": "backward", "step": "step"}.get(word, "")


def is_needless(back: list[Act], body: list) -> bool:
    """Say whether the one backward of a round retains a graph that nothing there goes through."""
    retains = [act for act in back if "retain_graph=True" in ast.unparse(act.call)]
    words = set(map(called, calls_of(body)))
    return len(back) == len(retains) == 1 and "grad" not in words


def calls_of(body: list) -> list[ast.Call]:
    return [call for stmt, _ in body for call in calls_in(stmt)]


def order(
    place: Place, acts: list[Act], body: list, called_ones: list, is_function: bool
) -> Iterator[Habit]:
    """Tell of a round whose order loses something; what a function leaves out its caller may do."""
    kinds = [act.kind for act in acts]
    back = kinds.index("backward")
    has_step_after = "step" in kinds[back:]
    if has_step_after:
        step = kinds.index("step", back)
        last = max(nr for nr in range(step) if kinds[nr] == "backward")
        for act in acts[last + 1 : step]:
            if act.kind == "zero" and act.name == acts[step].name and leads_to(act, acts[step]):
                yield act.habit("emptied", place)
    if not is_function and "step" in kinds:
        bodies_called = [flat_one for one in called_ones for flat_one in flat(one.body)]
        is_emptied = "zero" in kinds or empties([*body, *bodies_called])
        if has_step_after and not is_emptied:
            yield acts[back].habit("never_emptied", place)
        zeros = [act.block for act in acts if act.kind == "zero"]
        adds_up = not called_ones and acts[back].block not in zeros  # a function may divide
        if adds_up and is_not_divided(acts[back], acts[kinds.index("step")], body):
            yield acts[back].habit("not_divided", place)


def leads_to(first: Act, second: Act) -> bool:
    """Say whether every way to the second call goes through the first one."""
    for block in first.block:
        if block not in second.block and not isinstance(block, ast.With):
            return False
        other = getattr(block, "orelse", ())
        if other and first.stmt.lineno < other[0].lineno <= second.stmt.lineno:
            return False
    return True


def back_twice(acts: list[Act], body: list) -> Iterator[Act]:
    """Yield the calls that go back from a loss once more, without computing it anew."""
    back = [act for act in acts if act.kind == "backward" and act.name]
    for first, second in pairwise(back):
        lines = range(first.stmt.lineno + 1, second.stmt.lineno + 1)
        is_anew = any(stmt.lineno in lines and first.name in set_by(stmt) for stmt, _ in body)
        if first.name == second.name and first.block == second.block and not is_anew:
            yield second


def is_not_divided(back: Act, step: Act, body: list) -> bool:
    """Say whether gradients of several rounds are added up, and nothing divides the loss."""
    if len(back.block) >= len(step.block):
        return False
    for stmt, _ in body:  # a sum over all points is meant to be one
        if nodes_in(stmt, (ast.Div, ast.Mult)) or re.search(r"\bsum\b|div_?\(", ast.unparse(stmt)):
            return False
    return any(isinstance(block, ast.If) and nodes_in(block.test, ast.Mod) for block in step.block)


def empties(body: list) -> bool:
    """Say whether lines empty gradients: by zero_grad(), p.grad = None, or zero_()."""
    words = {node.attr for stmt, _ in body for node in nodes_in(stmt, ast.Attribute)}
    return not words.isdisjoint(("grad", "zero_grad"))


def grows(stmt: ast.stmt) -> bool:
    if not isinstance(stmt, ast.Expr) or not is_call(stmt.value):
        return False
    func = stmt.value.func
    return isinstance(func, ast.Attribute) and func.attr in ("append", "extend")


def is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call)


def is_scalar(given: list[ast.expr]) -> bool:
    """Say whether what is given has no graph, as its last call tells."""
    return bool(given) and is_call(given[0]) and called(given[0]) in SCALARS


def kept(place: Place, body: list) -> Iterator[Habit]:
    """Tell what a loop collects: a list that grows, a sum that goes on, and that none begins anew."""
    anew = begun_in_loops(place.text.tree)
    for stmt, _ in body:
        names = []
        if isinstance(stmt, ast.AugAssign) and isinstance(stmt.op, ast.Add):
            names = [dotted(stmt.target)]
        if grows(stmt) and not is_scalar(stmt.value.args):
            names = [dotted(stmt.value.func.value)]
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.BinOp):
            names = [name for name in map(dotted, stmt.targets) if mentions(stmt.value, name)]
        for name in names:
            if name not in anew:
                yield Habit("kept", name, place.line(stmt))


def begun_in_loops(tree: ast.Module) -> set[str]:
    """Return the names that a loop gives a new value, or empties, in each of its rounds."""
    names = set()
    for loop, body in loops(tree):
        for stmt, _ in body if isinstance(loop, LOOPS) else ():
            if isinstance(stmt, (ast.Assign, ast.AnnAssign)):
                names |= {name for name, value in targets(stmt) if not mentions(value, name)}
            names |= {dotted(call) for call in calls_in(stmt) if called(call) == "clear"}
    return names
