"""Follow straight-line source from its syntax tree, running nothing: which expression every name
stands for when a line is reached.

What cannot be followed (loops, branches, edits in place, calls of the user's) gives unknown values.
"""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

from autograd_graphs.looking.running_code import parsed
from autograd_graphs.text import is_ours

HOMES = (torch, torch.nn.functional, torch.special, torch.linalg)
BUILTINS = ("abs", "pow")
BLOCKS = (
    *(ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.TryStar),
    ast.Match,
)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MAKERS = {"tensor", "ones", "zeros", "full", "rand", "randn", "arange", "linspace", "eye", "empty"}
LOOKS = torch.enable_grad, torch.autograd.set_detect_anomaly, torch.autograd.detect_anomaly
REBINDERS = {"exec", "eval", "globals", "locals", "vars", "setattr", "get_ipython", "__import__"}
OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.Mod: "remainder",
}


class Text:
    """Hold a source: the text of a cell or file, and how many of the learner's came before it."""

    def __init__(self, lines: Sequence[str], order: int = 0) -> None:
        self.lines = [line.rstrip("\r\n") for line in lines]
        self.order = order
        self.tree = parsed("".join(f"{line}\n" for line in self.lines))

    def segment(self, expr: ast.expr) -> str:
        """Return the text of an expression in one line, without the name that `:=` gives it."""
        while isinstance(expr, ast.NamedExpr):
            expr = expr.value
        start, stop = self.columns(expr)
        parts = self.lines[expr.lineno - 1 : expr.end_lineno]
        parts[-1] = parts[-1][:stop]
        parts[0] = parts[0][start:]
        if len(parts) == 1:
            return parts[0]
        return " ".join(map(str.strip, parts))

    def columns(self, expr: ast.expr) -> tuple[int, int]:
        """Return the columns in characters where an expression begins and ends."""
        start = self.column(expr.lineno, expr.col_offset)
        return start, self.column(expr.end_lineno, expr.end_col_offset)

    def column(self, number: int, offset: int) -> int:
        """Return the column in characters of a byte offset, as syntax trees give it."""
        return len(self.lines[number - 1].encode()[:offset].decode())


class Statement(NamedTuple):
    """Tell which lines of which source a statement takes."""

    text: Text
    first: int
    last: int


@dataclass(slots=True, eq=False)
class Value:
    """Hold what one evaluation of an expression gave, as far as the source tells.

    `kind` is "plain" (a number), "leaf" (a tensor made with requires_grad=True), "op" (an operation
    on `operands`), "several" (a tuple or list), "either" (one of the operands: the cell may not
    have run to its end) or "unknown". `callee` is what an operation calls where no name tells it.
    """

    kind: str
    expr: ast.expr | None = None
    statement: Statement | None = None
    op: str = ""
    operands: tuple[tuple[ast.expr, Value], ...] = ()
    callee: Value | None = None
    plain_operands: tuple[tuple[ast.expr, Value], ...] = ()


