"""Find the line that led to an error: what edited a saved tensor or freed a graph.

Live tensors are looked at: a line is named only where its names still hold the tensors in question.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import torch

from autograd_graphs.diagnosing.earlier_lines import Line, Past
from autograd_graphs.diagnosing.graph_nodes import is_freed, nameless, nodes_of
from autograd_graphs.diagnosing.syntax import (
    NO_EDITS,
    called,
    calls_in,
    is_kept,
    keywords_of,
    nodes_in,
)
from autograd_graphs.looking.saved_tensors import Memory, saved
from autograd_graphs.looking.tensors import memory_of, read

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
    for call in calls_in(stmt):
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
    keywords = keywords_of(call)
    if "out" in keywords:
        yield dotted(keywords["out"])
    if "inplace" in keywords:
        yield first


def editors(past: Past, tensors: Sequence[torch.Tensor]) -> tuple[list[Line], bool]:
    """Return the lines that edit what graphs saved, and whether one line alone surely did."""
    spoilt, places = spoilt_by(nodes_of(tensors))
    lines = []
    for line in past.lines:
        held = set()
        for name in filter(None, edited(line.node)):
            held |= memory_in(past.still(name, line))
        if held & places:
            lines.append(line)
    is_sure = len(lines) == 1 and lines[0].is_sure and always_edits(lines[0].node)
    # saved at version 0: every edit that was counted came later
    return lines, is_sure and all(tensor.version == 0 for tensor in spoilt)


def spoilt_by(nodes: Sequence[Any]) -> tuple[list[Any], set[int]]:
    """Return what nodes saved and find modified, and where in memory that lies."""
    memory, spoilt, numbers = Memory(()), [], set()
    for node in nodes:
        for tensor in saved(node, nameless, (), memory):
            if tensor.state == "modified":
                spoilt.append(tensor)
                numbers.update(storage.number for storage in tensor.storages)
    return spoilt, {place for place, number in memory.numbers.items() if number in numbers}


def always_edits(stmt: ast.stmt) -> bool:
    """Say whether a statement edits a tensor whenever it runs; a step without gradients does not."""
    if isinstance(stmt, ast.AugAssign):
        return True
    if isinstance(stmt, ast.Assign):
        return ast.Subscript in map(type, stmt.targets)
    return any(is_method(call) and call.func.attr.endswith("_") for call in calls_in(stmt))


def is_method(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def memory_in(thing: Any) -> set[int]:
    """Return where a tensor lies in memory, or what an optimizer steps."""
    things = [thing]
    if isinstance(thing, torch.optim.Optimizer):
        things = []
        for group in vars(thing).get("param_groups", ()):
            things += group.get("params", ())
    known = filter(None, map(memory_of, filter(torch.is_tensor, things)))
    return {address for address, _ in known}


def lines_that_freed(past: Past, tensors: Sequence[torch.Tensor]) -> tuple[list[Line], bool]:
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
    for tensor in parts:
        if read(tensor, "requires_grad") and read(tensor, "_version"):
            return False
    return line.is_sure and is_arithmetic(root)


def freed_by_earlier_lines(past: Past) -> list[Any]:
    """Return the nodes that lines before the error surely freed, as far as names lead to them."""
    nodes = []
    for line in past.lines:
        for root, is_whole in walked(line.node):
            parts = roots_in(past, root, line)
            if is_whole and frees_all(line, root, parts):
                nodes += nodes_of(parts)
    return nodes


def roots_in(past: Past, root: ast.expr, line: Line) -> list[torch.Tensor]:
    """Return the tensors that an expression names, as far as their names still hold them."""
    things = [past.still(name, line) for name in names_of(root)]
    return list(filter(torch.is_tensor, things))


def names_of(root: ast.expr) -> list[str]:
    return sorted({node.id for node in nodes_in(root, ast.Name)})


def is_arithmetic(root: ast.expr) -> bool:
    """Say whether an expression is arithmetic and sums of names: its graph holds theirs."""
    sums = []
    for call in nodes_in(root, ast.Call):
        if not is_method(call) or call.func.attr not in SUMS:
            return False
        sums.append(call.func)
    allowed = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Call)
    allowed += (ast.operator, ast.unaryop, ast.Load)
    return all(isinstance(node, allowed) or node in sums for node in ast.walk(root))


def is_made_elsewhere(past: Past, root: ast.expr) -> bool:
    """Say whether an expression names something that is no module, such as `torch` is."""
    return any(type(past.live.get(name)) is not ModuleType for name in names_of(root))


def walked(stmt: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what a statement goes backward from and frees, and whether it frees all for sure."""
    for call in calls_in(stmt):
        if is_kept(call, "retain_graph") or is_kept(call, "create_graph"):
            continue
        func, name = call.func, called(call)
        if name not in WALKS or (name in OURS and not isinstance(func, ast.Name)):
            continue
        is_tensors = name == "backward" and not dotted(func).endswith("autograd.backward")
        given = call.args if is_tensors else call.args[1:]
        is_whole = "inputs" not in keywords_of(call) and len(given) < 2
        if is_tensors and isinstance(func, ast.Attribute):
            yield func.value, is_whole
        elif call.args:
            yield call.args[0], is_whole and name != "grad"
