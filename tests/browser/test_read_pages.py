"""The pages as a reader meets them: opened from disk with the network cut, by mouse and by
keyboard, on any screen, looked at by axe.
"""

import io
from pathlib import Path

import pytest
from axe import grave_by_the_switch, grave_in_both_themes
from driver import GUESS_ALL, photograph, rgb, watched
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
    return one.checkVisibility() && box.width && box.right > innerWidth && !one.closest("pre, p:has(> img), .table-wrapper, .output, .player-pane, math");
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
FURNITURE = (
    ".sidebar-drawer, .mobile-header, .related-pages, .skip-to-content, "
    ".player-bar, .player-time, .player-keys"
)
SWITCH = "(theme) => { document.body.dataset.theme = theme; }"
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


def photographed(page, name, theme):
    photograph(page, f"pages/{name}_{theme}", full_page=True)


@pytest.mark.parametrize("name", ["index", "search", *LESSONS])
def test_a_page_from_disk_plays_obeys_its_switch_fits_and_shuts_nobody_out(reader, site, name):
    reader.goto(address(site, name))
    assert reader.title()
    photographed(reader, name, "light")
    reader.click(TOGGLE)
    assert reader.get_attribute("body", "data-theme") == "dark"
    the_switch_rules_all_of(reader, name)
    reader.evaluate(GUESS_ALL)
    assert reader.locator(".player").count() == reader.locator(".player-slot").count()
    for player in reader.locator(".player").all():
        player.focus()
        use(player)
        assert reader.url == address(site, name)
    nothing_is_lost_on_a_narrow_screen(reader, name)
    if name not in ("clinic", "glossary"):  # long, and of the same elements as lessons
        axe_finds_nothing_grave_in(reader)
        assert grave_by_the_switch(reader) == []


def the_switch_rules_all_of(reader, name):
    """The theme of the page is that of its switch, while the system says the opposite."""
    for colours, scheme in ((DARK, "dark"), (LIGHT, "light")):
        reader.emulate_media(color_scheme=OPPOSITE[scheme])
        reader.evaluate(SWITCH, scheme)
        assert reader.evaluate("getComputedStyle(document.body).colorScheme") == scheme
        for player in reader.locator(".player").all():
            ground = player.evaluate("(one) => getComputedStyle(one).backgroundColor")
            assert ground == rgb(colours["ground"])
        if scheme == "dark":
            photographed(reader, name, "dark")
    reader.evaluate(SWITCH, "auto")


def nothing_is_lost_on_a_narrow_screen(page, name):
    for width in (640, 320):  # 1280 pixels at 200 %; a small telephone
        page.set_viewport_size({"width": width, "height": 640})
        for whole in ("html", ".content"):  # the theme would let the whole column scroll
            assert page.evaluate(f"document.querySelector('{whole}').scrollWidth") <= width, whole
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(CUT) == []
        page.wait_for_function(f"({SCROLLS})().every((index) => index === 0)")
    if name in ("index", LESSONS[0]):
        photographed(page, name, width)


def axe_finds_nothing_grave_in(page):
    """Look at a page in both themes, in a small window, all that is folded opened."""
    page.set_viewport_size({"width": 640, "height": 360})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert grave_in_both_themes(page) == []


@pytest.mark.parametrize("number", ["04", "09"])  # between them every kind of output
def test_axe_finds_nothing_grave_in_a_page_of_its_own(reader, tmp_path, number):
    lesson = next(ROOT.glob(f"notebooks/{number}_*.ipynb"))
    publish(lesson, "page", tmp_path / "page.html")
    reader.goto((tmp_path / "page.html").as_uri())
    reader.evaluate(GUESS_ALL)
    axe_finds_nothing_grave_in(reader)


def use(player):
    """Do with a player what it is there for."""
    has_range = player.locator(".player-range").count() > 0
    is_lab = "player-lab" in player.get_attribute("class")
    if is_lab and has_range:
        turn_the_number(player)
    elif is_lab:
        try_the_lab(player)
    elif has_range:
        walk_to_the_end(player)
    else:
        open_a_box(player)


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


def turn_the_number(player):
    """Turn the one number of a lab by the arrow key; its picture gets another title."""
    title = player.locator(".player-title")
    first = title.inner_text()
    player.page.keyboard.press("ArrowRight")
    expect(title).not_to_have_text(first)


def open_a_box(player):
    """Click on the first box of a graph that is explored, and read what it was."""
    box = player.locator(".player-node[data-opens]").first
    words = box.locator("text").first.text_content().split()[0]
    box.click()
    expect(player.locator(".player-verdict")).to_contain_text(words)


