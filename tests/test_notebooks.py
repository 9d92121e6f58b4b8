"""Every lesson keeps every rule of `notebook_rules`, the clinic and the glossary those for them. Reads
notebooks/ only.
"""

from pathlib import Path

import pytest
from notebook_rules import CAPSTONE, CLINIC, RULES, Lesson

PATHS = sorted((Path(__file__).parent.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))
OF_LESSONS = {
    "a_lesson_has_roles",
    "exercises_are_numbered",
}
pytestmark = pytest.mark.notebooks


def holds(rules, read):
    """Fail with each rule that complains, and its complaints."""
    found = []
    for rule in rules:
        complaints = list(rule(read))
        found += [f"\n{rule.__name__}: {rule.__doc__}", *complaints] if complaints else []
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", PATHS, ids=[path.stem[:2] for path in PATHS])
def test_lesson_keeps_the_rules(path):
    holds(RULES, Lesson.at(path))


def test_the_clinic_keeps_the_rules():
    holds(CLINIC, Lesson.at(PATHS[0].with_name("clinic.ipynb")))


def test_one_real_model_keeps_the_rules():
    holds(CAPSTONE, Lesson.at(PATHS[0].with_name("one_real_model.ipynb")))


def test_the_glossary_keeps_the_rules_that_are_not_of_lessons_alone():
    rules = [rule for rule in RULES if rule.__name__ not in OF_LESSONS]
    holds(rules, Lesson.at(PATHS[0].with_name("glossary.ipynb")))
