"""Decks and pages without a browser: what is refused, what is left out, what a file holds."""

import json
import re
from html import unescape
from pathlib import Path

import hostile
import made_up_guesses
import nbformat
import pytest
import torch
from made_up_film import lab
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograd_graphs.playing import player
from autograd_graphs.playing.player import FILM
from course.publish import main, publish
from course.publishing import assets
from course.publishing.cell_renderer import CellRenderer
from course.publishing.deck import slides_of
from course.publishing.inert import clean, inert
from course.publishing.notebook_file import NoSlides, Unpublishable, read_run
from course.publishing.prepare import prepared
from course.publishing.reading_page import NOT_TOLD, page
from course.publishing.wording import safe_markdown
from helpers import show

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def text(source, kind="slide"):
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}})


def code(source, *outputs, count=1):
    return new_code_cell(source, execution_count=count, outputs=list(outputs))


def stored(path, *cells):
    nbformat.write(new_notebook(cells=list(cells)), path)
    return path


BROKEN = {
    "empty": (nbformat.writes(new_notebook()), "no cell"),
    "cut off": ('{"nbformat": 4, "cells": [', "n't JSON (line 1)"),
    "deep": ("[" * 200_000, "too deep"),
    "other json": ('{"a": 1}', "name an nbformat"),
    "wrong shape": ('{"nbformat": 4, "nbformat_minor": 5, "cells": 7}', "broken notebook"),
    "bytes": (b"\x89PNG\xff\xfe", "holds no text"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_cannot_be_published_is_said_in_a_sentence_or_two(tmp_path, capsys, what):
    held, said = BROKEN[what]
    path = tmp_path / "given.ipynb"
    path.write_bytes(held if isinstance(held, bytes) else held.encode())
    with pytest.raises(Unpublishable) as caught:
        read_run(path)
    assert said in str(caught.value)
    assert "given.ipynb" in str(caught.value)
    assert main([str(path), "--to", "slides", "-o", str(tmp_path / "deck.html")]) == 1
    assert capsys.readouterr().err == f"{caught.value}\n"
    assert not (tmp_path / "deck.html").exists()


def test_a_missing_file_a_folder_and_a_place_that_cannot_be_written(tmp_path, capsys):
    with pytest.raises(Unpublishable, match="There is no file"):
        read_run(tmp_path / "none.ipynb")
    with pytest.raises(Unpublishable, match="is a folder"):
        read_run(tmp_path)
    good = stored(tmp_path / "good.ipynb", text("# Title"))
    (tmp_path / "taken").mkdir()
    for out in (tmp_path / "taken", good / "below.html", tmp_path / ("x" * 300)):
        with pytest.raises(Unpublishable, match="can't be written"):
            publish(good, "page", out)
    with pytest.raises(Unpublishable, match="is the notebook itself"):
        publish(good, "page", good)
    with pytest.raises(Unpublishable, match="slides, page"):
        publish(good, "pdf", tmp_path / "x.html")
    assert main([str(tmp_path / "taken"), "--to", "page", "-o", str(tmp_path / "out")]) == 1
    assert "no file ends in .ipynb" in capsys.readouterr().err


@pytest.mark.slow
def test_a_folder_is_published_whole_and_each_file_is_weighed(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    stored(tmp_path / "in" / "a.ipynb", text("# A"), code("1", new_output("stream", text="one")))
    stored(tmp_path / "in" / "b.ipynb", new_code_cell("1"))
    (tmp_path / "in" / "c.ipynb").write_text("[1]")
    given = [str(tmp_path / "in"), "--to", "slides", "-o", str(tmp_path / "out")]
    assert main(given) == 1, "c is no notebook"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.html", "b.html"]
    said = capsys.readouterr()
    assert re.search(r"a.html: \d+ kB", said.out)
    assert "b.ipynb was never run" in said.out
    assert "c.ipynb: " in said.err


def slides(*cells, title="My notebook"):
    made = prepared(new_notebook(cells=list(cells)), notes=True)
    return slides_of(made, CellRenderer(ROOT), title)


def test_notes_are_said_on_their_slide_and_skipped_cells_are_gone():
    cells = [text("n", "notes"), text("A"), text("b", "fragment"), text("m", "notes")]
    first, second = slides(*cells, text("s", "skip"), text("C"))
    assert [html.count("<p>") for html, *_ in first.parts] == [1, 1]
    assert [step for _, step, _ in first.parts] == [0, 1]
    assert first.steps == 2
    assert "<p>n</p>" in first.notes[1].replace("\n", "")
    assert "<p>m</p>" in first.notes[1].replace("\n", "")
    assert second.notes == ("<p>No notes on this slide.</p>",)
    assert not any("<p>s</p>" in html for slide in (first, second) for html, *_ in slide.parts)


def test_the_line_that_failed_is_marked_where_blank_lines_are_left_out():
    trace = ["Cell In[1], line 4\n----> 4 f()"]
    raised = new_output("error", ename="E", evalue="no", traceback=trace)
    ((html, *_),) = slides(text("# A"), code("def f(): ...\n\n\nf()", raised))[0].parts
    assert re.findall(r'<span class="(ln[^"]*)"', html) == ["ln", "ln blank", "ln failed"]


def test_a_graph_loses_its_legend_on_a_slide():
    picture = show(torch.ones(2, requires_grad=True) * 2)
    data, metadata = picture._repr_mimebundle_()
    output = new_output("display_data", data=data, metadata=metadata)
    shown = CellRenderer(Path()).output(output)
    assert ">backward function</text>" in picture.svg
    assert ">Mul<" in shown
    assert ">backward function</text>" not in shown


@pytest.mark.parametrize("home", ["/home/ann/.venv/lib/python3.11/", "C:\\Ann B\\Lib\\"])
def test_a_warning_does_not_tell_the_room_whose_machine_it_is(home):
    warned = "site-packages/torch/utils/checkpoint.py:238: UserWarning: see /home/x\n"
    for name, shown in (("stderr", warned), ("stdout", home + warned)):
        output = new_output("stream", name=name, text=home + warned)
        assert shown.strip() in CellRenderer(Path()).output(output)
        assert (home in CellRenderer(Path()).output(output)) is (name == "stdout")


@pytest.mark.parametrize("number", range(len(hostile.films())))
def test_a_film_with_anything_foreign_is_not_played(number):
    data = json.dumps(hostile.films()[number])
    widgets = {hostile.WIDGETS: {"state": {"m": hostile.model(data)}}}
    output = hostile.shown({hostile.VIEW: {"model_id": "m"}, "text/plain": "its text"})
    notebook = new_notebook(cells=[code("x", output)], metadata={"widgets": widgets})
    shown = prepared(notebook, notes=True).cells[0].outputs[0].data
    assert "text/html" not in shown
    assert shown["text/plain"].startswith("its text\n(A player that can't be shown")


OLD = (ROOT / "tests" / "old_films" / "lab_2.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("more", [{}, {"text/html": "<p>its still</p>"}], ids=["text", "still"])
def test_a_lab_of_an_earlier_version_is_told_and_its_picture_stays(tmp_path, more):
    output = new_output("display_data", data={FILM: OLD, "text/plain": "a lab"} | more)
    path = stored(tmp_path / "old.ipynb", text("# Title"), code("labs.leaves()", output))
    for kind in ("slides", "page"):
        page = publish(path, kind, tmp_path / f"{kind}.html")
        assert 'class="player-slot"' not in page
        assert "be shown: its notebook was saved" in page
        assert page.count("its still" if more else "a lab") >= 1


def test_nothing_is_told_beside_a_player_that_plays(tmp_path):
    data = {FILM: player.as_json(lab()), "text/plain": "a lab", "text/html": "<p>its still</p>"}
    table = new_output("display_data", data={"text/html": "<p>a table</p>", "text/plain": "t"})
    played = new_output("display_data", data=data)
    path = stored(tmp_path / "new.ipynb", code("labs.leaves()", played, table))
    page = publish(path, "page", tmp_path / "page.html")
    assert page.count('class="player-slot"') == 1
    assert "a table" in page
    assert "be shown: its notebook" not in page
    assert "its still" not in page


@pytest.mark.parametrize("html", hostile.PAGES)
def test_html_that_may_run_or_fetch_is_left_out_unless_trusted(html):
    output = hostile.shown({"text/html": html, "text/plain": "plain"})
    notebook = new_notebook(cells=[code("x", output)])
    shown = prepared(notebook, notes=True).cells[0].outputs[0].data
    assert "text/html" not in shown or "class" not in shown["text/html"]
    assert shown["text/plain"].startswith("plain")
    kept = prepared(notebook, notes=True, trust=True).cells[0].outputs[0].data
    assert kept["text/html"].endswith(html)


def test_html_that_is_inert_stays():
    table = '<table border="1" class="dataframe">{}</table>'
    given = "<style scoped>td:hover {color: red}</style>" + table.format("<tr><td>1</td></tr>")
    assert inert(given) == table.format("<tbody><tr><td>1</td></tr></tbody>")
    picture = '<img alt="what" src="data:image/png;base64,AAAA">'
    assert inert(picture) == picture
    assert clean(f'<a href="#x">x</a>{picture}') == f'<a href="#x">x</a>{picture}'
    assert "far" not in clean('<img src="//far.example/x.png"><img src="\\\\far.example\\x">')


def test_text_keeps_its_markdown_folds_and_code():
    kept = "**b** `<i>` <details><summary>s</summary>x &lt; y</details>\n\n```python\na < b  # $x$\n```\n\n    <b>\n"
    assert safe_markdown(kept) == kept
    kept = "costs $5 and $6, \\$x\\$, a < b <https://x.example>"
    assert safe_markdown(kept) == kept
    assert safe_markdown("$a_1 * b_1$").count("<math") == 1
    assert not set("*_") & set(safe_markdown("$a_1 * b_1$")), "Markdown must not read a formula"
    written = unescape(safe_markdown("$\\left( x$"))
    assert written == "<code>\\left( x</code>", "what cannot be read is shown as written"


@pytest.mark.notebooks
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem[:2])
def test_a_lesson_makes_a_small_deck_with_all_its_players_and_notes(tmp_path, lesson):
    html = publish(lesson, "slides", tmp_path / "deck.html")
    held = read_run(lesson)
    outputs = [(cell, one) for cell in held.cells for one in cell.get("outputs", [])]
    played = [cell for cell, one in outputs if FILM in one.get("data", {})]
    tried = [cell for cell in played if cell.metadata.course.role == "try"]  # not for a room
    pictures = sum(map(len, re.findall(r'src="data:image/[^"]+"', html)))
    assert len(html.encode()) < 700_000, "a deck is one file that one can send"
    assert len(html.encode()) - pictures < 600_000
    assert html.count('class="player-slot"') == len(played) - len(tried)
    told = re.findall(r'<aside class="say" data-step="\d+">(.*?)</aside>', html, re.DOTALL)
    steps_ = sum(map(int, re.findall(r'data-steps="(\d+)"', html)))
    assert len(told) == steps_
    assert all(words.strip() for words in told)
    assert "left out:" not in html
    page = publish(lesson, "page", tmp_path / "page.html")
    assert page.count('class="player-slot"') == len(played)
    assert "<aside" not in page


def test_a_notebook_for_browsing_has_no_slides(tmp_path):
    with pytest.raises(NoSlides, match="for browsing"):
        publish(ROOT / "notebooks" / "clinic.ipynb", "slides", tmp_path / "clinic.html")


def test_only_scripts_of_ours_may_run():
    policy = assets.policy("deck", trust=False)
    assert policy.count("'sha256-") == len(assets.scripts("deck")) == 3
    assert "unsafe-inline" not in policy.partition("script-src")[2]
    assert "http" not in policy


def test_a_picture_without_words_says_that_it_has_none(tmp_path):
    pixel = f"data:image/png;base64,{made_up_guesses.PIXEL}"
    for more, found in (("", NOT_TOLD), (' alt="x"', 'alt="x"')):
        html = f'<img src="{pixel}"{more}>'
        cell = code("f()", hostile.shown({"text/html": html, "text/plain": "t"}))
        made = page(new_notebook(cells=[cell]), tmp_path)
        assert made.count("<img") == made.count(found) == 1
