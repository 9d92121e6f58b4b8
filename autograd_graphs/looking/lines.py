"""Read lines that were recorded while a graph was made: by a trace function of ours, or by torch's
anomaly mode.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch

from autograd_graphs.data import Graph
from autograd_graphs.looking.running_code import runs
from autograd_graphs.looking.statements import lines_of
from autograd_graphs.looking.torch_private import is_tensor, next_number, of_node
from autograd_graphs.looking.variable_names import caller

MOST_MARKS = 1_000_000
_FRAME = re.compile(r'  File "(.*)", line (\d+), in .*\n?(.*)')
LIBRARIES = tuple(
    {
        *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        str(Path(torch.__file__).parent),
        str(Path(__file__).parent.parent),
    }
)


class Place(NamedTuple):
    """Tell a line of a file, from 1, and its text as it was then, where that is known."""

    filename: str
    number: int
    text: str = ""


def is_theirs(filename: str) -> bool:
    """Say whether a file is the learner's: a cell, or a file outside of libraries."""
    if filename.startswith("<") and not filename.startswith("<ipython"):
        return False
    return not filename.startswith(LIBRARIES) and "site-packages" not in filename


def checked_line(place: Place) -> str:
    """Return the text of a line; empty where it is not what it was."""
    lines = lines_of(place.filename)
    line = lines[place.number - 1].rstrip("\r\n") if 0 < place.number <= len(lines) else ""
    return line if line.strip() and place.text.strip() in ("", line.strip()) else ""


def anomaly_places(graph: Graph, met: Sequence[Any]) -> dict[int, Place]:
    """Return the learner's innermost line of every node that was made under anomaly mode.

    Whether it was on is asked of the roots alone: to ask a node gives it a dict of its own.
    """
    roots = {root.node for root in graph.roots if root.node is not None}
    if not any(anomaly_place(met[node]) for node in roots):
        return {}
    found = {node: anomaly_place(one) for node, one in enumerate(met)}
    return {node: place for node, place in found.items() if place is not None}


def anomaly_place(node: Any) -> Place | None:
    """Return the learner's innermost line in what anomaly mode kept with a node."""
    if is_tensor(node):
        return None
    kept = of_node(node, "metadata")
    frames = dict.get(kept, "traceback_") if type(kept) is dict else None
    if type(frames) is not list:
        return None
    for text in reversed(frames):
        found = _FRAME.match(text) if type(text) is str else None
        if found and is_theirs(found[1]):
            return Place(found[1], int(found[2]), found[3]) if found[3].strip() else None
    return None


class Mark(NamedTuple):
    """Tell that a line of a code runs from a sequence number on."""

    low: int
    code: CodeType
    number: int


class LineMarks:
    """Take down which of the learner's lines runs, by the sequence numbers of nodes, while a block
    runs.

    A trace function does it, Python's own for debuggers: where there is one, nothing is taken down.
    """

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.high = 0
        self._frame: FrameType | None = None
        self._theirs: dict[str, bool] = {}

    def start(self) -> None:
        """Begin, in the thread and the function that run now."""
        frame = caller()
        if sys.gettrace() is not None or frame is None or frame.f_trace is not None:
            return
        self._frame = frame
        self._mark(frame)
        frame.f_trace = self._in_frame
        sys.settrace(self._call)

    def stop(self) -> None:
        """End, and leave a trace function that came after ours as it is."""
        if self._frame is None:
            return
        if is_method_of(sys.gettrace(), self):
            sys.settrace(None)
        if is_method_of(self._frame.f_trace, self):
            self._frame.f_trace = None
        self._frame, self.high = None, next_number()

    def _call(self, frame: FrameType, event: str, _: Any) -> Any:
        """Say how a function that is entered is traced: not at all, if it is a library's."""
        return self._in_frame if self._is_theirs(frame) else None

    def _in_frame(self, frame: FrameType, event: str, _: Any) -> Any:
        """Take down the line that begins, or where a function goes back to."""
        if event == "line":
            self._mark(frame)
        elif event == "return":
            back = frame.f_back
            while back is not None and not self._is_theirs(back):
                back = back.f_back
            if back is not None:
                self._mark(back)
        return self._in_frame if len(self.marks) < MOST_MARKS else None

    def _is_theirs(self, frame: FrameType) -> bool:
        name = frame.f_code.co_filename
        if name not in self._theirs:
            self._theirs[name] = is_theirs(name)
        return self._theirs[name]

    def _mark(self, frame: FrameType) -> None:
        """Take down a line; of lines between which no node was made, the last."""
        low = next_number()
        if self.marks and self.marks[-1].low == low:
            self.marks.pop()
        self.marks.append(Mark(low, frame.f_code, frame.f_lineno))

    def of(self, numbers: Mapping[int, int]) -> dict[int, Place]:
        """Return the lines of nodes, by their sequence numbers; of a source that changed, none."""
        lows = [mark.low for mark in self.marks]
        found = {}
        for node, number in numbers.items():
            at = bisect_right(lows, number) - 1
            if at < 0 or number >= self.high or len(lows) >= MOST_MARKS:
                continue
            _, code, line = self.marks[at]
            source = tuple([text.rstrip("\r\n") for text in lines_of(code.co_filename)])
            if line is not None and source and runs(source, line, code):
                found[node] = Place(code.co_filename, line)
        return found


def is_method_of(function: Any, owner: object) -> bool:
    """Say whether a trace function is ours."""
    return getattr(function, "__self__", None) is owner
