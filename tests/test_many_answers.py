"""Every answer in tests/answers is judged as its label says."""

import pytest
from answering import FOLDER, answers, fault

from helpers.exercises.exercise import exercises, lessons

EVERY = [exercise.id for lesson in lessons() for exercise in exercises(lesson)]


def test_each_exercise_has_a_file_of_answers():
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(EVERY)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EVERY)
def test_answers_are_judged_as_labelled(exercise):
    assert [text for one in answers(exercise) if (text := fault(one))] == []
