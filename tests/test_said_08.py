"""What lesson 08 says beyond its own cells: it still stands there, and torch bears it out."""

from itertools import product
from unittest import mock

import pytest
import torch
from said import said
from torch import nn

from helpers.exercises.exercise import find
from helpers.moons import moons
from helpers.predicting.questions import question


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


def stands(cell, *words):
    for one in words:
        assert one in said("08", cell), one


# The case and idea 1


def trained(cut=lambda target: target, cut_guess=lambda guess: guess, start=(0.6, -0.4)):
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
    stands("case", "right on 76 of 100 points, but it is unsure")
    stands("case-then", "only 50 points are right now", "says 0.5 to every point, and nothing")
    before, after, loss, guess = trained()
    assert (before, after, round(loss, 4)) == (76, 50, 0)
    assert guess.allclose(torch.full_like(guess, 0.5), atol=1e-4)
    assert "In the case the classifier gets surer now: 77 points are right." in find("08.5").right
    before, after, loss, guess = trained(torch.Tensor.detach)
    assert (before, after) == (76, 77)
    assert guess.min() < 0.05
    assert guess.max() > 0.95
    text = " ".join(one.message for one in find("08.5").misconceptions)
    assert "Now the target learns and the guess stays, so they meet at 0.5 all the same." in text
    assert trained(cut_guess=torch.Tensor.detach)[3].allclose(guess * 0 + 0.5, atol=1e-2)


def test_detach_is_not_recorded_and_the_tensor_in_front_keeps_its_history():
    stands("d1-because", "The tensor in front of it keeps its history")
    stands("d1-because", "`detach()` itself is never recorded, so it has no card")
    stands("d1-notes", "Would `with torch.no_grad(): target = w * 5` give the same picture? (Yes.)")
    w = leaf(1.0)
    front = w * 5
    target = front.detach()
    assert (target.grad_fn, front.grad_fn is not None) == (None, True)
    with torch.no_grad():
        other = w * 5
    one, two = [(w * 2 - cut).grad_fn.next_functions for cut in (target, other)]
    assert [node is None for node, _ in one] == [node is None for node, _ in two] == [False, True]


def test_the_two_paths_of_the_loss_and_where_each_leads():
    stands("q10-because", "2 · (2 − 5) · 2 is −12", "the path through the target counts, too, and")
    stands("q10-notes", "(30: together with −12 that is 18.)")
    stands("q10-because", "where `w` is 0, guess and target agree on 0.5")
    slopes = {}
    for name, guess, target in (("guess", 0, 1), ("target", 1, 0), ("both", 0, 0)):
        w = leaf(1.0)
        cut = (lambda one: one), torch.Tensor.detach
        loss = (cut[guess](w * 2) - cut[target](w * 5)) ** 2
        loss.backward()
        slopes[name] = w.grad.item()
    assert slopes == {"guess": -12, "target": 30, "both": 18}
    assert torch.sigmoid(torch.zeros(1)) == torch.sigmoid(3 * torch.zeros(1)) == 0.5
    stands("q10-notes", "Only 0, and without `detach()` small steps lead there.")
    w = 1.0
    for _ in range(100):
        w -= 0.01 * 18 * w
    assert abs(w) < 1e-6


# Idea 2


def test_what_shares_memory_with_a_weight():
    stands("f1-because", "**`detach()` copies nothing.", "write `w.detach().clone()`")
    stands("f1-notes", "its tensors share the memory of the parameters")
    w, model = leaf(), nn.Linear(2, 1)
    assert w.detach().data_ptr() == w.data.data_ptr() == w.data_ptr()
    assert w.detach().clone().data_ptr() != w.data_ptr()
    assert model.state_dict()["weight"].data_ptr() == model.weight.data_ptr()
    stands("f1-notes", '"The best weights so far", kept without a copy')
    kept, copied = w.detach(), w.detach().clone()
    with torch.no_grad():
        w += 1
    assert (kept.tolist(), copied.tolist()) == (w.tolist(), [1, 2])
    stands("f1-because", "the two share their numbers, not their history")
    h = w * 3
    assert (h.grad_fn is not None, h.detach().grad_fn) == (True, None)


