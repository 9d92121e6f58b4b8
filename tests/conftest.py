"""Fixtures that several test files share."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

from helpers import labs

ROOT = Path(__file__).resolve().parents[1]

os.environ["FOLDING_FAULTS"] = (
    "raise"  # see autograd_graphs/large/fold.py: a test has to hear of what readers are spared
)


# A run in the background ignores Ctrl+C, and so would every kernel and server that it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_progress = tempfile.TemporaryDirectory()  # no test writes beside the course
os.environ["PROGRESS_FOLDER"] = _progress.name


@pytest.fixture
def unfolded(monkeypatch):
    """Let `check`, `hint` and `expect_error` print a sentence on one line, for tests that compare
    sentences.
    """
    for module in ("asking", "checking", "expect", "helping"):
        monkeypatch.setattr(f"helpers.exercises.{module}.fold", lambda text: text)


@pytest.fixture(scope="session")
def built_pages(tmp_path_factory):
    """Build the site once for all workers; return its folder."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    course = Path(os.environ.get("COURSE", ROOT))
    command = [sys.executable, "-m", "course.publishing.site", "notebooks", "-o", f"{folder}/pages"]
    with FileLock(folder / "pages.lock"):
        if not (folder / "pages.done").exists():
            subprocess.run(command, cwd=course, check=True, timeout=300)
            (folder / "pages.done").touch()
    return folder / "pages"


# Of what is tried for every lesson, lab and size, `make test` takes these; `make thorough` the rest.
LESSONS, LABS = ("05", "08"), ("lifecycle", "leaves")
SIZES = ("833x600", "1440x900")
OF_ALL = {"test_many_answers", "test_lab_answers", "test_exercises", "test_notebooks"}  # light


def is_sampled_out(item):
    """Tell whether a test is for another lesson, lab or size than those of `make test`."""
    if item.path.stem in OF_ALL or "[" not in item.name:
        return False
    if item.path.parent.name != "browser" and item.path.stem not in WHOLE_LESSONS:
        return False
    given = item.name.partition("[")[2].rstrip("]")
    lesson = re.match(r"(\d\d)(?:_|\b)", given)
    if lesson and f"{lesson[1]}" not in LESSONS and not re.match(r"\d+[.x]", given):
        return True
    lab = re.match(rf"({'|'.join(labs.__all__)})\b", given)
    size = re.search(r"\b\d{3,4}x\d{3,4}\b", given)
    return bool((lab and lab[1] not in LABS) or (size and size[0] not in SIZES))


WHOLE_LESSONS = {"test_labs", "test_worksheets", "test_publish", "test_old_copies"}


def pytest_collection_modifyitems(items):
    """Leave to `make thorough` what is the same once more."""
    for item in items:
        if is_sampled_out(item):
            item.add_marker(pytest.mark.thorough)
