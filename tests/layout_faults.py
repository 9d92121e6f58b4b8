"""Name what collides in a picture: a wire through a card that it does not join, words over words,
what stands outside. Of a film, of a lab and of what `show` draws, all by their marks alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import combinations

from autograd_graphs.drawing.display_list import path_data
from autograd_graphs.drawing.frames import Rect
from autograd_graphs.drawing.palette import LIGHT, TITLE, attributes
from autograd_graphs.drawing.room import finely
from autograd_graphs.text import width

CARDS = ("operation", "leaf", "none", "cut", "block")
NEAR = 5  # px: how far a wire may end from the card that it joins
BLUR = 1  # px: what rounding does


@dataclass
class Thing:
    """Hold what takes room: `what` names it, `of` is the node or the wire that it belongs to."""

    kind: str
    what: str
    rect: Rect
    of: object = None


@dataclass
class Picture:
    """Hold what stands in a picture, and the wires by points that are a few px apart; `owners` say
    to what each wire belongs.
    """

    width: float
    height: float
    things: list[Thing] = field(default_factory=list)
    wires: list[list[tuple[float, float]]] = field(default_factory=list)
    owners: list[object] = field(default_factory=list)

    def add(self, shape, role, state, at, words, owner):
        """Add one mark."""
        if shape == "path" and role == "edge":
            self.wires.append(points(at))
            self.owners.append(owner)
        elif shape == "rect" and role in (*CARDS, "tag"):
            kind = "tag" if role == "tag" else "card"
            self.things.append(Thing(kind, f"a {role} of {owner}", around(at), owner))
        elif shape == "text" and words:
            self.things.append(Thing("text", repr(words), room(role, state, at, words), owner))


def around(box):
    x, y, wide, high = box[:4]
    return Rect(x, y, x + wide, y + high)


def points(curve):
    """Return points on a curve, given as SVG path data or as a row of numbers."""
    if not isinstance(curve, str):
        curve = path_data(curve)
    found, last = [], None
    for command, numbers in re.findall(r"([MLC])([^MLC]*)", curve):
        at = [float(one) for one in re.findall(r"-?[\d.]+", numbers)]
        pairs = list(zip(at[::2], at[1::2], strict=True))
        if command == "L":
            pairs = [last, pairs[0], pairs[0]]
        if command != "M":
            found += finely([last, *pairs])
        last = pairs[-1]
    return found


def room(role, state, at, words):
    """Return what a text takes."""
    look = attributes(role, state, LIGHT)
    size = float(look["font-size"])
    wide = width(words, size, bold=look.get("font-weight") == "650")
    left = at[0] - (wide / 2 if look.get("text-anchor") == "middle" else 0)
    return Rect(left, at[1] - 0.75 * size, left + wide, at[1] + 0.2 * size)


def of_marks(size, marks):
    """Return a picture of `show`, or one state of a lab."""
    picture = Picture(*size)
    for mark in marks:
        words = "".join([text for text, _ in mark.runs])
        picture.add(mark.shape, mark.role, mark.state, mark.at, words, mark.owner)
    return picture


def of_film(text):
    """Yield (which, picture) of each view of a film of a backward, upright and lying."""
    film = json.loads(text)
    for nr, scene in enumerate(film["scenes"]):
        yield f"view {nr}", of_view(film, scene)
        if "lying" in scene:
            yield f"view {nr}, lying", of_view(film, scene["lying"])


def of_view(film, view):
    picture = Picture(*view["size"])
    shapes = ("rect", "circle", "path", "polygon", "text")
    for owner, marks in enumerate(view["marks"], -1):
        for kind, role, state, *rest in marks:
            role, state = film["roles"][role], film["roles"][state]
            words = "".join(rest[2::2]) if shapes[kind] == "text" else ""
            at = rest[0] if shapes[kind] == "path" else rest
            picture.add(shapes[kind], role, state, at, words, owner if owner >= 0 else None)
    for curve, _, box, *more in [*view["wires"], *view["starts"]]:
        wire = f"wire {len(picture.wires)}"
        picture.wires.append(points(curve))
        picture.owners.append(wire)
        if box:
            picture.things.append(Thing("capsule", f"a capsule at {box[:2]}", around(box), wire))
        if len(more) == 5:
            _, _, factor, x, y = more
            words = f"× {factor}"
            rect = Rect(x, y - 14, x + width(words, TITLE, bold=True), y + 4)
            picture.things.append(Thing("factor", repr(words), rect, wire))
    return picture


def faults(picture):
    """Yield what is wrong with a picture, in words."""
    sheet = Rect(-BLUR, -BLUR, picture.width + BLUR, picture.height + BLUR)
    solid = [one for one in picture.things if one.kind != "text"]
    holders = [one for one in solid if one.kind in ("card", "tag")]
    for one in picture.things:
        if one.kind == "text" and (holder := holding(one, holders)):
            if not within(one.rect, holder.rect):
                yield f"{one.what} is wider than {holder.what}"
            continue
        if one.kind == "text":
            solid.append(one)
        if not within(one.rect, sheet):
            yield f"{one.what} is cut off at the border"
    for one, other in combinations(solid, 2):
        is_own = one.of is not None and one.of == other.of and one.kind != "capsule"
        if not is_own and small(one.rect).meets(small(other.rect)):
            yield f"{one.what} is over {other.what}"
    texts = [one for one in picture.things if one.kind == "text"]
    for one, other in combinations(texts, 2):
        if small(one.rect).meets(small(other.rect)):
            yield f"{one.what} is over {other.what}"
    for wire, owner in zip(picture.wires, picture.owners, strict=True):
        for one in solid:
            if not joins(wire, owner, one, solid) and any(map(small(one.rect).covers, wire)):
                yield f"the wire from {wire[0]} to {wire[-1]} goes through {one.what}"


def holding(text, holders):
    """Return the tag or card that a text stands in: the last that is drawn there."""
    x, y = text.rect.left + 1, (text.rect.top + text.rect.bottom) / 2
    found = [one for one in holders if one.rect.covers((x, y)) and one.of == text.of]
    return found[-1] if found else None


def joins(wire, owner, thing, things):
    """Say whether a thing is at an end of a wire, or stands on it as its capsule or word."""
    if thing.of == owner and owner is not None:
        return thing.kind != "factor"
    ends = [one.of for one in things if one.kind == "card" and at_end(wire, one.rect)]
    return at_end(wire, thing.rect) or (thing.of is not None and thing.of in ends)


def at_end(wire, rect):
    wider = Rect(rect.left - NEAR, rect.top - NEAR, rect.right + NEAR, rect.bottom + NEAR)
    return wider.covers(wire[0]) or wider.covers(wire[-1])


def within(rect, outer):
    return (
        rect.left >= outer.left - BLUR
        and rect.right <= outer.right + BLUR
        and rect.top >= outer.top - BLUR
        and rect.bottom <= outer.bottom + BLUR
    )


def small(rect):
    return Rect(rect.left + BLUR, rect.top + BLUR, rect.right - BLUR, rect.bottom - BLUR)
