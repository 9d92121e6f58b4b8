"""Draw for a slide what no graph shows: lanes over a program's lines, and printed numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

WIDE, HIGH, HEAD, TALLEST = 1136, 470, 60, 120  # px of a slide
LOW = 350  # px that a row of options leaves
LEFT, TOP, ENDS = 90, 30, 320  # of a chart
SPAN = re.compile(r"(\d+)(?:-(\d+))? (!?)(.+)")  # "2-4 !at version 2": columns, alarm, words
NUMBERS = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")


def lanes(rows: Sequence[str], most: int = HIGH) -> str:
    """Return a drawing of lanes over the lines of a program; "" where rows are not written so.

    The first row has the lines, "| a = x * 2 | a += 1"; each other one a name and its boxes,
    "a | 1 version 0 | 2-3 !version 1". It is `most` px high at most.
    """
    head, *others = [re.split(r"\s*\|\s*", row.strip()) for row in rows]
    left = max([14 * len(name) + 24 for name, *_ in others], default=0)
    wide = (WIDE - left) / max(1, len(head) - 1)
    size = "" if max(map(len, head)) * 13 + 8 < wide else " small"
    apart = min(190, (most - HEAD) // max(1, len(others)))
    high = min(TALLEST, apart - 26)
    marks = []
    for place, words in enumerate(head[1:]):
        marks.append(text(left + wide * (place + 0.5), 32, words, f"head{size}"))
    for nr, (name, *boxes) in enumerate(others):
        middle = HEAD + apart * (nr + 0.5)
        marks.append(text(0, middle + 9, name, "name"))
        marks.append(f'<path class="lane" d="M{left} {middle:g}H{WIDE}"/>')
        spans = filter(None, map(SPAN.fullmatch, boxes))
        marks += [box(span, left, wide, middle, high) for span in spans]
    return framed("lanes", marks, HEAD + apart * len(others), rows)


def box(span: re.Match, left: float, wide: float, middle: float, high: float) -> str:
    """Return a box over some columns, with its words as large as they fit."""
    first, last = int(span[1]), int(span[2] or span[1])
    start, across = left + wide * (first - 1) + 4, wide * (last - first + 1) - 8
    kind = "box alarm" if span[3] else "box"
    place = f'x="{start:g}" y="{middle - high / 2:g}" width="{across:g}" height="{high:g}"'
    size, below = "", 10
    if len(span[4]) * 16 + 16 >= across:
        size, below = " small", 7
    words = text(start + across / 2, middle + below, span[4], kind + size)
    return f'<rect class="{kind}" {place} rx="10"/>{words}'


def chart(printed: str, names: Sequence[str]) -> str:
    """Return curves of the numbers in the columns that a program printed; "" for fewer than 3 rows."""
    lines = map(NUMBERS.findall, printed.split("\n"))
    rows = [list(map(float, numbers)) for numbers in lines if len(numbers) == len(names)]
    if len(rows) < 3 or not names:
        return ""
    most = max(map(max, rows)) or 1.0
    least = min(0.0, *map(min, rows))
    across, high = (WIDE - LEFT - ENDS) / (len(rows) - 1), HIGH - 2 * TOP

    def point_of(nr: int, number: float) -> tuple[float, float]:
        return LEFT + across * nr, TOP + high * (most - number) / (most - least)

    marks = [f'<path class="lane" d="M{LEFT} {TOP}V{TOP + high}H{WIDE - ENDS}"/>']
    for value in (least, most):
        marks.append(text(LEFT - 14, point_of(0, value)[1] + 7, f"{value:g}", "scale"))
    for column, name in enumerate(names):
        points = [point_of(nr, row[column]) for nr, row in enumerate(rows)]
        path = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        marks.append(f'<polyline class="curve c{column}" points="{path}"/>')
        marks.append(text(points[-1][0] + 20, points[-1][1] + 9, name, f"end c{column}"))
    return framed("curves", marks, HIGH, [", ".join(names), printed])


def text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>'


def framed(kind: str, marks: list[str], high: float, said: Sequence[str]) -> str:
    alt = escape("; ".join(said).replace("\n", "; "))
    size = f'viewBox="0 0 {WIDE} {high:g}" width="{WIDE}" height="{high:g}"'
    return f'<svg class="graph {kind}" role="img" aria-label="{alt}" data-words="20" {size}>{"".join(marks)}</svg>'
