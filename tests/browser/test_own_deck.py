"""Decks and pages of strangers' notebooks in a real browser: formulas, what fits, what stays inert."""

import json
import re

import hostile_outputs
import nbformat
import pytest
import strangers
from deck import opened, states
from driver import photograph, watched
from playwright.sync_api import expect

from course.publish import main, publish
from course.publishing.assets import scripts

pytestmark = [pytest.mark.browser]
FIRST_OF_LIMITS = 5  # number of the first formula of `strangers.LIMITS`
LOADS = "iframe, object, embed, foreignObject, form, base, link:not([href='data:,']), meta[http-equiv=refresh], input, video, audio"
FOREIGN = """[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
    .filter((one) => one.name.startsWith("on") || /^\\s*(javascript|vbscript|data:text)/i.test(one.value) || /far[.]example/.test(one.value))
    .map((one) => `${one.name}=${one.value}`)"""
STYLED = """[...document.querySelectorAll("section [style], .cell [style]")].map((one) => one.getAttribute("style"))
    .filter((style) => /url|position|expression|import/.test(style))"""
# Boxes of elements of a formula, by the words that they show.
BOXES = """(math) => [...math.querySelectorAll("*")].map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { tag: one.localName, text: one.textContent, left, right, top, bottom };
})"""
# What is seen of a slide lies on it, or in a box that scrolls; text is 17 px at least.
LOST = """() => {
    const slide = Reveal.getCurrentSlide(), frame = slide.getBoundingClientRect();
    const scale = frame.width / slide.offsetWidth, found = [];
    for (const one of slide.querySelectorAll(".flow *, h1, h2, .first")) {
        if (!one.checkVisibility({ visibilityProperty: true }) || one.closest("details:not([open]) > :not(summary)")) continue;
        const { left, right, top, bottom } = one.getBoundingClientRect();
        const out = left < frame.left - 1 || right > frame.right + 1 || top < frame.top - 1 || bottom > frame.bottom + 1;
        const box = one.parentElement.closest(".scrolls");
        if (out && !box) found.push(`${slide.querySelector("h1, h2").textContent}: ${one.outerHTML.slice(0, 60)}`);
        const cut = one.scrollWidth > one.clientWidth + 1 && !["visible", "auto"].includes(getComputedStyle(one).overflowX);
        if (cut) found.push(`cut: ${one.outerHTML.slice(0, 60)}`);
        if (one.childElementCount === 0 && one.textContent.trim() && !one.closest("math, details") && parseFloat(getComputedStyle(one).fontSize) < 17) found.push(`small: ${one.outerHTML.slice(0, 60)}`);
    }
    return found;
}"""


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """The deck and the page of a stranger."""
    folder = tmp_path_factory.mktemp("own")
    nbformat.write(strangers.notebook(), folder / "own.ipynb")
    for to in ("slides", "page"):
        publish(folder / "own.ipynb", to, folder / f"{to}.html")
    return folder


@pytest.fixture(params=["slides", "page"])
def formula(request, chromium, own):
    """Return a function that gives the boxes of the formula with this number, in a deck and a page."""
    with watched(chromium) as watch:
        page = watch.page
        page.goto((own / f"{request.param}.html").as_uri())
        if request.param == "slides":
            opened(watch, own / "slides.html")

        def boxes_of(number):
            math = page.locator("math").nth(number)
            if request.param == "slides":
                page.evaluate(f"Reveal.slide({1 if number < FIRST_OF_LIMITS else 2})")
            return math.evaluate(BOXES)

        yield boxes_of


def boxes(found, text, *tags):
    return [one for one in found if one["text"] == text and one["tag"] in tags]


def high(one):
    return one["bottom"] - one["top"]


