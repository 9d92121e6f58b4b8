"""Decks and pages from disk, in a real browser with no network: fit, keys, players, notes, print,
axe, damaged films.
"""

import json
import re

import hostile
import nbformat
import pytest
from axe import grave, grave_in_both_themes
from deck import ROOT, UNROLL, opened, states, unfit
from driver import press, rgb, watched
from made_up_film import lab, steps
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import expect

from autograd_graphs.drawing.palette import DARK, LIGHT
from autograd_graphs.playing.player import FILM, as_json
from course.publish import publish
from course.publishing.deck import deck as deck_with
from course.publishing.stretches import Stretch
from course.routes import Pause
from helpers.labs import accumulation

pytestmark = [pytest.mark.browser]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem[:2])
SEEN = "[...document.querySelectorAll('.player')].filter((one) => one.checkVisibility({ visibilityProperty: true }))"
SLIDE = "Reveal.getSlidePastCount()"
INNER = """[...document.querySelectorAll(".player, .player-panel, .player-eq, .player-code")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
    .map((one) => one.className)"""
TO_LAST_STEP = "(one) => { one.value = one.max - 1; one.dispatchEvent(new Event('input')); }"
CUT_HEADINGS = """[...document.querySelectorAll(".present .player-title")]
    .filter((one) => one.scrollHeight > one.clientHeight + 1).map((one) => one.textContent)"""
CUT = """() => [...document.querySelectorAll(".pdf-page")].flatMap((page) => {
    const { bottom } = page.getBoundingClientRect();
    const parts = [...page.querySelectorAll("section *")].filter((one) => one.checkVisibility()
        && !one.closest(".scrolls, aside, .player-told, .player-sizer, details:not([open]) :not(summary), .player-live"));
    const cut = parts.filter((one) => one.getBoundingClientRect().bottom > bottom + 1);
    return cut.map((one) => one.outerHTML.slice(0, 99));
})"""
HEIGHTS = "[...document.querySelectorAll('.pdf-page section')].map((one) => one.offsetHeight)"
GROUND = "getComputedStyle(document.body).backgroundColor"


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


