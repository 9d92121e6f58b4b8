"""Find room in a layout for what stands on its wires, and beside that. Numbers in, numbers out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from autograd_graphs.drawing.frames import Rect
from autograd_graphs.drawing.layout import Point

STEP, RIM = 4, 5  # px: from place to place beside the middle of a wire, and from a rim to the wire
HEAD = 9  # px at the end of a wire that stay free for its arrow
BESIDE, HALF = 5, 9  # px: beside a factor, and half the height of one
FINE = 4  # px between two points of a wire
BLUR = 1  # px by which two things may meet: all is rounded

Size = tuple[int, int]
Curve = Sequence[Point]


class Room:
    """Know what stands in a layout, and which wires go where."""

    def __init__(self, solid: Sequence[Rect], curves: Sequence[Curve]) -> None:
        self.solid = list(solid)
        self.points = [list(finely(curve)) for curve in curves]
        self.bounds = [bounds(points) for points in self.points]

    def is_free(self, rect: Rect) -> bool:
        """Say whether no card and no word stands there."""
        left, top = rect.left + BLUR, rect.top + BLUR
        right, bottom = rect.right - BLUR, rect.bottom - BLUR
        for one in self.solid:
            if left < one.right and one.left < right and top < one.bottom and one.top < bottom:
                return False
        return True

    def is_crossed(self, rect: Rect, own: int | None = None) -> bool:
        """Say whether a wire goes through, `own` apart."""
        for nr, around in enumerate(self.bounds):
            if nr != own and rect.meets(around) and any(map(rect.covers, self.points[nr])):
                return True
        return False


def on_wires(
    room: Room,
    curves: Sequence[Curve],
    labels: Mapping[int, Point],
    sizes: Mapping[int, Size],
    is_lying: bool = False,
) -> dict[int, Point]:
    """Return where the middle of each word or capsule is: on its curve, near the room that was
    reserved for it, over no card, no other word and no other wire, if that can be.
    """
    found = {}
    for nr, size in sizes.items():
        points = sorted(points_of(curves[nr]), key=distance(labels[nr], is_lying))
        middle = chosen(room, curves[nr], points, size, nr)
        room.solid.append(around(middle, size))
        found[nr] = middle
    return found


def chosen(room: Room, curve: Curve, points: list[Point], size: Size, own: int) -> Point:
    """Return the first place of a capsule that is free, else the nearest to its room."""
    free = []
    far = int(size[0] / 2) - RIM
    asides = sorted(range(-far + far % STEP, far, STEP), key=abs)
    for x, y in points:
        for aside in asides:
            rect = around((x + aside, y), size)
            if room.is_free(rect) and not rect.covers(before_end(curve)):
                if not room.is_crossed(rect, own):
                    return x + aside, y
                free.append((x + aside, y))
    return free[0] if free else points[0]


def before_end(curve: Curve) -> Point:
    """Return where the arrow at the end of a curve begins."""
    (bx, by), (x, y) = curve[-2], curve[-1]
    length = max(((x - bx) ** 2 + (y - by) ** 2) ** 0.5, 1e-6)
    return x - HEAD * (x - bx) / length, y - HEAD * (y - by) / length


def beside_capsules(
    room: Room,
    picture: Rect,
    widths: Mapping[int, int],
    capsules: Mapping[int, Rect],
    curves: Sequence[Curve],
) -> dict[int, Rect]:
    """Return the place of each factor that has one beside its capsule, over nothing else; what has
    no room is told by the equation alone.
    """
    found = {}
    for nr, wide in widths.items():
        for place in sides(capsules[nr], curves[nr][0], wide):
            wider = place._replace(
                left=place.left - BESIDE + BLUR, right=place.right + BESIDE - BLUR
            )
            is_inside = picture.left <= place.left and place.right <= picture.right
            if is_inside and room.is_free(wider) and not room.is_crossed(wider):
                room.solid.append(place)
                found[nr] = place
                break
    return found


def sides(capsule: Rect, start: Point, wide: int) -> Iterator[Rect]:
    """Yield the places at both sides of a capsule, first that away from where its wire begins."""
    middle = (capsule.top + capsule.bottom) // 2
    left, right = capsule.left - BESIDE - wide, capsule.right + BESIDE
    is_left = (capsule.left + capsule.right) / 2 < start[0] - 4
    for begin in (left, right) if is_left else (right, left):
        yield Rect(begin, middle - HALF, begin + wide, middle + HALF)


def around(middle: Point, size: Size) -> Rect:
    (x, y), (wide, high) = middle, size
    return Rect(x - wide / 2, y - high / 2, x + wide / 2, y + high / 2)


def bounds(points: Sequence[Point]) -> Rect:
    xs, ys = zip(*points, strict=True)
    return Rect(min(xs) - BLUR, min(ys) - BLUR, max(xs) + BLUR, max(ys) + BLUR)


def distance(label: Point, is_lying: bool) -> Callable[[Point], tuple[int, float]]:
    """Return a key that sorts points by how far they are from where room was reserved."""

    def far(point: Point) -> tuple[int, float]:
        aside, below = abs(point[0] - label[0]), abs(point[1] - label[1])
        return (round(aside), below) if is_lying else (round(below), aside)

    return far


def points_of(curve: Curve) -> list[Point]:
    """Return points on a curve, sixteen to a piece."""
    points = []
    for start in range(0, len(curve) - 1, 3):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve[start : start + 4]
        for a, b, c, d in WEIGHTS:
            points.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
    return points


def finely(curve: Curve) -> Iterator[Point]:
    """Yield points along a curve that are a few px apart."""
    for (x, y), (u, v) in pairwise(points_of(curve)):
        steps = max(1, round(max(abs(u - x), abs(v - y)) / FINE))
        for step in range(steps + 1):
            yield x + (u - x) * step / steps, y + (v - y) * step / steps


def weights(t: float) -> tuple[float, float, float, float]:
    """Return how much the points of a Bézier piece count at `t` between 0 and 1."""
    return (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3


WEIGHTS = tuple([weights(step / 16) for step in range(17)])
