"""Decks and pages from disk, in a real browser with no network: fit, keys, players, notes, print,
hostile notebooks.
"""

import json
import re

import hostile
import nbformat
import pytest
from deck import ROOT, opened, states, unfit
from driver import watched
from made_up_film import lab, steps
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

from autograd_graphs.playing.player import FILM, as_json
from course.publish import publish
from course.publishing.assets import scripts
from helpers.labs import accumulation

pytestmark = [pytest.mark.browser]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SEEN = "[...document.querySelectorAll('.player')].filter((one) => one.checkVisibility({ visibilityProperty: true }))"
LOADS = "iframe, object, embed, foreignObject, form, base, link:not([href='data:,']), meta[http-equiv=refresh]"
HANDLERS = """[...document.querySelectorAll("*")].flatMap((one) => one.getAttributeNames())
    .filter((name) => name.startsWith("on"))"""
SLIDE = "Reveal.getSlidePastCount()"
INNER = """[...document.querySelectorAll(".player, .player-panel, .player-eq, .player-code")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
    .map((one) => one.className)"""


def text(source, kind):
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}})


def small(film=None):
    """A deck of four slides: words with notes, a film, a traceback, the end."""
    view = {hostile.VIEW: {"model_id": "m"}, "text/plain": "a film"}
    lines = [f"line {number}" for number in range(60)]
    raised = new_output(
        "error", ename="E", evalue="the last line", traceback=[*lines, "E: the last line"]
    )
    slide = {"slideshow": {"slide_type": "slide"}}
    cells = [
        text("# One\n\nwords", "slide"),
        text("*wait* a minute", "notes"),
        text("and more", "fragment"),
        new_code_cell("play()", execution_count=1, metadata=slide, outputs=[hostile.shown(view)]),
        new_code_cell("fail()", execution_count=2, metadata=slide, outputs=[raised]),
        text("# End\n\n<details><summary>fold</summary>inside</details>", "slide"),
    ]
    widgets = {hostile.WIDGETS: {"state": {"m": hostile.model(as_json(film or steps(3)))}}}
    return new_notebook(cells=cells, metadata={"widgets": widgets})


@pytest.fixture
def published(tmp_path):
    def write(notebook, to="slides", trust=False):
        nbformat.write(notebook, tmp_path / "given.ipynb")
        publish(tmp_path / "given.ipynb", to, tmp_path / f"{to}.html", trust=trust)
        return tmp_path / f"{to}.html"

    return write


@pytest.fixture
def deck(chromium, published):
    with watched(chromium) as watch:
        yield opened(watch, published(small()))


@pytest.fixture(scope="module", params=LESSONS, ids=lambda path: path.stem[:2])
def lesson_deck(request, tmp_path_factory):
    """The deck of a lesson, made once for the tests that walk through it."""
    path = tmp_path_factory.mktemp("deck") / f"{request.param.stem}.html"
    publish(request.param, "slides", path)
    return path


@pytest.mark.notebooks
def test_every_slide_and_fragment_of_a_lesson_fits(chromium, lesson_deck):
    with watched(chromium) as watch:
        found = unfit(opened(watch, lesson_deck), lesson_deck.name[:2])
    lines = [f"slide {s}, fragment {f}, cell {cell}: {what} {px}" for s, f, cell, what, px in found]
    assert not lines, f"{lesson_deck.stem} does not fit 1280×720:\n" + "\n".join(lines)


def test_options_beside_code_are_seen_under_the_picture_too_and_stand_beside_it_before(
    chromium, tmp_path
):
    lesson = next(one for one in LESSONS if one.name.startswith("09"))
    path = tmp_path / "deck.html"
    publish(lesson, "slides", path)
    with watched(chromium) as watch:
        page = opened(watch, path)
        slide = page.locator("section.present")
        number = page.evaluate(
            "Reveal.getSlides().findIndex((one) => one.querySelector('h2')?.textContent.startsWith('2 ·'))"
        )
        page.evaluate("(number) => Reveal.slide(number, 0, -1)", number)
        beside = slide.locator(".votes").bounding_box()
        page.keyboard.press("ArrowRight")
        expect(slide.locator(".votes li")).to_have_count(3)
        picture = slide.locator(".pic svg").bounding_box()
        for option in slide.locator(".votes li").all():
            expect(option).to_be_visible()
            assert option.bounding_box()["y"] >= picture["y"] + picture["height"]
        page.keyboard.press("c")
        assert slide.locator(".votes").bounding_box() == beside


