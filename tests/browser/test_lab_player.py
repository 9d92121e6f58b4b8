"""A stepped trace in real JupyterLab: keys, mouse, guessing; after a restart, after a reload,
untrusted. The numbers that the page must show are computed here, by a plain backward of the same
loss.
"""

import pytest
from lab_page import PANEL

from helpers import record
from helpers.drawing.palette import DARK, LIGHT

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
    return repr(float(f"{value.item():.4g}"))


def on_edges(said, gone):
    """Return the gradients that the first `gone` nodes have handed on, sorted."""
    handed = {"e": "uv", "v": "tc", "t": "d", "u": "ab"}
    return sorted(said[to] for name in ORDER[:gone] for to in handed.get(name, ""))


def test_the_keys_step_through_the_numbers_that_torch_has(steps):
    said = arriving()
    assert (steps.count(), steps.capsules()) == ("1 / 10", [])
    for number, name in enumerate(ORDER, start=1):
        steps.press("ArrowRight")
        sentence = steps.sentence()
        assert sentence.startswith(f"step {number} of 8: ")
        assert f"({name})" in sentence or f"(leaf {name})" in sentence
        assert f": {said[name]} arrives" in sentence
        assert sorted(steps.capsules()) == on_edges(said, number)
    steps.press("ArrowRight", "ArrowRight")
    assert (steps.count(), steps.capsules()) == ("10 / 10", steps.capsules())
    assert f"d.grad = {said['d']}" in steps.sentence()
    steps.press("ArrowLeft", "ArrowLeft")
    assert steps.sentence().startswith("step 7 of 8: ")
    steps.press("Home")
    assert (steps.count(), steps.capsules()) == ("1 / 10", [])
    steps.press("End")
    assert sorted(steps.capsules()) == on_edges(said, 8)


def test_the_mouse_does_the_same_and_a_click_on_a_node_goes_to_its_step(steps):
    said = arriving()
    steps.click(".player-next")
    steps.click(".player-next")
    assert f"(v): {said['v']} arrives" in steps.sentence()
    steps.click(".player-previous")
    assert steps.sentence().startswith("step 1 of 8: ")
    for number, name in enumerate(ORDER, start=1):
        steps.page.locator(".player text.m-tagged, .player text").get_by_text(
            name, exact=True
        ).first.click()
        assert steps.sentence().startswith(f"step {number} of 8: ")
        assert f"{said[name]} arrives" in steps.sentence()
    steps.click(".player-first")
    assert steps.count() == "1 / 10"
    steps.click(".player-last")
    assert steps.count() == "10 / 10"


def test_in_guess_mode_the_number_is_asked_for_and_then_told(steps):
    said = arriving()
    steps.press("g", "ArrowRight", "Enter", "ArrowRight")
    assert (
        steps.sentence()
        == f"step 2 of 8: MulBackward0 (v): {said['v']} arrives. What does it hand on?"
    )
    assert sorted(steps.capsules()) == sorted([said["u"], said["v"], "?", "?"])
    steps.press(" ")
    assert said["t"] in steps.sentence()
    assert sorted(steps.capsules()) == on_edges(said, 2)
    steps.press("ArrowRight")
    assert (
        steps.sentence()
        == f"step 3 of 8: AccumulateGrad (leaf c): {said['c']} arrives. What is .grad now?"
    )
    steps.click(".player-reveal")
    assert steps.sentence().endswith(f".grad goes from None to {said['c']}")
    steps.click(".player-guess")
    steps.press("ArrowRight")
    assert "?" not in "".join(steps.capsules())


def test_the_shortcuts_of_lab_do_not_fire_inside(steps, notebook):
    before, active = notebook.cells(), notebook.active()
    steps.press(*"aabbddxcvzmyrsloj00", *NAMED)
    assert (notebook.cells(), notebook.active()) == (before, active)
    assert notebook.page.locator(".jp-Dialog").count() == 0
    assert notebook.page.evaluate("document.activeElement.closest('.player') !== null")
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
    assert f"(v): {said['v']} arrives" in steps.sentence()
    notebook.stop_kernel()
    steps = notebook.player(1)
    steps.press("ArrowRight")
    assert f"(leaf c): {said['c']} arrives" in steps.sentence()
    notebook.reload()
    notebook.stop_kernel()
    steps = notebook.player(1)
    assert steps.sentence().startswith("step 1 of 8: "), "it opens where it was saved"
    steps.press("End", "ArrowLeft")
    assert f"(leaf b): {said['b']} arrives" in steps.sentence()
    assert sorted(steps.capsules()) == on_edges(said, 8)
    steps.click(".player-guess")
    steps.click(".player-previous")
    assert steps.sentence().endswith("What is .grad now?")


def test_saved_again_by_a_later_session_it_still_plays(steps, notebook):
    said = arriving()
    notebook.save()
    for _ in range(2):
        notebook.stop_kernel()
        notebook.reload()
        # saved before it is restored, a widget's state is lost: ipywidgets' manager does so
        notebook.page.wait_for_selector(".jp-OutputArea .player")
        notebook.save()
    assert notebook.output(1).startswith("8 steps to come"), notebook.output(1)
    steps = notebook.player(1)
    steps.press("End", "ArrowLeft")
    assert f"(leaf b): {said['b']} arrives" in steps.sentence()


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
    assert notebook.output(1).startswith("8 steps to come.")
    assert notebook.page.evaluate("document.querySelector('.jp-OutputArea img').naturalWidth") > 300
    notebook.unfold()
    assert notebook.output(1).split("All of it as text")[1].split() == table.split()
    assert not notebook.has(1, ".player")
    assert not notebook.page.evaluate(f"{PANEL}.content.widgets[1].model.trusted")


LAYERS = """import torch
from helpers import step_through
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
loss = model(torch.randn(1, 3, 4)).pow(2).mean()"""
DRAWN = "[...document.querySelectorAll('.player text.m-start')].map((one) => one.textContent)"
BUSY = "[...document.querySelectorAll('.player rect.s-now')].map((one) => one.dataset.of)"


def folded(page):
    """Return how many layers are folded together with others."""
    rows = [title for title in page.evaluate(DRAWN) if "layers" in title and "…" in title]
    return sum(int(title.split(" × ")[1]) for title in rows)


def test_a_folded_graph_is_opened_and_folded_at_the_step_that_is_seen(notebook, lab):
    name = lab.write("layers.ipynb", LAYERS, "step_through(loss)")
    notebook.open(name).run_all()
    steps = notebook.player(1)
    page = steps.page
    assert folded(page) == 11
    page.locator(".player-range").fill("200")
    steps.press("ArrowRight")
    sentence, count = steps.sentence(), steps.count()
    (owner,) = set(page.evaluate(BUSY))
    page.locator(f".player rect[data-of='{owner}']").last.click()
    assert (steps.sentence(), steps.count()) == (sentence, count)
    assert len(page.evaluate(DRAWN)) > 10
    assert folded(page) == 10
    steps.press("ArrowRight", "ArrowRight")
    assert steps.sentence().startswith("step 203 of ")
    steps.press("f")
    assert folded(page) == 11
    assert steps.sentence().startswith("step 203 of ")
    steps.click(".player-unfold")
    notebook.save()
    notebook.stop_kernel()
    notebook.reload()
    steps = notebook.player(1)
    assert folded(page) == 10, "it opens where it was left"
    assert steps.sentence().startswith("step 203 of ")
    steps.click(".player-fold")
    assert folded(page) == 11
