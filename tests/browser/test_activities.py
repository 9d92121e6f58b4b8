"""Drawings, lines, orders and explanations as a student meets them in a page from disk: by mouse, keys
and touch; the first answer stays, and nothing is told before it.
"""

import pytest
from axe import grave_in_both_themes
from driver import photograph, watched
from playwright.sync_api import expect

from course.publish import publish
from helpers.predicting.questions import every

pytestmark = pytest.mark.browser
LESSON = "07_retain_graph"
DRAWN = every()["07.d1"]
TITLES = {card["title"]: n for n, card in enumerate(DRAWN.shown["cards"])}
RIGHT = [("Sum", "Mul"), ("Mul", "Pow"), ("Mul", "Pow"), ("Pow", "x")]
SEEN = """() => [[...document.querySelectorAll(".prediction-card")].map(({ style }) => [style.left, style.top]),
    [...document.querySelectorAll(".prediction-board g")].map((edge) => [edge.dataset.mark, edge.firstChild.getAttribute("d")])]"""
BEYOND = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    made = tmp_path_factory.mktemp("activities") / "page.html"
    publish(f"notebooks/{LESSON}.ipynb", "page", made)
    return made.as_uri()


@pytest.fixture
def page(chromium, address):
    with watched(chromium) as watch:
        watch.page.goto(address)
        yield watch.page


def box(page, kind):
    return page.locator(f".prediction[data-kind={kind}]").first


def said(page, kind):
    return box(page, kind).locator(".prediction-said")


def lock(page, kind):
    box(page, kind).locator(".prediction-lock").click()


def card(page, title):
    return box(page, "draw").locator(".prediction-card").nth(TITLES[title])


def test_a_graph_is_drawn_by_keys_and_laid_over_the_real_one(page):
    assert DRAWN.takeaway not in page.inner_text("body")
    for one, other in RIGHT:
        for title in (one, other):
            card(page, title).focus()
            page.keyboard.press("Enter")
    assert "Leads to Pow (h), twice" in card(page, "Mul").get_attribute("aria-label")
    lock(page, "draw")
    expect(said(page, "draw")).to_contain_text("That's the graph PyTorch made")
    page.reload()
    expect(said(page, "draw")).to_contain_text("That's the graph PyTorch made")


def test_what_is_missing_and_too_much_is_told_with_its_reason(chromium, address):
    with watched(chromium, viewport={"width": 380, "height": 800}, has_touch=True) as watch:
        page = watch.page
        page.goto(address)
        for one, other in (("Mul", "Sum"), ("Sum", "x")):
            card(page, one).tap()
            card(page, other).tap()
        lock(page, "draw")
        words = said(page, "draw").inner_text()
        assert "You found 1 of 3 edges. Missing: 2. Too many: 1." in words
        assert "Sum reaches x only through Mul" in words
        assert "points the wrong way" in words
        assert page.evaluate(BEYOND) <= 0
        photograph(page, "activities-narrow", full_page=True)


def test_an_answer_leads_from_ones_own_drawing_to_what_a_reload_shows(page):
    page.clock.install(time=0)
    page.reload()
    page.clock.pause_at(1)
    for one, other in (("Mul", "Sum"), ("Sum", "x")):
        card(page, one).click()
        card(page, other).click()
    own = page.evaluate(SEEN)
    lock(page, "draw")
    assert page.evaluate(SEEN)[0] == own[0]
    page.clock.run_for(9000)
    marks = [mark for mark, _ in page.evaluate(SEEN)[1]]
    assert marks == ["turned", "extra", "missing", "missing", "missing"]
    end = page.evaluate(SEEN)
    box(page, "draw").get_by_role("button", name="From my drawing again").click()
    assert page.evaluate(SEEN)[0] == own[0]
    page.clock.run_for(9000)
    assert page.evaluate(SEEN) == end
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    assert page.evaluate(SEEN) == end


def test_a_card_is_dragged_to_another(page):
    card(page, "Sum").scroll_into_view_if_needed()
    start, end = (card(page, title).bounding_box() for title in ("Sum", "x"))
    page.mouse.move(start["x"] + 20, start["y"] + 20)
    page.mouse.down()
    page.mouse.move(end["x"] + 20, end["y"] + 20, steps=5)
    page.mouse.up()
    expect(box(page, "draw").locator(".prediction-chip")).to_have_text("Sum (loss) \u2192 x \u2715")
    box(page, "draw").locator(".prediction-chip").click()
    assert box(page, "draw").locator(".prediction-lock").is_disabled()


def test_a_card_that_was_taken_is_moved_by_arrows_and_let_go(page):
    page.emulate_media(reduced_motion="reduce")
    taken, style = card(page, "Sum"), card(page, "Sum").get_attribute("style")
    taken.focus()
    page.keyboard.press("Enter")
    for arrow in ("ArrowDown", "ArrowLeft", "ArrowUp", "ArrowRight"):
        page.keyboard.press(arrow)
        assert taken.get_attribute("style") != style, arrow
        style = taken.get_attribute("style")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    assert taken.get_attribute("style") == style
    expect(said(page, "draw")).to_have_text("")


def test_a_line_is_blamed_by_keys_and_the_others_can_be_asked(page):
    told = every()["07.f1"].told
    box(page, "find_line").locator("input").first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    lock(page, "find_line")
    expect(said(page, "find_line")).to_contain_text("You said line 3, but it's line 4.")
    notes = box(page, "find_line").locator(".prediction-note").all_inner_texts()
    assert [name in note for name, note in zip(told["notes"], notes, strict=True)] == [True] * 8
    box(page, "find_line").locator(".prediction-line").nth(6).click()
    expect(said(page, "find_line")).to_contain_text("The flag would keep it")


def test_an_order_says_what_it_does_and_other_orders_can_be_tried(page):
    asked = every()["07.o1"]
    assert box(page, "order").locator(".prediction-lock").is_disabled()
    line = box(page, "order").get_by_role("button", name="Line 1 of 5: one.backward()")
    line.focus()
    for key in ("Space", "ArrowDown", "ArrowDown", "Space"):
        page.keyboard.press(key)
    lock(page, "order")
    first = asked.told["outcomes"][asked.told["of"]["aecbd"]]
    expect(said(page, "order")).to_contain_text(f"Your order: {first['says']}")
    rows = box(page, "order").locator(".prediction-item")
    for text in ("two.backward()", "one.backward()"):  # under the bar, one after the other
        row = rows.filter(has_text=text).first
        for _ in range(5):
            row.get_by_role("button", name="Move down").click()
    good = asked.told["outcomes"][asked.told["of"][asked.right]]
    expect(said(page, "order")).to_contain_text(f"This order: {good['says']}")


def test_an_explanation_stands_beside_a_good_one(page):
    asked = every()["07.e1"]
    box(page, "explain").locator("textarea").fill("too short")
    assert box(page, "explain").locator(".prediction-lock").is_disabled()
    box(page, "explain").locator("textarea").fill("Only the last graph is left.")
    lock(page, "explain")
    words = box(page, "explain").inner_text()
    assert all(
        point.replace("`", "") in words for point in (asked.told["good"], *asked.told["points"])
    )
    assert box(page, "explain").locator("textarea").get_attribute("readonly") is not None


def test_axe_has_no_grave_finding_before_or_after(page):
    assert grave_in_both_themes(page, ".prediction") == []
    for one, other in RIGHT[:2]:
        card(page, one).click()
        card(page, other).click()
    box(page, "find_line").locator(".prediction-line").first.click()
    for kind in ("draw", "find_line"):
        lock(page, kind)
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
    assert grave_in_both_themes(page, ".prediction") == []