@pytest.mark.notebooks
def test_every_player_of_a_lesson_answers_a_key_in_its_slide(chromium, lesson_deck):
    with watched(chromium) as watch:
        page = opened(watch, lesson_deck)
        tried = 0
        for _ in states(page):
            for number in range(page.evaluate(f"{SEEN}.length")):
                page.evaluate(f"{SEEN}[{number}].focus()")
                before, slide = page.evaluate(f"{SEEN}[{number}].innerText"), page.evaluate(SLIDE)
                seen = set()
                for key in ("Home", "1", "2", "3", "ArrowRight"):
                    page.keyboard.press(key)
                    seen.add(page.evaluate(f"{SEEN}[{number}]?.innerText"))
                assert seen - {before, None}  # after a lab's last press → goes on to its answers
                assert page.evaluate(SLIDE) == slide
                page.keyboard.press("Escape")
                tried += 1
        assert (tried > 0) == (page.locator(".player").count() > 0)


CROWDED = {
    "too long": [text("\n\n".join(["words"] * 30), "slide")],
    "too wide": [
        text(f"<table><tr><td>{'x' * 30}</td>{'<td>xxxxxxxxxxxx</td>' * 12}</tr></table>", "slide")
    ],
    "too late": [text("# A", "slide"), text("\n\n".join(["words"] * 30), "fragment")],
    "too small": [text('<img alt="a" src="wide.svg">', "slide")],
}


@pytest.mark.parametrize("what", CROWDED)
def test_what_does_not_fit_is_found_and_the_cell_named(chromium, published, tmp_path, what):
    wide = '<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="50"><rect width="2000" height="50"/></svg>'
    (tmp_path / "wide.svg").write_text(wide)
    with watched(chromium) as watch:
        found = unfit(opened(watch, published(new_notebook(cells=CROWDED[what]))))
    assert CROWDED[what][-1].id in {cell for _, _, cell, _, _ in found}
    assert all(pixels > 0 for *_, pixels in found)


def test_a_small_deck_fits_and_its_traceback_shows_its_last_line(deck):
    assert unfit(deck) == []
    deck.evaluate("Reveal.slide(2)")
    assert deck.locator(".present .err").inner_text() == "E: the last line"
    deck.click(".present summary")
    whole = deck.locator(".present details pre")
    assert whole.is_visible()
    assert whole.inner_text().startswith("line 0")
    assert whole.evaluate("(one) => one.scrollHeight > one.clientHeight && one.tabIndex === 0")


AT = "[Reveal.getSlidePastCount(), document.querySelector('.present .player-count')?.textContent]"
OPEN = "[Reveal.isPaused(), document.querySelector('dialog[open]')?.id ?? null]"


@pytest.mark.parametrize(("on", "back"), [("ArrowRight", "ArrowLeft"), ("PageDown", "PageUp")])
@pytest.mark.parametrize("focused", [False, True])
def test_on_and_back_lead_through_a_player_that_is_seen(deck, on, back, focused):
    deck.evaluate("Reveal.slide(1)")
    assert deck.evaluate(AT) == [1, "4 steps"]
    if focused:
        deck.focus(".player")
    ways = []
    for _ in range(6):
        deck.keyboard.press(on)
        ways.append(deck.evaluate(AT))
    steps = ["step 1 of 4", "step 2 of 4", "step 3 of 4", "step 4 of 4", "the end"]
    assert ways == [*([1, step] for step in steps), [2, None]]
    deck.keyboard.press(back)
    assert deck.evaluate(AT) == [1, "the end"]
    deck.keyboard.press(back)
    assert deck.evaluate(AT) == [1, "step 4 of 4"]


