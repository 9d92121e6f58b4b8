"""Draw the frames around opened module calls. Plain data in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from autograd_graphs.data import Frame
from autograd_graphs.drawing.display_list import Pen
from autograd_graphs.drawing.layout import Placed, Point
from autograd_graphs.drawing.palette import SMALL
from autograd_graphs.text import ending, width

PAD, HEAD = 8, 22  # px between a frame and its cards: at the sides and below, and above
BORDER = 15  # px from the top of a card up to the border, on which the name stands
RIGHT_OF_WIRES = 58  # px from the left of the cards to the name
LONGEST = 50  # characters of a name

Wire = tuple[int, int, Sequence[Point]]  # from card to card, by points on it


class Rect(NamedTuple):
    """Hold a rectangle by its edges, px."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, rects: Sequence[Rect]) -> Rect:
        """Return the room that all of them take."""
        lefts, tops, rights, bottoms = zip(*rects, strict=True)
        return cls(min(lefts), min(tops), max(rights), max(bottoms))

    def meets(self, other: Rect) -> bool:
        is_beside = self.right <= other.left or other.right <= self.left
        return not is_beside and self.top < other.bottom and other.top < self.bottom

    def covers(self, point: Point) -> bool:
        x, y = point
        return self.left <= x <= self.right and self.top <= y <= self.bottom


Rects = Sequence[Rect]


@dataclass(frozen=True, slots=True)
class Outline:
    """Hold a frame with its place; the name stands from `start` on."""

    name: str
    rect: Rect
    start: float

    @property
    def named(self) -> Rect:
        """Return where the name interrupts the border."""
        high = self.rect.top + 2 * (HEAD - BORDER)
        return Rect(self.start, self.rect.top, self.start + name_width(self.name), high)


def outlines(
    frames: Sequence[Frame], framed: Sequence[frozenset[int]], rects: Rects, wires: Sequence[Wire]
) -> list[Outline]:
    """Return where frames, outer ones first, go round cards and lie across no other card."""
    around: dict[frozenset[int], Outline] = {}
    by_size = sorted(zip(frames, framed, strict=True), key=lambda pair: len(pair[1]))
    for frame, members in by_size:
        if not members:
            continue
        inner, others = [], [rect for card, rect in enumerate(rects) if card not in members]
        for cards, smaller in around.items():
            if cards <= members:
                inner.append(smaller.rect)
            else:
                others.append(smaller.rect)
        made = outline(frame.name, [rects[card] for card in members], inner, within(wires, members))
        if not any(map(made.rect.meets, others)):
            around[members] = replace(made, start=free_start(made, wires))
    return list(around.values())


def within(wires: Sequence[Wire], members: frozenset[int]) -> list[Point]:
    """Return the points of the wires that join two cards of a frame."""
    points_within: list[Point] = []
    for source, target, points in wires:
        if source in members and target in members:
            points_within += points
    return points_within


def outline(name: str, cards: Rects, inner: Rects, points: Sequence[Point]) -> Outline:
    """Return a frame around cards, the frames and the wires in it."""
    name = ending(name, LONGEST)
    room = Rect.around([*cards, *inner, *[Rect(x, y, x, y) for x, y in points]])
    start = Rect.around(cards).left + RIGHT_OF_WIRES
    right = max(start + name_width(name), room.right + PAD)
    return Outline(name, Rect(room.left - PAD, room.top - HEAD, right, room.bottom + PAD), start)


def free_start(outline: Outline, wires: Sequence[Wire]) -> float:
    """Return where on the border a name lies on no wire, if there is such a place."""
    rect, wide = outline.rect, name_width(outline.name)
    for start in (outline.start, rect.left + 2 * PAD, rect.right - wide - 2 * PAD):
        room = Rect(start, rect.top, start + wide, rect.top + HEAD)
        is_free = not any(any(map(room.covers, points)) for _, _, points in wires)
        if rect.left < start and room.right < rect.right and is_free:
            return start
    return outline.start


def name_width(name: str) -> int:
    """Return the px that a name interrupts the border for."""
    return width(name, SMALL, bold=True) + 10


def draw(pen: Pen, outline: Outline) -> None:
    """Draw a frame; its name interrupts the border."""
    rect, high = outline.rect, HEAD - BORDER
    size = rect.right - rect.left, rect.bottom - rect.top - high
    pen.rect("frame", rect.left, rect.top + high, *size, 10)
    pen.rect("ground", outline.start, rect.top, name_width(outline.name), 2 * high, 2)
    pen.write("framed", outline.start + 5, rect.top + high + 5, (outline.name, ""))


def extent(placed: Placed, around: Sequence[Outline]) -> Rect:
    """Return the rectangle around a layout and its frames."""
    rects = [outline.rect for outline in around]
    return Rect.around([Rect(0, 0, placed.width, placed.height), *rects])
