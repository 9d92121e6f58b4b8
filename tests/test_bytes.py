"""What a graph holds for backward is what is freed with it, and reading it runs nothing."""

import pytest
import torch
from hypothesis import assume, given, settings
from programs import FAMILIES, often, programs
from torch import nn
from torch.autograd.profiler import profile
from torch.utils.checkpoint import checkpoint

from autograd_graphs.looking.tensors import memory_of
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.text import in_bytes
from helpers import module_calls, snapshot


def kept_by(make):
    """Run `make` and keep only what it returns; return that, and how many bytes torch's allocator
    still has given out for it.
    """
    with profile(profile_memory=True) as log:
        kept = make()
    events = log.kineto_results.events()
    return kept, sum(event.nbytes() for event in events if event.name() == "[memory]")


def test_what_a_graph_holds_is_what_stays_allocated_for_it():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 30), torch.nn.Tanh(), torch.nn.Linear(30, 5))
    loss, kept = kept_by(lambda: model(torch.rand(100, 8)).exp().chunk(2)[0].sin().sum())
    told = snapshot(loss).held
    assert told.size == 4 * (100 * 8 + 100 * 30 + 100 * 5)  # x, tanh's result, exp's, with its half
    assert told.storages == 3
    assert told.leaf_size == 4 * (30 * 5)  # the second weight; the first serves no gradient
    assert kept == told.size + 4  # the loss itself


UNHOOKED = [family for family in FAMILIES if family not in ("checkpoints", "packed")]


def storages_by_torch(tensor):
    """Return address and size of every storage that the nodes of a graph saved, by unpacking them."""
    found, nodes = {}, [tensor.grad_fn]
    for node in nodes:
        for one in unpacked(node):
            found[one.untyped_storage().data_ptr()] = one.untyped_storage().nbytes()
        nodes += [child for child, _ in node.next_functions if child and child not in nodes]
    return found


def unpacked(node):
    """Return the tensors that a node saved."""
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        found = [raw.data for raw in node._raw_saved_tensors]
    else:
        found = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
    flat = [one for value in found for one in (value if isinstance(value, tuple) else [value])]
    return [one for one in flat if isinstance(one, torch.Tensor)]


@pytest.mark.slow
@given(programs(families=UNHOOKED))
@settings(often, max_examples=often.max_examples // 2)
def test_random_programs_hold_the_storages_that_torch_unpacks(program):
    pool = program.run()
    graph = snapshot(pool[-1])
    assume(pool[-1].grad_fn is not None)
    assume({one.state for node in graph.nodes for one in node.saved} <= {"held"})
    truth = storages_by_torch(pool[-1])
    assert graph.held.size + graph.held.leaf_size == sum(truth.values())
    assert graph.held.unknown == 0


@pytest.mark.parametrize("cut", [lambda t: t[:, :1].expand(2, 3), lambda t: t[:0], lambda t: t[1]])
def test_a_detached_view_counts_with_all_of_its_storage(cut):
    x = torch.ones(2, 2, requires_grad=True)
    held = snapshot(x.sum() * cut(torch.ones(2, 2)).detach()).held
    assert held.size == 4 * 2 * 2


def test_what_is_packed_is_not_asked_and_said_to_be_unknown():
    runs = []

    def forward(x):
        runs.append(1)
        return (x * x).exp()

    y = checkpoint(forward, torch.ones(1_000, requires_grad=True), use_reentrant=False)
    loss = y.neg().exp().sum()
    assert str(snapshot(loss)).splitlines()[-1] == (
        "The graph holds 4.0 kB for backward in 1 storage; the size of 3 more isn't known."
    )
    assert runs == [1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, device="meta"),
        lambda: torch.eye(2).to_sparse(),
        lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8),
        lambda: torch.ones(2).as_subclass(type("Own", (torch.Tensor,), {})),
    ],
    ids=["meta", "sparse", "quantized", "subclass"],
)
def test_the_memory_of_an_odd_tensor_is_unknown(make):
    tensor = make()
    with quietly():
        assert memory_of(tensor) is None


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: torch.ones(10)[:3], 40),
        (lambda: torch.ones(3, 4).t(), 48),
        (lambda: torch.ones(1).expand(10**9), 4),
        (lambda: torch.ones(10, dtype=torch.float64).view(torch.float32)[1:3], 80),
        (lambda: torch.empty(0), 0),
        (lambda: resized(torch.ones(10), 12), 12),
        (lambda: resized(torch.ones(10), 0), 0),
    ],
)
def test_the_memory_of_a_tensor_is_that_of_its_storage(make, size):
    tensor = make()
    assert memory_of(tensor)[1] == tensor.untyped_storage().nbytes() == size


def resized(tensor, size):
    tensor.untyped_storage().resize_(size)
    return tensor


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1_000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (1_234_000_000, "1.2 GB"),
        (10**19, "10,000.0 PB"),
    ],
)
def test_bytes_are_told_in_si_units(count, text):
    assert in_bytes(count) == text


@pytest.mark.parametrize("given", ["a model", "its calls", "in reach"])
def test_weights_that_exist_anyway_are_not_held_by_the_graph_frozen_ones_and_buffers_neither(given):
    model = nn.Sequential(nn.Linear(3, 100), nn.Linear(100, 100), nn.BatchNorm1d(100))
    model[1].requires_grad_(False)
    model.eval()
    with module_calls(model) as calls:
        loss = model(torch.ones(2, 3)).sum()
    names = {"a model": model, "its calls": calls, "in reach": None}[given]
    held = snapshot(loss, names=names).held
    frozen, batch_norm = 100 * 100, 3 * 100  # running mean and variance are buffers
    assert held.leaf_size == 4 * (frozen + batch_norm)
    assert held.size == 4 * (2 * 3 + 2 * 100)  # what went into the first layer, and the last
