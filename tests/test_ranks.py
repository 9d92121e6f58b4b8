"""Ranks: what comes back, what is said where they fail, and that nothing of them is left."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn

from helpers.exercises.lessons.lesson_18 import APART
from helpers.exercises.lessons.pretend_ranks import pretend
from helpers.ranks import RankError, run_ranks
from helpers.ranks.telling import MOST_PRINTED, End, end_of, printed, told
from helpers.ranks.travelling import FIRST_LINES, THERE, names_missing, text_of

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def clean(tmp_path, monkeypatch):
    """Run each test in a folder of its own, and look there for what ranks leave behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert left(tmp_path) == []


def left(folder, seconds=0.0):
    """Return what is left in a folder, and the processes that work there; wait so long for their end."""
    end = time.monotonic() + seconds
    while True:
        found = [path.name for path in folder.iterdir()]
        for process in Path("/proc").glob("[0-9]*"):
            try:
                is_there = os.readlink(process / "cwd") == str(folder)
            except OSError:
                continue  # it has ended, or is another user's
            found += [process.name] if is_there and int(process.name) != os.getpid() else []
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)


def listen(rank, world):
    import os
    import sys

    return (
        dist.get_world_size(),
        os.environ.get("GLOO_SOCKET_IFNAME"),
        sys.stdin.read(),
        os.getcwd(),
    )


def fails(rank, world):
    x = torch.ones(2)
    if rank == 1:
        x = x.reshape(3)
    dist.all_reduce(x)


def hangs(rank, world):
    import time

    print("rank", rank, "begins")
    if rank == 1:
        time.sleep(100)
    dist.barrier()


def leaves(rank, world):
    if rank == 0:
        dist.barrier()


def is_killed(rank, world):
    import os

    if rank == 1:
        os.kill(os.getpid(), 9)
    dist.barrier()


def ends_itself(rank, world):
    import os

    os._exit(3)


def crashes(rank, world):
    import ctypes

    ctypes.string_at(0)


def starts_a_child(rank, world):
    import subprocess
    import sys

    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])


def differ(rank, world):
    dist.all_reduce(torch.ones(1 if rank else 8))


def hands_out_a_module(rank, world):
    return [1.0, {"model": nn.Linear(1, 1)}]


def warns(rank, world):
    w = torch.tensor(2.0 + rank, requires_grad=True)
    h = w**2
    dist.all_reduce(h)
    h.backward()
    return w.grad.item()


def waits(rank, world):
    import time

    open("begun", "w").close()
    time.sleep(100)


def steps(rank, world, lines):
    weights = []
    for line in lines:
        torch.manual_seed(rank)
        model = DDP(nn.Linear(1, 1, bias=False))  # noqa: F821
        sgd = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.tensor([[1.0 + rank]])
        exec(line, globals(), {"model": model, "x": x, "rank": rank})
        sgd.step()
        weights.append(round(model.module.weight.item(), 5))
    return weights


def error_of(function, *args, **more):
    with pytest.raises((RankError, ValueError)) as caught:
        run_ranks(function, *args, **more)
    return str(caught.value)


@pytest.mark.slow
def test_answers_come_back_and_prints_come_in_order(capsys):
    def work(rank, world, points, more):
        total = torch.tensor(float(rank + 1))
        print("begins")
        dist.all_reduce(total)
        print("adds", total.item() + more["one"])
        return total, [rank, world], points.sum().item()

    answers = run_ranks(work, 2, torch.ones(4), {"one": 1})
    assert answers == [(torch.tensor(3.0), [rank, 2], 4.0) for rank in range(2)]
    said = [f"rank {rank}: {text}" for rank in range(2) for text in ("begins", "adds 4.0")]
    assert capsys.readouterr().out.splitlines() == said


@pytest.mark.slow
def test_a_rank_is_alone_on_the_loopback_and_reads_nothing(tmp_path):
    interface = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
    assert run_ranks(listen, 1) == [(1, interface, "", str(tmp_path))]


