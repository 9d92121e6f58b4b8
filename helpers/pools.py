"""Number the marks, looks and texts of a film, so that each travels once. Plain data; knows no colour."""

from __future__ import annotations

from collections.abc import Hashable

from helpers.film import Change
from helpers.marks import Mark
from helpers.stylesheet import css_class
from helpers.text import visible

LONGEST = 600  # characters of a sentence
SHAPES = {  # element and attributes of each shape
    "rect": ("rect", "x", "y", "width", "height", "rx"),
    "circle": ("circle", "cx", "cy", "r"),
    "path": ("path", "d"),
    "polygon": ("polygon", "points"),
    "text": ("text", "x", "y"),
}


class Pool:
    """Number things as they come; equal things share a number."""

    def __init__(self, *first: Hashable) -> None:
        self.things = {thing: nr for nr, thing in enumerate(first)}

    def __call__(self, thing: Hashable) -> int:
        return self.things.setdefault(thing, len(self.things))


class Pools:
    """Number all that scenes and frames refer to."""

    def __init__(self) -> None:
        self.classes, self.owners, self.marks, self.looks = Pool(""), Pool(""), Pool(), Pool()
        self.lines, self.texts = Pool(), Pool()
        self.known: dict[str, int] = {}

    def runs(self, runs: tuple[tuple[str, str], ...]) -> tuple[str | int, ...]:
        names = [self.classes(css_class(f"run {role}") if role else "") for _, role in runs]
        return tuple(part for (text, _), name in zip(runs, names, strict=True) for part in (visible(text), name))

    def mark(self, mark: Mark) -> int:
        shape, name = list(SHAPES).index(mark.shape), self.classes(css_class(mark.role, mark.state))
        return self.marks((shape, name, self.owners(mark.of), geometry(mark), self.runs(mark.runs)))

    def look(self, mark: Mark, change: Change) -> int:
        name = self.classes(css_class(mark.role, change.state or mark.state))
        return self.looks((name, None if change.runs is None else self.runs(change.runs), int(change.hidden)))

    def text(self, text: str) -> int:
        if text not in self.known:  # a film of many frames has one long text
            self.known[text] = self.texts(tuple(self.lines(visible(line, LONGEST)) for line in text.split("\n")))
        return self.known[text]


def geometry(mark: Mark) -> tuple[int | str, ...]:
    """Return the values of the attributes that SHAPES names."""
    if mark.shape not in ("path", "polygon"):
        return mark.at
    points = [f"{x} {y}" for x, y in zip(mark.at[::2], mark.at[1::2], strict=True)]
    return (f"M{points[0]}C{' '.join(points[1:])}" if mark.shape == "path" else " ".join(points),)
