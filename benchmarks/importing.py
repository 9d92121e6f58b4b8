"""What importing the packages costs on top of torch, and then a first picture, player and lab."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Row

ROOT = Path(__file__).parents[1]
CASES = {
    "import autograd_graphs": "import autograd_graphs",
    "import helpers": "import helpers",
    "… and a first show()": "import helpers; helpers.show(loss)",
    "… and a first step_through()": "import helpers; helpers.step_through(loss)",
    "… and a first lab": "from helpers import labs; labs.leaves()",
}
GOALS = {"import autograd_graphs": 60, "import helpers": 60}  # ms
PROGRAM = """
import time, torch, ipykernel.ipkernel
loss = torch.ones(2, requires_grad=True).sin().sum()
begin = time.perf_counter()
{timed}
print(1000 * (time.perf_counter() - begin))
"""


def once(timed: str) -> float:
    """Return the milliseconds that something takes in a new process with a kernel's imports."""
    command = [sys.executable, "-c", PROGRAM.format(timed=timed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def rows(rounds: int) -> list[Row]:
    """Return the time of every case."""
    times: dict[str, list[float]] = {case: [] for case in CASES}
    for _ in range(rounds):
        for case, timed in CASES.items():
            times[case].append(once(timed))
    return [Row(case, "time", tuple(times[case]), "ms", GOALS.get(case)) for case in CASES]
