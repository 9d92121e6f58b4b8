"""Read the cells that ran before one, as IPython's `In` has them, and which of them failed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from autograd_graphs.looking.statements import Text

MOST_SOURCE = 2_000  # lines of source that are read


def cells_of(frame: FrameType) -> list[str]:
    """Return the texts of all cells by number; none where a frame has no `In`, or an odd one."""
    cells = frame.f_globals.get("In")
    if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
        return []
    return list(cells)


def read_cells(cells: Sequence[str], taken: int) -> tuple[list[Text], bool]:
    """Return the sources of cells, and whether these are all that ran.

    Read are the newest, until 2,000 lines with the `taken` ones, or until one that cannot be read:
    nobody knows what it did. One that failed besides never ran.
    """
    texts: list[Text] = []
    failed = failures() or set()
    for order in range(len(cells) - 1, -1, -1):
        lines = cells[order].splitlines()
        taken += len(lines)
        if taken > MOST_SOURCE:
            return texts[::-1], False
        try:
            texts.append(Text(lines, order))
        except (SyntaxError, ValueError):  # the latter of a zero byte, in Python 3.11
            if order not in failed:
                return texts[::-1], False
    return texts[::-1], True


def shell_here() -> Any:
    """Return the IPython that this runs in, None where there is none; it is not imported."""
    shells = sys.modules.get("IPython.core.interactiveshell")
    return getattr(getattr(shells, "InteractiveShell", None), "_instance", None)


def failures() -> set[int] | None:
    """Return the numbers of cells that ended with an error, None where IPython does not tell."""
    history = getattr(shell_here(), "history_manager", None)
    errors = getattr(history, "exceptions", None)
    return set(errors) if isinstance(errors, dict) else None
