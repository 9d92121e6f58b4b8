"""Remember the last warning that was shown, and the learner's line that it came from.

A warning is shown as before. What is kept is its text, a line, and the namespace of the notebook.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from autograd_graphs.diagnosing.sources import cells_in
from autograd_graphs.looking.cells import shell_here
from autograd_graphs.looking.users_line import is_users


@dataclass(frozen=True)
class Heard:
    """Hold a warning: class, words, the learner's code and line, its cell, 0 outside notebooks."""

    category: type
    text: str
    made: CodeType | None
    line: int
    cell: int
    space: dict[str, Any]


_LAST: list[Heard] = []
_SHOWS: list[Callable[..., None]] = []


def listen() -> None:
    """Hear of each warning that is shown from now on; again, where somebody took that away."""
    if warnings.showwarning is not _show:
        _SHOWS[:] = [warnings.showwarning]
        warnings.showwarning = _show


def last_warning() -> Heard | None:
    """Return the last warning of this notebook or script."""
    return _LAST[-1] if _LAST else _registered()


def _show(message: Any, category: type, filename: str, lineno: int, *rest: Any) -> None:
    _SHOWS[0](message, category, filename, lineno, *rest)
    try:
        frame = _learners(sys._getframe(1))
        if frame is not None:
            space = frame.f_globals
            where = frame.f_code, frame.f_lineno, max(len(cells_in(space)) - 1, 0)
            _LAST[:] = [Heard(category, str(message), *where, space)]
    except Exception:  # a warning must never fail
        return


def _learners(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of a notebook or script that is the learner's."""
    while frame is not None:
        if is_users(frame.f_code.co_filename) and frame.f_globals.get("__name__") == "__main__":
            return frame
        frame = frame.f_back
    return None


def _registered() -> Heard | None:
    """Return the newest warning that Python noted before anybody listened: its words and line."""
    space = getattr(shell_here(), "user_ns", {})
    noted = [key for key in space.get("__warningregistry__", ()) if type(key) is tuple]
    if not noted or len(noted[-1]) != 3:
        return None
    text, category, line = noted[-1]
    return Heard(category, str(text), None, line, 0, space)
