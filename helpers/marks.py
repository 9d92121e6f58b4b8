"""The display list: marks with a place in whole px, a role and a state. No colour, no graph, no torch."""

from __future__ import annotations

from dataclasses import dataclass, field

from helpers.text import visible


@dataclass(frozen=True, slots=True)
class Mark:
    """Hold one thing to draw, in whole px.

    `shape` is rect (x, y, width, height, radius), circle (x, y, radius), path (x, y pairs: a start and
    Bézier triples), polygon (x, y pairs) or text (x, y of the baseline). `role` says what it means;
    `of` whose it is ("node 3", "edge 5"). `runs` are the pieces of a text with a role for each.
    """

    shape: str
    role: str
    at: tuple[int, ...]
    of: str = ""
    runs: tuple[tuple[str, str], ...] = ()
    state: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Hold a display list and its size in px; `text` is what the picture says, `alt` in one sentence.

    `aside` is the width and height of a part at the left that may stand above the rest where there is little room.
    """

    width: int
    height: int
    marks: tuple[Mark, ...]
    text: str
    alt: str
    aside: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Pen:
    """Collect marks; moves everything by a fixed offset."""

    dx: int = 0
    dy: int = 0
    marks: list[Mark] = field(default_factory=list)

    def put(self, shape: str, role: str, *at: float, of: str = "", state: str = "") -> None:
        """Add a shape; the first two numbers are a place, a path and a polygon are all places."""
        places = len(at) if shape in ("path", "polygon") else 2
        moved = [v + (self.dx, self.dy)[i % 2] if i < places else v for i, v in enumerate(at)]
        self.marks.append(Mark(shape, role, tuple(round(v) for v in moved), of, (), state))

    def write(self, role: str, x: float, y: float, *runs: tuple[str, str], of: str = "", state: str = "") -> None:
        runs = tuple((visible(text), run_role) for text, run_role in runs)
        self.marks.append(Mark("text", role, (round(x + self.dx), round(y + self.dy)), of, runs, state))
