"""Hostile submissions are run, really, in the sandbox that grades: what they reach, and what is left of them.

Linux with bubblewrap; elsewhere these are skipped, and nothing is graded either.
"""

import os
import re
import shutil
import socket
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from classroom import assignment, grade
from classroom.grading import sandbox
from classroom.grading.handed_in import submissions
from classroom.grading.judging import STUB, mark
from classroom.grading.notebook import kind_and_id
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import find

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap (bwrap) is not installed"),
    pytest.mark.thorough,
]
PATIENT = sandbox.Limits(cell_seconds=100, all_seconds=200)  # for what ends by itself
RIGHT = {
    "03.1": "answer = 'w q r s z'",
    "03.2": "answer = [10, None, 5, 10]",
    "03.4": "def answer(loss, inner):\n    return torch.autograd.grad(loss, inner)[0]",
    "03.6": "answer = 4",
    "03.8": "def answer(start):\n    return (start * 0.02).unsqueeze(0).requires_grad_()",
}


@pytest.fixture(scope="module")
def box():
    with sandbox.furnished(["03"]) as folder:
        yield folder


def collected(box, *sources, limits=PATIENT):
    """Run cells and take `answer` after each; return what was found, and how it ended."""
    steps = [step for source in sources for step in ({"code": source}, {"collect": "look"})]
    heard, ended = sandbox.run(steps, box, limits)
    return [one.get("found", {}).get("value") for one in heard if one["step"] % 2], ended


LOOK_AROUND = """
import gc, os, re, socket, sys
found = []
for place, _, names in os.walk("/"):
    if place.startswith(("/proc", "/usr", sys.prefix, sys.base_prefix)):
        continue
    found += [os.path.join(place, name) for name in names]
secret = re.compile(r"lesson_\\d\\d|gradebook|\\.ipynb|questions\\.json|nbgrader|verdict_of|answers/")
known = [name for name in found if secret.search(name)]
known += [type(one).__name__ for one in gc.get_objects() if type(one).__name__ in ("Exercise", "Misconception")]
known += [name for name in sys.modules if "lesson_" in name]
known += [name for name in os.environ if re.search("TOKEN|KEY|SECRET|SSH|JUPYTERHUB", name)]
for file in (FILES):
    try:
        known.append(open(file).read(1) and file)
    except OSError:
        pass
processes = [name for name in os.listdir("/proc") if name.isdigit()]
if len(processes) > 6:
    known += processes
for port in (PORT, 1):
    for host in ("127.0.0.1", "localhost", "192.0.2.1"):
        try:
            socket.create_connection((host, port), 1)
            known.append(f"{host}:{port}")
        except OSError:
            pass
answer = known
"""
DO_HARM = """
import os, signal, subprocess
done = []
def attempt(name, act):
    try:
        act()
        done.append(name)
    except (OSError, subprocess.SubprocessError):
        pass
attempt("root", lambda: os.setuid(0))
for folder in ("/course", "/course/helpers", "/usr", "/", "/dev", os.path.dirname(os.__file__)):
    attempt(folder, lambda: open(f"{folder}/written", "w"))
for pid in range(2, 400):
    if not os.path.exists(f"/proc/{pid}"):
        attempt(f"kill {pid}", lambda: os.kill(pid, signal.SIGKILL))
attempt("mount", lambda: subprocess.run(["mount", "-t", "tmpfs", "x", "/tmp"], check=True, capture_output=True))
attempt("unshare", lambda: subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=True, capture_output=True))
status = open("/proc/self/status").read()
if "CapEff:\\t0000000000000000" not in status or os.getuid() == 0:
    done.append(status)
answer = done
"""
TAKE_ALL = """
import os
def children():
    made = 0
    try:
        while made < 5000:
            if not os.fork():
                import time
                time.sleep(1000)
            made += 1
    except OSError:
        pass
    return made
def memory():
    kept = []
    try:
        while len(kept) < 100:
            kept.append(bytearray(2**28))
    except MemoryError:
        pass
    return len(kept) / 4
def disk(folder):
    written = 0
    try:
        for number in range(9):
            with open(f"{folder}/{number}", "wb") as opened:
                written += opened.write(bytes(2**20 * 40))
    except OSError:
        pass
    return written / 2**20
answer = [memory(), disk("/tmp"), disk("/dev/shm"), children()]
"""


