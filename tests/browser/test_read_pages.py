"""The pages as a reader meets them: opened from disk with the network cut, by mouse and by
keyboard, on any screen.
"""

import io
from pathlib import Path

import pytest
from driver import GUESS_ALL, photograph, watched
from PIL import Image
from playwright.sync_api import expect

from autograd_graphs.drawing.palette import DARK, LIGHT
from course.publish import publish

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
LESSONS = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
TOGGLE = ".theme-toggle:visible"
OUTSIDE = """() => [...document.querySelectorAll("article *")].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && box.right > innerWidth && !one.closest("pre, p:has(> img), .table-wrapper, .output, .player-pane, math");
}).map((one) => one.outerHTML.slice(0, 100))"""
SCROLLS = """() => [...document.querySelectorAll("article pre, article p:has(> img), .table-wrapper, .output.text_html")]
    .filter((box) => box.checkVisibility({ contentVisibilityAuto: true }) && box.scrollWidth > box.clientWidth)
    .map((box) => box.tabIndex)"""
CUT = """() => [...document.querySelectorAll(".player, .player-panel, .player-eq, .player-say")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1)
    .map((box) => [box.className, box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight])"""
# A hit that waits for a guess is not seen: the page leads to the first one that is.
IN_SIGHT = """() => { const seen = [...document.querySelectorAll("article .highlighted")].find((one) => one.checkVisibility());
    const { top, bottom } = seen.getBoundingClientRect();
    return top > 0 && bottom < innerHeight; }"""


WIDE = "03_leaf_and_non_leaf"  # a lesson with a graph that is wider than a telephone
PLOTTED = "07_retain_graph"
OPPOSITE = {"dark": "light", "light": "dark"}


@pytest.fixture(scope="module")
def site(built_pages):
    return built_pages


@pytest.fixture
def reader(chromium, site):
    """Return a page from disk whose context fails the test if it asks for anything or complains."""
    with watched(chromium, color_scheme="light") as watch:
        watch.page.set_default_timeout(10_000)
        yield watch.page


def address(site, name):
    return (site / (f"lessons/{name}.html" if name in LESSONS else f"{name}.html")).as_uri()


def rgb(colour):
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


def theme(page):
    return page.get_attribute("body", "data-theme")


def photographed(page, name, theme):
    photograph(page, f"pages/{name}_{theme}", full_page=True)


@pytest.mark.parametrize("name", ["index", "search", *LESSONS])
def test_a_page_opens_from_disk_and_its_switch_rules_all_of_it(reader, site, name):
    reader.goto(address(site, name))
    assert reader.title()
    photographed(reader, name, "light")
    reader.click(TOGGLE)
    assert theme(reader) == "dark"
    for colours, scheme in ((DARK, "dark"), (LIGHT, "light")):
        reader.emulate_media(
            color_scheme={"dark": "light", "light": "dark"}[scheme]
        )  # the system says the opposite
        reader.evaluate("(theme) => { document.body.dataset.theme = theme; }", scheme)
        assert reader.evaluate("getComputedStyle(document.body).colorScheme") == scheme
        for player in reader.locator(".player").all():
            assert player.evaluate("(one) => getComputedStyle(one).backgroundColor") == rgb(
                colours["ground"]
            )
        if scheme == "dark":
            photographed(reader, name, "dark")


@pytest.mark.parametrize("name", LESSONS)
def test_every_player_goes_to_its_end_by_keyboard(reader, site, name):
    reader.goto(address(site, name))
    reader.evaluate(GUESS_ALL)
    assert reader.locator(".player").count() == reader.locator(".player-slot").count()
    for player in reader.locator(".player").all():
        player.focus()
        (walk_to_the_end if player.locator(".player-range").count() else try_the_lab)(player)
        assert reader.url == address(site, name)


def walk_to_the_end(player):
    """Step through a trace by the arrow key, frame by frame."""
    count, title = player.locator(".player-count"), player.locator(".player-title")
    first = title.inner_text()
    last = int(count.inner_text().removesuffix(" steps"))
    assert last > 1
    for number in range(1, last + 1):
        player.page.keyboard.press("ArrowRight")
        assert count.inner_text() == f"step {number} of {last}"
    player.page.keyboard.press("ArrowRight")
    assert count.inner_text() == "the end"
    assert title.inner_text() != first


def try_the_lab(player):
    """Press the key of every button of a lab; one at least leads to another state."""
    for at in range(player.locator(".player-action").count()):
        player.page.keyboard.press(str((at + 1) % 10))
    assert player.locator(".player-undo").get_attribute("aria-disabled") == "false"


def test_the_search_finds_a_word_and_leads_to_it(reader, site):
    reader.goto(address(site, "index"))
    reader.fill(".sidebar-search", "retain_grad")
    reader.keyboard.press("Enter")
    found = reader.locator("#search-results li a", has_text="Leaf and non-leaf")
    found.first.click()
    reader.wait_for_url("**/03_leaf_and_non_leaf.html*")
    hit = reader.locator("article .highlighted").first
    assert "retain_grad" in hit.inner_text()
    reader.wait_for_function(IN_SIGHT)


def test_a_search_opens_the_fold_in_which_the_word_stands(reader, site):
    reader.goto(address(site, "index"))
    reader.evaluate("localStorage.setItem('sphinx_highlight_terms', 'frees')")
    reader.goto(address(site, "11_training_loop"))
    reader.wait_for_selector("details[open] .highlighted")
    reader.wait_for_function(IN_SIGHT)


