"""Graphviz under stress, in processes of its own: an exit code, and every box and curve of every
answer checked.

`LAYOUTS=6000` in the environment lays out so many random graphs instead of the usual number.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from stress_layout import faults

from autograd_graphs.drawing.layout import Placed

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

LAYOUTS = os.environ.get("LAYOUTS", "120")
MOST_SECONDS, MOST_MEMORY = (
    2,
    60_000,
)  # of the processor for one layout; KiB that the second half may add


def run(script, *words):
    """Run a script of the tests; return its last line, read as JSON.

    Nothing may be printed as an error.
    """
    path = str(Path(__file__).with_name(script))
    done = subprocess.run([sys.executable, path, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout.splitlines()[-1:]
    return json.loads(done.stdout.splitlines()[-1])


def test_random_graphs_are_laid_out_without_a_crash_or_a_fault_and_memory_stays_flat():
    found = run("stress_layout.py", LAYOUTS, "0")
    assert found["wrong"] == []
    assert found["graphs"] == int(LAYOUTS)
    assert found["slowest"][0] < MOST_SECONDS
    assert found["memory"] < MOST_MEMORY


def test_models_of_the_wild_and_graphs_made_to_be_hard_are_drawn():
    found = run("stress_models.py")
    assert found["wrong"] == []
    assert found["slowest"][0] < MOST_SECONDS
    assert found["pictures"] == 1


GOOD = Placed(
    50, 120, ((25, 15), (25, 105)), (((25, 30), (25, 50), (25, 70), (25, 90)),), {0: (40, 60)}
)
BAD = {
    "not finite": Placed(50, 120, ((float("nan"), 15), (25, 105)), GOOD.curves, GOOD.labels),
    "missing": Placed(50, 120, GOOD.centres, GOOD.curves, {}),
    "outside": Placed(50, 120, ((15, 15), (25, 105)), GOOD.curves, GOOD.labels),
    "leads up": Placed(50, 120, GOOD.centres[::-1], GOOD.curves, GOOD.labels),
    "overlap": Placed(50, 120, ((25, 90), (25, 105)), GOOD.curves, GOOD.labels),
    "a curve ends": Placed(50, 120, GOOD.centres, (((25, 40), *GOOD.curves[0][1:]),), GOOD.labels),
    "a curve of": Placed(
        50, 120, GOOD.centres, (GOOD.curves[0][:1] + GOOD.curves[0][-1:],), GOOD.labels
    ),
}


@pytest.mark.parametrize("words", BAD)
def test_the_check_of_a_layout_sees_what_is_wrong(words):
    asked = [(50, 30)] * 2, [(0, 1)], {0: (10, 10)}
    assert list(faults(GOOD, *asked)) == []
    assert any(words in fault for fault in faults(BAD[words], *asked))