@pytest.fixture(scope="module", params=["as we are", "ordinary"])
def attempts(request, box, tmp_path_factory):
    """What a hostile notebook found, what harm it did, and whether root graded."""
    book = tmp_path_factory.mktemp("book") / "gradebook.db"
    book.write_text("points")
    files = [str(book), __file__, "/etc/shadow", "/etc/passwd", str(Path.home() / ".bashrc")]
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.MonkeyPatch.context() as patch:
        if request.param == "ordinary":
            patch.setattr(sandbox.os, "getuid", lambda: 1000)
        port = str(listening.getsockname()[1])
        look = LOOK_AROUND.replace("FILES", repr(files)).replace("PORT", port)
        found, _ = collected(box, look, DO_HARM)
        return [*(values[1:] for values in found), os.getuid() == 0]


def test_a_notebook_finds_no_truth_no_book_no_network_and_no_other_process(attempts):
    assert attempts[0] == []


def test_a_notebook_has_no_rights(attempts):
    """Run by root, the sandbox cannot forbid namespaces of a user's own; these give rights over nothing else."""
    assert attempts[1] == (["unshare"] if attempts[2] else [])


def test_memory_disk_and_processes_are_bounded(box):
    (taken,), _ = collected(box, TAKE_ALL)
    gibibytes, in_tmp, in_shm, children = taken[1:]
    assert 0 < gibibytes <= 3
    assert 0 < in_tmp <= 100
    assert 0 < in_shm <= 100
    assert 0 < children < 64


SHARED = """
import mmap
answer = 1
kept = [mmap.mmap(-1, 2**28) for _ in range(8)]
for one in kept:
    one.write(bytes(2**28))
"""
IN_MANY = """
import os, time
answer = 1
for _ in range(8):
    if not os.fork():
        kept = bytearray(os.urandom(2**20) * 2**8)
        time.sleep(1000)
time.sleep(1000)
"""


@pytest.mark.parametrize("source", [SHARED, IN_MANY], ids=["shared", "in many processes"])
def test_memory_is_bounded_for_all_processes_together(box, source):
    limits = sandbox.Limits(cell_seconds=60, all_seconds=60, together=1024)
    found, ended = collected(box, "answer = 1", source, "answer = 3", limits=limits)
    assert (found, ended) == ([1], "full")


def test_where_a_solution_lies_inside_nothing_is_graded(box):
    inside = box / "helpers" / "exercises" / "lessons"
    inside.mkdir(exist_ok=True)
    planted = inside / "lesson_03.py"
    shutil.copy(sandbox.reader_source.LESSONS / "lesson_03.py", planted)
    try:
        assert "lesson_03.py could be reached" in sandbox.trouble(box)
    finally:
        planted.unlink()


ENDINGS = {
    "a segmentation fault": "import ctypes; ctypes.string_at(0)",
    "a loop that takes no interrupt": "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
}


@pytest.mark.parametrize("source", ENDINGS.values(), ids=ENDINGS)
def test_what_was_answered_before_the_end_stays(box, source):
    limits = sandbox.Limits(cell_seconds=5, all_seconds=25)
    found, ended = collected(box, "answer = 1", source, "answer = 3", limits=limits)
    assert found[0] == 1
    assert set(found[1:]) <= {None}
    assert ended in ("died", "late")


def test_a_notebook_that_says_too_much_is_cut_off(box):
    limits = sandbox.Limits(cell_seconds=100, said=1)
    found = collected(box, "answer = ['x' * 1000] * 3000", "answer = 1", limits=limits)
    assert found == ([], "loud")


RECURSIVE = """
def answer(start, kept=None):
    if kept is None:
        return answer(start, kept=[])
    if len(kept) < len(start):
        return answer(start, [*kept, start[len(kept)].item() * 0.02])
    return torch.tensor([kept], requires_grad=True)
"""
INTERRUPTED = "def answer(start):\n    raise KeyboardInterrupt"  # as one that never ends is


def test_a_function_may_call_itself_and_is_forgotten_afterwards(box):
    asked = [{"collect": "03.8"}, {"collect": "03.4"}]
    steps = [{"code": RECURSIVE}, *asked, {"code": INTERRUPTED}, *asked]
    heard, _ = sandbox.run(steps, box, PATIENT)
    found = [one.get("found") for one in heard]
    assert mark(find("03.8"), found[1]).right
    assert found[2] == found[5] == {"kind": "missing"}


