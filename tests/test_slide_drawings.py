"""Drawings of slides hold what was written and printed, and each deck closes on its case."""

import json
import re
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_rules.lesson import Lesson, decoded_pictures
from slide_programs import store_graphs

from course.publishing.cell_renderer import CellRenderer
from course.publishing.gaps import gaps
from course.publishing.lesson_slides import lesson_slides
from course.publishing.notebook_file import opened
from course.publishing.prepare import prepared
from course.publishing.slide_drawings import chart, lanes
from course.publishing.slides import AGAIN, Result, Round

NOTEBOOKS = sorted(Path("notebooks").resolve().glob("[01][0-9]_*.ipynb"))
DRAWN = re.compile(r'<svg class="graph|<img |class="player-slot')


def slides(path):
    return lesson_slides(prepared(opened(path), notes=True).cells, CellRenderer(path.parent))


def test_lanes_put_boxes_over_their_columns_and_make_no_html_of_words():
    drawn = lanes(["| a = 1 | a += 1", "a | 1 <b>0 | 2 !version 1"])
    left, right = [float(x) for x in re.findall(r'<rect [^>]*?x="([\d.]+)"', drawn)]
    assert left < right
    assert 'class="box alarm"' in drawn
    assert "&lt;b&gt;0" in drawn
    assert "<b>" not in drawn
    places = re.findall(
        r'<rect [^>]*?y="([\d.]+)"[^>]*height="([\d.]+)"', lanes(["| a", *["b | 1 x"] * 6])
    )
    ends = [float(y) + float(high) for y, high in places]
    assert all(end < float(y) for end, (y, _) in zip(ends, places[1:], strict=False))


def test_a_chart_has_a_curve_for_each_column_that_was_printed():
    drawn = chart("1.5 0.5\n1.0 0.6\n0.5 0.7\n(False, True)", ["loss", "wrong"])
    first, second = [points.split() for points in re.findall(r'points="([^"]+)"', drawn)]
    heights = [float(point.split(",")[1]) for point in first]
    assert heights == sorted(heights)
    assert len(second) == 3
    assert chart("nothing to draw", ["loss"]) == ""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_half_of_what_is_taught_has_a_picture_and_the_deck_comes_back_to_its_case(path):
    made = slides(path)
    taught = [slide for slide in made if slide.part not in ("", "quiz")]
    drawn = [DRAWN.search(str(vars(slide))) for slide in taught]
    assert 2 * sum(map(bool, drawn)) >= len(taught)
    assert any(slide.part == AGAIN for slide in made), "its case is mended on a slide"
    assert [slide.kind for slide in made if slide.title in ("Exercises", "Your turn")] == ["table"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_a_deck_answers_what_it_asks_and_shows_what_was_written_for_it(path):
    assert list(gaps(prepared(opened(path), notes=True).cells, slides(path))) == []


def test_what_a_room_would_miss_is_named():
    asked = Round("t", "a", ("", ""), ask="Why?", result=Result("6"))
    away = Round("t", "b", ("",), lead="Look at the plot above.")
    answered = Round("t", "c", ("", "", ""), ask="Why?", result=Result("6"), takeaway="Six.")
    unseen = new_code_cell("f()", metadata={"course": {"role": "run", "ask": "Where?"}})
    endless = new_markdown_cell("**1** · a. Do.", metadata={"course": {"role": "exercise"}})
    cells = prepared(new_notebook(cells=[unseen, endless]), notes=True).cells
    of_a, of_b, of_unseen, of_endless = gaps(cells, [asked, away, answered])
    assert "(cell a)" in of_a
    assert "plot above" in of_b
    assert f"cell {unseen.id}" in of_unseen
    assert f"cell {endless.id}" in of_endless


def test_a_slide_shows_the_lines_that_are_kept_and_where_others_were_left_out():
    drawn = CellRenderer(Path()).code("a = 1\n    b = 2\n    c = 3\n    d = 4", kept=[2, 4])
    assert re.findall(r'<span class="ln([^"]*)"', drawn) == [
        " gap",
        " rest",
        "",
        " gap",
        " rest",
        "",
    ]
    assert "--off:4" in drawn


def test_the_case_begins_with_the_points_and_ends_beside_what_went_wrong():
    path = next(path for path in NOTEBOOKS if path.stem.startswith("00"))
    first, *_, last = [slide for slide in slides(path) if getattr(slide, "chart", "")]
    (points, wrong) = (decoded_pictures(slide.chart) for slide in (first, last))
    assert 'class="wrong' not in next(points)
    assert 'class="wrong1"' in next(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_what_is_stored_for_slides_is_what_their_programs_do_today(path):
    notebook = nbformat.read(path, as_version=4)
    store_graphs(Lesson(path.name, path.read_text("utf-8")), notebook)
    assert notebook == nbformat.read(path, as_version=4)


def test_a_recap_comes_one_sentence_a_key():
    path = next(path for path in NOTEBOOKS if path.stem.startswith("02"))
    recap = slides(path)[-1]
    assert recap.steps == len(recap.rows) + 1 == 6


def test_the_versions_that_lesson_09_draws_are_those_that_torch_counts():
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True) * 2
    counted = [a._version]
    a += 1
    b = a**2
    counted += [a._version, b._version]
    b += 1
    a += 1
    counted += [a._version, b._version]
    assert counted == [0, 1, 0, 2, 1]
    path = next(path for path in NOTEBOOKS if path.stem.startswith("09"))
    cells = [cell["metadata"]["course"] for cell in json.loads(path.read_text("utf-8"))["cells"]]
    (said,) = [course for course in cells if course.get("id") == "09.f1"]
    assert said["slide"]["lanes"][1:] == [
        "a | 1 version 0 | 2-4 version 1 | 5-6 !version 2",
        "a, saved | 3-6 saved for b at version 1",
        "b | 3 version 0 | 4-6 version 1",
    ]


def test_the_losses_that_lesson_07_draws_are_those_that_its_loops_print():
    path = next(path for path in NOTEBOOKS if path.stem.startswith("07"))
    cells = {cell["id"]: cell for cell in nbformat.read(path, as_version=4).cells}
    drawn = cells["return-reason"].metadata.course.slide.lanes[1:]
    for row, loop in zip(drawn, ("case-run", "case-flag", "return-mended"), strict=True):
        printed = "".join(output.get("text", "") for output in cells[loop].outputs)
        assert re.findall(r"loss ([\d.]+)", row) == re.findall(r"^([\d.]+) ", printed, re.M)


def test_who_promises_a_gpus_output_stands_in_the_foot():
    path = next(path for path in NOTEBOOKS if path.stem.startswith("10"))
    results = [s.result for s in slides(path) if getattr(s, "result", None) and s.result.source]
    assert len(results) > 3
    for result in results:
        assert result.source.startswith("recorded on")
        assert result.source not in result.html