def test_a_player_begins_anew_where_its_slide_is_entered_forward_or_chosen(deck):
    for keys in ("Home ArrowRight ArrowRight", "o ArrowDown Enter"):
        deck.evaluate("Reveal.slide(1)")
        deck.keyboard.press("End")
        assert deck.evaluate(AT) == [1, "the end"]
        deck.evaluate("Reveal.slide(0, 0, -1)")
        for key in keys.split():
            deck.keyboard.press(key)
        assert deck.evaluate(AT) == [1, "4 steps"]


def test_back_into_a_player_that_was_jumped_over_shows_its_end(deck):
    deck.evaluate("Reveal.slide(2)")
    deck.keyboard.press("ArrowLeft")
    assert deck.evaluate(AT) == [1, "the end"]


def test_back_takes_away_what_came_after_a_player_before_it_rewinds_the_player(chromium, published):
    notebook = small()
    notebook.cells.insert(4, text("after the film", "fragment"))
    with watched(chromium) as watch:
        page = opened(watch, published(notebook))
        page.evaluate("Reveal.slide(1)")
        page.keyboard.press("End")
        page.keyboard.press("ArrowRight")
        after = page.get_by_text("after the film")
        assert after.is_visible()
        page.keyboard.press("ArrowLeft")
        assert not after.is_visible()
        assert page.evaluate(AT) == [1, "the end"]
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(AT) == [1, "step 4 of 4"]


def test_any_key_closes_the_help_and_does_nothing_else(deck):
    for key in ("?", "ArrowRight", "c"):
        deck.keyboard.press("?")
        assert deck.evaluate(OPEN) == [False, "help"]
        deck.keyboard.press(key)
        assert deck.evaluate(f"[{SLIDE}, ...{OPEN}]") == [0, False, None]


def test_keys_that_only_a_player_knows_are_its_own_wherever_the_focus_is(deck):
    deck.evaluate("Reveal.slide(1)")
    deck.keyboard.press("End")
    assert deck.evaluate(AT) == [1, "the end"]
    deck.keyboard.press("Home")
    assert deck.evaluate(AT) == [1, "4 steps"]
    deck.keyboard.press("g")
    assert deck.get_attribute(".present .player-guess", "aria-pressed") == "true"
    assert deck.inner_text(".keys") == ""


def test_a_focused_player_has_the_letters_and_escape_gives_them_back(deck):
    deck.evaluate("Reveal.slide(1)")
    deck.focus(".player")
    assert deck.inner_text(".keys") == "Keys: player · Esc for slides"
    ring = deck.evaluate("getComputedStyle(document.querySelector('.player')).outlineWidth")
    assert ring == "3px"
    for key in ("ArrowDown", "n", "o", "s", "f", "b", "?"):
        deck.keyboard.press(key)
    assert deck.evaluate(OPEN) == [False, None]
    deck.keyboard.press("Escape")
    expect(deck.locator(".keys")).to_have_text("")
    assert deck.evaluate(OPEN) == [False, None]
    assert deck.evaluate(SLIDE) == 1


def test_escape_never_leads_away_and_any_key_ends_the_black_screen(deck):
    deck.keyboard.press("Escape")
    assert deck.evaluate(f"[{SLIDE}, ...{OPEN}]") == [0, False, None]
    deck.keyboard.press("b")
    assert deck.evaluate(OPEN) == [True, None]
    deck.keyboard.press("ArrowRight")
    assert deck.evaluate(f"[{SLIDE}, ...{OPEN}]") == [0, False, None]


