"""Fixtures that several test files share."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

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
