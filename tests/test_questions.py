"""What the package knows of a question is what its notebook says, and nothing was typed twice."""

import json
from itertools import count
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


numbers = count(1)


def cell(role, source, name="", **more):
    made = {
        "id": name or f"cell{next(numbers)}",
        "source": source,
        "metadata": {"course": {"role": role, **more}},
    }
    if role in ("guess", "run"):
        return {"cell_type": "code", "outputs": [], "execution_count": None, **made}
    return {"cell_type": "markdown", **made}


ROUND = [
    cell("question", "## 3 · Does `x**2` *cut*?\n\nSet-up.\n\n**Predict.** What?\n\n- (a) `y`\n- (b) no", id="98.q1", right="b"),
    cell("guess", 'predict("98.q1")', "g"),
    cell("run", "x = 1\nx  \n", "r"),
    cell(
        "because",
        "<details><summary>Why? Open it when you have run the cell</summary>\n\n**It is `y**2`, and [no](a.ipynb) *cut*.** More.\n\n- (a) A *slip*,\n  on two lines.\n</details>",
    ),
    cell("run", "x = 2", "later"),
    cell("question", "### Numbers\n\n**Predict.** Which?", id="98.q2", answer=33, tolerance=0.01),
    cell("run", "33", "n"),
    cell("because", "<details><summary>Why? Open it when you have run the cell</summary>\n\n**It adds.**\n\n- 162, -1.5: It multiplies.\n</details>"),
    cell("question", "### Quiz\n\n- (a) one\n- (b) two", id="quiz.1", settled="02"),
]  # fmt: skip


def test_a_round_is_read():
    book = {"cells": ROUND, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = questions.questions(Lesson("98_made_up.ipynb", json.dumps(book)))
    assert list(found) == ["98.q1", "98.q2", "quiz.1"]
    code = found["98.q1"].pop("code")
    assert found["98.q1"] == {
        "title": "Does `x**2` cut?",
        "letters": "ab",
        "right": "b",
        "cell": "g",
        "run": "r",
        "takeaway": "It is `y**2`, and no cut.",
        "why": {"a": "A slip, on two lines."},
    }
    assert code == questions.digest("x = 1\nx")
    assert found["98.q2"]["right"] == [33]
    assert found["98.q2"]["tolerance"] == 0.01
    assert found["98.q2"]["why"] == {"162, -1.5": "It multiplies."}
    assert found["quiz.1"] == {"title": "Quiz", "letters": "ab", "settled": "02"}
