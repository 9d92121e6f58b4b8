"""A student's copy of an earlier edition still runs, and every import that a lesson ever made still works.
What it asks and today's lesson asks no more is said to have gone, and what was answered is kept. A lab that an
earlier version saved is told apart.
"""

import json
import re
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from autograd_graphs.playing import encode_lab
from course.publishing import films
from helpers import (
    again,
    check,
    draw,
    explain,
    find_line,
    hint,
    mended,
    order,
    predict,
    progress,
    review,
    run_order,
    solution,
)
from helpers.exercises.exercise import find
from helpers.exercises.verdict import judge
from helpers.lessons import is_gone
from helpers.predicting.kinds import lines_of
from helpers.predicting.questions import question
from helpers.progress_file import EXERCISES, PREDICTIONS, change, kept, progress_path
from helpers.quiz import then_and_now

FILMS = sorted((Path(__file__).parent / "old_films").glob("*.json"))
FOLDER = Path(__file__).parent / "old_copies"
COPIES = sorted(FOLDER.glob("*.ipynb"))
ASKED = json.loads((FOLDER / "what_they_asked.json").read_text(encoding="utf-8"))
HAS = {"00": 4, "01": 2, "05": 3, "09": 4}  # pictures, by lesson; where there are three, a player
ASKS = re.compile(
    r"""\b(?:check|predict|draw|find_line|order|explain|mended|run_order)\(\s*["']([\w.]+)["']"""
)
WENT, ANSWERED = ("03.q1", "00.3"), "{} is from an earlier edition. Your answer is kept.\n"
CALLS = {
    **{call.__name__: call for call in (check, hint, solution, again)},
    **{call.__name__: call for call in (predict, draw, find_line, order, explain, mended)},
    **{call.__name__: call for call in (run_order, review)},
    "check an answer": lambda name: check(name, 3),
    "predict a letter": lambda name: predict(name, "b"),
    "find_line in a program": lambda name: find_line(name, "x = 1"),
}
IMPORTS = """
from helpers import beside_torchviz, check, diagnose, expect_error, hint, labs, plot, record, show
from helpers import snapshot, solution, step_through
from helpers.clinic.index import symptoms, terms
from helpers.gpu import on_gpu
from helpers.quiz import keep, kept
"""


@pytest.mark.notebooks
@pytest.mark.parametrize("path", COPIES, ids=lambda path: path.stem)
def test_an_old_copy_runs_and_says_what_went(path, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # it must be there, or IPython warns
    copy = nbformat.read(path, 4)
    NotebookClient(copy, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [one for cell in copy.cells for one in cell.get("outputs", ()) if "data" in one]
    pictures = sum("<img" in one.data.get("text/html", "") for one in shown)
    players = sum("application/vnd.jupyter.widget-view+json" in one.data for one in shown)
    wanted = HAS.get(path.stem[:2], 0)
    assert pictures >= wanted
    assert players >= (1 if wanted > 2 else 0)
    for cell in copy.cells:
        for name in filter(is_gone, ASKS.findall(cell.source)):
            assert f"{name} is from an earlier edition" in json.dumps(cell.outputs)


def test_what_an_old_copy_asks_is_asked_today_or_said_to_be_gone():
    cells = [cell for path in COPIES for cell in nbformat.read(path, 4).cells]
    asked = {name for cell in cells for name in ASKS.findall(cell.source)}
    assert asked >= {*ASKED["questions"], *ASKED["solutions"]}
    for name in asked:
        assert bool(question(name) or find(name)) != is_gone(name), name


@pytest.fixture
def answered(tmp_path, monkeypatch):
    """Keep answers to what went."""
    monkeypatch.setenv("PROGRESS_FOLDER", str(tmp_path))
    for section, name in zip((PREDICTIONS, EXERCISES), WENT, strict=True):
        change(section, name, lambda _: {"first": "a", "tries": 2, "day": "2026-01-01"})
    return kept()


@pytest.mark.parametrize("call", CALLS)
def test_what_went_is_said_to_be_kept_and_no_neighbour_is_named(call, answered, capsys):
    before = progress_path().read_bytes()
    for name in WENT:
        CALLS[call](name)
        assert capsys.readouterr().out == ANSWERED.format(name)
    assert progress_path().read_bytes() == before


def test_what_nobody_answered_is_said_to_be_gone_and_not_to_be_kept(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PROGRESS_FOLDER", str(tmp_path))
    predict("03.q1")
    then_and_now(q1=...)
    assert capsys.readouterr().out == (
        "03.q1 is from an earlier edition and isn't asked any more.\n"
        "quiz.1 is from an earlier edition and isn't asked any more.\n"
    )


def test_review_and_progress_pass_over_what_went_and_the_file_keeps_it(answered, capsys):
    assert "Nothing is kept yet" in repr(progress())
    review()
    assert "Nothing is due" in capsys.readouterr().out
    check("05.1", 7)
    assert re.findall(r"(?m)^\d\d|\d\d\.\w+", repr(progress())) == ["05", "05.1"]
    now = kept()
    for section, name in zip((PREDICTIONS, EXERCISES), WENT, strict=True):
        assert now[section][name] == answered[section][name]


@pytest.mark.parametrize("name", [*filter(question, ASKED["questions"])])
def test_a_question_that_an_old_copy_asks_means_the_same_today(name):
    """Its options may be in other words; what else changes is another question: give it a new id."""
    today = question(name)
    asks = lines_of(today) or today.letters
    meant = {"kind": today.kind, "right": today.right, "asks": asks}
    assert json.loads(json.dumps(meant)) == ASKED["questions"][name], "give it a new id"


@pytest.mark.parametrize("name", [*filter(find, ASKED["solutions"])])
def test_what_solved_an_exercise_of_an_old_copy_solves_it_today(name):
    found = {"torch": torch}
    exec(ASKED["solutions"][name], found)
    assert judge(find(name), found["answer"]).kind == "right", "give it a new id"


@pytest.mark.parametrize("path", FILMS, ids=lambda path: path.stem)
def test_a_film_that_was_saved_by_an_earlier_version_is_told_apart(path):
    film = json.loads(path.read_text(encoding="utf-8"))
    assert film["version"] == int(path.stem.partition("_")[2])
    assert film["version"] < encode_lab.VERSION
    for version in (film["version"], encode_lab.VERSION):  # nor does it pass as a new one
        with pytest.raises(ValueError, match="data must"):
            films.schema()(film | {"version": version})


def test_every_import_of_an_old_lesson_works():
    exec(IMPORTS, {})
