"""What could kill the interpreter runs in a process of its own, and its exit code is asserted."""

import pytest
from forking import forking
from hypothesis import given, settings
from programs import often, programs
from test_looking import kept, look_hard, outcome

from autograd_graphs.looking import freeing
from autograd_graphs.looking.freeing import SHALLOW, STRIDE

pytestmark = pytest.mark.thorough


BEGIN = """
import threading
import torch
from helpers import beside_torchviz, check, diagnose, record, show, snapshot
from autograd_graphs.looking import freeing

def chain(length):
    x = torch.ones(1, requires_grad=True)
    for _ in range(length):
        x = x.sin()
    return x

def sides(length):
    x = leaf = torch.ones(1, requires_grad=True)
    for _ in range(length // 2):
        x = leaf.exp() + x.sin()
    return x

class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad

def mixed(length):
    x = torch.ones(1, requires_grad=True)
    for nr in range(length):
        x = Own.apply(x) if nr % 50 == 0 else x.sin()
    return x

def within(kib, work):
    threading.stack_size(kib * 1024)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def run():
    with forking(BEGIN) as started:
        yield started


@pytest.fixture
def survives(run, tmp_path):
    """Return a function that runs a program in a process of its own."""
    return lambda program: run(f"{program}\nprint('survived')", tmp_path)


SMALL_STACK = """
for length in (freeing.SHALLOW, freeing.SHALLOW + freeing.STRIDE, 6_000):
    for shape in (chain, sides, mixed):
        held = [snapshot(kept := shape(length)) and kept]
        del kept
        within(192, held.clear)
    print(length)
"""


def test_a_graph_is_freed_in_a_thread_of_192_kib(survives):
    """Just not deep, so that none of its nodes holds another; just deep; deep."""
    said = f"{SHALLOW}\n{SHALLOW + STRIDE}\n6000\nsurvived\n"
    assert survives(SMALL_STACK) == (0, said, "")


MILLION = """
import sys

def shown(tensor):
    count = 0
    def note(frame, event, argument):
        nonlocal count
        count += 1
    sys.setprofile(note)
    picture = show(tensor)
    sys.setprofile(None)
    return picture, count  # the functions that were called, and those that came back

x = chain(26_000)
small, fewer = shown(x)
x = chain(1_000_000)
picture, count = shown(x)
assert count <= 1.01 * fewer, (count, fewer)  # what lies beyond the cap costs nothing
assert count <= 1_000 * 25_000, count  # one measured 4.6 million
assert "It has at least 25,000 nodes; exactly how many isn't known." in picture.text
assert len(picture.svg) < 2_000_000
held = [x]
del x
within(192, held.clear)
"""


@pytest.mark.slow
def test_a_chain_of_a_million_is_shown_in_part_and_freed(survives):
    """Calls are counted, not seconds: a machine where others work makes as many."""
    assert survives(MILLION) == (0, "survived\n", "")


@given(programs())
@settings(often, max_examples=often.max_examples // 3)
def test_nodes_that_hold_the_way_ahead_change_nothing(program):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(freeing, "SHALLOW", 0)
        patch.setattr(freeing, "STRIDE", 2)
        assert outcome(program, look_hard) == outcome(program, lambda pool: None)
        assert kept(program, look_hard) == kept(program, lambda pool: None)


PROGRAMS = {
    "a chain of 100,000, retained and recorded twice": """
y = chain(100_000)
for _ in range(2):
    record(y, retain_graph=True)
del y""",
    "torchviz beside a chain of 3,000": "beside_torchviz(chain(3_000))",
    "a hook that recurses for ever": """
x = torch.ones(1, requires_grad=True)
y = x * 2
def again(grad):
    with torch.enable_grad():
        y.sum().backward(retain_graph=True)
y.register_hook(lambda grad: endless(grad))
def endless(grad):
    return endless(grad)
try:
    record(y)
except RecursionError as error:
    diagnose(error)""",
    "an answer that recurses for ever": """
def answer(*given):
    return answer(*given)
check("02.1", answer)""",
    "two threads record through one leaf": """
x = torch.ones(3, requires_grad=True)
threads = [threading.Thread(target=lambda: [record((x * x).sum()) for _ in range(50)]) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]""",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_interpreter_survives(run, tmp_path, program):
    code, said, complained = run(f"{program}\nprint('survived')", tmp_path)
    assert (code, said.splitlines()[-1:]) == (0, ["survived"]), complained[-2000:]
