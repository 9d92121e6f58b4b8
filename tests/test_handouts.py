"""Sheets to hand out, without a browser: what is said where none is at hand."""

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from course import handouts
from course.publish import main
from course.publishing import chromium


def test_without_a_browser_the_way_by_hand_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    assert handouts.main(["notebooks", "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "none was found" in said
    assert "?handout=questions" in said
    assert not (tmp_path / "out").exists()


def test_a_notebook_that_is_not_there_is_said_in_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "true")
    assert handouts.main([str(tmp_path / "none.ipynb"), "-o", str(tmp_path / "out")]) == 1
    assert "There is no file" in capsys.readouterr().err


def test_a_browser_that_shows_no_slide_is_no_proof_that_all_fits(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "true")
    given = tmp_path / "mine.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Words alone")]), given)
    assert main([str(given), "--to", "slides", "-o", str(tmp_path / "mine.html")]) == 1
    assert "could not be seen" in capsys.readouterr().err
