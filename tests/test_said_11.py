"""What lesson 11 says of steps, run in plain torch. See tests/said.py."""

import pytest
import torch
from said import said
from torch import nn

FUSED = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad)


def step(kind, **options):
    """Make one step of a layer; return by how much the version of its weight ticked, and whether it
    moved.
    """
    layer = nn.Linear(2, 2, bias=False)
    optimizer = kind(layer.parameters(), lr=0.1, **options)

    def closure():
        optimizer.zero_grad()
        loss = (layer(torch.ones(1, 2)) ** 2).sum()
        loss.backward()
        return loss

    closure()
    version, before = layer.weight._version, layer.weight.detach().clone()
    optimizer.step(closure) if kind is torch.optim.LBFGS else optimizer.step()
    return layer.weight._version - version, not torch.equal(layer.weight, before)


@pytest.mark.parametrize("kind", FUSED)
def test_a_fused_step_moves_the_weight_and_ticks_nothing(kind):
    told = said("11", "loop-15")
    assert "Counted by plain SGD, that is" in told
    assert (
        "which SGD, Adam, AdamW and Adagrad take: the weight moved, and its counter did not" in told
    )
    assert "counted, unless `fused=True`" in said("11", "loop-53")
    assert "not through `.data` or in a fused step" in said("11", "loop-53")
    assert step(kind, fused=True) == (0, True)
    assert step(kind)[0] > 0


def test_only_those_four_take_fused():
    assert "`fused=True`, which SGD, Adam, AdamW and Adagrad take" in said("11", "loop-15")
    kinds = [one for one in vars(torch.optim).values() if isinstance(one, type)]
    takers = {
        one
        for one in kinds
        if issubclass(one, torch.optim.Optimizer) and "fused" in one.__init__.__annotations__
    }
    assert takers == set(FUSED)


def test_optimizers_tick_a_weight_in_their_own_ways():
    told = said("11", "loop-17")
    assert "under plain SGD the version counter of a weight is a clock of steps" in told
    assert "AdamW twice a step, LBFGS many times, a fused one never" in told
    assert "which plain SGD ticks once a step" in said("11", "loop-37")
    assert step(torch.optim.SGD) == (1, True)
    assert step(torch.optim.AdamW) == (2, True)
    assert step(torch.optim.LBFGS)[0] > 2


def test_init_group_is_not_in_every_optimizer():
    told = said("11", "loop-18")
    assert (
        "`_init_group` is a method that SGD's `step()` calls (LBFGS and SparseAdam have none)"
        in told
    )
    kinds = [one for one in vars(torch.optim).values() if isinstance(one, type)]
    kinds = [
        one
        for one in kinds
        if issubclass(one, torch.optim.Optimizer) and one is not torch.optim.Optimizer
    ]
    without = {one.__name__ for one in kinds if not hasattr(one, "_init_group")}
    assert without == {"LBFGS", "SparseAdam"}


@pytest.mark.parametrize("options", [{}, {"fused": True}], ids=["plain", "fused"])
def test_the_weights_tell_whether_an_optimizer_holds_them(options):
    assert "(The weights, before and after a step: has any moved?" in said("11", "loop-18")
    assert "do the weights move?" in said("11", "loop-54")
    assert "later whether the weights have moved" in said("11", "loop-26")
    held, other = nn.Linear(1, 1), nn.Linear(1, 1)
    before = held.weight.item(), other.weight.item()
    optimizer = torch.optim.SGD(held.parameters(), lr=0.1, **options)
    (held(torch.ones(1, 1)) + other(torch.ones(1, 1))).sum().backward()
    optimizer.step()
    assert (held.weight.item() != before[0], other.weight.item() != before[1]) == (True, False)


def test_a_step_edits_the_parameters_that_have_a_gradient():
    assert "a step edits every parameter that has a gradient" in said("11", "loop-30")
    used, unused = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    used.sum().backward()
    torch.optim.SGD([used, unused], lr=0.1, weight_decay=0.1).step()
    assert (used._version, unused._version) == (1, 0)


def second_backward(**options):
    """Return the layer's gradient of a second loss, walked after a step; and those of old and of
    new weights.
    """
    torch.manual_seed(0)
    layer, head = nn.Linear(2, 2), nn.Linear(2, 1)
    optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.1, **options)

    def of_weight(out):
        return torch.autograd.grad((out**2).sum(), layer.weight, retain_graph=True)[0][0, 0].item()

    out = head(layer(torch.ones(1, 2)))
    old = of_weight(out)
    out.sum().backward(retain_graph=True)
    optimizer.step()
    return of_weight(out), old, of_weight(head(layer(torch.ones(1, 2))))


def test_with_a_fused_step_the_second_backward_mixes_old_and_new_in_silence():
    assert "it gives a gradient made of old and new numbers, silently" in said("11", "loop-28")
    assert "With `fused=True` it would be (b)" in said("11", "loop-30")
    mixed, old, new = second_backward(fused=True)
    assert (mixed, old, new) == pytest.approx((0.0278, 0.0161, 0.0421), abs=1e-4)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        second_backward()
