"""A stepped trace in real JupyterLab: after a restart, after a reload, untrusted."""

import pytest
from lab_page import PANEL

from helpers import record

pytestmark = pytest.mark.browser
MAKE = """import torch

from helpers import step_through

a, b, c, d = (torch.tensor(n, requires_grad=True) for n in (2.0, 3.0, 5.0, 10.0))
u = a * b
t = torch.log(d)
v = t * c
e = u + v"""


@pytest.fixture
def steps(notebook, lab):
    """The player of e = a * b + log(d) * c in Lab, just run."""
    name = lab.write("steps.ipynb", MAKE, "step_through(e)", "# another cell")
    notebook.page.emulate_media(reduced_motion="reduce")
    notebook.open(name).run_all()
    return notebook.player(1)


def test_with_its_kernel_restarted_stopped_and_gone_it_plays(steps, notebook):
    steps.press("ArrowRight")
    notebook.save()
    notebook.restart()
    steps = notebook.player(1)
    steps.press("ArrowRight")
    assert (steps.count(), steps.row()[0].split()[0]) == ("step 2 of 8", "1")
    notebook.stop_kernel()
    steps = notebook.player(1)
    steps.press("ArrowRight")
    assert steps.row() == ["None + 2.303 = 2.303"], "log(d) arrives at c"
    notebook.reload()
    notebook.stop_kernel()
    steps = notebook.player(1)
    assert steps.count() == "step 1 of 8", "it opens where it was saved"
    steps.press("End", "ArrowLeft")
    assert steps.row() == ["None + 2 = 2"], "a arrives at b"
    steps.click(".player-guess")
    steps.click(".player-back")
    assert steps.sentence().endswith("What is a.grad now?")


def test_saved_again_by_later_sessions_it_plays_and_untrusted_it_is_read(steps, notebook, lab):
    notebook.save()
    for _ in range(2):
        notebook.stop_kernel()
        notebook.reload()
        # saved before it is restored, a widget's state is lost: ipywidgets' manager does so
        notebook.page.wait_for_selector(".jp-OutputArea .player")
        notebook.save()
    steps = notebook.player(1)
    steps.press("End", "ArrowLeft")
    assert steps.row() == ["None + 2 = 2"], "a arrives at b"
    theirs = lab.read("steps.ipynb")
    theirs.metadata["title"] = "from somebody else"
    lab.store("theirs.ipynb", theirs)
    notebook.open("theirs.ipynb")
    only_the_first_frame_and_the_table_are_seen(notebook)


def only_the_first_frame_and_the_table_are_seen(notebook):
    names = {}
    exec(MAKE, names)
    table = str(record(names["e"], names={name: names[name] for name in "evctduab"}))
    assert notebook.output(1).startswith("e is 17.51. backward() starts with the number 1")
    assert notebook.page.evaluate("document.querySelector('.jp-OutputArea img').naturalWidth") > 300
    notebook.unfold()
    assert notebook.output(1).split("All of it as text")[1].split() == table.split()
    assert not notebook.has(1, ".player")
    assert not notebook.page.evaluate(f"{PANEL}.content.widgets[1].model.trusted")
