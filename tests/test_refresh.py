"""Refreshing an unchanged lesson changes nothing, and what is stored says nothing of machine or
run. In tmp_path.
"""

import json

import made_up_lesson
import nbformat
import pytest
import refresh
from comparing import failing_cells
from normal_form import WIDGETS, stored_text, without_machine

from autograd_graphs.playing.player import FILM

STEPS = """import torch
from helpers import step_through
x = torch.tensor(3.0, requires_grad=True)
step_through(x * 5)"""


def write(folder, *sources, name="98_small.ipynb", tags=()):
    """Write a notebook of code cells that were never run."""
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)}) for source in sources]
    path = folder / name
    path.write_text(stored_text(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    return path


@pytest.mark.notebooks
def test_an_unchanged_lesson_is_left_alone(tmp_path, capsys):
    path = tmp_path / made_up_lesson.NAME
    path.write_text(made_up_lesson.lesson().text, encoding="utf-8")
    assert refresh.main(["99"], tmp_path) == 0
    refreshed = path.read_bytes()
    before = path.stat().st_mtime_ns
    assert refresh.main([], tmp_path) == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (refreshed, before)
    assert capsys.readouterr().out.endswith("99_made_up.ipynb: unchanged\n")


@pytest.mark.notebooks
def test_outputs_are_made_anew_and_without_a_trace_of_the_run(tmp_path):
    widgets = "import ipywidgets as w\nw.IntSlider(), w.Text()\nw.IntSlider(5)"
    path = write(
        tmp_path, "import warnings\nwarnings.warn('careful')", "object()", widgets, "6 * 7"
    )
    assert refresh.refresh(path) == 0
    first = path.read_text(encoding="utf-8")
    cells = nbformat.reads(first, as_version=4).cells
    assert [cell.execution_count for cell in cells] == [1, 2, 3, 4]
    assert cells[0].outputs[0].text.startswith("ipykernel/cell.py:2: UserWarning: careful")
    assert cells[1].outputs[0].data["text/plain"] == "<object at 0x…>"
    assert refresh.refresh(path) == 0
    assert path.read_text(encoding="utf-8") == first


@pytest.mark.thorough
@pytest.mark.notebooks
def test_a_film_that_no_run_gave_is_found_by_comparing(tmp_path):
    path = write(tmp_path, STEPS)
    assert refresh.refresh(path) == 0
    assert failing_cells(tmp_path) == {path.stem: set()}
    made = nbformat.read(path, as_version=4)
    data = made.cells[0].outputs[0].data
    tampered = data[FILM].replace("other = 5", "other = 6")
    assert tampered != data[FILM]
    data[FILM] = tampered
    path.write_text(stored_text(made), encoding="utf-8")
    assert failing_cells(tmp_path) == {path.stem: {0}}


@pytest.mark.notebooks
def test_widgets_that_are_shown_no_more_are_forgotten(tmp_path):
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("6 * 7")])
    made.metadata["widgets"] = {WIDGETS: {"state": {"1f": {"state": {}}}}}
    assert "widgets" not in refresh.executed(made, tmp_path).metadata


@pytest.mark.notebooks
def test_a_lesson_that_fails_is_not_written(tmp_path, capsys):
    path = write(tmp_path, "6 * 7", "1 / 0")
    before = path.read_bytes()
    assert refresh.main(["98"], tmp_path) == 1
    assert path.read_bytes() == before
    said = capsys.readouterr().err
    assert "98_small.ipynb: NOT refreshed" in said
    assert "ZeroDivisionError" in said


@pytest.mark.notebooks
def test_a_traceback_keeps_no_directory(tmp_path):
    path = write(
        tmp_path, "import json\nimport nbformat\nnbformat.reads('[', 4)", tags=["raises-exception"]
    )
    assert refresh.refresh(path) == 0
    lines = "\n".join(nbformat.read(path, as_version=4).cells[0].outputs[0].traceback)
    assert "site-packages/nbformat/" in lines
    assert "python3/json/" in lines
    assert str(refresh.NOTEBOOKS.parent) not in lines


def test_normal_form_is_reached_at_once():
    text = made_up_lesson.lesson().text
    assert stored_text(nbformat.reads(text, as_version=4)) == text
    assert text.endswith("}\n")
    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (
            "File /home/a/.venv/lib/python3.11/site-packages/torch/x.py:3",
            "File site-packages/torch/x.py:3",
        ),
        ("\x1b[32m~/a/lib/python3.11/site-packages/torch/x.py", "\x1b[32msite-packages/torch/x.py"),
        ("File /usr/lib/python3.12/json/decoder.py:3", "File python3/json/decoder.py:3"),
        ("File C:\\a\\Lib\\site-packages\\torch\\x.py:3", "File site-packages/torch\\x.py:3"),
        ("/tmp/ipykernel_12/345.py:3: UserWarning: x", "ipykernel/cell.py:3: UserWarning: x"),
        ("<AddBackward0 object at 0x7f81d2c0aa10>", "<AddBackward0 object at 0x…>"),
        ("(Triggered internally at /a/b/T.h:493.)", "(Triggered internally at …)"),
    ],
)
def test_a_line_loses_what_is_of_this_machine(line, kept):
    assert without_machine(line) == kept
    assert without_machine(kept) == kept
