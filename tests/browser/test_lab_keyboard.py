"""What Shift+Enter, a restart and a reload leave of what was begun in a widget, in real JupyterLab."""

import json

import nbformat
import pytest
from lab import KERNELSPEC, ROOT
from lab_page import CELLS, PANEL
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
SETUP = """import torch
from helpers import draw, explain, find_line, labs, order, predict, progress, step_through
x = torch.tensor(2.0, requires_grad=True)"""
ASKED = {
    "explain": 'explain("07.e1")',
    "choose": 'predict("05.q1")',
    "number": 'predict("05.q3")',
    "draw": 'draw("07.d1")',
    "find_line": 'find_line("07.f1")',
    "order": 'order("07.o1")',
}
BEGUN = """() => [...document.querySelectorAll('.prediction')].map((one) => [
    one.dataset.state, one.querySelector('.prediction-lock').textContent,
    [...one.querySelectorAll('textarea, input[type=text]')].map(({ value }) => value).join(),
    [...one.querySelectorAll('.prediction-card')].map(({ style }) => style.left + style.top).join(),
    [...one.querySelectorAll('.prediction-chip')].map((chip) => chip.textContent).join(),
    [...one.querySelectorAll('input:checked')].map(({ value }) => value).join(),
    [...one.querySelectorAll('.prediction-item code')].map((line) => line.textContent).join()])"""
COUNTS = f"{CELLS}.map((cell) => cell.model.executionCount)"
PLACE = "(panel, box) => [box.top - panel.top, panel.bottom - box.bottom]"
ROOM = f"""(name) => ({PLACE})(...[document.querySelector('.jp-WindowedPanel-outer'), document.querySelector(name)]
    .map((one) => one.getBoundingClientRect()))"""
NOTHING_WAITS = "!Object.keys(sessionStorage).some((name) => name.startsWith('draft'))"
LOST = "Error displaying widget: model not found"


@pytest.fixture(autouse=True)
def nothing_kept(lab):
    (lab.work / "progress.json").unlink(missing_ok=True)


def predictions(lab):
    path = lab.work / "progress.json"
    return json.loads(path.read_text())["predictions"] if path.exists() else {}


def run(notebook, place):
    """Run a cell by Shift+Enter, as a student does; wait for what it shows."""
    notebook.page.evaluate(
        f"(place) => {{ {PANEL}.content.activeCellIndex = place; {PANEL}.content.activate(); }}",
        place,
    )
    notebook.page.keyboard.press("Shift+Enter")
    notebook.page.wait_for_function(f"(place) => {COUNTS}[place]", arg=place)


def what_settles(guess):
    """Return the cell after a guess in lesson 07: the kernel knows it by its code."""
    cells = nbformat.read(ROOT / "notebooks" / "07_retain_graph.ipynb", as_version=4).cells
    return cells[[cell.source for cell in cells].index(guess) + 1].source


def box(page, kind):
    return page.locator(f".prediction[data-kind={kind}]").last


def begin_all(page):
    """Begin an answer of every kind, and send none."""
    box(page, "explain").locator("textarea").fill("Half a")
    box(page, "choose").locator("input[type=radio]").first.focus()
    page.keyboard.press("b")
    box(page, "choose").locator("input[type=checkbox]").check()
    box(page, "number").locator("input[type=text]").fill("0.9")
    cards = box(page, "draw").locator(".prediction-card")
    for card in (0, 1):
        cards.nth(card).click()
    cards.nth(2).focus()
    for key in ("Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "ArrowDown", "Escape"):
        page.keyboard.press(key)
    box(page, "find_line").locator(".prediction-line").nth(2).click()
    box(page, "find_line").locator(".prediction-reason").nth(1).click()
    box(page, "order").locator(".prediction-arrow").nth(1).click()


def settled(page):
    """Return what stands in all widgets."""
    page.wait_for_function(f"document.querySelectorAll('.prediction').length === {len(ASKED)}")
    return page.evaluate(BEGUN)


def test_what_was_begun_survives_a_restart_and_a_reload_and_is_no_answer(notebook, lab):
    cells = [SETUP, *ASKED.values(), "progress()"]
    notebook.open(lab.write("begun.ipynb", *cells)).run_all()
    page = notebook.page
    page.emulate_media(reduced_motion="reduce")  # a card moves at once
    empty = settled(page)
    begin_all(page)
    begun = settled(page)
    assert all(one != other for one, other in zip(begun, empty, strict=True))
    assert [one[0] for one in begun] == ["open"] * len(ASKED)
    notebook.restart()
    box(page, "explain").locator("textarea").fill("Half a sentence, while no kernel knew of it")
    box(page, "explain").locator(".prediction-lock").click()
    expect(box(page, "explain")).to_contain_text("The kernel has restarted")
    notebook.run_all()
    begun[0][2] = "Half a sentence, while no kernel knew of it"
    begun[0][1] = "This is my explanation"
    assert settled(page) == begun
    assert "Nothing is kept yet." in notebook.output(len(cells) - 1)
    page.wait_for_function(NOTHING_WAITS)
    page.reload()
    notebook.wait().run_all()
    assert settled(page) == begun
    box(page, "explain").locator(".prediction-lock").click()
    page.wait_for_function(NOTHING_WAITS)
    assert predictions(lab)["07.e1"]["first"] == begun[0][2]
    assert "draft" not in predictions(lab)["07.e1"]


def test_shift_enter_in_a_widget_goes_on_to_what_has_not_run(notebook, lab):
    cells = [SETUP, 'predict("05.q1")', "1 + 1", "step_through(x * x)", "labs.leaves()", "2 + 2"]
    notebook.open(lab.write("on.ipynb", *cells))
    page = notebook.page
    for place in (0, 1, 2, 3):
        run(notebook, place)
    page.locator(".player-next").click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"{COUNTS}[4]")
    page.locator(".prediction").click(position={"x": 300, "y": 5})  # beside all buttons
    page.keyboard.press("a")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"{COUNTS}[5]")
    assert page.evaluate(COUNTS)[:6] == [1, 2, 3, 4, 5, 6], "none ran twice"
    assert page.locator(".player-count").inner_text() == "step 1 of 2"
    assert page.locator(".prediction input:checked").input_value() == "a"