def test_the_list_of_slides_leads_to_where_a_slide_begins(deck):
    where = "[Reveal.getIndices().h, Reveal.getCurrentSlide().dataset.step]"
    deck.keyboard.press("ArrowRight")
    assert deck.evaluate(where) == [0, "1"]
    deck.keyboard.press("o")
    assert deck.evaluate(OPEN) == [False, "contents"]
    titles = deck.locator("#contents button").all_inner_texts()
    assert len(titles) == deck.evaluate("Reveal.getTotalSlides()")
    deck.keyboard.press("Enter")
    assert deck.evaluate(f"[...{where}, ...{OPEN}]") == [0, "0", False, None]
    deck.keyboard.press("o")
    deck.keyboard.press("ArrowDown")
    deck.keyboard.press("Enter")
    assert deck.evaluate(where) == [1, "0"]
    for key, chosen in (("3", 2), ("Home", 0), ("End", 3)):
        for pressed in ("o", key, "Enter"):
            deck.keyboard.press(pressed)
        assert deck.evaluate("Reveal.getIndices().h") == chosen


def test_every_key_that_the_help_names_does_something(deck):
    deck.keyboard.press("?")
    assert deck.evaluate(OPEN) == [False, "help"]
    named = deck.locator("#help kbd").all_inner_texts()
    assert named == ["→ ← Space", "1 … 9, g, Home", *"OSNCLBF", "Esc", "?"]
    deck.keyboard.press("Escape")
    assert deck.evaluate(OPEN) == [False, None]
    state = "[document.documentElement.className, document.getElementById('say').hidden, document.querySelector('.present.peek') !== null]"
    for key in "lnc":
        before = deck.evaluate(state)
        deck.keyboard.press(key)
        assert deck.evaluate(state) != before, key


def test_a_key_right_after_a_closed_list_is_not_lost(deck):
    """Until the next frame the focus is still in the dialog that is gone."""
    deck.keyboard.press("?")
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'l', keyCode: 76, bubbles: true }))"
    deck.evaluate(f"document.getElementById('help').close(); {press}")
    assert "dark" in deck.evaluate("document.documentElement.className")


def test_no_documented_key_moves_the_slides(deck):
    deck.evaluate("Reveal.slide(1)")
    state = f"[{SLIDE}, ...{OPEN}, document.querySelectorAll('section').length]"
    before = deck.evaluate(state)
    keys = (
        "Home ArrowRight ArrowLeft g 2 Enter g n i f / Escape + - 0 Shift+ArrowUp Shift+ArrowLeft o"
    )
    for key in [*keys.split(), " ", " "]:
        deck.focus(".player" if key != "Escape" else ":focus")
        deck.keyboard.press(key)
        assert deck.evaluate(state) == before, key


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_a_player_takes_the_free_height_of_its_slide_and_can_be_read(chromium, published, size):
    viewport = dict(zip(("width", "height"), size, strict=True))
    with watched(chromium, viewport=viewport) as watch:
        page = opened(watch, published(small()))
        page.evaluate("Reveal.slide(1)")
        player = page.locator(".player")
        found = "(one) => [one.offsetHeight, parseFloat(getComputedStyle(one).fontSize)]"
        height, text = player.evaluate(found)
        room = page.locator(".present .body").bounding_box()["height"] / size[1] * 720
        assert height > room - 110, "all but the code above it"
        assert text >= 18
        assert page.evaluate("Reveal.getCurrentSlide().scrollHeight") <= 720
        for _ in range(5):
            assert page.evaluate(INNER) == []
            page.focus(".player")
            page.keyboard.press("ArrowRight")


@pytest.mark.parametrize(
    ("scheme", "ground"), [("light", "rgb(250, 249, 245)"), ("dark", "rgb(18, 23, 29)")]
)
def test_a_deck_follows_the_theme(chromium, published, scheme, ground):
    with watched(chromium, color_scheme=scheme) as watch:
        page = opened(watch, published(small()))
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == ground
        assert (
            page.evaluate("getComputedStyle(document.querySelector('h2')).color") != "rgb(0, 0, 0)"
        )


