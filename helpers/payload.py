"""Turn a Film into compact plain data, ready for JSON: every mark once, then what changes. Knows no colour.

The data in short: a mark is [shape, class, owner, geometry, runs]; a look is [class, runs or None, hidden]; a
frame is [sentence, scene, patch, focus, cover, question, moves, text]. A patch is flat pairs of (place in the
scene, look), on top of the frame before it. A text is a list of lines. A part of the picture is [x, y, width,
height].
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from helpers.controls import ASK, WORDS, controls
from helpers.film import Change, Film, Frame
from helpers.marks import Mark
from helpers.stylesheet import css_class
from helpers.text import visible, width

LONGEST = 600  # characters of a sentence
SIZERS = 12  # of the widest sentences, as many reserve the height that any sentence may need
PACE = 1500  # ms that a frame stays when the film plays
OWN = -1  # the look that a mark has in its scene
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
        return self.texts(tuple(self.lines(visible(line, LONGEST)) for line in text.split("\n")))


def geometry(mark: Mark) -> tuple[int | str, ...]:
    """Return the values of the attributes that SHAPES names."""
    if mark.shape not in ("path", "polygon"):
        return mark.at
    points = [f"{x} {y}" for x, y in zip(mark.at[::2], mark.at[1::2], strict=True)]
    return (f"M{points[0]}C{' '.join(points[1:])}" if mark.shape == "path" else " ".join(points),)


def payload(film: Film) -> dict:
    """Return a film as lists, numbers and texts; what occurs often travels once.

    Raises KeyError for a role that has no look.
    """
    pools = Pools()
    scenes = [[pools.mark(mark) for mark in scene.marks] for scene in film.scenes]
    frames = list(_frames(film, pools))
    return {
        "alt": visible(film.alt, LONGEST),
        "parts": parts(film),
        "pace": PACE,
        "start": film.start,
        **controls(film),
        "sizers": sizers(frames),
        "shapes": list(SHAPES.values()),
        "classes": list(pools.classes.things),
        "owners": list(pools.owners.things),
        "marks": list(pools.marks.things),
        "scenes": scenes,
        "looks": list(pools.looks.things),
        "frames": frames,
        "lines": list(pools.lines.things),
        "texts": list(pools.texts.things),
    }


def parts(film: Film) -> list[tuple[int, int, int, int]]:
    """Return the boxes that the picture can be cut into: one, or the part aside and the rest."""
    wide, high = max(scene.width for scene in film.scenes), max(scene.height for scene in film.scenes)
    across, down = film.scenes[0].aside
    rest = (across, 0, wide - across, high)
    return [(0, 0, across, down), rest] if across else [rest]


def _frames(film: Film, pools: Pools) -> Iterator[tuple]:
    names = {name: nr for nr, (name, _) in enumerate(film.actions)}
    worn: dict[int, int] = {}
    for frame in film.frames:
        marks = film.scenes[frame.scene].marks
        looks = {change.mark: pools.look(marks[change.mark], change) for change in frame.changes}
        question = frame.question or (ASK if frame.guess else "")
        yield (
            visible(frame.sentence, LONGEST),
            frame.scene,
            flat(patch(worn, looks)),
            pools.owners(frame.focus),
            flat(cover(frame, marks, pools)),
            visible(question, LONGEST),
            flat({names[name]: target for name, target in frame.moves}),
            pools.text(frame.text or film.scenes[frame.scene].text),
        )
        worn = looks


def patch(worn: dict[int, int], looks: dict[int, int]) -> dict[int, int]:
    """Return what turns the looks of one frame into those of the next, by place in the scene."""
    places = sorted(worn.keys() | looks.keys())
    return {at: looks.get(at, OWN) for at in places if worn.get(at) != looks.get(at)}


def cover(frame: Frame, marks: tuple[Mark, ...], pools: Pools) -> dict[int, int]:
    """Return the looks that hide what is to be guessed: a text says "?", or ".grad  ?"; other marks are not seen."""
    changes = {change.mark: change for change in frame.changes}
    return {at: pools.look(marks[at], _covered(marks[at], changes.get(at, Change(at)))) for at in frame.guess}


def _covered(mark: Mark, change: Change) -> Change:
    if mark.shape != "text":
        return Change(change.mark, change.state, hidden=True)
    (text, role), *_ = (mark.runs if change.runs is None else change.runs) or (("", ""),)
    name, gap, _ = text.rpartition("  ")
    return Change(change.mark, change.state, ((name + gap + WORDS["unknown"], role),), change.hidden)


def flat(pairs: dict[int, int]) -> list[int]:
    return [number for pair in pairs.items() for number in pair]


def sizers(frames: list[tuple]) -> list[str]:
    """Return the widest sentences: room is kept for them, so that nothing jumps."""
    texts = {text for frame in frames for text in (frame[0], frame[5]) if text}
    return sorted(texts, key=lambda text: (-width(text, 14, bold=True), text))[:SIZERS]
