"""Lesson 00 takes the torch that requirements.txt takes, and says where outputs may differ."""

import re
from pathlib import Path

import nbformat
import pytest
import torch
from packaging.requirements import Requirement

from helpers import torch_version

ROOT = Path(__file__).resolve().parent.parent
LINE = re.search(r"^torch\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.M)
ASKED = Requirement(LINE[0]).specifier
RELEASES = ["1.13.1", "2.9.1", "2.12.1", "2.13.0", "2.14.1", "2.20.3", "3.0.0", "3.13.0", "10.0.0"]


def with_torch(version, monkeypatch):
    """Run the check as if torch were this version."""
    monkeypatch.setattr(torch, "__version__", version)
    torch_version.check_torch()


@pytest.mark.parametrize("build", ["", "+cpu", "+cu130"])
def test_of_the_compared_torch_nothing_is_said(build, monkeypatch, capfd):
    with_torch(torch_version.COMPARED + build, monkeypatch)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("version", RELEASES)
def test_the_check_takes_what_requirements_ask_for(version, monkeypatch, capfd):
    if ASKED.contains(version):
        with_torch(version, monkeypatch)
    else:
        with pytest.raises(
            RuntimeError, match=rf"This is torch {version}, but the lessons need 2\.13"
        ) as no:
            with_torch(version, monkeypatch)
        assert f'run %pip install "{LINE[0]}"' in str(no.value)
        assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "version", ["2.13.1+cpu", "2.14.1+cu130", "2.15.0", "2.16.0.dev20261101", "2.14.0a0+gitabc"]
)
def test_another_torch_is_named_in_one_sentence(version, monkeypatch, capfd):
    with_torch(version, monkeypatch)
    said = capfd.readouterr().out
    assert said.startswith(f"This is torch {version.partition('+')[0]}. ")
    assert "come from 2.13.0" in said
    assert said.count("\n") == 1


def test_lesson_00_checks_before_anything_is_asked():
    lesson = nbformat.read(ROOT / "notebooks" / "00_start_here.ipynb", as_version=4)
    first = next(cell for cell in lesson.cells if cell.metadata.course.role == "setup")
    assert first.source.endswith("\ncheck_torch()")
    assert first.outputs == []
