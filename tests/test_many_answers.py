"""Every answer in tests/answers is judged as its label says, and told what its head asks for."""

import pytest
from answering import FOLDER, answers, fault, judged

from helpers.exercises.exercise import exercises, find, lessons
from helpers.exercises.recognise import Like

EVERY = [exercise.id for lesson in lessons() for exercise in exercises(lesson)]
FEWEST = {"right": 8, "wrong": 10}


def test_each_exercise_has_a_file_of_answers():
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(EVERY)


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EVERY)
def test_answers_are_judged_as_labelled_and_each_misconception_is_said_to_one(exercise):
    found = answers(exercise)
    assert [text for one in found if (text := fault(one))] == []
    said = {judged(one).text.partition("\n")[0] for one in found}  # a build shows the case below
    predicates = [one for one in find(exercise).misconceptions if not isinstance(one.when, Like)]
    assert [one.message for one in predicates if one.message not in said] == []
    for label, fewest in FEWEST.items():
        sources = {one.source for one in found if one.label == label}
        assert len(sources) >= fewest, f"{exercise} has {len(sources)} {label} answers"
