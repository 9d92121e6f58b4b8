"""Find the line of the learner's own code that runs now. Reads frames and source; runs nothing."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from autograd_graphs.looking.cells import shell_here
from autograd_graphs.looking.statements import lines_of
from autograd_graphs.text import visible

LIBRARIES = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
LIBRARIES.append(str(Path(__file__).parents[1]))  # ours
LONGEST = 60  # characters of a line that are shown
WRITTEN = ("<frozen ", "<eval_with_key>", "<__array_function__")  # by Python, torch.fx, NumPy


class UsersLine(NamedTuple):
    """Tell a line of a file or of a cell, from 1."""

    filename: str
    number: int

    @property
    def text(self) -> str:
        """Return what the line says now; "" where it cannot be read."""
        lines = lines_of(self.filename)
        if not 0 < self.number <= len(lines):
            return ""
        return visible(lines[self.number - 1].strip(), LONGEST)

    @property
    def indent(self) -> int:
        """Return how far it is indented."""
        lines = lines_of(self.filename)[: self.number]
        return len(lines[-1]) - len(lines[-1].lstrip()) if lines else 0

    def __str__(self) -> str:
        cell = cell_number(self.filename)
        if cell:
            return f"line {self.number} of cell [{cell}]"
        if self.filename.startswith("<"):
            return f"line {self.number}"
        return f"line {self.number} of {visible(Path(self.filename).name)}"


def users_frame() -> FrameType | None:
    """Return the innermost frame that runs the learner's own code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def line_in(frame: FrameType | None) -> UsersLine | None:
    if frame is None:
        return None
    return UsersLine(frame.f_code.co_filename, frame.f_lineno or 0)


def add_library(folder: str | Path) -> None:
    """Take what lies in a folder for a library's from now on, and not for the learner's."""
    if str(folder) not in LIBRARIES:
        LIBRARIES.append(str(folder))
        is_users.cache_clear()


@lru_cache(maxsize=1_000)
def is_users(filename: str) -> bool:
    """Say whether code is the learner's: a cell, or a file outside of libraries and of ours."""
    if filename.startswith("<"):
        return not filename.startswith(WRITTEN)
    is_library = any(filename.startswith(folder + os.sep) for folder in LIBRARIES)
    return not is_library and not re.search("(site|dist)-packages", filename)


def cell_number(filename: str) -> int | None:
    """Return the number of the cell that IPython compiled under a name; None for anything else."""
    compiler: Any = getattr(shell_here(), "compile", None)
    known = getattr(compiler, "_filename_map", {})
    return known.get(filename)


def line_that_raised(
    error: BaseException, is_meant: Callable[[UsersLine], bool] | None = None
) -> UsersLine | None:
    """Return the innermost line of the learner's that an error came through, of those meant."""
    found, step = None, error.__traceback__
    while step is not None:
        line = UsersLine(step.tb_frame.f_code.co_filename, step.tb_lineno)
        if is_users(line.filename) and (is_meant is None or is_meant(line)):
            found = line
        step = step.tb_next
    return found


def line_like(filename: str, first: int, last: int, pattern: str) -> UsersLine | None:
    """Return the first line from one to another of a file that a pattern is found in."""
    for number, line in enumerate(lines_of(filename)[first - 1 : last], first):
        if re.search(pattern, line.partition("#")[0]):
            return UsersLine(filename, number)
    return None
