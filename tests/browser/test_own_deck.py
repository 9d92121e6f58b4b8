"""Decks and pages of strangers' notebooks in a real browser: formulas, what fits, what stays inert."""

import base64
import json
import re

import hostile
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
LOADS = "iframe, object, embed, foreignObject, form, base, link:not([href='data:,']), meta[http-equiv=refresh], input:not(.player *), video, audio"
FOREIGN = """[...document.querySelectorAll("*")].flatMap((one) => [...one.attributes])
    .filter(({ name, value, ownerElement: one }) => name.startsWith("on") || /^\\s*(javascript|vbscript|data:text)/i.test(value)
        || (/far[.]example/.test(value) && !(one.localName === "a" && name === "href"))) // a link may lead there
    .map((one) => `${one.name}=${one.value}`)"""
STYLED = """[...document.querySelectorAll("section [style]:not(.player *), .cell [style]:not(.player *)")].map((one) => one.getAttribute("style"))
    .filter((style) => /url|position|expression|import/.test(style))"""
# Boxes of elements of a formula, by the words that they show.
BOXES = """(math) => [...math.querySelectorAll("*")].map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { tag: one.localName, text: one.textContent, left, right, top, bottom };
})"""
TO = """(title) => Reveal.slide(Reveal.getSlides().findIndex(
    (one) => one.querySelector("h1, h2").textContent === title), 0, 99)"""
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


@pytest.fixture(scope="module")
def shown(chromium, own):
    """The deck of a stranger on a wall."""
    with watched(chromium) as watch:
        yield opened(watch, own / "slides.html")


def boxes(found, text, *tags):
    return [one for one in found if one["text"] == text and one["tag"] in tags]


def test_the_signs_of_aligned_rows_stand_below_each_other(shown):
    shown.evaluate("Reveal.slide(1)")
    rows = shown.locator("math").nth(3).evaluate(BOXES)
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


def test_little_stands_in_the_middle_and_a_picture_is_large(shown):
    for title in ("Short code and its output", "A middling cell", "What sympy says"):
        shown.evaluate(TO, title)
        first, last = (shown.locator(".present .part").nth(at).bounding_box() for at in (0, -1))
        middle = (first["y"] + last["y"] + last["height"]) / 2
        assert 370 < middle < 410, title
    picture = shown.locator(".present img")
    shown.evaluate(TO, "A tall picture")
    assert 500 < picture.bounding_box()["height"] < 620, "as high as the room, no higher"
    shown.evaluate(TO, "A wide picture")
    assert picture.bounding_box()["width"] > 1100
    shown.evaluate(TO, "A plot")
    shown.keyboard.press("ArrowLeft")
    beside = picture.bounding_box()["height"]
    shown.keyboard.press("ArrowRight")
    large = picture.bounding_box()["height"]
    assert beside < 500 < large, "a key more, and it is the slide"
    shown.keyboard.press("c")
    assert picture.bounding_box()["height"] == beside, "its code is seen again"
    shown.keyboard.press("c")


def test_a_picture_that_is_larger_than_the_wall_is_shown_whole(chromium, tmp_path):
    (tmp_path / "large.png").write_bytes(base64.b64decode(strangers.png(2400, 1800)))
    cells = [
        strangers.text("## Alone\n\n![large](large.png)"),
        strangers.text("## With words\n\nwords\n\n![large](large.png)\n\nmore"),
        strangers.text("## Put out"),
        strangers.code("1", strangers.shown(text_plain="t", image_png=strangers.png(2400, 1800))),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "own.ipynb")
    publish(tmp_path / "own.ipynb", "slides", tmp_path / "own.html")
    with watched(chromium) as watch:
        page = opened(watch, tmp_path / "own.html")
        for title in ("Alone", "With words", "Put out"):
            page.evaluate(TO, title)
            expect(page.locator("section.present img")).to_be_visible()
            assert page.evaluate(LOST) == []
            assert page.locator("section.present .scrolls").count() == 0


