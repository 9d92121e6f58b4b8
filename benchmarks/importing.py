"""What `import helpers` costs on top of torch, in time and memory: a new process each time, cases
in turn.

The cases go on to a first picture, a first player and a first lab: what the import leaves for later
comes due there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Row

ROOT = Path(__file__).parents[1]
LOSS = "loss = torch.ones(2, requires_grad=True).sin().sum()\n"
KERNEL = "import ipykernel.ipkernel\n"
CASES = {  # what the process has imported beside torch, and what is timed
    "import helpers": ("", "import helpers"),
    "import helpers, in a kernel": (KERNEL, "import helpers"),
    "… and a first show()": (KERNEL, "import helpers; helpers.show(loss)"),
    "… and a first step_through()": (KERNEL, "import helpers; helpers.step_through(loss)"),
    "… and a first lab": (KERNEL, "from helpers import labs; labs.leaves()"),
}
WORK = """
import time
def held():
    try:
        return int(open("/proc/self/statm").read().split()[1]) * __import__("resource").getpagesize() / 1e6
    except OSError:
        return 0
before, begin, worked = held(), time.perf_counter(), time.process_time()
{timed}
now, done = time.perf_counter(), time.process_time()
print(1000 * (now - begin), 1000 * (done - worked), held() - before)
"""


def once(ready: str, timed: str) -> list[float]:
    """Return ms, ms of the processor and MB of what is timed, in a new process."""
    program = f"import torch\n{ready}{LOSS}{WORK.format(timed=timed)}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [float(text) for text in done.stdout.split()]


def rows(rounds: int) -> list[Row]:
    """Return the time and the memory of every case; the goals are for the import alone."""
    turns = [
        {case: once(*programs) for case, programs in CASES.items()} for _ in range(rounds + 1)
    ][1:]
    found = []
    for case in CASES:
        goals = (60, 60, 15) if case.startswith("import") else (None,) * 3
        for nr, (what, unit) in enumerate(
            (("time", "ms"), ("time of the processor", "ms"), ("memory", "MB"))
        ):
            values = tuple(turn[case][nr] for turn in turns)
            found.append(Row("import", case, what, values, unit, None, goals[nr]))
    return found