@pytest.fixture(scope="module")
def small_deck(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    nbformat.write(small(), folder / "given.ipynb")
    publish(folder / "given.ipynb", "slides", folder / "slides.html")
    return folder / "slides.html"


@pytest.fixture
def deck(chromium, small_deck):
    with watched(chromium, color_scheme="light") as watch:
        yield opened(watch, small_deck)


@pytest.fixture(scope="module")
def deck_of(tmp_path_factory):
    """Return a function that gives the deck of a lesson, each made once."""
    folder = tmp_path_factory.mktemp("decks")

    def made(lesson):
        path = folder / f"{lesson.stem}.html"
        if not path.exists():
            publish(lesson, "slides", path)
        return path

    return made


@pytest.mark.notebooks
@every_lesson
def test_a_lesson_fits_its_players_have_keys_and_axe_finds_nothing_grave(chromium, deck_of, lesson):
    with watched(chromium) as watch:
        page = opened(watch, deck_of(lesson))
        found = unfit(page, lesson.name[:2])
        lines = [f"slide {s}, fragment {f}, cell {c}: {what} {px}" for s, f, c, what, px in found]
        assert not lines, "does not fit 1280×720:\n" + "\n".join(lines)
        page.evaluate("Reveal.slide(0, 0, -1)")
        for _ in states(page):
            for number in range(page.evaluate(f"{SEEN}.length")):
                answers_keys(page, number)
        page.evaluate(UNROLL)
        page.evaluate("document.body.tabIndex = 0")  # only this test scrolls the page of a deck
        assert grave_in_both_themes(page) == [], "all slides at once"


def answers_keys(page, number):
    """Press keys in a player of a slide: it shows something else, whole, and the slide stays."""
    page.evaluate(f"{SEEN}[{number}].focus()")
    before, slide = page.evaluate(f"{SEEN}[{number}].innerText"), page.evaluate(SLIDE)
    seen = set()
    for key in ("Home", "1", "2", "3", "ArrowRight"):
        page.keyboard.press(key)
        seen.add(page.evaluate(f"{SEEN}[{number}]?.innerText"))
    page.evaluate(f"{SEEN}[{number}]?.querySelectorAll('.player-range').forEach({TO_LAST_STEP})")
    assert page.evaluate(CUT_HEADINGS) == []
    assert seen - {before, None}  # after a lab's last press → goes on to its answers
    assert page.evaluate(SLIDE) == slide
    page.keyboard.press("Escape")


@pytest.mark.notebooks
@every_lesson
def test_on_paper_a_lesson_has_a_light_page_for_each_slide_and_nothing_is_cut(
    chromium, deck_of, lesson
):
    with watched(chromium, color_scheme="dark") as watch:
        page = opened(watch, deck_of(lesson))
        slides = page.evaluate("Reveal.getTotalSlides()")
        pages = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
        assert slides <= pages < slides + 4, "plain printing"
        page = opened(watch, deck_of(lesson), "?print-pdf")
        page.wait_for_selector(".pdf-page")
        assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == slides
        assert page.locator(".pdf-page .fragment:not(.visible)").count() == 0
        for media in ("screen", "print"):
            page.emulate_media(media=media, color_scheme="dark")
            assert page.evaluate(GROUND) == rgb(LIGHT["ground"])
            assert page.evaluate(CUT) == []
            assert max(page.evaluate(HEIGHTS)) < 720, "else a picture has a page of its own"
        assert grave(page, rules=["color-contrast"]) == []


def test_options_beside_code_are_seen_under_the_picture_too_and_stand_beside_it_before(
    chromium, deck_of
):
    with watched(chromium) as watch:
        page = opened(watch, deck_of(next(one for one in LESSONS if one.name.startswith("09"))))
        slide = page.locator("section.present")
        number = page.evaluate(
            "Reveal.getSlides().findIndex((one) => one.querySelector('h2')?.textContent.startsWith('Which edit does harm'))"
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


def test_c_shows_all_of_a_program_and_no_output_that_has_no_room_below_it(chromium, deck_of):
    with watched(chromium) as watch:
        page = opened(watch, deck_of(LESSONS[15]))
        page.evaluate("Reveal.slide(1, 0, 0)")
        came = page.locator("section.present .stage .out>*")
        for lines, seen in ((5, True), (9, False), (5, True)):
            shown = page.locator("section.present .stage pre.src .ln:visible")
            assert shown.count() >= lines
            assert came.first.is_visible() is seen
            page.keyboard.press("c")


@pytest.mark.parametrize("number", ["08", "10", "13"])
def test_lines_to_put_in_order_are_large_and_so_is_the_program_that_they_make(
    chromium, deck_of, number
):
    with watched(chromium) as watch:
        page = opened(watch, deck_of(LESSONS[int(number)]))
        orders = "Reveal.getSlides().findIndex((one) => one.dataset.swaps !== undefined && !one.querySelector('.failed') && /order|Arrange/.test(one.querySelector('.ask').textContent))"
        page.evaluate(f"Reveal.slide({orders}, 0, -1)")
        size = "(one) => parseFloat(getComputedStyle(one).fontSize)"
        large = page.locator("section.present .stage .code pre.src").evaluate(size)
        assert large >= 32
        page.keyboard.press("ArrowRight")
        assert page.locator("section.present .stage .out>pre").first.evaluate(size) == large


def test_a_small_deck_fits_and_its_traceback_opens_and_scrolls_by_key_until_escape(deck):
    assert unfit(deck) == []
    deck.evaluate("Reveal.slide(2)")
    assert deck.locator(".present .err").inner_text() == "E: the last line"
    deck.click(".present summary")
    whole = deck.locator(".present details pre")
    assert whole.inner_text().startswith("line 0")
    assert whole.evaluate("(one) => one.scrollHeight > one.clientHeight && one.tabIndex === 0")
    whole.focus()
    press(deck, "End", "ArrowRight")
    assert deck.evaluate(SLIDE) == 2
    assert deck.inner_text(".keys") == "Keys: scrolling · Esc for slides"
    deck.keyboard.press("Escape")
    expect(deck.locator(".keys")).to_have_text("")
    assert not deck.evaluate("Reveal.isOverview()")
    deck.keyboard.press("ArrowRight")
    assert deck.evaluate(SLIDE) == 3


AT = "[Reveal.getSlidePastCount(), document.querySelector('.present .player-count')?.textContent]"
OPEN = "[Reveal.isPaused(), document.querySelector('dialog[open]')?.id ?? null]"


PRESSED = """() => { const { walks, step } = Reveal.getCurrentSlide().dataset;
    return [walks.split(",")[step], Reveal.getCurrentSlide().querySelector(".player-title").textContent]; }"""


def stepping():
    """A lab whose answers are steps of a film."""
    asks = "## Lab: two steps\n\nStep.\n\n1. What comes?\n2. And then?"
    why = "<details><summary>Why?</summary>\n\n**It steps.**\n\n1. This.\n2. That.\n\n</details>"
    presses = {"presses": "ArrowRight ArrowRight"}
    view = {FILM: as_json(steps(2)), "text/plain": "a film"}
    return new_notebook(
        cells=[
            new_markdown_cell("# Steps\n\nWords.", metadata={"course": {"role": "title"}}),
            new_markdown_cell(asks, metadata={"course": {"role": "lab", "slide": presses}}),
            new_code_cell(
                "play()",
                execution_count=1,
                metadata={"course": {"role": "run"}},
                outputs=[hostile.shown(view)],
            ),
            new_markdown_cell(why, metadata={"course": {"role": "because"}}),
        ]
    )


def test_a_lab_that_steps_shows_each_press_and_nothing_before_it(chromium, published):
    with watched(chromium) as watch:
        page = opened(watch, published(stepping()))
        page.evaluate("Reveal.slide(Reveal.getSlides().findIndex((one) => one.dataset.walks))")
        steps = int(page.evaluate("Reveal.getCurrentSlide().dataset.steps"))
        seen = set()
        for _ in range(steps):
            seen.add(tuple(page.evaluate(PRESSED)))
            page.keyboard.press("ArrowRight")
        titles = {"": "y2.backward()", "ArrowRight": "MulBackward0"}
        titles |= {"ArrowRight ArrowRight": "MulBackward0"}
        assert seen == set(titles.items())


PRESSES = """() => {
  const at = Reveal.getCurrentSlide(), [pane] = at.querySelectorAll(".player-pane");
  const sizes = [...pane.querySelectorAll("text")].map((one) => parseFloat(getComputedStyle(one).fontSize) * one.ownerSVGElement.getScreenCTM().a);
  const isWhole = pane.scrollHeight <= pane.clientHeight + 1 && pane.scrollWidth <= pane.clientWidth + 1;
  return { least: Math.min(...sizes), isWhole, presses: [...at.querySelectorAll(".player-action")].map((one) => [one.querySelector("b").innerText, one.dataset.nr]) };
}"""
NUMBERED = [
    ["tenfold", "1"],
    ["one_more", "2"],
    *([name, ""] for name in ("keep", "halve", "forward")),
    ["backward", "3"],
]


@pytest.mark.parametrize(
    ("size", "least"), [((1280, 720), 18), ((390, 844), 12)], ids=["wall", "phone"]
)
def test_a_lab_names_and_numbers_what_was_pressed(chromium, deck_of, size, least):
    with watched(chromium, viewport=dict(zip(("width", "height"), size, strict=True))) as watch:
        page = opened(watch, deck_of(next(one for one in LESSONS if one.name.startswith("14"))))
        page.evaluate("Reveal.slide(Reveal.getSlides().findIndex((one) => one.dataset.walks))")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        seen = page.evaluate(PRESSES)
        assert seen["presses"] == NUMBERED
        assert seen["least"] >= least
        assert seen["isWhole"]


@pytest.mark.parametrize(("on", "back"), [("ArrowRight", "ArrowLeft"), ("PageDown", "PageUp")])
def test_on_and_back_lead_through_a_player_that_is_seen(deck, on, back):
    deck.evaluate("Reveal.slide(2)")
    deck.keyboard.press(back)
    assert deck.evaluate(AT) == [1, "the end"], "it was jumped over"
    for is_focused in (False, True):
        deck.evaluate("Reveal.slide(1)")
        deck.keyboard.press("Home")
        if is_focused:
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
    for keys in ("Home ArrowRight ArrowRight", "o ArrowRight Enter"):
        deck.evaluate("Reveal.slide(1)")
        deck.keyboard.press("End")
        assert deck.evaluate(AT) == [1, "the end"]
        deck.evaluate("Reveal.slide(0, 0, -1)")
        press(deck, *keys.split())
        assert deck.evaluate(AT) == [1, "4 steps"]


def test_a_reload_leads_back_to_the_step_of_a_player(deck):
    press(deck, *["ArrowRight"] * 4)
    seen = deck.evaluate(AT)
    assert seen == [1, "step 2 of 4"]
    deck.reload()
    deck.wait_for_selector(".reveal.ready")
    assert deck.evaluate(AT) == seen
    deck.evaluate("Reveal.slide(2)")
    deck.reload()
    deck.wait_for_selector(".reveal.ready")
    assert deck.evaluate(AT) == [2, None]


def test_a_pause_says_until_when_and_the_last_slide_leads_on(chromium, tmp_path):
    (tmp_path / "next.html").write_text("<title>The next block</title>", encoding="utf-8")
    stretch = Stretch((), 5, (Pause("Break", 10),), "More", "10:20", "next.html")
    shown = tmp_path / "slides.html"
    shown.write_text(deck_with(small(), tmp_path, stretch=stretch), encoding="utf-8")
    with watched(chromium) as watch:
        page = opened(watch, shown)
        expect(page.locator(".present h1")).to_have_text(re.compile(r"^Back at \d\d:\d\d$"))
        press(page, "ArrowRight", "ArrowRight")
        expect(page).to_have_title("The next block")


def test_back_takes_away_what_came_after_a_player_before_it_rewinds_the_player(chromium, published):
    notebook = small()
    notebook.cells.insert(4, text("after the film", "fragment"))
    with watched(chromium) as watch:
        page = opened(watch, published(notebook))
        page.evaluate("Reveal.slide(1)")
        press(page, "End", "ArrowRight")
        after = page.get_by_text("after the film")
        assert after.is_visible()
        page.keyboard.press("ArrowLeft")
        assert not after.is_visible()
        assert page.evaluate(AT) == [1, "the end"]
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(AT) == [1, "step 4 of 4"]


def test_a_players_keys_are_its_own_and_when_focused_letters_too_until_escape(deck):
    deck.evaluate("Reveal.slide(1)")
    deck.keyboard.press("End")
    assert deck.evaluate(AT) == [1, "the end"]
    press(deck, "Home", "g")
    assert deck.evaluate(AT) == [1, "4 steps"]
    assert deck.get_attribute(".present .player-guess", "aria-pressed") == "true"
    assert deck.inner_text(".keys") == ""
    deck.focus(".player")
    assert deck.inner_text(".keys") == "Keys: player · Esc for slides"
    ring = deck.evaluate("getComputedStyle(document.querySelector('.player')).outlineWidth")
    assert ring == "3px"
    state = f"[{SLIDE}, ...{OPEN}, document.querySelectorAll('section').length]"
    before = deck.evaluate(state)
    keys = (
        "Home ArrowRight ArrowLeft 2 Enter g n i f / Escape + - 0 Shift+ArrowUp Shift+ArrowLeft o"
    )
    for key in [*keys.split(), " ", " ", "ArrowDown", "s", "b", "?"]:
        deck.focus(".player" if key != "Escape" else ":focus")
        deck.keyboard.press(key)
        assert deck.evaluate(state) == before, key
    deck.keyboard.press("Escape")
    expect(deck.locator(".keys")).to_have_text("")
    assert deck.evaluate(f"[{SLIDE}, ...{OPEN}]") == [1, False, None]


def test_any_key_closes_the_help_or_the_black_screen_and_does_nothing_else(deck):
    where = f"[{SLIDE}, ...{OPEN}]"
    deck.keyboard.press("Escape")
    assert deck.evaluate(where) == [0, False, None]
    for opens, is_open in (("?", [False, "help"]), ("b", [True, None])):
        for key in (opens, "ArrowRight", "c"):
            deck.keyboard.press(opens)
            assert deck.evaluate(OPEN) == is_open
            deck.keyboard.press(key)
            assert deck.evaluate(where) == [0, False, None]


def test_every_key_that_the_help_names_does_something_even_right_after_it_is_closed(deck):
    deck.keyboard.press("?")
    named = deck.locator("#help kbd").all_inner_texts()
    assert named == ["→ ← Space", "1 … 9, g, Home", *"OSNCALBF", "Esc", "?"]
    # until the next frame the focus is still in the dialog that is gone
    right_after = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'l', keyCode: 76, bubbles: true }))"
    deck.evaluate(f"document.getElementById('help').close(); {right_after}")
    assert "dark" in deck.evaluate("document.documentElement.className")
    state = "[document.documentElement.className, document.getElementById('say').hidden, document.querySelector('.present.peek') !== null]"
    for key in "lnc":
        before = deck.evaluate(state)
        deck.keyboard.press(key)
        assert deck.evaluate(state) != before, key


