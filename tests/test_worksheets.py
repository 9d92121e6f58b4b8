"""Sheets to work on: they tell nothing that is to be found out, and their tables say what torch does."""

import base64
import json
import math
import os
import re
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat.v4 import new_output

from autograd_graphs.playing.player import FILM
from course import handouts
from course.publishing import worksheets
from course.publishing.deck import slides_in
from course.publishing.notebook_file import read_run
from course.publishing.prepare import prepared
from course.publishing.walks import table, walk_of

ROOT = Path(__file__).resolve().parent.parent
LESSONS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}
DRAWN = re.compile(r"data:image/svg\+xml;base64,([^\"]+)")
TEXT = re.compile(r"<text\b[^>]*>(.*?)</text>", re.DOTALL)
CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
TAGS = re.compile(r"<[^>]*>")
WITH_GRAPHS = {f"{number:02}" for number in range(20)} - {"12", "14", "15", "16", "19"}
WITH_WALKS = {"00", "05", "13"}


@cache
def made(number):
    """Return the sheets of a lesson, made once."""
    return worksheets.made(*slides_in(read_run(LESSONS[number]), ROOT / "notebooks"))


@cache
def walks(number):
    """Return (code, turns) of each cell of a lesson whose walk goes into a table."""
    cells = prepared(read_run(LESSONS[number]), notes=False).cells
    found = [(cell.source, walk_of(cell.get("outputs", ()))) for cell in cells]
    return [(source, turns) for source, turns in found if turns]


@pytest.mark.slow
@pytest.mark.parametrize("number", LESSONS)
def test_a_sheet_of_graphs_has_the_drawings_and_tells_neither_words_nor_takeaways(number):
    html = made(number).get("graphs")
    assert (html is not None) == (number in WITH_GRAPHS)
    for drawn in DRAWN.findall(html or ""):
        svg = base64.b64decode(drawn).decode()
        assert set(TEXT.findall(svg)) <= {".grad"}
        assert "<title" not in svg
        assert "<desc" not in svg
        assert svg.count("<rect") >= 3, "the boxes stay"
        assert "<polygon" in svg, "the arrows stay"
    assert not re.search(r'alt="[^"]', html or ""), "read aloud, an alternative text tells it all"
    words = " ".join(TAGS.sub("", html or "").split())
    cells = read_run(LESSONS[number]).cells
    reasons = [cell.source for cell in cells if cell.metadata["course"]["role"] == "because"]
    for takeaway in re.findall(r"^\*\*(.+?)\*\*", "\n".join(reasons), re.MULTILINE):
        assert takeaway.replace("`", "") not in words


@pytest.mark.parametrize("number", LESSONS)
def test_a_table_to_fill_in_has_the_nodes_and_no_number(number):
    html = made(number).get("chain-rule")
    assert (html is not None) == (number in WITH_WALKS)
    cells = [TAGS.sub("", cell) for cell in CELL.findall(html or "")]
    told = [cell for cell in cells if cell and not re.fullmatch(r"to .+|\w+\.grad = |–", cell)]
    assert not told
    for _, turns in walks(number):
        assert all(f"{turn.node}</th>" in html for turn in turns)


