"""What lesson 08 says beyond its own cells: it still stands there, and torch bears it out."""

import copy
import io
from itertools import product
from unittest import mock

import pytest
import torch
from said import said
from torch import nn

from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.questions import question


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


def stands(cell, *words):
    for one in words:
        assert one in said("08", cell), one


# The case and idea 1


def trained(cut=lambda target: target, cut_guess=lambda guess: guess, start=(0.1, 0.1)):
    """Run the case; return how many points are right before and after, the loss, and the guesses."""
    points, moon = moons()
    w = torch.tensor([[one] for one in start], requires_grad=True)
    right = []
    for _ in range(200):
        guess = torch.sigmoid(points @ w)
        target = cut(torch.sigmoid(3 * points @ w))
        loss = ((cut_guess(guess) - target) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= w.grad
        w.grad = None
        right.append(int((guess.round() == moon).sum()))
    return right[0], right[-1], loss.item(), guess.detach()


def test_the_case_forgets_what_it_knew_and_one_word_repairs_it():
    stands("case", "right on 56 of 100 points, and it is unsure")
    stands(
        "case-then",
        "only 50 points are right now",
        "and 76 points will be right",
        "says 0.5 to every point, and nothing",
    )
    before, after, loss, guess = trained()
    assert (before, after, round(loss, 4)) == (56, 50, 0)
    assert guess.allclose(torch.full_like(guess, 0.5), atol=1e-4)
    assert "the classifier gets surer now: 76 points are right, and not 56." in find("08.5").right
    before, after, loss, guess = trained(torch.Tensor.detach)
    assert (before, after) == (56, 76)
    assert guess.min() < 0.05
    assert guess.max() > 0.95
    text = " ".join(one.message for one in find("08.5").misconceptions)
    assert "Now the target learns and the guess stays, so they meet at 0.5 all the same." in text
    assert trained(cut_guess=torch.Tensor.detach)[3].allclose(guess * 0 + 0.5, atol=1e-2)


def test_the_two_paths_of_the_loss_and_where_each_leads():
    stands("q12-because", "After Ann's 30, `w` shrinks", "After Ben's −12, `w` grows")
    stands(
        "q12-because",
        "18, 18: You would get that without `detach()`",
        "where guess and target agree",
    )
    stands("q12-notes", "(18: 30 and −12 add up.)")
    slopes = {}
    for name, guess, target in (("guess", 0, 1), ("target", 1, 0), ("both", 0, 0)):
        w = leaf(1.0)
        cut = (lambda one: one), torch.Tensor.detach
        loss = (cut[guess](w * 2) - cut[target](w * 5)) ** 2
        loss.backward()
        slopes[name] = w.grad.item()
    assert slopes == {"guess": -12, "target": 30, "both": 18}
    assert torch.sigmoid(torch.zeros(1)) == torch.sigmoid(3 * torch.zeros(1)) == 0.5


def test_what_is_detached_counts_for_the_number_and_not_for_the_gradient():
    stands("d2-because", "`y` is the rounded number", "so 1 arrives", "only a 0 would arrive")
    stands("d2-because", "Rounding is flat almost everywhere.")
    stands("d2-notes", "(2 again, and −1.)", "give the same picture? (Yes.)")
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
    stands("e1-because", "**`detach()` copies nothing.", "`w.detach().clone()` does it")
    stands(
        "e1-because",
        "`state_dict()` detaches every parameter",
        "`copy.deepcopy(model.state_dict())`",
    )
    stands("e1-because", "a tensor and its `detach()` share their numbers, but not their history")
    stands("e1-notes", "(Then all is well: a file is a copy.)", "change `w`? (Yes.)")
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
    h = leaf() * 3
    assert (h.grad_fn is not None, h.detach().grad_fn) == (True, None)


# Idea 3


BLOCKS = (torch.no_grad, torch.inference_mode)
VIEWS = (
    lambda h: h[0],
    lambda h: h.view(-1),
    lambda h: h.reshape(2, 1),
    lambda h: h.unsqueeze(0).transpose(0, 1),
    lambda h: h.expand(3, 2),
)
NEW = (lambda h: h * 2, lambda h: h.clone(), torch.stack, lambda h: h.sum(), lambda h: h.double())


@pytest.mark.parametrize("block", BLOCKS)
def test_a_view_made_in_a_block_shows_the_flag_and_has_no_way_back(block):
    stands("q13-because", "shows the flag of its base, but it was not recorded, so backward cannot")
    stands(
        "q13-because", "so it refuses. Do both in the block, or both after it", "only *read* `flat`"
    )
    stands("dng-51", "a view made there still shows its flag. Look at its `grad_fn`.")
    stands("q13-notes", "raise? (No, and `w.grad` stays None.)", "have caught it? (No.")
    for view in VIEWS:
        w = leaf()
        h = w * 3
        with block():
            flat = view(h)
        assert (flat.requires_grad, flat.grad_fn) == (True, None)
        loss = (flat * 2).sum()
        loss.backward()
        assert (loss.requires_grad, w.grad) == (True, None)
        with pytest.raises(RuntimeError, match="mode and is being modified inplace"):
            flat.mul_(2)
        assert h.tolist() == [3, 6]
    h = leaf() * 3
    h.view(-1).mul_(2)
    with block():
        h.view(-1).mul_(2)
    assert h.tolist() == [12, 24]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_new_result_comes_out_of_the_block_with_its_flag_down(block):
    stands(
        "q13-because", "`detach()` makes a view too, but its flag is down. A new result, such as"
    )
    stands("q13-because", "(a) That would be right if `flat` were `h * 2`, or `h.detach()`.")
    h = leaf() * 3
    with block():
        made = [one((h, h)) if one is torch.stack else one(h) for one in NEW]
    assert [one.requires_grad for one in made] == [False] * len(NEW)
    with torch.no_grad():
        for flat in (h * 2, h.detach()):
            assert not flat.requires_grad
            with torch.enable_grad():
                assert not flat.mul_(2).requires_grad


def test_eval_and_no_grad_do_not_do_each_others_work():
    stands("o1-because", "Neither does the other's work, so a validation needs both.")
    assert "neither sets the other" in find("08.3").principle
    stands("dng-51", "`eval()` is for dropout, `no_grad()` is for the graph.")
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    for training, mode in product((True, False), repeat=2):
        with torch.set_grad_enabled(mode):
            model.train(training)
            assert torch.is_grad_enabled() == mode
            assert model(torch.ones(1, 2)).requires_grad == mode
        assert model[1].training == training


def test_no_grad_without_with_does_nothing():
    stands("o1-because", "`torch.no_grad()` on a line without `with` does nothing at all")
    torch.no_grad()
    assert torch.is_grad_enabled()
    assert (leaf() * 2).requires_grad


def test_what_goes_wrong_with_one_of_the_two():
    stands("o1-notes", "each call builds a graph and keeps what it saved")
    stands("o1-notes", "dropout is on, and a batch norm moves its running statistics")
    rows = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    layer, norm, drop = nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout(0.5)
    assert layer.eval()(rows).grad_fn._saved_mat1 is not None
    with torch.no_grad():
        norm(rows)
        assert (drop(torch.ones(1000)) == 0).any()
    moved = norm.running_mean.clone()
    assert moved.tolist() != [0, 0]
    norm.eval()(rows)
    assert norm.running_mean.equal(moved)
    text = " ".join(one.message for one in find("08.3").misconceptions)
    assert "a BatchNorm moves its statistics at each call in train mode" in text
    assert "`eval()` sets that in each module inside; grad mode and `detach()` do not" in text


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("frozen", [True, False])
def test_a_module_may_ask_both_switches(batch_first, frozen):
    stands("o1-because", "such as `nn.TransformerEncoderLayer`, look at both switches to see")
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=batch_first).requires_grad_(not frozen)
    fast = torch._transformer_encoder_layer_fwd
    for training, mode in product((True, False), repeat=2):
        layer.train(training)
        with (
            mock.patch.object(torch, fast.__name__, wraps=fast) as called,
            torch.set_grad_enabled(mode),
        ):
            layer(torch.ones(1, 3, 4))
        assert called.called == (batch_first and not training and (frozen or not mode))


