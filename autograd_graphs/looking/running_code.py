"""Say whether a source is the one that runs: it must compile to the very same code."""

from __future__ import annotations
import __future__

import ast
import warnings
from functools import lru_cache
from types import CodeType

FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
LONGEST = 20_000  # lines of a source that is compiled


def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a source, without warnings; raises SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


@lru_cache(maxsize=64)
def runs(lines: tuple[str, ...], number: int, code: CodeType) -> bool:
    """Say whether the code at a line is that of a source: of all of it, or of one statement."""
    if len(lines) > LONGEST:
        return False
    tree = parsed("".join(f"{line}\n" for line in lines))
    flags = code.co_flags & FUTURE
    if has_code(compiled(tree, "exec", flags), code):
        return True
    for stmt in tree.body:
        if stmt.lineno <= number <= stmt.end_lineno:
            alone = compiled(ast.Module([stmt], []), "exec", flags)
            shown = compiled(ast.Interactive([stmt]), "single", flags)
            if has_code(alone, code) or has_code(shown, code):
                return True
    return False


def compiled(tree: ast.Module | ast.Interactive, mode: str, flags: int) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, "<source>", mode, flags, dont_inherit=True)


def has_code(outer: CodeType, code: CodeType) -> bool:
    """Say whether a code, or one within it, is equal to another."""
    if outer == code:
        return True
    return any(has_code(inner, code) for inner in outer.co_consts if isinstance(inner, CodeType))
