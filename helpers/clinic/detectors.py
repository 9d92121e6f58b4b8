"""Find the line that led to an error: what edited a saved tensor or freed a graph.

Live tensors are looked at: a line is named only where its names still hold the tensors in question.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import torch

from autograd_graphs.looking.saved_tensors import Memory, saved
from autograd_graphs.looking.snapshot import Walk
from autograd_graphs.looking.torch_private import is_a, is_tensor, may_be_stale, memory_of, read
from helpers.clinic.earlier_lines import Line, Past, heads
from helpers.clinic.failed_backward import is_freed, met_nodes, nameless
from helpers.clinic.values import NO_EDITS, called, is_kept, nodes_in

VIEWS = {"detach", "view", "view_as", "reshape", "flatten", "t", "transpose", "permute", "squeeze"}
VIEWS |= {"unsqueeze", "select", "narrow", "expand", "diagonal", "unfold"}
SUMS = {"sum", "mean"}
OURS = {"step_through", "record"}
WALKS = {"backward", "grad", *OURS}


def dotted(expr: ast.expr | None) -> str:
    """Return the name of the variable or parameter whose memory an expression is; else ""."""
    if isinstance(expr, ast.Name):
        return expr.id
    if isinstance(expr, ast.Subscript):
        return dotted(expr.value)
    if is_method(expr) and expr.func.attr in VIEWS:
        return dotted(expr.func.value)
    if isinstance(expr, ast.Attribute) and expr.attr not in ("data", "grad"):
        inner = dotted(expr.value)
        return f"{inner}.{expr.attr}" if inner else ""
    return ""


def edited(stmt: ast.stmt) -> Iterator[str]:
    """Yield the names whose tensors a statement may edit in place."""
    if isinstance(stmt, ast.AugAssign):
        yield dotted(stmt.target)
    if isinstance(stmt, ast.Assign):
        for target in stmt.targets:
            if isinstance(target, ast.Subscript):
                yield dotted(target)
    for call in heads(stmt):
        if isinstance(call, ast.Call):
            yield from edited_by(call)


def edited_by(call: ast.Call) -> Iterator[str]:
    """Yield the names whose tensors a call may edit: a method in `_`, `out=`, a step of SGD."""
    first, owner = next(map(dotted, call.args), ""), ""
    if is_method(call):
        owner = dotted(call.func.value)
    name = called(call)
    if name.endswith("_") and not name.endswith("__") and name not in NO_EDITS:
        yield from (owner, first)
    if name == "step":
        yield owner
    for keyword in call.keywords:
        if keyword.arg == "out":
            yield dotted(keyword.value)
        if keyword.arg == "inplace":
            yield first


def editors(past: Past, tensors: Sequence[torch.Tensor]) -> tuple[list[Line], bool]:
    """Return the lines that edit what graphs saved, and whether one line alone surely did."""
    spoilt, places = spoilt_by(nodes_of(tensors))
    found = []
    for line in past.lines:
        held = set()
        for name in filter(None, edited(line.node)):
            held |= memory_in(past.still(name, line))
        if held & places:
            found.append(line)
    is_sure = len(found) == 1 and found[0].is_sure and always_edits(found[0].node)
    # saved at version 0: every edit that was counted came later
    return found, is_sure and all(one.version == 0 for one in spoilt)


def spoilt_by(nodes: Sequence[Any]) -> tuple[list[Any], set[int]]:
    """Return what nodes saved and find modified, and where in memory that lies."""
    memory, spoilt = Memory(()), []
    for node in nodes:
        spoilt += [one for one in saved(node, nameless, (), memory) if one.state == "modified"]
    numbers = {storage.number for one in spoilt for storage in one.storages}
    return spoilt, {place for place, number in memory.numbers.items() if number in numbers}


def always_edits(stmt: ast.stmt) -> bool:
    """Say whether a statement edits a tensor whenever it runs; a step without gradients does not."""
    if isinstance(stmt, ast.AugAssign):
        return True
    if isinstance(stmt, ast.Assign):
        return any(isinstance(target, ast.Subscript) for target in stmt.targets)
    return any(call.func.attr.endswith("_") for call in filter(is_method, heads(stmt)))


def is_method(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def memory_in(thing: Any) -> set[int]:
    """Return where a tensor lies in memory, or what an optimizer steps."""
    things = [thing]
    if is_a(thing, torch.optim.Optimizer):
        things = []
        for group in object.__getattribute__(thing, "__dict__").get("param_groups", ()):
            things += group.get("params", ())
    known = filter(None, map(memory_of, filter(is_tensor, things)))
    return {address for address, _ in known}


def nodes_of(tensors: Sequence[torch.Tensor]) -> list[Any]:
    """Return the backward functions in the graphs of tensors."""
    return met_nodes(Walk([one for one in tensors if not may_be_stale(one)]))


def freers(past: Past, tensors: Sequence[torch.Tensor]) -> tuple[list[Line], bool]:
    """Return the lines that went backward before, and whether one of them surely freed graphs."""
    nodes = nodes_of(tensors)  # kept: until the end their ids are their own
    freed = set(map(id, filter(is_freed, nodes)))
    reaching, unknown = [], []
    for line in past.lines:
        for root, is_whole in walked(line.node):
            parts = roots_in(past, root, line)
            if not freed.isdisjoint(map(id, nodes_of(parts))):
                if is_whole and frees_all(line, root, parts):
                    return [line], True  # it ended, so it found them whole
                reaching.append(line)
            elif not parts and is_made_elsewhere(past, root):
                unknown.append(line)
    return reaching or [line for line in unknown if line.place is past.here], False


def frees_all(line: Line, root: ast.expr, parts: Sequence[torch.Tensor]) -> bool:
    """Say whether a line that went backward surely freed the graphs that its tensors have now; the
    graph of a tensor that was edited since may be a newer one.
    """
    if any(read(one, "requires_grad") and read(one, "_version") for one in parts):
        return False
    return line.is_sure and is_arithmetic(root)


def freed_by_earlier_lines(past: Past) -> list[Any]:
    """Return the nodes that lines before the error surely freed, as far as names lead to them."""
    found = []
    for line in past.lines:
        for root, is_whole in walked(line.node):
            parts = roots_in(past, root, line)
            if is_whole and frees_all(line, root, parts):
                found += nodes_of(parts)
    return found


def roots_in(past: Past, root: ast.expr, line: Line) -> list[torch.Tensor]:
    """Return the tensors that an expression names, as far as their names still hold them."""
    names = {one.id for one in nodes_in(root, ast.Name)}
    return list(filter(is_tensor, [past.still(name, line) for name in sorted(names)]))


def is_arithmetic(root: ast.expr) -> bool:
    """Say whether an expression is arithmetic and sums of names: its graph holds theirs."""
    sums = []
    for call in nodes_in(root, ast.Call):
        if not is_method(call) or call.func.attr not in SUMS:
            return False
        sums.append(call.func)
    allowed = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Call)
    allowed += (ast.operator, ast.unaryop, ast.Load)
    return all(isinstance(one, allowed) or one in sums for one in ast.walk(root))


def is_made_elsewhere(past: Past, root: ast.expr) -> bool:
    """Say whether an expression names something that is no module, such as `torch` is."""
    names = nodes_in(root, ast.Name)
    return any(type(past.live.get(one.id)) is not ModuleType for one in names)


def walked(stmt: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what a statement goes backward from and frees, and whether it frees all for sure."""
    for call in heads(stmt):
        if not isinstance(call, ast.Call):
            continue
        if is_kept(call, "retain_graph") or is_kept(call, "create_graph"):
            continue
        func, name = call.func, called(call)
        if name not in WALKS or (name in OURS and not isinstance(func, ast.Name)):
            continue
        is_tensors = name == "backward" and not dotted(func).endswith("autograd.backward")
        given = call.args if is_tensors else call.args[1:]
        takes_all = all(one.arg != "inputs" for one in call.keywords) and len(given) < 2
        if is_tensors and isinstance(func, ast.Attribute):
            yield func.value, takes_all
        elif call.args:
            yield call.args[0], takes_all and name != "grad"
