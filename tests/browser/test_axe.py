"""axe-core on all that is published or opened: every lesson as a deck and as a page, and in JupyterLab what we put out.

A new lesson is covered by itself. COURSE=folder looks at the notebooks of another copy of the course.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from axe import grave, grave_in_both_themes
from deck import opened, states
from driver import watched
from lab_page import window

from helpers.publish import publish

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


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "-m", "helpers.publishing.site", "notebooks", "-o", str(out)]
    subprocess.run(command, cwd=COURSE, check=True, timeout=120)
    return out


@every_lesson
def test_a_deck_has_no_grave_finding_on_any_slide(chromium, tmp_path, lesson):
    publish(lesson, "slides", tmp_path / "deck.html")
    with watched(chromium) as watch:
        shown = opened(watch, tmp_path / "deck.html", "?print-pdf")
        shown.wait_for_selector(".pdf-page")
        assert shown.locator(".pdf-page").count() > 5
        assert grave_in_both_themes(shown) == []
        shown = opened(watch, tmp_path / "deck.html")
        assert grave_in_both_themes(shown) == []
        found = [one for _ in states(shown) for one in grave(shown, "section.present", rules=["color-contrast"])]
        assert found == [], "in the dark theme, slide by slide"


@every_lesson
def test_a_page_has_no_grave_finding(chromium, pages, tmp_path, lesson):
    publish(lesson, "page", tmp_path / "page.html")
    for path in (pages / "lessons" / f"{lesson.stem}.html", tmp_path / "page.html"):
        with watched(chromium, viewport={"width": 640, "height": 360}) as watch:
            watch.page.goto(path.as_uri())
            watch.page.evaluate(UNFOLD)
            assert grave_in_both_themes(watch.page) == []


def test_the_index_and_the_search_have_no_grave_finding(chromium, pages):
    for name in ("index", "search"):
        with watched(chromium) as watch:
            watch.page.goto((pages / f"{name}.html").as_uri())
            assert grave_in_both_themes(watch.page) == []


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
        notebook.player(2).press("Escape")
        notebook.page.keyboard.press("b")
        assert len(notebook.cells()) == len(found.cells) + 1, "after Escape the keys are JupyterLab's"


def test_the_text_of_a_picture_is_there_in_an_untrusted_notebook_too(chromium, lab):
    with window(chromium, lab) as (notebook, _):
        name = lab.write("told.ipynb", *CELLS[:2])
        notebook.open(name).run_all()
        notebook.save()
        found = lab.read(name)
        found.metadata["title"] = "from somebody else"
        lab.store("theirs.ipynb", found)
        notebook.open("theirs.ipynb")
        assert notebook.page.locator(".jp-RenderedHTML img[alt]").count() == 1
        fold = notebook.page.locator(".jp-RenderedHTML summary")
        assert fold.bounding_box()["height"] <= 23
        fold.click()
        assert notebook.page.inner_text(".jp-RenderedHTML pre").startswith("ExpBackward0")
