"""Say of each part of a picture what it is, under the mouse: HTML that lies over the picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import pairwise

from autograd_graphs.drawing.cards import LINE, SIGN
from autograd_graphs.drawing.display_list import Drawing, Mark
from autograd_graphs.drawing.palette import SMALL
from autograd_graphs.text import width

MOST = 120  # parts: of a larger picture only the legend says what they are
WORDS = {
    "operation": "A node: backward() calls it once, when everything it waits for has arrived.",
    "folded": "Many nodes in one box. Name it in unfold= to open it.",
    "leaf": "A leaf: no recorded operation made it. backward() adds up its gradient in .grad.",
    "tag": "The tensor that this node made.",
    "slot": "The .grad of this tensor.",
    "held": "A saved tensor: kept on the way forward, because the way back needs it.",
    "freed": "A saved tensor that has been freed since.",
    "modified": "A saved tensor that was edited in place after it was saved.",
    "packed": "A saved tensor, packed by a hook.",
    "edited": "A saved view, whose base was edited in place.",
    "busy": "A saved tensor that a backward() in another thread is using.",
}


def places(drawing: Drawing) -> str:
    """Return a place over each part that says what it is; none for a picture with very many."""
    found = list(parts(drawing.marks))
    if len(found) > MOST:
        return ""
    return "".join(place(drawing, what, box) for what, box in found)


def parts(marks: tuple[Mark, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what each part is, and its box (left, top, width, height in px), the topmost last."""
    ours = [mark for mark in marks if mark.owner and mark.owner.kind == "node"]
    boxes = Counter(mark.owner for mark in ours if mark.part == "body")
    for mark, following in pairwise([*ours, None]):
        if mark.shape == "rect" and mark.role in WORDS:
            is_pile = mark.part == "body" and boxes[mark.owner] > 1
            yield "folded" if is_pile else mark.role, mark.at[:4]
        elif mark.role == "saved":
            yield mark.state, saved_box(following)


def saved_box(told: Mark) -> tuple[int, ...]:
    """Return the box of the words for a saved tensor, with the sign before them."""
    left, baseline = told.at
    words = "".join([run for run, _ in told.runs])
    return left - SIGN, baseline - LINE + 6, SIGN + width(words, SMALL), LINE


def place(drawing: Drawing, what: str, box: tuple[int, ...]) -> str:
    """Return the place of a part in per cent, for a picture may be shown smaller than it is."""
    sizes = drawing.width, drawing.height, drawing.width, drawing.height
    sides = zip(("left", "top", "width", "height"), box, sizes, strict=True)
    style = ";".join([f"{side}:{100 * px / size:.1f}%" for side, px, size in sides])
    return f'<i title="{escape(WORDS[what])}" style="{style}"></i>'
