"""Frozen, plain data that the player plays: scenes, and frames that each change a scene a little."""

from __future__ import annotations

from dataclasses import dataclass, replace

from helpers.drawing.display_list import Drawing, Mark, Owner


@dataclass(frozen=True, slots=True)
class Change:
    """Hold what one mark of the scene is in this frame: another state, other words, or not to be
    seen.
    """

    mark: int
    state: str = ""
    runs: tuple[tuple[str, str], ...] | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Hold one moment: a scene, what differs from it, and the sentence that says what happens.

    `focus` is whose turn it is; clicking what is of it comes here. `moves` are (action, number of
    the frame that it leads to). `text` says what the picture shows, for those who read it; where it
    is empty, that of the scene does.
    """

    sentence: str
    scene: int = 0
    changes: tuple[Change, ...] = ()
    focus: Owner | None = None
    moves: tuple[tuple[str, int], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Film:
    """Hold all that a player needs to show a lab, with or without a kernel.

    `actions` are the (name, words) of its buttons in order. `text` is what is shown where nothing
    plays, `alt` says in one sentence what to notice.
    """

    scenes: tuple[Drawing, ...]
    frames: tuple[Frame, ...]
    text: str
    alt: str
    actions: tuple[tuple[str, str], ...] = ()
    start: int = 0


def still(film: Film) -> Drawing:
    """Return the frame that a film starts with as a drawing of its own."""
    frame = film.frames[film.start]
    scene = film.scenes[frame.scene]
    changes = {change.mark: change for change in frame.changes}
    marks = [changed(mark, changes.get(number)) for number, mark in enumerate(scene.marks)]
    return replace(scene, marks=tuple(mark for mark in marks if mark), text="", alt=film.alt)


def changed(mark: Mark, change: Change | None) -> Mark | None:
    """Return a mark as a frame shows it; None where it is not to be seen."""
    if change is None:
        return mark
    if change.hidden:
        return None
    runs = mark.runs if change.runs is None else change.runs
    return replace(mark, state=change.state or mark.state, runs=runs)
