"""Rounds in pages and decks, without a browser: what waits for the guess, and what is seen."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import made_up_guesses
import nbformat
import pytest
from made_up_guesses import CAPTION, code, guess, printed, shown, text
from nbformat.v4 import new_markdown_cell, new_notebook

from course.publish import publish
from course.publishing import assets
from course.publishing.cell_renderer import CellRenderer
from course.publishing.cell_roles import course_of
from course.publishing.deck import slides_of, template
from course.publishing.prepare import prepared
from course.publishing.site import hide_reasons
from helpers.predicting import questions
from helpers.predicting.kinds import lines_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

AFTER = ("it printed two", "It multiplies", "and two again", "405 and so on", "Paths add")
ALWAYS = ("draw()", "count()", "a lab", "It plays", "seen at once", "Recap")


@pytest.fixture(autouse=True)
def _three(monkeypatch):
    monkeypatch.setattr(questions, "every", lambda: made_up_guesses.ALL)


class Seen(HTMLParser):
    """Collect the text of a page that is seen before any guess, and that which waits for one."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen, self.waits, self.images, self.tags = [], "", {}, [], set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "img":
            self.images.append(dict(attributes))
            self.handle_data(dict(attributes).get("alt", ""))
        elif tag not in ("meta", "br", "input"):
            self.open.append((tag, dict(attributes).get("data-after")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if any(tag in ("script", "style") for tag, _ in self.open):
            return
        waits_for = next((name for _, name in self.open if name), None)
        if waits_for:
            self.waits[waits_for] = self.waits.get(waits_for, "") + data
        else:
            self.seen += data


def published(tmp_path, to, *cells, **options):
    """Return the HTML that is made of these cells, or of the whole notebook."""
    made = new_notebook(cells=list(cells)) if cells else made_up_guesses.notebook()
    nbformat.write(made, tmp_path / "given.ipynb")
    return publish(tmp_path / "given.ipynb", to, tmp_path / f"{to}.html", **options)


def slots(html):
    pattern = r'<div class="prediction-slot"><script type="application/json">(.*?)</script>'
    return [json.loads(found) for found in re.findall(pattern, html)]


@pytest.mark.parametrize("trust", [False, True])
def test_a_guess_becomes_a_slot_and_its_call_is_left_out(tmp_path, trust):
    html = published(tmp_path, "page", trust=trust)
    letters, numbers, quiz = slots(html)
    assert (letters["id"], letters["letters"], letters["answer"]["right"]) == ("99.q1", "abc", "b")
    assert letters["answer"]["why"][0] == ["a", "It sounds so: a < b.</script>"]
    assert (numbers["count"], numbers["answer"]["right"]) == (2, [405.0, -0.5])
    assert (quiz["settled"], quiz["answer"]) == ("02", None)
    assert "predict(" not in Seen(html).seen
    assert html.count("<noscript>") == 3


@pytest.mark.parametrize("trust", [False, True])
def test_output_and_reason_wait_for_the_guess_and_code_does_not(tmp_path, trust):
    found = Seen(published(tmp_path, "page", trust=trust))
    assert not [words for words in AFTER if words in found.seen]
    assert not [words for words in ALWAYS if words not in found.seen]
    assert "draw_again()" in found.waits["99.q1"], "what is run after the reason comes after it"
    assert set(found.waits) == {"99.q1", "99.q2"}, "a lab and the quiz hide nothing"
    assert CAPTION.replace("`", "") in found.waits["99.q1"]
    assert "Guesses" not in found.seen


def test_no_right_letter_is_in_what_is_seen_before_the_guess(tmp_path):
    cells = [text("title", "# T"), *made_up_guesses.cells()[1:7]]
    html = published(tmp_path, "page", *cells)
    shows = Seen(html).seen
    assert re.findall(r"\(([abc])\)", shows) == ["a", "b", "c"], "the options and nothing more"
    bare = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert not re.search(r"right|expects|minutes", bare.partition("<main>")[2])


def test_a_caption_is_the_alternative_text_and_stands_under_the_picture(tmp_path):
    html = published(tmp_path, "page")
    told = CAPTION.replace("`", "")
    assert [unescape(alt) for alt in re.findall(r'<img alt="([^"]*)"', html)] == [told]
    below = '<p class="run-caption">Where the two ways meet, <code>x</code> waits for both &lt;at once&gt;.</p>'
    assert html.count(below) == 1
    assert html.index("<img") < html.index(below)


def slides(notebook):
    return slides_of(prepared(notebook, notes=True), CellRenderer(ROOT), "T")


def test_a_deck_has_a_slide_for_each_round_and_the_result_comes_before_the_reason(tmp_path):
    opening, first, after, *_ = slides(made_up_guesses.notebook())
    assert (opening.kind, opening.crumb, opening.title) == ("opening", "Lesson 99", "Rounds")
    assert (first.kind, first.title, first.steps) == ("round", "1 · One", 3)
    assert (first.takeaway, first.right) == ("It multiplies.", "b")
    assert [letter for letter, _ in first.options] == ["a", "b", "c"]
    assert "draw" in first.code
    assert "Most say a" in first.notes[0]
    assert "Who changes their mind?" in first.notes[1]
    assert "So two came." in first.notes[2]
    assert (after.title, after.steps, after.lead) == ("1 · One", 3, "")
    assert "draw_again" in after.code
    html = published(tmp_path, "slides")
    assert "predict(" not in html
    assert "Why?" not in re.sub(r"<aside.*?</aside>", "", html, flags=re.DOTALL)
    assert f'alt="{CAPTION.replace("`", "").replace("<", "&lt;").replace(">", "&gt;")}"' in html
    assert "run-caption" not in html


def test_a_slide_says_its_own_words_and_shows_what_is_asked(monkeypatch):
    monkeypatch.undo()  # the questions are those of the lesson
    made = nbformat.read(ROOT / "notebooks" / "07_retain_graph.ipynb", as_version=4)
    for cell in made.cells:
        if cell.metadata.course.get("id") == "07.lab":
            presses = {"presses": "1 r 4", "question": "2"}
            cell.metadata.course.slide = {"asked": list("IJK"), "answers": list("XYZ")} | presses
        if cell.metadata.course.get("id") == "07.q1":
            cell.metadata.course.slide = {"options": list("xyz"), "takeaway": ["no text"]}
    found = [one for one in slides(made) if one.kind in ("round", "lab")]
    of = {one.title.rpartition(" · ")[2]: one for one in reversed(found)}
    drawn, chosen = of["A graph is born"], of["Once more, with the flag"]
    (lab,) = [one for one in found if one.kind == "lab"]
    asked = {name: questions.question(f"07.{name}") for name in ("d1", "f1", "o1")}
    assert all(line in str(drawn.options) for line in lines_of(asked["d1"]))
    assert [words for _, words in chosen.options] == list("xyz")
    assert "no text" not in chosen.takeaway
    seen = unescape(re.sub("<[^>]*>", "", "".join(one.code for one in found)))
    assert all(line in seen for line in [*lines_of(asked["f1"]), *lines_of(asked["o1"])])
    assert [words[1:] for words in lab.cards] == [*zip("IJK", "XYZ", strict=True)]
    assert len(lab.walks) == lab.steps
    assert lab.cards[lab.asked][1:] == ("J", "Y")
    assert lab.walks == ["", "1", "1 r", "1 r 4", "1 r 4", "1 r 4"]


@pytest.mark.parametrize("kind", ["", "-", "fragment", "slide"])
def test_in_a_deck_what_ran_and_the_reason_wait_for_a_key(kind):
    given = made_up_guesses.notebook()
    for cell in given.cells:
        if cell.metadata.course.role in ("run", "because"):
            cell.metadata.slideshow = {"slide_type": kind}
        elif not kind:
            cell.metadata.pop("slideshow")
    empty = {"asked": {}, "policy": "", "styles": [], "scripts": []}
    html = template().render(slides=slides(given), title="T", **empty)
    assert html.count('<div class="out"') > 3
    for section in html.split("<section ")[1:]:
        first = (
            "01" if section.startswith('class="lab"') else "1"
        )  # a lab is seen with its question
        assert not re.search(f'<div class="out"(?! data-at="[{first}]")', section)
    assert html.count('<div class="takeaway" data-at=') == html.count('<div class="takeaway"')


HOSTILE = "</script><script>window.hit=1</script>"
ODD = [None, 7, True, [], ["x"], {}, {"a": {}}, "", HOSTILE, '" onload="hit', "x" * 301, "99.q1\n"]


FIELDS = ("role", "id", "right", "answer", "expects", "minutes", "more")


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_metadata_of_odd_types_and_with_markup_is_dropped(odd):
    cell = code("run", "f()", printed("x\n"))
    for whole in (odd, dict.fromkeys(FIELDS, odd)):
        cell.metadata["course"] = whole
        assert course_of(cell) == ({"minutes": 7} if whole == dict.fromkeys(FIELDS, 7) else {})


@pytest.mark.parametrize("to", ["page", "slides"])
def test_markup_in_metadata_is_not_published(tmp_path, to):
    cells = [new_markdown_cell("# T"), guess("99.q1"), code("run", "f()", printed("x\n"))]
    for cell, odd in zip(cells, (HOSTILE, '" onload="hit', HOSTILE), strict=True):
        cell.metadata["course"] = dict.fromkeys(FIELDS, odd)
    html = published(tmp_path, to, *cells)
    assert "window.hit" not in html
    assert "onload=" not in html.replace(assets.reveal("dist/reveal.js"), "")
    assert len(slots(html)) == (to == "page")


def test_markup_in_a_caption_is_text(tmp_path):
    caption = f"'\"><b>{HOSTILE}"
    picture = shown({"image/png": made_up_guesses.PIXEL, "text/plain": "<Figure>"})
    cells = [text("title", "# T"), code("run", "f()", picture, caption=caption)]
    for to in ("page", "slides"):
        html = published(tmp_path, to, *cells)
        found = Seen(html)
        assert [set(image) - {"data-ground"} for image in found.images] == [{"alt", "src"}]
        assert found.images[0]["alt"] == caption
        assert found.seen.count(caption) == (2 if to == "page" else 1)
        assert "b" not in found.tags


def test_for_the_site_a_reason_stands_in_an_element_of_its_own():
    made = prepared(made_up_guesses.notebook(), notes=False)
    hide_reasons(made)
    reasons = [cell.source for cell in made.cells if cell.metadata.course.get("role") == "because"]
    begin = '<div class="prediction-after" data-after="99.q1">\n\n<details><summary>Why?</summary>'
    assert reasons[0].startswith(begin)
    assert reasons[0].endswith("</details>\n\n</div>")
    assert reasons[2].startswith("<details>"), "that of a lab waits for nothing"
