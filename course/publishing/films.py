"""Take the films out of a notebook's saved players, and let through only what a player of ours
could have saved.

The script that a notebook carries is never used: a published file plays with the one of this
package.
"""

from __future__ import annotations

import json
import re

from nbformat import NotebookNode

from helpers.playing.encode import FOLDED, KEYS, SHAPES, WORDS
from helpers.playing.player import FILM, IDENTITY

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
WORD = re.compile(
    r"(first|previous|play|next|last|undo|reset|unfold|fold|guess|reveal|action \d+)\Z"
)
CLASS = re.compile(r"(m-[a-z-]+( s-[a-z-]+)?)?\Z")
FIELDS = {
    "alt",
    "parts",
    "lines",
    "texts",
    "pace",
    "start",
    "lab",
    "rows",
    "keys",
    "words",
    "sizers",
    "shapes",
    "classes",
    "owners",
}
FIELDS |= {"marks", "scenes", "looks", "frames"}
DRAWN = re.compile(r"[-+MCL0-9. ,e]*\Z")
MOST = 20_000  # pixels of a side


def film_of(notebook: NotebookNode, output: NotebookNode) -> str | None:
    """Return the film of the player that an output shows, as JSON; None where it shows none that
    can be trusted.

    It stands in the output itself, or, as older players were saved, in the notebook's widgets.
    """
    try:
        film = json.loads(stored(notebook, output))
        return (
            json.dumps(film, ensure_ascii=False, separators=(",", ":")) if is_film(film) else None
        )
    except (ValueError, RecursionError, KeyError, TypeError, IndexError, AttributeError):
        return None


def stored(notebook: NotebookNode, output: NotebookNode) -> str:
    """Return the text of a film where an output, or the notebook, has one.

    Raises KeyError where neither has.
    """
    if FILM in output["data"]:
        return output["data"][FILM]
    state = notebook.metadata["widgets"][STATE]["state"][output["data"][VIEW]["model_id"]]["state"]
    if state["_anywidget_id"] != IDENTITY:
        raise KeyError(state["_anywidget_id"])
    return state["film"]


def is_film(film: dict) -> bool:
    """Tell whether data is what `encode` writes: our shapes, our classes, numbers that lead
    somewhere.
    """
    views = film.get("views") or [0]
    span, more_words, more_keys = (
        len(film["frames"]) // len(views),
        *(FOLDED if "views" in film else ({}, {})),
    )
    return set(film) - {"views"} == FIELDS and all(
        (
            film["shapes"] == [list(shape) for shape in SHAPES.values()],
            all(CLASS.match(name) for name in film["classes"]),
            texts(
                film["alt"],
                *film["sizers"],
                *film["owners"],
                *film["words"].values(),
                *film["words"],
            ),
            set(film["words"]) == {*WORDS, *more_words} and isinstance(film["lab"], bool),
            all(
                len(box) == 4 and all(number(side) and side >= 0 for side in box)
                for box in film["parts"]
            ),
            film["parts"]
            and texts(*film["lines"])
            and all(within(film["lines"], *text) for text in film["texts"]),
            number(film["pace"]) and film["pace"] >= 100,
            all(
                WORD.match(name) and texts(words, key)
                for row in film["rows"]
                for name, words, key in row
            ),
            all(key in KEYS or key in more_keys or key.isdigit() for key in film["keys"]),
            all(name == "space" or WORD.match(name) for name in film["keys"].values()),
            all(is_mark(film, *mark) for mark in film["marks"]),
            all(is_look(film, *look) for look in film["looks"]),
            all(within(film["marks"], *scene) for scene in film["scenes"]),
            within(film["frames"], film["start"]),
            all(is_frame(film, *frame) for frame in film["frames"][:span]),
            all(
                is_later(film, nr, frame)
                for nr, frame in enumerate(film["frames"][span:], start=span)
            ),
            len(film["frames"]) == span * len(views),
            "views" not in film
            or (len(views) == len(film["scenes"]) and all(is_view(film, *view) for view in views)),
        )
    )


def is_mark(film: dict, shape: int, name: int, owner: int, geometry: list, runs: list) -> bool:
    return (
        within(film["shapes"], shape)
        and within(film["classes"], name)
        and within(film["owners"], owner)
        and len(geometry) == len(film["shapes"][shape]) - 1
        and all(
            number(value) or (isinstance(value, str) and DRAWN.match(value)) for value in geometry
        )
        and are_runs(film, runs)
    )


def is_look(film: dict, name: int, runs: list | None, hidden: int) -> bool:
    return (
        within(film["classes"], name)
        and (runs is None or are_runs(film, runs))
        and hidden in (0, 1)
    )


def are_runs(film: dict, runs: list) -> bool:
    return len(runs) % 2 == 0 and texts(*runs[::2]) and within(film["classes"], *runs[1::2])


def is_frame(
    film: dict,
    sentence: int,
    scene: int,
    patch: list,
    focus: int,
    cover: list,
    question: int,
    moves: list,
    text: int,
) -> bool:
    if not within(film["scenes"], scene):
        return False
    places = (*patch[::2], *cover[::2])
    return (
        within(film["lines"], sentence, question)
        and within(film["owners"], focus)
        and within(film["texts"], text)
        and len(patch) % 2 == len(cover) % 2 == len(moves) % 2 == 0
        and all(isinstance(at, int) and at >= 0 for at in places)
        and within(film["scenes"][scene], *cover[::2])
        and all(look == -1 or within(film["looks"], look) for look in (*patch[1::2], *cover[1::2]))
        and all(isinstance(name, int) for name in moves[::2])
        and within(film["frames"], *moves[1::2])
    )


def is_later(film: dict, nr: int, frame: list | int) -> bool:
    """Tell whether a frame of a view is one whose words stand in the first view: [patch, focus,
    cover], or 0.
    """
    views, frames = film["views"], film["frames"]
    nothing = [] if frame == 0 and nr * len(views) % len(frames) else None
    patch, focus, cover = frame or (nothing, 0, nothing)
    view = nr * len(views) // len(frames)
    return is_frame(film, 0, view, patch, focus, cover, 0, [], views[view][2])


def is_view(film: dict, parent: int, box: list, text: int, opens: dict) -> bool:
    """Tell whether parent and ways lead to frames, and the part of the picture is one."""
    ways = [one for way in opens.values() for one in way]
    return (
        within(film["frames"], parent, *ways)
        and within(film["texts"], text)
        and len(box) == 4
        and all(number(side) and side >= 0 for side in box)
        and all(len(way) % 2 == 0 for way in opens.values())
        and within(film["owners"], *map(int, opens))
    )


def within(things: list, *places: int) -> bool:
    return all(type(at) is int and 0 <= at < len(things) for at in places)


def texts(*values: str) -> bool:
    return all(isinstance(value, str) for value in values)


def number(value: float) -> bool:
    return type(value) in (int, float) and abs(value) < MOST
