"""Every lesson, as a student gets it, in real JupyterLab: run from top to bottom and looked at; with
`PHOTOGRAPHS=yes` photographed in both themes.
"""

import pytest
from axe import grave
from driver import photograph, rgb, wants_photographs
from lab import ROOT
from lab_page import window
from lab_rules import complaints

from autograd_graphs.drawing.palette import DARK, LIGHT

pytestmark = pytest.mark.browser
LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SCHEMES = """() => [...document.querySelectorAll('.jp-Notebook img')]
    .map((one) => getComputedStyle(one).colorScheme)"""
GROUND = "getComputedStyle(document.querySelector('.player')).backgroundColor"
OURS = ".jp-OutputArea-output .player", ".jp-RenderedHTML"
PLOT = ".jp-Notebook img[src^='data:image/png']"
CELLS = [
    """import matplotlib.pyplot as plt
import torch
from helpers import labs, plot, show, step_through
x = torch.tensor([1.0, 2.0], requires_grad=True)""",
    "show((x * 3).exp())",
    "step_through((x * 3).sum())",
    "labs.leaves()",
    # so many points become a PNG, and no SVG
    "figure, axes = plt.subplots()\naxes.scatter(range(3_000), range(3_000))\nplot(figure)",
]


@pytest.fixture(scope="module")
def shared(chromium, lab):
    """One window for all notebooks, and the watch over it."""
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
    assert (watch.foreign, watch.errors) == ([], [])


def in_both_themes(notebook, number):
    """Photograph the whole lesson in each theme."""
    notebook.show_whole()
    for theme in ("Dark", "Light"):  # the last one stays for the next lesson
        notebook.theme(theme)
        photograph(notebook.page, f"{number}-{theme.lower()}", animations="disabled")


def test_what_we_put_out_follows_the_theme_and_axe_finds_nothing_grave(shared, lab):
    notebook = shared[0].open_next(lab.write("looks.ipynb", *CELLS))
    notebook.run_all()
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        notebook.show_whole()
        notebook.unfold()
        assert notebook.page.locator(".player").count() == 2
        assert set(notebook.page.evaluate(SCHEMES)) == {theme.lower()}
        assert notebook.page.evaluate(GROUND) == rgb((DARK if theme == "Dark" else LIGHT)["ground"])
        turned = notebook.page.eval_on_selector(PLOT, "(one) => getComputedStyle(one).filter")
        assert turned.startswith("invert") == (theme == "Dark")
        assert grave(notebook.page, *OURS) == []
