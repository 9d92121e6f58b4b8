"""Run a student's notebook in a sandbox of bubblewrap's, and take down the answers that come out.

Inside there are the system's programs, Python with the course's packages, and a folder with what
`furnish` copies: no home, no network, no course with solutions, no gradebook, no other process. The
user has no rights anywhere; time, memory, processes, file size and the size of what is said are
bounded. Linux only. Never runs a notebook where the sandbox cannot be had.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from classroom.grading import memory_limit, reader_source
from classroom.grading.encoding import parsed
from helpers.engine import putting_together
from helpers.engine.putting_together import STAGES, text, with_dots
from helpers.exercises.exercise import exercises

HERE = Path(__file__).parent
HELPERS = reader_source.LESSONS.parents[1]
LIBRARY = HELPERS.with_name("autograd_graphs")
USER = "61999"  # a number that no account has
MIB = 2**20
MISSING = (
    "Not graded: bubblewrap (bwrap), which keeps students' code away from this machine, was not found."
    " It is for Linux; on Debian and Ubuntu: apt install bubblewrap."
)
LEAKS = (
    "Not graded: inside the sandbox {} could be reached. Students' code would find it there, too."
    " Look where Python and the course are installed; the course's solutions mustn't be in Python's own folders."
)
DEAD = (
    "Not graded: nothing runs in the sandbox of students' code. It said: {}."
    " Some systems, such as Ubuntu, don't let ordinary users make one: see classroom/grading.md."
)
NEVER_INSIDE = (  # of helpers/
    "engine/stages",
    "exercises/lessons",
    "predicting/questions.json",
    "__pycache__",
)


@dataclass(frozen=True)
class Limits:
    """Bound one submission: seconds for a cell and for all, MiB, and numbers."""

    cell_seconds: int = 20
    all_seconds: int = 300
    memory: int = 3072  # of each process
    together: int = 4096  # of all of them
    processes: int = 64  # and threads
    files: int = 50  # MiB of one file; all of /tmp is twice that, and of /dev/shm
    said: int = 4  # MiB of all answers together


@contextmanager
def furnished(lessons, stage=""):
    """Give a folder with what the sandbox needs to take the answers of these lessons, or that of a
    `stage` of the engine, which is tried on top of our stages before it.
    """
    with tempfile.TemporaryDirectory() as folder:
        _furnish(Path(folder), lessons)
        if stage:
            _furnish_stages(Path(folder, "helpers", "engine", "stages"), stage)
        yield Path(folder)


def _furnish_stages(folder, last):
    folder.mkdir()
    for stage in (name for name in STAGES if name <= last):
        code = with_dots(stage) if stage == last else text(stage)
        (folder / f"stage_{stage}.py").write_text(code, "utf-8")


def _furnish(folder, lessons):
    folder.chmod(0o755)
    for package in (HELPERS, LIBRARY):
        shutil.copytree(package, folder / package.name, ignore=_left_out)
    for name in ("encoding", "collecting", "inside"):
        shutil.copy(HERE / f"{name}.py", folder)
    imports, joined = "", "READERS = {}"
    for lesson in lessons:
        (folder / f"readers_{lesson}.py").write_text(_readers(lesson, folder), "utf-8")
        imports += f"from readers_{lesson} import READERS as R{lesson}\n"
        joined += f" | R{lesson}"
    (folder / "readers.py").write_text(f"{imports}{joined}\n", "utf-8")


def _readers(lesson, folder):
    """Return the source of a lesson's readers, and copy the rooms beside the lessons that it needs."""
    functions = {exercise.id for exercise in exercises(lesson) if exercise.reader.cases}
    text = reader_source.readers(reader_source.source_of(lesson), functions)
    inside = folder / "helpers" / "exercises" / "lessons"
    for room in reader_source.rooms(text):
        inside.mkdir(exist_ok=True)
        shutil.copy(reader_source.LESSONS / f"{room}.py", inside)
    return text


def _left_out(folder, names):
    return [name for name in names if str(Path(folder) / name).endswith(NEVER_INSIDE)]


def command(folder, limits):
    """Return what starts inside.py in the sandbox, as a list of arguments."""
    return [*_walls(folder, limits), *_bounds(limits), sys.executable, "/course/inside.py"]


def _walls(folder, limits):
    root = os.getuid() == 0
    apart = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    user = ["--uid", USER, "--gid", USER, "--disable-userns"]
    if root:  # a user of its own in truth: setpriv takes over, and these two are gone with it
        user = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    environment = []
    for name, value in _environment().items():
        environment += ["--setenv", name, value]
    return [
        *("bwrap", *apart[root:], "--unshare-cgroup-try", *user),
        *("--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"),
        *("--ro-bind", "/usr", "/usr", *_at_the_root()),
        *("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"),
        *("--proc", "/proc", "--dev", "/dev"),
        *_room("/dev/shm", limits),
        *("--remount-ro", "/dev"),  # which is memory, too
        *_room("/tmp", limits),
        *_python(),  # which may lie in /tmp itself
        *("--ro-bind", str(folder), "/course", "--remount-ro", "/", "--chdir", "/tmp"),
        *environment,
    ]


