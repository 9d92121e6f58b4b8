"""A round in real JupyterLab, as a student goes through it: guess by keyboard, run, be told why; and
what a cell has made stays in sight.
"""

import base64
import json
import time

import nbformat
import pytest
from lab import KERNELSPEC
from lab_page import CELLS, PANEL

from helpers.pace import today
from helpers.predicting import prediction
from helpers.predicting.kinds import kind_of
from helpers.predicting.questions import every

pytestmark = pytest.mark.browser
LESSON = "05_backward_and_the_chain_rule.ipynb"
LETTERS = every()["05.q1"]
SAID = f"""(place) => {CELLS}[place].node.querySelector('.prediction-said')?.textContent"""
COUNT = f"""(place) => Boolean({CELLS}[place].model.executionCount)"""
STATE = f"(place) => {CELLS}[place].node.querySelector('.prediction')?.dataset.state"
ANSWERED, LOCKED = (f"(place) => ({STATE})(place) === '{one}'" for one in ("answered", "locked"))
SELECT = (
    f"""(place) => {{ {PANEL}.content.activeCellIndex = place; {PANEL}.content.activate(); }}"""
)
TOPS = f"""(place) => {{ const panel = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
    const [row, made] = [{CELLS}[place].node.querySelector('.prediction'), {CELLS}[place + 1].node.querySelector('.made')]
        .map((one) => one.getBoundingClientRect());
    return [row.top - panel.top, made.top - panel.top, panel.height]; }}"""


def places(notebook):
    """Return where each question is asked, by its id."""
    found = {}
    for place, cell in enumerate(notebook.cells()):
        if cell["source"].startswith("predict("):
            found[cell["source"].split('"')[1]] = place
    return found


def run(notebook, place):
    """Run a cell by keyboard, as a student does."""
    notebook.page.evaluate(SELECT, place)
    notebook.page.keyboard.press("Shift+Enter")
    notebook.page.wait_for_function(COUNT, arg=place)


def row(notebook, place):
    """Return the row of a question, once it is drawn."""
    handle = notebook.page.evaluate_handle(f"(place) => {CELLS}[place].node", place).as_element()
    return handle.wait_for_selector(".prediction")


def everything(lab):
    return json.loads((lab.work / "progress.json").read_text())


def progress(lab):
    return everything(lab)["predictions"]


@pytest.fixture(autouse=True)
def handed_out(lab):
    lab.put_back()


@pytest.fixture
def lesson(notebook, lab):
    """Lesson 05, its set-up run, nothing guessed."""
    (lab.work / "progress.json").unlink(missing_ok=True)
    notebook.open(LESSON)
    run(notebook, 1)
    return notebook


def test_a_round_by_keyboard_then_a_guess_in_a_player(lesson, lab):
    page, place = lesson.page, places(lesson)["05.q1"]
    run(lesson, place)
    asked = row(lesson, place)
    wrong = next(letter for letter in LETTERS.letters if letter not in ("a", LETTERS.right))
    first = asked.query_selector("input[type=radio]")
    first.focus()
    for _ in range(LETTERS.letters.index(wrong)):
        page.keyboard.press("ArrowRight")
    assert lesson.active()[0] == place  # no arrow reached the notebook
    page.keyboard.press("Enter")
    page.wait_for_function(LOCKED, arg=place)
    assert page.evaluate(SAID, place) == f"You said ({wrong}). Now run the next cell."
    assert lesson.active()[0] == place + 1
    assert LETTERS.takeaway[:30] not in asked.inner_text()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(ANSWERED, arg=place)
    said = page.evaluate(SAID, place)
    assert said == kind_of(LETTERS).reply(LETTERS, wrong).replace("`", "")
    assert said.startswith(f"It's ({LETTERS.right}), but you said ({wrong}). ")
    record = progress(lab)["05.q1"]
    assert record.pop("day") == today().isoformat()
    assert record.pop("minutes", 1) > 0  # of a slow machine
    assert record == {"first": wrong, "seen": True, "sure": False}
    a_guess_in_a_player_is_kept_with_it(lesson, lab)
    lesson.restart()  # on another day
    run(lesson, 1)
    run(lesson, place)
    page.wait_for_function(ANSWERED, arg=place)
    assert page.evaluate(SAID, place) == said
    assert all(one.is_disabled() for one in row(lesson, place).query_selector_all("input"))


def a_guess_in_a_player_is_kept_with_it(lesson, lab):
    place = places(lesson)["05.q3"] + 1
    run(lesson, place)
    player = lesson.player(place)
    player.press("g", "ArrowRight")
    player.root.query_selector("input.player-field").fill("7")
    lesson.page.keyboard.press("Enter")
    lesson.page.wait_for_function("() => document.querySelector('.player-verdict')?.textContent")
    assert eventually(lambda: list(everything(lab)["players"].get("05", {}).values()) == ["wrong"])


