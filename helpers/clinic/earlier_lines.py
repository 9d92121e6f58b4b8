"""Find the line that led to an error: what edited a saved tensor, freed a graph or lost one.

Source is read and never run, and live tensors are looked at: a line is named only where its names
still hold the tensors in question.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

import torch

from helpers.answers import code
from helpers.looking.running_code import runs
from helpers.looking.saved_tensors import Memory, saved
from helpers.looking.snapshot import Walk
from helpers.looking.source import failures, scope_of
from helpers.looking.statements import SCOPES, Text, bodies, bound, lines_of
from helpers.looking.torch_private import (
    is_a,
    is_module,
    is_tensor,
    may_be_stale,
    memory_of,
    read,
)
from helpers.looking.variable_names import parameters, variables
from helpers.text import visible

MOST_LINES, MOST_SHOWN, LONGEST = 2_000, 3, 90
MAYBE = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try, ast.TryStar, ast.Match)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
VIEWS = {"detach", "view", "view_as", "reshape", "flatten", "t", "transpose", "permute", "squeeze"}
VIEWS |= {"unsqueeze", "select", "narrow", "expand", "diagonal", "unfold"}
NO_EDITS = {"requires_grad_", "retain_grad_", "detach_", "share_memory_", "rename_"}
SUMS = {"sum", "mean"}
WALKS = {"backward", "grad", "step_through", "record"}


@dataclass(frozen=True, slots=True)
class Line:
    """Hold a statement that ran before the error, or may have.

    `where` says where it stands. `is_sure` that it ran, if the error came later; `is_round` that it
    can only have run in an earlier round of a loop.
    """

    node: ast.stmt
    where: str
    text: str
    is_sure: bool
    is_round: bool = False

    def __str__(self) -> str:
        again = ", in an earlier round of its loop" if self.is_round else ""
        return f"{self.where}{again}: {code(self.text)}"


class Past:
    """Hold the statements before the line of an error, and what their names hold now."""

    def __init__(self, frame: FrameType, number: int) -> None:
        self.live = dict(variables(frame))
        self.lines = list(statements(frame, number))
        for name, thing in list(self.live.items()):
            if is_module(thing):
                self.live.update({f"{name}.{path}": one for path, one in parameters(thing)})

    def still(self, name: str, line: Line) -> Any:
        """Return what a name holds since a line; None where it may have been bound anew."""
        at = self.lines.index(line)
        base = name.partition(".")[0]
        if any(base in binds(one.node) for one in self.lines[at + 1 :]):
            return None
        return self.live.get(name)


def statements(frame: FrameType, number: int) -> Iterator[Line]:
    """Yield what ran before a line of a frame: earlier cells, then the cell or function itself."""
    lines = tuple([line.rstrip("\r\n") for line in lines_of(frame.f_code.co_filename)])
    if not 0 < len(lines) <= MOST_LINES or not runs(lines, number, frame.f_code):
        return
    own = Text(lines)
    scope = scope_of(own.tree, frame.f_code)
    if scope is None:
        return
    if scope is own.tree:
        failed = failures()
        for order, cell in earlier_cells(frame, lines):
            is_sure = failed is not None and order not in failed
            yield from within(cell, cell.tree.body, f" of cell [{order}]", is_sure=is_sure)
    yield from within(own, scope.body, "", number)


def earlier_cells(frame: FrameType, own: Sequence[str]) -> Iterator[tuple[int, Text]]:
    """Yield the cells that ran before one, with their numbers, as IPython's `In` has them."""
    cells = dict.get(frame.f_globals, "In")
    if type(cells) is not list or any(type(cell) is not str for cell in cells):
        return
    same = [order for order, cell in enumerate(cells) if tuple(cell.splitlines()) == tuple(own)]
    count = len(own)
    for order, cell in enumerate(cells[: same[-1]] if same else []):
        count += cell.count("\n") + 1
        if count > MOST_LINES:
            return
        try:
            yield order, Text(cell.splitlines())
        except SyntaxError:
            continue  # it never ran


def within(
    text: Text, body: Sequence[ast.stmt], where: str, stop: int = 0, is_sure: bool = True
) -> Iterator[Line]:
    """Yield simple statements and the heads of compound ones, in order, up to line `stop`.

    Of a loop that holds `stop`, what an earlier round ran after it comes first.
    """
    for stmt in body:
        if stop and stmt.lineno > stop:
            return
        inner = [] if isinstance(stmt, SCOPES) else list(bodies(stmt))
        holds_stop = stop and stmt.end_lineno >= stop
        if holds_stop and isinstance(stmt, LOOPS):
            yield from rounds(text, inner, where, stop)
        if inner or not holds_stop:
            yield line_of(text, stmt, f"line {stmt.lineno}{where}", is_sure)
        for part in inner:
            yield from within(text, part, where, stop, is_sure and not isinstance(stmt, MAYBE))


def rounds(
    text: Text, parts: Sequence[Sequence[ast.stmt]], where: str, stop: int
) -> Iterator[Line]:
    """Yield the simple statements of a loop, from the line of the error on."""
    for stmt in [stmt for part in parts for stmt in part]:
        inner = [] if isinstance(stmt, SCOPES) else list(bodies(stmt))
        yield from rounds(text, inner, where, stop)
        if stmt.end_lineno >= stop and not inner:
            own = "this same line" if stmt.lineno <= stop else f"line {stmt.lineno}{where}"
            yield line_of(text, stmt, own, False, True)


def line_of(text: Text, stmt: ast.stmt, where: str, is_sure: bool, is_round: bool = False) -> Line:
    words = visible(text.lines[stmt.lineno - 1].strip(), LONGEST)
    return Line(stmt, where, words, is_sure, is_round)


def heads(stmt: ast.stmt) -> Iterator[ast.AST]:
    """Yield the tree of a statement without the statements in it, and without lambdas."""
    waiting: list[ast.AST] = [] if isinstance(stmt, SCOPES) else [stmt]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            inner = (ast.stmt, ast.Lambda, ast.ExceptHandler, ast.match_case)
            if not isinstance(child, inner):
                waiting.append(child)


def binds(stmt: ast.stmt) -> set[str]:
    """Return the names that a statement gives to something else; `y += 1` keeps its tensor."""
    if isinstance(stmt, ast.AugAssign):
        return set()
    if isinstance(stmt, SCOPES):
        return {stmt.name}
    return {name for node in heads(stmt) for name in bound_here(node)}


def bound_here(node: ast.AST) -> set[str]:
    stores = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    return {node.id} if stores else bound(node) if isinstance(node, ast.alias) else set()


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
