"""Every lesson keeps every rule of `notebook_rules`, the clinic those for it. Reads notebooks/ only."""

from functools import cache
from pathlib import Path

import pytest
from notebook_rules import CLINIC, COURSE, RULES, Lesson

PATHS = sorted((Path(__file__).parent.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))

lesson = cache(Lesson.at)  # rules change nothing, so one reading serves them all


@pytest.mark.notebooks
@pytest.mark.parametrize("path", PATHS, ids=[path.stem[:2] for path in PATHS])
@pytest.mark.parametrize("rule", RULES, ids=[rule.__name__ for rule in RULES])
def test_lesson_keeps_the_rule(path, rule):
    complaints = [f"{path.name}: {complaint}" for complaint in rule(lesson(path))]
    assert not complaints, "\n".join([rule.__doc__, *complaints])


@pytest.mark.notebooks
@pytest.mark.parametrize("rule", CLINIC, ids=[rule.__name__ for rule in CLINIC])
def test_the_clinic_keeps_the_rule(rule):
    complaints = list(rule(lesson(PATHS[0].with_name("clinic.ipynb"))))
    assert not complaints, "\n".join([rule.__doc__, *complaints])


@pytest.mark.notebooks
@pytest.mark.parametrize("rule", COURSE, ids=[rule.__name__ for rule in COURSE])
def test_all_lessons_together_keep_the_rule(rule):
    complaints = list(rule([lesson(path) for path in PATHS]))
    assert not complaints, "\n".join([rule.__doc__, *complaints])
