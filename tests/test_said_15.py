"""What lesson 15 claims of memory, hooks on saved tensors and checkpoints beyond its own cells, run in torch."""

import random
import warnings
from functools import partial

import numpy
import pytest
import torch
from torch import nn
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    dropout,
    scaled_dot_product_attention,
)
from torch.utils.checkpoint import CheckpointError, checkpoint

from autograd_graphs import show
from helpers.memory import (
    KEPT,
    MADE,
    bytes_in_use,
    in_blocks,
    most_bytes,
    plot_timeline,
    timeline,
)
from helpers.moons import moons


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def ran(block, x, **how):
    """Return the gradient of x through a block, under a checkpoint where `how` says so."""
    torch.manual_seed(0)
    x = x.detach().clone().requires_grad_()
    result = checkpoint(block, x, **how) if how else block(x)
    result.sum().backward()
    return x.grad.tolist()


@pytest.mark.slow
def test_the_case_and_its_one_word():
    ends = {}
    for reentrant in (True, False):
        torch.manual_seed(0)
        x, y = moons()
        body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        head, log = nn.Linear(32, 1), []
        sgd = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1.0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(200):
                z = head(checkpoint(body, x, use_reentrant=reentrant))
                loss = binary_cross_entropy_with_logits(z, y)
                sgd.zero_grad()
                loss.backward()
                sgd.step()
                log.append(loss.item())
        assert bool(seen) == reentrant
        assert log[-1] < log[0], "the head learns"
        learnt = all(one.grad is not None for one in body.parameters())
        ends[reentrant] = learnt, int(((z > 0) == y).sum())
    assert ends == {True: (False, 90), False: (True, 100)}