@pytest.mark.parametrize("name", ["index", "search", *LESSONS])
def test_a_narrow_screen_and_a_large_zoom_lose_nothing(chromium, site, name):
    with watched(chromium) as watch:
        watch.page.set_default_timeout(10_000)
        for width in (640, 320):  # 1280 pixels at 200 %; a small telephone
            watch.page.set_viewport_size({"width": width, "height": 640})
            watch.page.goto(address(site, name))
            for whole in ("html", ".content"):  # the theme would let the whole column scroll
                assert (
                    watch.page.evaluate(f"document.querySelector('{whole}').scrollWidth") <= width
                ), whole
            assert watch.page.evaluate(OUTSIDE) == []
            assert watch.page.evaluate(CUT) == []
            watch.page.wait_for_function(f"({SCROLLS})().every((index) => index === 0)")
        if name in ("index", LESSONS[0]):
            photographed(watch.page, name, width)


def test_on_paper_there_are_folds_and_frames_and_no_furniture(reader, site, tmp_path):
    reader.goto(address(site, LESSONS[0]))
    reader.emulate_media(media="print", color_scheme="dark")
    for gone in (
        ".sidebar-drawer",
        ".mobile-header",
        ".related-pages",
        ".player-bar",
        ".player-time",
        ".player-keys",
        ".skip-to-content",
    ):
        for one in reader.locator(gone).all():
            assert not one.is_visible(), gone
    for shown in (".player-pane > svg", ".player-say", ".player-eq b"):
        assert reader.locator(shown).first.is_visible(), shown
    assert reader.locator(".player").first.evaluate(
        "(one) => getComputedStyle(one).backgroundColor"
    ) == rgb(LIGHT["ground"])
    for fold in reader.locator("section > details").all():
        assert fold.bounding_box()["height"] > 2 * fold.locator("summary").bounding_box()["height"]
    reader.pdf(path=tmp_path / "lesson.pdf", format="A4")
    assert (tmp_path / "lesson.pdf").stat().st_size > 10_000


@pytest.mark.parametrize("chosen", ["dark", "light"])
def test_pictures_follow_the_switch_and_not_the_system(reader, site, chosen):
    reader.goto(address(site, PLOTTED))
    reader.evaluate(GUESS_ALL)
    reader.evaluate("(theme) => { document.body.dataset.theme = theme; }", chosen)
    reader.emulate_media(color_scheme=OPPOSITE[chosen])
    ground = (DARK if chosen == "dark" else LIGHT)["ground"]
    graph = reader.locator(".cell_output img[src^='data:image/svg']").first
    assert rgb(ground) == f"rgb{corner(graph)}"
    plot = reader.locator(".cell_output img[src^='data:image/png']").first
    assert max(corner(plot)) < 60 if chosen == "dark" else min(corner(plot)) > 200


def corner(picture):
    """Return the colour of a picture near its corner, where its ground is seen."""
    seen = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
    return seen.getpixel((12, 12))


@pytest.fixture(params=["site", "page"])
def wide_lesson(request, site, tmp_path):
    """Return the address of a lesson with a wide graph, as a page of the site and as one file."""
    if request.param == "site":
        return address(site, WIDE)
    publish(ROOT / "notebooks" / f"{WIDE}.ipynb", "page", tmp_path / "page.html")
    return (tmp_path / "page.html").as_uri()


def test_a_wide_graph_on_a_telephone_says_that_it_scrolls_until_it_was(chromium, wide_lesson):
    with watched(chromium, viewport={"width": 390, "height": 844}, has_touch=True) as watch:
        page = watch.page
        page.goto(wide_lesson)
        page.evaluate(GUESS_ALL)
        box = page.locator("[data-wide]:has(img)").first
        hint = page.locator(".wide-hint:visible").first
        assert hint.evaluate("(one) => getComputedStyle(one, '::before').content") == '"swipe →"'
        assert hint.get_attribute("aria-hidden") == "true"
        expect(box).to_have_role("group")
        expect(box).to_have_accessible_name("Wide picture")
        expect(box).to_have_attribute("data-more", "right")
        assert box.evaluate("(one) => getComputedStyle(one).maskImage").startswith(
            "linear-gradient"
        )
        box.focus()
        edges = "(one) => [one.getBoundingClientRect().top, one.getBoundingClientRect().bottom]"
        before = box.evaluate(edges)
        page.keyboard.press("ArrowRight")
        expect(box).to_have_attribute("data-more", "both")
        expect(hint).to_be_hidden()
        assert box.evaluate(edges) == before, "nothing moves where one reads"
        box.evaluate("(one) => one.scrollTo(one.scrollWidth, 0)")
        expect(box).to_have_attribute("data-more", "left")
        assert not page.locator(".wide-hint:visible").count(), "it is known now"


@pytest.mark.parametrize("width", [390, 1440])
def test_a_link_to_a_heading_leads_under_the_header(chromium, site, width):
    with watched(chromium, viewport={"width": width, "height": 800}) as watch:
        page = watch.page
        for name, place in (
            (WIDE, "getting-a-weight-ready"),
            (WIDE, "three-here-eight-there"),
            ("glossary", "leaf"),
        ):
            page.goto("about:blank")
            page.goto(f"{address(site, name)}#{place}")
            header = page.locator(".mobile-header").bounding_box()
            under = header["y"] + header["height"] if header else 0
            page.wait_for_function(
                """([place, under]) => {
                  const { top } = document.getElementById(place).querySelector("h2, h3").getBoundingClientRect();
                  return top >= under && top < under + 100;
                }""",
                arg=[place, under],
            )
