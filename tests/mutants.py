"""Change each exercise's solution a little, and look what `check` says to the change."""

import ast
import contextlib
import copy
import signal
from collections.abc import Iterator

from answering import evaluated

SECONDS = 2.0  # for one mutant
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def mutants(source: str) -> list[str]:
    """Return sources that differ from this one in one place, each once."""
    tree = ast.parse(source)
    plain = ast.unparse(tree)
    found = dict.fromkeys(ast.unparse(ast.fix_missing_locations(one)) for one in changed(tree))
    return [one for one in found if one != plain]


def changed(tree: ast.AST) -> Iterator[ast.AST]:
    """Give a copy of the tree for each small change of it."""
    for at, node in enumerate(ast.walk(tree)):
        for change in changes(node):
            fresh = copy.deepcopy(tree)
            if change(list(ast.walk(fresh))[at]) is not False:
                yield fresh


def changes(node: ast.AST) -> Iterator:
    """Give functions that change a node, or one of what it holds, in place."""
    yield from other_operators(node)
    yield from other_constants(node)
    yield from dropped_lines(node)
    yield from dropped_calls(node)
    yield from other_arguments(node)


def other_operators(node: ast.AST) -> Iterator:
    """Give changes of an operator to another one."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in OPERATORS:
        yield lambda one: setattr(one, "op", OPERATORS[type(one.op)]())
    if isinstance(node, ast.Compare):
        yield lambda one: setattr(one, "ops", [OPERATORS[type(one.ops[0])](), *one.ops[1:]])


def other_constants(node: ast.AST) -> Iterator:
    """Give changes of a constant to another one."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool):
        yield lambda one: setattr(one, "value", not one.value)
    elif isinstance(value, int | float):
        yield lambda one: setattr(one, "value", one.value + 1)
        yield lambda one: setattr(one, "value", -one.value if one.value else 2)


def other_arguments(node: ast.AST) -> Iterator:
    """Give changes of a call that swap its first arguments, or leave out one given by name."""
    if not isinstance(node, ast.Call):
        return
    if len(node.args) > 1:
        yield lambda one: setattr(one, "args", [one.args[1], one.args[0], *one.args[2:]])
    for at in range(len(node.keywords)):
        yield lambda one, at=at: one.keywords.pop(at) and None


def dropped_lines(node: ast.AST) -> Iterator:
    """Give changes that leave out one line of a block, or take the block out of its `with`."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, ast.Module):
        return
    for at, line in enumerate(body):
        yield lambda one, at=at: one.body.__setitem__(at, ast.Pass())
        if isinstance(line, ast.With):
            yield lambda one, at=at: one.body.__setitem__(slice(at, at + 1), one.body[at].body)


def dropped_calls(node: ast.AST) -> Iterator:
    """Give changes that put in place of `f(x)` its `x`, and of `x.f()` its `x`."""
    for name, value in ast.iter_fields(node):
        for at, inner in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(inner, ast.Call) and within(inner) is not None:
                yield lambda one, name=name, at=at: put(one, name, at)


def put(node: ast.AST, name: str, at: int) -> None:
    """Replace a call by what it is made of."""
    value = getattr(node, name)
    if isinstance(value, list):
        value[at] = within(value[at])
    else:
        setattr(node, name, within(value))


def within(call: ast.Call) -> ast.AST | None:
    """Return what a call works on: its object, or else its first argument."""
    on_module = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    if on_module and call.func.value.id in ("torch", "nn", "F", "contextlib", "copy"):
        return call.args[0] if call.args else None
    if isinstance(call.func, ast.Attribute):
        return call.func.value
    return call.args[0] if call.args else None


def tried(exercise) -> list[tuple[str, object]]:
    """Return each mutant of a solution with its Verdict; what defines no answer, or never ends, is left
    out.
    """
    from helpers.exercises.verdict import judge

    found = []
    for source in mutants(exercise.solution):
        try:
            with at_most(SECONDS):
                answer, stopped = attempted(source)
                if not stopped and (exercise.reader.cases or not is_the_same(exercise, answer)):
                    found.append((source, judge(exercise, answer)))
        except TooLong:
            continue
    return found


def attempted(source: str) -> tuple[object, bool]:
    """Return what a source defines, and whether it stopped before."""
    try:
        return evaluated(source), False
    except Exception:
        return None, True


class TooLong(KeyboardInterrupt):
    """Say that a mutant never ends."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Stop the block after so many seconds."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_the_same(exercise, answer: object) -> bool:
    """Tell whether what a changed program computes is the value that the solution computes."""
    read = exercise.reader.read
    with contextlib.suppress(Exception):
        return read(answer) == read(evaluated(exercise.solution))
    return False
