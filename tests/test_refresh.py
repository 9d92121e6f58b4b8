"""Refreshing an unchanged lesson changes nothing, and says nothing of machine or run."""

import made_up_lesson
import nbformat
import pytest
import refresh
from normal_form import WIDGETS, stored_text, without_machine


def write(folder, *sources):
    """Write a notebook of code cells that were never run."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    path = folder / "98_small.ipynb"
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
def test_outputs_are_made_anew_and_without_a_trace_of_machine_or_run(tmp_path):
    widgets = "import ipywidgets as w\nw.IntSlider(), w.Text()\nw.IntSlider(5)"
    raises = "import json\nimport nbformat\nnbformat.reads('[', 4)"
    warns = "import warnings\nwarnings.warn('careful')"
    path = write(tmp_path, warns, "object()", widgets, raises)
    made = nbformat.read(path, as_version=4)
    made.metadata["widgets"] = {WIDGETS: {"state": {"forgotten": {"state": {}}}}}
    made.cells[3].metadata["tags"] = ["raises-exception"]
    path.write_text(stored_text(made), encoding="utf-8")
    assert refresh.refresh(path) == 0
    first = path.read_text(encoding="utf-8")
    made = nbformat.reads(first, as_version=4)
    assert [cell.execution_count for cell in made.cells] == [1, 2, 3, 4]
    assert made.cells[0].outputs[0].text.startswith("ipykernel/cell.py:2: UserWarning: careful")
    assert made.cells[1].outputs[0].data["text/plain"] == "<object at 0x…>"
    assert "forgotten" not in first, "widgets that are shown no more are forgotten"
    lines = "\n".join(made.cells[3].outputs[0].traceback)
    assert "site-packages/nbformat/" in lines
    assert "python3/json/" in lines
    assert str(refresh.NOTEBOOKS.parent) not in lines
    assert refresh.refresh(path) == 0
    assert path.read_text(encoding="utf-8") == first


@pytest.mark.notebooks
def test_a_lesson_that_fails_is_not_written(tmp_path, capsys):
    path = write(tmp_path, "6 * 7", "1 / 0")
    before = path.read_bytes()
    assert refresh.main(["98"], tmp_path) == 1
    assert path.read_bytes() == before
    said = capsys.readouterr().err
    assert "98_small.ipynb: NOT refreshed" in said
    assert "ZeroDivisionError" in said


def test_a_lesson_that_there_is_not_gets_a_sentence():
    with pytest.raises(SystemExit, match="There is no lesson 77"):
        refresh.main(["77"])


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
