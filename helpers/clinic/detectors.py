"""Find the line that led to an error: what edited a saved tensor, freed a graph or lost one.

Live tensors are looked at: a line is named only where its names still hold the tensors in question.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import torch

from helpers.clinic.earlier_lines import Line, Past, binds, heads
from helpers.looking.saved_tensors import Memory, saved
from helpers.looking.snapshot import Walk
from helpers.looking.torch_private import is_a, is_tensor, may_be_stale, memory_of, read

MOST_SHOWN = 3
VIEWS = {"detach", "view", "view_as", "reshape", "flatten", "t", "transpose", "permute", "squeeze"}
VIEWS |= {"unsqueeze", "select", "narrow", "expand", "diagonal", "unfold"}
NO_EDITS = {"requires_grad_", "retain_grad_", "detach_", "share_memory_", "rename_"}
SUMS = {"sum", "mean"}
WALKS = {"backward", "grad", "step_through", "record"}


def dotted(expr: ast.expr | None) -> str:
    """Return the name of a variable, or of a parameter in one, whose memory an expression is; ""
    where that cannot be told.
    """
    if isinstance(expr, ast.Name):
        return expr.id
    if isinstance(expr, ast.Subscript):
        return dotted(expr.value)
    if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute):
        return dotted(expr.func.value) if expr.func.attr in VIEWS else ""
    if isinstance(expr, ast.Attribute) and expr.attr not in ("data", "grad"):
        inner = dotted(expr.value)
        return f"{inner}.{expr.attr}" if inner else ""
    return ""


def edited(stmt: ast.stmt) -> Iterator[str]:
    """Yield the names whose tensors a statement may edit in place."""
    if isinstance(stmt, ast.AugAssign):
        yield dotted(stmt.target)
    for target in stmt.targets if isinstance(stmt, ast.Assign) else ():
        if isinstance(target, ast.Subscript):
            yield dotted(target)
    for call in heads(stmt):
        if isinstance(call, ast.Call):
            yield from edited_by(call)


def edited_by(call: ast.Call) -> Iterator[str]:
    """Yield the names whose tensors a call may edit: a method in `_`, `out=`, a step of SGD."""
    func, first = call.func, call.args[0] if call.args else None
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name.endswith("_") and not name.endswith("__") and name not in NO_EDITS:
        yield from (dotted(func.value) if isinstance(func, ast.Attribute) else "", dotted(first))
    if name == "step" and isinstance(func, ast.Attribute):
        yield dotted(func.value)
    for keyword in call.keywords:
        if keyword.arg == "out":
            yield dotted(keyword.value)
        if keyword.arg == "inplace":
            yield dotted(first)


def editors(past: Past, tensors: Sequence[torch.Tensor]) -> tuple[list[Line], bool]:
    """Return the lines that edit what the graphs of some tensors saved and found modified, and
    whether it is sure that these did it: each ran, and each counts for one step of the version.
    """
    memory, spoilt = Memory(()), []
    for node in nodes_of(tensors):
        spoilt += [one for one in saved(node, nameless, (), memory) if one.state == "modified"]
    numbers = {storage.number for one in spoilt for storage in one.storages}
    places = {place for place, number in memory.numbers.items() if number in numbers}
    found = []
    for line in past.lines:
        names = filter(None, edited(line.node))
        if any(places & memory_in(past.still(name, line)) for name in names):
            found.append(line)
    first, last = min([one.version for one in spoilt], default=0), len(found)
    if all(one.version_now == last for one in spoilt) and all(one.is_sure for one in found):
        return found[first:], True
    return found, False


def nameless(tensor: torch.Tensor) -> tuple[str, ...]:
    return ()


def memory_in(thing: Any) -> set[int]:
    """Return where a tensor lies in memory, or what an optimizer steps."""
    tensors = [thing] if is_tensor(thing) else []
    if is_a(thing, torch.optim.Optimizer):
        groups = object.__getattribute__(thing, "__dict__").get("param_groups", ())
        tensors = [one for group in groups for one in group.get("params", ()) if is_tensor(one)]
    return {memory[0] for memory in map(memory_of, tensors) if memory}


def nodes_of(tensors: Sequence[torch.Tensor]) -> list[Any]:
    """Return the backward functions in the graphs of tensors."""
    walk = Walk([one for one in tensors if not may_be_stale(one)])
    return [one for one in walk.met if not is_tensor(one)]


def freers(past: Past, tensors: Sequence[torch.Tensor]) -> tuple[list[Line], bool]:
    """Return the lines that went backward before, and whether it is sure that they freed what the
    graphs of some tensors had saved: one that did, and ended, found it whole.
    """
    nodes = nodes_of(tensors)  # kept: until the end their ids are their own
    freed = {id(node) for node in nodes if is_freed(node)}
    perhaps = []
    for line in past.lines:
        for root in walked(line.node):
            parts = roots_in(past, root, line)
            reaches = bool(freed & {id(node) for node in nodes_of(parts)})
            if reaches and line.is_sure and is_arithmetic(root):
                return [line], True
            if reaches or (not parts and is_made_elsewhere(past, root)):
                perhaps.append(line)
    return perhaps, len(perhaps) == 1 and perhaps[0].is_round


def roots_in(past: Past, root: ast.expr, line: Line) -> list[torch.Tensor]:
    """Return the tensors that an expression names, as far as their names still hold them."""
    names = {one.id for one in ast.walk(root) if isinstance(one, ast.Name)}
    return [thing for name in sorted(names) if is_tensor(thing := past.still(name, line))]


def is_arithmetic(root: ast.expr) -> bool:
    """Say whether an expression is arithmetic with names, and sums of it: the graph of its result
    holds theirs.
    """
    methods = [one.func for one in ast.walk(root) if isinstance(one, ast.Call)]
    sums = [one for one in methods if isinstance(one, ast.Attribute) and one.attr in SUMS]
    allowed = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.operator, ast.unaryop, ast.Load)
    return len(sums) == len(methods) and all(
        isinstance(one, (*allowed, ast.Call)) or one in sums for one in ast.walk(root)
    )


def is_made_elsewhere(past: Past, root: ast.expr) -> bool:
    """Say whether an expression names something that is no module, such as `torch` is."""
    names = [one.id for one in ast.walk(root) if isinstance(one, ast.Name)]
    return any(type(past.live.get(name)) is not ModuleType for name in names)


def is_freed(node: Any) -> bool:
    return any(one.state == "freed" for one in saved(node, nameless))


def walked(stmt: ast.stmt) -> Iterator[ast.expr]:
    """Yield what a statement goes backward from without keeping the graph."""
    for call in heads(stmt):
        if not isinstance(call, ast.Call) or keeps(call):
            continue
        func = call.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name not in WALKS:
            continue
        is_method = name == "backward" and not dotted(func).endswith("autograd.backward")
        if is_method and isinstance(func, ast.Attribute):
            yield func.value
        elif call.args:
            yield call.args[0]


def keeps(call: ast.Call) -> bool:
    """Say whether a call keeps the graph, or may: `retain_graph=` anything but False."""
    return any(
        one.arg in (None, "retain_graph", "create_graph")
        and not (isinstance(one.value, ast.Constant) and not one.value.value)
        for one in call.keywords
    )


def losers(past: Past, names: Sequence[str]) -> list[Line]:
    """Return the line at which the graph of a name was lost: it was made there without one, of
    something that has one.
    """
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop(0)
        line = next((one for one in reversed(past.lines) if name in binds(one.node)), None)
        if (
            name in seen
            or line is None
            or not line.is_sure
            or not isinstance(line.node, ast.Assign)
        ):
            continue
        seen.add(name)
        used = {one.id for one in ast.walk(line.node.value) if isinstance(one, ast.Name)} - {name}
        tensors = {one: past.still(one, line) for one in sorted(used)}
        tensors = {one: thing for one, thing in tensors.items() if is_tensor(thing)}
        if any(read(thing, "requires_grad") for thing in tensors.values()):
            return [line]
        waiting += tensors
    return []


def led_to_it(past: Past, named: dict[str, torch.Tensor], look: str, asks: bool) -> str:
    """Say which line edited or freed what is missing, or, where it `asks` for a graph, lost one; ""
    where that cannot be told.
    """
    tensors = list(named.values())
    if look == "modified":
        found, is_sure = editors(past, tensors)
        words = "Edited by " if is_sure else "Edited perhaps by "
    elif look == "freed":
        found, is_sure = freers(past, tensors)
        words = "Freed by " if is_sure else "Freed perhaps by "
    else:
        found = losers(past, list(named)) if asks else []
        words = "Its graph was lost in "
    return words + "; ".join(map(str, found[-MOST_SHOWN:])) if found else ""