def test_the_search_leads_to_a_word_and_opens_the_fold_in_which_it_stands(reader, site):
    reader.goto(address(site, "index"))
    reader.fill(".sidebar-search", "retain_grad")
    reader.keyboard.press("Enter")
    found = reader.locator("#search-results li a", has_text="Leaf and non-leaf")
    found.first.click()
    reader.wait_for_url("**/03_leaf_and_non_leaf.html*")
    assert "retain_grad" in reader.locator("article .highlighted").first.inner_text()
    reader.wait_for_function(IN_SIGHT)
    reader.evaluate("localStorage.setItem('sphinx_highlight_terms', 'typo')")
    reader.goto(address(site, "11_training_loop"))
    reader.wait_for_selector("details[open] .highlighted")
    reader.wait_for_function(IN_SIGHT)


def test_on_paper_there_are_folds_and_frames_and_no_furniture(reader, site, tmp_path):
    reader.goto(address(site, LESSONS[0]))
    reader.emulate_media(media="print", color_scheme="dark")
    for one in reader.locator(FURNITURE).all():
        assert not one.is_visible(), one
    for shown in (".player-pane > svg", ".player-say", ".player-eq b"):
        assert reader.locator(shown).first.is_visible(), shown
    assert reader.locator(".player").first.evaluate(
        "(one) => getComputedStyle(one).backgroundColor"
    ) == rgb(LIGHT["ground"])
    for fold in reader.locator("section > details").all():
        assert fold.bounding_box()["height"] > 2 * fold.locator("summary").bounding_box()["height"]
    reader.pdf(path=tmp_path / "lesson.pdf", format="A4")
    assert (tmp_path / "lesson.pdf").stat().st_size > 10_000


def test_the_checklist_has_a_printed_page_of_its_own(reader, site):
    reader.goto(address(site, "11_training_loop"))
    reader.emulate_media(media="print")
    checklist = reader.locator("section", has=reader.locator("> h3", has_text="Four pitfalls"))
    breaks = checklist.evaluate(
        "(one) => [getComputedStyle(one).breakBefore, getComputedStyle(one).breakAfter]"
    )
    assert breaks == ["page", "page"]


def test_pictures_follow_the_switch_and_not_the_system(reader, site):
    reader.goto(address(site, PLOTTED))
    reader.evaluate(GUESS_ALL)
    pictures = reader.locator(".cell_output img[src^='data:image/svg']").all()
    for chosen, colours in (("dark", DARK), ("light", LIGHT)):
        reader.evaluate(SWITCH, chosen)
        reader.emulate_media(color_scheme=OPPOSITE[chosen])
        assert {f"rgb{corner(one)}" for one in pictures} == {rgb(colours["ground"])}


def corner(picture):
    """Return the colour of a picture near its corner, where its ground is seen."""
    seen = Image.open(io.BytesIO(picture.screenshot())).convert("RGB")
    return seen.getpixel((12, 12))


def test_a_picture_a_little_wider_than_its_column_is_drawn_a_little_smaller(reader, site):
    reader.set_viewport_size({"width": 1440, "height": 900})
    reader.goto(address(site, "15_memory_and_checkpointing"))
    reader.evaluate(GUESS_ALL)
    plots = reader.locator(".cell_output img")
    widths = plots.evaluate_all("(all) => all.map((one) => [one.naturalWidth, one.clientWidth])")
    assert any(0.85 * natural < seen < natural for natural, seen in widths)
    expect(reader.locator("[data-wide]:has(img)")).to_have_count(0)


def test_a_wide_graph_on_a_telephone_says_that_it_scrolls_until_it_was(chromium, site):
    with watched(chromium, viewport={"width": 390, "height": 844}, has_touch=True) as watch:
        page = watch.page
        page.goto(address(site, WIDE))
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


def test_a_link_to_a_heading_leads_under_the_header_of_a_telephone(chromium, site):
    with watched(chromium, viewport={"width": 390, "height": 800}) as watch:
        page = watch.page
        for name, place in ((WIDE, "where-did-the-gradient-go"), ("glossary", "leaf")):
            page.goto("about:blank")
            page.goto(f"{address(site, name)}#{place}")
            header = page.locator(".mobile-header").bounding_box()
            under = header["y"] + header["height"]
            page.wait_for_function(
                """([place, under]) => {
                  const { top } = document.getElementById(place).querySelector("h2, h3").getBoundingClientRect();
                  return top >= under && top < under + 100;
                }""",
                arg=[place, under],
            )
