"""Show of an error the learner's own lines and the message; `%tb` shows what libraries called.

Touches IPython, where it runs: how it writes a traceback. The exception stays as it is.
"""

import sys
from types import TracebackType
from typing import Any

from autograd_graphs.looking.cells import shell_here
from autograd_graphs.looking.users_line import is_users

LEFT_OUT = "    [... {} inside libraries: %tb shows them]\n"


def install() -> None:
    """Make tracebacks of cells short from now on; a second call changes nothing."""
    writer = getattr(shell_here(), "InteractiveTB", None)
    if writer is None or "structured_traceback" in vars(writer):
        return
    whole = writer.structured_traceback

    def structured_traceback(
        kind: Any, error: Any, trace: Any = None, *more: Any, **named: Any
    ) -> list[str]:
        is_new = sys.exc_info()[1] is error  # else somebody asks for an old one, by %tb
        short, left_out = without_libraries(trace) if is_new else (trace, 0)
        lines = whole(kind, error, short, *more, **named)
        if left_out:
            calls = "1 call" if left_out == 1 else f"{left_out} calls"
            lines.insert(-1, LEFT_OUT.format(calls))
        return lines

    writer.structured_traceback = structured_traceback


def without_libraries(trace: Any) -> tuple[Any, int]:
    """Return a traceback without what the learner's lines called inside libraries, and how many
    calls those were; as it is where no line of the learner's is in it.
    """
    steps = []
    while isinstance(trace, TracebackType):
        steps.append(trace)
        trace = trace.tb_next
    mine = [is_users(step.tb_frame.f_code.co_filename) for step in steps]
    if True not in mine:
        return (steps or [trace])[0], 0
    first = mine.index(True)  # before it IPython runs the cell
    short, left_out = None, 0
    for step, is_mine in reversed(list(zip(steps[first:], mine[first:], strict=True))):
        if is_mine:
            short = TracebackType(short, step.tb_frame, step.tb_lasti, step.tb_lineno)
        else:
            left_out += 1
    for step in reversed(steps[:first]):
        short = TracebackType(short, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return short, left_out
