"""Find the line that led to an error: what edited a saved tensor, freed a graph or lost one.

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
from helpers.clinic.earlier_lines import Line, Past, binds, heads
from helpers.clinic.failed_backward import is_freed, nameless
from helpers.clinic.values import NO_EDITS, called

MOST_SHOWN = 3
VIEWS = {"detach", "view", "view_as", "reshape", "flatten", "t", "transpose", "permute", "squeeze"}
VIEWS |= {"unsqueeze", "select", "narrow", "expand", "diagonal", "unfold"}
SUMS = {"sum", "mean"}
OURS = {"step_through", "record"}
WALKS = {"backward", "grad", *OURS}
# what a tensor is asked for that holds none of its numbers, or numbers without a graph of their own
ABOUT = {"shape", "dtype", "device", "ndim", "grad", "requires_grad", "is_leaf"}
ABOUT |= {"size", "dim", "numel", "len"}


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
    name = called(call)
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
    whether it is sure: then it is one line alone that ran, and that edits whenever it runs.
    """
    spoilt, places = spoilt_by(nodes_of(tensors))
    found = []
    for line in past.lines:
        names = filter(None, edited(line.node))
        if any(places & memory_in(past.still(name, line)) for name in names):
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
    methods = [one.func.attr for one in heads(stmt) if is_method(one)]
    return any(name.endswith("_") for name in methods)