def test_each_line_of_the_program_was_tried():
    tells = question("08.f1").told["tells"]
    assert "a leaf Variable that requires grad" in tells[4], "otherwise torch refuses"
    assert "moved by 2.0" in tells[1]
    assert "moved by 2.0" in tells[5], "a new tensor does not share the memory"
    assert "The next line makes a new tensor instead." in tells[5]


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
    stands("q11-because", "**A view made under `no_grad()` shows the flag of its base, and has no")
    stands("dng-51", "a view made there shows its flag all the same: look at the `grad_fn`")
    stands("q11-notes", "And under `inference_mode()`? (The same.)")
    stands("q11-notes", "Would `assert flat.requires_grad` have caught it? (No.")
    for view in VIEWS:
        w = leaf()
        h = w * 3
        with block():
            flat = view(h)
        assert (flat.requires_grad, flat.grad_fn) == (True, None)
        loss = (flat * 2).sum()
        loss.backward()
        assert (loss.requires_grad, w.grad) == (True, None)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_new_result_comes_out_of_the_block_with_its_flag_down(block):
    stands("q11-because", "A new result, such as `h * 2`, comes out of the block with its flag")
    stands("q11-because", "(a) You would get it with `flat = h * 2` in the block.")
    h = leaf() * 3
    with block():
        made = [one((h, h)) if one is torch.stack else one(h) for one in NEW]
    assert [one.requires_grad for one in made] == [False] * len(NEW)
    with torch.no_grad():
        flat = h * 2
    with pytest.raises(RuntimeError, match="does not require grad"):
        (flat * 2).sum().backward()


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
    stands("o1-because", "a few modules ask both, to find out whether a faster way will do")
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
    stands(
        "dng-25", "**`enable_grad()` undoes `no_grad()`, but only `inference_mode(False)` undoes"
    )
    stands("dng-25", "`enable_grad()` did switch grad mode on, but the other switch stayed")
    stands("dng-25", "(a) It would, inside `no_grad()`: there `enable_grad()` is enough.")
    x, recorded = leaf(), []
    for inner in (torch.enable_grad(), torch.set_grad_enabled(True), torch.inference_mode(False)):
        with torch.inference_mode(), inner:
            recorded.append((x * 2).requires_grad)
    assert recorded == [False, False, True]
    with torch.inference_mode(), torch.enable_grad():
        assert torch.is_grad_enabled()
        assert torch.is_inference_mode_enabled()
    with torch.no_grad(), torch.enable_grad():
        assert (x * 2).requires_grad


def test_an_inference_tensor_stays_one_and_a_view_of_an_ordinary_tensor_is_ordinary():
    stands("dng-25", "what was computed in `inference_mode()` stays an **inference tensor**")
    stands("dng-41", "(A view of an ordinary tensor stays ordinary, even in that block.)")
    stands(
        "dng-41", "an inference tensor must not be saved for backward", "nothing has to be saved"
    )
    stands("dng-51", "what was computed there is not saved for backward")
    stands("dng-42", "(No: a sum saves nothing.", "`y.clone()` outside the block is ordinary.")
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
    stands("dng-26", "Another one: the next that calls `backward()`.", "`torch.is_grad_enabled()`")
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
    stands("dng-47", "When you get the model, all of it is in one mode.")
    names = {"torch": torch}
    exec(find("08.3").solution, names)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2).eval())
    names["answer"](model, torch.ones(3, 2))
    assert [layer.training for layer in model] == [True, True]  # it was frozen


def test_the_principle_of_the_case():
    assert "`detach()` keeps the number, so the loss stays the same." in find("08.5").principle
    w = leaf(1.0)
    assert (w * 5).detach() == w * 5
