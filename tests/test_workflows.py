"""The workflows for GitHub, which are never run here: their form, and their holes; and what GitHub cites."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*"))
PROGRAMS = Path(sys.executable).parent
FORM = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
HOLES = [
    str(PROGRAMS / "zizmor"),
    "--offline",
    "--no-progress",
    "--no-config",
    "--persona=auditor",
]
CITED = [*FORM[:-1], "vendor.citation-file-format"]


def complaint(linter, *paths):
    """Return what a linter says of some workflows; "" if it has nothing to say."""
    ran = subprocess.run([*linter, *paths], capture_output=True, text=True, timeout=120)
    return (ran.stdout + ran.stderr) if ran.returncode else ""


@pytest.mark.slow
@pytest.mark.parametrize("linter", [FORM, HOLES], ids=["form", "holes"])
def test_linters_have_nothing_to_say(linter):
    assert complaint(linter, *WORKFLOWS) == ""


@pytest.mark.slow
def test_the_citation_has_its_form():
    assert complaint(CITED, ROOT / "CITATION.cff") == ""
