"""The pretend ranks of lesson 18's lab do what real ones do: line by line, and in who waits for whom."""

import pytest

from helpers.labs.stepped_ranks import PROGRAMS, two_ranks
from helpers.ranks import RankError, run_ranks

GONE = "A rank waited for one that was gone: rank 0 was in"


def real(rank, world, program, alone, folder):
    """Run a program of the lab. Rank 1 begins once rank 0 has run `alone` lines."""
    from real_lab_ranks import Lane

    lane = Lane(rank, program, folder)
    if rank == 1:
        lane.begin_after(alone)
    lane.run()


def problem_of(*given):
    """Return what real ranks raise, as a text."""
    try:
        run_ranks(real, 2, *given, limit=60)
    except RankError as problem:
        return str(problem)
    return ""


def forward(net, x):
    return net.b * (net.a * x)


def proceed(rank):
    """Let a pretend rank run until it waits or has ended; return what it raises."""
    try:
        while not rank.is_done() and not rank.is_waiting():
            next(rank)
    except RuntimeError as problem:
        return str(problem)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_real_ranks_run_the_same_lines_wait_at_the_same_place_and_send_the_same(program, tmp_path):
    ranks = two_ranks(forward, program)
    proceed(ranks[0])
    alone = len(ranks[0].came)
    problem = problem_of(program, alone, str(tmp_path))
    assert (tmp_path / "alone").read_text() == str(alone), "rank 0 went on without rank 1"
    errors = [proceed(rank) for rank in (ranks[1], ranks[0], ranks[1])]
    assert ranks[0].is_waiting() == (program == "extra") == problem.startswith(GONE), problem
    for rank in ranks:
        assert (tmp_path / f"{rank.nr}.lines").read_text().split("\n")[:-1] == rank.told()
        if program != "extra":
            sent = [tensor.item() for tensor in rank.wire.sent[rank.nr]]
            assert (tmp_path / f"{rank.nr}.sent").read_text() == repr(sent)
        if program == "spare":
            assert errors[-1]
            assert (tmp_path / f"{rank.nr}.error").read_text().startswith(errors[-1])


def test_a_rank_that_waits_does_nothing_and_a_done_one_neither():
    first, second = two_ranks(forward, "model")
    for _ in range(9):
        next(first)
    assert (len(first.came), first.is_waiting(), first.b.grad.item()) == (3, True, 2)
    for _ in range(9):
        next(second)
    assert (second.is_done(), second.b.grad.item(), first.b.grad.item()) == (True, 4, 2)
    for _ in range(9):
        next(first)
    ended = ["backward ends: b 4, a 10", "sgd.step(): b 4.6, a 1"]
    assert first.told()[3:] == second.told()[3:] == ended