def is_method(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


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
    reaching, unknown = [], []
    for line in past.lines:
        for root, is_whole in walked(line.node):
            parts = roots_in(past, root, line)
            if freed & {id(node) for node in nodes_of(parts)}:
                if is_whole and frees_all(line, root, parts):
                    return [line], True
                reaching.append(line)
            elif not parts and is_made_elsewhere(past, root):
                unknown.append(line)
    return reaching or in_own_cell(unknown), False


def frees_all(line: Line, root: ast.expr, parts: Sequence[torch.Tensor]) -> bool:
    """Say whether a line that went backward surely freed the graphs that its tensors have now; the
    graph of a tensor that was edited since may be a newer one.
    """
    with_graph = [one for one in parts if read(one, "requires_grad")]
    is_as_then = all(read(one, "_version") == 0 for one in with_graph)
    return line.is_sure and is_arithmetic(root) and is_as_then


def in_own_cell(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of the cell or function in which the error came."""
    return [line for line in lines if " of cell " not in line.where]


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


def walked(stmt: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what a statement goes backward from without keeping the graph, and whether it surely
    walks, and so frees, the whole of it.
    """
    for call in heads(stmt):
        if not isinstance(call, ast.Call) or keeps(call):
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


def keeps(call: ast.Call) -> bool:
    """Say whether a call keeps the graph, or may: `retain_graph=` anything but False."""
    return any(
        one.arg in (None, "retain_graph", "create_graph")
        and not (isinstance(one.value, ast.Constant) and not one.value.value)
        for one in call.keywords
    )


def losers(past: Past, names: Sequence[str]) -> tuple[Line, dict[str, torch.Tensor]] | None:
    """Return the line at which a name was made without a graph, and of what it was made that
    requires grad now.
    """
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop(0)
        line = next((one for one in reversed(past.lines) if name in binds(one.node)), None)
        if name in seen | past.rebound or line is None or not line.is_sure:
            continue
        if not isinstance(line.node, ast.Assign):
            continue
        seen.add(name)
        used = {one: past.still(one, line) for one in sorted(used_in(line.node.value) - {name})}
        tensors = {one: thing for one, thing in used.items() if is_tensor(thing)}
        have = {one: thing for one, thing in tensors.items() if read(thing, "requires_grad")}
        if have:
            return line, have
        waiting += tensors
    return None


def used_in(expr: ast.expr) -> set[str]:
    """Return the names whose numbers an expression uses: of `x.shape` and `zeros_like(x)` none."""
    asked, is_name = called(expr), isinstance(expr, ast.Name)
    if not is_name and (asked in ABOUT or asked.endswith("_like")):
        return set()
    found = {expr.id} if is_name else set()
    for child in ast.iter_child_nodes(expr):
        found |= used_in(child)
    return found


def lost_in(past: Past, line: Line, used: dict[str, torch.Tensor]) -> str:
    """Say that a graph was lost at a line, as surely as it is known; or that there was none yet, as
    what was `used` was asked to require grad later.
    """
    for name, tensor in used.items():
        late = asked_later(past, name, line)
        if late is not None and not may_be_stale(tensor) and read(tensor, "grad_fn") is None:
            return f"{name} requires grad only since {late}. It was used before that, in {line}"
    is_sure = any(required_then(past, name, thing, line) for name, thing in used.items())
    return f"Its graph was {'' if is_sure else 'perhaps '}lost in {line}"


def asked_later(past: Past, name: str, line: Line) -> Line | None:
    """Return the line that asked a tensor to require grad, where that was after another line alone."""
    before, after = flag_lines(past, name, line)
    if before and asks(before[-1].node, name):
        return None
    return after[0] if after and after[0].is_sure and asks(after[0].node, name) else None


def required_then(past: Past, name: str, tensor: torch.Tensor, line: Line) -> bool:
    """Say whether a tensor surely required grad when a line ran: it was never edited, so it has
    what it was made with; or, a leaf, it was asked before, and its flag not touched since.
    """
    if may_be_stale(tensor) or read(tensor, "grad_fn") is not None:
        return read(tensor, "_version") == 0
    before, after = flag_lines(past, name, line)
    return bool(before) and before[-1].is_sure and asks(before[-1].node, name) and not after


def flag_lines(past: Past, name: str, line: Line) -> tuple[list[Line], list[Line]]:
    """Return the lines that bind a name or set its flag, before a line and after it."""
    after = past.after(line)
    found = [one for one in past.lines if name in binds(one.node) or sets_flag(one.node, name)]
    return [one for one in found if one not in after], [one for one in found if one in after]


def asks(stmt: ast.stmt, name: str) -> bool:
    """Say whether a statement that binds a name, or sets its flag, makes it require grad."""
    if name in binds(stmt):
        calls = [one for one in heads(stmt) if isinstance(one, ast.Call)]
        words = [word for call in calls for word in call.keywords if word.arg == "requires_grad"]
        return any(is_true(word.value) for word in words)
    return any(is_true(value) for value in flags(stmt, name))


def sets_flag(stmt: ast.stmt, name: str) -> bool:
    return bool(list(flags(stmt, name)))


def flags(stmt: ast.stmt, name: str) -> Iterator[ast.expr]:
    """Yield what a statement sets the flag of a name to."""
    for target in stmt.targets if isinstance(stmt, ast.Assign) else ():
        if isinstance(target, ast.Attribute) and dotted(target) == f"{name}.requires_grad":
            yield stmt.value
    for call in heads(stmt):
        if is_method(call) and dotted(call.func) == f"{name}.requires_grad_":
            yield (*call.args, ast.Constant(True))[0]


def is_true(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Constant) and expr.value is True


def led_to_it(
    past: Past,
    named: dict[str, torch.Tensor],
    roots: Sequence[torch.Tensor],
    look: str,
    asks_for_graph: bool,
) -> str:
    """Say which line edited or freed what is missing, or, where it `asks_for_graph`,
    lost one; "" where that cannot be told.

    `roots` are what the call that failed started from; the names in its line, where nobody knows.
    """
    tensors = list(named.values())
    if look == "modified":
        found, is_sure = editors(past, tensors)
        words = "Edited by " if is_sure else "Perhaps edited by "
    elif look == "freed":
        found, is_sure = freers(past, roots or tensors)
        words = "Freed by " if is_sure else "Perhaps freed by "
    else:
        lost = losers(past, list(named)) if asks_for_graph else None
        return lost_in(past, *lost) if lost else ""
    return words + "; ".join(map(str, found[-MOST_SHOWN:])) if found else ""
