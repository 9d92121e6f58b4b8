"""A round in a page as a student meets it: opened from disk, the network cut, guessed by mouse or by
keyboard, on any screen and on paper; and the same round in a deck.
"""

import made_up_guesses
import nbformat
import pytest
from deck import opened, states
from driver import GUESS_ALL, photograph, watched
from playwright.sync_api import expect

from course.publish import publish
from helpers.predicting import questions
from helpers.predicting.kinds import kind_of

pytestmark = pytest.mark.browser
LESSON = "05_backward_and_the_chain_rule"
FIRST = questions.question("05.q1")
NUMBERS = questions.question("05.q3")
WRONG = next(letter for letter in FIRST.letters if letter != FIRST.right)
WAITS = "(name) => [...document.querySelectorAll(`[data-after='${name}']`)].map((one) => one.checkVisibility())"
BEYOND = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def lesson(built_pages):
    return (built_pages / "lessons" / f"{LESSON}.html").as_uri()


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """Return a function that publishes the made-up notebook, with its reasons where they are known."""
    monkeypatch.setattr(questions, "every", lambda: made_up_guesses.ALL)
    nbformat.write(made_up_guesses.notebook(), tmp_path / "given.ipynb")

    def write(to):
        publish(tmp_path / "given.ipynb", to, tmp_path / f"{to}.html")
        return tmp_path / f"{to}.html"

    return write


def plain(text):
    return text.replace("`", "")


def row(page, number=0):
    """Return the place of a question."""
    return page.locator(".prediction").nth(number)


def waiting(page, name=FIRST.id):
    """Return of each thing that waits for a guess whether it is seen."""
    return page.evaluate(WAITS, name)


def test_output_and_reason_come_with_the_guess_and_are_there_after_a_reload(chromium, lesson):
    with watched(chromium) as watch:
        page = watch.page
        page.goto(lesson)
        assert waiting(page) == [False, False]
        assert page.locator("text=y.grad_fn(torch.tensor").first.is_visible(), "the code is seen"
        row(page).locator(f"input[value={WRONG}]").check()
        assert waiting(page) == [False, False], "to choose is not to say"
        row(page).get_by_role("button", name=f"My guess is ({WRONG})").click()
        said = plain(kind_of(FIRST).reply(FIRST, WRONG))
        assert said.startswith(f"You said ({WRONG}). It is ({FIRST.right}). ")
        for _ in range(2):
            expect(row(page).locator(".prediction-said")).to_have_text(said)
            assert waiting(page) == [True, True]
            assert page.get_by_text(plain(FIRST.takeaway)).first.is_visible()
            assert not any(waiting(page, "05.q6"))
            page.reload()
            expect(row(page)).to_have_attribute("data-state", "answered")


def test_by_keyboard_alone(chromium, lesson):
    with watched(chromium) as watch:
        page = watch.page
        page.goto(lesson)
        row(page).locator("input[value=a]").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        said = row(page).locator(".prediction-said")
        expect(said).to_have_text(plain(kind_of(FIRST).reply(FIRST, "b")))
        expect(said).to_be_focused()
        place = 1  # the second question of the lesson
        row(page, place).locator("input[type=text]").focus()
        page.keyboard.type("1.0, -0.4161")
        page.keyboard.press("Enter")
        expect(row(page, place).locator(".prediction-said")).to_have_text(
            plain(kind_of(NUMBERS).reply(NUMBERS, "1, -0.4161"))
        )
        assert all(waiting(page, NUMBERS.id))


def test_without_scripts_all_is_seen_and_reasons_are_folded(chromium, lesson, made_up):
    with watched(chromium, java_script_enabled=False) as watch:
        page = watch.page
        for address in (lesson, made_up("page").as_uri()):
            page.goto(address)
            assert page.locator("[data-after]").count() >= 4
            for one in page.locator("[data-after]").all():
                assert one.is_visible()
            reasons = page.locator("[data-after] > details")
            for one in reasons.all():
                assert one.get_attribute("open") is None
                assert not one.locator("strong").first.is_visible()
            assert page.locator("noscript p").first.is_visible()
            assert not page.locator(".prediction").count()


def test_on_paper_all_is_seen(chromium, lesson):
    with watched(chromium) as watch:
        watch.page.goto(lesson)
        watch.page.emulate_media(media="print")
        assert waiting(watch.page) == [True, True]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", ["site", "page"])
def test_a_guessed_page_fits_any_screen(chromium, lesson, made_up, kind, scheme, width):
    address = lesson if kind == "site" else made_up("page").as_uri()
    size = {"width": width, "height": 800}
    with watched(chromium, viewport=size, color_scheme=scheme) as watch:
        page = watch.page
        page.goto(address)
        photograph(page, f"rounds/{kind}_{scheme}_{width}_before", full_page=True)
        assert page.evaluate(BEYOND) <= 0
        page.evaluate(GUESS_ALL)
        photograph(page, f"rounds/{kind}_{scheme}_{width}_after", full_page=True)
        assert page.evaluate(BEYOND) <= 0
        seen = page.locator("[data-after]").evaluate_all(
            "(all) => all.map((one) => one.offsetHeight)"
        )
        assert all(seen)


def test_a_guess_that_is_no_guess_any_more_is_asked_for_again(chromium, made_up):
    address = made_up("page").as_uri()
    with watched(chromium) as watch:
        page = watch.page
        page.goto(address)
        for kept in ("f", "ab", "405, 1", "<b>"):
            page.evaluate("(kept) => localStorage.setItem('prediction 99.q1', kept)", kept)
            page.reload()
            assert row(page).get_attribute("data-state") == "open"
            assert not any(waiting(page, "99.q1"))


def test_in_a_deck_the_answer_comes_by_key_and_after_the_output(chromium, made_up):
    with watched(chromium) as watch:
        page = opened(watch, made_up("slides"))
        seen = [page.inner_text(".slides section.present") for _ in states(page)]
    first = next(at for at, words in enumerate(seen) if "1 · One" in words)
    question, ran, reason, again = seen[first : first + 4]
    assert "draw()" in question
    assert "it printed two" not in question + "".join(seen[:first])
    assert "it printed two" in ran
    assert "It multiplies" not in ran
    assert "It multiplies." in reason
    assert "And now?" in again
    assert "and two again" not in again
    assert "and two again" in seen[first + 4]
    assert "So two came." not in "".join(seen), "it is for the speaker to say"
    assert "Most say a" not in "".join(seen)
