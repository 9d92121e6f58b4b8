"""Let N simulated students use a real JupyterHub and write down how it went:
`python -m benchmarks.classroom --students 20`, as root. The table goes to build/class/.
"""

import argparse
import asyncio
import os
import pwd
import shutil
import signal
import sys
import time
from pathlib import Path

import httpx
import psutil

from benchmarks.classroom import processes, prying, report, school
from benchmarks.classroom.student import LESSON, Failed, Student

OUT = school.ROOT / "build" / "class"
PROXY = OUT / "node_modules" / ".bin" / "configurable-http-proxy"
WITHIN = 10  # seconds in which the whole class logs in
PHASES = ("log in", "first cell", "other cells", "step a trace", "answer", "save")


def parsed(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m benchmarks.classroom", description="Let simulated students use a JupyterHub."
    )
    parser.add_argument("--students", type=int, default=20, help="how many (20)")
    parser.add_argument("--out", type=Path, default=OUT, help="where the table goes (build/class)")
    given = parser.parse_args(arguments)
    if not 2 <= given.students <= 99:
        parser.error(f"--students is {given.students}: a class here has 2 to 99")
    return given


def main():
    given = parsed()
    if missing := school.wanting() or no_proxy():
        sys.exit(missing)
    names = [f"class-{number:02}" for number in range(1, given.students + 1)]
    try:
        with school.place() as folder, school.users(folder, names):
            prying.hide_truth(folder)
            more = f"c.ConfigurableHTTPProxy.command = [{str(proxy())!r}]"
            with school.hub(folder, names, more) as hub:
                found = asyncio.run(a_class(hub, folder, names))
            given.out.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "hub.log", given.out / "hub.log")
    except school.NoSchool as error:
        sys.exit(str(error))
    text = report.table(found)
    (given.out / f"class_{given.students}.md").write_text(text, "utf-8")
    print(text)
    sys.exit(bool(found.failures or found.pried or found.open_ports))


def proxy():
    """Return the proxy that `make class` installed, or the one of this machine; None without any."""
    return PROXY if PROXY.exists() else shutil.which("configurable-http-proxy")


def no_proxy():
    if proxy():
        return ""
    return "JupyterHub's proxy is missing: make class installs it, where Node.js and npm are."


async def a_class(hub, folder, names):
    """Let all students work at once, kill one server in the middle; return a report.Found."""
    students = [Student(hub.address, name, school.PASSWORD) for name in names]
    uids = {name: pwd.getpwnam(name).pw_uid for name in names}
    found = report.Found(len(names), PHASES)
    began = time.monotonic()
    delay = WITHIN / len(students)
    await asyncio.gather(
        *(
            a_lesson(student, number * delay, found)
            for number, student in enumerate(students[1:], 1)
        ),
        an_accident(students[0], uids[names[0]], folder, found),
    )
    found.whole = time.monotonic() - began
    found.times = {student.name: student.times for student in students}
    through = [student for student in students if PHASES[-1] in student.times]
    measure(found, uids, [uids[student.name] for student in through], hub)
    if len(through) > 1:
        await pry(through, folder, hub, uids, found)
    for student in students:
        await student.leave()
    return found


async def a_lesson(student, delay, found):
    """Let one student work through the lesson; note where it failed, if it did."""
    await asyncio.sleep(delay)
    doing = PHASES[0]
    try:
        for doing, work in zip(PHASES, works(student), strict=True):
            with student.timed(doing):
                await work()
    except (Failed, httpx.HTTPError, OSError, TimeoutError, LookupError, ValueError) as error:
        found.failures.append(f"{student.name}, {doing}: {type(error).__name__}: {error}")
        return False
    return True


def works(student):
    """Return what a student does, one function for each of PHASES."""

    async def first_cell():
        await student.open_lesson()
        await student.run_cells(1, 1)

    async def other_cells():
        await student.run_cells(2)

    return student.log_in, first_cell, other_cells, student.step, student.answer, student.save


async def an_accident(student, uid, folder, found):
    """Let one student work, type on without saving, lose the server, and come back."""
    if not await a_lesson(student, 0, found):
        return
    before = student_files(folder, student)
    student.notebook.cells[0].source += "\n\nTyped after the last save."
    await student.run("only_in_memory = 1")
    os.kill(prying.server_of(uid), signal.SIGKILL)
    found.orphans_gone = await until(lambda: not processes.owned_by(uid), 60)
    found.kept = before == student_files(folder, student)
    student.channel.close()
    began = time.monotonic()
    while time.monotonic() - began < 300:
        try:
            await student.until_ready()
            await student.ask("GET", f"{student.home}/lab/tree/{LESSON}")
            break
        except (Failed, httpx.HTTPError):
            await asyncio.sleep(1)
    found.back_after = time.monotonic() - began
    await again(student, found)


async def again(student, found):
    """Open the lesson once more in the new server, and look what is there."""
    typed = student.notebook.cells[0].source
    try:
        await student.open_lesson()
        found.unsaved_lost = typed not in (one.source for one in student.notebook.cells)
        outputs = await student.run("'only_in_memory' in globals()")
        found.variables_lost = "False" in str(outputs)
        await student.run_cells(1)
    except (Failed, httpx.HTTPError, OSError, TimeoutError) as error:
        found.failures.append(f"{student.name}, after its server was killed: {error}")


def student_files(folder, student):
    """Return the contents of what a student saved: the lesson and what was answered in it."""
    work = folder / "homes" / student.name / "work"
    return {name: (work / name).read_bytes() for name in ("00_start_here.ipynb", "progress.json")}


async def until(true, patience):
    """Return after how many seconds something is true; None if it never is."""
    began = time.monotonic()
    while time.monotonic() - began < patience:
        if true():
            return time.monotonic() - began
        await asyncio.sleep(0.2)
    return None


def measure(found, uids, through, hub):
    """Note memory and processor time of those who got `through`, while their kernels are there, and
    what ports are open.
    """
    for uid in through:
        theirs = processes.owned_by(uid)
        kernels = [one for one in theirs if "ipykernel" in processes.command(one)]
        found.memory.append(processes.memory(theirs))
        found.kernels.append(processes.memory(kernels))
        found.processor.append(processes.processor(theirs))
    family = processes.family_of(hub.process)
    found.hub = processes.memory(family)
    found.hub_processor = processes.processor(family)
    found.available = psutil.virtual_memory().available / 2**20
    found.open_ports = processes.open_to_others(set(uids.values()), set(hub.ports))


async def pry(students, folder, hub, uids, found):
    """Let the second student try to read and change what belongs to others."""
    other, curious = students[0], students[1]
    home = folder / "homes" / other.name
    tries = prying.attempts(folder, home, hub.ports, prying.server_of(uids[other.name]))
    came = prying.come_of(await curious.run(prying.program(tries)))
    found.attempts, found.pried = len(came), prying.got_through(came)


if __name__ == "__main__":
    main()
