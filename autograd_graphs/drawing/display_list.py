"""The display list: marks with a place in whole px, an owner, a part and a look. No colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autograd_graphs.text import visible

Runs = tuple[tuple[str, str], ...]
Points = Sequence[tuple[float, float]]


class Owner(NamedTuple):
    """Say to what a mark belongs: a "node" or "edge" of a graph by its number, or the "legend"."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


LEGEND = Owner("legend", 0)


def path_data(at: Sequence[int]) -> str:
    """Write a curve as SVG path data; what bends by less than 1 px is a line."""
    points = list(zip(at[::2], at[1::2], strict=True))
    words = f"M{points[0][0]} {points[0][1]}"
    for nr in range(0, len(points) - 1, 3):
        piece = points[nr : nr + 4]
        if is_straight(piece):
            words += f"L{piece[3][0]} {piece[3][1]}"
        else:
            words += "C" + " ".join([f"{x} {y}" for x, y in piece[1:]])
    return words


def is_straight(piece: Sequence[tuple[int, int]]) -> bool:
    """Say whether both control points of a Bézier piece lie on the line between its ends."""
    (x, y), (to_x, to_y) = piece[0], piece[3]
    dx, dy = to_x - x, to_y - y
    length = max((dx * dx + dy * dy) ** 0.5, 1)
    return all(abs(dx * (py - y) - dy * (px - x)) <= length for px, py in piece[1:3])


def points_data(at: Sequence[int]) -> str:
    """Write corners as SVG writes the points of a polygon."""
    return " ".join(map(str, at))


SHAPES = {  # element and attributes of each shape in SVG
    "rect": ("rect", "x", "y", "width", "height", "rx"),
    "circle": ("circle", "cx", "cy", "r"),
    "path": ("path", "d"),
    "polygon": ("polygon", "points"),
    "text": ("text", "x", "y"),
}


@dataclass(frozen=True, slots=True)
class Mark:
    """Hold one thing to draw, in whole px.

    `shape` is rect (x, y, width, height, radius), circle (x, y, radius), path (x, y pairs: a start
    and Bézier triples), polygon (x, y pairs) or text (x, y of the baseline). `role` and `state` say
    how it looks. `owner` is what it belongs to, None for what belongs to the whole picture. `part`
    says what of its owner it shows, where that can change: "body", "grad", "saved", "count",
    "word". `runs` are the pieces of a text, each with a role.
    """

    shape: str
    role: str
    at: tuple[int, ...]
    owner: Owner | None = None
    runs: Runs = ()
    state: str = ""
    part: str = ""


def geometry(mark: Mark) -> tuple[int | str, ...]:
    """Return the values of the attributes that SHAPES names."""
    if mark.shape == "path":
        return (path_data(mark.at),)
    if mark.shape == "polygon":
        return (points_data(mark.at),)
    return mark.at


@dataclass(frozen=True, slots=True)
class Drawing:
    """Hold a display list and its size in px; `text` is the picture in words, `alt` a sentence."""

    width: int
    height: int
    marks: tuple[Mark, ...]
    text: str
    alt: str


@dataclass(slots=True)
class Pen:
    """Collect marks of one owner after the other; moves everything by a fixed offset."""

    dx: int = 0
    dy: int = 0
    marks: list[Mark] = field(default_factory=list)
    owner: Owner | None = None

    def rect(
        self, role: str, x: float, y: float, width: float, height: float, radius: float, **more: str
    ) -> None:
        """Add a rectangle by its upper left corner."""
        self._add("rect", role, [(x, y)], (width, height, radius), more)

    def circle(self, role: str, x: float, y: float, radius: float, **more: str) -> None:
        """Add a circle around a centre."""
        self._add("circle", role, [(x, y)], (radius,), more)

    def path(self, role: str, *points: tuple[float, float], **more: str) -> None:
        """Add a curve: a start, and three points for each Bézier piece."""
        self._add("path", role, points, (), more)

    def polygon(self, role: str, *points: tuple[float, float], **more: str) -> None:
        """Add a filled shape by its corners."""
        self._add("polygon", role, points, (), more)

    def write(
        self, role: str, x: float, y: float, *runs: tuple[str, str], state: str = "", part: str = ""
    ) -> None:
        """Add a text by its baseline; `runs` are its pieces, each with a role of its own."""
        safe = tuple((visible(text), run_role) for text, run_role in runs if text)
        self._add("text", role, [(x, y)], (), {"runs": safe, "state": state, "part": part})

    def _add(
        self, shape: str, role: str, points: Points, sizes: tuple[float, ...], more: dict[str, Any]
    ) -> None:
        at: list[int] = []
        for x, y in points:
            at += [round(x + self.dx), round(y + self.dy)]
        self.marks.append(Mark(shape, role, (*at, *map(round, sizes)), self.owner, **more))
