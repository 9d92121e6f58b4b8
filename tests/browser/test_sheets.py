"""Sheets to hand out: what stands on them, in a real browser, and what is printed."""

import base64
import re

import made_up_guesses
import nbformat
import pytest
from chromium import chromium as program
from driver import watched
from nbformat.v4 import new_markdown_cell, new_notebook

from course import handouts
from course.publish import main, publish
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


TOO_MUCH = "\n".join(f"- Line {number}." for number in range(60))  # a list is not cut


def test_a_slide_that_is_too_tall_is_named_with_its_cell_and_what_to_do(tmp_path, capsys):
    cells = [new_markdown_cell("# Short"), new_markdown_cell(f"# Long\n\n{TOO_MUCH}", id="long")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "mine.ipynb")
    given = [str(tmp_path / "mine.ipynb"), "--to", "slides", "-o", str(tmp_path / "mine.html")]
    assert main(given) == 0, "a notebook of one's own is published all the same"
    said = capsys.readouterr().out
    assert re.search(
        r"slide 2 \(cell 2, “# Long”\) is \d\.\d screens tall and scrolls: split it into two slides,",
        said,
    )
    assert "slide 1" not in said
    assert main([*given, "--no-check"]) == 0
    assert "screens tall" not in capsys.readouterr().out


def test_a_round_that_is_too_full_fails_the_build(notebook, tmp_path, capsys):
    made = nbformat.read(notebook, 4)
    given = [str(notebook), "--to", "slides", "-o", str(tmp_path / "deck.html")]
    assert main(given) == 0, capsys.readouterr().out
    question_ = next(cell for cell in made.cells if "(b) two" in cell.source)
    question_.source = question_.source.replace("(b) two", "(b) " + "far too many words " * 40)
    nbformat.write(made, notebook)
    assert main(given) == 1
    assert "shorten its options" in capsys.readouterr().out


def test_a_picture_whose_words_cannot_be_read_from_afar_fails_the_build(notebook, tmp_path, capsys):
    made = nbformat.read(notebook, 4)
    drawn = next(cell for cell in made.cells if cell.source == "draw()")
    given = [str(notebook), "--to", "slides", "-o", str(tmp_path / "deck.html")]
    for wide, failed in ((600, 0), (1000, 1)):
        drawn.outputs[-1] = made_up_guesses.shown({"text/html": picture(wide)})
        nbformat.write(made, notebook)
        assert main(given) == failed
    said = capsys.readouterr().out
    assert re.search(r"slide 2 \(cell \w+\) is too full: draw less in one picture\.", said)


def picture(wide):
    """Return an image of this width and half as high, with words of 13 px."""
    words = '<text x="20" y="20" font-size="13">words</text>'
    size = f'width="{wide}" height="{wide // 2}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{words}</svg>'
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="words" src="data:image/svg+xml;base64,{data}">'
