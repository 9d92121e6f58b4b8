"""Find the exception to diagnose and read its text, without running any code of its own.

Touches `sys`, to read.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Iterator
from itertools import islice
from types import FrameType, TracebackType

from autograd_graphs.diagnosing.sources import cells_with
from autograd_graphs.looking.cells import cells_of, failures, shell_here
from autograd_graphs.looking.refusals import is_plain_words
from autograd_graphs.looking.statements import lines_of
from autograd_graphs.looking.users_line import is_users
from autograd_graphs.text import message_of

MOST = 10  # exceptions of one chain or group that are looked at
GUESSES = ("find_line(", "predict(")  # a cell that asks for a guess does nothing to what failed
TIMED = {"<timed exec>", "<timed eval>"}  # what %%time calls the code of its cell
MAGIC = re.compile(r"get_ipython\(\)\.run_cell_magic\('time', '.*?', ('.*')\)$")
LONGEST = 10_000  # characters of a message that are looked at


def last_error() -> BaseException | None:
    """Return the exception that is being handled, or the last that was shown; None without one."""
    kept = (sys.exc_info()[1], getattr(sys, "last_exc", None), getattr(sys, "last_value", None))
    return next(filter(is_error, kept), None)


def cell_of(error: BaseException) -> int | None:
    """Return the number of the cell that an error came from, the newest with its text, of those
    that failed before others; None where it came from no cell, as from a `__repr__`.
    """
    failed = failures() or set()
    for frame in frames_of(error.__traceback__):
        if is_users(frame.f_code.co_filename) and frame.f_code.co_name != "<module>":
            return None
        same = cells_with(lines_of(frame.f_code.co_filename), cells_of(frame))
        if same:
            return max(same & failed or same)
    return None


def cells_ran_since(error: BaseException) -> bool | None:
    """Say whether another cell ran between that of an error and this one; None where that cannot
    be known, False outside IPython and while the error is being handled.
    """
    cells = getattr(shell_here(), "user_ns", {}).get("In", ())
    if not cells or sys.exc_info()[1] is error:
        return False
    before_this = len(cells) - 2
    while before_this > 0 and cells[before_this].startswith(GUESSES):
        before_this -= 1
    cell = cell_of(error)
    if cell is not None:
        return cell < before_this
    return False if before_this in (failures() or ()) else None


def read_timed(error: BaseException) -> None:
    """Let Python read the lines of a cell that `%%time` ran: it compiles them without their text."""
    files = [frame.f_code.co_filename for frame in frames_of(error.__traceback__)]
    cell = next((name for name in files if is_users(name) and name not in TIMED), "")
    magic = MAGIC.match("".join(lines_of(cell)).strip())
    for name in TIMED.intersection(files):
        if magic:
            lines = ast.literal_eval(magic[1]).splitlines(True)
            linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


def is_error(thing: object) -> bool:
    return isinstance(thing, BaseException)


def family(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, those in its group and what it came from; each once, at most `MOST`."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting and len(seen) < MOST:
        member = waiting.pop(0)
        if any(member is other for other in seen):
            continue
        seen.append(member)
        yield member
        near = (*inside(member), member.__cause__, _context(member))
        waiting += filter(is_error, near)


def inside(error: BaseException) -> tuple[BaseException, ...]:
    if not isinstance(error, BaseExceptionGroup):
        return ()
    return error.exceptions[:MOST]


def _context(error: BaseException) -> object:
    """Return what an error was raised from; one of ours stands for torch's, which it leaves out."""
    if error.__suppress_context__ and not is_plain_words(error):
        return None
    return error.__context__


def frames_of(traceback: TracebackType | None) -> Iterator[FrameType]:
    """Yield the frames of a traceback, the outermost first."""
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def learners_lines(traceback: TracebackType | None) -> list[tuple[FrameType, int, int | None]]:
    """Return the learner's frames in a traceback with their line and column, the innermost first."""
    lines = []
    while traceback is not None:
        frame = traceback.tb_frame
        if is_users(frame.f_code.co_filename):
            lines.insert(0, (frame, traceback.tb_lineno or 0, column_of(traceback)))
        traceback = traceback.tb_next
    return lines


def column_of(traceback: TracebackType) -> int | None:
    """Return where in its line the call begins that a traceback stands at, if the code knows it."""
    number = max(traceback.tb_lasti // 2, 0)  # of the instruction
    positions = islice(traceback.tb_frame.f_code.co_positions(), number, None)
    return next(positions, (None,) * 4)[2]


def text_of(error: BaseException) -> str:
    """Return the words of an exception, cut where they are endless."""
    return message_of(error)[:LONGEST]


def types_of(error: BaseException) -> tuple[str, ...]:
    """Return the names of an exception's class and of the classes above it."""
    return tuple(kind.__name__ for kind in type(error).__mro__)