def test_the_signs_of_aligned_rows_stand_below_each_other(formula):
    rows = formula(3)
    equal = [one["left"] for one in boxes(rows, "=", "mo")]
    assert len(equal) == 3
    assert max(equal) - min(equal) < 1
    ends = [
        boxes(rows, text, kind)[0]["right"]
        for text, kind in (("L", "mi"), ("y2", "msub"), ("z", "mi"))
    ]
    assert max(ends) - min(ends) < 4, "what stands before them ends there"
    (tag,) = boxes(rows, "(7)", "mtext")
    assert tag["left"] > equal[0]
    assert abs(tag["top"] - boxes(rows, "z", "mi")[0]["top"]) < 20, "in the row of its formula"


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["wall", "phone"])
def test_nothing_of_a_strangers_deck_is_lost(chromium, own, size):
    with watched(chromium, viewport=dict(zip(("width", "height"), size, strict=True))) as watch:
        page = opened(watch, own / "slides.html")
        lost = []
        for slide, _ in states(page):
            lost += page.evaluate(LOST)
            photograph(page, f"own/{size[0]}-{slide:02}")
        assert lost == []
        assert page.locator("h1, h2").count() == page.locator(".slides section").count()


def test_little_stands_in_the_middle_and_a_picture_is_large(chromium, own):
    with watched(chromium) as watch:
        page = opened(watch, own / "slides.html")
        middle = {}
        for _ in states(page):
            title = page.evaluate("Reveal.getCurrentSlide().querySelector('h1, h2').textContent")
            if page.locator(".present .part").count():
                first, last = (
                    page.locator(".present .part").nth(at).bounding_box() for at in (0, -1)
                )
                middle[title] = (first["y"] + last["y"] + last["height"]) / 2
            if title == "A tall picture":
                picture = page.locator(".present img").bounding_box()
                assert 500 < picture["height"] < 620, "as high as the room, no higher"
            if title == "A wide picture":
                assert page.locator(".present img").bounding_box()["width"] > 1100
            if title == "A plot":
                assert page.locator(".present img").bounding_box()["height"] > 450
        for title in ("Short code and its output", "A middling cell", "What sympy says"):
            assert 370 < middle[title] < 410, title


def test_a_wide_table_scrolls_from_its_first_column_and_by_key(chromium, own):
    with watched(chromium) as watch:
        page = opened(watch, own / "slides.html")
        page.evaluate("Reveal.slide(3)")
        box = page.locator(".present .out.scrolls")
        assert box.evaluate("(one) => [one.scrollLeft, one.scrollWidth > 3 * one.clientWidth]") == [
            0,
            True,
        ]
        assert page.locator(".present th").first.bounding_box()["x"] >= 48
        box.focus()
        page.keyboard.press("ArrowRight")
        expect(box).not_to_have_js_property("scrollLeft", 0)
        assert page.evaluate("Reveal.getSlidePastCount()") == 3
        colours = page.locator("td[style]").first
        assert (
            colours.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(255, 255, 0)"
        )


def test_the_build_says_how_many_screens_a_slide_is_high_and_wide(own, capsys):
    assert main([str(own / "own.ipynb"), "--to", "slides", "-o", str(own / "again.html")]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  slide")]
    assert [line.partition(": ")[2] for line in said] == [
        "show fewer columns.",
        *["split it into two slides, or let its code print less."] * 2,
    ]
    assert re.search(
        r"slide 4 \(cell 4, “## A wide table”\) is \d\.\d screens wide and scrolls", said[0]
    )
    assert "screens tall and scrolls" in said[1]
    assert "wide" not in said[1]


@pytest.mark.parametrize("to", ["slides", "page"])
def test_nothing_of_hostile_outputs_runs_or_is_fetched_and_the_deck_starts(chromium, tmp_path, to):
    (tmp_path / "given.ipynb").write_text(json.dumps(hostile_outputs.notebook()))
    publish(tmp_path / "given.ipynb", to, tmp_path / "made.html")
    with watched(chromium) as watch:
        page, dialogs = watch.page, []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        if to == "slides":
            opened(watch, tmp_path / "made.html")
            assert len(list(states(page))) == len(hostile_outputs.outputs()) + 1
        else:
            page.goto((tmp_path / "made.html").as_uri())
        page.mouse.move(640, 360)
        assert page.evaluate("window.hit") is None
        assert page.locator(LOADS).count() == 0
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate(STYLED) == []
        assert page.locator("main").count() == 1
        ours = [text for _, text in scripts("deck" if to == "slides" else "page")]
        found = page.locator("script").all()
        assert [one.text_content() for one in found] == ours
        assert dialogs == []