def test_the_list_of_slides_leads_to_where_a_slide_begins(deck):
    where = "[Reveal.getIndices().h, Reveal.getCurrentSlide().dataset.step]"
    deck.keyboard.press("ArrowRight")
    assert deck.evaluate(where) == [0, "1"]
    deck.keyboard.press("o")
    assert deck.evaluate(OPEN) == [False, "contents"]
    titles = deck.locator("#contents li>button").all_inner_texts()
    assert len(titles) == deck.evaluate("Reveal.getTotalSlides()")
    deck.keyboard.press("Enter")
    assert deck.evaluate(f"[...{where}, ...{OPEN}]") == [0, "0", False, None]
    for key, chosen in (("ArrowRight", 1), ("3", 2), ("Home", 0), ("End", 3)):
        press(deck, "o", key, "Enter")
        assert deck.evaluate(where) == [chosen, "0"]
    deck.keyboard.press("o")
    expect(deck.locator("#contents .picture section")).to_have_count(len(titles))
    deck.keyboard.press("o")
    assert deck.evaluate(OPEN) == [False, None]


@pytest.mark.parametrize(
    ("size", "colours"), [((1280, 720), LIGHT), ((1920, 1080), DARK)], ids=["light", "dark"]
)
def test_a_deck_follows_the_theme_and_a_player_takes_the_free_height_of_its_slide(
    chromium, small_deck, size, colours
):
    viewport = dict(zip(("width", "height"), size, strict=True))
    scheme = "light" if colours is LIGHT else "dark"
    with watched(chromium, viewport=viewport, color_scheme=scheme) as watch:
        page = opened(watch, small_deck)
        assert page.evaluate(GROUND) == rgb(colours["ground"])
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


