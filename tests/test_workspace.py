"""Students' copies: what is handed out, what is never overwritten, what broken files do."""

import errno
import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from course import lab_settings, workspace

NAME = "03_leaf.ipynb"


def cell(source, slide="fragment", kind="code", **metadata):
    """Return one cell as a notebook file holds it; a code cell was run."""
    metadata["slideshow"] = {"slide_type": slide}
    made = {"cell_type": kind, "metadata": metadata, "source": source}
    made["id"] = "c" + "".join(filter(str.isalnum, source))[:8]
    if kind == "code":
        printed = {"output_type": "stream", "name": "stdout", "text": "12\n"}
        made |= {"execution_count": 1, "outputs": [printed]}
    return made


def save(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = {"cells": cells, "metadata": {"widgets": {}}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


def loaded(path):
    return json.loads(path.read_text(encoding="utf-8"))


def sources(path):
    return ["".join(cell["source"]) for cell in loaded(path)["cells"]]


def edit(path, source):
    """Change the first cell as a student would."""
    notebook = loaded(path)
    notebook["cells"][0]["source"] = source
    path.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of two lessons and one picture; trust is noted in a folder of this test."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    save(tmp_path / "notebooks" / "00_start.ipynb", cell("1"))
    shown = cell("![a card](../figs/card.svg)", kind="markdown")
    told = cell("wait a minute", slide="notes", kind="markdown")
    save(tmp_path / "notebooks" / NAME, cell("a = 3"), shown, told)
    (tmp_path / "figs").mkdir()
    (tmp_path / "figs" / "card.svg").write_text("<svg/>", encoding="utf-8")
    (tmp_path / "figs" / "make.py").write_text("", encoding="utf-8")
    return tmp_path


def copy_of(course):
    return course / "work" / NAME


def update_master(course, source="a = 4"):
    save(course / "notebooks" / NAME, cell(source))


def test_a_copy_has_no_outputs_no_notes_and_its_pictures(course):
    workspace.sync(course)
    notebook = loaded(copy_of(course))
    outputs = [(cell.get("outputs"), cell.get("execution_count")) for cell in notebook["cells"]]
    assert outputs == [([], None), (None, None)]
    assert sources(copy_of(course)) == ["a = 3", "![a card](figs/card.svg)"]
    assert "widgets" not in notebook["metadata"]
    assert [path.name for path in (course / "work" / "figs").iterdir()] == ["card.svg"]


def test_a_copy_keeps_of_a_round_its_roles_and_ids_and_nothing_that_answers(course):
    because = "<details><summary>Why?</summary>\n\n**It is b.**\n</details>"
    asked = {"role": "question", "id": "03.q1", "right": "b", "answer": 33, "minutes": 1}
    told = {"role": "run", "caption": "A card.", "expects": ["RuntimeError: no"], "tolerance": 0.1}
    question = cell("## A\n\n- (a) x", kind="markdown", course=asked)
    reason = cell(because, kind="markdown", course={"role": "because"})
    save(course / "notebooks" / NAME, question, cell("1 + 1", course=told), reason, cell("2 + 2"))
    workspace.sync(course)
    kept = [one["metadata"].get("course") for one in loaded(copy_of(course))["cells"]]
    assert kept[0] == {"role": "question", "id": "03.q1"}
    assert kept[1:] == [{"role": "run"}, {"role": "because"}, None]
    assert sources(copy_of(course))[2] == because, "the reason stays, and stays folded"


def test_a_copy_is_trusted(course):
    workspace.sync(course)
    notary = NotebookNotary()
    with closing(notary.store):
        assert notary.check_signature(nbformat.read(copy_of(course), as_version=4))
        edit(copy_of(course), "a = 5")
        assert not notary.check_signature(nbformat.read(copy_of(course), as_version=4))


def test_an_edited_copy_stays_and_the_new_version_comes_beside_it_once(course):
    workspace.sync(course)
    edit(copy_of(course), "mine")
    assert workspace.sync(course) == []
    update_master(course)
    (said,) = workspace.sync(course)
    assert said.startswith("03_leaf.ipynb: you edited it, so it stays;")
    assert said.endswith(" 03_leaf-new.ipynb.")
    assert sources(copy_of(course))[0] == "mine"
    assert sources(course / "work" / "03_leaf-new.ipynb") == ["a = 4"]
    assert workspace.sync(course) == []
    update_master(course, "a = 5")
    assert "03_leaf-new-2.ipynb" in workspace.sync(course)[0]
    assert sources(course / "work" / "03_leaf-new.ipynb") == ["a = 4"]


def test_an_unedited_copy_is_updated_in_place_even_after_a_run(course):
    workspace.sync(course)
    notebook = loaded(copy_of(course))
    notebook["cells"][0]["execution_count"] = 7
    copy_of(course).write_text(json.dumps(notebook), encoding="utf-8")
    update_master(course)
    assert workspace.sync(course) == ["03_leaf.ipynb: updated, since you hadn't edited it."]
    assert sources(copy_of(course)) == ["a = 4"]
    assert not list((course / "work").glob("*-new*"))


@pytest.mark.parametrize("junk", ["", "[]", '{"cells": 3}', '{"cells": [{}]}', "[" * 100_000])
def test_a_broken_copy_is_kept_and_named(course, junk):
    workspace.sync(course)
    copy_of(course).write_text(junk, encoding="utf-8")
    said = workspace.sync(course)
    assert said == ["03_leaf.ipynb: holds no readable notebook; for a fresh one: make reset N=03"]
    update_master(course)
    assert len(workspace.sync(course)) == 2
    assert copy_of(course).read_text(encoding="utf-8") == junk


@pytest.mark.parametrize("junk", ["{", "[]", '{"03_leaf.ipynb": {"copy": []}}'])
def test_a_broken_manifest_loses_no_work(course, junk):
    workspace.sync(course)
    edit(copy_of(course), "mine")
    (course / "work" / workspace.MANIFEST).write_text(junk, encoding="utf-8")
    workspace.sync(course)
    assert sources(copy_of(course))[0] == "mine"
    assert workspace.sync(course) == []


def test_reset_gives_a_fresh_copy_and_keeps_every_old_one(course):
    workspace.sync(course)
    for attempt, kept in [("first", "03_leaf-kept.ipynb"), ("second", "03_leaf-kept-2.ipynb")]:
        edit(copy_of(course), attempt)
        said = workspace.reset("3", course)
        assert said == [f"{NAME}: your copy is kept as {kept}.", f"{NAME}: copied into work/."]
        assert sources(course / "work" / kept)[0] == attempt
        assert sources(copy_of(course))[0] == "a = 3"
    assert sources(course / "work" / "03_leaf-kept.ipynb")[0] == "first"


@pytest.mark.parametrize("arguments", [["reset", "7"], ["reset", ""], ["reset", "../x"], []])
def test_a_wrong_word_or_number_gets_the_list_of_lessons(course, arguments):
    with pytest.raises(SystemExit, match="00, 03") as stopped:
        workspace.main(arguments, course)
    assert "make reset N=03" in str(stopped.value)


def test_a_full_disk_gets_a_sentence_that_names_the_folder(course, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(SystemExit) as stopped:
        workspace.main(["sync"], course)
    said = "work/ couldn't be written (No space left on device): check who owns it, or make room."
    assert str(stopped.value) == said


@pytest.fixture
def home(course):
    """A course that is only read, and the folder of a student that is not there yet."""
    (course / "course").mkdir()
    folder = course / "home of Zoë" / "work"
    yield folder
    for path in (course / "notebooks", course / "figs"):
        path.chmod(0o755)


def test_into_another_folder_the_course_is_only_read(course, home):
    for path in (course / "notebooks", course / "figs"):
        path.chmod(0o555)
    before = sorted(course.rglob("*"))
    said = workspace.sync(course, into=home)
    assert said == [f"{name}: copied into {home}/." for name in ("00_start.ipynb", NAME)]
    new = {path for path in course.rglob("*") if path not in before}
    assert {path.relative_to(course).parts[0] for path in new} == {"home of Zoë", "jupyter"}
    assert (home / "figs" / "card.svg").read_text(encoding="utf-8") == "<svg/>"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="root gives files away")
@pytest.mark.parametrize("given", ["home", "home/link", "home/work/deeper"])
def test_root_writes_nothing_into_a_folder_of_another_user(course, given):
    (course / "home" / "work").mkdir(parents=True)
    (course / "home" / "link").symlink_to(course / "figs")
    os.chown(course / "home", 61999, -1)
    before = sorted(course.rglob("*"))
    with pytest.raises(SystemExit, match="belongs to another user"):
        workspace.main(["sync", "--into", str(course / given)], course)
    assert sorted(course.rglob("*")) == before


@pytest.mark.slow
def test_run_by_its_path_it_copies_and_imports_neither_the_package_nor_torch(course):
    (course / "course").mkdir()
    script = shutil.copy(workspace.__file__, course / "course")
    command = [sys.executable, "-X", "importtime", "-P", script, "sync"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.stdout.splitlines()[0] == "00_start.ipynb: copied into work/."
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert "hashlib" in imported
    assert not imported & {"helpers", "course", "torch"}


@pytest.fixture
def overrides(tmp_path):
    path = tmp_path / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    path.parent.mkdir(parents=True)
    return path


def test_lab_settings_keep_what_is_there(tmp_path, overrides):
    plugin = "@jupyter-widgets/jupyterlab-manager:plugin"
    overrides.write_text(json.dumps({"theirs": {"a": 1}, plugin: {"more": 2}}), encoding="utf-8")
    lab_settings.main(tmp_path)
    found = loaded(overrides)
    assert found["theirs"] == {"a": 1}
    assert found[plugin] == {"more": 2, "saveState": True}
    before = overrides.stat().st_mtime_ns
    lab_settings.main(tmp_path)
    assert overrides.stat().st_mtime_ns == before


@pytest.mark.parametrize("junk", ["{", "[]", '{"@jupyterlab/apputils-extension:notification": 3}'])
def test_lab_settings_that_cannot_be_read_are_left_alone(tmp_path, overrides, capsys, junk):
    overrides.write_text(junk, encoding="utf-8")
    lab_settings.main(tmp_path)
    assert "keeps its own settings" in capsys.readouterr().out
    assert overrides.read_text(encoding="utf-8") == junk
