"""What claims call: cells of a notebook that fail if the sentence above them is false.

Students have no such cells. Reads the notebook that runs; changes nothing.
"""

import ast
import json
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from autograd_graphs.looking.cells import shell_here
from helpers.predicting.player_guesses import SESSION
from helpers.predicting.program_outcomes import ran, undisturbed


def refusal(call: Callable[[], object]) -> str:
    """Return the message of the error that a call raises, "" without one."""
    try:
        call()
    except (RuntimeError, TypeError, ValueError, AssertionError, AttributeError) as error:
        return str(error)
    return ""


def rerun(cell: str, old: str, new: str) -> str:
    """Run a cell of this notebook with `new` in place of `old`; return all that it shows as text.

    It sees the names that are there and binds none; an error comes as "RuntimeError: its words".
    Raises ValueError where the notebook has no cell with this id, or the cell does not hold `old`.
    """
    source = _source(cell)
    if old not in source:
        raise ValueError(f"The cell {cell!r} doesn't hold {old!r}: copy it from there.")
    *before, last = ast.parse(source.replace(old, new)).body
    if isinstance(last, ast.Expr):
        last = ast.parse(f"ends_on = {ast.unparse(last)}")
    names = dict(shell_here().user_ns)
    names.pop("ends_on", None)
    with undisturbed(), redirect_stdout(StringIO()) as printed:
        error, _ = ran(ast.unparse([*before, last]), names)
    ends_on = names.get("ends_on")
    if ends_on is not None:
        print(repr(ends_on), file=printed)
    return printed.getvalue() + error


def _source(cell: str) -> str:
    path = Path(os.environ[SESSION])
    for one in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if one["id"] == cell:
            return "".join(one["source"])
    raise ValueError(f"{path.name} has no cell {cell!r}: take an id from the file as it is saved.")
