"""Sheets to hand out: what stands on them, in a real browser, and what is printed."""

import base64
import copy
import re
from pathlib import Path

import deck_plan
import made_up_guesses
import made_up_return
import nbformat
import pytest
from chromium import chromium as program
from driver import watched
from playwright.sync_api import expect

from course import handouts
from course.publish import main, publish
from course.publishing.fitting import REMEDIES, unfit
from helpers.predicting import questions

pytestmark = pytest.mark.browser


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.setattr(questions, "every", lambda: made_up_guesses.ALL)
    path = tmp_path / "99_rounds.ipynb"
    nbformat.write(made_up_guesses.notebook(), path)
    return path


def sheet_of(watch, notebook, tmp_path, kind):
    """Open a sheet of a notebook as it is printed; return its page."""
    publish(notebook, "slides", tmp_path / "deck.html")
    watch.page.goto(f"{(tmp_path / 'deck.html').as_uri()}?handout={kind}")
    watch.page.wait_for_selector("html[data-paper=ready]", state="attached")
    watch.page.emulate_media(media="print")
    return watch.page


def test_a_sheet_of_questions_holds_no_answer_seen_or_hidden(chromium, notebook, tmp_path):
    with watched(chromium) as watch:
        page = sheet_of(watch, notebook, tmp_path, "questions")
        seen, holds = page.inner_text("body"), page.inner_html("main")
        rounds = page.locator(".sheet .round").count()
        guesses = page.locator(".guess:has-text('My guess')").count()
    assert "99 · Rounds" in seen
    assert "1 · One" in seen
    assert "draw()" in seen
    assert "Which?" in seen
    assert guesses == rounds, "a lab has room for its answers itself"
    assert "draw_again" not in holds, "what only goes on from a question is no sheet"
    for told in (
        "it printed two",
        "It multiplies.",
        "Most say a",
        "One sees it.",
        "x waits for both",
    ):
        assert told not in holds, "a PDF can be searched and read aloud"
    assert 'class="right' not in holds


def test_a_sheet_of_answers_shows_them_and_only_what_has_one(chromium, notebook, tmp_path):
    with watched(chromium) as watch:
        page = sheet_of(watch, notebook, tmp_path, "answers")
        seen, holds = page.inner_text("body"), page.inner_html("main")
    assert "it printed two" in seen
    assert "It multiplies." in seen
    assert "Which?" not in seen
    assert "My guess" not in seen
    assert "draw_again" not in holds


def test_the_case_is_mended_on_the_sheet_of_answers_alone(chromium, notebook, tmp_path):
    nbformat.write(made_up_return.notebook(), notebook)
    with watched(chromium) as watch:
        asked = sheet_of(watch, notebook, tmp_path, "questions").inner_text("body")
        answers = sheet_of(watch, notebook, tmp_path, "answers")
        told, pictures = answers.inner_text("body"), answers.locator(".sheet img:visible").count()
    assert "Who moves it?" in asked
    for words in ("Back to the case", "drawn()", "mended()", "One line."):
        assert words not in asked
        assert words in told
    assert "86 of 100" in told
    assert pictures == 2
    assert "nudged()" not in told


LESSONS = Path(__file__).resolve().parents[2] / "notebooks"


def test_a_player_is_printed_at_its_end_with_a_table_of_its_walk(chromium, tmp_path):
    lesson = next(LESSONS.glob("05_*.ipynb"))
    with watched(chromium) as watch:
        page = sheet_of(watch, lesson, tmp_path, "answers")
        sheets = [one.inner_text() for one in page.locator(".sheet:has(.player-room)").all()]
        tables = page.locator(".sheet > .walk:visible").count()
    assert tables == 1
    assert "backward() is done" in sheets[0]
    assert "cos(x) = cos(2)" in sheets[0]


def test_a_sheet_of_answers_holds_all_of_the_code(chromium, tmp_path):
    lesson = next(LESSONS.glob("02_*.ipynb"))
    with watched(chromium) as watch:
        page = sheet_of(watch, lesson, tmp_path, "answers")
        short = page.locator(".sheet:has(section .gap:visible)")
        assert short.count() == short.filter(has=page.locator("> pre .rest:visible")).count() > 0
        expect(page.locator(".sheet > pre .gap:visible")).to_have_count(0)


