"""Let through of a notebook's saved players only films that a player of ours could have saved.

The script that a notebook carries is never used. The schema sees to it that what becomes a class or
a path can be nothing else. Of a number that leads nowhere the player says that it is damaged.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import fastjsonschema
from nbformat import NotebookNode

from autograd_graphs.playing.player import FILM, IDENTITY

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


def film_of(notebook: NotebookNode, output: NotebookNode) -> str | None:
    """Return the film of the player that an output shows, as JSON; None where none can be trusted.

    It stands in the output itself, or, as older players were saved, in the notebook's widgets.
    """
    try:
        film = json.loads(stored(notebook, output))
        schema()(film)
        written = json.dumps(film, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        written.encode()  # half a surrogate cannot be written to a file
        return written
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def stored(notebook: NotebookNode, output: NotebookNode) -> str:
    """Return the text of a film that an output, or the notebook, has. Raises KeyError."""
    if FILM in output["data"]:
        return output["data"][FILM]
    state = notebook.metadata["widgets"][STATE]["state"][output["data"][VIEW]["model_id"]]["state"]
    if state["_anywidget_id"] != IDENTITY:
        raise KeyError(state["_anywidget_id"])
    return state["film"]


@cache
def schema() -> Any:
    """Return what raises a ValueError for data that our encoders do not write."""
    text = files("autograd_graphs.playing").joinpath("film.schema.json").read_text("utf-8")
    return fastjsonschema.compile(json.loads(text))
