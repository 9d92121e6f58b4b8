"""What lesson 08 claims beyond its own cells, run in torch."""

import copy
import io
from itertools import product
from unittest import mock

import pytest
import torch
from torch import nn

from helpers.claims import refusal
from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


# The case and idea 1


def trained(cut=lambda target: target, cut_guess=lambda guess: guess):
    """Run the case; return how many points are right before and after, and the guesses."""
    points, moon = moons()
    w = torch.tensor([[0.1], [0.1]], requires_grad=True)
    right = []
    for _ in range(200):
        guess = torch.sigmoid(points @ w)
        target = cut(torch.sigmoid(3 * points @ w))
        ((cut_guess(guess) - target) ** 2).mean().backward()
        with torch.no_grad():
            w -= w.grad
        w.grad = None
        right.append(int((guess.round() == moon).sum()))
    return right[0], right[-1], guess.detach()


def test_the_case_forgets_what_it_knew_and_one_word_repairs_it():
    before, after, guess = trained()
    assert (before, after) == (56, 50)
    assert guess.allclose(torch.full_like(guess, 0.5), atol=1e-4)
    assert trained(cut_guess=torch.Tensor.detach)[2].allclose(guess, atol=1e-2)
    before, after, guess = trained(torch.Tensor.detach)
    assert (before, after) == (56, 76)
    assert guess.min() < 0.05
    assert guess.max() > 0.95


def test_the_two_paths_of_the_loss_add_up_and_each_leads_its_way():
    w = leaf(1.0)
    ((w * 2 - w * 5) ** 2).backward()
    assert w.grad == 18 == 30 - 12
    assert torch.sigmoid(torch.zeros(1)) == torch.sigmoid(3 * torch.zeros(1)) == 0.5


def test_what_is_detached_counts_for_the_number_and_is_a_constant_for_the_gradient():
    x = leaf(3.0)
    (x * x.detach()).backward()
    assert x.grad == 3, "as a constant factor it counts, with its value"
    came = []
    for write in (
        lambda x: x + (x.round() - x).detach(),
        lambda x: x.detach() + (x.round() - x),
        torch.round,
    ):
        x = torch.tensor(2.3, requires_grad=True)
        write(x).backward()
        came.append((write(x).item(), x.grad.item()))
    assert came == [(2, 1), (2, -1), (2, 0)]
    with torch.no_grad():
        bracket = x.round() - x
    nodes = [(x + cut).grad_fn.next_functions for cut in (bracket, (x.round() - x).detach())]
    assert [[node is None for node, _ in one] for one in nodes] == [[False, True]] * 2


# Idea 2


def test_what_shares_memory_with_a_weight():
    model, file = nn.Linear(2, 1), io.BytesIO()
    best, kept = model.state_dict(), copy.deepcopy(model.state_dict())
    torch.save(best, file)
    before = model.weight.detach().clone()
    assert not any(tensor.requires_grad for tensor in best.values())
    model.weight.detach()[0] = 7.0
    model.load_state_dict(best)
    assert model.weight.eq(7).all()
    file.seek(0)
    for copied in (kept, torch.load(file)):
        assert copied["weight"].equal(before)


# Idea 3


BLOCKS = (torch.no_grad, torch.inference_mode)
VIEWS = (lambda h: h[0], lambda h: h.view(-1), lambda h: h.unsqueeze(0).transpose(0, 1))


@pytest.mark.parametrize("block", BLOCKS)
def test_a_view_made_in_a_block_shows_the_flag_and_has_no_way_back(block):
    for view in VIEWS:
        w = leaf()
        h = w * 3
        with block():
            flat = view(h)
        assert (flat.requires_grad, flat.grad_fn) == (True, None)
        (flat * 2).sum().backward()
        assert w.grad is None
        with pytest.raises(RuntimeError, match="mode and is being modified inplace"):
            flat.mul_(2)
        h.mul_(2)
        for read in (lambda flat=flat: flat.grad_fn, flat.sum):
            assert "its base or another view of its base" in refusal(read)
    h = leaf() * 3
    h.view(-1).mul_(2)
    with block():
        h.view(-1).mul_(2)
    assert h.tolist() == [12, 24]


