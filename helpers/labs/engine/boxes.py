"""Draw names and the tensors that they lead to, and what is told of no tensor alone.

A name has its place in all states of a lab, and so has the box of its tensor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from autograd_graphs.drawing.diagram import arrow
from autograd_graphs.drawing.display_list import Owner, Pen
from autograd_graphs.drawing.palette import SMALL, TITLE
from autograd_graphs.drawing.spine import line
from autograd_graphs.playing.film import Stack
from autograd_graphs.text import width
from helpers.labs.engine.state_map import Box, Row, State

# px: height of a tag, room for an arrow, beside the words of a box, between boxes
TAG, ARROW, SIDE, GAP = 24, 28, 12, 8
FIRST, LINE = 22, 18  # px: height of the line with the value, and of each further one
SLOT = 28  # px: height of the slot that says that there is no tensor
UNIT, STEP, WIDE = 14, 60, 50  # px: height of 1.0 in blocks, from column to column, of a block
COLUMNS_LOW = 18  # px under the ground line of blocks, and as much above them for the sum
BETWEEN = 14  # px between a label and its text
BESIDE = 26  # px between boxes with blocks


@dataclass(frozen=True, slots=True)
class Slot:
    """Hold the place of one name, px: its tag's upper left corner and width, then a box."""

    name: str
    x: int
    y: int
    tag: int
    left: int
    top: int
    wide: int
    high: int


