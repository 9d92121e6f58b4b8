"""Turn a Film into compact plain data, ready for JSON: every mark once, then what changes. Knows no
colour.

The data in short: a mark is [shape, class, owner, geometry, runs]; a look is [class, runs or None,
hidden]; a frame is [sentence, scene, patch, focus, cover, question, moves, text]. A patch is flat
pairs of (place in the scene, look), on top of the frame before it. A text is a list of lines. A
part of the picture is [x, y, width, height]. Of several views of the same steps each is [parent,
part of the picture, text, {owner: flat pairs of (from this frame of the view on, view that it
opens)}]; views are told by their first frame. In all but the first a frame is [patch, focus,
cover], or 0 where nothing differs from the frame before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from helpers.drawing.display_list import SHAPES, Mark, Owner, geometry
from helpers.playing.film import Change, Film, Frame
from helpers.playing.stylesheet import css_class
from helpers.text import visible, width

WORDS = {
    "player": "Player",
    "picture": "Picture",
    "position": "Position",
    "unknown": "?",
    "play": "Play",
    "pause": "Pause",
    "text": "As text",
    "ran": "ran, and all that this lab shows is as before.",
    "beyond": "this lab's map has no such step here. Other buttons lead on.",
    "end": "this lab's map ends here, as after every error.",
    "undo": "Undo goes back.",
    "reset": "Reset begins again.",
    "no first": "this is the start.",
    "no previous": "this is the start.",
    "no play": "there is nothing to play.",
    "no next": "this is the end.",
    "no last": "this is the end.",
    "no undo": "there is nothing to undo.",
    "no reset": "this is the start.",
    "no reveal": "nothing is hidden.",
    "no unfold": "what has its turn cannot be unfolded.",
    "no fold": "nothing is unfolded.",
}  # "no NAME" is said of a button that does nothing here; of a lab's action one of "ran", "beyond" and "end"
ASK = "What comes here? Guess, then reveal."
STEPS = {  # name → words and key
    "first": ("First", "Home"),
    "previous": ("Back", "←"),
    "play": ("Play", "space"),
    "next": ("Next", "→"),
    "last": ("Last", "End"),
}
NODES = {"previous": ("Back", "←"), "next": ("Next", "→")}
WALK = {"undo": ("Undo", "u"), "reset": ("Reset", "r")}
GUESS = {"guess": ("Guess", "g"), "reveal": ("Reveal", "space")}
UNFOLD = {"unfold": ("Unfold", "o"), "fold": ("Fold", "f")}
DIGITS = "1234567890"  # the keys of a lab's actions; an eleventh has none
KEYS = {
    "ArrowLeft": "previous",
    "ArrowRight": "next",
    "Home": "first",
    "End": "last",
    " ": "space",
    "Enter": "reveal",
    "g": "guess",
    "u": "undo",
    "r": "reset",
}
FOLDED = (
    {"unfold": "Click to unfold"},
    {"o": "unfold", "f": "fold"},
)  # words and keys where parts can be opened


def controls(film: Film) -> dict:
    """Return the buttons in rows of (name, words, key), and the keys.

    A film of steps has a scrubber. A lab has its actions, undo and reset, and goes from node to
    node where frames are about nodes. The buttons for guessing are there where something can be
    guessed, those for folding where there are several views.
    """
    nodes = NODES if any(frame.focus for frame in film.frames) else {}
    guess = GUESS if any(frame.guess or frame.question for frame in film.frames) else {}
    unfold, (words, keys) = (UNFOLD, FOLDED) if film.views else ({}, ({}, {}))
    table = {**(WALK | nodes if film.actions else STEPS), **unfold, **guess}
    actions = [
        (f"action {nr}", visible(words), DIGITS[nr : nr + 1])
        for nr, (_, words) in enumerate(film.actions)
    ]
    rows = [actions, [(name, *words) for name, words in table.items()]]
    keys = KEYS | keys | {key: name for name, _, key in actions if key}
    return {
        "lab": bool(film.actions),
        "rows": [row for row in rows if row],
        "keys": keys,
        "words": WORDS | words,
    }


LONGEST = 600  # characters of a sentence


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
        return tuple(
            part
            for (text, _), name in zip(runs, names, strict=True)
            for part in (visible(text), name)
        )

    def owner(self, owner: Owner | None) -> int:
        return self.owners("" if owner is None else str(owner))

    def mark(self, mark: Mark) -> int:
        shape, name = list(SHAPES).index(mark.shape), self.classes(css_class(mark.role, mark.state))
        return self.marks(
            (shape, name, self.owner(mark.owner), geometry(mark), self.runs(mark.runs))
        )

    def look(self, mark: Mark, change: Change) -> int:
        name = self.classes(css_class(mark.role, change.state or mark.state))
        return self.looks(
            (name, None if change.runs is None else self.runs(change.runs), int(change.hidden))
        )

    def text(self, text: str) -> int:
        if text not in self.known:  # a film of many frames has one long text
            self.known[text] = self.texts(
                tuple(self.lines(visible(line, LONGEST)) for line in text.split("\n"))
            )
        return self.known[text]


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
        "sizers": sizers(film),
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
    wide, high = (
        max(scene.width for scene in film.scenes),
        max(scene.height for scene in film.scenes),
    )
    across, down = film.scenes[0].aside
    rest = (across, 0, wide - across, high)
    return [(0, 0, across, down), rest] if across else [rest]


def view(film: Film, nr: int, pools: Pools) -> list:
    """Return what the player knows of a view."""
    one, scene, span = film.views[nr], film.scenes[nr], len(film.frames) // len(film.views)
    opens = {
        pools.owner(owner): flat({at: span * to for at, to in ways}) for owner, ways in one.opens
    }
    return [span * one.parent, (0, 0, scene.width, scene.height), pools.text(scene.text), opens]


def shortened(frames: list[tuple], views: int) -> list:
    """Leave out what is alike in all views: words, scene and text stand in the first view, or with
    the view.
    """
    span = len(frames) // (views or 1)
    rest = (
        (None if at % span == 0 else frames[at - 1][3], frames[at])
        for at in range(span, len(frames))
    )
    return frames[:span] + [
        row[2:5] if row[2] or row[4] or row[3] != focus else 0 for focus, row in rest
    ]


def _frames(film: Film, pools: Pools) -> Iterator[tuple]:
    names = {name: nr for nr, (name, _) in enumerate(film.actions)}
    for frame, changed, cover in _changed(film, pools):
        yield (
            pools.lines(visible(frame.sentence, LONGEST)),
            frame.scene,
            flat(changed),
            pools.owner(frame.focus),
            flat(cover),
            pools.lines(visible(asked(frame), LONGEST)),
            flat({names[name]: target for name, target in frame.moves}),
            pools.text(frame.text or film.scenes[frame.scene].text),
        )


def _changed(film: Film, pools: Pools) -> Iterator[tuple[Frame, dict[int, int], dict[int, int]]]:
    """Yield each frame with what differs from the one before it, and what hides its numbers; views
    begin anew.
    """
    span, worn, before, known = len(film.frames) // (len(film.views) or 1), {}, None, {}
    for number, frame in enumerate(film.frames):
        marks = film.scenes[frame.scene].marks
        if number % span == 0:
            worn, before = {}, None
        looks = worn  # most steps of a folded graph change nothing
        if before is None or before.scene != frame.scene or before.changes is not frame.changes:
            new = [change for change in frame.changes if (frame.scene, id(change)) not in known]
            known |= {
                (frame.scene, id(change)): pools.look(marks[change.mark], change) for change in new
            }
            looks = {change.mark: known[frame.scene, id(change)] for change in frame.changes}
        yield frame, {} if looks is worn else patch(worn, looks), cover(frame, marks, pools)
        worn, before = looks, frame


def patch(worn: dict[int, int], looks: dict[int, int]) -> dict[int, int]:
    """Return what turns the looks of one frame into those of the next, by place in the scene."""
    places = sorted(worn.keys() | looks.keys())
    return {at: looks.get(at, OWN) for at in places if worn.get(at) != looks.get(at)}


def cover(frame: Frame, marks: tuple[Mark, ...], pools: Pools) -> dict[int, int]:
    """Return the looks that hide what is to be guessed: a text says "?"; other marks
    are not seen.
    """
    changes = {change.mark: change for change in frame.changes}
    return {
        at: pools.look(marks[at], _covered(marks[at], changes.get(at, Change(at))))
        for at in frame.guess
    }


def _covered(mark: Mark, change: Change) -> Change:
    if mark.shape != "text":
        return Change(change.mark, change.state, hidden=True)
    runs = mark.runs if change.runs is None else change.runs
    role = runs[0][1] if runs else ""
    return Change(change.mark, change.state, ((WORDS["unknown"], role),), change.hidden)


def flat(pairs: dict[int, int]) -> list[int]:
    return [number for pair in pairs.items() for number in pair]


def sizers(film: Film) -> list[str]:
    """Return the widest sentences: room is kept for them, so that nothing jumps."""
    texts = {
        visible(text, LONGEST)
        for frame in film.frames
        for text in (frame.sentence, asked(frame))
        if text
    }
    return sorted(texts, key=lambda text: (-width(text, 14, bold=True), text))[:SIZERS]


def asked(frame: Frame) -> str:
    """Return the sentence without the numbers that are to be guessed; "" where there are none."""
    return frame.question or (ASK if frame.guess else "")
