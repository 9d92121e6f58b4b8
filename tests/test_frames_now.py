"""Looking at the frames of other threads: never beside a garbage collection, which can wait for ever."""

import subprocess
import sys

import pytest

COLLECTS_MEANWHILE = """
import gc, threading
from autograd_graphs.looking.torch_private import backward_elsewhere
for more in range(60):
    gc.disable()
    ring = [threading.local()]
    ring.append(ring)
    del ring
    gc.set_threshold(gc.get_count()[0] + more)
    gc.enable()
    backward_elsewhere()
    assert gc.isenabled()
gc.disable()
backward_elsewhere()
assert not gc.isenabled()
print("done")
"""


@pytest.mark.thorough
def test_no_collection_runs_while_python_holds_its_lock():
    run = [sys.executable, "-c", COLLECTS_MEANWHILE]
    assert subprocess.run(run, capture_output=True, text=True, timeout=120).stdout == "done\n"
