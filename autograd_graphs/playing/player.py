"""The one widget of the course: plays a film, of a backward or of a lab, wherever it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import anywidget
from traitlets import Bool, Int, List, TraitError, Unicode, validate

from autograd_graphs.drawing.svg import html, safe, svg
from autograd_graphs.playing.backward_film import BackwardFilm
from autograd_graphs.playing.encode_backward import Encoder
from autograd_graphs.playing.encode_lab import LabEncoder
from autograd_graphs.playing.film import LabFilm
from autograd_graphs.playing.guesses import keep
from autograd_graphs.playing.lab_still import opening, still
from autograd_graphs.playing.stylesheet import stylesheet

HERE = Path(__file__).parent
# a film as a notebook's output stores it: JSON in one line
FILM = "application/vnd.computational-graphs.film"
IDENTITY = "helpers.player.Player"  # what saved players carry, wherever this module stands
NOTHING_ELSE = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def without_comments(script: str) -> str:
    """Return a script without indentation and comments; no text in ours takes several lines."""
    lines = map(str.strip, script.splitlines())
    return "\n".join([line for line in lines if line and not line.startswith("//")]) + "\n"


PARTS = ["marks", "numbers", "base", "steps_picture", "steps_walk", "steps_words", "steps_guess"]
PARTS += ["steps_camera", "steps_finder", "steps_motion", "steps"]
PARTS += ["lab_goals", "lab_words", "lab_picture", "lab_stacks", "lab_room", "lab"]
PARTS += ["play"]  # one module together: each file uses what stands in those before it


def script(*parts: str) -> str:
    """Return files of the player's module, one after the other."""
    texts = [(HERE / "player" / f"{part}.js").read_text(encoding="utf-8") for part in parts]
    return without_comments("\n".join(texts))


NOTEBOOK = script("notebook", "kernel")  # a page has no use for it
SCRIPT = script(*PARTS)
STYLE = stylesheet() + (HERE / "player.css").read_text(encoding="utf-8")


AnyFilm = LabFilm | BackwardFilm


class Player(anywidget.AnyWidget):
    """Show a film.

    `frame` is the number of the frame that is seen, `guessing` whether new numbers are hidden, `done` what
    was done in a lab: answers that were seen, and the presses.
    """

    _esm = NOTEBOOK + SCRIPT
    _css = STYLE
    # JSON in one line: a notebook would spread lists over a line per number.
    film = Unicode().tag(sync=True)
    frame = Int().tag(sync=True)
    guessing = Bool().tag(sync=True)
    done = List().tag(sync=True)

    def __init__(self, film: AnyFilm, **traits: object) -> None:
        self.text, self._title, self._count = film.text, film.alt, count(film)
        self._still = still_html(film)
        first = film.start if isinstance(film, BackwardFilm) else film.first
        super().__init__(film=as_json(film), _anywidget_id=IDENTITY, **({"frame": first} | traits))
        self.on_msg(self._keep)

    def _keep(self, _: object, content: object, buffers: object) -> None:
        """Keep the first guess that was committed at a frame; the browser sends it."""
        keep(self.film, content)

    @property
    def page(self) -> str:
        """Return a page that plays this film, with no kernel and no network."""
        return page_of(self.film, self.text, self._title)

    def save(self, path: str | Path) -> Path:
        """Write that page to `path`, which ends in .html; returns the path."""
        path = Path(path)
        if path.suffix.lower() != ".html":
            raise ValueError(f"Cannot save a player as {path.name!r}. Use the ending .html.")
        path.write_text(self.page, encoding="utf-8")
        return path

    @validate("frame")
    def _there(self, proposal: dict) -> int:
        if proposal["value"] not in range(self._count):
            raise TraitError(
                f"There is no frame {proposal['value']}. "
                f"This film has {self._count}, counted from 0."
            )
        return proposal["value"]

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        """Give the widget, and for where there is no kernel the film, a picture and its text."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return data | {FILM: self.film, "text/html": self._still, "text/plain": self.text}, metadata

    def __repr__(self) -> str:
        return self.text


def still_html(film: AnyFilm) -> str:
    """Return the first frame as a picture under its sentence, with the film's text folded."""
    if isinstance(film, BackwardFilm):
        sentence, picture = film.moments[0].sentence, film.still
    else:
        sentence, picture = opening(film), still(film)
    return f"<p>{safe(sentence)}</p>" + html(svg(picture), film.alt, film.text, "All of it as text")


def as_json(film: AnyFilm) -> str:
    """Return a film as JSON in one line."""
    is_backward = isinstance(film, BackwardFilm)
    data = Encoder().film(film) if is_backward else LabEncoder().lab(film)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def count(film: AnyFilm) -> int:
    """Return how many frames a film has: of a backward, the stops of all its views together."""
    if isinstance(film, BackwardFilm):
        return sum(len(scene.stops) for scene in film.scenes)
    return len(film.states)


def head() -> str:
    """Return the style and the script that a page needs once, for any number of slots."""
    script = f'<script type="module">\n{SCRIPT}\nplayAll(document);\n</script>'
    return f"<style>\n{STYLE}</style>\n{script}"


def slot_of(data: str, text: str) -> str:
    """Return the place in a page where a film in JSON plays, with its text where no script runs."""
    data = data.replace("<", "\\u003c")
    script = f'<script type="application/json">{data}</script>'
    words = f"<noscript><pre>{safe(text)}</pre></noscript>"
    return f'<div class="player-slot">{script}\n{words}</div>'


def page(film: AnyFilm) -> str:
    """Return a page that plays a film from a file, with no kernel and no network."""
    return page_of(as_json(film), film.text, film.alt)


def page_of(data: str, text: str, title: str) -> str:
    """Return the same for a film that is JSON already."""
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{NOTHING_ELSE}">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{safe(title)}</title>",
        head(),
        slot_of(data, text),
        "</html>",
    ]
    return "\n".join(lines) + "\n"