@pytest.mark.slow
def test_a_warning_is_a_line_without_a_path(capsys):
    assert run_ranks(warns, 1) == [4.0]
    (said,) = capsys.readouterr().out.splitlines()
    assert said.startswith("rank 0: UserWarning: c10d::allreduce_: an autograd kernel was not")
    assert not re.search(r"\.(py|cpp)\b", said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (fails, r"Rank 1 of 2 failed in line 4: x = x\.reshape\(3\)\nRuntimeError: shape .*"),
        (
            hangs,
            r"Time is up after 1 seconds: rank 0 was in line 7, dist\.barrier\(\);"
            r" rank 1 was in line 6, time\.sleep\(100\)\.",
        ),
        (
            leaves,
            r"A rank waited for one that was gone: rank 0 was in line 3, dist\.barrier\(\);"
            r" rank 1 had ended\.",
        ),
        (is_killed, r"The process of rank 1 of 2 is gone: something outside ended it, .*"),
        (crashes, r"The process of rank 0 of 1 is gone: in line 4, .*, Python itself crashed .*"),
        (ends_itself, r"The process of rank 0 of 1 is gone: with exit code 3\."),
        (
            differ,
            r"The ranks didn't fit together, so gloo ended a process: rank 0 was in line 2, dist.*;"
            r" rank 1 was in line 2, dist\.all_reduce.*\.\nDo all ranks .*",
        ),
        (hands_out_a_module, "What rank 0 of 1 returned has a Linear in it, which can't go .*"),
    ],
)
def test_what_went_wrong_is_said_in_a_sentence(function, said):
    world = 1 if function in (crashes, ends_itself, hands_out_a_module) else 2
    assert re.fullmatch(said, error_of(function, world, limit=1 if function is hangs else 30))


@pytest.mark.slow
def test_an_interrupt_ends_all_ranks(tmp_path):
    def interrupt():
        while not (tmp_path / "begun").exists():
            time.sleep(0.02)
        (tmp_path / "begun").unlink()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt, match="You interrupted the ranks, and all have ended"):
        run_ranks(waits, 1)


@pytest.mark.slow
def test_what_a_rank_has_started_ends_with_it():
    assert run_ranks(starts_a_child, 1) == [None]  # `clean` looks for processes that are left


