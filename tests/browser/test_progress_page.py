"""What is due, as somebody meets it in JupyterLab who comes back after a week."""

import json

import pytest
from axe import grave
from driver import photograph
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
WEEKS_AGO = {"day": "2026-01-01"}
KEPT = {
    "version": 1,
    "predictions": {
        "05.q1": {"first": "a", **WEEKS_AGO},
        "01.o1": {"first": "abc", **WEEKS_AGO},
        "05.q12": {"first": "a", **WEEKS_AGO},
    },
    "exercises": {"06.1": {"tries": 3, "solved": True, **WEEKS_AGO}},
    "players": {},
}
MINE = ("from helpers import progress, review", "review()", "progress()")
OVERLAPS = """() => [...document.querySelectorAll('.progress-map :is(td, th) > *')]
    .filter((one) => one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right + 1)
    .map((one) => one.outerHTML)"""
SAID = ".prediction[data-kind=choose] .prediction-said"


@pytest.fixture
def mine(notebook, lab):
    lab.put_back()
    (lab.work / "progress.json").write_text(json.dumps(KEPT))
    notebook.page.set_viewport_size({"width": 833, "height": 900})
    notebook.open(lab.write("mine.ipynb", *MINE))
    notebook.run_all()
    yield notebook
    (lab.work / "progress.json").unlink()


def test_what_is_due_is_asked_answered_and_shown_on_a_map_that_leads_on(mine, lab):
    page = mine.page
    expect(page.locator(".jp-OutputArea-output").first).to_contain_text("3 things to look at again")
    expect(page.get_by_text("06.1, once more")).to_be_visible()
    photograph(page, "review")
    asked = page.locator(".prediction[data-kind=choose]")
    asked.locator("input[value=c]").check()
    asked.locator(".prediction-lock").click()
    expect(page.locator(SAID)).to_contain_text("that's right")
    expect(page.locator(SAID)).to_contain_text("It comes back in 3 days.")
    assert json.loads((lab.work / "progress.json").read_text())["predictions"]["05.q1"]["box"] == 1
    for theme in ("Light", "Dark"):
        mine.theme(theme)
        table = page.locator(".progress-page")
        table.scroll_into_view_if_needed()
        photograph(page, f"progress-{theme.lower()}")
        assert page.evaluate(OVERLAPS) == []
        assert grave(page, ".progress-page") == []
    page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
    photograph(page, "progress-833")
    assert page.evaluate(OVERLAPS) == []
    assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    page.locator(".progress-page a", has_text="06").click()
    page.wait_for_function(
        "jupyterapp.shell.currentWidget?.context?.path.endsWith('06_accumulation.ipynb')"
    )
