"""Run docs/library.md. `python tests/library_page.py` writes its pictures, and its outputs, anew.

Its Python blocks run one after the other. Below a block stands the picture of its last line, or
what it prints.
"""

from __future__ import annotations

import ast
import io
import linecache
import re
from contextlib import redirect_stdout
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "library.md"
FILE = "example.py"  # as which a block runs
BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```\n"
    r"(?:\n```text\n(?P<text>.*?)```\n|\n!\[[^]]*\]\((?P<picture>pictures/[^)]+)\)\n)?",
    re.S,
)


def run(code: str, names: dict[str, object]) -> tuple[object, str]:
    """Run a block as a cell of a notebook; return what its last line gives, and what it prints."""
    linecache.cache[FILE] = len(code), None, code.splitlines(keepends=True), FILE
    body, last, value = ast.parse(code).body, None, None
    if isinstance(body[-1], ast.Expr):
        last = body.pop()
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), FILE, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), FILE, "eval"), names)
    return value, printed.getvalue()


def drawn() -> tuple[str, dict[str, str]]:
    """Return the page as it should be, and its pictures by their paths in docs/."""
    names: dict[str, object] = {}
    pictures: dict[str, str] = {}

    def with_output(block: re.Match[str]) -> str:
        value, printed = run(block["code"], names)
        if block["picture"]:
            pictures[block["picture"]] = value.svg
        if block["text"] is None:
            assert not printed, printed
            return block[0]
        return f"```python\n{block['code']}```\n\n```text\n{printed}```\n"

    page = BLOCK.sub(with_output, PAGE.read_text(encoding="utf-8"))
    return page, pictures


if __name__ == "__main__":
    page, pictures = drawn()
    PAGE.write_text(page, encoding="utf-8")
    for name, svg in pictures.items():
        (DOCS / name).write_text(svg, encoding="utf-8")