def nodes_of(root):
    """Return every node behind a tensor, leaves included, held."""
    found, waiting = [], [root.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.append(node)
            waiting += [before for before, _ in node.next_functions]
    return found


def walked(source, before=""):
    """Run a cell; return (node, what arrived, what it handed on) in order, and gradients."""
    roots = []
    names = {"torch": torch, "step_through": roots.append}
    exec(before + source, names)
    seen = []

    def watch(node):
        name = type(node).__name__

        def note(made, got):
            handed = [one.item() for one in made if one is not None]
            seen.append((name, got[0].item(), handed))

        if name == "AccumulateGrad":
            return node.register_prehook(lambda got: note([], got))
        return node.register_hook(note)

    held = nodes_of(roots[0])
    for node in held:
        watch(node)
    roots[0].backward()
    tensors = {name: one for name, one in names.items() if torch.is_tensor(one)}
    return seen, {name: one.grad for name, one in tensors.items() if one.is_leaf}


def number(words):
    """Return the value of a cell: "2·0.9093", "3·5²", "cos(2)", "27 + 6 = 33"."""
    last = words.split(" = ")[-1].replace("·", "*").replace("²", "**2")
    return eval(last, {"cos": math.cos})


BEFORE = {
    "00": "a, b, c = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))\ne = (a * b + c) ** 2\n",
    "13": "from torch.autograd import grad\n",
}


@pytest.mark.parametrize("lesson", sorted(WITH_WALKS))
def test_the_tables_say_what_torch_does(lesson):
    for source, turns in walks(lesson):
        seen, gradients = walked(source, BEFORE.get(lesson, ""))
        assert len(seen) == len(turns)
        for turn, (name, arrived, handed) in zip(turns, seen, strict=True):
            assert turn.node.startswith(name)
            assert number(turn.arrives) == pytest.approx(arrived, rel=1e-3)
            assert [number(row.gradient) for row in turn.inputs] == pytest.approx(handed, rel=1e-3)
            for row in turn.inputs:
                assert arrived * number(row.factor) == pytest.approx(number(row.gradient), rel=1e-3)
            if turn.keeps:
                kept = gradients[turn.keeps.removesuffix(".grad")].item()
                assert number(turn.total) == pytest.approx(kept, rel=1e-3)


def test_names_from_a_program_are_text():
    _, (first, *_) = walks("05")[0]
    hostile = type(first)("<script>", "<b>1</b>", first.inputs)
    assert "<script>" not in table([hostile], filled=True)
    assert "<b>1" not in table([hostile], filled=True)


TOTAL = {"title": 0, "kind": 0, "rows": [[["total", "1", 0]]]}


@pytest.mark.parametrize(
    "film",
    [
        {},
        {"moments": [{}, TOTAL], "steps": 1, "lines": ["x"]},
        {"moments": [{}, TOTAL], "steps": 1, "lines": []},
    ],
)
def test_a_film_that_shows_no_such_walk_has_no_table(film):
    assert walk_of([new_output("display_data", metadata={FILM: json.dumps(film)})]) == ()


PRINTS = """#!{python}
import sys
from pathlib import Path
for given in sys.argv:
    if given.startswith("--print-to-pdf="):
        Path(given.partition("=")[2]).write_text("%PDF")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a program by its first line")
def test_what_a_lesson_has_no_sheet_of_is_said(tmp_path, monkeypatch, capsys):
    browser = tmp_path / "browser"
    browser.write_text(PRINTS.format(python=sys.executable))
    browser.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(browser))
    out = tmp_path / "out"
    out.mkdir()
    bare = tmp_path / LESSONS["03"].name
    notebook = read_run(LESSONS["03"])
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nbformat.write(notebook, bare)
    old = out / f"{bare.stem}-graphs.pdf"
    old.write_text("of a lesson that drew one")
    assert handouts.main([str(bare), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "no graphs sheet of 03_leaf_and_non_leaf.ipynb: none of its rounds draws a graph" in said
    assert "no chain-rule sheet" in said
    kinds = [path.stem.partition("-")[2] for path in out.iterdir()]
    assert sorted(kinds) == ["answers", "questions"]
    assert handouts.main([str(LESSONS["05"]), "-o", str(out)]) == 0
    assert " no " not in capsys.readouterr().out
    assert len(list(out.glob("05_*.pdf"))) == 4


def test_teaching_md_says_which_lessons_have_such_sheets():
    told = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
    *most, last = sorted(set(LESSONS) - WITH_GRAPHS)
    assert f"graphs to draw (none for {', '.join(most)} and {last})" in told
    assert f"tables of the chain rule to fill in ({', '.join(sorted(WITH_WALKS))})" in told
