"""The progress file is written whole or not at all, by several notebooks, and what is not ours stays
as it is.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import progress_file
from helpers.progress_file import FILE, SECTIONS, NotKept, change, kept

EMPTY = {section: {} for section in SECTIONS}
FOREIGN = {
    "empty": b"",
    "half": b"{",
    "deep": b"[" * 100_000,
    "another": b'{"name": "mine"}',
    "later": b'{"version": 2}',
    "long": b'{"version": 1, "x": "' + b"a" * 3_000_000 + b'"}',
    "bytes": b"\xff\xfe\x00",
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.delenv("PROGRESS_FOLDER")
    monkeypatch.chdir(tmp_path)


def test_what_was_kept_is_read_again_and_the_others_stay():
    change("exercises", "05.1", lambda record: record | {"tries": 1})
    change("exercises", "05.1", lambda record: record | {"hints": 2})
    assert change("predictions", "05.q1", lambda record: {"first": "a"}) == {"first": "a"}
    before = EMPTY | {"exercises": {"05.1": {"tries": 1, "hints": 2}}}
    assert kept() == before | {"predictions": {"05.q1": {"first": "a"}}}
    assert [name for name in os.listdir() if not name.endswith(".lock")] == [FILE]


@pytest.mark.parametrize("held", FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_holds_something_else_stays_as_it_is(held):
    Path(FILE).write_bytes(held)
    with pytest.raises(NotKept, match="holds something I can't read"):
        change("exercises", "05.1", lambda record: {"tries": 1})
    assert Path(FILE).read_bytes() == held
    assert kept() == EMPTY


@pytest.mark.parametrize("section", [None, 3, [], {"05.1": 4}, {"05.1": None}])
def test_what_is_no_record_counts_as_nothing(section):
    Path(FILE).write_text(json.dumps({"version": 1, "exercises": section}))
    assert kept() == EMPTY


def test_a_folder_in_its_place_is_said():
    Path(FILE).mkdir()
    with pytest.raises(NotKept, match="couldn't be written"):
        change("exercises", "05.1", lambda record: {})
    assert kept() == EMPTY


def test_a_folder_that_takes_no_file_is_said(monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(NotKept, match=r"couldn't be written \(Permission denied\)"):
        change("exercises", "05.1", lambda record: {})


def test_where_nothing_can_be_locked_it_is_written_all_the_same(monkeypatch):
    def refuse(*args, **kwargs):
        raise NotImplementedError("no locks here")

    monkeypatch.setattr(progress_file.FileLock, "acquire", refuse)
    change("exercises", "05.1", lambda record: {"tries": 1})
    assert kept()["exercises"] == {"05.1": {"tries": 1}}


def test_an_interrupt_leaves_the_file_as_it_was(monkeypatch):
    change("exercises", "05.1", lambda record: {"tries": 1})
    before = Path(FILE).read_bytes()

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        change("exercises", "05.1", lambda record: {"tries": 2})
    assert Path(FILE).read_bytes() == before


MANY = """
import sys
from pathlib import Path
from helpers.progress_file import change
Path(sys.argv[1]).touch()
while not (Path("a").exists() and Path("b").exists()):  # else one may end before the other begins
    pass
for number in range(25):
    change("exercises", sys.argv[1] + str(number), lambda record: {"tries": 1})
    change("predictions", "both", lambda record: {"count": record.get("count", 0) + 1})
"""


@pytest.mark.slow
def test_two_notebooks_may_write_at_once():
    command = [sys.executable, "-c", MANY]
    both = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    assert len(kept()["exercises"]) == 50
    assert kept()["predictions"]["both"] == {"count": 50}