def test_a_new_result_comes_out_of_the_block_with_its_flag_down():
    h = leaf() * 3
    for block in BLOCKS:
        with block():
            made = h * 2, h.clone(), torch.stack((h, h)), h.sum(), h.double(), h.detach()
        assert not any(one.requires_grad for one in made)


def test_eval_and_no_grad_do_not_do_each_others_work():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    torch.no_grad()
    for training, mode in product((True, False), repeat=2):
        assert torch.is_grad_enabled()
        with torch.set_grad_enabled(mode):
            model.train(training)
            assert torch.is_grad_enabled() == mode
            assert model(torch.ones(1, 2)).requires_grad == mode
        assert model[1].training == training


def test_what_goes_wrong_with_one_of_the_two():
    norm, drop = nn.BatchNorm1d(2), nn.Dropout(0.5)
    assert nn.Linear(2, 2).eval()(torch.ones(1, 2)).grad_fn._saved_mat1 is not None
    with torch.no_grad():
        norm(torch.tensor([[1.0, 2.0], [3.0, 5.0]]))
        assert (drop(torch.ones(1000)) == 0).any()
    assert norm.running_mean.tolist() != [0, 0]


@pytest.mark.parametrize("frozen", [True, False])
def test_a_module_may_ask_both_switches(frozen):
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).requires_grad_(not frozen)
    fast = torch._transformer_encoder_layer_fwd
    for training, mode in product((True, False), repeat=2):
        layer.train(training)
        with (
            mock.patch.object(torch, fast.__name__, wraps=fast) as called,
            torch.set_grad_enabled(mode),
        ):
            layer(torch.ones(1, 3, 4))
        assert called.called == (not training and (frozen or not mode))


# Idea 4


def test_only_inference_mode_false_undoes_inference_mode():
    x, recorded = leaf(), []
    for inner in (torch.enable_grad(), torch.set_grad_enabled(True), torch.inference_mode(False)):
        with torch.inference_mode(), inner:
            recorded.append((x * 2).requires_grad)
    with torch.no_grad(), torch.inference_mode(False):
        recorded.append((x * 2).requires_grad)
    assert recorded == [False, False, True, True]


def test_an_inference_tensor_stays_one_and_a_view_of_an_ordinary_tensor_is_ordinary():
    x = leaf()
    with torch.inference_mode():
        made, view, detached = torch.ones(2) * 2, x[:1], x.detach()
    assert [t.is_inference() for t in (made, view, detached)] == [True, False, False]
    ordinary = torch.ones(2)
    with torch.inference_mode():
        window = ordinary.view(-1)
    assert (x * window).grad_fn._saved_other is not None, "no new tensor: it is saved, and edited"
    window.add_(1)
    assert (x + made).requires_grad
    assert (x * made.clone()).requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * made
    with torch.no_grad():
        ordinary = x * made
    assert (x * ordinary).requires_grad
    assert (x * detached).grad_fn._saved_other is not None
    assert "do not track version counter" in refusal(lambda: made._version)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        made.add_(1)
    assert made.tolist() == [3, 3]


def test_a_line_without_with_lasts_until_somebody_switches_back():
    torch.set_grad_enabled(False)
    try:
        loss = leaf().sum()
        with pytest.raises(RuntimeError, match="does not require grad"):
            loss.backward()
    finally:
        torch.set_grad_enabled(True)


# Exercises


def test_08_3_asks_for_a_model_in_one_mode_for_its_solution_sets_one():
    answer = run(find("08.3").solution)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2).eval())
    answer(model, torch.ones(3, 2))
    assert [layer.training for layer in model] == [True, True]  # it was frozen


def test_a_moving_average_meets_a_shared_weight_twice_and_counts_in_whole_numbers():
    twice = nn.Sequential(*2 * [nn.Linear(1, 1)])
    assert (len(twice.state_dict()), len(list(twice.parameters()))) == (4, 2)
    assert nn.BatchNorm1d(1).num_batches_tracked.dtype == torch.int64
    average = nn.Linear(1, 1)
    model = nn.Linear(1, 1).half()
    old = average.weight.item()
    run(find("08.8").solution)(average, model, 0.75)
    assert average.weight.item() == pytest.approx(0.75 * old + 0.25 * model.weight.item())
    assert average.weight.dtype == torch.float32