def test_a_lab_fills_its_slide_and_stays_as_it_is_where_a_line_is_refused(chromium, published):
    with watched(chromium) as watch:
        page = opened(watch, published(small(accumulation.film())))
        page.evaluate("Reveal.slide(1)")
        page.focus(".player")
        room = "(one) => [one.offsetWidth, one.offsetHeight]"
        wide, high = page.locator(".player").evaluate(room)
        edges = "(one) => { const { left, right } = one.getBoundingClientRect(); return [left, right]; }"
        assert page.locator(".player").evaluate(edges) == [72, 1208], "from margin to margin"
        assert high > page.locator(".present .body").bounding_box()["height"] - 110
        for key in "133431":
            page.keyboard.press(key)
            assert page.locator(".player").evaluate(room) == [wide, high]
        size = "(one) => parseFloat(getComputedStyle(one).fontSize)"
        assert page.locator(".player-action code").first.evaluate(size) >= 18


def test_a_whole_traceback_scrolls_by_key_until_escape(deck):
    deck.evaluate("Reveal.slide(2)")
    deck.click(".present summary")
    deck.focus(".present details pre")
    deck.keyboard.press("End")
    deck.keyboard.press("ArrowRight")
    assert deck.evaluate(SLIDE) == 2
    assert deck.inner_text(".keys") == "Keys: scrolling · Esc for slides"
    deck.keyboard.press("Escape")
    expect(deck.locator(".keys")).to_have_text("")
    assert not deck.evaluate("Reveal.isOverview()")
    deck.keyboard.press("ArrowRight")
    assert deck.evaluate(SLIDE) == 3


def test_the_speakers_window_shows_notes_time_and_what_comes_next(deck):
    with deck.expect_popup() as opening:
        deck.keyboard.press("s")
    window = opening.value
    assert window.title() == f"Notes: {deck.title()}"
    assert window.inner_text("#notes") == "wait a minute"
    assert window.inner_text("#slide") == "1 / 4 · One"
    assert window.inner_text("#then") == "Next: more on this slide"
    assert window.inner_text("#time").startswith("00:0")
    assert window.locator("#picture section[data-step='1'] .part").count() == 2
    window.keyboard.press("ArrowRight")
    window.keyboard.press("ArrowRight")
    assert deck.evaluate(SLIDE) == 1
    assert window.inner_text("#notes") == "No notes on this slide."
    window.keyboard.press("F5")
    assert window.inner_text("#notes") == "No notes on this slide."
    window.reload()
    expect(deck.locator("h1, h2").nth(1)).to_be_visible()
    assert deck.evaluate(SLIDE) == 1


def test_the_plan_stretches_to_the_minutes_that_one_has(chromium, lesson_deck):
    with watched(chromium) as watch:
        page = opened(watch, lesson_deck)
        page.evaluate("Reveal.slide(6)")
        with page.expect_popup() as opening:
            page.keyboard.press("s")
        window = opening.value
        reckoned = int(window.input_value("#wanted"))
        planned = [plan_in(window)]
        for wanted in (2 * reckoned, reckoned):
            window.fill("#wanted", str(wanted))
            planned.append(plan_in(window))
        assert planned[1] == pytest.approx(2 * planned[0], rel=0.05)
        assert planned[2] == pytest.approx(planned[0], rel=0.05)


def plan_in(window):
    """Return the seconds that the plan allows until now."""
    minutes, seconds = re.search(r"plan (\d+):(\d+)", window.inner_text("#plan")).groups()
    return 60 * int(minutes) + int(seconds)


def test_keys_in_the_speakers_window_are_pressed_in_the_deck_and_it_says_what_the_room_sees(deck):
    deck.evaluate("Reveal.slide(1)")
    with deck.expect_popup() as opening:
        deck.keyboard.press("s")
    window = opening.value
    window.keyboard.press("ArrowRight")
    assert deck.evaluate(AT) == [1, "step 1 of 4"]
    window.keyboard.press("o")
    assert deck.evaluate(OPEN) == [False, "contents"]
    expect(window.locator("#room")).to_have_text("The room sees: Slides")
    window.keyboard.press("ArrowUp")
    window.keyboard.press("Enter")
    assert deck.evaluate(f"[{SLIDE}, ...{OPEN}]") == [0, False, None]
    window.keyboard.press("b")
    expect(window.locator("#room")).to_have_text("The room sees: black")
    window.keyboard.press("Escape")
    expect(window.locator("#room")).to_have_text("")
    assert deck.evaluate(OPEN) == [False, None]


