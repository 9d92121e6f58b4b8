"""Every lesson keeps every rule of `notebook_rules`, the clinic those for it. Reads notebooks/ only."""

from pathlib import Path

import pytest
from notebook_rules import CLINIC, RULES, Lesson

PATHS = sorted((Path(__file__).parent.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))
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
