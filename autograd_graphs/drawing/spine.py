"""Place the cards of a dense graph along a spine: operations straight down at the left, side
branches and leaves in their row at the right. Numbers in, numbers out; no Graphviz.

It reads better than `dot` wherever few branches go on side by side: a chain of layers, with their
parameters, with connections that skip layers, and with branches that meet again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from autograd_graphs.drawing.frames import HEAD, PAD
from autograd_graphs.drawing.layout import Boxes, Edges, Placed, Point, Rooms, ranks

TRUNK = 44  # px from the left where wires go down
APART = 20  # px between two cards of the spine
NEAR = 10  # px between two side branches
CLEAR = 5  # px between a frame and what is beside it
AROUND_WORD = 28  # px above and below a word on a wire of the spine, a tag among them
ACROSS = 34  # px between two columns
LANE = 18  # px between two lanes of connections that skip layers
ROUND = 16  # px: radius of a bend
WIDEST = 1_000


class Rule(NamedTuple):
    """Say what may stand beside the spine: branches how deep, with how many ways that lead on from
    each box; how many lanes there may be; and whether branches may follow each other on the spine.
    """

    depth: int
    breadth: int
    lanes: int
    has_branches: bool


STRAIGHT = (Rule(3, 50, 3, False),)
NARROW = (Rule(3, 50, 6, True), Rule(1, 50, 6, True), Rule(1, 1, 6, True))

Heads = Sequence[Sequence[int]]  # of each box those that its edges lead to


@dataclass(slots=True)
class Plan:
    """Hold where each box stands, by column and row, and how each edge goes.

    `lanes` are of edges that skip boxes of the spine, `straight` go from box to box of it. `room`
    is what frames take above a box of the spine, px: where one begins, or ended before.
    """

    spine: list[int]
    room: Counter[int] = field(default_factory=Counter)
    rows: dict[int, int] = field(default_factory=dict)
    columns: dict[int, int] = field(default_factory=dict)
    straight: set[int] = field(default_factory=set)
    lanes: dict[int, int] = field(default_factory=dict)


def spine(
    boxes: Boxes,
    edges: Edges,
    rooms: Rooms,
    overhangs: Sequence[int],
    leaves: Collection[int] = (),
    rules: Sequence[Rule] = STRAIGHT,
    frames: Sequence[Collection[int]] = (),
) -> Placed | None:
    """Lay out boxes of (width, height) px by the first rule that is narrow enough, or by that which
    comes nearest to it; None where the graph has no such spine.

    `rooms` are what is written on edges, `overhangs` the px that a tag sticks out of a box,
    `leaves` the boxes that stand aside, `frames` those around which a frame goes.
    """
    ways = Ways.from_edges(len(boxes), edges, leaves)
    placings: list[Placing] = []
    for rule in rules:
        plan = planned(ways, edges, rule, frames)
        if plan is not None:
            placings.append(Placing(plan, boxes, edges, rooms, overhangs))
            if placings[-1].width <= WIDEST:
                break
    if not placings:
        return None
    return min(placings, key=lambda placing: placing.width).placed()


@dataclass(frozen=True, slots=True)
class Ways:
    """Hold what leads where: the boxes below each, the levels below it, the longest way down."""

    below: Heads
    depth: Sequence[int]
    longest: Sequence[int]

    @classmethod
    def from_edges(cls, count: int, edges: Edges, leaves: Collection[int] = ()) -> Ways:
        below: list[list[int]] = [[] for _ in range(count)]
        for tail, head in edges:
            below[tail].append(head)
        depth = ranks(count, [(head, tail) for tail, head in edges])
        return cls(below, depth, longest_way(below, depth, leaves))


def planned(
    ways: Ways, edges: Edges, rule: Rule = STRAIGHT[0], frames: Sequence[Collection[int]] = ()
) -> Plan | None:
    """Find what stands on the spine, and a row for all else; None where it does not fit."""
    way, every = set(ways.longest), set(range(len(ways.below)))
    boxes = way | every - side_branches(ways.below, edges, ways.depth, rule)
    if boxes != way and not rule.has_branches:
        return None
    plan = Plan(in_order(ways.below, boxes))
    give_room(plan, frames)
    give_rows(plan, ways.below)
    return plan if give_lanes(plan, edges) <= rule.lanes else None


def side_branches(below: Heads, edges: Edges, depth: Sequence[int], rule: Rule) -> set[int]:
    """Return the boxes that may stand aside: small branches, nothing in them used twice."""
    uses = Counter(head for _, head in edges)
    aside: set[int] = set()
    for box in sorted(range(len(below)), key=lambda box: depth[box]):
        is_small = depth[box] <= rule.depth and len(below[box]) <= rule.breadth
        if uses[box] == 1 and is_small and aside.issuperset(below[box]):
            aside.add(box)
    return aside


def longest_way(below: Heads, depth: Sequence[int], leaves: Collection[int]) -> list[int]:
    """Return the longest way down over boxes that are no leaves, of equal ones the first.

    It does not end in one box over one leaf: a transposed weight stands aside, here as elsewhere.
    """
    way = [max(range(len(below)), key=lambda box: depth[box])]
    while True:
        further = [head for head in below[way[-1]] if depth[head] or head not in leaves]
        if not further:
            return way
        longest = max(further, key=lambda head: depth[head])
        is_single_leaf = depth[longest] == 1 and len(below[longest]) == 1
        if is_single_leaf and len(below[way[-1]]) > 1:
            return way
        way.append(longest)


def in_order(below: Heads, boxes: Collection[int]) -> list[int]:
    """Return boxes so that each stands above those below it, and a branch stays together."""
    upward: list[int] = []
    met: set[int] = set()
    used = set().union(*[below[box] for box in boxes])
    waiting = [(box, False) for box in sorted(boxes) if box not in used]
    while waiting:
        box, is_done = waiting.pop()
        if is_done:
            upward.append(box)
        elif box not in met:
            met.add(box)
            waiting.append((box, True))
            waiting += [(head, False) for head in reversed(below[box]) if head in boxes]
    return upward[::-1]


def give_room(plan: Plan, frames: Sequence[Collection[int]]) -> None:
    """Reserve room for the upper and the lower border of each frame."""
    for members in frames:
        places = [nr for nr, box in enumerate(plan.spine) if box in members]
        if not places:
            continue
        plan.room[plan.spine[places[0]]] += HEAD
        if places[-1] + 1 < len(plan.spine):
            plan.room[plan.spine[places[-1] + 1]] += PAD


def give_rows(plan: Plan, below: Heads) -> None:
    """Give each box a row and a column; a side branch begins in the row of its operation."""
    on_it = set(plan.spine)
    row = free = 0
    for box in plan.spine:
        branches = [head for head in below[box] if head not in on_it]
        if branches or box in plan.room:
            row = max(row, free)
        plan.rows[box], plan.columns[box] = row, 0
        free = max(free, row)
        for branch in branches:
            free = grow(plan, branch, 1, free, below)
        row += 1


def grow(plan: Plan, box: int, column: int, row: int, below: Heads) -> int:
    """Place a side branch from a row on; returns the next free row."""
    plan.rows[box], plan.columns[box] = row, column
    free = row
    for head in below[box]:
        free = grow(plan, head, column + 1, free, below)
    return max(free, row + 1)


def give_lanes(plan: Plan, edges: Edges) -> int:
    """Give each edge that skips boxes of the spine a lane at the left; returns their count."""
    place = {box: nr for nr, box in enumerate(plan.spine)}
    taken: set[int] = set()
    ends: list[int] = []
    skips = []
    for nr, (tail, head) in enumerate(edges):
        if head not in place:
            continue
        if place[head] == place[tail] + 1 and tail not in taken:
            taken.add(tail)
            plan.straight.add(nr)
        else:
            skips.append((place[tail], -place[head], nr))
    for start, end, nr in sorted(skips):
        free = [lane for lane, last in enumerate(ends) if last <= start]
        lane = min(free, default=len(ends))
        if lane == len(ends):
            ends.append(0)
        ends[lane] = -end
        plan.lanes[nr] = lane
    return len(ends)


class Placing:
    """Turn a plan into px."""

    def __init__(
        self, plan: Plan, boxes: Boxes, edges: Edges, rooms: Rooms, overhangs: Sequence[int]
    ) -> None:
        self.plan, self.boxes, self.edges, self.rooms = plan, boxes, edges, rooms
        self.overhangs = overhangs
        self.lane = max([LANE - 6, *map(self.word, plan.lanes)]) + 6
        inlet = min(TRUNK, *[boxes[box][0] // 2 for box in plan.spine])
        widest = max([0, *map(self.word, plan.straight)])
        self.left = max(0, (widest + 1) // 2 - inlet)
        self.first = self.left + max(ROUND, self.lane // 2 + 4)
        if plan.lanes:
            self.left = self.first + self.lane * max(plan.lanes.values()) + self.lane // 2
        self.trunk = self.left + inlet
        self.x = self.across()
        self.y = self.down()
        self.width = max(map(self.right, range(len(boxes))))
        self.in_column: dict[int, list[tuple[int, int]]] = {}
        for box, row in sorted(plan.rows.items(), key=lambda item: item[1]):
            self.in_column.setdefault(plan.columns[box], []).append((row, box))

    def across(self) -> list[float]:
        """Return the middle of each box: columns begin at the left, leaves stand in the last."""
        columns = self.columns()
        wide = [0] * (max(columns) + 1)
        for nr in self.plan.straight:
            wide[0] = max(wide[0], self.trunk - self.left + self.word(nr) // 2)
        for box, column in enumerate(columns):
            wide[column] = max(wide[column], self.boxes[box][0] + self.overhangs[box])
        gap = ACROSS
        for nr, (tail, head) in enumerate(self.edges):
            if columns[tail] != columns[head]:
                gap = max(gap, self.word(nr) + 30)
        starts = [self.left]
        for column in wide:
            starts.append(starts[-1] + column + gap)
        return [starts[columns[box]] + self.boxes[box][0] / 2 for box in range(len(columns))]

    def columns(self) -> list[int]:
        """Return the column of each box: what nothing follows stands in the last."""
        last = max(self.plan.columns.values())
        tails = {tail for tail, _ in self.edges}
        columns = [last] * len(self.boxes)
        for box, column in self.plan.columns.items():
            if column == 0 or box in tails:
                columns[box] = column
        return columns

    def down(self) -> list[float]:
        """Return the height of each box: rows as near as their cards and words allow."""
        rows: list[list[int]] = [[] for _ in range(max(self.plan.rows.values()) + 1)]
        for box, row in self.plan.rows.items():
            rows[row].append(box)
        apart = APART
        for nr in self.plan.straight:
            if nr in self.rooms:
                apart = max(apart, self.rooms[nr][1] + AROUND_WORD)
        bottom = {True: -float(apart), False: -float(NEAR)}
        middles = [0.0] * len(self.boxes)
        for members in rows:
            middle = 0.0
            for box in members:
                on_it = self.plan.columns[box] == 0
                if box in self.plan.room:
                    spare = 0 if self.overhangs[box] else APART - 2 * CLEAR  # a gap is there anyway
                    framing = max(self.plan.room[box] - spare, 0)
                    bottom = dict.fromkeys(bottom, max(bottom.values()) + framing)
                gap = apart if on_it else self.gap(box)
                middle = max(middle, bottom[on_it] + gap + self.boxes[box][1] / 2)
            for box in members:
                middles[box] = middle
                on_it = self.plan.columns[box] == 0
                bottom[on_it] = max(bottom[on_it], middle + self.boxes[box][1] / 2)
        return middles

    def gap(self, box: int) -> int:
        """Return the px above a box beside the spine: its tag stands there."""
        return APART if self.overhangs[box] else NEAR

    def placed(self) -> Placed:
        curves, labels = [], {}
        for nr in range(len(self.edges)):
            curve, label = self.way(nr)
            curves.append(curve)
            if nr in self.rooms:
                labels[nr] = label
        high = max(map(self.bottom, range(len(self.boxes))))
        centres = tuple(zip(self.x, self.y, strict=True))
        return Placed(self.width, high, centres, tuple(curves), labels)

    def way(self, nr: int) -> tuple[tuple[Point, ...], Point]:
        """Return the curve of an edge, and where its words stand."""
        tail, head = self.edges[nr]
        if nr in self.plan.straight:
            top, bottom = self.bottom(tail), self.top(head)
            return line((self.trunk, top), (self.trunk, bottom)), (self.trunk, (top + bottom) / 2)
        if nr in self.plan.lanes:
            return self.around(nr, tail, head)
        start = self.right(tail), self.y[tail]
        end = self.x[head] - self.boxes[head][0] / 2, self.y[head]
        if self.plan.rows[tail] == self.plan.rows[head]:
            middle = end[0] - self.word(nr) / 2 - 15
            return line(start, end), (middle, end[1])
        return self.bent(nr, tail, end)

    def bent(self, nr: int, tail: int, end: Point) -> tuple[tuple[Point, ...], Point]:
        """Go down beside the cards of the spine, and then to the right into a row below."""
        first, last = self.plan.rows[tail], self.plan.rows[self.edges[nr][1]]
        between = self.between(self.plan.columns[tail], first, last)
        beside = [self.right(box) + self.overhangs[box] for box in between]
        stem, low = self.right(tail) - 20, self.bottom(tail)
        start: list[Point] = [(stem, low)]
        if beside and max(beside) + 8 > stem:
            stem = max(self.right(tail), *beside) + 12
            low = self.y[tail] + 8
            start = [*line((self.right(tail), low), (stem - 6, low))]
            start += [(stem, low), (stem, low), (stem, low + 6)]
            low += 6
        turn = end[1] - ROUND / 2
        bend = (stem, end[1]), (stem, end[1]), (stem + ROUND / 2, end[1])
        curve = (*start, *line((stem, low), (stem, turn))[1:], *bend, *line(bend[-1], end)[1:])
        return curve, (end[0] - self.word(nr) / 2 - 15, end[1])

    def between(self, column: int, first: int, last: int) -> list[int]:
        """Return the boxes of a column that stand below one row, down to another."""
        rows = self.in_column[column]
        start = bisect_left(rows, (first + 1, -1))
        return [box for _, box in rows[start : bisect_left(rows, (last + 1, -1))]]

    def around(self, nr: int, tail: int, head: int) -> tuple[tuple[Point, ...], Point]:
        """Go round at the left of the spine."""
        x = self.left - self.first - self.lane * self.plan.lanes[nr]
        start, end = (self.left, self.y[tail] + 6), (self.left, self.y[head] - 6)
        first = start, (x, start[1]), (x, start[1]), (x, start[1] + ROUND)
        straight = line(first[-1], (x, end[1] - ROUND))[1:]
        curve = (*first, *straight, (x, end[1]), (x, end[1]), end)
        return curve, (x, (start[1] + end[1]) / 2)

    def word(self, nr: int) -> int:
        return self.rooms.get(nr, (0, 0))[0]

    def right(self, box: int) -> float:
        return self.x[box] + self.boxes[box][0] / 2

    def top(self, box: int) -> float:
        return self.y[box] - self.boxes[box][1] / 2

    def bottom(self, box: int) -> float:
        return self.y[box] + self.boxes[box][1] / 2


def line(start: Point, end: Point) -> tuple[Point, ...]:
    """Return a straight line as a Bézier piece."""
    (x, y), (to_x, to_y) = start, end
    thirds = []
    for part in (1 / 3, 2 / 3):
        thirds.append((x + (to_x - x) * part, y + (to_y - y) * part))
    return (start, *thirds, end)