class Replay:
    """Process statements in order, and keep what every name stands for."""

    def __init__(self, live: Mapping[str, Any]) -> None:
        self.live = live
        self.names: dict[str, Value] = {}
        self.given: dict[str, Value] = {}  # names that were read before they were bound
        self.is_certain = True  # whether the cell that is processed ran to its end
        self.is_complete = True  # whether a name that was not met was never bound
        self.rebound: set[str] = set()  # names that functions rebind
        self.statement: Statement | None = None

    def run(self, text: Text, body: Sequence[ast.stmt], call: ast.Call | None = None) -> bool:
        """Process statements, up to the one that holds `call`; say whether that was met."""
        for stmt in body:
            if call is not None and any(node is call for node in ast.walk(stmt)):
                self._enter(text, stmt, call)
                return True
            self._process(text, stmt)
        return False

    def _enter(self, text: Text, stmt: ast.stmt, call: ast.Call) -> None:
        """Process what a statement does before a call within it."""
        self.statement = Statement(text, stmt.lineno, stmt.end_lineno)
        if isinstance(stmt, BLOCKS):
            self._forget(bound(stmt))
            for body in bodies(stmt):
                if self.run(text, body, call):
                    return
            return
        self._forget(bound(getattr(stmt, "value", None) or stmt))

    def _process(self, text: Text, stmt: ast.stmt) -> None:
        """Process one statement that ran before the call."""
        self.statement = Statement(text, stmt.lineno, stmt.end_lineno)
        if isinstance(stmt, ast.With) and all(map(self._is_look, stmt.items)):
            self.run(text, stmt.body)
        elif isinstance(stmt, (ast.Import, ast.ImportFrom)):
            for name in bound(stmt):
                self.names.pop(name, None)
        else:
            self._bind_all(stmt)
        if rebinds(stmt):
            self.names.clear()
            self.is_complete = False

    def _bind_all(self, stmt: ast.stmt) -> None:
        if isinstance(stmt, ast.Assign):
            value = self.value(stmt.value)
            for target in stmt.targets:
                self._assign(target, value)
        elif isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
            self._assign(stmt.target, self.value(stmt.value))
        elif isinstance(stmt, ast.Expr):
            self.value(stmt.value)
        else:
            self._forget(bound(stmt))

    def _is_look(self, item: ast.withitem) -> bool:
        """Say whether a block runs as if it were none: module_calls() and torch's own."""
        if not isinstance(item.context_expr, ast.Call):
            return False
        if item.optional_vars is not None:
            self._forget(bound(item))
        thing = self.thing(item.context_expr.func)
        return any(thing is look for look in LOOKS) or is_our_function(thing, "module_calls")

    def _forget(self, names: Sequence[str] | set[str]) -> None:
        """Let names stand for something unknown from now on."""
        for name in names:
            self.names[name] = Value("unknown", ast.Name(name, ast.Load()))

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, value)
            return
        parts = getattr(target, "elts", ())
        is_starred = any(isinstance(part, ast.Starred) for part in parts)
        if value.kind != "several" or len(value.operands) != len(parts) or is_starred:
            self._forget(bound(target))
            return
        for part, (_, operand) in zip(parts, value.operands, strict=True):
            self._assign(part, operand)

    def _bind(self, name: str, value: Value) -> None:
        if name in self.rebound:
            self._forget([name])
            return
        have = self.names.get(name)
        if have is None and not self.is_complete:
            have = Value("unknown")
        if not self.is_certain and have is not None:
            before = have.operands[1:] if have.kind == "either" else ()
            news = (value.expr, value), (have.expr, have), *before
            value = Value("either", value.expr, value.statement, operands=news)
        self.names[name] = value

    def value(self, expr: ast.expr) -> Value:
        """Return what an expression gives, evaluated now."""
        method = getattr(self, f"_{type(expr).__name__.lower()}", None)
        value = method and method(expr)
        if value is None:
            self._forget(walruses(expr))
            value = Value("unknown", expr)
        if value.statement is None and not isinstance(expr, ast.Name):
            value.statement = self.statement
        return value

    def _constant(self, expr: ast.Constant) -> Value:
        return Value("plain", expr)

    def _name(self, expr: ast.Name) -> Value:
        if expr.id not in self.names:
            self.names[expr.id] = self.given[expr.id] = Value("unknown", expr)
        return self.names[expr.id]

    def _is_given(self, name: str) -> bool:
        """Say whether a name was never bound in the statements so far."""
        return name not in self.names or self.names[name] is self.given.get(name)

    def _namedexpr(self, expr: ast.NamedExpr) -> Value:
        value = self.value(expr.value)
        self._assign(expr.target, value)
        return value

    def _several(self, expr: ast.Tuple | ast.List) -> Value | None:
        if any(isinstance(part, ast.Starred) for part in expr.elts):
            return None
        return Value("several", expr, operands=self._all(expr.elts))

    _tuple = _list = _several

    def _all(self, exprs: Sequence[ast.expr]) -> tuple[tuple[ast.expr, Value], ...]:
        return tuple([(expr, self.value(expr)) for expr in exprs])

    def _operation(self, expr: ast.expr, name: str, *operands: ast.expr) -> Value:
        return Value("op", expr, op=name, operands=self._all(operands))

    def _binop(self, expr: ast.BinOp) -> Value | None:
        name = OPERATORS.get(type(expr.op))
        if name is None:
            return None
        operation = self._operation(expr, name, expr.left, expr.right)
        if all(value.kind == "plain" for _, value in operation.operands):
            return Value("plain", expr)
        return operation

    def _unaryop(self, expr: ast.UnaryOp) -> Value | None:
        if not isinstance(expr.op, ast.USub):
            return None
        operation = self._operation(expr, "neg", expr.operand)
        if operation.operands[0][1].kind == "plain":
            return Value("plain", expr)
        return operation

    def _attribute(self, expr: ast.Attribute) -> Value | None:
        if expr.attr not in ("T", "mT"):
            return None
        return self._operation(expr, expr.attr, expr.value)

    def _subscript(self, expr: ast.Subscript) -> Value | None:
        if any(isinstance(node, (ast.Starred, ast.NamedExpr)) for node in ast.walk(expr)):
            return None
        return self._operation(expr, "getitem", expr.value)

    def _call(self, expr: ast.Call) -> Value | None:
        if any(isinstance(arg, ast.Starred) for arg in expr.args):
            return None
        if any(word.arg is None for word in expr.keywords):
            return None
        name = self._function(expr.func)
        if name in MAKERS:
            return self._made(expr)
        if name:
            return self._called(expr, name, expr.args)
        if isinstance(expr.func, ast.Attribute) and self._is_method(expr.func):
            return self._called(expr, expr.func.attr, [expr.func.value, *expr.args])
        return self._called_unknown(expr)

    def _called(self, expr: ast.Call, name: str, operands: Sequence[ast.expr]) -> Value:
        operation = self._operation(expr, name, *operands)
        operation.plain_operands = self._all([word.value for word in expr.keywords])
        return operation

    def _called_unknown(self, expr: ast.Call) -> Value | None:
        """Return the call of a module, which the matching looks at: what the name holds now."""
        name = base_name(expr.func)
        if name is None or expr.keywords:
            return None
        callee = self.value(ast.Name(name, ast.Load()))
        operation = self._operation(expr, "", *expr.args)
        operation.callee = callee
        return operation

    def _made(self, expr: ast.Call) -> Value:
        """Return a new tensor: a leaf where it is made with requires_grad=True."""
        self._forget(walruses(expr))
        kind = "plain"
        for word in expr.keywords:
            if word.arg == "requires_grad":
                is_true = isinstance(word.value, ast.Constant) and word.value.value is True
                kind = "leaf" if is_true else "unknown"
        return Value(kind, expr)

    def _is_method(self, func: ast.Attribute) -> bool:
        """Say whether an attribute is a tensor's method, as far as its name tells."""
        base = func.value
        while isinstance(base, ast.Attribute):
            base = base.value
        if isinstance(base, ast.Name) and isinstance(self.live.get(base.id), ModuleType):
            return False
        known = getattr(torch.Tensor, func.attr, None) is not None
        return known and not func.attr.endswith("_") and not func.attr.startswith("_")

    def _function(self, func: ast.expr) -> str:
        """Return the name of the torch function that an expression names, or an empty text."""
        if isinstance(func, ast.Attribute):
            home = self.thing(func.value)
            is_of_torch = any(home is module for module in HOMES) and func.attr in home.__dict__
            return func.attr if is_of_torch and not func.attr.endswith("_") else ""
        if not isinstance(func, ast.Name) or not self._is_given(func.id) or func.id.endswith("_"):
            return ""
        if func.id not in self.live:
            return func.id if func.id in BUILTINS and hasattr(builtins, func.id) else ""
        thing = self.live[func.id]
        is_of_torch = any(home.__dict__.get(func.id) is thing for home in HOMES)
        return func.id if is_of_torch else ""

    def thing(self, expr: ast.expr) -> Any:
        """Return what a dotted name of modules names now; None where the source rebinds it."""
        if isinstance(expr, ast.Name):
            return self.live.get(expr.id) if self._is_given(expr.id) else None
        if isinstance(expr, ast.Attribute):
            home = self.thing(expr.value)
            return home.__dict__.get(expr.attr) if type(home) is ModuleType else None
        return None


