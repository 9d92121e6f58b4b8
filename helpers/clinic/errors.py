"""Find the exception to diagnose and read its text, without running any code of its own.

Touches `sys`, to read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import TracebackType

from autograd_graphs.looking.refusals import is_plain_words
from autograd_graphs.untrusted.messages import error_text, type_name

MOST = 10  # exceptions of one chain or group that are looked at
LONGEST = 10_000  # characters of a message that are looked at


def last_error() -> BaseException | None:
    """Return the exception that is being handled, or the last that was shown; None where there is
    none.
    """
    kept = (sys.exc_info()[1], getattr(sys, "last_exc", None), getattr(sys, "last_value", None))
    return next((one for one in kept if is_error(one)), None)


def is_of_an_older_cell(error: BaseException | None) -> bool:
    """Say whether the cell that ran before this one ended without an error, so that this one came
    from an older cell; False where that cannot be known, and while an error is being handled.
    """
    shells = sys.modules.get("IPython.core.interactiveshell")
    shell = getattr(getattr(shells, "InteractiveShell", None), "_instance", None)
    result = getattr(shell, "last_execution_result", None)
    if error is None or sys.exc_info()[1] is error:
        return False
    if getattr(result, "execution_count", None) is None:
        return False
    return result.error_in_exec is None and result.error_before_exec is None


def is_error(thing: object) -> bool:
    """Say whether `thing` is an exception, from its real type alone."""
    return issubclass(type(thing), BaseException)


def family(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, those inside a group and those that it came from; each once, at most
    `MOST`.
    """
    seen: list[BaseException] = []
    waiting = [error]
    while waiting and len(seen) < MOST:
        one = waiting.pop(0)
        if any(one is other for other in seen):
            continue
        seen.append(one)
        yield one
        waiting += [
            near
            for near in (*_inside(one), _read(one, "__cause__"), _context(one))
            if is_error(near)
        ]


def _inside(error: BaseException) -> tuple[BaseException, ...]:
    group = issubclass(type(error), BaseExceptionGroup)
    return BaseExceptionGroup.__dict__["exceptions"].__get__(error)[:MOST] if group else ()


def _context(error: BaseException) -> object:
    """Return what an error was raised from; one of ours stands for torch's, which it leaves out."""
    if _read(error, "__suppress_context__") and not is_plain_words(error):
        return None
    return _read(error, "__context__")


def _read(error: BaseException, name: str) -> object:
    return BaseException.__dict__[name].__get__(error)


def traceback_of(error: BaseException) -> TracebackType | None:
    return _read(error, "__traceback__")


def text_of(error: BaseException) -> str:
    """Return the words that an exception was made with, cut where they are endless."""
    return str.__getitem__(error_text(error), slice(LONGEST))


def types_of(error: BaseException) -> tuple[str, ...]:
    """Return the names of an exception's class and of the classes above it."""
    return tuple(map(type_name, type.__dict__["__mro__"].__get__(type(error))))
