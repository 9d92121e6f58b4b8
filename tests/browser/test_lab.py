"""Every lesson, as a student gets it, in real JupyterLab: run from top to bottom and looked at; with
`PHOTOGRAPHS=yes` photographed in both themes.
"""

import pytest
from driver import photograph, wants_photographs
from lab import ROOT
from lab_page import window
from lab_rules import complaints

pytestmark = pytest.mark.browser
LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))

WITH_PLOTS = "06_accumulation.ipynb"
SCHEMES = """() => [...document.querySelectorAll('.jp-Notebook img')]
    .map((one) => getComputedStyle(one).colorScheme)"""


@pytest.fixture(scope="module")
def shared(chromium, lab):
    """One window for all lessons, and the watch over it."""
    with window(chromium, lab) as (notebook, watch):
        notebook.open(lab.write("first.ipynb", "# nothing yet"))
        yield notebook, watch


@pytest.mark.parametrize("name", LESSONS, ids=[name[:2] for name in LESSONS])
def test_a_lesson_runs_and_shows_what_it_should(shared, name):
    notebook, watch = shared
    notebook.open_next(name).run_all()
    if wants_photographs():
        in_both_themes(notebook, name[:2])
    assert complaints(notebook) == []
    if name == WITH_PLOTS:
        pictures_follow_the_theme(notebook)
    assert (watch.foreign, watch.errors) == ([], [])


def in_both_themes(notebook, number):
    """Photograph the whole lesson in each theme."""
    notebook.show_whole()
    for theme in ("Dark", "Light"):  # the last one stays for the next lesson
        notebook.theme(theme)
        photograph(notebook.page, f"{number}-{theme.lower()}", animations="disabled")


def pictures_follow_the_theme(notebook):
    """Change the theme: pictures of graphs have both, plots are turned over."""
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        assert set(notebook.page.evaluate(SCHEMES)) == {theme.lower()}
        plot = ".jp-Notebook img[src^='data:image/png']"
        turned = notebook.page.eval_on_selector(plot, "(one) => getComputedStyle(one).filter")
        assert turned.startswith("invert") == (theme == "Dark")
