"""The filter box of the glossary: in real JupyterLab with its kernel stopped, in a notebook that is
not trusted, and in the published pages.
"""

import pytest
from driver import photograph, watched
from lab import ROOT
from lab_page import window

from autograd_graphs.diagnosing.entries import entries
from course.publish import publish

pytestmark = pytest.mark.browser
FIELD, TOLD = ".glossary-box input", ".glossary-told"
SHOWN = """() => [...document.querySelectorAll('.glossary-box li')]
    .filter((one) => one.checkVisibility()).map((one) => one.querySelector('a').textContent)"""
LANDED = """(name) => { const heading = document.querySelector(`.jp-Notebook h3[data-jupyter-id="${CSS.escape(name)}"]`);
    const room = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
    const { top, bottom } = heading?.getBoundingClientRect() ?? {};
    return bottom > top && top > room.top - 8 && bottom < room.bottom; }"""
AT_HEADING = """() => { const { top } = document.querySelector(':target').getBoundingClientRect();
    return top > -1 && top < innerHeight; }"""
TOP = """() => { const room = document.querySelector('.jp-WindowedPanel-outer');
    room.dispatchEvent(new WheelEvent('wheel', { bubbles: true })); // whoever turns the wheel is let go
    room.scrollTop = 0; }"""
COUNT = len(entries())
PICKED = entries()[1::30]  # of each section


@pytest.fixture(scope="module")
def glossary(chromium, lab):
    """The glossary in a small window of JupyterLab, its kernel stopped."""
    with window(chromium, lab) as (notebook, _):
        notebook.page.set_viewport_size({"width": 833, "height": 600})
        notebook.open("glossary.ipynb").stop_kernel()
        notebook.page.wait_for_selector(FIELD)
        yield notebook.page


def test_it_filters_without_a_kernel_counts_and_clears(glossary):
    assert glossary.inner_text(TOLD).startswith(f"{COUNT} entries: type a word")
    glossary.fill(FIELD, "retain")
    assert glossary.evaluate(SHOWN)[:2] == ["retain_grad()", "retain_graph"]
    assert glossary.inner_text(TOLD).startswith(
        f"14 of {COUNT} entries. You see the 8 that fit best"
    )
    glossary.fill(FIELD, "RuntimeError: " + PICKED[0].name + ": of whatever torch says today")
    assert glossary.evaluate(SHOWN) == [PICKED[0].name]
    glossary.fill(FIELD, "In Place")
    assert glossary.evaluate(SHOWN)[0] == "in-place operation"
    glossary.fill(FIELD, "zeppelin")
    assert glossary.evaluate(SHOWN) == []
    assert "No entry has enough of this" in glossary.inner_text(TOLD)
    glossary.keyboard.press("Escape")
    assert glossary.input_value(FIELD) == ""
    assert glossary.inner_text(TOLD).startswith(f"{COUNT} entries")
    glossary.click(".glossary-box summary")
    assert glossary.evaluate(SHOWN) == [one.name for one in entries()]


def test_its_links_land_on_the_entry_by_mouse_and_by_keyboard(glossary):
    for one in PICKED:
        glossary.evaluate(TOP)
        glossary.fill(FIELD, one.name)
        glossary.locator(".glossary-box li:not([hidden]) > a").first.click()
        glossary.wait_for_function(LANDED, arg=one.anchor)
    glossary.evaluate(TOP)
    glossary.fill(FIELD, "is_leaf")
    glossary.keyboard.press("Enter")
    glossary.wait_for_function(LANDED, arg="is_leaf")
    glossary.evaluate(TOP)
    glossary.fill(FIELD, "zero_grad")
    glossary.keyboard.press("Tab")
    glossary.keyboard.press("Enter")
    glossary.wait_for_function(LANDED, arg="zero_grad()")
    assert glossary.evaluate("jupyterapp.shell.currentWidget.content.mode") == "command"


def test_a_notebook_that_is_not_trusted_shows_the_list_and_nothing_broken(notebook, lab):
    stranger = lab.read("glossary.ipynb")
    stranger.cells[0].source += "\n\nA copy from elsewhere."
    lab.store("stranger.ipynb", stranger)
    page = notebook.open("stranger.ipynb").page
    assert page.locator(".glossary-box, .jp-OutputArea-output details").count() > 0
    assert page.locator(".jp-OutputArea-output input").count() == 0
    page.click(".jp-OutputArea-output summary")
    page.click(".jp-OutputArea-output a:text-is('version counter')")
    page.wait_for_function(
        "document.querySelector('h3[data-jupyter-id=version-counter]')?.checkVisibility()"
    )


@pytest.mark.parametrize("kind", ["site", "page"])
def test_it_works_from_disk_in_what_is_published(chromium, built_pages, tmp_path, kind):
    path = built_pages / "lessons" / "glossary.html"
    if kind == "page":
        path = tmp_path / "glossary.html"
        for name in ("08_detach_and_no_grad", "glossary"):
            publish(ROOT / "notebooks" / f"{name}.ipynb", "page", tmp_path / f"{name}.html")
    size = {"width": 833, "height": 600}
    with watched(chromium, viewport=size, reduced_motion="reduce") as watch:
        page = watch.page
        page.goto(path.as_uri())
        assert page.locator(FIELD).count() == 1
        for one in PICKED[::2]:
            page.fill(FIELD, one.name)
            page.locator(".glossary-box li:not([hidden]) > a").first.click()
            page.wait_for_function(AT_HEADING)
            assert one.name in page.locator(":target").first.inner_text()
        page.fill(FIELD, "detach()")
        photograph(page, f"glossary-box-{kind}")
        page.locator(".glossary-box li:not([hidden])").first.get_by_text("Lesson 08").click()
        page.wait_for_url("**/08_detach_and_no_grad.html", wait_until="commit")
