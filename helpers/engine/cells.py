"""Read the cell in which a student builds a stage, and run programs on the engine that comes of it."""

import ast
import linecache
from collections.abc import Container, Mapping
from functools import cached_property
from types import CodeType, FrameType

from autograd_graphs.looking.users_line import UsersLine
from helpers.engine.programs import on_engine
from helpers.engine.putting_together import (
    STAGES,
    YOURS,
    defined,
    engine,
    given,
    names_of,
    place_of,
    text,
    yours,
)

DEFINING = ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom


class Cell:
    """Hold the text of a cell that builds a stage. To call it is to run a program on an engine made
    of the stages `before`, by default ours, and of this text.
    """

    def __init__(self, stage: str, source: str, before: Mapping[str, str] | None = None) -> None:
        self.stage, self.source = stage, source
        self.wanted = defined(yours(stage))  # what the stage is to define
        self.before = {name: text(name) for name in STAGES if name < stage} | dict(before or {})

    def __call__(self, program: str, look: str) -> object:
        return on_engine(self.engine, program, look)

    @cached_property
    def engine(self) -> dict[str, object]:
        return engine(self.before | {self.stage: self.kept})

    @property
    def statements(self) -> list[ast.stmt]:
        """What stands in the cell; nothing where it is no Python, which comes out when it runs."""
        try:
            return ast.parse(self.source).body
        except SyntaxError:
            return []

    @property
    def kept(self) -> str:
        """What is kept of the cell: its definitions, below what the stage gives."""
        return f"{given(self.stage)}\n\n{YOURS}{definitions(self.source, self.wanted)}"

    def has(self, line: UsersLine) -> bool:
        """Tell whether a line of the engine stands in this cell; the others are given, or earlier."""
        given, mark, _ = self.kept.partition(YOURS)
        first = (given + mark).count("\n") + 1
        return line.filename == place_of(self.stage) and line.number >= first

    @property
    def missing(self) -> list[str]:
        """What the stage is to define, and this cell does not."""
        there = {name for statement in self.statements for name in names_of(statement)}
        return [name for name in self.wanted if name not in there]

    @property
    def dots(self) -> list[str]:
        """What still holds dots, and nothing else: a function, or a class with such a method."""
        is_open = {}
        for statement in self.statements:
            functions = [node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)]
            is_open |= dict.fromkeys(names_of(statement), any(map(_is_open, functions)))
        return [name for name in self.wanted if is_open.get(name)]


def running(frame: FrameType) -> str:
    """Return the text of the cell that runs in a frame. (`In` is empty where nbval runs it.)"""
    return "".join(linecache.getlines(frame.f_code.co_filename))


def definitions(source: str, wanted: Container[str]) -> str:
    """Return what a cell defines: functions, classes, imports, what is wanted, and the assignments that
    these need. What it calls, shows and tries is left out.
    """
    rows = source.splitlines()
    body = [one for one in ast.parse(source).body if getattr(one, "module", "") != "__future__"]
    kept = [
        one for one in body if isinstance(one, DEFINING) or any(n in wanted for n in names_of(one))
    ]
    while True:
        used = set().union(*map(_used, kept))
        more = [one for one in body if one in kept or used.intersection(names_of(one))]
        if len(more) == len(kept):
            return "\n\n\n".join(_code(one, rows) for one in kept) + "\n"
        kept = more


def _used(statement: ast.stmt) -> set[str]:
    """Return the names that a statement looks up outside of itself."""
    code = compile(ast.Module([statement], []), "<cell>", "exec")
    return {name for part in (code, *_inner(code)) for name in part.co_names}


def _inner(code: CodeType) -> list[CodeType]:
    """Return the code of all functions and classes in a code, at any depth."""
    found = [part for part in code.co_consts if isinstance(part, CodeType)]
    return found + [deep for part in found for deep in _inner(part)]


def _code(statement: ast.stmt, rows: list[str]) -> str:
    decorators = getattr(statement, "decorator_list", ())
    first = min(node.lineno for node in (statement, *decorators))
    return "\n".join(rows[first - 1 : statement.end_lineno])


def _is_open(function: ast.FunctionDef) -> bool:
    body = [node for node in function.body if not _is_text(node)]
    return [ast.unparse(node) for node in body] == ["..."]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