@pytest.mark.slow
def test_ranks_end_with_the_process_that_asked_for_them(tmp_path):
    code = "from tests.test_ranks import *; run_ranks(waits, 1)"
    more = {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    asking = subprocess.Popen([sys.executable, "-c", code], env=os.environ | more)
    while not (tmp_path / "begun").exists():
        assert asking.poll() is None
        time.sleep(0.05)
    asking.kill()
    asking.wait()
    time.sleep(0.2)
    (tmp_path / "begun").unlink()
    assert left(tmp_path, seconds=5) == []


def of_the_notebook(rank, world, share=ROOT):
    return [re.sub(name, "", "x") for name in os.listdir()]


def of_its_own(rank, world, *args):
    import math as m
    from os import path

    def inner(count):
        return count + sum(each for each in args)

    model = DDP(classifier())  # noqa: F821
    return inner(m.pi), path.sep, model, len(moons()), bce  # noqa: F821


def test_a_function_that_needs_the_notebook_is_refused():
    assert names_missing(text_of(of_its_own)) == []
    said = error_of(of_the_notebook)
    assert said.startswith("A rank doesn't have `ROOT`, `os`, `re`: it's a process of its own")
    there = {}
    exec(FIRST_LINES, there)
    assert set(there) - {"__builtins__"} == THERE


def test_what_cannot_be_a_rank_is_refused_before_one_begins():
    count = torch.nn.Linear
    assert error_of(lambda rank, world: rank).startswith("run_ranks takes a function")
    assert error_of(count).startswith("run_ranks takes a function")
    space = {}
    exec("def work(rank, world): pass", space)
    assert error_of(space["work"]).startswith("The text of `work` can't be found.")
    assert error_of(leaves, 2, 5).endswith("too many positional arguments.")
    assert error_of(leaves, 9) == "world is 9: give a number of ranks from 1 to 8."
    for limit in (0, -1, "5", None, True, float("inf"), float("nan")):
        assert error_of(leaves, limit=limit) == (
            f"limit is {limit!r}: give a number of seconds above 0, such as 60."
        )
    assert error_of(leaves, True) == "world is True: give a number of ranks from 1 to 8."
    assert "has a function in it" in error_of(of_its_own, 2, [1, {"a": error_of}])


@pytest.fixture(scope="module")
def pretended():
    """Run them before a test has its folder: an optimizer makes one for torch's compiler."""
    return pretend(steps, 2, list(APART.lines))


@pytest.mark.slow
def test_pretend_ranks_do_what_real_ones_do(pretended):
    real = run_ranks(steps, 2, list(APART.lines))
    assert pretended == real
    assert len({one == other for one, other in zip(*real, strict=True)}) == 2


def test_a_rank_that_ended_before_it_could_write_is_told_of(tmp_path):
    (tmp_path / "0.out").write_text("")
    end = end_of(tmp_path, 0, 1, "")
    assert told([end], 60) == "The process of rank 0 of 1 is gone: with exit code 1."
    (tmp_path / "0.out").unlink()


def test_ranks_that_cannot_meet_say_so_calmly():
    said = told([End("unmet", 0, what="no address for: lo"), End("stopped", 1)], 60)
    assert said == (
        "The ranks couldn't meet, because gloo doesn't start on this machine. Nothing is wrong with your"
        " function.\nWhat gloo says: no address for: lo"
    )


def test_of_very_long_prints_the_first_part_is_shown_and_the_rest_is_told(tmp_path):
    (tmp_path / "0.out").write_text("x\n" * MOST_PRINTED)
    assert printed(tmp_path, 0).endswith(
        "x\nrank 0: … and more: only the first 100,000 characters are shown"
    )
    (tmp_path / "0.out").unlink()


@pytest.mark.slow
def test_import_helpers_brings_no_ranks():
    code = """
import sys, helpers
assert not [name for name in sys.modules if name.startswith("helpers.ranks")]
from helpers.ranks.calling import run_ranks
assert helpers.run_ranks is run_ranks
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def is_sharded(rank, world):
    from torch.distributed.fsdp import fully_shard

    model, x = fully_shard(classifier()), torch.full((1, 2), 1.0 + rank)  # noqa: F821
    leaves = []
    model[0].register_forward_hook(lambda layer, *_: leaves.append(layer.weight))
    rests = model[0].weight
    try:
        torch.autograd.grad(model(x).sum(), rests)
    except RuntimeError as error:
        refused = str(error)
    model(x).sum().backward()
    other = DDP(classifier())  # noqa: F821
    other(x).sum().backward()
    alike = torch.equal(rests.grad.full_tensor(), other.module[0].weight.grad)
    held = leaves[-1].untyped_storage().nbytes()
    return "not have been used in the graph" in refused, type(rests).__name__, alike, held


@pytest.mark.slow
def test_a_sharded_weight_is_no_leaf_of_the_graph_and_its_gradient_is_that_of_ddp():
    assert run_ranks(is_sharded) == [(True, "DTensor", True, 0)] * 2


def in_turn(rank, world):
    class Crossed(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = (nn.Linear(4, 4, bias=False) for _ in "ab")

        def forward(self, x):
            return self.a(self.b(x)) if rank else self.b(self.a(x))

    model, log = DDP(Crossed(), bucket_cap_mb=3e-5), []  # noqa: F821

    def send(_: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        log.append(f"sends {names[bucket.parameters()[0]]}")
        work = dist.all_reduce(bucket.buffer().div_(world), async_op=True)
        return work.get_future().then(lambda sent: sent.value()[0])

    names = {weight: name[0] for name, weight in model.module.named_parameters()}
    for weight, name in names.items():
        weight.register_hook(lambda _, name=name: log.append(name))
    model.register_comm_hook(None, send)
    for _ in range(2):
        log.clear()
        model(torch.ones(1, 4)).sum().backward()
    return log


@pytest.mark.slow
def test_buckets_leave_in_the_order_of_rank_0_and_a_full_one_waits_for_those_before_it():
    assert run_ranks(in_turn) == [
        ["b", "sends b", "a", "sends a"],
        ["a", "b", "sends b", "sends a"],
    ]