@pytest.mark.parametrize(("rows", "kind"), [(1, KEPT), (1000, MADE)])
def test_what_fills_the_memory_depends_on_the_batch(rows, kind):
    torch.manual_seed(0)
    net = nn.Sequential(*[one for _ in range(4) for one in (nn.Linear(64, 64), nn.Tanh())])
    x = torch.randn(rows, 64)
    start, bytes_of, _ = timeline(lambda: net(x).sum())
    whole = [sum(parts) for parts in zip(*bytes_of.values(), strict=True)]
    peak = whole.index(max(whole))
    assert max(bytes_of, key=lambda name: bytes_of[name][peak]) == kind
    assert peak > start, "in backward"
    assert (peak > start + (len(whole) - start) // 2) == (kind == KEPT)
    assert rows == 1 or bytes_of[MADE][start] > 0.99 * whole[start]
    assert max(whole) < 1.05 * max(whole[: start + 1]) or kind == KEPT
    gradients = sum(one.grad.untyped_storage().nbytes() for one in net.parameters())
    assert bytes_of[KEPT][-1] == gradients
    made = max(bytes_of[MADE])
    assert made > 10 * gradients if kind == MADE else made < 0.05 * gradients
    _, again, _ = timeline(lambda: net(x).sum())
    assert max(again[KEPT]) == 0, "new gradients are added into the old memory"


def test_a_model_of_ones_own_with_one_input_and_a_sparse_gradient_is_drawn():
    table = nn.Embedding(10, 3, sparse=True)
    plot_timeline(table, torch.tensor([1, 2]))
    assert table.weight.grad.is_sparse, "what has no storage is left out, and nothing raises"


def test_hooks_on_saved_tensors():
    x = leaf(2.6)
    with saved_tensors_hooks(torch.round, lambda kept: kept):
        y = x**2
    outside = x**2
    y.backward()
    assert (y.item(), x.grad.item()) == (pytest.approx(6.76), 6)
    assert torch.autograd.grad(outside, x)[0].item() == pytest.approx(5.2)
    with (
        pytest.raises(RuntimeError, match="modifying its input in place"),
        saved_tensors_hooks(lambda tensor: tensor.mul_(2), lambda kept: kept),
    ):
        (x * 1).exp()
    with saved_tensors_hooks(lambda tensor: tensor, lambda kept: None):
        y = x.exp()
    with pytest.raises(TypeError, match="expected to be a Tensor"):
        y.backward()
    with save_on_cpu():
        y = x.exp()
    assert torch.autograd.grad(y, x)[0].item() == pytest.approx(y.item())
    assert 2 * torch.float16.itemsize == x.dtype.itemsize
    with saved_tensors_hooks(torch.Tensor.half, torch.Tensor.float):
        y = x.exp()
    assert torch.autograd.grad(y, x)[0].item() == pytest.approx(y.item(), rel=1e-3)
    with saved_tensors_hooks(torch.Tensor.half, torch.Tensor.float):
        y = x * torch.tensor(100_000.0)
    assert torch.autograd.grad(y, x)[0].item() == float("inf")


def test_the_two_kinds_of_checkpoint():
    calls, x, layer = [], leaf(0.5), nn.Linear(2, 2)

    def block(t):
        calls.append(1)
        return (t * 2).exp()

    new = checkpoint(block, x, use_reentrant=False)
    assert str(show(new)).count("Backward") == str(show(block(x))).count("Backward")
    assert "● other = 2" in str(show(new))
    calls.clear()
    new.sum().backward(retain_graph=True)
    assert len(calls) == 1
    new.sum().backward()
    assert len(calls) == 2
    calls.clear()
    checkpoint(lambda t: calls.append(1) or t + 1, x, use_reentrant=False).sum().backward()
    assert len(calls) == 1, "nothing was saved"
    lines = []

    def long_block(t):
        lines.append("first")
        t = t.exp()
        lines.append("last")
        return t

    checkpoint(long_block, x, use_reentrant=False).sum().backward()
    assert lines == ["first", "last", "first"]
    old = str(show(checkpoint(block, x, use_reentrant=True)))
    assert "CheckpointFunctionBackward" in old
    assert "Exp" not in old
    data = torch.ones(1, 2)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad"):
        assert not checkpoint(layer, data, use_reentrant=True).requires_grad
    assert checkpoint(layer, data, use_reentrant=False).requires_grad


def test_what_a_block_reads_has_to_be_the_same():
    own, x = torch.Generator(), torch.ones(8)

    def same_dropout(t):
        return dropout(t, 0.5) * 2

    def own_numbers(t):
        return t * torch.rand(8, generator=own)

    new = {"use_reentrant": False}
    assert ran(same_dropout, x) == ran(same_dropout, x, **new)
    assert ran(same_dropout, x) != ran(same_dropout, x, preserve_rng_state=False, **new)
    assert ran(own_numbers, x) != ran(own_numbers, x, **new)
    for draw, seed in ((random.random, random.seed), (numpy.random.rand, numpy.random.seed)):
        seed(0)
        once = ran(lambda t, draw=draw: (t * draw()).exp(), x)
        seed(0)
        assert ran(lambda t, draw=draw: (t * draw()).exp(), x, **new) != once
    scale = [2.0]

    def reads(t, by=None):
        return (t * (torch.tensor(scale[0]) if by is None else by)).sin()

    for given, right in (((), False), ((torch.tensor(2.0),), True)):
        scale[0], w = 2.0, leaf(1.0)
        y = checkpoint(reads, w, *given, **new)
        scale[0] = 5.0
        y.backward()
        assert (w.grad.item() == pytest.approx(2 * torch.tensor(2.0).cos().item())) == right
        assert right or w.grad.item() == pytest.approx(5 * torch.tensor(5.0).cos().item())

    kept, w = torch.tensor(2.0), leaf(1.0)
    y = checkpoint(reads, w, kept, **new)
    kept.fill_(5.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    kept = torch.tensor([2.0])
    for given, edited in ((kept, kept.data), ([kept], kept)):
        kept.fill_(2.0)
        w = leaf(1.0)
        y = checkpoint(lambda t, by: (t * by[0]).sin(), w, given, **new)
        edited.fill_(5.0)
        y.backward()
        assert w.grad.item() == pytest.approx(5 * torch.tensor(5.0).cos().item()), "nobody compared"

    layer, data = nn.Linear(1, 1), torch.ones(1, 1, requires_grad=True)
    y = checkpoint(lambda t: layer(t).sin(), data, **new)
    with torch.no_grad():
        layer.weight.add_(3.0)
    (came,) = torch.autograd.grad(y, data)
    assert torch.equal(came, torch.autograd.grad(layer(data).sin(), data)[0]), "the new weight"
    norm = nn.BatchNorm1d(3)
    checkpoint(norm, torch.randn(4, 3, requires_grad=True), **new).sum().backward()
    assert norm.num_batches_tracked == 2

    def grows(t):
        scale.append(1.0)
        return t.exp() * torch.ones(len(scale))

    w = leaf(1.0)
    with pytest.raises(CheckpointError, match="different metadata"):
        checkpoint(grows, w, **new).sum().backward()


def test_the_trade_and_a_checkpoint_in_a_checkpoint():
    x, runs = leaf(*[1.0] * 1000), []
    layers = [nn.Sigmoid() for _ in range(16)]
    for layer in layers:
        layer.register_forward_pre_hook(lambda *given: runs.append(1))
    most = {}
    for blocks in (1, 2, 4, 8, 16):
        x.grad = None
        runs.clear()
        most[blocks] = most_bytes(lambda blocks=blocks: in_blocks(layers, x, blocks).sum())
        assert len(runs) == 32
    runs.clear()
    assert most_bytes(lambda: nn.Sequential(*layers)(x).sum()) == most[1]
    assert len(runs) == 16
    assert min(most, key=most.get) == 4
    assert (most[1], most[4], most[16]) == (68008, 32008, 68008)
    hundred = [nn.Sigmoid() for _ in range(100)]
    of_hundred = {n: most_bytes(lambda n=n: in_blocks(hundred, x, n).sum()) for n in (5, 10, 20)}
    assert min(of_hundred, key=of_hundred.get) == 10
    once = most_bytes(lambda: in_blocks(layers * 4, x, 8).sum())  # the best of 64 layers

    def nested(h):
        for _ in range(4):
            h = checkpoint(lambda t: in_blocks(layers, t, 4), h, use_reentrant=False)
        return h.sum()

    x.grad = None
    assert most_bytes(lambda: nested(x)) < once
    calls = []

    def inner(t):
        calls.append(1)
        return t.sin()

    def outer(t):
        return checkpoint(inner, t.exp(), use_reentrant=False).cos()

    w = leaf(0.5)
    checkpoint(outer, w, use_reentrant=False).backward()
    assert len(calls) == 3
    plain = leaf(0.5)
    plain.exp().sin().cos().backward()
    assert w.grad.item() == pytest.approx(plain.grad.item())


def test_the_bytes_of_attention():

    def by_hand(q, k, v):
        return (q @ k.mT / 8**0.5).softmax(-1) @ v

    def held(attend, *shape):
        q = torch.randn(*shape, requires_grad=True)
        return bytes_in_use(lambda: attend(q, q, q).sum())[0][-1]

    written = [held(by_hand, 1, 1, words, 8) for words in (100, 200)]
    fused = [held(scaled_dot_product_attention, 1, 1, words, 8) for words in (100, 200)]
    assert 3.8 < written[1] / written[0] < 4.05
    assert 1.9 < fused[1] / fused[0] < 2.1
    result, a_number_each = 100 * 8 * 4, 100 * 4
    assert fused[0] == result + a_number_each + 4
    flat = [held(scaled_dot_product_attention, words, 8) for words in (100, 200)]
    assert flat[1] / flat[0] > 3.5
    dropped = partial(scaled_dot_product_attention, dropout_p=0.1)

    def wider(q, k, v):
        return scaled_dot_product_attention(q, k, torch.cat([v, v], dim=-1))

    def across(q, k, v):
        across = [one.mT.contiguous().mT for one in (q, k, v)]
        return scaled_dot_product_attention(*across)

    def masked(q, k, v):
        mask = torch.zeros(q.shape[-2], q.shape[-2], requires_grad=True)
        return scaled_dot_product_attention(q, k, v, attn_mask=mask)

    plain = scaled_dot_product_attention
    odd = [(one, (1, 1)) for one in (dropped, wider, across, masked)]
    for attend, ahead in (*odd, (plain, (1,))):
        pairs = [held(attend, *ahead, words, 8) for words in (100, 200)]
        assert pairs[1] / pairs[0] > 3.5
