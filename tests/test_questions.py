"""What the package knows of a question is what its notebook says, and nothing was typed twice."""

from pathlib import Path

import pytest
import questions
from notebook_rules import Lesson

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LESSONS = {path.stem[:2]: path for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))}
LESSONS["clinic"] = NOTEBOOKS / "clinic.ipynb"


@pytest.mark.parametrize("name", LESSONS)
def test_the_package_has_the_questions_of_the_lesson(name):
    wanted = questions.text_of(Lesson.at(LESSONS[name]))
    stored = questions.path_of(name)
    found = stored.read_text(encoding="utf-8") if stored.exists() else ""
    assert found == wanted, f"run `make refresh N={name}`"


def test_no_file_belongs_to_a_lesson_that_is_not_there():
    assert {path.stem for path in questions.FOLDER.glob("*.json")} <= set(LESSONS)