def _room(folder, limits):
    """Return what makes a folder that lies in memory, in which anybody may write so much."""
    return ["--perms", "1777", "--size", str(2 * limits.files * MIB), "--tmpfs", folder]


def _at_the_root():
    """Return how /bin, /lib and so on come in: as the links that they are mostly, or as folders."""
    for name in ("bin", "sbin", "lib", "lib64"):
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _python():
    """Return how Python and its packages come in, where they do not lie in /usr."""
    for place in dict.fromkeys((sys.base_prefix, sys.prefix)):
        if not Path(place).is_relative_to("/usr"):
            for folder in reversed(Path(place).parents[:-1]):  # made empty, open to the user
                yield from ("--perms", "0755", "--dir", str(folder))
            yield from ("--ro-bind", place, place)


def _environment():
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "PYTHONPATH": "/course",
        "PYTHONDONTWRITEBYTECODE": "1",
        "IPYTHONDIR": "/tmp/ipython",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "OMP_NUM_THREADS": "1",
    }


def _bounds(limits):
    """Return the programs of util-linux that set the user and the limits, one before the other."""
    other = ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups", "--no-new-privs"]
    return [
        *(other if os.getuid() == 0 else ()),
        *("choom", "-n", "1000", "--"),  # where memory runs out, these go first
        *("prlimit", f"--nproc={limits.processes}", f"--data={limits.memory * MIB}"),
        *(f"--fsize={limits.files * MIB}", "--nofile=512", "--core=0"),
        *(f"--cpu={limits.all_seconds}", "--"),
    ]


def run(steps, folder, limits=None):
    """Run the steps of one submission; return what was heard, a record for each step that ended, and
    in one word how all ended: "" (well), "late", "full" (of memory), "loud" or "died".
    """
    limits = limits or Limits()
    given = json.dumps({"steps": steps, "seconds": limits.cell_seconds}).encode()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command(folder, limits), **pipes)
    late = threading.Event()
    timer = threading.Timer(limits.all_seconds, lambda: (late.set(), process.kill()))
    timer.start()
    try:
        threading.Thread(target=_give, args=(process.stdin, given), daemon=True).start()
        with memory_limit.bounded(process, limits.together) as full:
            text = process.stdout.read(limits.said * MIB)
        loud = len(text) == limits.said * MIB
    finally:
        timer.cancel()
        process.kill()  # with it all that it started: they have no other parent, and die with it
        process.wait()
        process.stdout.close()
    heard = list(filter(None, map(parsed, text.decode("utf-8", "replace").splitlines())))
    is_whole = sum("step" in record for record in heard) >= len(steps)
    ends = {"late": late.is_set(), "full": full.is_set(), "loud": loud, "died": not is_whole}
    return heard, next((how for how, is_so in ends.items() if is_so), "")


def _give(pipe, text):
    try:
        with pipe:
            pipe.write(text)
    except OSError:
        pass  # it ended before it had read all; what was heard says so


def trouble(folder, *secrets):
    """Return why nothing may be graded here: a student could reach solutions or `secrets`."""
    if not shutil.which("bwrap"):
        return MISSING
    solutions = sorted(reader_source.LESSONS.glob("lesson_*.py"))
    solutions += sorted(putting_together.FOLDER.glob("stage_*.py"))
    probe = _PROBE.format(files=[str(file.resolve()) for file in (*solutions, *secrets)])
    heard, ended = run([{"code": probe}, {"collect": "reached"}], folder)
    answer = next((record["found"] for record in heard if "found" in record), None)
    if answer is None:
        return DEAD.format(_said(folder) or ended)
    reached = answer.get("value")
    return "" if reached == "" else LEAKS.format(reached)


def _said(folder):
    """Return the last line that the sandbox complains with, where it does."""
    call = [*command(folder, Limits())[:-1], "-c", "pass"]
    done = subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return "".join(done.stderr.strip().splitlines()[-1:])


_PROBE = """
import importlib.util, os, socket
reached = [file for file in {files} if os.path.exists(file)]
try:
    reached += [importlib.util.find_spec("helpers.exercises.lessons.lesson_03").origin]
except (ImportError, AttributeError):
    pass
try:
    socket.create_connection(("192.0.2.1", 80), 1)
    reached += ["the network"]
except TimeoutError:
    reached += ["the network"]
except OSError:
    pass
if os.getuid() == 0:
    reached += ["the administrator"]
answer = ", ".join(reached)
"""
