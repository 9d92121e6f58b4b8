"""Place boxes and curves with Graphviz's `dot`, run as a process of its own: numbers in, numbers
out.

The only module that runs Graphviz. No text ever reaches it: no font is opened, no input can upset
it, and if it died, only that process would. The program comes with the package graphviz-pure, one
file that needs no library of the system and places boxes alike on every system.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import PackageNotFoundError, distribution
from math import ceil

MOST_WORK = 1_500  # see `work`: below it a layout takes at most a second or two
PROGRAM = "graphviz-pure"
SECONDS = 60  # after which a layout is given up; within MOST_WORK none took over one
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows would open one for each layout
LEAST = 8  # px: of a smaller table Graphviz says on stderr that it is too small
_ROOM = '<<TABLE BORDER="0" FIXEDSIZE="TRUE" WIDTH="%d" HEIGHT="%d"><TR><TD></TD></TR></TABLE>>'
LOOSE, TIGHT = 0.45, 0.28  # inches of 72 px between two ranks; tight for cards of one line
BESIDE, STACKED = 0.28, 0.2  # inches between two boxes of a rank; stacked on its side
_GRAPH = "digraph{rankdir=TB;ordering=out;nodesep=%g;ranksep=%g;"
_DEFAULTS = 'node[shape=box,fixedsize=true,label=""];edge[dir=none];'

Point = tuple[float, float]
Boxes = Edges = Sequence[tuple[int, int]]
Rooms = Mapping[int, tuple[int, int]]


class NoLayout(RuntimeError):
    """Say that no program here can lay out a graph, and how to get one."""

    def __init__(self) -> None:
        super().__init__(
            "There's no picture, because no program that lays out graphs runs here. Install one "
            f"with `pip install {PROGRAM}`, or on Debian and Ubuntu with `apt-get install "
            "graphviz`. Then restart the kernel."
        )

    def _render_traceback_(self) -> list[str]:
        """Give IPython the sentence alone: the lines of our own code help nobody here."""
        return [str(self)]


@dataclass(frozen=True, slots=True)
class Placed:
    """Hold a layout in px, y downwards: box centres, Bézier points per edge, centres of labels."""

    width: float
    height: float
    centres: tuple[Point, ...]
    curves: tuple[tuple[Point, ...], ...]
    labels: Mapping[int, Point]


def lay_out(
    boxes: Boxes,
    edges: Edges,
    labels: Rooms | None = None,
    apart: float = LOOSE,
    beside: float = BESIDE,
) -> Placed:
    """Lay out boxes of (width, height) px joined by (tail, head); `labels` reserves room beside an
    edge, `apart` between ranks, `beside` between two boxes of a rank.

    Raises ValueError where `work` says that it would take too long: leave boxes out first; NoLayout
    where Graphviz cannot be run.
    """
    if (needed := work(len(boxes), edges, bool(labels))) > MOST_WORK:
        raise ValueError(
            f"This layout needs {needed:,} units of work, over {MOST_WORK:,}. Leave boxes out."
        )
    if not boxes:
        return Placed(0, 0, (), (), {})
    labels = labels or {}
    parts = [_GRAPH % (beside, apart), _DEFAULTS, *_boxes(boxes), *_edges(edges, labels), "}"]
    return _read(_laid_out("".join(parts)), labels)


def _laid_out(source: str) -> dict:
    """Run Graphviz on DOT source and return its answer. Raises NoLayout where it cannot be run."""
    command = [_program(), "-Kdot", "-Tjson0"]
    options = {"capture_output": True, "check": True, "timeout": SECONDS, "text": True}
    try:
        ran = subprocess.run(command, input=source, creationflags=NO_WINDOW, **options)
    except (OSError, subprocess.SubprocessError) as error:
        raise NoLayout from error
    return json.loads(ran.stdout)


@cache
def _program() -> str:
    """Return the path of graphviz-pure's program, or of a `dot` that the system has."""
    try:
        files = distribution(PROGRAM).files or ()
    except PackageNotFoundError:
        files = ()
    for file in files:
        if file.stem == PROGRAM:
            return str(file.locate())
    if dot := shutil.which("dot"):
        return dot
    raise NoLayout


def lying(boxes: Boxes, edges: Edges, labels: Rooms, apart: float = LOOSE) -> Placed:
    """Lay out as `lay_out` does, and turn it on its side: what was on top is at the right."""
    turned = {nr: (high, wide) for nr, (wide, high) in labels.items()}
    upright = lay_out([(high, wide) for wide, high in boxes], edges, turned, apart, STACKED)

    def on_its_side(point: Point) -> Point:
        return upright.height - point[1], point[0]

    centres = tuple(map(on_its_side, upright.centres))
    curves = tuple([tuple(map(on_its_side, curve)) for curve in upright.curves])
    words = {nr: on_its_side(point) for nr, point in upright.labels.items()}
    return Placed(upright.height, upright.width, centres, curves, words)


def _boxes(boxes: Boxes) -> list[str]:
    return [f"{nr}[width={w / 72:.4f},height={h / 72:.4f}];" for nr, (w, h) in enumerate(boxes)]


def _edges(edges: Edges, labels: Rooms) -> list[str]:
    room = {nr: ",label=" + _ROOM % (max(w, LEAST), max(h, LEAST)) for nr, (w, h) in labels.items()}
    return [f"{tail}->{head}[id={nr}{room.get(nr, '')}];" for nr, (tail, head) in enumerate(edges)]


def _read(answer: dict, labels: Mapping[int, object]) -> Placed:
    """Read Graphviz's answer; parallel edges are told apart by their id, its order is not ours."""
    width, height = map(float, answer["bb"].split(",")[2:])

    def point(text: str) -> Point:
        x, y = text.split(",")
        return float(x), height - float(y)

    boxes = sorted(answer["objects"], key=lambda box: int(box["name"]))
    edges = sorted(answer.get("edges", ()), key=lambda edge: int(edge["id"]))
    centres = tuple([point(box["pos"]) for box in boxes])
    curves = tuple([tuple(map(point, edge["pos"].split())) for edge in edges])
    return Placed(width, height, centres, curves, {nr: point(edges[nr]["lp"]) for nr in labels})


def work(boxes: int, edges: Edges, labelled: bool = False) -> int:
    """Estimate the work of a layout: boxes plus the ranks that long edges cross, doubled with
    labels.

    A short edge counts a half: two rows of 100 boxes, joined by 5,000 edges, took 3 s.
    """
    rank = ranks(boxes, edges)
    crossed: float = 0
    for tail, head in edges:
        span = rank[head] - rank[tail]
        crossed += 2 * span - 1 if labelled else max(span - 1, 0.5)
    return boxes + ceil(crossed)


def ranks(boxes: int, edges: Edges) -> list[int]:
    """Return the longest way down to each box, as the number of edges from the top.

    The edges have no cycle.
    """
    above: dict[int, list[int]] = {box: [] for box in range(boxes)}
    for tail, head in edges:
        above[head].append(tail)
    rank = [0] * boxes
    for box in TopologicalSorter(above).static_order():
        for tail in above[box]:
            rank[box] = max(rank[box], rank[tail] + 1)
    return rank
