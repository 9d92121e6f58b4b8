"""Draw one card, and the legend that explains the cards: shape and word tell the state, never colour alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from helpers.cards import OVERHANG, PILE, SMALL, Card, row_text, split_leaf, split_title
from helpers.devices import Device
from helpers.graph import SavedTensor
from helpers.marks import Pen
from helpers.text import width

LEGEND = {
    "operation": "backward function",
    "folded": "folded part of the graph",
    "leaf": "leaf (AccumulateGrad)",
    "tag": "tensor it made",
    "held": "saved",
    "freed": "freed",
    "modified": "modified since",
    "packed": "packed by a hook",
    "edited": "view of an edited tensor",
    "busy": "in use by a backward",
    "none": "(None, 0): no gradient wanted",
    "cut": "left out",
}
STATES = ("held", "freed", "modified", "packed", "edited", "busy")


def draw_card(pen: Pen, one: Card, x: float, y: float) -> None:
    """Draw one card around its centre."""
    of = f"node {one.node}" if one.node is not None else ""
    if one.kind == "folded":
        x, y = x - PILE, y - PILE
    left, top = x - one.width / 2, y - one.height / 2
    draw_box(pen, one, left, top, of)
    if one.device:
        inset, tall = (14, 24) if one.kind == "leaf" else (7, one.height - 12)
        draw_bars(pen, one.device, left + inset, y - tall // 2, tall, of)
        x, left = x + one.device.room // 2, left + one.device.room
    if one.kind == "leaf":
        stem, rest = split_leaf(one.title)
        pen.write("middle", x, top + 20, (stem, "name"), (rest, ""), of=of)
        for nr, row in enumerate(one.rows):
            pen.write("middle", x, top + 37 + 17 * nr, (str(row), "grad"), of=of)
        return
    if one.kind not in ("operation", "folded"):
        pen.write("middle", x, top + 15, (one.title, "faint"))
        return
    stem, rest = split_title(one.title, one.kind)
    pen.write("start", left + 12, top + 22, (stem, "name"), (rest, "faint"), of=of)
    for nr, row in enumerate(one.rows):
        draw_row(pen, row, left + 12, top + 42 + 16 * nr, of)
    if one.tag:
        left -= one.device.room if one.device else 0
        wide = width(one.tag, SMALL) + 14
        pen.put("rect", "tag", left + one.width + OVERHANG - wide, top + 7, wide, 20, 4, of=of)
        pen.write("tagged", left + one.width + OVERHANG - wide / 2, top + 21, (one.tag, ""), of=of)


def draw_box(pen: Pen, one: Card, left: float, top: float, of: str) -> None:
    """Draw the outline of a card; a folded part lies on a pile."""
    if one.kind != "folded":
        radius = 7 if one.kind == "operation" else min(one.height // 2, 24)
        pen.put("rect", one.kind, left, top, one.width, one.height, radius, of=of)
        return
    for under in (2, 1, 0):
        pen.put("rect", "operation", left + PILE * under, top + PILE * under, one.width, one.height, 7, of=of)


def draw_row(pen: Pen, row: SavedTensor | str, left: float, baseline: float, of: str) -> None:
    """Draw a line of a card: a shape, or a saved tensor with the mark of its state."""
    if isinstance(row, str):
        pen.write("row", left, baseline, (row_text(row), "grad" if row.startswith(".grad") else ""), of=of)
        return
    draw_mark(pen, row.state, left + 6, baseline - 4, of)
    pen.write("row", left + 16, baseline, (row_text(row), ""), of=of, state=row.state)


def draw_mark(pen: Pen, state: str, x: float, y: float, of: str = "") -> None:
    """Draw the sign of a saved tensor: its shape tells the state, not its colour alone."""
    if state == "modified":
        pen.put("polygon", "saved", x, y - 5, x - 5, y + 4, x + 5, y + 4, of=of, state=state)
    elif state in ("packed", "edited"):
        pen.put("polygon", "saved", x, y - 5, x + 5, y, x, y + 5, x - 5, y, of=of, state=state)
    else:
        pen.put("circle", "saved", x, y, 4, of=of, state=state)


def draw_bars(pen: Pen, device: Device, left: float, top: float, tall: float, of: str = "") -> None:
    """Draw the sign of a device: it is the number of bars that tells it, not their colour alone."""
    for nr in range(device.bars):
        pen.put("rect", "bar", left + 6 * nr, top, 4, tall, 1, of=of, state=device.look)


def legend(cards: tuple[Card, ...], also: Sequence[str] = ()) -> list[str | Device]:
    """Return the keys of what occurs in a picture, in the order of the legend; `also` adds to them, devices follow."""
    seen = set(also) | {one.kind for one in cards} | {"tag" for one in cards if one.tag}
    seen |= {row.state for one in cards for row in one.rows if isinstance(row, SavedTensor)}
    places = {one.device.name: one.device for one in cards if one.device}
    return [*(key for key in LEGEND if key in seen), *(places[name] for name in sorted(places))]


def said(key: str | Device) -> str:
    """Return the words of an entry of the legend."""
    return LEGEND[key] if isinstance(key, str) else key.words


def entry_width(key: str | Device) -> int:
    return width(said(key), SMALL) + 46


def draw_legend(pen: Pen, keys: list[str | Device], wide: int) -> int:
    """Draw the legend in as many rows as fit `wide` px; returns its height in px."""
    bottom = 0
    for key, x, y in _flow(keys, wide):
        if isinstance(key, Device):
            draw_bars(pen, key, x + 14 - 3 * key.bars, y + 1, 14)
        elif key in STATES:
            draw_mark(pen, key, x + 13, y + 8)
        elif key == "folded":
            for under in (2, 1, 0):
                pen.put("rect", "operation", x + 2 + 2 * under, y + 2 * under, 18, 11, 3)
        else:
            pen.put("rect", key, x + 2, y + 1, 22, 14, 4 if key == "tag" else 3 if key == "operation" else 7)
        pen.write("row", x + 30, y + 12, (said(key), ""))
        bottom = y + 20
    return bottom


def _flow(keys: list[str | Device], wide: int) -> Iterator[tuple[str | Device, int, int]]:
    x = y = 0
    for key in keys:
        if x and x + entry_width(key) > wide:
            x, y = 0, y + 22
        yield key, x, y
        x += entry_width(key)
