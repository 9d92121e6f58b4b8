"""What could kill the interpreter runs in a process of its own, and its exit code is asserted."""

import subprocess
import sys

import pytest

PROGRAM = """
import torch
from helpers import show

def chain():
    x = torch.ones(1, requires_grad=True)
    for _ in range(100_000):
        x = x.sin()
    picture = show(x)
    assert "Cut here: the 2,000 nodes" in picture.text
    assert len(picture.svg) < 2_000_000
    del x
    return "survived"
"""
PLAIN = "print(chain())"
THREAD = """
import threading
threading.stack_size(512 * 1024)
thread = threading.Thread(target=lambda: print(chain()))
thread.start()
thread.join()
"""


@pytest.mark.parametrize("how", [PLAIN, THREAD], ids=["default stack", "thread with 512 KiB"])
def test_a_chain_of_100_000_operations_is_shown_and_its_deletion_survived(how):
    done = subprocess.run([sys.executable, "-c", PROGRAM + how], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr
