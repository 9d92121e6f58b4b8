"""Nothing collides in what is drawn: edges and cards, capsules and words, in every picture that the
lessons store, in every state of a lab, and in what random programs leave.
"""

import json
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from layout_faults import faults, of_film, of_marks
from made_up_graphs import calls, graphs
from player_films import PROGRAMS, film_of
from programs import programs

from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.film import marks_of
from autograd_graphs.playing.player import FILM, as_json
from autograd_graphs.recording.record import record
from helpers import labs, show

# The same hundred every time: a layout that cannot be mended must not come and go.
hundred = settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def in_film(text):
    return [f"{which}: {fault}" for which, picture in of_film(text) for fault in faults(picture)]


def in_drawing(graph):
    drawn = drawing(graph)
    return list(faults(of_marks((drawn.width, drawn.height), drawn.marks)))


def in_lab(film):
    found = set()
    for nr, state in enumerate(film.states):
        scene = film.scenes[state.scene]
        found.update(faults(of_marks((scene.width, scene.height), marks_of(film, nr))))
    return found


def in_program(program):
    """Return what is wrong in the picture of a program, and in the film of its backward."""
    loss = program.run()[-1].sum()
    found = in_drawing(show(loss).graph)
    try:
        return found + in_film(as_json(film(record(loss))))
    except RuntimeError:  # one that torch refuses has no film
        return found


def stored(path):
    """Yield the films of a backward that a notebook stores."""
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {}).get(FILM)
            if data and "moments" in json.loads(data):
                yield data


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_collides_in_the_films_of_a_lesson(path):
    assert [fault for text in stored(path) for fault in in_film(text)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", labs.__all__)
def test_nothing_collides_in_any_state_of_a_lab(name):
    assert in_lab(getattr(labs, name).film()) == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_collides_in_the_films_of_made_up_models(name):
    assert in_film(as_json(film_of(name))) == []


@pytest.mark.thorough
@given(programs())
@hundred
def test_nothing_collides_in_what_a_hundred_programs_leave(program):
    assert in_program(program) == []


@pytest.mark.thorough
@given(graphs() | calls())
@hundred
def test_nothing_collides_in_a_hundred_graphs_that_no_program_made(graph):
    assert in_drawing(graph) == []


def test_what_collides_is_named():
    """A card that is pushed onto another or out of the sheet, or that is too narrow."""
    made = film_of("square").scenes[0].picture
    (first, *_, last) = [
        mark for mark in made.marks if mark.shape == "rect" and mark.part == "body"
    ]
    size = made.width, made.height

    def named(**at):
        marks = [replace(last, **at) if mark is last else mark for mark in made.marks]
        return " ".join(faults(of_marks(size, marks)))

    assert not named()
    assert "is over a leaf" in named(at=first.at)
    assert "is cut off at the border" in named(at=(size[0] - 10, *last.at[1:]))
    assert "is wider than" in named(at=(*last.at[:2], 40, *last.at[3:]))
