"""Place the cards of a dense graph along a spine: operations straight down at the left, side
branches and leaves in their row at the right. Numbers in, numbers out; no Graphviz.

It reads better than `dot` wherever side branches never come back: a chain of layers, with their
parameters, and with connections that skip layers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from helpers.drawing.layout import Placed, Point

TRUNK = 44  # px from the left where wires go down
APART = 20  # px between two cards of the spine
NEAR = 10  # px between two side branches
ACROSS = 34  # px between two columns
LANE = 18  # px between two lanes of connections that skip layers
ROUND = 16  # px: radius of a bend
MOST_LANES, MOST_COLUMNS, WIDEST = 3, 4, 1_000

Boxes = Sequence[tuple[int, int]]
Edges = Sequence[tuple[int, int]]
Rooms = Mapping[int, tuple[int, int]]


@dataclass(slots=True)
class Plan:
    """Hold where each box stands, by column and row, and how each edge goes.

    `lanes` are of edges that skip boxes of the spine, `straight` go from box to box of it.
    """

    spine: list[int]
    rows: dict[int, int] = field(default_factory=dict)
    columns: dict[int, int] = field(default_factory=dict)
    straight: set[int] = field(default_factory=set)
    lanes: dict[int, int] = field(default_factory=dict)


def spine(boxes: Boxes, edges: Edges, rooms: Rooms, overhangs: Sequence[int]) -> Placed | None:
    """Lay out boxes of (width, height) px; None where the graph has no spine, or would be too wide.

    `rooms` are what is written on edges, `overhangs` the px that a tag sticks out of a box.
    """
    plan = planned(len(boxes), edges)
    if plan is None:
        return None
    placed = Placing(plan, boxes, edges, rooms, overhangs).placed()
    return placed if placed.width <= WIDEST else None


def planned(count: int, edges: Edges) -> Plan | None:
    """Find the spine, the longest way down, and a row for all else; None where it does not fit."""
    below: list[list[int]] = [[] for _ in range(count)]
    for nr, (tail, _) in enumerate(edges):
        below[tail].append(nr)
    uses = Counter(head for _, head in edges)
    tops = [box for box in range(count) if not uses[box]]
    if len(tops) != 1:
        return None
    plan = Plan(longest_way(tops[0], below, edges))
    if not is_tree_beside(plan.spine, edges, uses):
        return None
    if not give_rows(plan, below, edges) or not give_lanes(plan, edges):
        return None
    return plan


def longest_way(top: int, below: list[list[int]], edges: Edges) -> list[int]:
    """Return the longest way down over boxes that something follows, of equal ones the first.

    It does not end in one box over one leaf: a transposed weight stands aside, here as elsewhere.
    """
    order = TopologicalSorter({box: [edges[nr][1] for nr in out] for box, out in enumerate(below)})
    depth = [0] * len(below)
    for box in order.static_order():
        for nr in below[box]:
            depth[box] = max(depth[box], depth[edges[nr][1]] + 1)
    way = [top]
    while depth[way[-1]] > 1:
        heads = [edges[nr][1] for nr in below[way[-1]]]
        longest = max(heads, key=lambda head: depth[head])
        is_twig = depth[longest] == 1 and len(below[longest]) == 1
        if is_twig and len(heads) > 1:
            break
        way.append(longest)
    return way


def is_tree_beside(way: list[int], edges: Edges, uses: Counter[int]) -> bool:
    """Say whether nothing beside the spine is used twice, or leads back to it."""
    on_it = set(way)
    for tail, head in edges:
        if head not in on_it and uses[head] > 1:
            return False
        if head in on_it and tail not in on_it:
            return False
    return True


def give_rows(plan: Plan, below: list[list[int]], edges: Edges) -> bool:
    """Give each box a row and a column: of side branches the first in the row of its operation,
    each further one in a row of its own. False where one is too long.
    """
    on_it = set(plan.spine)
    row = free = 0
    for box in plan.spine:
        heads = [edges[nr][1] for nr in below[box]]
        twigs = [head for head in heads if head not in on_it]
        row = max(row, free) if twigs else row
        plan.rows[box], plan.columns[box] = row, 0
        free = max(free, row)
        for twig in twigs:
            reached = grow(plan, twig, 1, free, below, edges)
            if not reached:
                return False
            free = reached
        row += 1
    return True


def grow(plan: Plan, box: int, column: int, row: int, below: list[list[int]], edges: Edges) -> int:
    """Place a side branch from a row on; returns the next free row, 0 where it is too long."""
    if column > MOST_COLUMNS:
        return 0
    plan.rows[box], plan.columns[box] = row, column
    free = row
    for nr in below[box]:
        free = grow(plan, edges[nr][1], column + 1, free, below, edges)
        if not free:
            return 0
    return max(free, row + 1)


def give_lanes(plan: Plan, edges: Edges) -> bool:
    """Give each edge that skips boxes of the spine a lane at the left, unless they are many."""
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
        lane = free[0] if free else len(ends)
        if lane == len(ends):
            ends.append(0)
        ends[lane] = -end
        plan.lanes[nr] = lane
    return len(ends) <= MOST_LANES


class Placing:
    """Turn a plan into px."""

    def __init__(
        self, plan: Plan, boxes: Boxes, edges: Edges, rooms: Rooms, overhangs: Sequence[int]
    ) -> None:
        self.plan, self.boxes, self.edges, self.rooms = plan, boxes, edges, rooms
        self.lane = max([LANE, *[self.word(nr) + 6 for nr in plan.lanes]])
        inlet = min(TRUNK, *[boxes[box][0] // 2 for box in plan.spine])
        widest = max([0, *[self.word(nr) for nr in plan.straight]])
        self.left = max(0, (widest + 1) // 2 - inlet)
        self.first = self.left + max(ROUND, self.lane // 2 + 4)
        if plan.lanes:
            self.left = self.first + self.lane * max(plan.lanes.values()) + self.lane // 2
        self.trunk = self.left + inlet
        self.x = self.across(overhangs)
        self.y = self.down()

    def across(self, overhangs: Sequence[int]) -> list[float]:
        """Return the middle of each box: columns begin at the left, leaves stand in the last."""
        columns = self.columns()
        wide = [0] * (max(columns) + 1)
        for box, column in enumerate(columns):
            wide[column] = max(wide[column], self.boxes[box][0] + overhangs[box])
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
        found = [last] * len(self.boxes)
        for box, column in self.plan.columns.items():
            if column == 0 or box in tails:
                found[box] = column
        return found

    def down(self) -> list[float]:
        """Return the height of each box: rows as near as their cards and words allow."""
        rows: list[list[int]] = [[] for _ in range(max(self.plan.rows.values()) + 1)]
        for box, row in self.plan.rows.items():
            rows[row].append(box)
        apart = APART
        for nr in self.plan.straight:
            apart = max(apart, self.rooms.get(nr, (0, 0))[1] + 26 * (nr in self.rooms))
        bottom = {True: -float(apart), False: -float(NEAR)}
        middles = [0.0] * len(self.boxes)
        for members in rows:
            middle = 0.0
            for box in members:
                on_it = self.plan.columns[box] == 0
                gap = apart if on_it else NEAR
                middle = max(middle, bottom[on_it] + gap + self.boxes[box][1] / 2)
            for box in members:
                middles[box] = middle
                on_it = self.plan.columns[box] == 0
                bottom[on_it] = max(bottom[on_it], middle + self.boxes[box][1] / 2)
        return middles

    def placed(self) -> Placed:
        """Return all places, and the size of all."""
        ways = [self.way(nr) for nr in range(len(self.edges))]
        wide = max(self.x[nr] + box[0] / 2 for nr, box in enumerate(self.boxes))
        high = max(self.y[nr] + box[1] / 2 for nr, box in enumerate(self.boxes))
        curves = tuple(curve for curve, _ in ways)
        labels = {nr: ways[nr][1] for nr in self.rooms}
        return Placed(wide, high, tuple(zip(self.x, self.y, strict=True)), curves, labels)

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
        first, last = self.plan.rows[tail], round(self.plan.rows[self.edges[nr][1]])
        column = self.plan.columns[tail]
        beside = [self.right(box) for box in self.between(column, first, last)]
        stem, low = self.right(tail) - 20, self.bottom(tail)
        start: list[Point] = [(stem, low)]
        if beside and max(beside) + 8 > stem:
            stem = max(self.right(tail), *beside) + 12
            low = self.y[tail] + 8
            start = [*line((self.right(tail), low), (stem - 6, low))]
            start += [(stem, low), (stem, low), (stem, low + 6)]
            low += 6
        turn = end[1] - ROUND / 2
        curve = [*start, *line((stem, low), (stem, turn))[1:]]
        curve += [(stem, end[1]), (stem, end[1]), (stem + ROUND / 2, end[1])]
        curve += line((stem + ROUND / 2, end[1]), end)[1:]
        return tuple(curve), (end[0] - self.word(nr) / 2 - 15, end[1])

    def between(self, column: int, first: int, last: int) -> list[int]:
        """Return the boxes of a column that stand below one row, down to another."""
        found = []
        for box, row in self.plan.rows.items():
            if self.plan.columns[box] == column and first < row <= last:
                found.append(box)
        return found

    def around(self, nr: int, tail: int, head: int) -> tuple[tuple[Point, ...], Point]:
        """Go round at the left of the spine."""
        x = self.left - self.first - self.lane * self.plan.lanes[nr]
        start, end = (self.left, self.y[tail] + 6), (self.left, self.y[head] - 6)
        curve = [start, (x, start[1]), (x, start[1]), (x, start[1] + ROUND)]
        curve += line((x, start[1] + ROUND), (x, end[1] - ROUND))[1:]
        curve += [(x, end[1]), (x, end[1]), end]
        return tuple(curve), (x, (start[1] + end[1]) / 2)

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