def test_a_stage_of_the_engine_is_taken_in_a_sandbox_of_its_own_whatever_another_does():
    parts = pytest.importorskip("classroom.grading.nbgrader_parts")
    cells = []
    for id, source in {"04.9": "import os\nmul = add = os._exit(1)", "05.7": yours("05")}.items():
        cells.append(assignment.described(new_code_cell(source), "answer", id))
    asked = {0: "04.9", 1: "05.7"}
    first, second = parts._of_stages(new_notebook(cells=cells), asked, PATIENT)
    assert not mark(find("04.9"), first.get("found")).right
    assert mark(find("05.7"), second["found"]).right


# The whole path, as a teacher goes it: release, submissions, table


def handed_in(folder, student, sources, change=lambda notebook: None):
    """Hand in a student's notebook: the release with these answers."""
    notebook = nbformat.read(folder / "release" / "lessons_03" / "lessons_03.ipynb", as_version=4)
    for cell in notebook.cells:
        kind, id = kind_and_id(cell)
        if kind == "answer" and id in sources:
            cell.source = sources[id]
    change(notebook)
    nbformat.write(notebook, folder / "handed_in" / "lessons_03" / f"{student}.ipynb")


FORGED = """
import json, os
for step in range(40):
    for found in ({"kind": "right"}, {"kind": "value", "value": True}, {"points": 100}):
        line = json.dumps({"step": step, "found": found, "points": 100, "right": True})
        os.write(1, (line + "\\n").encode())  # the kernel has it from who reads its answers
"""
MALICIOUS = RIGHT | {
    "03.1": FORGED + "answer = 'w'",
    "03.2": "import builtins, collecting, encoding, readers\nencoding.decoded = collecting.taken = lambda *_: {'kind': 'right'}\n"
    "builtins.print = None\nanswer = 'all points'",
    "03.4": "class Right:\n    __eq__ = lambda *_: True\n    __hash__ = None\nreaders.READERS.clear()\nanswer = Right()",
    "03.6": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "03.8": FORGED + "def answer(start):\n    return start",
}


CLASSES = {
    "03.1": RIGHT["03.1"],
    "03.2": "from collections import namedtuple\nanswer = namedtuple('Gradients', 'a b c s')(a=10.0, b=None, c=5.0, s=10.0)",
    "03.4": "class Catch:\n    def __call__(self, loss, inner):\n        kept = []\n        inner.register_hook(kept.append)\n"
    "        loss.backward()\n        return kept[0]\nanswer = Catch()",
    "03.6": "class Line(int):\n    pass\nanswer = Line(4)",
    "03.8": "class Prompt(torch.nn.Module):\n    def __init__(self, start):\n        super().__init__()\n"
    "        self.w = torch.nn.Parameter(torch.einsum('i,j->ij', torch.ones(1), start * 0.02))\n"
    "def answer(start):\n    return Prompt(start).w",
}
WRONG = {
    "03.1": "answer = 'w'",
    "03.2": "answer = [10, 10, 5, 10]",
    "03.4": "def answer(loss, inner): return 5",
}
MARKUP = "raise RuntimeError('<script>document.title = 1</script>')"


def _tampered(notebook):
    for cell in notebook.cells:
        if kind_and_id(cell)[0] == "points":
            cell.metadata.nbgrader["points"] = 1000
            cell.source = "1000"
            cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "1000"})]
    forged = {"nbgrader": {"grade": True, "grade_id": "points-03-9", "points": 9}}
    notebook.cells.append(new_code_cell("1000", metadata=forged))


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """What students handed in, graded: the folder of the course, and {student: row}."""
    pytest.importorskip("nbgrader")
    root = tmp_path_factory.mktemp("class")
    folder = root / "assignments"
    assignment.make("lessons_03", ["03"], folder)
    config = folder / "nbgrader_config.py"
    text = config.read_text("utf-8").replace("cell_seconds = 20", "cell_seconds = 8")
    config.write_text(text, "utf-8")
    handed_in(folder, "ada", CLASSES)
    handed_in(folder, "wrong", WRONG)
    handed_in(folder, "empty", {})
    crash = {"03.1": MARKUP, "03.2": "1 / 0", "03.4": "import os; os._exit(1)"}
    handed_in(folder, "crashing", RIGHT | crash)
    handed_in(folder, "endless", RIGHT | {"03.4": "def answer(loss, inner):\n    while True: pass"})
    handed_in(folder, "malicious", MALICIOUS, _tampered)
    handed = folder / "handed_in" / "lessons_03"
    (handed / "broken.ipynb").write_text("no notebook", "utf-8")
    files, _ = submissions(handed)
    rows = grade.grade("lessons_03", files, folder)
    return folder, {row["student"]: row for row in rows}


