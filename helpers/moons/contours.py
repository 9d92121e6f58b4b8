"""Find the lines along which values of a lattice cross a level. Knows no model, and no SVG."""

from __future__ import annotations

import math

Lattice = list[list[float]]  # rows from below
Place = tuple[float, float]  # across and up, in steps of the lattice
Line = list[Place]
FINE = 0.03  # of a step: by so much a line may pass beside the places that it leaves out
NEAR = 0.001  # of a step: a crossing keeps away from corners, where those of two edges would meet


def contour(lattice: Lattice, level: float) -> list[Line]:
    """Return the lines of a level, the higher side on their left; those that end at the edge first.

    Between two places the value is taken to run straight.
    """
    left = _pieces(lattice, level)
    ends, lines = set(left.values()), []
    for start in sorted(left, key=lambda place: place in ends):
        if start in left:
            line = [start]
            while line[-1] in left:
                line.append(left.pop(line[-1]))
            lines.append(line)
    return lines


def framed(lattice: Lattice) -> Lattice:
    """Return a lattice with a ring of something low around it, so that each contour closes."""
    low = min([-10.0, *(value for row in lattice for value in row if math.isfinite(value))]) - 1
    ring = [[low] * (len(lattice[0]) + 2)]
    return [*ring, *([low, *row, low] for row in lattice), *ring]


def is_straight(line: Line) -> bool:
    """Tell whether a line is off the straight one between its ends by less than half a step."""
    return all(_off(place, line[0], line[-1]) < 0.5 for place in line)


def thinned(line: Line) -> Line:
    """Return a line without those of its places that cannot be seen to be missing."""
    between = range(1, len(line) - 1)
    far = max(between, key=lambda k: _off(line[k], line[0], line[-1]), default=0)
    if _off(line[far], line[0], line[-1]) <= FINE:
        return [line[0], line[-1]]
    return thinned(line[: far + 1])[:-1] + thinned(line[far:])


def _off(place: Place, one: Place, other: Place) -> float:
    """Return how far a place is from the straight line through two others; two that are the same
    are a point.
    """
    (x, y), (x1, y1), (x2, y2) = place, one, other
    long = math.dist(one, other)
    if long == 0:
        return math.dist(place, one)
    return abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / long


def _pieces(lattice: Lattice, level: float) -> dict[Place, Place]:
    """Return where a contour enters and leaves each cell: {place: next place}."""
    found: dict[Place, Place] = {}
    for j in range(len(lattice) - 1):
        for i in range(len(lattice[0]) - 1):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            found.update(_through([(x, y, lattice[y][x]) for x, y in corners], level))
    return found


def _through(corners: list[tuple[int, int, float]], level: float) -> list[tuple[Place, Place]]:
    """Return the one or two pieces of a contour in a cell, whose corners go round."""
    enter, leave = [], []
    for one, other in zip(corners, corners[1:] + corners[:1], strict=True):
        if (one[2] > level) != (other[2] > level):
            (leave if one[2] > level else enter).append(_crossing(one, other, level))
    # At a saddle the middle of the cell says which of them belong together.
    if len(enter) == 2 and sum(value for *_, value in corners) / 4 <= level:
        enter.reverse()
    return list(zip(leave, enter, strict=True))


def _crossing(one: tuple[int, int, float], other: tuple[int, int, float], level: float) -> Place:
    """Return where an edge crosses a level, the same from both of its sides."""
    (x1, y1, a), (x2, y2, b) = sorted((one, other))
    share = (level - a) / (b - a) if math.isfinite(b - a) else 0.5
    share = min(max(share, NEAR), 1 - NEAR)
    return round(x1 + (x2 - x1) * share, 3), round(y1 + (y2 - y1) * share, 3)
