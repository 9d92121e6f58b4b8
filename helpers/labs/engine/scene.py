"""Draw the states of a lab, all in one size: names and tensors, and the graph beside or below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from autograd_graphs.drawing.cards import LEGEND, Card, legend
from autograd_graphs.drawing.diagram import Word, draw_caption, draw_graph
from autograd_graphs.drawing.display_list import Drawing, Mark, Owner, Pen
from autograd_graphs.playing.film import Stack
from helpers.labs.engine.boxes import Boxes
from helpers.labs.engine.pose import Overlay, Pose, poses
from helpers.labs.engine.state_map import State

EDGE, GAP = 10, 24  # px: around everything, between boxes and graph
PANE = 470, 440  # px: the room that a player has for a picture in a narrow notebook
WIDEST = 1.3  # by which a lying picture may have to shrink to fit it
GHOST = "not in the graph"
BLOCKS = (("block", "", "one gradient"), ("block", "now", "added just now"))
SIGNS = {"operation": ("operation", ""), "leaf": ("leaf", ""), "none": ("none", "")}


@dataclass(frozen=True, slots=True)
class Sheet:
    """Hold what all drawings of a lab have in common, px: size, and where the graph begins.

    `aside` is how far a graph that is under the boxes moves to be beside them: to the right, and up.
    """

    wide: int
    high: int
    graph_x: int
    graph_y: int
    graph_wide: int
    above: int = 0
    aside: tuple[int, int] = (0, 0)


class Drawn(NamedTuple):
    """Hold all drawings, places of blocks, the legend, and how far a graph moves on a slide."""

    drawings: list[Drawing]
    stacks: tuple[Stack, ...]
    legend: tuple[tuple[str, str, str], ...]
    aside: tuple[int, int] = (0, 0)


def scenes(states: Sequence[State], alt: str) -> Drawn:
    """Return one drawing per state, all of one size. Graphs lie on their side where there is room for
    that, in one row: two are read less easily than an upright one.
    """
    boxes = Boxes(states)
    sheet, posed = fitting(boxes, is_lying=True)
    if overflow((sheet.wide, sheet.high)) > WIDEST:
        sheet, posed = fitting(boxes, is_lying=False)
    drawn, stacks = [], []
    for state, pose in zip(states, posed, strict=True):
        drawn.append(draw(sheet, boxes, state, pose, alt))
    for stack in boxes.stacks:
        stacks.append(replace(stack, x=stack.x + EDGE, base=stack.base + EDGE))
    entries = legend_of(states, posed)
    if stacks:
        entries += BLOCKS
    return Drawn(drawn, tuple(stacks), entries, sheet.aside)


def fitting(boxes: Boxes, is_lying: bool) -> tuple[Sheet, list[Pose]]:
    """Return the poses that fit the pane best; of those that fit about as well, those with full cards."""
    found = []
    for is_dense in (False, True):
        posed = poses(boxes.states, is_dense, is_lying)
        wide, high = max(pose.width for pose in posed), max(pose.height for pose in posed)
        sheet = replace(arranged(boxes, wide, high), above=max(pose.above for pose in posed))
        found.append((sheet, posed))
    return min(found, key=lambda pair: round(overflow((pair[0].wide, pair[0].high)), 1))


def arranged(boxes: Boxes, wide: int, high: int) -> Sheet:
    """Put the graph beside the boxes, or under them: as it fits the pane best."""
    gap = GAP if wide and boxes.width else 0
    beside = boxes.width + gap + wide, max(boxes.height, high)
    below = max(boxes.width, wide), boxes.height + gap + high
    across, down = min(beside, below, key=overflow)
    if (across, down) == beside:
        return Sheet(across + 2 * EDGE, down + 2 * EDGE, boxes.width + gap, 0, wide)
    low = boxes.height + gap
    aside = boxes.width + gap - (across - wide) // 2, low
    return Sheet(across + 2 * EDGE, down + 2 * EDGE, 0, low, across, aside=aside)


def overflow(size: tuple[int, int]) -> float:
    """Return by how much a picture has to shrink to fit the pane."""
    return max(size[0] / PANE[0], size[1] / PANE[1])


def draw(sheet: Sheet, boxes: Boxes, state: State, pose: Pose, alt: str) -> Drawing:
    pen = Pen(EDGE, EDGE)
    boxes.draw(pen, state)
    pen.dx = EDGE + sheet.graph_x
    pen.dy = EDGE + sheet.graph_y + sheet.above
    if pose.caption:
        pen.dy += 16
        draw_caption(pen, list(pose.caption))
    pen.dx += (sheet.graph_wide - round(pose.placed.width)) // 2
    draw_pose(pen, pose, state)
    return Drawing(sheet.wide, sheet.high, tuple(pen.marks), str(state.graph), alt)


def draw_pose(pen: Pen, pose: Pose, state: State) -> None:
    """Draw the graph, and say of every mark whether it is a ghost or has the focus."""
    before = len(pen.marks)
    words, own = [], dict(state.words)
    for wire in pose.cards.wires:
        source = pose.cards.cards[wire.source].node
        # A card that is there has an entry for this edge, which holds None.
        is_none = wire.edge in pose.shown.edges and source not in pose.shown.nodes
        words.append(Word("None" if is_none else own.get(wire.edge) or wire.word))
    draw_graph(pen, pose.cards, pose.placed, words, pose.is_lying)
    pen.marks[before:] = [dressed(mark, pose.shown, state.focus) for mark in pen.marks[before:]]


def dressed(mark: Mark, shown: Overlay, focus: int | None) -> Mark:
    """Return a mark of the graph in its state: a ghost if what it belongs to is not in the graph."""
    if mark.owner is None:
        return mark
    gone = shown.nodes if mark.owner.kind == "node" else shown.edges
    if mark.owner.number in gone and mark.role not in ("ground", "word"):
        return replace(mark, state="ghost", runs=tuple((text, "") for text, _ in mark.runs))
    if mark.owner == Owner("node", focus) and mark.part == "body":
        return replace(mark, state="now")
    return mark


def legend_of(states: Sequence[State], posed: Sequence[Pose]) -> tuple[tuple[str, str, str], ...]:
    """Return (role, state, words) of what occurs in the graphs of a lab."""
    entries = []
    cards: list[Card] = []
    for pose in posed:
        cards += pose.cards.cards
    for key in legend(cards):
        if key in ("held", "freed"):
            entries.append(("saved", key, LEGEND[key]))
        elif key in SIGNS:
            entries.append((*SIGNS[key], LEGEND[key]))
    if any(state.ghost for state in states):
        entries.append(("operation", "ghost", GHOST))
    return tuple(entries)