def base_name(expr: ast.expr) -> str | None:
    """Return the name that a dotted expression begins with."""
    while isinstance(expr, ast.Attribute):
        expr = expr.value
    return expr.id if isinstance(expr, ast.Name) else None


def bodies(stmt: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements in a compound one."""
    for part in [stmt, *getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ())]:
        for name in ("body", "orelse", "finalbody"):
            if body := getattr(part, name, None):
                yield body


def bound(tree: ast.AST) -> set[str]:
    """Return all names that a tree may bind or delete, those within functions included."""
    return set(chain.from_iterable(map(bound_by, ast.walk(tree))))


def bound_by(node: ast.AST) -> list[str]:
    """Return the names that one node of a tree binds itself."""
    names = []
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        names = [node.id]
    elif isinstance(node, ast.alias):
        names = [(node.asname or node.name).partition(".")[0]]
    elif isinstance(node, (*SCOPES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        names = [node.name]
    elif isinstance(node, ast.MatchMapping):
        names = [node.rest]
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        names = node.names
    return list(filter(None, names))


def walruses(expr: ast.expr) -> set[str]:
    return {node.target.id for node in ast.walk(expr) if isinstance(node, ast.NamedExpr)}


def rebinds(tree: ast.AST) -> bool:
    """Say whether code in a tree, or in a string in it, may bind names that nobody sees here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in REBINDERS:
            return True
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return True
    return False


def declared(tree: ast.AST) -> set[str]:
    """Return the names that a function says are another scope's: it may rebind them when called."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
    return names


def is_our_function(thing: Any, name: str) -> bool:
    """Say whether a thing is the function of this package that has a name."""
    if not isinstance(thing, FunctionType) or thing.__name__ != name:
        return False
    return is_ours(thing.__globals__.get("__name__"))


def lines_of(filename: str) -> list[str]:
    """Return the lines of a cell or file as Python has them for tracebacks; a changed file anew."""
    linecache.checkcache(filename)
    return linecache.getlines(filename)
