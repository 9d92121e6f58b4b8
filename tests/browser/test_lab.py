"""Every lesson, as a student gets it, in real JupyterLab: run from top to bottom, looked at, in both themes."""

import pytest
from lab import ROOT
from lab_rules import complaints

pytestmark = pytest.mark.browser
LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SHOTS = ROOT / "build" / "screenshots"


@pytest.mark.parametrize("name", LESSONS, ids=[name[:2] for name in LESSONS])
def test_a_lesson_runs_and_shows_what_it_should(notebook, name):
    notebook.open(name).run_all()
    photograph(notebook, name[:2])
    assert complaints(notebook) == []


def photograph(notebook, number):
    """Keep a picture of the whole lesson in each theme, for people to look at."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    notebook.show_whole()
    for theme in ("Dark", "Light"):  # the last one stays for the next lesson
        notebook.theme(theme)
        notebook.page.screenshot(path=SHOTS / f"{number}-{theme.lower()}.png", animations="disabled")
