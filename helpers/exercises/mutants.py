"""Make the one-step mutants of a program: a line missing, two lines swapped, a call left out."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

_LOOPS = (ast.For, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_EXCHANGED = {"sum": "mean", "mean": "sum"}
_NO_GRAD = ast.parse("torch.no_grad()", mode="eval").body

# What each kind of mutant says, before or without what the line is for; the first that matches speaks.
SAID = {
    "missing": "One step seems to be missing: {}.",
    "order": "Two steps seem to be in the wrong order: {}.",
    "outside": "One step seems to run only once, although every round needs it: {}.",
    "inside": "One step seems to run in every round, although once is enough: {}.",
    "early": "A loop seems to end after its first round.",
    "always": "One step seems to be done every time, although only some cases call for it: {}.",
    "with": "One step seems to run outside the block it belongs in: {}.",
    "call": "One call seems to be missing: {}.",
    "keyword": "One call seems to be missing an argument: {}.",
    "flag": "A True or False seems to be the wrong way round: {}.",
    "sign": "A sign seems to be the wrong way round: {}.",
    "side": "Half of a formula seems to be missing: {}.",
    "method": "One call seems to do something close to what you need, but not quite: {}.",
    "grad": "A tensor seems to be used where its gradient is needed: {}.",
    "unrecorded": "One step doesn't seem to be recorded, so backward can't go through it.",
    "moved": "One step seems to be in the wrong place: {}.",
}


@dataclass(frozen=True)
class Mutant:
    """Hold one step away from a program: in `holder`, the `field` becomes `value`. `line` is that of
    the statement which is touched.
    """

    kind: str
    line: int
    tree: ast.Module
    holder: ast.AST
    field: str
    value: object

    def compiled(self) -> CodeType:
        before = getattr(self.holder, self.field)
        setattr(self.holder, self.field, self.value)
        try:
            return compile(ast.fix_missing_locations(self.tree), "<exercise>", "exec")
        finally:
            setattr(self.holder, self.field, before)


def mutants(program: str) -> list[Mutant]:
    """Return all mutants of a program, the likeliest kinds first."""
    tree = ast.parse(program)
    found = []
    for holder in ast.walk(tree):
        for field, block in ast.iter_fields(holder):
            if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
                continue
            for kind, statement, value in _of_block(block):
                found.append(Mutant(kind, statement.lineno, tree, holder, field, value))
        if isinstance(holder, ast.stmt):
            found += _of_statement(tree, holder)
    order = list(SAID)
    return sorted(found, key=lambda mutant: order.index(mutant.kind))


def _of_block(block: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt, list[ast.stmt]]]:
    """Yield a kind, the statement that is touched, and what the block becomes."""
    for at, one in enumerate(block):
        if isinstance(one, _DEFINITIONS):
            continue
        before, after = block[:at], block[at + 1 :]
        yield "missing", one, [*before, *(after or [ast.Pass()])]
        yield "unrecorded", one, [*before, _without_grad(one), *after]
        for place in range(at + 1, len(block)):
            kind = "order" if place == at + 1 else "moved"
            yield kind, one, [*before, *block[at + 1 : place + 1], one, *block[place + 1 :]]
        if isinstance(one, ast.If | ast.With):
            kind = "with" if isinstance(one, ast.With) else "always"
            yield kind, one, [*before, *one.body, *after]
            for inner, around in _taken_out(one):
                yield kind, inner, [*before, *around, *after]
        if isinstance(one, _LOOPS):
            yield from _of_loop(one, before, after)


def _of_loop(
    loop: ast.stmt, before: list[ast.stmt], after: list[ast.stmt]
) -> Iterator[tuple[str, ast.stmt, list[ast.stmt]]]:
    for inner, around in _taken_out(loop):
        yield "outside", inner, [*before, *around, *after]
    for one in before:
        rest = [other for other in before if other is not one]
        yield "inside", one, [*rest, _with_body(loop, [one, *loop.body]), *after]
        yield "inside", one, [*rest, _with_body(loop, [*loop.body, one]), *after]
    if after:
        kind = "early" if isinstance(after[0], ast.Return) else "inside"
        yield kind, after[0], [*before, _with_body(loop, [*loop.body, after[0]]), *after[1:]]
    yield "early", loop, [*before, _with_body(loop, [*loop.body, ast.Break()]), *after]


def _without_grad(statement: ast.stmt) -> ast.With:
    return ast.With([ast.withitem(_NO_GRAD)], [statement])


def _taken_out(block: ast.stmt) -> Iterator[tuple[ast.stmt, list[ast.stmt]]]:
    """Yield each statement of a block's body, and it before and after the rest of the block."""
    for at, inner in enumerate(block.body):
        rest = _with_body(block, block.body[:at] + block.body[at + 1 :])
        yield inner, [rest, inner]
        yield inner, [inner, rest]


def _with_body(block: ast.stmt, body: list[ast.stmt]) -> ast.stmt:
    other = copy.copy(block)
    other.body = body or [ast.Pass()]
    return other


def _of_statement(tree: ast.Module, statement: ast.stmt) -> Iterator[Mutant]:
    """Yield the mutants of the expressions in a statement, without those of the lines inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        holder = waiting.pop(0)
        for field, value in ast.iter_fields(holder):
            parts = value if isinstance(value, list) else [value]
            for at, part in enumerate(parts):
                if not isinstance(part, ast.AST) or isinstance(part, ast.stmt):
                    continue
                waiting.append(part)
                for kind, other in _of_expression(part):
                    new = other
                    if isinstance(value, list):
                        new = [*value[:at], other, *value[at + 1 :]]
                    yield Mutant(kind, statement.lineno, tree, holder, field, new)


def _of_expression(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield a kind, and what stands in place of an expression."""
    if isinstance(node, ast.Call | ast.BinOp):
        yield "unrecorded", _calling(node, "detach")
    if isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.BinOp):
        yield "side", node.left
        yield "side", node.right
    elif isinstance(node, ast.UnaryOp):
        yield "sign", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "flag", ast.Constant(not node.value)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield from _of_attribute(node)


def _of_attribute(node: ast.Attribute) -> Iterator[tuple[str, ast.expr]]:
    if node.attr == "grad":
        yield "grad", node.value
    if node.attr in ("grad", "weight", "bias"):
        yield "unrecorded", ast.Attribute(node, "data", ast.Load())


def _calling(value: ast.expr, method: str) -> ast.Call:
    return ast.Call(ast.Attribute(value, method, ast.Load()), [], [])


def _of_call(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    for keyword in call.keywords:
        others = [one for one in call.keywords if one is not keyword]
        yield "keyword", ast.Call(call.func, call.args, others)
    if call.args:
        yield "call", call.args[0]
    if not isinstance(call.func, ast.Attribute):
        return
    if not isinstance(call.func.value, ast.Name) or call.func.value.id not in ("torch", "nn"):
        yield "call", call.func.value
    if not call.args and call.func.attr in _EXCHANGED:
        yield "method", _calling(call.func.value, _EXCHANGED[call.func.attr])