def test_the_speakers_window_shows_notes_time_and_what_comes_next_and_its_keys_are_the_decks(deck):
    with deck.expect_popup() as opening:
        deck.keyboard.press("s")
    window = opening.value
    assert window.title() == f"Notes: {deck.title()}"
    assert window.inner_text("#notes") == "wait a minute"
    assert window.inner_text("#slide") == "1 / 4 · One"
    assert window.inner_text("#then") == "Next: more on this slide"
    assert window.inner_text("#time").startswith("00:0")
    assert window.locator("#seen section[data-step='0'] .part").count() == 2
    assert window.locator("#picture section[data-step='1'] .part").count() == 2
    theme = "getComputedStyle(document.querySelector('#picture section')).colorScheme"
    html = "document.documentElement.className"
    assert [window.evaluate(theme), window.evaluate(html)] == ["light", "light"]
    window.keyboard.press("l")
    assert [window.evaluate(theme), window.evaluate(html)] == ["dark", "dark"]
    press(window, "ArrowRight", "ArrowRight")
    assert deck.evaluate(SLIDE) == 1
    assert window.inner_text("#notes") == "No notes on this slide."
    window.keyboard.press("ArrowRight")
    assert deck.evaluate(AT) == [1, "step 1 of 4"]
    room = window.locator("#room")
    window.keyboard.press("o")
    expect(room).to_have_text("The room sees: Slides")
    press(window, "ArrowUp", "Enter")
    assert deck.evaluate(f"[{SLIDE}, ...{OPEN}]") == [0, False, None]
    window.keyboard.press("b")
    expect(room).to_have_text("The room sees: black")
    window.keyboard.press("Escape")
    expect(room).to_have_text("")
    assert deck.evaluate(OPEN) == [False, None]
    deck.evaluate("Reveal.slide(1)")
    window.reload()
    expect(deck.locator("h1, h2").nth(1)).to_be_visible()
    assert deck.evaluate(SLIDE) == 1