def test_only_the_slide_that_is_seen_is_in_the_accessibility_tree(deck):
    tree = deck.locator("body").aria_snapshot()
    assert 'region "One"' in tree
    assert "End" not in tree
    assert "wait" not in tree
    assert deck.title() == "One"
    deck.keyboard.press("Tab")
    assert not deck.evaluate("Boolean(document.activeElement.closest('section:not(.present)'))")


def test_on_paper_every_slide_has_its_page_and_shows_everything(chromium, published):
    with watched(chromium) as watch:
        page = opened(watch, published(small()), "?print-pdf")
        expect(page.locator(".pdf-page")).to_have_count(4)
        assert page.get_by_text("and more", exact=True).is_visible()
        assert page.locator(".pdf-page h2").first.bounding_box()["x"] == 72
        assert page.locator(".player svg").first.is_visible()
        pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.count(b"/Type /Page\n") == 4


def test_plain_printing_shows_every_slide_at_its_end_and_then_the_deck_goes_on(chromium, published):
    with watched(chromium, color_scheme="light") as watch:
        page = opened(watch, published(small()))
        page.keyboard.press("ArrowRight")
        page.keyboard.press("l")  # dark
        before = page.evaluate(
            "[JSON.stringify(Reveal.getIndices()), document.documentElement.className]"
        )
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        for what, colour in (
            ("backgroundColor", "rgb(255, 255, 255)"),
            ("color", "rgb(27, 37, 48)"),
        ):
            assert page.evaluate(f"getComputedStyle(document.body).{what}") == colour
        for slide in page.locator(".slides > section").all():
            assert slide.is_visible()
            assert slide.evaluate("one => +one.dataset.step === one.dataset.steps - 1")
            assert slide.evaluate("one => one.dataset.fitted && one.dataset.trouble") == ""
            assert slide.evaluate("one => one.getBoundingClientRect().right") < 980, (
                "Letter on its side"
            )
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        after = page.evaluate(
            "[JSON.stringify(Reveal.getIndices()), document.documentElement.className]"
        )
        assert after == before
        shown = page.locator("section.present")
        assert shown.get_attribute("data-step") == str(len(shown.locator(".tick.visible").all()))
        assert page.locator(".slides > section:visible").count() == 1


CUT = """() => [...document.querySelectorAll(".pdf-page")].flatMap((page) => {
    const { bottom } = page.getBoundingClientRect();
    const parts = [...page.querySelectorAll("section *")].filter((one) => one.checkVisibility()
        && !one.closest(".scrolls, aside, .player-told, .player-sizer, details:not([open]) :not(summary), .player-live"));
    const cut = parts.filter((one) => one.getBoundingClientRect().bottom > bottom + 1);
    return cut.map((one) => one.outerHTML.slice(0, 99));
})"""


@pytest.mark.notebooks
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem[:2])
def test_on_paper_a_lesson_has_a_light_page_for_each_slide_and_nothing_is_cut(
    chromium, tmp_path, lesson
):
    publish(lesson, "slides", tmp_path / "deck.html")
    with watched(chromium, color_scheme="dark") as watch:
        page = opened(watch, tmp_path / "deck.html")
        slides = page.evaluate("Reveal.getTotalSlides()")
        assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") in range(
            slides, slides + 4
        ), "plain printing"
        page = opened(watch, tmp_path / "deck.html", "?print-pdf")
        page.wait_for_selector(".pdf-page")
        assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == slides
        for media in ("screen", "print"):
            page.emulate_media(media=media, color_scheme="dark")
            assert (
                page.evaluate("getComputedStyle(document.body).backgroundColor")
                == "rgb(250, 249, 245)"
            )
            assert page.evaluate(CUT) == []
            heights = page.evaluate(
                "[...document.querySelectorAll('.pdf-page section')].map((one) => one.offsetHeight)"
            )
            assert max(heights) < 720, "the browser would move a picture to a page of its own"


