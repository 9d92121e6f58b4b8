"""Where the browser is looked for, and what happens where there is none.

Runs with a PATH of its own; no browser.
"""

from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

SCRIPT = Path(__file__).parent / "browser" / "chromium.py"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A PATH with nothing in it; returns a function that puts a program there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.syspath_prepend(str(SCRIPT.parent))

    def add(name, does="exit 0"):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return add


def test_the_browser_is_the_first_in_path_or_the_one_that_is_named(programs, monkeypatch):
    from chromium import chromium

    assert chromium() is None
    for name in ("google-chrome", "chromium-browser", "chromium"):
        assert programs(name) == chromium()
    monkeypatch.setenv("CHROMIUM", programs("mine"))
    assert chromium().endswith("/mine")
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    assert chromium() is None, "what is named is meant"


@pytest.mark.parametrize(
    "program", [r"Google\Chrome\Application\chrome.exe", r"Microsoft\Edge\Application\msedge.exe"]
)
def test_a_browser_of_windows_is_found_where_windows_keeps_it(
    programs, monkeypatch, tmp_path, program
):
    from chromium import chromium

    there = programs(f"Programs (x86)\\{program}")  # on Linux one name, with backslashes
    assert chromium() is None
    monkeypatch.setenv("PROGRAMFILES", str(tmp_path / "none"))
    monkeypatch.setenv("PROGRAMFILES(X86)", str(tmp_path / "Programs (x86)"))
    assert chromium() == there