ANSWERED = ("03.8", "03.1", "03.2", "03.4", "03.6")  # the students leave the others as they are


def points(row):
    assert all(got == 0 for id, (got, _) in row["points"].items() if id not in ANSWERED)
    return [row["points"][id][0] for id in ANSWERED]


def test_each_submission_has_its_points_and_reasons(course):
    _, table = course
    assert {student: points(row) for student, row in table.items()} == {
        "ada": [2, 1, 2, 2, 1],
        "broken": [0, 0, 0, 0, 0],
        "crashing": [2, 0, 0, 0, 0],
        "empty": [0, 0, 0, 0, 0],
        "endless": [2, 1, 2, 0, 1],
        "malicious": [0, 0, 0, 0, 0],
        "wrong": [0, 0, 0, 0, 0],
    }
    assert all(reason for row in table.values() for reason in row["reasons"].values())
    for row in table.values():
        assert [row["points"][id][1] for id in ANSWERED] == [2, 1, 2, 2, 1]


def test_reasons_say_what_happened(course):
    _, table = course
    why = {student: row["reasons"] for student, row in table.items()}
    assert why["wrong"]["03.2"].startswith("You gave `b` a gradient.")
    assert why["wrong"]["03.8"] == why["empty"]["03.8"] == STUB
    assert "ZeroDivisionError: division by zero" in why["crashing"]["03.2"]
    assert why["crashing"]["03.4"].startswith("No answer: Python ended")
    assert "wasn't run, because at 03.4 Python ended" in why["crashing"]["03.6"]
    assert "within the seconds" in why["endless"]["03.4"]
    assert "holds no notebook" in table["broken"]["note"]


def page(course, student):
    path = course[0] / "feedback" / student / "lessons_03" / "lessons_03.html"
    return path.read_text("utf-8")


def test_each_student_has_a_page_that_asks_no_other_machine(course):
    for student in course[1]:
        asked = re.findall(r"""(?:src|href)=["']?(?!#|data:)([^"'\s>]+)""", page(course, student))
        assert asked == [], student


def test_a_page_tells_the_reasons_and_runs_nothing_of_a_student(course):
    assert "Go back and read" in page(course, "wrong")
    shown = page(course, "crashing")
    assert "<script>document" not in shown
    assert "&lt;script&gt;document" in shown
    assert "RuntimeError: &lt;script&gt;" in shown


def test_what_is_handed_in_anew_is_graded_anew_and_points_by_hand_stay(course, monkeypatch, capsys):
    """And where the sandbox is missing it is graded later."""
    from nbgrader.api import Gradebook

    folder, _ = course
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        by_hand = book.find_grade("points-03-1", "lessons_03", "lessons_03", "wrong")
        by_hand.manual_score = 0.5
        book.db.commit()
    handed_in(folder, "empty", {"03.1": RIGHT["03.1"]})
    files, _ = submissions(folder / "handed_in" / "lessons_03")
    with monkeypatch.context() as without:
        without.setenv("PATH", "/nowhere")
        rows = grade.grade("lessons_03", files, folder)
    assert sorted(row["student"] for row in rows) == sorted(set(files) - {"empty"})
    said = capsys.readouterr().err
    assert said.startswith("Not graded: empty.")
    assert sandbox.MISSING in said
    rows = grade.grade("lessons_03", files, folder)
    now = {row["student"]: points(row) for row in rows}
    assert now["empty"] == [0, 1, 0, 0, 0]
    assert now["wrong"] == [0, 0.5, 0, 0, 0]


def test_without_a_sandbox_nothing_is_graded(monkeypatch, box):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    assert sandbox.trouble(box) == sandbox.MISSING


def test_what_a_sandbox_that_does_not_start_complains_of_is_told(monkeypatch, box):
    says = ["sh", "-c", "echo one >&2; echo 'bwrap: Permission denied' >&2; exit 1", "inside.py"]
    monkeypatch.setattr(sandbox, "command", lambda *_: says)
    assert sandbox.trouble(box) == sandbox.DEAD.format("bwrap: Permission denied")


def test_python_may_lie_in_tmp_which_is_a_folder_of_its_own_inside(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/tmp/course/.venv")
    words = sandbox.command(Path("/given"), sandbox.Limits())
    assert words.index("/tmp") < words.index("/tmp/course/.venv")
    assert words[words.index("/tmp") - 1] == "--tmpfs"