def test_the_plan_stretches_to_the_minutes_that_one_has(chromium, deck_of):
    with watched(chromium) as watch:
        page = opened(watch, deck_of(LESSONS[5]))
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


def test_only_the_slide_that_is_seen_is_in_the_accessibility_tree(deck):
    assert grave(deck) == [], "as it opens"
    tree = deck.locator("body").aria_snapshot()
    assert 'region "One"' in tree
    assert "End" not in tree
    assert "wait" not in tree
    assert deck.title() == "One"
    deck.keyboard.press("Tab")
    assert not deck.evaluate("Boolean(document.activeElement.closest('section:not(.present)'))")


def test_plain_printing_shows_every_slide_at_its_end_and_then_the_deck_goes_on(deck):
    press(deck, "ArrowRight", "l")  # dark
    where = "[JSON.stringify(Reveal.getIndices()), document.documentElement.className]"
    before = deck.evaluate(where)
    deck.evaluate("dispatchEvent(new Event('beforeprint'))")
    deck.emulate_media(media="print")
    assert deck.evaluate(GROUND) == "rgb(255, 255, 255)"
    assert deck.evaluate("getComputedStyle(document.body).color") == "rgb(27, 37, 48)"
    for slide in deck.locator(".slides > section").all():
        assert slide.is_visible()
        assert slide.evaluate("one => +one.dataset.step === one.dataset.steps - 1")
        assert slide.evaluate("one => one.dataset.fitted && one.dataset.trouble") == ""
        right = slide.evaluate("one => one.getBoundingClientRect().right")
        assert right < 980, "Letter on its side"
    deck.emulate_media(media="screen")
    deck.evaluate("dispatchEvent(new Event('afterprint'))")
    assert deck.evaluate(where) == before
    shown = deck.locator("section.present")
    assert shown.get_attribute("data-step") == str(shown.locator(".tick.visible").count())
    assert deck.locator(".slides > section:visible").count() == 1


