"""How long the whole course runs under nbval: `make compare`, once, on two cores."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from benchmarks.measure import Row

ROOT = Path(__file__).parents[1]
MOST = 180  # seconds: the goal


def rows(rounds: int) -> list[Row]:
    """Run the course once, whatever the rounds: it takes minutes. A failed run is a row too."""
    begin = time.perf_counter()
    done = subprocess.run(["make", "compare"], cwd=ROOT, capture_output=True, text=True)
    taken, last = (
        time.perf_counter() - begin,
        (done.stdout.strip().splitlines() or ["nothing was printed"])[-1],
    )
    return [
        Row("course", "make compare", "every notebook", (taken,), "s", None, MOST, last.strip("= "))
    ]