@pytest.mark.parametrize("to", ["slides", "page"])
def test_nothing_of_a_hostile_notebook_runs_or_is_fetched(chromium, published, to):
    path = published(hostile.notebook(), to)
    noise = (
        "Refused to",
        "Executing inline",
    )  # what a policy says of an attempt would be a failure of the first wall
    with watched(chromium) as watch:
        page = watch.page
        page.goto(path.as_uri())
        expect(page.locator(".player")).to_have_count(1)
        for _ in states(page) if to == "slides" else [None]:
            assert page.evaluate("window.hit") is None
        for link in page.locator("a").all():
            assert (
                not (link.get_attribute("href") or "#")
                .lower()
                .lstrip()
                .startswith(("javascript", "data"))
            )
        assert page.locator(LOADS).count() == 0
        assert page.evaluate(HANDLERS) == []
        ours = [text for _, text in scripts("deck" if to == "slides" else "page")]
        found = page.locator("script:not([type='application/json'])").all()
        assert [one.text_content() for one in found] == ours
        assert not [error for error in watch.errors if error.startswith(noise)]


@pytest.mark.parametrize("to", ["slides", "page"])
@pytest.mark.parametrize("made", [lab(), steps(3)], ids=["lab", "steps"])
def test_a_film_whose_numbers_lead_nowhere_costs_its_own_place_alone(chromium, published, made, to):
    data = json.loads(as_json(made))
    broken = data | {"marks": []} if "states" in data else data | {"roles": [""], "lines": [""]}
    notebook = small(steps(3))
    view = hostile.shown({FILM: json.dumps(broken), "text/plain": "a film"})
    notebook.cells.insert(4, new_code_cell("nowhere()", execution_count=3, outputs=[view]))
    with watched(chromium) as watch:
        watch.page.goto(published(notebook, to).as_uri())
        expect(watch.page.get_by_text("The data of this player is damaged")).to_have_count(1)
        expect(watch.page.locator(".player")).to_have_count(1)


def test_a_script_that_slipped_in_would_not_run(chromium, published, tmp_path):
    path = published(small())
    path.write_text(
        path.read_text().replace(
            "</main>", "<script>window.hit=1</script><img src=x onerror='hit=1'></main>"
        )
    )
    with watched(
        chromium, noise=("Executing inline", "Refused to", "Failed to load", "Loading the image")
    ) as watch:
        assert opened(watch, path).evaluate("window.hit") is None


def test_trusted_html_and_scripts_stay_and_run(chromium, published):
    html = hostile.shown(
        {"text/html": "<p id='mine'></p><script>window.hit=1</script>", "text/plain": "plain"}
    )
    notebook = new_notebook(cells=[new_code_cell("x", execution_count=1, outputs=[html])])
    with watched(chromium) as watch:
        assert opened(watch, published(notebook, trust=True)).evaluate("window.hit") == 1
        assert opened(watch, published(notebook)).evaluate("window.hit") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_reads_at_320_pixels_and_its_player_plays(chromium, published, scheme):
    with watched(chromium, viewport={"width": 320, "height": 600}, color_scheme=scheme) as watch:
        page = watch.page
        page.goto(published(small(), "page").as_uri())
        page.focus(".player")
        page.keyboard.press("ArrowRight")
        assert page.inner_text(".player-count") == "step 1 of 4"
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert "wait a minute" not in page.content()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(250, 249, 245)" if scheme == "light" else "rgb(18, 23, 29)")


def test_a_player_shows_its_whole_heading_beside_long_numbers(chromium, tmp_path):
    publish(LESSONS[5], "slides", tmp_path / "05.html")
    with watched(chromium) as watch:
        page = opened(watch, tmp_path / "05.html")
        page.evaluate("Reveal.slide(3, 0, -1)")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        heading = page.locator(".present .player-title")
        assert heading.inner_text() == "x.grad AccumulateGrad"
        assert heading.evaluate("(one) => one.scrollHeight <= one.clientHeight + 1")
