"""What `make present` writes, starts and says, with no browser: the copy, the settings, the shim.
In tmp_path.
"""

import errno
import json
import os
import signal
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_path, jupyter_path

from course import lab_settings, present, workspace

NAME = "03_leaf.ipynb"
LESSON = [
    ("markdown", "slide", "# 03 · Leaf"),
    ("code", "skip", "import torch"),
    ("markdown", "skip", "an aside"),
    ("markdown", "slide", "## Who?"),
    ("code", "fragment", "1 + 1"),
    ("code", "subslide", "2 + 2"),
    ("code", "skip", "# your turn"),
    ("markdown", "notes", "wait a minute"),
    ("markdown", "slide", "## Recap"),
]


def cell(number, kind, slide, source):
    run = {
        "execution_count": 1,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "4\n"}],
    }
    metadata = {"slideshow": {"slide_type": slide}}
    made = {
        "cell_type": kind,
        "id": f"c{number}",
        "metadata": metadata,
        "source": source.splitlines(keepends=True),
    }
    return made | (run if kind == "code" else {})


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one lesson; trust is noted in a folder of this test."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    cells = [cell(number, *what) for number, what in enumerate(LESSON)]
    notebook = {
        "cells": cells,
        "metadata": {"widgets": {"saved": 1}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / NAME).write_text(json.dumps(notebook), encoding="utf-8")
    (tmp_path / "figs").mkdir()
    (tmp_path / "figs" / "card.svg").write_text("<svg/>", encoding="utf-8")
    return tmp_path


def shown(course):
    return json.loads((course / "work" / "present" / NAME).read_text(encoding="utf-8"))


def test_the_copy_has_the_notes_at_every_slide_of_their_idea_and_the_setup_in_sight(course):
    present.prepare(["3"], course)
    found = [
        (one["metadata"]["slideshow"]["slide_type"], one["source"])
        for one in shown(course)["cells"]
    ]
    note = ("notes", "wait a minute")
    assert found == [
        ("slide", "# 03 · Leaf"),
        ("subslide", "import torch"),
        ("-", "an aside"),
        ("slide", "## Who?"),
        ("fragment", "1 + 1"),
        note,
        ("subslide", "2 + 2"),
        ("skip", "# your turn"),
        note,
        ("slide", "## Recap"),
    ]
    assert len({one["id"] for one in shown(course)["cells"]}) == len(found)
    assert (course / "work" / "figs" / "card.svg").exists(), (
        "../figs/ of the lesson is found from the copy"
    )


def test_outputs_are_cleared_or_kept_as_one_says(course):
    present.prepare(["03"], course)
    assert not any(
        one.get("outputs") or one.get("execution_count") for one in shown(course)["cells"]
    )
    assert "widgets" not in shown(course)["metadata"]
    present.prepare(["03", "--with-outputs"], course)
    assert [
        len(one["outputs"]) for one in shown(course)["cells"] if one["cell_type"] == "code"
    ] == [1, 1, 1, 1]
    assert shown(course)["metadata"]["widgets"] == {"saved": 1}


def test_the_master_and_the_students_copy_are_left_alone_and_edits_are_kept(course):
    workspace.sync(course)
    before = {
        path: path.read_bytes() for path in [course / "notebooks" / NAME, course / "work" / NAME]
    }
    present.prepare(["03"], course)
    copy = course / "work" / "present" / NAME
    copy.write_text(copy.read_text(encoding="utf-8").replace("1 + 1", "1 + 2"), encoding="utf-8")
    present.prepare(["03"], course)
    kept = copy.with_name("03_leaf-kept.ipynb")
    assert "1 + 2" in kept.read_text(encoding="utf-8")
    assert "1 + 2" not in copy.read_text(encoding="utf-8")
    present.prepare(["03"], course)
    assert len(list(copy.parent.glob("*.ipynb"))) == 2, "what was not edited is not kept"
    assert before == {path: path.read_bytes() for path in before}


def test_the_shim_is_for_the_version_of_lab_that_is_installed(course):
    present.prepare(["03"], course)
    script = (
        course / "work" / "present" / ".jupyter" / "labextensions" / present.NAME / "remoteEntry.js"
    ).read_text()
    assert f'{{ "{version("jupyterlab")}": {{ get:' in script
    assert "LAB_VERSION" not in script


def test_only_the_server_that_is_started_is_told_of_the_shim_and_the_settings(course, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", "/theirs")
    started = present.prepare(["03", "--no-browser"], course)
    own = str(course / "work" / "present" / ".jupyter")
    assert started["args"][-2:] == [f"--LabApp.default_url=/rise/present/{NAME}", "--no-browser"]
    assert started["cwd"] == course / "work"
    assert started["env"]["JUPYTER_PATH"].split(":") == [own, "/theirs"]
    assert started["env"]["JUPYTER_CONFIG_PATH"] == own
    places = [*jupyter_path("labextensions"), *jupyter_config_path()]
    assert own not in str(places)
    assert not [place for place in places if (Path(place) / present.NAME).exists()], (
        "make lab does not have it"
    )


def test_rise_knows_every_setting(course):
    place = next(
        filter(
            Path.exists, (Path(one) / "jupyterlab-rise" for one in jupyter_path("labextensions"))
        )
    )
    known = json.loads((place / "schemas" / "jupyterlab-rise" / "plugin.json").read_text())[
        "properties"
    ]
    ours = present.SETTINGS["jupyterlab-rise:plugin"]
    assert set(ours) <= set(known)
    for name, value in ours.items():
        allowed = known[name].get("enum") or [
            one for kind in known[name].get("oneOf", []) for one in kind.get("enum", [])
        ]
        assert not allowed or value in allowed, name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Which lesson? There are 03."),
        ([""], "Which lesson? There are 03."),
        (["77"], "There is no lesson '77', but 03."),
        (["../x"], "There is no lesson '../x', but 03."),
        (["--with-outputs"], "Which lesson? There are 03."),
    ],
)
def test_a_wrong_number_gets_a_sentence(course, arguments, said):
    with pytest.raises(SystemExit) as stop:
        present.main(arguments, course)
    assert str(stop.value) == f"{said} For example: make present N=03"
    assert not (course / "work").exists()


