"""Exercises in letters tell whether an answer is right and nothing else, so that trying letters
tells little.
"""

from collections.abc import Iterator

import pytest

from helpers import check
from helpers.exercises import checking
from helpers.exercises.exercise import exercises, lessons
from helpers.exercises.verdict import judge

pytestmark = pytest.mark.usefixtures("unfolded")
LETTERS = [one for lesson in lessons() for one in exercises(lesson) if one.letters]


def counting(letters: str) -> Iterator[str]:
    for number in range(2 ** len(letters)):
        yield "".join(letter for at, letter in enumerate(letters) if number >> at & 1)


@pytest.fixture(autouse=True)
def nothing_tried(monkeypatch):
    monkeypatch.setattr(checking, "_tried", {})


def right(exercise) -> str:
    return "".join(sorted(exercise.reader.read(exercise.truth())))


@pytest.mark.parametrize("exercise", LETTERS, ids=lambda exercise: exercise.id)
def test_every_wrong_answer_is_told_the_same(exercise):
    answer = right(exercise)
    wrong = [guess for guess in counting(exercise.letters.allowed) if guess != answer]
    verdicts = [judge(exercise, list(guess)) for guess in wrong]
    assert {(one.kind, one.text, one.printed, one.more) for one in verdicts} == {
        ("letters", f"not yet. Go back and read {exercise.letters.read}.", "", "")
    }
    assert judge(exercise, answer).kind == "right"


def test_what_is_no_letter_is_no_try(capsys):
    exercise = LETTERS[0]
    for wrong in ("xy", [True, False], 3, object(), "1, 2"):
        check(exercise.id, wrong)
        told = capsys.readouterr().out
        assert "✗ You gave" in told
        assert exercise.letters.about[0][1] not in told
