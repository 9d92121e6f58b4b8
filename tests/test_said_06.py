"""What lesson 06 says of `.grad` beyond its own cells: each sentence still stands there, and torch
bears it out.
"""

import warnings
from itertools import pairwise

import torch
from said import said
from torch import nn

from helpers.exercises.exercise import find


def test_none_says_that_no_tensor_came_or_that_it_was_taken_away():
    assert "`None` says that no tensor came, or that it was taken away" in said("06", "acc-24")
    new, emptied = nn.Linear(2, 1), nn.Linear(2, 1)
    emptied(torch.ones(1, 2)).sum().backward()
    emptied.zero_grad()
    assert new.weight.grad is emptied.weight.grad is None


def test_zeros_do_not_say_how_they_came():
    assert "Zeros do not say how they came" in said("06", "acc-24")
    assert "zeros may also be a gradient that came out as 0" in said("06", "acc-27")
    written, came = (torch.ones(3, requires_grad=True) for _ in range(2))
    written.sum().backward()
    assert written.grad.tolist() == [1, 1, 1]
    written.grad.zero_()
    (came * 0).sum().backward()
    assert written.grad.tolist() == came.grad.tolist() == [0, 0, 0]


def test_zero_grad_writes_zeros_over_what_came_and_not_over_none():
    assert "above they were written over ones" in said("06", "acc-24")
    assert "print(layer.weight.grad) layer.zero_grad(set_to_none=False)" in said("06", "acc-23")
    layer = nn.Linear(2, 1)
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad is None
    layer(torch.ones(1, 2)).sum().backward()
    held = layer.weight.grad
    assert held.tolist() == [[1, 1]]
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad is held
    assert held.tolist() == [[0, 0]]


def test_grad_can_always_be_set_to_none():
    assert "`x.grad = None` always works" in said("06", "acc-24")
    leaf, filled = (torch.ones(3, requires_grad=True) for _ in range(2))
    filled.sum().backward()
    kept = filled * 2
    kept.retain_grad()
    kept.sum().backward()
    with torch.inference_mode():
        inference = torch.ones(3)
    for tensor in (leaf, filled, kept, leaf * 2, leaf.detach(), torch.ones(3), inference):
        tensor.grad = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reading .grad where it is not kept
            assert tensor.grad is None


def _same_tensor_after_another(**how):
    w = torch.tensor(1.0, requires_grad=True)
    (2 * w).backward()
    first = w.grad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's word on create_graph=True
        (w**2).backward(**how)
    second, w.grad = w.grad, None  # else weight and gradient hold each other
    assert second.item() == 4
    return first is second


def test_a_gradient_is_added_in_place_but_with_create_graph():
    assert "adds to it *in place* (not with `create_graph=True`)" in said("06", "acc-26")
    assert _same_tensor_after_another()
    assert _same_tensor_after_another(retain_graph=True)
    assert not _same_tensor_after_another(create_graph=True)


def _differs_in_portions(layer):
    torch.manual_seed(0)
    batch = torch.randn(8, 3)
    found = []
    for portions in ([batch], batch.split([6, 2])):
        layer.zero_grad()
        for part in portions:
            ((layer(part) ** 3).mean() * len(part) / len(batch)).backward()
        found.append(layer.weight.grad)
    return not torch.allclose(*found, atol=1e-5)


def test_weighted_portions_give_the_same_sum_but_with_batchnorm():
    assert "The same sum, if each is weighted by its size (not with BatchNorm)" in said(
        "06", "acc-51"
    )
    assert not _differs_in_portions(nn.Linear(3, 2))
    assert not _differs_in_portions(nn.LayerNorm(3))
    assert _differs_in_portions(nn.BatchNorm1d(3))


def _never_emptied(rate):
    w, d, losses = torch.tensor(1.0, requires_grad=True), torch.arange(1.0, 5.0), []
    for _ in range(20):
        loss = ((w * d - 2 * d) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= rate * w.grad
        losses.append(loss.item())
    return losses


def test_the_loss_that_is_never_emptied_swings_here_and_grows_elsewhere():
    assert "No error; here the loss swings." in said("06", "acc-51")
    assert "w -= 0.02 * w.grad" in said("06", "acc-34")
    here, elsewhere = _never_emptied(0.02), _never_emptied(0.3)
    signs = [after > before for before, after in pairwise(here)]
    assert sum(one != next_one for one, next_one in pairwise(signs)) >= 3
    assert max(here) < 10
    assert elsewhere[-1] > 1e12


def _leaf(value=2.0):
    return torch.tensor(value, requires_grad=True)


def test_the_principle_of_06_1_backward_adds_and_zero_writes_zeros():
    assert "adds to what stands in `.grad`, and `zero_()` writes zeros" in find("06.1").principle
    x = _leaf()
    x.grad = torch.tensor(100.0)
    (3 * x).backward()
    assert x.grad == 103
    held = x.grad
    x.grad.zero_()
    assert x.grad is held
    assert held == 0


def test_the_principle_of_06_2_a_write_shows_under_each_name_and_no_copys():
    assert "shows under each of its names, and under no copy's" in find("06.2").principle
    one = torch.ones(2)
    other, copy = one, one.clone()
    one.zero_()
    assert other.tolist() == [0, 0]
    assert copy.tolist() == [1, 1]


def test_the_principle_of_06_3_a_scaled_loss_sends_a_scaled_gradient():
    assert "how much a portion counts is up to how you scale its loss" in find("06.3").principle
    w, parts, scales = _leaf(), torch.tensor([1.0, 3.0, 5.0]), (1.0, 0.25, 2.0)
    for part, scale in zip(parts, scales, strict=True):
        (scale * (w * part) ** 2).backward()
    alone = [2 * 2.0 * float(part) ** 2 for part in parts]
    assert w.grad == sum(scale * each for scale, each in zip(scales, alone, strict=True))


def test_the_principle_of_06_4_a_name_goes_to_another_tensor_and_an_edit_changes_this_one():
    assert "only an edit in place changes the one that had it" in find("06.4").principle
    w = start = _leaf()
    w = w - 1
    assert w is not start
    assert start == 2
    with torch.no_grad():
        start -= 1
    assert start == 1


def test_exercise_06_3_says_who_has_a_zero_grad():
    texts = [idea.message for idea in find("06.3").misconceptions]
    assert any(
        "A tensor has no `zero_grad()`: modules and optimizers have." in each for each in texts
    )
    assert not hasattr(torch.ones(1), "zero_grad")
    assert hasattr(nn.Linear(1, 1), "zero_grad")
    assert hasattr(torch.optim.SGD([_leaf()], lr=0.1), "zero_grad")


def test_exercise_06_4_says_what_an_update_in_a_block_makes():
    texts = [idea.message for idea in find("06.4").misconceptions]
    assert any("what `w - ...` makes inside `no_grad()` does not" in each for each in texts)
    with torch.no_grad():
        assert not (_leaf() - 1).requires_grad


def test_exercise_06_3_says_how_much_a_portion_counts_in_the_mean():
    texts = " ".join(idea.message for idea in find("06.3").misconceptions)
    assert "In the mean over all a portion counts for its share of the samples" in texts
    for sizes in ([4], [1, 1, 2], [3, 3]):
        parts = torch.arange(1.0, 1 + sum(sizes)).split(sizes)
        shares = [len(part) / sum(sizes) * part.mean() for part in parts]
        assert torch.allclose(sum(shares), torch.cat(parts).mean())
