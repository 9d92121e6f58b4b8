"""Turn a lab's film into compact plain data, ready for JSON: every mark once, then what changes.

The data in short. A mark is written as in a film of a backward, its owner stands apart in `owned`.
A look is [role, state, pieces of text or 0, is hidden]. A frame is [sentence, scene, patch, focus,
moves, text]; a patch is flat pairs of (place in the scene, look) on top of the frame before it, and
a look of -1 is the mark's own. Sentences and texts stand once, among the lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from helpers.drawing.display_list import Mark
from helpers.playing.encode_backward import LONGEST, VERSION, Encoder, Pool
from helpers.playing.film import Change, Film
from helpers.text import visible, width

DIGITS = "1234567890"  # the keys of a lab's actions; an eleventh has none
SIZERS = 12  # of the widest sentences, as many reserve the height that any sentence may need
OWN = -1
LINE = 14  # px: the font size by which widths of sentences are compared


class LabEncoder(Encoder):
    """Write one lab."""

    def __init__(self) -> None:
        super().__init__()
        self.owners, self.drawn, self.looks = Pool(), Pool(), Pool()
        self.owners(None)

    def lab(self, film: Film) -> dict:
        """Return the whole film."""
        scenes = [[self.place(mark) for mark in scene.marks] for scene in film.scenes]
        frames = list(self.frames(film))
        marks = [(owner, *mark) for owner, mark in self.drawn.things]
        return {
            "version": VERSION,
            "alt": visible(film.alt, LONGEST),
            "start": film.start,
            "actions": actions(film),
            "parts": parts(film),
            "sizers": sizers(film),
            "scenes": scenes,
            "frames": frames,
            "marks": [list(mark[1:]) for mark in marks],
            "owned": [mark[0] for mark in marks],
            "looks": [list(look) for look in self.looks.things],
            "roles": self.roles.things,
            "lines": self.lines.things,
        }

    def place(self, mark: Mark) -> int:
        """Return the number of a mark; equal ones share it."""
        return self.drawn((self.owners(mark.owner), tuple(self.mark(mark))))

    def frames(self, film: Film) -> Iterator[list]:
        names = {name: nr for nr, (name, _) in enumerate(film.actions)}
        worn: dict[int, int] = {}
        for frame in film.frames:
            scene = film.scenes[frame.scene]
            looks = {
                change.mark: self.look(scene.marks[change.mark], change) for change in frame.changes
            }
            moves = [number for name, to in frame.moves for number in (names[name], to)]
            text = self.lines("\n".join(map(visible, (frame.text or scene.text).split("\n"))))
            focus = 0 if frame.focus is None else self.owners(frame.focus)
            yield [
                self.words(frame.sentence),
                frame.scene,
                flat(patch(worn, looks)),
                focus,
                moves,
                text,
            ]
            worn = looks

    def look(self, mark: Mark, change: Change) -> int:
        """Return the number of what a mark is in a frame."""
        runs = 0 if change.runs is None else tuple(self.runs(change.runs))
        state = self.roles(change.state or mark.state)
        return self.looks((self.roles(mark.role), state, runs, int(change.hidden)))


def actions(film: Film) -> list[list[str]]:
    """Return (words, key) of each action."""
    return [[visible(words), DIGITS[nr : nr + 1]] for nr, (_, words) in enumerate(film.actions)]


def parts(film: Film) -> list[list[int]]:
    """Return the boxes that the picture can be cut into: one, or the part aside and the rest."""
    wide = max(scene.width for scene in film.scenes)
    high = max(scene.height for scene in film.scenes)
    across, down = film.scenes[0].aside
    rest = [across, 0, wide - across, high]
    return [[0, 0, across, down], rest] if across else [rest]


def patch(worn: dict[int, int], looks: dict[int, int]) -> dict[int, int]:
    """Return what turns the looks of one frame into those of the next, by place in the scene."""
    places = sorted(worn.keys() | looks.keys())
    return {at: looks.get(at, OWN) for at in places if worn.get(at) != looks.get(at)}


def flat(pairs: dict[int, int]) -> list[int]:
    return [number for pair in pairs.items() for number in pair]


def sizers(film: Film) -> list[str]:
    """Return the widest sentences: room is kept for them, so that nothing jumps."""
    texts = {visible(frame.sentence, LONGEST) for frame in film.frames}
    return sorted(texts, key=lambda text: (-width(text, LINE, bold=True), text))[:SIZERS]


def payload(film: Film) -> dict:
    """Return a lab's film as the data that the player reads."""
    return LabEncoder().lab(film)
