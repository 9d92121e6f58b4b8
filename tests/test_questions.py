"""What is asked is what the notebooks say: what is stored of a program is what it does today, and a
package that was built without torch asks the same as one that lies beside the notebooks.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from computed import store_what_came
from notebook_rules import Lesson
from notebook_rules.rounds import asked

from helpers.predicting import questions
from helpers.predicting.from_notebook import questions_at

ROOT = Path(__file__).resolve().parents[1]
LESSONS = {path.stem[:2]: path for path in sorted(questions.NOTEBOOKS.glob("[0-9]*.ipynb"))}
LESSONS |= {name: questions.NOTEBOOKS / f"{name}.ipynb" for name in ("clinic", "one_real_model")}
BUILDS = """
import runpy
import sys
sys.modules["torch"] = None  # pip builds a package where there is none
sys.argv = ["setup.py", "--quiet", *sys.argv[1:]]
runpy.run_path("setup.py")
"""


@pytest.fixture(autouse=True)
def afresh():
    questions.every.cache_clear()
    yield
    questions.every.cache_clear()


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_stored_of_a_program_is_what_it_does(name):
    lesson = Lesson.at(LESSONS[name])
    anew = nbformat.from_dict(lesson.node)
    store_what_came(lesson, anew)
    stored = [cell.metadata.get("course") for cell in lesson.node.cells]
    assert [cell.metadata.get("course") for cell in anew.cells] == stored, f"make refresh N={name}"


def test_every_round_of_the_lessons_is_asked():
    rounds = [round_ for path in LESSONS.values() for round_ in asked(Lesson.at(path))]
    assert list(questions.every()) == [round_.first.course["id"] for round_ in rounds]


def test_a_notebook_that_is_broken_or_gone_takes_no_other_lesson_with_it(tmp_path, monkeypatch):
    for number in ("03", "05", "07", "09", "11"):
        shutil.copy(LESSONS[number], tmp_path)
    (tmp_path / LESSONS["03"].name).write_text("{", encoding="utf-8")
    (tmp_path / LESSONS["05"].name).write_bytes(b"\xff\xfe")
    (tmp_path / LESSONS["07"].name).write_text('{"cells": [1]}', encoding="utf-8")
    (tmp_path / LESSONS["09"].name).unlink()
    (tmp_path / "09_a_folder.ipynb").mkdir()
    monkeypatch.setattr(questions, "NOTEBOOKS", tmp_path)
    assert list(questions.every()) == list(questions_at(LESSONS["11"]))
    monkeypatch.setattr(questions, "NOTEBOOKS", tmp_path / "none")
    questions.every.cache_clear()
    assert questions.every() == {}
    assert questions.question("11.d1") is None


def test_an_edited_notebook_asks_at_once_what_it_says(tmp_path, monkeypatch):
    copy = Path(shutil.copy(LESSONS["07"], tmp_path))
    monkeypatch.setattr(questions, "NOTEBOOKS", tmp_path)
    title = questions.question("07.q1").title
    copy.write_text(copy.read_text("utf-8").replace(title, "A new title"), encoding="utf-8")
    questions.every.cache_clear()  # as in a new kernel
    assert questions.question("07.q1").title == "A new title"


@pytest.mark.slow
def test_a_build_without_torch_holds_all_questions_and_an_sdist_the_notebooks(
    tmp_path, monkeypatch
):
    copy = tmp_path / "course"
    leave = shutil.ignore_patterns(".*", "build", "tests", "work", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, copy, ignore=leave)
    command = [sys.executable, "-c", BUILDS]
    subprocess.run([*command, "build_py", "--build-lib=there"], cwd=copy, check=True)
    (built,) = (copy / "there").rglob("questions.json")
    assert built.relative_to(copy / "there") == Path("helpers/predicting/questions.json")
    assert not list((copy / "helpers").rglob("questions.json")), "a checkout asks its notebooks"
    subprocess.run([*command, "sdist", "--formats=tar"], cwd=copy, check=True)
    (archive,) = (copy / "dist").glob("*.tar")
    shutil.unpack_archive(archive, tmp_path / "sdist", filter="data")
    (packed,) = (tmp_path / "sdist").iterdir()
    wanted = {path.name for path in (*LESSONS.values(), ROOT / "setup.py")}
    assert wanted <= {path.name for path in packed.rglob("*.*")}
    known = questions.every()
    questions.every.cache_clear()
    monkeypatch.setattr(questions, "BUILT", built)
    monkeypatch.setattr(questions, "NOTEBOOKS", tmp_path / "none")
    assert json.loads(built.read_text("utf-8")).keys() == known.keys()
    assert questions.every() == known