@pytest.mark.parametrize("missing", present.NEEDED)
def test_what_is_not_installed_gets_a_sentence(course, monkeypatch, missing):
    def found(name):
        if name == missing:
            raise PackageNotFoundError(name)
        return "4.6.6"

    monkeypatch.setattr(present, "version", found)
    with pytest.raises(
        SystemExit, match=f"Live slides need {missing}, which is not installed here"
    ):
        present.main(["03"], course)


def test_a_place_that_cannot_be_written_gets_a_sentence(course):
    (course / "work").mkdir()
    (course / "work" / "present").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"present could not be written \(File exists\)"):
        present.main(["03"], course)


def test_a_full_disk_gets_a_sentence_that_names_the_folder(course, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(workspace, "write_notebook", full)
    with pytest.raises(
        SystemExit, match=r"^work/ could not be written \(No space left on device\)"
    ):
        present.main(["03"], course)


def test_the_settings_of_the_students_lab_are_kept(course):
    present.prepare(["03"], course)
    config = course / "work" / "present" / ".jupyter" / "labconfig"
    found = json.loads((config / "default_setting_overrides.json").read_text(encoding="utf-8"))
    assert found.keys() == {"jupyterlab-rise:plugin", *lab_settings.SETTINGS}
    assert found.items() >= lab_settings.SETTINGS.items()


def test_a_lesson_that_is_no_notebook_gets_a_sentence(course):
    (course / "notebooks" / NAME).write_text("{", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"03_leaf\.ipynb holds no readable notebook"):
        present.main(["03"], course)


STOPS_LATER = """
import os, signal, sys
os.kill(os.getppid(), signal.SIGINT)
os.read(int(sys.argv[1]), 1)  # waits until the handler is through
sys.exit(3)
"""


def test_control_c_is_for_the_server_which_is_not_killed_while_it_stops(course, monkeypatch):
    """The server ends after the handler of `present` has run: what killed it would come first."""
    told, tells = os.pipe()
    before, install = signal.getsignal(signal.SIGINT), signal.signal

    def noting(number, handler):
        def noted(*given):
            handler(*given)
            os.write(tells, b".")

        return install(number, handler if handler is before else noted)

    server = {"args": [sys.executable, "-c", STOPS_LATER, str(told)], "pass_fds": [told]}
    monkeypatch.setattr(present, "prepare", lambda *_: server)
    monkeypatch.setattr(signal, "signal", noting)
    with os.fdopen(told), os.fdopen(tells, "w"):
        assert present.main(["03"], course) == 3
    assert signal.getsignal(signal.SIGINT) is before