@pytest.mark.parametrize(("to", "made"), [("slides", lab()), ("page", steps(3))])
def test_a_film_whose_numbers_lead_nowhere_costs_its_own_place_alone(chromium, published, to, made):
    data = json.loads(as_json(made))
    broken = data | {"marks": []} if "states" in data else data | {"roles": [""], "lines": [""]}
    notebook = small(steps(3))
    view = hostile.shown({FILM: json.dumps(broken), "text/plain": "a film"})
    notebook.cells.insert(4, new_code_cell("nowhere()", execution_count=3, outputs=[view]))
    with watched(chromium) as watch:
        watch.page.goto(published(notebook, to).as_uri())
        expect(watch.page.get_by_text("The data of this player is damaged")).to_have_count(1)
        expect(watch.page.locator(".player")).to_have_count(1)


def test_a_script_that_slipped_in_would_not_run(chromium, small_deck, tmp_path):
    slipped = "<script>window.hit=1</script><img src=x onerror='hit=1'></main>"
    path = tmp_path / "slides.html"
    path.write_text(small_deck.read_text().replace("</main>", slipped))
    noise = ("Executing inline", "Refused to", "Failed to load", "Loading the image")
    with watched(chromium, noise=noise) as watch:
        assert opened(watch, path).evaluate("window.hit") is None


def test_a_page_reads_at_320_pixels_in_both_themes_and_its_player_plays(chromium, published):
    with watched(chromium, viewport={"width": 320, "height": 600}) as watch:
        page = watch.page
        page.goto(published(small(), "page").as_uri())
        page.focus(".player")
        page.keyboard.press("ArrowRight")
        assert page.inner_text(".player-count") == "step 1 of 4"
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert "wait a minute" not in page.content()
        for scheme, colours in (("light", LIGHT), ("dark", DARK)):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(GROUND) == rgb(colours["ground"])
