"""Let a notebook show an error without the frames of this package; touches IPython to do so."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, TypeVar

from autograd_graphs.text import is_ours

RENDER = "_render_traceback_"  # what IPython asks an error for, before it writes a traceback itself
PLAINLY = "in_plain_words"
Error = TypeVar("Error", bound=BaseException)


def short(error: Error, **attributes: object) -> Error:
    """Return an error of which a notebook leaves out what lies in this package, with attributes."""
    vars(error).setdefault(RENDER, without_our_frames)
    vars(error).update(attributes)
    return error


def is_plain_words(error: BaseException) -> bool:
    """Say whether an error is torch's in words of ours: what it was raised from is torch's own."""
    return vars(error).get(PLAINLY) is True


def without_our_frames() -> list[str]:
    """Return the lines of the traceback that is about to be shown, as IPython would write them.

    A function that held the error would keep it alive, and all that its frames hold. Raises
    RuntimeError where there is no error or no IPython: then IPython goes on by itself.
    """
    kind, error, traceback = sys.exc_info()
    shells = getattr(sys.modules.get("IPython.core.interactiveshell"), "InteractiveShell", None)
    writer: Any = getattr(getattr(shells, "_instance", None), "InteractiveTB", None)
    if error is None or writer is None:
        raise RuntimeError("There is no error to write, or no IPython that writes it.")
    return writer.structured_traceback(kind, error, theirs(traceback), tb_offset=0)


def theirs(traceback: TracebackType | None) -> TracebackType | None:
    """Return a copy of a traceback without the frames of IPython and of this package."""
    kept = []
    while traceback is not None:
        name = traceback.tb_frame.f_globals.get("__name__")
        of_ipython = str(name).partition(".")[0] == "IPython"
        if not of_ipython and not is_ours(name):
            kept.append(traceback)
        traceback = traceback.tb_next
    copy = None
    for entry in reversed(kept):
        copy = TracebackType(copy, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return copy
