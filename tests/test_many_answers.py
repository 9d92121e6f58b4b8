"""Every answer in tests/answers is judged as its label says."""

import pytest
from answering import FOLDER, answers, fault

from helpers.exercises.exercise import exercises, lessons

EVERY = [exercise.id for lesson in lessons() for exercise in exercises(lesson)]
MOST = 8  # per exercise


def test_each_exercise_has_a_file_of_answers():
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(EVERY)


@pytest.mark.parametrize("exercise", EVERY)
def test_a_few_answers_of_each_kind_do(exercise):
    labels = [one.label for one in answers(exercise)]
    assert len(labels) <= MOST
    assert {"right", "wrong"} <= set(labels)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EVERY)
def test_answers_are_judged_as_labelled(exercise):
    assert [text for one in answers(exercise) if (text := fault(one))] == []
