"""The bytes of a forward and a backward: what torch's allocator counts, by what made or freed it."""

from itertools import accumulate

import pytest
import torch
from torch import nn
from torch.autograd.profiler import profile
from torch.utils.checkpoint import checkpoint

from helpers.memory import (
    KEPT,
    MADE,
    PASSED,
    in_blocks,
    most_bytes,
    plot_steps,
    plot_timeline,
    plot_trade,
    timeline,
)


def most_by_torch(forward):
    """Return the most bytes that torch's allocator has given out at a time."""
    with profile(profile_memory=True) as log:
        forward().backward()
    events = [event for event in log.kineto_results.events() if event.name() == "[memory]"]
    events.sort(key=lambda event: event.start_ns())
    return max(accumulate(event.nbytes() for event in events))


def tanh_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())


def whole(bytes_of):
    return [sum(parts) for parts in zip(*bytes_of.values(), strict=True)]


@pytest.mark.parametrize("rows", [1, 1000])
@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_the_peak_is_that_of_torchs_allocator(rows, blocks):
    net, x = tanh_net(), torch.randn(rows, 64)

    def forward():
        return (in_blocks(net, x, blocks) if blocks else net(x)).sum()

    truth = most_by_torch(forward)
    net.zero_grad()
    assert most_bytes(forward) == truth
    net.zero_grad()
    assert max(whole(timeline(forward)[1])) == truth


def test_each_step_has_the_name_of_its_node_and_what_it_makes_and_frees():
    net, x = tanh_net(), torch.randn(1000, 64)
    start, bytes_of, steps = timeline(lambda: net(x).sum())
    forward = "Addmm 1, Tanh 1, Addmm 2, Tanh 2, Sum, backward(), "
    back = "Sum, Tanh 2, Addmm 2, Tanh 1, Addmm 1"
    assert ", ".join(name for name, _ in steps) == forward + back
    assert dict(steps)["backward()"] == start
    result, weight = 1000 * 64 * 4, (64 + 1) * 64 * 4
    ends = [at for _, at in steps[1:]] + [len(bytes_of[MADE]) - 1]
    at_end = {kind: [line[end] for end in ends] for kind, line in bytes_of.items()}
    # a Linear's result goes once tanh has made its own; a saved one when its last node has run
    results = [1, 1, 2, 2, 2, 2, 2, 1, 1, 0, 0]
    assert [size // result for size in at_end[MADE]] == results
    assert at_end[KEPT][steps.index(next(s for s in steps[6:] if s[0] == "Addmm 2"))] == weight
    assert at_end[KEPT][-1] == 2 * weight
    assert at_end[PASSED][-1] == 0


def test_what_a_checkpoint_computes_again_is_a_result_of_the_forward():
    net, x = tanh_net(), torch.randn(1000, 64)
    start, bytes_of, steps = timeline(lambda: checkpoint(net, x, use_reentrant=False).sum())
    assert bytes_of[MADE][start] < 1000 < 2 * 1000 * 64 * 4 <= max(bytes_of[MADE][start:])
    assert {"Addmm 1", "Tanh 2"} <= {name for name, at in steps if at < start}


def test_an_operation_without_a_node_has_its_own_name():
    x = torch.ones(3, requires_grad=True)
    _, _, steps = timeline(lambda: (x * torch.arange(3.0)).sum())
    assert [name for name, _ in steps][:2] == ["arange", "Mul"]


def test_looking_leaves_no_hook_and_no_flag():
    x, seen = torch.ones(3, requires_grad=True), []
    timeline(lambda: (x * 2).sum())
    x.register_hook(lambda grad: seen.append(torch.is_grad_enabled()))
    (x * 2).sum().backward()
    assert seen == [False]
    assert torch.is_grad_enabled()
    assert x.grad.tolist() == [4.0] * 3


def test_the_words_name_the_peak_its_place_and_what_it_is_for():
    shown = plot_timeline(tanh_net(), torch.randn(1, 64), torch.randn(1000, 64))
    assert shown.alt.startswith("1 row: peak 33.5 kB, at Addmm 1 of backward, ")
    assert " 1,000 rows: peak 784.6 kB, at Addmm 2 of backward, " in shown.alt
    assert "256,004 bytes of results of the forward, 512,004 bytes of gradients" in shown.alt
    small = plot_timeline(nn.Linear(3, 1), torch.ones(4, 3)).alt
    assert small.startswith("4 rows: peak 24 bytes, at Addmm of backward, ")
    layers, x = [nn.Sigmoid() for _ in range(4)], torch.ones(1000, requires_grad=True)
    words = plot_trade(layers, x).alt
    assert "Blocks under a checkpoint: none, 1, 2, 4." in words
    assert words.endswith(": 4, 8, 8, 8.")
    assert not any(layer._forward_pre_hooks for layer in layers)


def test_steps_are_drawn_to_one_scale_and_leave_no_old_gradient():
    net, x = tanh_net(), torch.randn(1000, 64)
    net(x).sum().backward()
    forwards = {"plain": lambda: net(x).sum(), "two blocks": lambda: in_blocks(net, x, 2).sum()}
    words = plot_steps(forwards).alt
    assert words.startswith("plain: peak 784.6 kB, at Addmm 2 of backward, ")
    assert " two blocks: peak " in words
    assert words.count("Across: ") == 1, "the same columns are said once"
    other = {"plain": forwards["plain"], "one layer": lambda: net[0](x).sum()}
    assert plot_steps(other).alt.count("Across: ") == 2
    assert plot_steps(forwards).alt == words, "old gradients are emptied first"


def test_a_sparse_gradient_has_no_storage_and_is_left_out():
    table = nn.Embedding(10, 3, sparse=True)
    plot_steps({"table": lambda: table(torch.tensor([1, 2])).sum()})
    assert table.weight.grad.is_sparse
