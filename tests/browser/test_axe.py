"""axe-core on all that is published or opened: every lesson as a deck and as a page, and in
JupyterLab what we put out.

A new lesson is covered by itself. COURSE=folder looks at the notebooks of another copy of the
course.
"""

import os
from pathlib import Path

import pytest
from axe import grave, grave_by_the_switch, grave_in_both_themes
from deck import UNROLL, opened
from driver import GUESS_ALL, watched
from lab_page import window

from course.publish import publish

pytestmark = pytest.mark.browser
COURSE = Path(os.environ.get("COURSE", Path(__file__).resolve().parents[2]))
LESSONS = sorted(COURSE.glob("notebooks/[0-9][0-9]_*.ipynb"))
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=[path.stem for path in LESSONS])
OURS = ".jp-OutputArea-output .player", ".jp-RenderedHTML"
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
CELLS = [
    """import torch
from helpers import labs, show, step_through
x = torch.tensor([1.0, 2.0], requires_grad=True)""",
    "show((x * 3).exp())",
    "step_through((x * 3).sum())",
    "labs.leaves()",
]


@every_lesson
def test_a_deck_has_no_grave_finding_on_any_slide(chromium, tmp_path, lesson):
    publish(lesson, "slides", tmp_path / "deck.html")
    with watched(chromium) as watch:
        shown = opened(watch, tmp_path / "deck.html", "?print-pdf")
        shown.wait_for_selector(".pdf-page")
        assert shown.locator(".pdf-page").count() > 5
        assert grave(shown, rules=["color-contrast"]) == [], "on paper"
        shown = opened(watch, tmp_path / "deck.html")
        assert grave(shown) == [], "as it opens"
        shown.evaluate(UNROLL)
        shown.evaluate("document.body.tabIndex = 0")  # only this test scrolls the page of a deck
        assert grave_in_both_themes(shown) == [], "all slides at once"


@every_lesson
def test_a_page_of_the_site_has_no_grave_finding(chromium, built_pages, lesson):
    look_at_all_of(chromium, built_pages / "lessons" / f"{lesson.stem}.html")


@pytest.mark.parametrize("number", ["04", "09"])  # between them every kind of output
def test_a_page_of_its_own_has_no_grave_finding(chromium, tmp_path, number):
    lesson = next(path for path in LESSONS if path.name.startswith(number))
    publish(lesson, "page", tmp_path / "page.html")
    look_at_all_of(chromium, tmp_path / "page.html")


@pytest.mark.parametrize("name", ["index", "search"])
def test_the_index_and_the_search_have_no_grave_finding(chromium, built_pages, name):
    look_at_all_of(chromium, built_pages / f"{name}.html")


def look_at_all_of(chromium, path):
    """Look at a page in both themes, in a small window, all that is folded opened."""
    with watched(chromium, viewport={"width": 640, "height": 360}) as watch:
        watch.page.goto(path.as_uri())
        watch.page.evaluate(GUESS_ALL)
        watch.page.evaluate(UNFOLD)
        assert grave_in_both_themes(watch.page) == []
        if watch.page.locator("body[data-theme]").count():
            assert grave_by_the_switch(watch.page) == []


def test_what_we_put_out_in_jupyterlab_has_no_grave_finding(chromium, lab):
    with window(chromium, lab) as (notebook, _):
        notebook.open(lab.write("axe.ipynb", *CELLS)).run_all()
        for theme in ("Light", "Dark"):
            notebook.theme(theme)
            notebook.show_whole()
            notebook.unfold()
            assert notebook.page.locator(".player").count() == 2
            assert grave(notebook.page, *OURS) == []
        found = lab.read("axe.ipynb")
        for _ in range(1 + notebook.page.locator(".player details[open]").count()):
            notebook.player(2).press("Escape")  # what is open is closed first
        notebook.page.keyboard.press("b")
        assert len(notebook.cells()) == len(found.cells) + 1, (
            "after Escape the keys are JupyterLab's"
        )
