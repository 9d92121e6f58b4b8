"""A stepped trace in real JupyterLab: keys, mouse, guessing; after a restart, after a reload,
untrusted. The numbers that the page must show are computed here, by a plain backward of the same
loss.
"""

import pytest
from lab_page import PANEL

from autograd_graphs.drawing.palette import DARK, LIGHT
from helpers import record

pytestmark = pytest.mark.browser
MAKE = """import torch

from helpers import step_through

a, b, c, d = (torch.tensor(n, requires_grad=True) for n in (2.0, 3.0, 5.0, 10.0))
u = a * b
t = torch.log(d)
v = t * c
e = u + v"""
ORDER = "evctduab"
NAMED = ["ArrowUp", "ArrowDown", "ArrowRight", "Enter", "Delete", "Shift+M", "Shift+L", "Home", " "]


@pytest.fixture
def steps(notebook, lab):
    """The player of e = a * b + log(d) * c in Lab, just run."""
    name = lab.write("steps.ipynb", MAKE, "step_through(e)", "# another cell")
    notebook.page.emulate_media(reduced_motion="reduce")
    notebook.open(name).run_all()
    return notebook.player(1)


def made():
    names = {}
    exec(MAKE, names)
    return names


def arriving():
    """Return {name: gradient that arrives at it}, as plain PyTorch has it."""
    names = made()
    for name in "tuve":
        names[name].retain_grad()
    names["e"].backward()
    return {name: shown(names[name].grad) for name in ORDER}


def shown(value):
    return f"{value.item():.4g}"


LEAVES = "cdab"


def on_edges(said, gone):
    """Return the gradients that entered, or that the first `gone` nodes have handed on, sorted."""
    handed = {"e": "uv", "v": "tc", "t": "d", "u": "ab"}
    return sorted(["1", *(said[to] for name in ORDER[:gone] for to in handed.get(name, ""))])


def test_the_keys_step_through_the_numbers_that_torch_has(steps):
    said = arriving()
    assert (steps.count(), steps.capsules()) == ("8 steps", ["1"])
    for number, name in enumerate(ORDER, start=1):
        steps.press("ArrowRight")
        assert steps.count() == f"step {number} of 8"
        if name in LEAVES:
            assert steps.title() == f"{name}.grad AccumulateGrad"
            assert steps.row() == [f"None + {said[name]} = {said[name]}"]
        else:
            assert all(row.startswith(f"{said[name]} ") for row in steps.row())
        assert sorted(steps.capsules()) == on_edges(said, number)
    steps.press("ArrowRight", "ArrowRight")
    assert steps.count() == "the end"
    assert f"d.grad {said['d']}" in steps.row()
    steps.press("ArrowLeft", "ArrowLeft")
    assert steps.count() == "step 7 of 8"
    steps.press("Home")
    assert (steps.count(), steps.capsules()) == ("8 steps", ["1"])
    steps.press("End")
    assert sorted(steps.capsules()) == on_edges(said, 8)


# every key that the player names; and what JupyterLab would make of others
KEYS = [
    "i", "o", "f", "n", "+", "-", "0", "g", "ArrowRight", "1", "Enter", "g", "End", "ArrowLeft",
    "Home", " ", " ",
]  # fmt: skip
KEYS += [
    "Shift+ArrowUp", "Shift+ArrowDown", "Shift+ArrowLeft", "Shift+ArrowRight", "/", "d", "d",
    "Enter", "Escape",
]  # fmt: skip
LAB_KEYS = [*"aabbddxcvzmyrsloj00", *NAMED]


@pytest.mark.thorough
def test_the_shortcuts_of_lab_do_not_fire_inside(steps, notebook):
    before, active = notebook.cells(), notebook.active()
    for place in (".player", ".player-guess", ".player-range", ".player-told summary"):
        for key in KEYS + LAB_KEYS:
            notebook.page.focus(place)
            steps.press(key)
    assert (notebook.cells(), notebook.active()) == (before, active)
    assert notebook.page.locator(".jp-Dialog").count() == 0
    notebook.page.focus(".player")
    steps.press("Escape")
    assert notebook.cells() == before
    assert notebook.page.evaluate("document.activeElement.closest('.player') === null")
    notebook.select(2)
    notebook.page.keyboard.press("b")
    assert len(notebook.cells()) == len(before) + 1, "outside of the player they do"


def test_with_its_kernel_restarted_stopped_and_gone_it_plays(steps, notebook):
    said = arriving()
    steps.press("ArrowRight")
    notebook.save()
    notebook.restart()
    steps = notebook.player(1)
    steps.press("ArrowRight")
    assert (steps.count(), steps.row()[0].split()[0]) == ("step 2 of 8", said["v"])
    notebook.stop_kernel()
    steps = notebook.player(1)
    steps.press("ArrowRight")
    assert steps.row() == [f"None + {said['c']} = {said['c']}"]
    notebook.reload()
    notebook.stop_kernel()
    steps = notebook.player(1)
    assert steps.count() == "step 1 of 8", "it opens where it was saved"
    steps.press("End", "ArrowLeft")
    assert steps.row() == [f"None + {said['b']} = {said['b']}"]
    assert sorted(steps.capsules()) == on_edges(said, 8)
    steps.click(".player-guess")
    steps.click(".player-back")
    assert steps.sentence().endswith("What is a.grad now?")


def test_saved_again_by_a_later_session_it_still_plays(steps, notebook):
    said = arriving()
    notebook.save()
    for _ in range(2):
        notebook.stop_kernel()
        notebook.reload()
        # saved before it is restored, a widget's state is lost: ipywidgets' manager does so
        notebook.page.wait_for_selector(".jp-OutputArea .player")
        notebook.save()
    assert "e is 17.51. backward() starts with the number 1" in notebook.output(1)
    steps = notebook.player(1)
    steps.press("End", "ArrowLeft")
    assert steps.row() == [f"None + {said['b']} = {said['b']}"]


def test_the_theme_of_lab_is_followed(steps, notebook):
    ground = "getComputedStyle(document.querySelector('.player')).backgroundColor"
    seen = []
    for theme in ("Dark", "Light"):
        notebook.theme(theme)
        seen.append(notebook.page.evaluate(ground))
    assert seen == [
        "rgb({}, {}, {})".format(*bytes.fromhex(look["ground"][1:])) for look in (DARK, LIGHT)
    ]


def test_untrusted_the_first_frame_and_the_table_are_what_one_sees(steps, notebook, lab):
    notebook.save()
    found = lab.read("steps.ipynb")
    found.metadata["title"] = "from somebody else"
    lab.store("theirs.ipynb", found)
    notebook.open("theirs.ipynb")
    names = made()
    table = str(record(names["e"], names={name: names[name] for name in ORDER}))
    assert notebook.output(1).startswith("e is 17.51. backward() starts with the number 1")
    assert notebook.page.evaluate("document.querySelector('.jp-OutputArea img').naturalWidth") > 300
    notebook.unfold()
    assert notebook.output(1).split("All of it as text")[1].split() == table.split()
    assert not notebook.has(1, ".player")
    assert not notebook.page.evaluate(f"{PANEL}.content.widgets[1].model.trusted")
