"""What a simulated class brought, as a table; what is extrapolated is called so."""

import os
import platform
import statistics
from dataclasses import dataclass, field
from importlib.metadata import version

LARGER = 100
WHAT = {
    "log in": "from the login page until JupyterLab is loaded, the start of the server included",
    "first cell": "the lesson opened, its kernel started, and its first cell, which imports torch",
    "other cells": "all cells after it, one after the other",
    "step a trace": "all steps of a player",
    "answer": "an exercise answered in its cell, and found right",
    "save": "the lesson saved and read back",
}


@dataclass
class Found:
    """Hold what was seen of one class; seconds and MiB."""

    students: int
    phases: tuple[str, ...]
    whole: float = 0
    times: dict = field(default_factory=dict)
    failures: list = field(default_factory=list)
    memory: list = field(default_factory=list)
    kernels: list = field(default_factory=list)
    processor: list = field(default_factory=list)
    hub: float = 0
    hub_processor: float = 0
    available: float = 0
    open_ports: list = field(default_factory=list)


def p95(values):
    """Return the value that 95 of 100 do not exceed: one of those given."""
    ordered = sorted(values)
    return ordered[max(0, -(-95 * len(ordered) // 100) - 1)]


def table(found):
    """Return everything as Markdown."""
    ports = f"Ports open to other machines: {', '.join(found.open_ports) or 'none'}."
    return "\n".join([*head(found), *seconds(found), *resources(found), ports, ""])


def head(found):
    failed = found.failures or ["none"]
    names = ("jupyterhub", "jupyterlab", "torch")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return [
        f"# A class of {found.students}",
        "",
        f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}.",
        "The simulated browsers ran on the same cores. All logged in within ten seconds of each other.",
        "",
        f"Failures: {len(found.failures)} of {found.students} students.",
        *(f"- {one}" for one in failed),
        "",
    ]


def seconds(found):
    """Return the table of times, and below it what was timed."""
    lines = [
        "| Seconds | half took at most | 95 of 100 at most | the longest |",
        "|---|---|---|---|",
    ]
    for phase in found.phases:
        took = [times[phase] for times in found.times.values() if phase in times]
        if took:
            middle = statistics.median(took)
            lines.append(f"| {phase} | {middle:.1f} | {p95(took):.1f} | {max(took):.1f} |")
    explained = [f"- {phase}: {WHAT[phase]}" for phase in found.phases]
    return [*lines, "", *explained, "", f"All took {found.whole:.0f} s from the first login.", ""]


def resources(found):
    """Return what a student takes, and what a larger class would."""
    if not found.memory:
        return []
    each, used = statistics.median(found.memory), statistics.median(found.processor)
    cores = os.cpu_count()
    return [
        "| Each student, with one lesson open | median | most |",
        "|---|---|---|",
        f"| memory, MiB | {each:.0f} | {max(found.memory):.0f} |",
        f"| of it the kernel, MiB | {statistics.median(found.kernels):.0f} | {max(found.kernels):.0f} |",
        f"| processor time, s | {used:.1f} | {max(found.processor):.1f} |",
        "",
        "Memory that several processes share is counted once, in equal parts (PSS).",
        f"Hub, proxy and culler: {found.hub:.0f} MiB, {found.hub_processor:.1f} s of processor time. "
        f"Left of the machine's memory, with all of them at work: {found.available:.0f} MiB.",
        f"**Extrapolated, not measured**, for {LARGER} students on {cores} cores: "
        f"{(LARGER * each + found.hub) / 1024:.0f} GiB, and the last has run the lesson "
        f"no sooner than {LARGER * used / cores / 60:.1f} minutes after the first login.",
        "",
    ]
