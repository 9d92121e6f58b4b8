"""Read the lines that torch's anomaly mode took down while a graph was made."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from autograd_graphs.data import Graph
from autograd_graphs.looking.statements import lines_of
from autograd_graphs.looking.torch_private import is_tensor, of_node

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
