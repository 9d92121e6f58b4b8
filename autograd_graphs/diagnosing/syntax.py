"""Read the syntax of a program: names, calls, what a statement gives a value to, blocks. Runs nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from autograd_graphs.looking.statements import SCOPES, bodies, bound_by

MODES = {"no_grad", "enable_grad", "inference_mode", "set_grad_enabled"}
NO_EDITS = {"requires_grad_", "retain_grad_", "detach_", "share_memory_", "rename_"}
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def flat(body: Sequence[ast.stmt], blocks: tuple[ast.stmt, ...] = ()) -> Iterator[tuple]:
    """Yield statements in order, each with the compound ones that it stands in."""
    for stmt in body:
        yield stmt, blocks
        if not isinstance(stmt, SCOPES):
            for inner in bodies(stmt):
                yield from flat(inner, (*blocks, stmt))


def dotted(expr: ast.AST | None) -> str:
    """Return "a.b" of a name or attribute, of what is indexed, of a method's owner; or ""."""
    if isinstance(expr, ast.Name):
        return expr.id
    if isinstance(expr, (ast.Subscript, ast.Starred)):
        return dotted(expr.value)
    if isinstance(expr, ast.Attribute):
        inner = dotted(expr.value)
        return f"{inner}.{expr.attr}" if inner else ""
    if isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute):
        return dotted(expr.func.value)
    return ""


def called(expr: ast.expr) -> str:
    """Return the name of what is called, or of an attribute or name itself, without its owner."""
    func = getattr(expr, "func", expr)
    return getattr(func, "attr", getattr(func, "id", ""))


def first_given(call: ast.Call) -> str:
    return next(map(dotted, call.args), "")


def keywords_of(call: ast.Call) -> dict[str | None, ast.expr]:
    """Return the expressions that a call gives by name; None is the key of `**more`."""
    return {keyword.arg: keyword.value for keyword in call.keywords}


def nodes_in(tree: ast.AST, kind: Any) -> list[Any]:
    return [node for node in ast.walk(tree) if isinstance(node, kind)]


def set_by(stmt: ast.stmt) -> list[str]:
    return [name for name, _ in targets(stmt)]