@pytest.mark.thorough
def test_whoever_runs_first_is_asked_all_the_same(lesson, lab):
    page, place = lesson.page, places(lesson)["05.q1"]
    run(lesson, place)
    run(lesson, place + 1)
    page.wait_for_function(
        f"(place) => ({SAID})(place).startsWith('The cell has already run. Answer anyway')",
        arg=place,
    )
    asked = row(lesson, place)
    asked.query_selector(f"input[value={LETTERS.right}]").check()
    asked.query_selector("input[type=checkbox]").check()
    asked.query_selector("button").click()
    page.wait_for_function(ANSWERED, arg=place)
    assert "and that's right." in page.evaluate(SAID, place)
    assert progress(lab)["05.q1"]["sure"] is True


def test_the_quiz_is_asked_once_more_row_by_row_and_answered_at_once(notebook, lab):
    (lab.work / "progress.json").write_text(
        '{"version": 1, "predictions": {"quiz.3": {"first": "b"}}}'
    )
    notebook.open("11_training_loop.ipynb")
    sources = [cell["source"] for cell in notebook.cells()]
    first = next(place for place, source in enumerate(sources) if source.startswith("then_and_now"))
    run(notebook, next(place for place, source in enumerate(sources) if "import torch" in source))
    run(notebook, first)
    rows = f"(place) => [...{CELLS}[place].node.querySelectorAll('.prediction')]"
    notebook.page.wait_for_function(f"(place) => ({rows})(place).length === 4", arg=first)
    read_rows = f"(place) => ({rows})(place).map((one) => one.innerText.split('\\n').at(-1))"
    before = notebook.page.evaluate(read_rows, first)
    assert not any("In lesson 00" in text for text in before)
    row(notebook, first).query_selector("input[value=a]").check()
    notebook.page.keyboard.press("Enter")
    notebook.page.wait_for_function(ANSWERED, arg=first)
    said = "You said (a), and that's right. In lesson 00 you said (b). Lesson 02 shows it."
    assert notebook.page.evaluate(SAID, first) == said
    active = f"(place) => ({rows})(place).findIndex((one) => one.contains(document.activeElement))"
    assert notebook.page.evaluate(active, first) == 1, "the next row that is open is active"
    assert progress(lab)["quiz.3"]["now"] == "a"


def eventually(true, limit=10):
    """Tell whether something becomes true: a file is written by the kernel, and no page tells."""
    end = time.monotonic() + limit
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


@pytest.mark.thorough
@pytest.mark.parametrize("high", [300, 1200])
def test_what_a_cell_has_made_begins_in_sight(high, notebook, lab):
    """Without the rule and the script of prediction.*, Lab keeps the next cell where it was, and what
    was made goes up with the answer.
    """
    (lab.work / "progress.json").unlink(missing_ok=True)
    tall = f"from IPython.display import HTML\nHTML('<div class=made style=\"height:{high}px\"></div>')"
    cells = [
        nbformat.v4.new_markdown_cell("\n\n".join(["above"] * 40)),
        nbformat.v4.new_code_cell("from helpers import predict"),
        nbformat.v4.new_markdown_cell("## A question\n\n- (a) one\n- (b) two\n- (c) three"),
        nbformat.v4.new_code_cell('predict("05.q1", "a")', id=LETTERS.cell),
        nbformat.v4.new_code_cell(tall, id=LETTERS.run),
        *[nbformat.v4.new_markdown_cell(f"## And {number}\n\nbelow") for number in range(9)],
    ]
    lab.store(
        "tall.ipynb", nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})
    )
    notebook.open("tall.ipynb")
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    for place in (1, 2, 3):
        notebook.page.evaluate(SELECT, place)
        notebook.page.keyboard.press("Shift+Enter")
    row(notebook, 3)
    notebook.page.keyboard.press("Shift+Enter")
    notebook.page.wait_for_function(ANSWERED, arg=3)
    notebook.page.wait_for_function(f"(place) => {CELLS}[place].node.querySelector('.made')", arg=4)
    notebook.page.wait_for_function(
        f"(place) => {{ const [row, made, panel] = ({TOPS})(place);"
        " return row >= -1 && made < panel - 100; }",
        arg=3,
    )


def test_python_and_the_browser_say_the_same(chromium):
    script = base64.b64encode(prediction.SCRIPT.encode()).decode()
    asked = [
        (one, guess)
        for one in every().values()
        if one.right and one.kind in prediction.GUESSED
        for guess in guesses(one)
    ]
    assert len(asked) > 60
    page = chromium.new_page()
    told = page.evaluate(
        """async ([script, asked]) => { const { reply } = await import(`data:text/javascript;base64,${script}`);
            return asked.map(([guess, answer]) => reply(guess, answer)); }""",
        [script, [[guess, prediction.answer_of(one)] for one, guess in asked]],
    )
    assert told == [kind_of(one).reply(one, guess) for one, guess in asked]
    page.close()


def guesses(one):
    """Return a right guess, every wrong one that is known, and one that is not."""
    if one.letters:
        return list(one.letters)
    right = ", ".join(f"{number:.12g}" for number in one.right)
    return [right, *[wrong for wrong, _ in one.why], ", ".join(["-77.125"] * one.count)]
