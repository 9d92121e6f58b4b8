"""Sheets to hand out, without a browser: what is said where none is at hand."""

from course import handouts
from course.publishing import chromium


def test_without_a_browser_the_way_by_hand_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    assert handouts.main(["notebooks", "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "There is no Chromium in PATH" in said
    assert "?handout=questions" in said
    assert not (tmp_path / "out").exists()


def test_a_browser_that_prints_nothing_is_no_traceback(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "true")  # a program that does nothing and says yes
    lesson = next(handouts.Path("notebooks").glob("05_*.ipynb"))
    assert handouts.main([str(lesson), "-o", str(tmp_path / "out")]) == 1
    assert "printed nothing" in capsys.readouterr().err


def test_what_cannot_be_published_is_said_and_the_others_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", "true")
    assert handouts.main([str(tmp_path / "none.ipynb"), "-o", str(tmp_path / "out")]) == 1
    assert "There is no file" in capsys.readouterr().err
