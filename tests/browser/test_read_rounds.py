"""A round in a page as a student meets it: opened from disk, the network cut, guessed by mouse or by
keyboard, on any screen and on paper.
"""

import made_up_guesses
import nbformat
import pytest
from driver import watched
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
        page.emulate_media(media="print")
        assert waiting(page) == [True] * 3, (
            "on paper all is seen: output, reason, and what follows it"
        )
        page.emulate_media(media="screen")
        assert waiting(page) == [False] * 3
        assert page.locator("text=y.grad_fn(torch.tensor").first.is_visible(), "the code is seen"
        row(page).locator(f"input[value={WRONG}]").check()
        assert waiting(page) == [False] * 3, "to choose is not to say"
        row(page).get_by_role("button", name=f"My guess is ({WRONG})").click()
        said = plain(kind_of(FIRST).reply(FIRST, WRONG))
        assert said.startswith(f"It's ({FIRST.right}), but you said ({WRONG}). ")
        for _ in range(2):
            expect(row(page).locator(".prediction-said")).to_have_text(said)
            assert waiting(page) == [True] * 3
            assert page.get_by_text(plain(FIRST.takeaway)).first.is_visible()
            assert not any(waiting(page, "05.q12"))
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
