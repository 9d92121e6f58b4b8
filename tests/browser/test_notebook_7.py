"""JupyterLab and Notebook 7, the classic notebook of today, which has JupyterLab's parts and other keys:
what is focused there hears of a key only after the notebook's shortcuts have.
"""

import lab_page
import pytest
from lab import Lab
from lab_page import PANEL, Notebook, window
from lab_rules import complaints

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
# Notebook 7's own, in any notebook
NOISE = (*lab_page.NOISE, "Cannot read properties of undefined (reading 'schema')")
KEYS = [
    *"iofn+-0g1g/dd aabbxcvzmyrslj00", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "End", "Home",
    "Shift+ArrowUp", "Shift+ArrowRight", "Enter", "Delete", "Shift+M", "Shift+L", "Escape",
]  # fmt: skip
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


@pytest.fixture(params=["lab", "classic"])
def page(request, chromium):
    """A window with no notebook yet, and no answers that another test gave."""
    running = request.getfixturevalue(request.param)
    (running.work / "progress.json").unlink(missing_ok=True)
    with window(chromium, running, NOISE) as (notebook, _):
        yield notebook


def opened(page, name):
    """Open a file of work/ in a window; that of Notebook 7 shows one notebook."""
    if not isinstance(page.lab, Notebook7):
        return page.open(name)
    page.page.goto(f"{page.lab.address}/notebooks/{name}?token={page.lab.token}")
    return Notebook(page.lab, page.page, page.errors).wait()


def test_the_shortcuts_of_the_notebook_do_not_fire_inside_players_and_questions(page):
    cells = [GRAPH, "step_through(loss)", "show(loss).explore()", 'predict("05.q1")']
    notebook = opened(page, page.lab.write("keys.ipynb", *cells))
    notebook.run_all()
    assert complaints(notebook) == []
    before = notebook.cells()
    for cell in (1, 2):
        for place in (".player", "button", "summary"):
            for key in KEYS:
                notebook.player(cell).root.query_selector(f":scope:is({place}), {place}").focus()
                notebook.page.keyboard.press(key)
        assert (notebook.cells(), notebook.active()) == (before, [cell, "command"])
    assert notebook.page.locator(".jp-Dialog").count() == 0
    player = notebook.player(1)
    player.press("Home", "ArrowRight", "ArrowRight")
    assert player.count() == "step 2 of 4"
    player.press("Shift+Enter")
    notebook.page.wait_for_function(f"{PANEL}.content.activeCellIndex === 2")
    first = notebook.page.locator(".prediction input").first
    for key in ("x", "b", "ArrowRight"):
        first.press(key)  # focuses it, wherever the notebook has put the focus since
    notebook.page.locator(".prediction input:checked").press(" ")
    assert notebook.page.locator(".prediction input:checked").input_value() == "b"
    assert len(notebook.cells()) == len(before)
    notebook.select(2)
    notebook.page.keyboard.press("b")
    assert len(notebook.cells()) == len(before) + 1, "outside they do"
