"""What kernels would take that are forked from one process which has imported torch: `python -m
benchmarks.classroom.forked`. Writes build/class/forked.md.

No maintained package does this for Jupyter, so nothing in the course uses it; here one process
imports torch and the lessons' helpers, and forks a kernel for each connection file it is told.
"""

import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from benchmarks.classroom import processes
from benchmarks.classroom.school import ROOT
from course import workspace

OUT = ROOT / "build" / "class"
LESSON = ROOT / "notebooks" / "00_start_here.ipynb"
FORKING = """
import gc, os, sys
import torch, IPython, anywidget, ipywidgets
from ipykernel.kernelapp import IPKernelApp
import helpers
from helpers import *
gc.collect()
gc.freeze()
print("ready", flush=True)
for line in sys.stdin:
    if os.fork() == 0:
        sys.stdin = open(os.devnull)
        IPKernelApp.launch_instance(argv=["-f", line.rstrip("\\n")])
        os._exit(0)
"""


def main():
    parser = argparse.ArgumentParser("python -m benchmarks.classroom.forked")
    parser.add_argument("--kernels", type=int, default=8, help="how many of each kind (8)")
    count = parser.parse_args().kernels
    rows = [measured("started afresh", fresh, count), measured("forked", forked, count)]
    text = "\n".join([*heading(count), *rows, ""])
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "forked.md").write_text(text, "utf-8")
    print(text)


def heading(count):
    return [
        f"{count} kernels, one after the other; each ran lesson 00 from top to bottom. Median of each.",
        "",
        "| Kernels | memory each, proportional, MiB | all, with what they were forked from | "
        "seconds until the first cell had run |",
        "|---|---|---|---|",
    ]


def measured(name, started, count):
    """Return a row of the table for one way to start kernels."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ended:
        start, others = started(Path(folder), ended)
        seconds, kernels = [], []
        for number in range(count):
            began = time.monotonic()
            path = Path(folder) / f"kernel-{number}.json"
            write_connection_file(str(path), transport="ipc", ip=str(path.with_suffix("")))
            start(path)
            client = connected(path, ended)
            cells = lesson_cells()
            run(client, cells[0])
            seconds.append(time.monotonic() - began)
            for cell in cells[1:]:
                run(client, cell)
            kernels.append(process_of(path))
        each = [processes.memory([kernel]) for kernel in kernels]
        total = sum(each) + processes.memory(others)
        for kernel in kernels:
            ended.callback(end, kernel)
    return f"| {name} | {statistics.median(each):.0f} | {total:.0f} | {statistics.median(seconds):.1f} |"


def fresh(folder, ended):
    """Return a function that starts a kernel as Jupyter does, and no other process."""

    def start(path):
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", str(path)]
        quiet = subprocess.DEVNULL
        running = subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet)
        ended.callback(running.wait)

    return start, []


def forked(folder, ended):
    """Return a function that has a kernel forked, and the process which does that."""
    running = subprocess.Popen(
        [sys.executable, "-c", FORKING],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    running.stdout.readline()
    ended.callback(running.wait)
    ended.callback(running.kill)

    def start(path):
        running.stdin.write(f"{path}\n")
        running.stdin.flush()

    return start, [running.pid]


def connected(path, ended):
    """Return a client of the kernel, which is there."""
    client = BlockingKernelClient(connection_file=str(path))
    client.load_connection_file()
    client.start_channels()
    ended.callback(client.stop_channels)
    client.wait_for_ready(timeout=120)
    return client


def run(client, source):
    """Run a cell and wait for the end of it; an error of the lesson's own is no matter here."""
    client.execute_interactive(source, timeout=120, output_hook=lambda _: None, stop_on_error=False)


def lesson_cells():
    """Return the code of the lesson's cells, as a student's copy has them."""
    cells = workspace.student_copy(LESSON)["cells"]
    return [cell["source"] for cell in cells if cell["cell_type"] == "code"]


def process_of(path):
    """Return the id of the process whose kernel listens at the sockets of a connection file."""
    for one in psutil.net_connections("unix"):
        if one.laddr == f"{path.with_suffix('')}-1":
            return one.pid
    raise LookupError(f"no process listens for {path}")


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    main()
