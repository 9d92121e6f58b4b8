"""Sheets to hand out, without a browser: where it is looked for, and what is said where none is at hand."""

import nbformat
import pytest
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
    assert "couldn't see whether" in capsys.readouterr().err


@pytest.fixture
def add(tmp_path, monkeypatch):
    """A function that puts a program into a PATH with nothing else in it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)

    def put(name):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return put


def test_the_browser_is_the_first_in_path_or_the_one_that_is_named(add, monkeypatch):
    assert chromium.browser() is None
    for name in ("google-chrome", "chromium-browser", "chromium"):
        assert add(name) == chromium.browser()
    monkeypatch.setenv("CHROMIUM", add("mine"))
    assert chromium.browser().endswith("/mine")
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    assert chromium.browser() is None, "what is named is meant"


@pytest.mark.parametrize("program", chromium.WINDOWS)
def test_a_browser_of_windows_is_found_where_windows_keeps_it(add, monkeypatch, tmp_path, program):
    there = add(f"Programs (x86)\\{program}")  # on Linux one name, with backslashes
    assert chromium.browser() is None
    monkeypatch.setenv("PROGRAMFILES(X86)", str(tmp_path / "Programs (x86)"))
    assert chromium.browser() == there