class Boxes:
    """Measure the boxes of all states, so that each name has one place in all of them."""

    def __init__(self, states: Sequence[State]) -> None:
        self.states = states
        self.names = names_of(states)
        boxes, rows = [], []
        for state in states:
            boxes += state.boxes
            rows += state.facts
        self.is_flat = all(len(box.rows) <= 2 for box in boxes)
        self.own: dict[str, list[Box]] = defaultdict(list)
        self.blocks: dict[str, list[tuple[float, ...]]] = defaultdict(list)  # in all states
        for box in boxes:
            self.own[box.place].append(box)
            if box.totals is not None:
                self.blocks[box.place].append(box.totals)
        self.values = max([value_width(box) for box in boxes if len(box.rows) == 2], default=0)
        self.slots = self.placed()
        slots = self.slots.values()
        self.stacks = tuple([self.stack(slot) for slot in slots if slot.name in self.blocks])
        self.fact, size, self.line = "value", SMALL, LINE
        if not self.names:  # alone they are what one reads: larger
            self.fact, size, self.line = "start", TITLE, LINE + 3
        self.labels = label_width(rows)
        texts = max([width(row.text, size) for row in rows], default=0)
        facts = self.labels + BETWEEN + texts if rows else 0
        lines = max(len(state.facts) for state in states)
        self.width, self.low = facts, 0
        for slot in slots:
            self.width = max(self.width, slot.left + slot.wide)
            self.low = max(self.low, slot.top + slot.high)
        self.height = self.low + (GAP + self.line * lines if lines else 0)

    def placed(self) -> dict[str, Slot]:
        """Return the places of all names: plain ones below each other, those with blocks beside."""
        plain = [name for name in self.names if name not in self.blocks]
        left = max(map(tag_width, plain), default=0) + ARROW
        wide = max(map(self.wide, plain), default=0)
        x, y, slots = 0, 0, {}
        for name in plain:
            slots[name] = Slot(name, 0, y, tag_width(name), left, y, wide, self.high(name))
            y += self.high(name) + GAP
        for name in self.names:
            if name not in plain:
                tag, wide = tag_width(name), self.wide(name)
                middle = x + (wide - tag) // 2
                top = y + TAG + ARROW
                slots[name] = Slot(name, middle, y, tag, x, top, wide, self.high(name))
                x += wide + BESIDE
        return slots

    def wide(self, name: str) -> int:
        """Return the width of the box of a name, in all states."""
        columns = max(map(len, self.blocks.get(name, [])), default=0)
        return max([64, *map(self.box_width, self.own[name]), columns * STEP]) + 2 * SIDE

    def box_width(self, box: Box) -> int:
        """Return the width of the widest row of a box; a flat one has one row."""
        labels = label_width(box.rows[1:])
        texts = [labels + BETWEEN + width(row.text, SMALL) for row in box.rows[1:]]
        if self.is_flat:
            return sum([self.values + BETWEEN + text for text in texts]) or value_width(box)
        return max([value_width(box), *texts])

    def high(self, name: str) -> int:
        """Return the height of the box of a name, in all states."""
        lines, high = max([len(box.rows) for box in self.own[name]], default=0), SLOT
        if lines and self.is_flat:
            high = FIRST + SIDE - 4
        elif lines:
            high = FIRST + LINE * (lines - 1) + SIDE
        if name in self.blocks:
            high += round(max(map(max, self.blocks[name])) * UNIT) + 2 * COLUMNS_LOW
        return max(SLOT, high)

    def stack(self, slot: Slot) -> Stack:
        """Return the place of the blocks in the box of a name."""
        count = max(map(len, self.blocks[slot.name]))
        x = slot.left + (slot.wide - count * STEP) // 2 + (STEP - WIDE) // 2
        base = slot.top + slot.high - COLUMNS_LOW
        return Stack(slot.name, x, base, STEP, UNIT, WIDE)

    def draw(self, pen: Pen, state: State) -> None:
        """Draw one state: tags, arrows and boxes, then the facts."""
        for nr, slot in enumerate(self.slots.values()):
            box = state.box(slot.name)
            pen.owner = Owner("box", nr)
            self.tag(pen, slot, box, self.slots[box.place])
            pen.owner = None
        for box in state.boxes:
            pen.owner = Owner("box", self.names.index(box.place))
            self.box(pen, self.slots[box.place], box)
            pen.owner = None
        for nr, row in enumerate(state.facts):
            y = self.low + GAP + 13 + self.line * nr
            pen.owner = Owner("fact", nr)
            pen.write("row", 0, y, (row.label, ""))
            pen.write(self.fact, self.labels + BETWEEN, y, (row.text, ""))
            pen.owner = None

    def tag(self, pen: Pen, slot: Slot, box: Box, goal: Slot) -> None:
        """Draw the tag of a name, with an arrow to the box of its tensor, be it another name's."""
        look = "ghost" if box.why == "not bound" else ""
        pen.rect("tag", slot.x, slot.y + 2, slot.tag, TAG, 5, state=look)
        middle = slot.x + slot.tag // 2
        pen.write("tagged", middle, slot.y + 18, (slot.name, ""), state=look)
        if look:
            return
        if slot.top == slot.y:
            begin, end = (slot.x + slot.tag, slot.y + 14), (goal.left, slot.y + 14)
        else:
            aside = 0
            if goal is not slot:
                aside = 40 if goal.x < slot.x else -40
            begin, end = (middle, slot.y + TAG + 2), (goal.left + goal.wide // 2 + aside, goal.top)
        curve = line(begin, end)
        pen.path("edge", *curve)
        pen.polygon("arrow", *arrow(curve))

    def box(self, pen: Pen, slot: Slot, box: Box) -> None:
        """Draw the box of a tensor with its rows; a dashed slot where there is none."""
        if box.why:
            if box.why != "not bound":
                x = slot.left
                if slot.top != slot.y:
                    x += slot.wide // 2 - 32
                pen.rect("none", x, slot.top + 2, 64, SLOT - 4, 6)
                pen.write("word", x + 32, slot.top + SLOT // 2 + 5, (box.why, ""))
            return
        pen.rect("operation", slot.left, slot.top, slot.wide, slot.high, 8, part="body")
        x, y = slot.left + SIDE, slot.top + 22 - 2 * self.is_flat
        for row in box.rows[:1]:
            state = "wrong" if row.is_wrong else ""
            pen.write("start", x, y, (text_of(row), ""), state=state)
        if self.is_flat:
            x += self.values + BETWEEN
        labels = label_width(box.rows[1:])
        for row in box.rows[1:]:
            if not self.is_flat:
                y += LINE
            pen.write("row", x, y, (row.label, ""))
            pen.write("value", x + labels + BETWEEN, y, (row.text, ""))


def names_of(states: Sequence[State]) -> list[str]:
    """Return the names that a lab shows, in the order of its first state that tells them apart."""
    names: list[str] = []
    for box in max(states, key=lambda state: len(state.boxes)).boxes:
        names += box.names
    return list(dict.fromkeys(names))


def tag_width(name: str) -> int:
    return width(name, SMALL, bold=True) + 16


def label_width(rows: Sequence[Row]) -> int:
    return max([width(row.label, SMALL) for row in rows], default=0)


def value_width(box: Box) -> int:
    return max([width(text_of(row), TITLE, bold=row.is_wrong) for row in box.rows[:1]], default=0)


def text_of(row: Row) -> str:
    """Return what a row says after its label."""
    return row.text + "  ✗ wrong" * row.is_wrong