def targets(stmt: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that a statement gives a value to, with the expression of that value."""
    if isinstance(stmt, ast.Assign):
        for target in stmt.targets:
            yield from paired(target, stmt.value)
    elif isinstance(stmt, (ast.AnnAssign, ast.AugAssign)) and stmt.value is not None:
        yield dotted(stmt.target), stmt.value
    elif isinstance(stmt, (ast.For, ast.AsyncFor)):
        yield from in_turn(stmt.target, stmt.iter)
    elif isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
        yield from filled(stmt.value)


def in_turn(target: ast.expr, rounds: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a loop sets, with what their values come from: a count from nothing."""
    names = nodes_in(target, ast.Name)
    is_counted = isinstance(rounds, ast.Call) and called(rounds) in ("enumerate", "items")
    if is_counted and isinstance(target, ast.Tuple) and names:
        yield names.pop(0).id, ast.Constant(0)
    for name in names:
        yield name.id, rounds


def filled(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield what a call gives a name: append() to a list, a method in `_` to a tensor."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        return
    if func.attr in ("append", "extend") and call.args:
        yield dotted(func.value), call.args[0]
    elif func.attr.endswith("_") and not func.attr.endswith("__"):
        yield dotted(func.value), call


def paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield dotted(target), value
        return
    values = [value] * len(target.elts)
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(values):
        values = value.elts
    for part, its_value in zip(target.elts, values, strict=True):
        yield from paired(part, its_value)


def operand(call: ast.Call) -> str:
    """Return the name of the tensor that a call works on, as far as it has one."""
    owner = getattr(call.func, "value", None)
    if owner is not None and dotted(owner).partition(".")[0] not in (
        "torch",
        "F",
        "nn",
        "np",
        "math",
    ):
        return name_in(owner)
    return name_in(call.args[0]) if call.args else ""


def name_in(expr: ast.AST) -> str:
    """Return the first name in an expression; what a call returns has none."""
    if nodes_in(expr, ast.Call):
        return ""
    if isinstance(expr, (ast.Name, ast.Attribute, ast.Subscript)):
        return dotted(expr)
    return next(filter(None, map(name_in, ast.iter_child_nodes(expr))), "")


def handed_out(stmt: ast.stmt) -> ast.expr | None:
    """Return what a function hands to its caller in a statement: by return or yield."""
    value = getattr(stmt, "value", None)
    if isinstance(value, (ast.Yield, ast.YieldFrom)):
        return value.value
    return value if isinstance(stmt, ast.Return) else None


def may_fail(power: ast.expr) -> bool:
    """Say whether some number may have no power of this kind, or no slope of it."""
    return not isinstance(power, ast.Constant) or power.value < 1 or power.value % 1 != 0


def holds_subscript(stmt: ast.Assign, name: str) -> bool:
    return name in [dotted(target) for target in stmt.targets if isinstance(target, ast.Subscript)]


def mentions(expr: ast.AST, name: str) -> bool:
    return name in map(dotted, nodes_in(expr, (ast.Name, ast.Attribute)))


def is_kept(call: ast.Call, option: str) -> bool:
    """Say whether a call sets an option to anything but False."""
    for keyword in call.keywords:
        is_false = isinstance(keyword.value, ast.Constant) and not keyword.value.value
        if keyword.arg in (option, None) and not is_false:
            return True
    return False


def modes_of(blocks: Sequence[ast.stmt]) -> list[str]:
    """Return the grad modes that blocks set, the innermost first."""
    modes = []
    for block in reversed(blocks):
        for item in reversed(getattr(block, "items", ())):
            modes.append(mode_of(item.context_expr))
    return list(filter(None, modes))


def mode_of(expr: ast.expr) -> str:
    word, given = called(expr), next(iter(getattr(expr, "args", ())), None)
    is_false = isinstance(given, ast.Constant) and given.value is False
    is_set = {"set_grad_enabled": is_false, "inference_mode": not is_false}
    return word if is_set.get(word, word in MODES) else ""


def heads(stmt: ast.stmt) -> Iterator[ast.AST]:
    """Yield the tree of a statement without the statements in it, and without lambdas."""
    if isinstance(stmt, SCOPES):
        return
    waiting: list[ast.AST] = [stmt]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.stmt, ast.Lambda, ast.ExceptHandler, ast.match_case)):
                waiting.append(child)


def calls_in(stmt: ast.stmt) -> Iterator[ast.Call]:
    for node in heads(stmt):
        if isinstance(node, ast.Call):
            yield node


def binds(stmt: ast.stmt) -> set[str]:
    """Return the names that a statement gives to something else; `y += 1` keeps its tensor."""
    if isinstance(stmt, ast.AugAssign):
        return set()
    if isinstance(stmt, SCOPES):
        return set(bound_by(stmt))
    return set().union(*map(bound_by, heads(stmt)))


def head(name: str) -> str:
    return name.replace("[", ".").partition(".")[0]


def names_in(tree: ast.AST) -> list[str]:
    """Return the names, plain and dotted, that a statement reads, without those of blocks in it."""
    names = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node):
            names.append(dotted(node))
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt):
                waiting.append(child)
    return list(dict.fromkeys(names))


GIVEN = ("gradient", "grad_outputs", "grad_tensors")


def started_from(stmt: ast.stmt) -> tuple[str, str]:
    """Return the names of the tensor that a call goes back from, and of the gradient it is given."""
    for call in nodes_in(stmt, ast.Call):
        word, place = called(call), 0
        if word not in ("backward", "grad"):
            continue
        root = getattr(call.func, "value", None)
        if dotted(call.func).startswith(("torch", "autograd")):
            root, place = next(iter(call.args), None), {"grad": 2}.get(word, 1)
        given = None
        if len(call.args) > place:
            given = call.args[place]
        for keyword in call.keywords:
            if keyword.arg in GIVEN:
                given = keyword.value
        return plain_name(root), plain_name(given)
    return "", ""


def plain_name(expr: Any) -> str:
    """Return an expression that is a name, with dots or without; "" for any other."""
    return ast.unparse(expr) if isinstance(expr, (ast.Name, ast.Attribute)) else ""
