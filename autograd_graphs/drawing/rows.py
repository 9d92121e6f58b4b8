"""Lay boxes out on their side in several rows, read as lines of a text are: leaves begin the first,
the result ends the last. Numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograd_graphs.drawing.layout import LOOSE, Boxes, Edges, Placed, Point, Rooms, lying, ranks

JOINT = 4, 4  # px of the place at which a wire comes into a row
TURN = 16  # px: from the end of a row to the wire that turns there
LANE = 34  # px between two rows, for tags and the wire that leads on
ABOVE = 24  # px: how far that wire is above the second one
BEND = 8  # px: the radius of its corners

Row = list[int]  # boxes, by their numbers


def in_rows(boxes: Boxes, edges: Edges, labels: Rooms, apart: float, count: int) -> Placed:
    """Lay out as `lying` does, in so many rows, or fewer where no single box leads to the rest."""
    if count == 1 or not boxes:
        return lying(boxes, edges, labels, apart)
    centres: list[Point] = [(0, 0)] * len(boxes)
    curves: list[tuple[Point, ...]] = [()] * len(edges)
    words: dict[int, Point] = {}
    wide = top = 0.0
    for row in rows_of(boxes, edges, count):
        numbers = [at for at, (tail, _) in enumerate(edges) if tail in row]
        left = 2 * TURN if top else 0
        placed = moved(one_row(row, numbers, boxes, edges, labels, apart), left, top)
        for box, centre in zip(row, placed.centres, strict=False):  # without the joint
            centres[box] = centre
        for number, curve in zip(numbers, placed.curves, strict=True):
            head = edges[number][1]
            curves[number] = curve
            if head not in row:
                curves[number] += led_back(curve[-1], top - ABOVE, centres[head], boxes[head][0])
        words |= {numbers[at]: point for at, point in placed.labels.items()}
        wide = max(wide, placed.width + left + TURN)
        top += placed.height + LANE
    return Placed(wide, top - LANE, tuple(centres), tuple(curves), words)


def one_row(
    row: Row, numbers: Sequence[int], boxes: Boxes, edges: Edges, labels: Rooms, apart: float
) -> Placed:
    """Lay out a row with some edges; those that lead out of it meet at a joint, the last box."""
    place = {box: at for at, box in enumerate(row)}
    inner = [(place[edges[nr][0]], place.get(edges[nr][1], len(row))) for nr in numbers]
    sizes = [boxes[box] for box in row]
    if any(head == len(row) for _, head in inner):
        sizes.append(JOINT)
    rooms = {at: labels[nr] for at, nr in enumerate(numbers) if nr in labels}
    return lying(sizes, inner, rooms, apart)


def moved(placed: Placed, right: float, down: float) -> Placed:
    def there(point: Point) -> Point:
        return point[0] + right, point[1] + down

    curves = tuple([tuple(map(there, curve)) for curve in placed.curves])
    words = {nr: there(point) for nr, point in placed.labels.items()}
    centres = tuple(map(there, placed.centres))
    return Placed(placed.width, placed.height, centres, curves, words)


def led_back(start: Point, lane: float, goal: Point, wide: float) -> tuple[Point, ...]:
    """Return how a wire goes on from the joint of a row, by a lane, to a box that ends another."""
    end = goal[0] + wide / 2
    way = [(TURN, start[1]), (TURN, lane), (end + TURN, lane), (end + TURN, goal[1])]
    return tuple(bent([start, *way, (end, goal[1])]))


def bent(points: Sequence[Point]) -> list[Point]:
    """Return the Bézier points of a way with round corners, its start apart."""
    made: list[Point] = []
    at = points[0]
    for corner, after in zip(points[1:], [*points[2:], None], strict=True):
        end = towards(corner, at, BEND) if after else corner
        made += [between(at, end, 1 / 3), between(at, end, 2 / 3), end]
        at = end
        if after:
            at = towards(corner, after, BEND)
            made += [corner, corner, at]
    return made


def between(one: Point, other: Point, share: float) -> Point:
    return one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share


def towards(start: Point, goal: Point, far: float) -> Point:
    """Return the point so far from the start, at most half the way to the goal."""
    long = abs(goal[0] - start[0]) + abs(goal[1] - start[1])
    return between(start, goal, min(far / max(long, 1), 0.5))


def rows_of(boxes: Boxes, edges: Edges, count: int) -> list[Row]:
    """Return boxes in so many rows, or in fewer where no single box leads to the rest."""
    rows = [list(range(len(boxes)))]
    while len(rows) < count:
        at = max(range(len(rows)), key=lambda nr: across(rows[nr], boxes, edges))
        cut = halves(rows[at], boxes, edges)
        if not cut:
            break
        rows[at : at + 1] = cut
    return rows


def halves(row: Row, boxes: Boxes, edges: Edges) -> list[Row]:
    """Return a row in two of about the same width, joined by one box or by none; no row where more
    boxes join them.
    """
    found: list[list[Row]] = []
    for box in row:
        first = below(box, edges) & set(row)
        rest = set(row) - first
        leads = {head for tail, head in edges if tail in rest and head not in rest}
        if len(first) > 1 and rest and leads <= {box}:
            found.append([sorted(first), sorted(rest)])
    return min(found, key=lambda cut: max(across(one, boxes, edges) for one in cut), default=[])


def below(box: int, edges: Edges) -> set[int]:
    """Return a box, and all that leads from the leaves to it."""
    found, waiting = {box}, [box]
    while waiting:
        tail = waiting.pop()
        new = {head for source, head in edges if source == tail} - found
        found |= new
        waiting += new
    return found


def across(row: Collection[int], boxes: Boxes, edges: Edges) -> float:
    """Return about how wide boxes are, laid out on their side."""
    place = {box: nr for nr, box in enumerate(row)}
    inner = [(place[tail], place[head]) for tail, head in edges if {tail, head} <= place.keys()]
    widest: dict[int, int] = {}
    for box, rank in zip(row, ranks(len(place), inner), strict=True):
        widest[rank] = max(widest.get(rank, 0), boxes[box][0])
    return sum(widest.values()) + 72 * LOOSE * len(widest)
