"""Lessons in Notebook 7, the classic notebook of today, which has JupyterLab's parts and other keys: what
is focused hears of a key only after the notebook's shortcuts have.
"""

import pytest
from lab import Lab
from lab_page import PANEL, Notebook, window
from lab_rules import complaints

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
# of its own, in any notebook
NOISE = ("Cannot read properties of undefined (reading 'schema')",)
HEARD = [*"xabddyzmrslj00", "ArrowDown", "ArrowUp", "ArrowLeft", "Enter", "Shift+M", "Home"]
GRAPH = """import torch

from helpers import predict, show, step_through

x = torch.tensor(2.0, requires_grad=True)
loss = (x * x + x).sin()"""


class Notebook7(Lab):
    """A running Notebook 7, on the same copies."""

    module, program = "notebook", "JupyterNotebookApp"


@pytest.fixture(scope="module")
def classic(tmp_path_factory):
    with Notebook7(tmp_path_factory.mktemp("notebook")) as running:
        yield running


@pytest.fixture
def page(chromium, classic):
    """A window with no notebook yet, and the watch over it."""
    with window(chromium, classic, NOISE) as (notebook, _):
        yield notebook


def opened(page, name):
    """Open a file of work/ in a window of Notebook 7, which shows one notebook."""
    page.page.goto(f"{page.lab.address}/notebooks/{name}?token={page.lab.token}")
    return Notebook(page.lab, page.page).wait()


def test_a_lesson_runs_and_shows_what_it_should(page):
    notebook = opened(page, "03_leaf_and_non_leaf.ipynb")
    notebook.run_all()
    assert complaints(notebook) == []


def test_the_shortcuts_of_the_notebook_do_not_fire_inside_players_and_questions(page, classic):
    cells = [GRAPH, "step_through(loss)", "show(loss).explore()", 'predict("05.q1")']
    notebook = opened(page, classic.write("keys.ipynb", *cells))
    notebook.run_all()
    before = notebook.cells()
    for cell in (1, 2):
        notebook.player(cell).press(*HEARD)
        assert notebook.cells() == before
        assert notebook.page.evaluate("Boolean(document.activeElement.closest('.player'))")
    player = notebook.player(1)
    player.press("Home", "ArrowRight", "ArrowRight")
    assert player.count() == "step 2 of 4"
    player.press("Shift+Enter")
    notebook.page.wait_for_function(f"{PANEL}.content.activeCellIndex === 2")
    notebook.page.focus(".prediction input")
    for key in ("x", "b", "ArrowRight", " "):
        notebook.page.keyboard.press(key)
    assert notebook.page.locator(".prediction input:checked").input_value() == "b"
    assert len(notebook.cells()) == len(before)
    notebook.select(2)
    notebook.page.keyboard.press("b")
    assert len(notebook.cells()) == len(before) + 1, "outside they do"
