"""A student's copy that was made before the modules moved into rooms, or before lessons asked for
guesses by buttons, still runs, and every import that a lesson ever made still works. A lab that an earlier version saved is told apart.
"""

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from notebook_rules.exercises import CHECK

from autograd_graphs.playing import encode_lab
from course.publishing import films
from helpers import check
from helpers.exercises import exercise as registry
from helpers.lessons import is_gone

FILMS = sorted((Path(__file__).parent / "old_films").glob("*.json"))
COPIES = sorted((Path(__file__).parent / "old_copies").glob("*.ipynb"))
HAS = {"00": 4, "01": 2, "05": 3, "09": 4}  # pictures, by lesson; where there are three, a player
IMPORTS = """
from helpers import beside_torchviz, check, diagnose, expect_error, hint, labs, plot, record, show
from helpers import snapshot, solution, step_through
from helpers.clinic.index import symptoms, terms
from helpers.gpu import on_gpu
from helpers.quiz import keep, kept
"""


@pytest.mark.notebooks
@pytest.mark.parametrize("path", COPIES, ids=lambda path: path.stem)
def test_an_old_copy_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # it must be there, or IPython warns
    copy = nbformat.read(path, 4)
    NotebookClient(copy, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [one for cell in copy.cells for one in cell.get("outputs", ()) if "data" in one]
    pictures = sum("<img" in one.data.get("text/html", "") for one in shown)
    players = sum("application/vnd.jupyter.widget-view+json" in one.data for one in shown)
    wanted = HAS[path.stem[:2]]
    assert pictures >= wanted
    assert players >= (1 if wanted > 2 else 0)


def test_every_exercise_that_an_old_copy_asks_is_known_or_said_to_be_gone(capsys):
    cells = [cell for path in COPIES for cell in nbformat.read(path, 4).cells]
    asked = {name for cell in cells for name in CHECK.findall(cell.source)}
    for name in asked:
        if registry.find(name) is None:
            assert is_gone(name)
            check(name, None)
            assert f'There is no exercise "{name}".' in capsys.readouterr().out


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