def test_every_order_was_run():
    told = question("08.o1").told
    good = [letters for letters, number in told["of"].items() if told["outcomes"][number]["isGood"]]
    assert "abd" in good
    assert all(set("abd") <= set(letters) for letters in good)
    assert all(letters.find("c") < letters.find("b") for letters in good)


# Idea 4


def test_only_inference_mode_false_undoes_inference_mode():
    stands("f2-notes", "(No. Only `inference_mode(False)` undoes `inference_mode()`.")
    stands(
        "f2-notes", "It switches grad mode on as well, so it undoes a `no_grad()` around it, too."
    )
    x, recorded = leaf(), []
    for inner in (torch.enable_grad(), torch.set_grad_enabled(True), torch.inference_mode(False)):
        with torch.inference_mode(), inner:
            recorded.append((x * 2).requires_grad)
    with torch.no_grad(), torch.inference_mode(False):
        recorded.append((x * 2).requires_grad)
    assert recorded == [False, False, True, True]


def test_an_inference_tensor_stays_one_and_a_view_of_an_ordinary_tensor_is_ordinary():
    stands("f2-because", "What is made under `inference_mode()` can never be saved for backward.")
    stands("f2-because", "`features.clone()` after the block is an ordinary tensor")
    stands("dng-42", "A view of an ordinary tensor is still ordinary.", "(No: a sum saves nothing.")
    stands(
        "dng-41", "a product saves its factors", "nothing has to be saved, so nothing is refused"
    )
    stands("dng-51", "What `inference_mode()` makes cannot be saved for backward.")
    x = leaf()
    with torch.inference_mode():
        made, view, detached = torch.ones(2) * 2, x[:1], x.detach()
        with torch.inference_mode(False):
            assert made.is_inference()
    assert [t.is_inference() for t in (made, view, detached)] == [True, False, False]
    assert (x + made).requires_grad
    assert (x * made.clone()).requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * made
    with torch.no_grad():
        ordinary = x * made
    assert (x * ordinary).requires_grad
    text = " ".join(one.message for one in find("08.3").misconceptions)
    assert "Another block records nothing either, and makes ordinary tensors." in text
    assert (x * 2).grad_fn._saved_self is None
    assert (x * detached).grad_fn._saved_other is not None