def test_a_wide_table_scrolls_from_its_first_column_and_by_key(shown):
    shown.evaluate("Reveal.slide(0); Reveal.slide(3)")
    box = shown.locator(".present .out.scrolls")
    assert box.evaluate("(one) => [one.scrollLeft, one.scrollWidth > 3 * one.clientWidth]") == [
        0,
        True,
    ]
    assert shown.locator(".present th").first.bounding_box()["x"] >= 48
    shown.emulate_media(reduced_motion="reduce")
    at, end = 0, box.evaluate("(one) => one.scrollWidth - one.clientWidth")
    while at < end:
        assert shown.evaluate("Reveal.getSlidePastCount()") == 3
        shown.keyboard.press("ArrowRight")
        before, at = at, box.evaluate("(one) => one.scrollLeft")
        assert at > before
    shown.keyboard.press("ArrowRight")
    assert shown.evaluate("Reveal.getSlidePastCount()") == 4
    shown.keyboard.press("ArrowLeft")
    assert box.evaluate("(one) => one.scrollLeft") == end, "it is entered at its end"
    colours = shown.locator("td[style]").first
    assert colours.evaluate("(one) => getComputedStyle(one).backgroundColor") == "rgb(255, 255, 0)"


def test_a_tall_slide_is_scrolled_to_its_end_before_a_key_leads_on(chromium, own):
    where = """(() => {
        const box = document.querySelector("section.present .flow.scrolls");
        return box && [box.scrollTop, box.scrollHeight - box.clientHeight];
    })()"""
    with watched(chromium, reduced_motion="reduce") as watch:
        page = opened(watch, own / "slides.html")
        page.evaluate(TO, "Much output")
        at = page.evaluate("Reveal.getSlidePastCount()")
        top, most = page.evaluate(where)
        assert (top, most > 0) == (0, True)
        for on, back in (("ArrowRight", "ArrowLeft"), ("ArrowDown", "ArrowUp")):
            seen = [0]
            while seen[-1] < most:
                page.keyboard.press(on)
                seen.append(page.evaluate(where)[0])
                assert seen[-1] > seen[-2]
            page.keyboard.press("ArrowRight")
            assert page.evaluate("Reveal.getSlidePastCount()") == at + 1
            page.keyboard.press("ArrowLeft")
            assert page.evaluate(where) == [most, most], "it is entered at its end"
            for _ in seen[1:]:
                page.keyboard.press(back)
            assert page.evaluate(where) == [0, most]


def test_the_build_says_how_many_screens_a_slide_is_high_and_wide(own, capsys):
    given = [str(own / "own.ipynb"), "--to", "slides", "-o", str(own / "again.html")]
    assert main(given) == 0, "a notebook of one's own is published all the same"
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
    assert main([*given, "--no-check"]) == 0
    assert "screens" not in capsys.readouterr().out


@pytest.mark.parametrize("to", ["slides", "page"])
@pytest.mark.parametrize("given", [hostile, hostile_outputs], ids=["everything", "outputs"])
def test_nothing_of_a_hostile_notebook_runs_or_is_fetched(chromium, tmp_path, given, to):
    (tmp_path / "given.ipynb").write_text(json.dumps(given.notebook()))
    publish(tmp_path / "given.ipynb", to, tmp_path / "made.html")
    with watched(chromium) as watch:
        page, dialogs = watch.page, []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        if to == "slides":
            opened(watch, tmp_path / "made.html")
            assert len(list(states(page))) > len(hostile_outputs.outputs())
        else:
            page.goto((tmp_path / "made.html").as_uri())
        page.mouse.move(640, 360)
        assert page.evaluate("window.hit") is None
        assert page.locator(LOADS).count() == 0
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate(STYLED) == []
        assert page.locator("main").count() == 1
        expect(page.locator(".player")).to_have_count(int(given is hostile))
        ours = [text for _, text in scripts("deck" if to == "slides" else "page")]
        found = page.locator("script:not([type='application/json'])").all()
        assert [one.text_content() for one in found] == ours
        assert dialogs == []
