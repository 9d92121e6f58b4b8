"""Whatever is looked at: a calm answer or our own error, nothing changed, nothing run, and the
kernel lives.
"""

import importlib

import pytest
import torch
from forking import forking
from hostile_inputs.looking import lines, outcome

from helpers import show

KINDS = ("tensors", "subclasses", "graphs", "names", "surroundings")
CASES = {
    (kind, case.name): case
    for kind in KINDS
    for case in importlib.import_module(f"hostile_inputs.{kind}").CASES
}
ALONE = [key for key, case in CASES.items() if case.alone]
BEGIN = """
import warnings
warnings.simplefilter("ignore")
import torch
torch.set_warn_always(True)
from test_hostile_looking import CASES, told
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", [key for key in CASES if key not in ALONE], ids="-".join)
def test_a_look_gives(key, capfd):
    assert told(CASES[key]) == CASES[key].gives
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def run():
    with forking(BEGIN) as started:
        yield started


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("key", ALONE, ids="-".join)
def test_the_kernel_survives(run, tmp_path, key):
    program = f"print(told(CASES[{key!r}]))"
    assert run(program, tmp_path) == (0, CASES[key].gives + "\n", "")