def test_shift_enter_hands_in_what_was_chosen_before_the_run_that_settles_it(notebook, lab):
    """Until then the run told the answer, and what was chosen or written was never kept."""
    guesses = [ASKED["explain"], 'predict("07.q12")']
    first, second = map(what_settles, guesses)
    setup = f"{SETUP}\nfrom helpers import show, snapshot"
    cells = [setup, guesses[0], first, guesses[1], second, "0"]
    notebook.open(lab.write("handed.ipynb", *cells))
    page = notebook.page
    for place in (0, 1):
        run(notebook, place)
    box(page, "explain").locator("textarea").fill("Because of +=, three graphs.")
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(f"{COUNTS}[2]")
    expect(page.locator(".prediction")).to_have_attribute("data-state", "answered")
    assert predictions(lab)["07.e1"]["first"] == "Because of +=, three graphs."
    for place in (3, 4):
        run(notebook, place)
    field, button = (box(page, "number").locator(one) for one in ("input[type=text]", "button"))
    expect(box(page, "number")).to_contain_text("has already run")
    field.fill("4,000, 8,000")
    expect(button).to_be_disabled()
    assert button.inner_text() == "2 of 3 numbers"
    field.fill("4,000, 8,000, 12,000")
    button.click()
    expect(page.locator(".prediction[data-state=answered]")).to_have_count(2)
    assert page.evaluate(f"{PANEL}.content.activeCellIndex") == 5
    assert predictions(lab)["07.q12"]["first"] == "4000, 8000, 12000"


def test_answers_are_there_after_a_restart_a_save_and_another_lesson(notebook, lab):
    cells = [
        SETUP,
        'explain("07.e1")',
        'predict("05.q1")',
        'find_line("07.f1")',
        "step_through(x * x)",
    ]
    name, other = lab.write("kept.ipynb", *cells), lab.write("other.ipynb", "1 + 1")
    notebook.open(name).run_all()
    page = notebook.page
    box(page, "explain").locator("textarea").fill("Only the last graph is left.")
    box(page, "choose").locator("input[type=radio]").first.check()
    box(page, "find_line").locator(".prediction-line").first.click()
    for kind in ("explain", "choose", "find_line"):
        box(page, kind).locator(".prediction-lock").click()
    page.wait_for_function("document.querySelectorAll('[data-state=locked]').length === 3")
    notebook.restart()
    for place in (0, 4):
        run(notebook, place)
    page.wait_for_selector(".player")
    notebook.save()
    notebook.open(other)
    notebook.open(name)
    page.wait_for_selector(".player")
    assert page.locator("[data-state=locked]").count() == 3
    assert page.get_by_text(LOST).count() == 0


# The tallest of each, and what is clicked in it.
MADE = {
    "labs.leaves()": (".player", ".player-action"),
    'draw("03.d2")': (".prediction", ".prediction-card"),
    'find_line("one_real_model.f1")': (".prediction", ".prediction-line"),
    'order("10.o3")': (".prediction", ".prediction-arrow"),
}


@pytest.mark.parametrize("call", MADE)
def test_what_a_cell_has_just_made_is_in_view_whole_and_stays_there(call, notebook, lab):
    cells = [
        nbformat.v4.new_markdown_cell("\n\n".join(["above"] * 30)),
        nbformat.v4.new_code_cell(SETUP),
        nbformat.v4.new_code_cell(call),
        nbformat.v4.new_markdown_cell("\n\n".join(["below"] * 30)),
    ]
    lab.store(
        "view.ipynb", nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
    )
    notebook.open("view.ipynb")
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    for place in (1, 2):
        run(notebook, place)
    name, clicked = MADE[call]
    notebook.page.wait_for_selector(name)
    notebook.page.wait_for_function(f"(name) => Math.min(...({ROOM})(name)) >= 0", arg=name)
    for at in (1, 2):
        notebook.page.locator(clicked).nth(at).click()
        notebook.page.wait_for_function(f"(name) => Math.min(...({ROOM})(name)) >= 0", arg=name)


def test_a_sent_answer_leads_to_its_run_and_a_click_shows_all_of_the_player(notebook, lab):
    below = nbformat.v4.new_markdown_cell("\n\n".join(["below"] * 30))
    e = "a, b, c = (torch.tensor(n, requires_grad=True) for n in (2.0, 3.0, 4.0)); e = (a * b + c) ** 2"
    code = [f"{SETUP}\n{e}", 'predict("00.q12")', "step_through(e)"]
    cells = [*map(nbformat.v4.new_code_cell, code), below]
    lab.store(
        "sent.ipynb", nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
    )
    notebook.open("sent.ipynb").run_all()
    page = notebook.page
    page.set_viewport_size({"width": 1280, "height": 720})
    notebook.restart()
    for place in (0, 1):
        run(notebook, place)
    box(page, "number").locator("input[type=text]").fill("1")
    box(page, "number").locator(".prediction-lock").click()
    page.wait_for_function(f"{PANEL}.content.activeCellIndex === 2")
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector("[data-state=answered]")
    page.locator(".player-next").click()
    page.wait_for_function(f"(name) => Math.min(...({ROOM})(name)) >= 0", arg=".player")
