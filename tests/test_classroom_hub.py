"""A class's JupyterHub, started for real with two Unix users: what is open to whom. As root."""

import asyncio
import os
import pwd
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from real_hub import processes, prying, school
from real_hub.student import LESSON, Failed, Student

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

README = Path(__file__).resolve().parents[1] / "classroom" / "README.md"
NAMES = ("pupil-01", "pupil-02")
TRICKSTER = "pupil-03"
# The proxy of a school is a program for Node.js; this one, in Python, is enough for two students.
PROXY = [sys.executable, "-c", "from configurable_http_proxy.cli import main; main()"]


@pytest.fixture(scope="module")
def folder():
    """A course that users can read, two of them, and what a grader knows."""
    if missing := school.wanting():
        if os.environ.get("CI") == "true" and os.geteuid() == 0:  # on GitHub nobody is
            pytest.fail(missing)
        pytest.skip(missing)
    with school.place() as folder, school.users(folder, (*NAMES, TRICKSTER)):
        prying.hide_truth(folder)
        yield folder


@pytest.fixture(scope="module")
def lessons(folder):
    """Both students at work: the hub, and what was seen, the second one's attempts among it."""
    more = f"c.ConfigurableHTTPProxy.command = {PROXY}"
    with school.hub(folder, NAMES, more) as hub:
        seen = asyncio.run(at_work(hub, folder))
    with school.hub(folder, NAMES, more, hub.ports) as again:
        seen["after a restart"] = asyncio.run(back_at_work(again))
        yield again, seen


async def at_work(hub, folder):
    """Let the first student save something, the second pry; return what was seen, by name."""
    first, second = students = [Student(hub.address, name, school.PASSWORD) for name in NAMES]
    await asyncio.gather(*(student.log_in() for student in students))
    await asyncio.gather(*(student.open_lesson() for student in students))
    await first.run("kept = open('mine.txt', 'w').write('secret')")
    await first.save()
    home = folder / "homes" / first.name
    server = prying.server_of(uid_of(first.name))
    tries = prying.attempts(folder, home, hub.ports, server)
    seen = {"came": prying.come_of(await second.run(prying.program(tries)))}
    lesson = folder / "course" / "notebooks" / "00_start_here.ipynb"
    allowed = {
        "read a lesson of the course": f"open({str(lesson)!r}).read()",
        "read one's own file": f"open({str(folder / 'homes' / second.name / LESSON)!r}).read()",
        "ask one's own server": f"ask('{hub.address}{second.home}/api/contents', OWN)",
    }
    seen["allowed"] = prying.come_of(await second.run(prying.program(allowed)))
    # what README.md gives to students, who have no `make`
    (reset,) = re.findall(r"`(!python [^`]+ reset 03 [^`]+)`", README.read_text("utf-8"))
    seen["reset"] = str(await second.run(reset))
    seen["open ports"] = processes.open_to_others({uid_of(name) for name in NAMES}, set(hub.ports))
    asked = "import ipykernel as i, json; json.load(open(i.get_connection_file()))['transport']"
    seen["kernel ports"] = await first.run(asked)
    for student in students:
        await student.leave()
    return seen


async def back_at_work(hub):
    """Log the first student in again; return what the kernel still knows."""
    student = Student(hub.address, NAMES[0], school.PASSWORD)
    await student.log_in()
    await student.open_lesson()
    outputs = await student.run("kept + 1")
    await student.leave()
    return str(outputs)


def uid_of(name):
    return pwd.getpwnam(name).pw_uid


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_notebook_reaches_nothing_of_others_of_the_hub_or_of_a_grader(lessons):
    _, seen = lessons
    assert len(seen["came"]) == 17
    assert prying.got_through(seen["came"]) == {}


def test_the_attempts_are_told_from_what_is_allowed(lessons):
    _, seen = lessons
    assert set(prying.got_through(seen["allowed"])) == set(seen["allowed"])


def test_a_student_gets_a_lesson_fresh_from_a_cell(lessons):
    _, seen = lessons
    assert "03_leaf_and_non_leaf.ipynb: copied into" in seen["reset"]


def test_nothing_listens_beyond_the_loopback_address(lessons):
    _, seen = lessons
    assert seen["open ports"] == []
    assert "'ipc'" in str(seen["kernel ports"])


def test_cookie_secret_and_database_are_roots_alone(lessons, folder):
    state = folder / "state"
    assert mode(state) == 0o700
    assert {path.name for path in state.iterdir()} >= {"cookie_secret", "jupyterhub.sqlite"}
    assert {mode(path) for path in state.iterdir()} == {0o600}
    assert mode(folder / "course" / "assignments") == 0o700


def test_what_a_student_saves_is_the_students_alone(lessons, folder):
    home = folder / "homes" / NAMES[0]
    assert mode(home) == 0o700
    for path in (home / LESSON, home / "work" / "mine.txt", home / "work" / ".handed_out.json"):
        assert (mode(path), path.stat().st_uid) == (0o600, uid_of(NAMES[0]))


def test_a_hub_that_is_started_again_finds_servers_and_kernels_as_they_were(lessons):
    _, seen = lessons
    assert "'text/plain': '7'" in seen["after a restart"]


def test_nobody_enters_without_the_password(lessons):
    hub, _ = lessons

    async def enter():
        stranger = Student(hub.address, NAMES[0], "guessed")
        try:
            await stranger.log_in()
        finally:
            await stranger.leave()

    with pytest.raises(Failed, match="403"):
        asyncio.run(enter())


@pytest.fixture
def roots(folder):
    """A folder and a file of root's that everybody may read, as they were before."""
    place = folder / "of root"
    place.mkdir()
    (place / "kept.ipynb").write_text("{}", "utf-8")
    yield place
    names, owners = {path.name for path in place.iterdir()}, {place.stat().st_uid}
    text = (place / "kept.ipynb").read_text("utf-8")
    shutil.rmtree(place)
    assert (names, owners, text) == ({"kept.ipynb"}, {0}, "{}")


def bring_lessons(folder, name):
    """Bring a student's lessons, as that student, by what starts the student's server."""
    course, home = folder / "course", folder / "homes" / name
    start = str(course / "classroom" / "start_student.py")
    code = f"import runpy; runpy.run_path({start!r})['bring_lessons'](); print('It goes on.')"
    command = [course / ".venv" / "bin" / "python", "-P", "-c", code]
    env = school.student_environment(folder) | {"HOME": str(home)}
    student = {"user": name, "group": name, "extra_groups": ()}
    return subprocess.run(
        command, cwd=home, env=env, capture_output=True, text=True, timeout=100, **student
    )


@pytest.mark.parametrize(
    ("planted", "refused"),
    [
        ({"work": ""}, True),
        ({"work/figs": ""}, True),
        ({"work/00_start_here.ipynb": "kept.ipynb", "work/.handed_out.json": "kept.ipynb"}, False),
    ],
)
def test_a_link_in_a_home_leads_nowhere(folder, roots, planted, refused):
    home = folder / "homes" / TRICKSTER
    clear(home / "work")
    for link, target in planted.items():
        (home / link).parent.mkdir(exist_ok=True)
        (home / link).symlink_to(roots / target)
        os.chown(home / "work", uid_of(TRICKSTER), -1, follow_symlinks=False)
    ran = bring_lessons(folder, TRICKSTER)
    assert ran.stdout.endswith("It goes on.\n"), ran.stderr
    assert ("couldn't be written (Permission denied)" in ran.stderr) is refused


def clear(work):
    """Remove a student's folder, or a link in its place."""
    if work.is_symlink():
        work.unlink()
    shutil.rmtree(work, ignore_errors=True)
