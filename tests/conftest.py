"""Fixtures that several test files share."""

import gc
import os
import re
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
    for module in ("asking", "checking", "expect"):
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


# Of what is tried in a browser, or at length, for every lesson, lab and size, `make test` takes
# these; `make thorough` takes the rest.
LESSONS, LABS = ("05", "08"), ("lifecycle", "leaves")
IN_A_BROWSER = ("05",)
SIZES = ("833x600",)
AT_LENGTH = ("test_labs", "test_worksheets", "test_publish", "test_old_copies", "test_player")
AT_LENGTH += ("test_last_place",)
# Long ones whose fault a shorter test finds, too: file, and how a name begins.
LONG = (
    ("test_lab_rounds", "test_the_quiz_is_asked_once_more"),
    ("test_glossary_box", "test_a_notebook_that_is_not_trusted"),
    ("test_backward_film", r".*\[(cells|with calls)\]"),
    ("test_palette", "test_words_in_pictures_have_a_contrast"),
    ("test_odd_notebooks", "test_a_film_with_a_foreign_value|test_a_field_of_a_wrong_type"),
    ("test_benchmarks", "test_a_name_that_is_imported_later"),
)
# More than a second each, or a whole file of such; `make quick` leaves them out.
SLOW = (
    ("test_again", ""),
    ("test_clinic_programs", ""),
    ("test_quantities", ""),
    ("test_questions", "test_what_is_stored"),
    ("test_slide_drawings", ""),
    ("test_letters", "test_every_wrong_answer"),
    ("test_review", "test_a_month"),
    ("test_labs", "test_every_state"),
    ("test_lab_answers", r"test_the_map_ends.*\[(09|11|14)\]"),
    ("test_exercises", r"test_a_solution_passes.*\[04\]"),
)
EVERY_LAB = "|".join(path.stem for path in (ROOT / "helpers" / "labs").glob("[a-z]*.py"))


def pytest_collection_finish():
    """Let no collection of garbage look again at what was imported: it is much, and it stays."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Leave to `make thorough` what is the same for another lesson, lab or size."""
    for item in items:
        if is_among(SLOW, item):
            item.add_marker(pytest.mark.slow)
        in_browser = item.path.parent.name == "browser"
        is_heavy = in_browser or item.path.stem in AT_LENGTH
        given = item.name.partition("[")[2]
        lessons = IN_A_BROWSER if in_browser else LESSONS
        if is_among(LONG, item) or (is_heavy and is_of_another(given, lessons)):
            item.add_marker(pytest.mark.thorough)


def is_among(tests, item):
    names = [begin for stem, begin in tests if stem == item.path.stem]
    return any(re.match(begin, item.name) for begin in names)


def is_of_another(given, lessons):
    """Tell whether the parameters of a test name a lesson, lab or size that is not taken."""
    lesson = re.match(r"(\d\d)(_|\])", given)
    lab = re.match(rf"({EVERY_LAB})\b", given)
    size = re.search(r"\b(\d{3,4}x\d{3,4})\b", given)
    found = [(lesson, lessons), (lab, LABS), (size, SIZES)]
    return any(named and named[1] not in taken for named, taken in found)
