"""A class moves from one release to the next: CHANGELOG.md names the release, and in work/ all that
docs/releases.md says of it happens. The lessons of the release before are old copies of real ones.
"""

import re
import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest

from course import workspace
from helpers import check, predict, progress

ROOT = Path(__file__).resolve().parents[1]
OLD = Path(__file__).parent / "old_copies"
EDITED, RUN = "05_backward_and_the_chain_rule.ipynb", "01_variable_to_tensor.ipynb"
EDITION = re.compile(r"_2026[_\d]*(?=\.)")
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+), \w+ \d{4}$", re.M)


def test_the_changelog_begins_with_the_version_of_both_packages_and_of_the_citation():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = RELEASE.findall(text)
    for path in ("pyproject.toml", "autograd_graphs/pyproject.toml"):
        project = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["project"]
        assert releases[0] == project["version"], path
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {releases[0]}\n" in citation
    assert len(set(releases)) == len(releases) == text.count("\n## ")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course as a release before this one had it, handed out; answers are kept in its work/."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    folder = tmp_path / "course"
    (folder / "notebooks").mkdir(parents=True)
    for path in sorted(OLD.glob("*.ipynb"), reverse=True):
        name = EDITION.sub("", path.name)  # the oldest comes last
        shutil.copy(path, folder / "notebooks" / name)
    shutil.copytree(ROOT / "figs", folder / "figs")
    workspace.sync(folder)
    monkeypatch.setenv("PROGRESS_FOLDER", str(folder / "work"))
    return folder


def change(path, source=None, count=None):
    """Type into the first code cell of a copy, or run it."""
    notebook = nbformat.read(path, 4)
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
    cell.source = source or cell.source
    cell.execution_count = count
    nbformat.write(notebook, path)


def renew(course, to):
    """Put this release in the place of the one before, at once or in a new folder; return the folder."""
    if to == "a new folder":
        newer = course.with_name("newer")
        newer.mkdir()
        shutil.move(course / "work", newer / "work")
        course = newer
    for part in ("notebooks", "figs"):
        shutil.rmtree(course / part, ignore_errors=True)
        shutil.copytree(ROOT / part, course / part)
    return course


@pytest.mark.notebooks
@pytest.mark.parametrize("to", ["the same folder", "a new folder"])
def test_nothing_that_a_student_did_is_lost_and_all_else_is_new(course, monkeypatch, capsys, to):
    work = course / "work"
    workspace.reset("9", course)  # keeps the copy of before
    change(work / EDITED, source="answer = 3")
    change(work / RUN, count=7)
    (work / "mine.ipynb").write_bytes((work / RUN).read_bytes())
    predict("05.q1", "a")
    check("05.1", 3.0)
    kept = ["progress.json", "mine.ipynb", "09_in_place_and_versions-kept.ipynb", EDITED]
    before = {name: (work / name).read_bytes() for name in kept}
    counted = repr(progress())
    assert re.search(r"(?m)^05 .*0 of 1", counted), counted

    course = renew(course, to)
    work = course / "work"
    monkeypatch.setenv("PROGRESS_FOLDER", str(work))
    lines = workspace.sync(course)
    assert {name: (work / name).read_bytes() for name in kept} == before
    assert repr(progress()) == counted
    told = {line.partition(":")[0]: line for line in lines}
    assert told[EDITED].endswith("you edited it, so it stays; the new version is next to it as "
                                 "05_backward_and_the_chain_rule-new.ipynb.")  # fmt: skip
    assert told[RUN].endswith("updated, since you hadn't edited it.")
    for master in workspace.lessons(course).values():
        name = master.name if master.name != EDITED else f"{master.stem}-new.ipynb"
        assert workspace.digest_of(work / name) == workspace.digest(workspace.student_copy(master))
    assert workspace.sync(course) == []
