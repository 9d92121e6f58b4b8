"""Sheets to hand out: what stands on them, in a real browser, and what is printed."""

import made_up_guesses
import nbformat
import pytest
from chromium import chromium as program
from driver import watched

from course import handouts
from course.publish import publish
from helpers.predicting import questions

pytestmark = pytest.mark.browser


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.setattr(questions, "every", lambda: made_up_guesses.ALL)
    path = tmp_path / "99_rounds.ipynb"
    nbformat.write(made_up_guesses.notebook(), path)
    return path


@pytest.mark.parametrize("kind", handouts.KINDS)
def test_a_sheet_of_questions_keeps_the_answers_and_one_of_answers_shows_them(
    chromium, notebook, tmp_path, kind
):
    publish(notebook, "slides", tmp_path / "deck.html")
    with watched(chromium) as watch:
        watch.page.goto(f"{(tmp_path / 'deck.html').as_uri()}?handout={kind}")
        watch.page.wait_for_selector("html[data-paper=ready]", state="attached")
        seen = watch.page.inner_text("body")
        sheets = watch.page.locator(".sheet").count()
        guesses = watch.page.locator(".guess").count()
    asks = kind == "questions"
    assert "99 · Rounds" in seen
    assert "1 · One" in seen
    assert "draw()" in seen
    assert ("Which?" in seen) == asks
    assert ("it printed two" in seen) == (not asks)
    assert ("It multiplies." in seen) == (not asks)
    assert guesses == (sheets if asks else 0)
    assert "draw_again" not in seen, "what only goes on from a question is no sheet"


def test_both_sheets_are_printed(notebook, tmp_path):
    made = handouts.sheets(notebook, tmp_path / "out", program())
    assert [path.name for path in made] == [
        "99_rounds-questions.pdf",
        "99_rounds-answers.pdf",
    ]
    for path in made:
        assert path.read_bytes().startswith(b"%PDF")
        assert path.read_bytes().count(b"/Type /Page\n") >= 2


def test_a_place_that_cannot_be_written_is_said_in_a_sentence(notebook, tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    assert handouts.main([str(notebook), "-o", str(tmp_path / "taken")]) == 1
    assert "cannot be made" in capsys.readouterr().err
