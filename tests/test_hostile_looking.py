"""Whatever is looked at: a calm answer or our own error, nothing changed, nothing run, and the
kernel lives.
"""

import importlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
from hostile_inputs.looking import lines, outcome

from helpers import show

TESTS = Path(__file__).parent
KINDS = ("tensors", "subclasses", "graphs", "names", "surroundings")
CASES = {
    (kind, case.name): case
    for kind in KINDS
    for case in importlib.import_module(f"hostile_inputs.{kind}").CASES
}
ALONE = [key for key, case in CASES.items() if case.alone]
# A process that has imported everything; each case runs in a fork of it, to that fork's very end,
# but for at most two minutes.
PROGRAM = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
import torch
torch.set_warn_always(True)
from test_hostile_looking import CASES, told
for asked in iter(sys.stdin.readline, ""):
    kind, name, said, complained = asked.split()
    child = os.fork()
    if not child:
        signal.alarm(120)
        for path, number in ((said, 1), (complained, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        print(told(CASES[kind, name]))
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Load Graphviz before anything is timed, and let torch warn each time, not once in a process."""
    show(torch.ones(1, requires_grad=True) * 2)
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def told(case):
    """Run a case both ways; return the line that it promises, or all that was told where it is not
    there.
    """
    text = outcome(case)
    return case.gives if case.gives in lines(text) else text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", [key for key in CASES if key not in ALONE], ids="-".join)
def test_a_look_gives(key, capfd):
    assert told(CASES[key]) == CASES[key].gives
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def forking():
    command = [sys.executable, "-c", PROGRAM]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=TESTS.parent, env=environment(), **pipes) as process:
        yield process
        process.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("key", ALONE, ids="-".join)
def test_the_kernel_survives(forking, tmp_path, key):
    said, complained = tmp_path / "said", tmp_path / "complained"
    print(*key, said, complained, file=forking.stdin, flush=True)
    code = int(forking.stdout.readline())
    assert (code, said.read_text(), complained.read_text()) == (0, CASES[key].gives + "\n", "")


def environment():
    return {**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}", "PYTHONIOENCODING": "utf-8"}


def test_no_two_cases_have_the_same_name():
    names = Counter(name for _, name in CASES)
    assert len(CASES) >= 150
    assert max(names.values()) == 1, names.most_common(3)
