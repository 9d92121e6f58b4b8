"""What could kill the interpreter runs in a process of its own: it says its last word and ends with
code 0.
"""

import pytest
from forking import forking

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

BEGIN = """
import threading
import torch
from helpers import beside_torchviz, check, diagnose, record, step_through

def chain(length):
    x = torch.ones(1, requires_grad=True)
    for _ in range(length):
        x = x.sin()
    return x
"""
PROGRAMS = {
    "a chain of 100,000, retained and recorded twice": """
y = chain(100_000)
for _ in range(2):
    record(y, retain_graph=True)
del y""",
    "a chain of 100,000 in a thread of 512 KiB": """
threading.stack_size(512 * 1024)
threads = [threading.Thread(target=lambda: record(chain(20_000))) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]""",
    "a graph that is 20,000 wide": """
x = torch.ones(1, requires_grad=True)
y = torch.stack([x * nr for nr in range(20_000)]).sum()
record(y)""",
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


@pytest.fixture(scope="module")
def run():
    with forking(BEGIN) as started:
        yield started


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_interpreter_survives(run, tmp_path, program):
    code, said, complained = run(f"{program}\nprint('survived')", tmp_path)
    assert (code, said.splitlines()[-1:]) == (0, ["survived"]), complained[-2000:]
