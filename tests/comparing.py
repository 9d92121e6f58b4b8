"""Run nbval as `make compare` does, over notebooks of a test, and read its report.

Starts processes, writes nothing.
"""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = re.compile(r"^(PASSED|FAILED|ERROR|XFAIL|SKIPPED) .*?([\w-]+)\.ipynb::Cell (\d+)", re.M)


def failing_cells(folder, options=()):
    """Return {notebook: code cells that nbval finds different, from 0} of every notebook there."""
    command = ["make", "--no-print-directory", "compare", f"NOTEBOOKS={folder}", *options]
    hidden = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PYTEST_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**env, "PYTEST_ADDOPTS": "-rA"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    found = {}
    for outcome, name, cell in REPORT.findall(ran.stdout):
        found.setdefault(name, set()).update(set() if outcome == "PASSED" else {int(cell)})
    assert found, f"nbval reported no cell:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    assert (ran.returncode == 0) == (not any(found.values())), (
        "make's exit code and the report disagree"
    )
    return found
