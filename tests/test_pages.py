"""The pages as `make pages` builds them: whole, linked, and in need of nothing else."""

import re
from contextlib import redirect_stdout
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

from autograd_graphs.playing.player import FILM
from course.publishing.site import main
from helpers.predicting.prediction import ASKED
from helpers.predicting.questions import question

ROOT = Path(__file__).resolve().parents[1]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
MORE = ("clinic", "glossary", "one_real_model")
PAGES = [*LESSONS, *(ROOT / "notebooks" / f"{name}.ipynb" for name in MORE)]
ABROAD = re.compile(r"(?:https?:|wss?:)?//[\w.-]+\.\w+", re.I)
LOADED = ("script", "img", "iframe", "source", "video", "audio", "embed", "track", "input", "use")
pytestmark = [
    pytest.mark.notebooks,
    # MyST's, about the Sphinx after next
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def run(notebooks, out):
    """Do the same here, which is quicker."""
    said = StringIO()
    try:
        with redirect_stdout(said):
            main([str(notebooks), "-o", str(out)])
    except SystemExit as end:
        return str(end)
    return said.getvalue()


class Page(HTMLParser):
    """Collect a page's places, links, what it loads, its styles and scripts."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links, self.loads, self.inside, self.code = set(), [], [], None, []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.places |= {of[name] for name in ("id", "name") if of.get(name)}
        if tag == "a" and of.get("href"):
            self.links.append((of["href"], of.get("rel")))
        if tag == "link" and of.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.loads.append(of["href"])
        if tag in LOADED:
            self.loads += [of[name] for name in ("src", "srcset", "href", "poster") if of.get(name)]
        self.code.append(of.get("style") or "")
        self.inside = tag

    def handle_data(self, data):
        if self.inside in ("style", "script"):
            self.code.append(data)

    def handle_endtag(self, tag):
        self.inside = None


@pytest.fixture(scope="module")
def pages(built_pages):
    return {path: Page(path) for path in sorted(built_pages.rglob("*.html"))}


@pytest.fixture
def course(tmp_path):
    """A course of one small lesson, which a test may spoil."""
    (tmp_path / "notebooks").mkdir()
    write(tmp_path, "# One\n\nYou will be able to\n\n- *read*;\n- write\n  a line.")
    return tmp_path


def write(course, source):
    """Write the lesson of a course."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(source)])
    nbformat.write(made, course / "notebooks" / "01_one.ipynb")


def test_every_lesson_is_a_page_and_the_index_says_what_for(built_pages, pages):
    made = sorted((built_pages / "lessons").glob("*.html"))
    assert [path.stem for path in made] == [path.stem for path in PAGES]
    index = pages[built_pages / "index.html"]
    assert {f"lessons/{path.stem}.html" for path in PAGES} <= {link for link, _ in index.links}
    assert index.text.count("you will be able to") == len(LESSONS)
    assert re.search(r"<li><p>(<em>)?draw(</em>)? the graph of a line of code", index.text)


def test_every_link_and_anchor_leads_somewhere(pages):
    for path, page in pages.items():
        for link, _ in page.links:
            assert ".ipynb" not in link, f"{path.name}: {link} leads out of the pages"
            to = urlsplit(link)
            if to.scheme in ("http", "https"):
                continue
            assert not to.scheme, f"{path.name}: {link}"
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            assert target in pages, f"{path.name}: {link} leads to no page"
            is_there = not to.fragment or unquote(to.fragment) in pages[target].places
            assert is_there, f"{path.name}: no {link}"


def test_nothing_is_loaded_from_elsewhere_and_all_that_is_loaded_is_there(built_pages, pages):
    for path, page in pages.items():
        assert not [load for load in page.loads if ABROAD.match(load)], path.name
        for load in (urlsplit(load) for load in page.loads if not load.startswith(("data:", "#"))):
            assert (path.parent / load.path).is_file(), f"{path.name}: {load.path} is missing"
        for code in page.code:
            asks = re.search(r"(?:url\(|import|fetch\()\W*" + ABROAD.pattern, code, re.I)
            assert not asks, path.name
    for sheet in built_pages.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        for found in re.findall(r"url\(\s*['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)", text):
            url = "".join(found)
            assert url.startswith("data:") or (sheet.parent / url).is_file(), url


def outputs_of(path):
    """Return the data of each output of a notebook."""
    cells = nbformat.read(path, 4).cells
    return [one.get("data", {}) for cell in cells for one in cell.get("outputs", ())]


def test_every_player_has_its_place_and_a_page_with_players_one_script(built_pages, pages):
    for path in LESSONS:
        players = sum(FILM in data for data in outputs_of(path))
        page = pages[built_pages / "lessons" / f"{path.stem}.html"]
        assert page.text.count('<div class="player-slot">') == players, path.name
        assert page.text.count("playAll(document)") == bool(players), path.name
    text = "".join(page.text for page in pages.values())
    assert "requirejs" not in text
    assert "mathjax" not in text.lower()


def test_every_question_has_its_place_and_nothing_waits_that_no_guess_brings(built_pages, pages):
    for path in LESSONS:
        asked = [data[ASKED] for data in outputs_of(path) if ASKED in data]
        text = pages[built_pages / "lessons" / f"{path.stem}.html"].text
        assert text.count('<div class="prediction-slot">') == len(asked), path.name
        assert text.count("predictAll(document)") == bool(asked), path.name
        settled = {name for name in asked if question(name).settled}
        assert set(re.findall(r'data-after="([^"]*)"', text)) == set(asked) - settled, path.name
        assert "predict(&quot;" not in text


def test_speaker_notes_are_left_out(pages):
    text = "".join(page.text for page in pages.values())
    cells = [cell for path in LESSONS for cell in nbformat.read(path, 4).cells]
    roles = [cell.metadata.get("course", {}).get("role") for cell in cells]
    notes = [cell.source for cell, role in zip(cells, roles, strict=True) if role == "notes"]
    assert len(notes) > 20
    for note in notes:
        words = max(re.findall(r"[A-Za-z ,]+", note), key=len).strip()
        assert words not in text, words


def test_pages_are_written_anew_and_what_is_not_ours_stays(course, tmp_path):
    out = tmp_path / "out"
    run(course / "notebooks", out)
    (course / "notebooks" / "01_one.ipynb").rename(course / "notebooks" / "01_other.ipynb")
    assert "1 page and its index" in run(course / "notebooks", out)
    assert [path.name for path in (out / "lessons").glob("*")] == ["01_other.html"]
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert "Name a different folder" in run(course / "notebooks", mine)
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]


SPOILED = {
    "a link that leads nowhere": "[on](09_nothing.ipynb)",
    "a language that nobody knows": "```pythn\nx = 1\n```",
}


@pytest.mark.parametrize("source", SPOILED.values(), ids=SPOILED)
def test_a_warning_is_an_error_that_names_the_lesson(course, tmp_path, source):
    write(course, f"# One\n\n{source}")
    said = run(course / "notebooks", tmp_path / "out")
    assert said.startswith("Sphinx didn't build the pages: lessons/01_one.ipynb")
    assert not (tmp_path / "out").exists()