def test_a_line_without_with_lasts_until_somebody_switches_back():
    stands("f2-notes", "Another one: the next that calls `backward()`.")
    torch.set_grad_enabled(False)
    try:
        loss = leaf().sum()
        with pytest.raises(RuntimeError, match="does not require grad"):
            loss.backward()
    finally:
        torch.set_grad_enabled(True)
    assert leaf().sum().requires_grad


# Exercises


def test_the_innermost_block_decides_in_08_1():
    assert "Here the innermost block decides" in " ".join(find("08.1").hints)
    assert "inference_mode" not in find("08.1").solution
    line = "nn.Sequential(nn.Dropout(0.5), nn.ReLU()).eval()(x)"
    stands("dng-43", f"e = {line}")
    assert line in find("08.1").solution.replace("torch.nn.", "nn.")


def test_08_3_asks_for_a_model_in_one_mode_for_its_solution_sets_one():
    stands("dng-47", "The whole model is either in `train()` or in `eval()`.")
    names = {"torch": torch}
    exec(find("08.3").solution, names)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2).eval())
    names["answer"](model, torch.ones(3, 2))
    assert [layer.training for layer in model] == [True, True]  # it was frozen


def test_the_principle_of_the_case():
    assert "`detach()` keeps the number, so the loss stays the same." in find("08.5").principle
    w = leaf(1.0)
    assert (w * 5).detach() == w * 5


def test_what_the_moving_average_says():
    told = " ".join(one.message for one in find("08.8").misconceptions)
    assert "`state_dict()` names its weight twice, and `parameters()` gives it once." in told
    twice = nn.Sequential(*2 * [nn.Linear(1, 1)])
    assert (len(twice.state_dict()), len(list(twice.parameters()))) == (4, 2)
    assert "counts batches, in whole numbers" in told
    assert nn.BatchNorm1d(1).num_batches_tracked.dtype == torch.int64
    average = nn.Linear(1, 1)
    model = nn.Linear(1, 1).half()
    old = average.weight.item()
    run(find("08.8").solution)(average, model, 0.75)
    assert average.weight.item() == pytest.approx(0.75 * old + 0.25 * model.weight.item())
    assert average.weight.dtype == torch.float32
