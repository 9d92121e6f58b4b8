"""Let simulated students use a real JupyterHub (`python -m benchmarks.classroom --students 20`)."""

import argparse
import asyncio
import pwd
import shutil
import sys
import time
from pathlib import Path

import httpx
import psutil

from benchmarks.classroom import processes, report, school
from benchmarks.classroom.student import Failed, Student

OUT = school.ROOT / "build" / "class"
PROXY = OUT / "node_modules" / ".bin" / "configurable-http-proxy"
WITHIN = 10  # seconds in which the whole class logs in
PHASES = ("log in", "first cell", "other cells", "step a trace", "answer", "save")


def parsed(arguments=None):
    about = "Let simulated students use a JupyterHub."
    parser = argparse.ArgumentParser("python -m benchmarks.classroom", description=about)
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
            more = f"c.ConfigurableHTTPProxy.command = [{str(proxy())!r}]"
            with school.hub(folder, names, more) as hub:
                found = asyncio.run(a_class(hub, names))
            given.out.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "hub.log", given.out / "hub.log")
    except school.NoSchool as error:
        sys.exit(str(error))
    text = report.table(found)
    (given.out / f"class_{given.students}.md").write_text(text, "utf-8")
    print(text)
    sys.exit(bool(found.failures or found.open_ports))


def proxy():
    """Return the proxy that `make class` installed, or the one of this machine; None without any."""
    return PROXY if PROXY.exists() else shutil.which("configurable-http-proxy")


def no_proxy():
    if proxy():
        return ""
    return "JupyterHub's proxy is missing: make class installs it, where Node.js and npm are."


async def a_class(hub, names):
    """Let all students work at once; return a report.Found."""
    students = [Student(hub.address, name, school.PASSWORD) for name in names]
    uids = {name: pwd.getpwnam(name).pw_uid for name in names}
    found = report.Found(len(names), PHASES)
    began = time.monotonic()
    delay = WITHIN / len(students)
    at_work = [a_lesson(one, number * delay, found) for number, one in enumerate(students)]
    await asyncio.gather(*at_work)
    found.whole = time.monotonic() - began
    found.times = {student.name: student.times for student in students}
    through = [student for student in students if PHASES[-1] in student.times]
    measure(found, uids, [uids[student.name] for student in through], hub)
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


def works(student):
    """Return what a student does, one function for each of PHASES."""

    async def first_cell():
        await student.open_lesson()
        await student.run_cells(1, 1)

    async def other_cells():
        await student.run_cells(2)

    return student.log_in, first_cell, other_cells, student.step, student.answer, student.save


def measure(found, uids, through, hub):
    """Note what those who got `through` use while their kernels are there, and the open ports."""
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


if __name__ == "__main__":
    main()