def pages(path):
    """Return (width, height) of each page of a PDF, in points."""
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", path.read_bytes())
    return [(round(float(wide)), round(float(high))) for wide, high in sizes]


def test_both_sheets_are_printed_two_slides_on_a_page_of_a4(notebook, tmp_path):
    assert handouts.main([str(notebook), "-o", str(tmp_path / "out")]) == 0
    made = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in made] == ["99_rounds-answers.pdf", "99_rounds-questions.pdf"]
    upright = (595, 842)
    assert pages(made[1]) == [upright] * 2, "three rounds and a lab"
    assert pages(made[0]) == [upright] * 2, "two rounds and a lab: the quiz has no answer here"


@pytest.mark.thorough
@pytest.mark.parametrize("number", ["04", "05"])
def test_as_many_pages_are_printed_as_teaching_md_counts(tmp_path, number):
    assert handouts.main([str(next(LESSONS.glob(f"{number}_*"))), "-o", str(tmp_path)]) == 0
    made = tmp_path.glob("*.pdf")
    counted = {path.stem.partition("-")[2]: len(pages(path)) for path in made}
    told = (LESSONS.parent / "TEACHING.md").read_text(encoding="utf-8")
    assert counted["questions"] == deck_plan.question_pages(number)
    if number == "04":
        assert f"The graphs of 04 ({counted['graphs']} pages)" in told
    else:
        assert f"the chain rule of 05 ({counted['chain-rule']} page)" in told


def test_a_round_or_a_picture_that_is_too_full_fails_the_build(notebook, tmp_path, capsys):
    good = nbformat.read(notebook, 4)
    given = [str(notebook), "--to", "slides", "-o", str(tmp_path / "deck.html")]

    def built(option, wide):
        """Build with this option and a picture of this width; return the status and what is said."""
        made = copy.deepcopy(good)
        for cell in made.cells:
            cell.source = cell.source.replace("(b) two", option)
        drawn = next(cell for cell in made.cells if cell.source == "draw()")
        drawn.outputs[-1] = made_up_guesses.shown({"text/html": picture(wide)})
        nbformat.write(made, notebook)
        return main(given), capsys.readouterr().out

    assert built("(b) two", 400)[0] == 0
    failed, said = built("(b) " + "far too many words " * 40, 400)
    assert failed == 1
    assert "shorten its options" in said
    failed, said = built("(b) two", 1000)
    assert failed == 1
    assert re.search(r"slide 2 \(cell \w+\) is too full: draw less in one picture\.", said)


def picture(wide):
    """Return an image of this width and half as high, with words of 13 px."""
    words = '<text x="20" y="20" font-size="13">words</text>'
    size = f'width="{wide}" height="{wide // 2}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{words}</svg>'
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="words" src="data:image/svg+xml;base64,{data}">'


def test_a_step_without_notes_is_found(tmp_path, notebook):
    publish(notebook, "slides", tmp_path / "deck.html")
    page = (tmp_path / "deck.html").read_text()
    emptied = re.sub(r'(<aside class="say" data-step="1">).*?(</aside>)', r"\1\2", page, flags=re.S)
    (tmp_path / "deck.html").write_text(emptied)
    found = unfit(tmp_path / "deck.html", program(), {})
    assert found
    assert all(
        str(one).endswith("has a step without notes: " + REMEDIES["notes"] + ".") for one in found
    )


def test_words_too_small_in_a_lab_are_found_as_they_are_drawn(tmp_path):
    path = tmp_path / "deck.html"
    publish(Path(__file__).parents[2] / "notebooks" / "06_accumulation.ipynb", "slides", path)
    smaller = "<style>.reveal .player .player-pane text{font-size:12px!important}</style></head>"
    path.write_text(path.read_text().replace("</head>", smaller, 1))
    (found,) = unfit(path, program(), {})
    assert found.what == ("player",)
