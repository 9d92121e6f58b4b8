"""Going back to the case, and what asks nothing, stand where a lesson is read, shown and copied."""

import re

import made_up_guesses
import made_up_return
import nbformat
import pytest
from made_up_return import LONG, REASONED

from course.live.lesson import LiveLesson
from course.publish import publish
from course.publishing import worksheets
from course.publishing.deck import deck, slides_in
from course.publishing.slides import Flow, Round
from course.publishing.stretches import Stretch, cut_to, parts_of
from course.workspace import student_copy
from helpers.predicting import questions
from helpers.predicting.round_text import SUMMARY, reason


@pytest.fixture(autouse=True)
def _three(monkeypatch):
    monkeypatch.setattr(questions, "every", lambda: made_up_guesses.ALL)


@pytest.fixture
def slides(tmp_path):
    return slides_in(made_up_return.notebook(), tmp_path)[1]


def showing(slides, code):
    """Return the one slide whose code this is."""
    (found,) = [one for one in slides if isinstance(one, Round) and code in bare(one.code)]
    return found


def bare(html):
    return re.sub("<.*?>", "", html)


def test_the_parts_of_a_lesson_are_counted_where_its_headings_stand(slides):
    parts = ["opening", "case", "1a", "1a", "1a", "1a", "2", "case again", "case again", "", ""]
    assert parts_of(slides) == parts
    assert slides[0].lead == "About an hour, and forty minutes of exercises."
    titles = list(dict.fromkeys(slide.title for slide in slides))
    assert titles[1:6] == [
        "09:00 · The case", "10:40 · Who moves it?", "A nudge", "A table", "Back to the case",
    ]  # fmt: skip


def test_the_way_back_to_the_case_is_shown_and_told_step_by_step(slides):
    drawn, mended = showing(slides, "drawn()"), showing(slides, "mended()")
    assert drawn.title == mended.title == "Back to the case"
    assert drawn.lead == REASONED
    assert drawn.result.kind == "picture"
    assert (mended.lead, bare(mended.result.html)) == ("In its place we write:", "86 of 100")
    assert (drawn.takeaway, mended.takeaway) == ("", "One line.")
    assert (drawn.drawing, drawn.steps, mended.steps) == ("", 2, 3)
    assert 'alt="A line runs between them."' in mended.drawing, "no code that only draws the moons"
    assert all("until somebody names the line" in words for words in mended.notes)
    assert "It was one line." in mended.notes[-1]
    assert "It was one line." not in mended.notes[0]


def test_what_asks_nothing_has_slides_of_its_own(slides):
    nudged, looked = showing(slides, "nudged()"), showing(slides, "looked()")
    assert (nudged.title, nudged.lead) == ("A nudge", "A little more of it, and a look.")
    assert (bare(nudged.result.html), nudged.is_question) == ("8.1", False)
    assert (looked.title, looked.lead, looked.ask) == ("A nudge", "", "How far?")
    assert LONG in looked.notes[0], "a long text is said"
    (table,) = [slide for slide in slides if isinstance(slide, Flow) and slide.part == "2"]
    assert LONG in table.notes[0]
    assert LONG not in table.parts[0][0]
    assert "See here:" in table.parts[0][0]
    assert "<td>2</td>" in re.sub(' style=".*?"', "", table.parts[0][0])


def test_a_round_without_a_rule_ends_with_its_answer(slides):
    asked = showing(slides, "moved()")
    assert (asked.steps, asked.takeaway, asked.right) == (3, "two", "b")
    assert "It sounds so." in asked.notes[1]
    assert "It multiplies, so two came." in asked.notes[2]


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("**One.** Two.", "One."),
        ("One **thing** only. **A `x` is *no* leaf here.**", ""),
        ("Only two. **The operation has a say, too.** And so on.", "The operation has a say, too."),
        ("**A frozen layer isn't recorded**: neither of both.", "A frozen layer isn't recorded."),
        ("**Nothing** comes back, and that is all.", ""),
        ("And then: **it never moves at all.**", "It never moves at all."),
        ("**A name** comes first. **It never moves at all.**", "It never moves at all."),
    ],
)
def test_the_rule_of_a_reason_is_its_bold_sentence_wherever_it_stands(said, rule):
    assert reason(f"<details><summary>{SUMMARY}</summary>\n\n{said}\n</details>").takeaway == rule


def test_a_round_keeps_its_notes_where_a_text_stands_in_it(slides):
    asked, again = showing(slides, "moved()"), showing(slides, "moved_back()")
    assert "Most say a." in asked.notes[0]
    assert again.lead == "And once more, the other way round:"
    assert "Nobody touched it." in showing(slides, "broken()").notes[-1]


def test_a_route_that_shows_the_case_shows_how_it_ends(slides):
    shown = cut_to(slides, Stretch(("case",), 5))
    assert [bare(one.code) for one in shown[1:]] == ["broken()", "drawn()", "mended()"]


def test_moons_that_find_no_place_stand_alone(tmp_path):
    made = made_up_return.notebook()
    drawn = [cell for cell in made.cells if cell.source in ("drawn()", "mended()")]
    for cell in drawn:
        cell.source = f"moons_picture({cell.source})"
    slides = slides_in(made, tmp_path)[1]
    alone = [one for one in slides if one.part == "case again"]
    assert [(one.code, one.ask, one.steps) for one in alone] == [("", "", 1)] * 3


def test_a_live_deck_runs_it(tmp_path):
    made = made_up_return.notebook()
    html = deck(made, tmp_path, live=True)
    lesson = LiveLesson(made, tmp_path, print)
    for cell in made.cells:
        if cell.metadata.course.role == "run" and "moons" not in cell.source:
            assert f'data-run="{cell.id}"' in html
            assert cell.id in lesson.known


def test_a_page_has_it_and_hides_nothing_of_it(tmp_path):
    path = tmp_path / "99_rounds.ipynb"
    nbformat.write(made_up_return.notebook(), path)
    publish(path, "page", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    back = html[html.index("Back to the case") :]
    assert REASONED in back
    assert 'alt="Two ways meet in one card."' in back
    assert "86 of 100" in back
    assert "data-after" not in back.partition("</main>")[0]
    other = html[html.index("the other way round") - 120 :]
    assert 'data-after="99.q1"' in other[:120], "what goes on from an answer waits for the guess"


def test_a_sheet_of_graphs_leaves_it_out(slides):
    assert worksheets.made("Rounds", slides) == {}


def test_a_students_copy_has_it_without_what_came(tmp_path):
    path = tmp_path / "99_rounds.ipynb"
    nbformat.write(made_up_return.notebook(), path)
    cells = student_copy(path)["cells"]
    at = [cell["metadata"]["course"]["role"] for cell in cells].index("return")
    assert cells[at]["source"].endswith(REASONED)
    assert (cells[at + 1]["source"], cells[at + 1]["outputs"]) == ("drawn()", [])
    assert cells[at + 3]["source"] == "mended()"
