"""Turn a Film into compact plain data, ready for JSON: every mark once, then what changes. Knows no colour.

The data in short: a mark is [shape, class, owner, geometry, runs]; a look is [class, runs or None, hidden]; a
frame is [sentence, scene, patch, focus, cover, question, moves, text]. A patch is flat pairs of (place in the
scene, look), on top of the frame before it. A text is a list of lines. A part of the picture is [x, y, width,
height]. Of several views of the same steps each is [parent, part of the picture, text, {owner: flat pairs of (from
this frame of the view on, view that it opens)}]; views are told by their first frame. In all but the first a frame is
[patch, focus, cover], or 0 where nothing differs from the frame before.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.controls import ASK, WORDS, controls
from helpers.film import Change, Film, Frame
from helpers.marks import Mark
from helpers.pools import LONGEST, SHAPES, Pools
from helpers.text import visible, width

SIZERS = 12  # of the widest sentences, as many reserve the height that any sentence may need
PACE = 1500  # ms that a frame stays when the film plays
OWN = -1  # the look that a mark has in its scene


def payload(film: Film) -> dict:
    """Return a film as lists, numbers and texts; what occurs often travels once.

    Raises KeyError for a role that has no look.
    """
    pools = Pools()
    scenes = [[pools.mark(mark) for mark in scene.marks] for scene in film.scenes]
    frames = list(_frames(film, pools))
    views = [view(film, nr, pools) for nr in range(len(film.views))]
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
        "frames": shortened(frames, len(film.views)),
        "lines": list(pools.lines.things),
        "texts": list(pools.texts.things),
        **({"views": views} if views else {}),
    }


def parts(film: Film) -> list[tuple[int, int, int, int]]:
    """Return the boxes that the picture can be cut into: one, or the part aside and the rest."""
    wide, high = max(scene.width for scene in film.scenes), max(scene.height for scene in film.scenes)
    across, down = film.scenes[0].aside
    rest = (across, 0, wide - across, high)
    return [(0, 0, across, down), rest] if across else [rest]


def view(film: Film, nr: int, pools: Pools) -> list:
    """Return what the player knows of a view."""
    one, scene, span = film.views[nr], film.scenes[nr], len(film.frames) // len(film.views)
    opens = {pools.owners(owner): flat({at: span * to for at, to in ways}) for owner, ways in one.opens}
    return [span * one.parent, (0, 0, scene.width, scene.height), pools.text(scene.text), opens]


def shortened(frames: list[tuple], views: int) -> list:
    """Leave out what is alike in all views: words, scene and text stand in the first view, or with the view."""
    span = len(frames) // (views or 1)
    rest = ((None if at % span == 0 else frames[at - 1][3], frames[at]) for at in range(span, len(frames)))
    return frames[:span] + [row[2:5] if row[2] or row[4] or row[3] != focus else 0 for focus, row in rest]


def _frames(film: Film, pools: Pools) -> Iterator[tuple]:
    names = {name: nr for nr, (name, _) in enumerate(film.actions)}
    for frame, changed, cover in _changed(film, pools):
        question = frame.question or (ASK if frame.guess else "")
        yield (
            visible(frame.sentence, LONGEST),
            frame.scene,
            flat(changed),
            pools.owners(frame.focus),
            flat(cover),
            visible(question, LONGEST),
            flat({names[name]: target for name, target in frame.moves}),
            pools.text(frame.text or film.scenes[frame.scene].text),
        )


def _changed(film: Film, pools: Pools) -> Iterator[tuple[Frame, dict[int, int], dict[int, int]]]:
    """Yield each frame with what differs from the one before it, and what hides its numbers; views begin anew."""
    span, worn, before, known = len(film.frames) // (len(film.views) or 1), {}, None, {}
    for number, frame in enumerate(film.frames):
        marks = film.scenes[frame.scene].marks
        if number % span == 0:
            worn, before = {}, None
        looks = worn  # most steps of a folded graph change nothing
        if before is None or before.scene != frame.scene or before.changes is not frame.changes:
            new = [change for change in frame.changes if (frame.scene, id(change)) not in known]
            known |= {(frame.scene, id(change)): pools.look(marks[change.mark], change) for change in new}
            looks = {change.mark: known[frame.scene, id(change)] for change in frame.changes}
        yield frame, {} if looks is worn else patch(worn, looks), cover(frame, marks, pools)
        worn, before = looks, frame


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
