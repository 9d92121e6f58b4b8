"""What lesson 06 says of `.grad` beyond its own cells: each sentence still stands there, and torch
bears it out.
"""

import json
from contextlib import nullcontext
from itertools import pairwise

import pytest
import torch
from lab_answers import at
from said import NOTEBOOKS, said
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from helpers.exercises.exercise import find

D = torch.arange(1.0, 5.0)


def _sent(loss, leaf):
    """Return the gradient that a loss sends to a leaf, beside its `.grad`."""
    return torch.autograd.grad(loss, leaf)[0]


# Idea 1


@pytest.mark.parametrize("keep", [True, False])
def test_calls_add_one_by_one_with_the_flag_and_without(keep):
    assert "first 1, then 2, then 3" in said("06", "acc-06")
    assert "The flag is not the reason" in said("06", "acc-06")
    x, seen = torch.ones(3, requires_grad=True), []
    graphs = [(x + 1).sum()] * 3 if keep else [(x + 1).sum() for _ in range(3)]
    for s in graphs:
        s.backward(retain_graph=keep)
        seen.append(x.grad.tolist())
    assert seen == [[1, 1, 1], [2, 2, 2], [3, 3, 3]]


def test_the_error_of_option_b_comes_where_a_walk_misses_what_was_saved():
    assert "a walk misses what an earlier one freed" in said("06", "acc-06")
    assert "The flag keeps it all, and `x + 1` saved nothing." in said("06", "acc-06")
    x = _leaf()
    for s, kept, raises in ((x + 1, False, False), (x**2, False, True), (x**2, True, False)):
        s.backward(retain_graph=kept)
        with pytest.raises(RuntimeError, match="a second time") if raises else nullcontext():
            s.backward()


def test_the_old_graph_leads_to_the_leaf_with_the_new_sum():
    assert "Its leaf shows 13 (10 more in a second run), for `.grad` belongs to the leaf" in said(
        "06", "acc-06"
    )
    x = torch.ones(3, requires_grad=True)
    s = (x + 1).sum()
    for _ in range(3):
        s.backward(retain_graph=True)
    new = 10 * x
    new.sum().backward()
    ends = [s.grad_fn.next_functions[0][0].next_functions[0][0]]
    ends += [node for node, _ in new.grad_fn.next_functions if node]
    assert [end.variable.grad.tolist() for end in ends] == [[13, 13, 13]] * 2
    (10 * x).sum().backward()
    assert ends[0].variable.grad.tolist() == [23, 23, 23]


def _log(after, keep=lambda grad: grad, **how):
    w, log = torch.tensor(1.0, requires_grad=True), []
    for _ in range(3):
        (2 * w).backward(**how)
        log.append(keep(w.grad))
        after(w)
    return log


def _let_go(w):
    w.grad = None


def test_a_log_holds_one_tensor_unless_none_let_go_of_it_or_it_was_cloned():
    text = said("06", "acc-26")
    assert "`w.grad.zero_()` at the end of each round writes into it, too: the log ends" in text
    assert "`w.grad = None` lets go of it, and each call brings a new tensor: 2, 2, 2" in text
    assert "log `w.grad.clone()`" in text
    zeroed, let_go = _log(lambda w: w.grad.zero_()), _log(_let_go)
    assert zeroed == [0, 0, 0]
    assert zeroed[0] is zeroed[2]
    assert let_go == [2, 2, 2]
    assert let_go[0] is not let_go[2]
    assert _log(lambda w: None, torch.clone) == [2, 4, 6]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_with_create_graph_a_call_brings_a_new_tensor():
    assert (
        "with it each call brings a new tensor, and the log holds three different numbers"
        in said("06", "q2-notes")
    )
    assert "Here `backward()` and `zero_()` write into the tensor" in said("06", "acc-41")
    log = _log(lambda w: None, create_graph=True)
    assert log == [2, 4, 6]
    assert len(set(map(id, log))) == 3
    kept = _log(lambda w: None, retain_graph=True)
    assert len(set(map(id, kept))) == 1


# Idea 2


def _layer():
    layer = nn.Linear(2, 1)
    layer(torch.ones(1, 2)).sum().backward()
    return layer


def test_zero_grad_takes_tensors_away_at_once():
    assert "`zero_grad()` takes the tensor away: `.grad` is `None` after it" in said("06", "acc-22")
    assert "does not wait for the next backward" in said("06", "acc-22")
    layer, stepped = _layer(), _layer()
    layer.zero_grad()
    torch.optim.SGD(stepped.parameters(), lr=0.1).zero_grad()
    assert layer.weight.grad is layer.bias.grad is stepped.weight.grad is None


def test_zero_grad_still_writes_zeros_if_asked():
    assert "`zero_grad(set_to_none=False)` still writes them, into a `.grad` that is there" in (
        said("06", "acc-22")
    )
    new = nn.Linear(2, 1)
    new.zero_grad(set_to_none=False)
    assert new.weight.grad is None
    layer = _layer()
    held = layer.weight.grad
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad is held
    assert held.tolist() == [[0, 0]]


def _steps(grads, **how):
    """Return a weight of 1 after steps of SGD on these gradients."""
    w = torch.ones(1, requires_grad=True)
    sgd = torch.optim.SGD([w], lr=0.1, **how)
    for grad in grads:
        w.grad = None if grad is None else torch.tensor([grad])
        sgd.step()
    return w.item()


def test_sgd_passes_over_none_and_takes_a_zero_for_a_gradient():
    text = said("06", "acc-24")
    assert "SGD passes over a weight whose `.grad` is `None`; a zero is a gradient to it" in text
    assert "Momentum can move a weight on a zero, too." in text
    assert "`None`, which SGD passes over" in said("06", "acc-51")
    assert _steps([0.0], weight_decay=1.0) == pytest.approx(0.9)
    assert _steps([None], weight_decay=1.0) == 1
    moved = _steps([1.0], momentum=0.9)
    assert _steps([1.0, 0.0], momentum=0.9) < moved
    assert _steps([1.0, None], momentum=0.9) == moved
    assert _steps([None], weight_decay=1.0, momentum=0.9, nesterov=True) == 1


def test_sgd_adds_the_decay_to_the_gradient_and_leaves_grad_as_it_was():
    assert "But SGD adds it to the gradient, and `b` has none." in said("06", "acc-24")
    w = torch.ones(1, requires_grad=True)
    w.grad = torch.zeros(1)
    torch.optim.SGD([w], lr=0.1, weight_decay=1.0).step()
    assert (w.item(), w.grad.item()) == (pytest.approx(0.9), 0)


def test_momentum_does_not_move_a_weight_in_its_first_step_on_a_zero():
    assert "Not in its first step: there is no movement to keep" in said("06", "acc-27")
    assert _steps([0.0], momentum=0.9) == 1


def test_the_lab_has_equal_numbers_in_one_tensor_and_in_two():
    note = said("06", "acc-42")
    assert "(`1 5` for one tensor, `1 5 4 1` for two.)" in note
    one, two = (at("06", keys) for keys in ("1 5", "1 5 4 1"))
    for state in (one, two):
        assert state.numbers("x.grad") == state.numbers("g") == [1, 1, 1]
    assert one["g"] is one["x.grad"]
    assert two["g"] is not two["x.grad"]


def test_a_new_leaf_has_none():
    assert "a new leaf has `None`" in said("06", "acc-42")
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'zero_'"):
        torch.ones(3, requires_grad=True).grad.zero_()


# Idea 3


def _loss_of(w, samples=D):
    return ((w * samples - 2 * samples) ** 2).mean()


def test_each_mean_counts_in_full():
    assert "Each mean counts in full, −5 and −25" in said("06", "acc-14")
    assert "So halve each loss: −15" in said("06", "acc-14")
    w = _leaf(1.0)
    assert [_sent(_loss_of(w, part), w) for part in D.split(2)] == [-5, -25]
    assert _sent(_loss_of(w), w) == -15


def test_it_does_not_matter_here_who_shares_a_portion():
    assert "Does it matter who shares a portion?" in said("06", "q5-try")
    w = _leaf(1.0)
    for samples in (D, D[[0, 3, 1, 2]], D[[3, 1, 0, 2]]):
        assert sum(_sent(_loss_of(w, part), w) for part in samples.split(2)) == -30


def test_each_sample_gives_minus_two_d_squared_and_a_sum_needs_no_weights():
    assert "each sample gives −2d²" in said("06", "acc-19")
    assert "No division at all" in said("06", "acc-19")
    w = _leaf(1.0)
    for d in D:
        assert _sent((w * d - 2 * d) ** 2, w) == -2 * d**2
    sums = [_sent(((w * part - 2 * part) ** 2).sum(), w) for part in D.split(3)]
    assert sum(sums) == _sent(((w * D - 2 * D) ** 2).sum(), w)


def test_the_two_portions_may_be_walked_again_after_the_next_round():
    names = {"torch": torch, "grad": torch.autograd.grad, "cross_entropy": cross_entropy}
    for cell in ("acc-13", "q5-try", "acc-17", "q5-try"):
        exec(_source(cell), names)
    assert names["w"].grad == -15


def _source(cell):
    """Return the source of a cell of lesson 06 as it stands."""
    (path,) = NOTEBOOKS.glob("06*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(one["source"]) for one in cells if one["id"] == cell)


def test_each_portion_of_the_padded_targets_needs_its_own_weight():
    names = {"torch": torch, "grad": torch.autograd.grad, "cross_entropy": cross_entropy}
    exec(_source("acc-17"), names)
    assert "`[0, 0, -100]` and `[1]`" in said("06", "q6")
    assert [part.tolist() for part in names["targets"].split(3)] == [[0, 0, -100], [1]]
    batch, g, h = names["gradient"](names["targets"]), names["g"], names["h"]
    fits = [k for k in range(13) if torch.allclose(g * k / 12 + h / 3, batch)]
    assert fits == [8], "two thirds; no other weight of the first portion will do"
    fits = [k for k in range(13) if torch.allclose(g * 2 / 3 + h * k / 12, batch)]
    assert fits == [4], "one third"


def test_each_backward_frees_what_its_portion_saved():
    assert "each `backward()` frees what its portion saved" in said("06", "acc-14")
    w = _leaf(1.0)
    for part in D.split(2):
        square = (w * part) ** 2
        assert square.grad_fn._saved_self is not None
        square.mean().backward()
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            square.grad_fn._saved_self  # noqa: B018


@pytest.mark.parametrize("targets", [[0, 1, -100, 0, 1, 1, -100], [0, 1, 1, 0, 1, 1, 0]])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_mean_weighs_what_it_divided_by_and_a_sum_nothing(targets, size):
    text = said("06", "acc-18")
    assert "Weigh each mean by the number that it divided by" in text
    assert "With no target left out and no class weights these are the portions' sizes." in text
    assert "A sum needs no weights." in text
    torch.manual_seed(0)
    w, samples, all_ = (
        torch.randn(3, 2, requires_grad=True),
        torch.randn(7, 3),
        torch.tensor(targets),
    )
    parts = list(zip(samples.split(size), all_.split(size), strict=True))
    for how in ("mean", "sum"):
        sent = [_sent(cross_entropy(x @ w, t, reduction=how), w) for x, t in parts]
        counts = [int((t != -100).sum()) for _, t in parts]
        if -100 not in targets:
            assert counts == [len(t) for _, t in parts]
        weights = [1] * len(parts) if how == "sum" else [n / sum(counts) for n in counts]
        batch = _sent(cross_entropy(samples @ w, all_, reduction=how), w)
        added = sum(weight * each for weight, each in zip(weights, sent, strict=True))
        assert torch.allclose(added, batch, atol=1e-6)


def test_with_class_weights_a_mean_divides_by_their_sum():
    assert "With no target left out and no class weights" in said("06", "acc-18")
    w, targets = torch.zeros(2, requires_grad=True), torch.tensor([0, 1, 0, 0])
    classes = torch.tensor([1.0, 3.0])

    def sent(part):
        return _sent(cross_entropy(w.expand(len(part), 2), part, weight=classes), w)

    parts = targets.split([3, 1])
    for counts, is_right in (([classes[part].sum() for part in parts], True), ([3, 1], False)):
        added = sum(n / sum(counts) * sent(p) for n, p in zip(counts, parts, strict=True))
        assert torch.allclose(added, sent(targets), atol=1e-6) == is_right


def _in_halves(layer, x):
    losses = [((layer(part) - part) ** 2).mean() for part in (x, *x.split(len(x) // 2))]
    batch, one, two = (_sent(loss, layer.weight) for loss in losses)
    return torch.allclose(batch, (one + two) / 2, atol=1e-5)


@pytest.mark.slow
def test_halves_are_the_batch_unless_batchnorm_mixes_samples():
    text = said("06", "q7-because")
    assert "In BatchNorm, what a sample sends depends on who shares its portion." in text
    assert "LayerNorm looks at each sample alone." in text
    assert (
        "So does BatchNorm in `eval()` mode, with the statistics that it stores by default." in text
    )
    assert "in BatchNorm a sample's loss changes with its portion" in text
    torch.manual_seed(0)
    x, batchnorm, layernorm = torch.randn(8, 3), nn.BatchNorm1d(3), nn.LayerNorm(3)
    assert _in_halves(layernorm, x)
    assert not _in_halves(batchnorm, x)
    together, apart = batchnorm(x)[0], batchnorm(x[:4])[0]
    assert not torch.allclose(together, apart, atol=1e-2)
    assert torch.allclose(layernorm(x)[0], layernorm(x[:1])[0])
    batchnorm.eval()
    assert _in_halves(batchnorm, x)
    assert torch.allclose(batchnorm(x)[0], batchnorm(x[:1])[0])
    assert not _in_halves(nn.BatchNorm1d(3, track_running_stats=False).eval(), x)
    assert "`eval()` on that layer, after every `model.train()`" in said("06", "q7-notes")
    nn.Sequential(batchnorm).train()
    assert not _in_halves(batchnorm, x)
    batchnorm.eval()
    assert _in_halves(batchnorm, x)


# Idea 4


def test_after_the_equals_sign_the_leaf_holds_both_gradients_and_a_loop_breaks():
    text = said("06", "acc-30")
    assert "A loop would find `None` in its next round, and break." in text
    assert "2 is the gradient at 1, but it went on to the leaf." in text
    assert "4 and 2 do add up, but in `start.grad`." in text
    w = start = _leaf()
    (w**2).backward()
    assert start.grad == 4
    w = w - 0.25 * w.grad
    assert (w.item(), w.is_leaf) == (1, False)
    (w**2).backward()
    assert start.grad == 4 + 2
    with (
        pytest.warns(UserWarning, match="not a leaf") as told,
        pytest.raises(TypeError, match="NoneType"),
    ):
        w - 0.25 * w.grad
    assert "is no leaf, as the warning says, so it keeps no gradient" in text
    shown = str(told[0].message).split(". ")[0]  # as the set-up cuts it
    assert "not a leaf" in shown
    assert "populated" not in shown, "that it keeps none is in the next sentence"


def test_an_update_under_no_grad_and_a_step_of_sgd_write_into_the_leaf():
    assert "Write into the leaf instead: `with torch.no_grad(): w -= 0.25 * w.grad`" in said(
        "06", "acc-30"
    )
    assert "The step of SGD below does that." in said("06", "acc-30")
    w = start = _leaf()
    (w**2).backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
    assert w is start
    assert (w.item(), w.is_leaf, w.requires_grad) == (1, True, True)
    other = _leaf()
    (other**2).backward()
    place = other.data_ptr()
    torch.optim.SGD([other], lr=0.25).step()
    assert (other.item(), other.is_leaf, other.data_ptr()) == (1, True, place)


def test_a_leaf_that_requires_grad_is_not_edited_where_it_is_recorded():
    note = said("06", "acc-32")
    assert "autograd refuses to edit a leaf that requires grad" in note
    assert "`w -= 0.25 * w.grad` for the cell's third line" in note
    lines = _source("acc-29").splitlines()
    assert lines[2] == "w = w - 0.25 * w.grad"
    lines[2] = "w -= 0.25 * w.grad"
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        exec("\n".join(lines), {"torch": torch})


# Idea 5


def _classifier(w):
    return binary_cross_entropy_with_logits(w * (D - 2.5), (D > 2.5).float())


def _losses(loss_of, is_emptied, momentum=0.0, rate=0.02):
    w, found = _leaf(1.0), []
    sgd = torch.optim.SGD([w], lr=rate, momentum=momentum)
    for _ in range(20):
        loss = loss_of(w)
        loss.backward()
        sgd.step()
        w.grad = None if is_emptied else w.grad
        found.append(loss.item())
    return found


def _peaks(losses):
    rows = zip(losses, losses[1:], losses[2:], strict=False)
    return [middle for before, middle, after in rows if before < middle > after]


def test_the_loop_that_never_empties_swings_grows_or_falls_faster():
    assert "range(20)" in said("06", "acc-34")
    assert "lr=0.02" in said("06", "acc-34")
    assert "here the loss swings, grows, or even falls faster" in said("06", "acc-36")
    assert "Two of three do end worse." in said("06", "acc-36")
    assert "The loss may swing, grow, or fall faster." in said("06", "acc-51")
    plain, wide, classes = (
        _losses(loss, False, momentum)
        for loss, momentum in ((_loss_of, 0.0), (_loss_of, 0.9), (_classifier, 0.0))
    )
    signs = [after > before for before, after in pairwise(plain)]
    assert sum(one != other for one, other in pairwise(signs)) >= 3
    assert max(plain) < 10
    assert plain[-1] > _losses(_loss_of, True)[-1]
    assert "falls below 0.00001 when it is emptied" in said("06", "acc-32")
    assert min(_losses(_loss_of, True)) < 1e-5
    assert "the loss ends above 100,000" in said("06", "acc-36")
    assert "the swings widen" in said("06", "acc-36")
    assert wide[-1] > 1e5 > 1 > _losses(_loss_of, True, 0.9)[-1]
    assert _peaks(wide) == sorted(_peaks(wide))
    assert len(_peaks(wide)) >= 3
    assert classes[-1] < _losses(_classifier, True)[-1]
    assert classes == sorted(classes, reverse=True)


def test_to_the_classifier_a_larger_w_is_better_and_gradients_point_one_way():
    assert "The classifier has no goal to miss: a larger `w` is better." in said("06", "acc-36")
    assert "the classifier's gradients all point one way" in said("06", "acc-36")
    at = torch.linspace(-20, 20, 81)
    losses = [_classifier(w).item() for w in at]
    assert all(after < before for before, after in pairwise(losses))
    leaves = [_leaf(w.item()) for w in at]
    assert all(_sent(_classifier(w), w) < 0 for w in leaves)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("loss", [_loss_of, _classifier])
def test_the_first_two_points_of_each_pair_agree(loss, momentum):
    assert "Why do the first two points of each pair agree?" in said("06", "acc-38")
    emptied, never = _losses(loss, True, momentum), _losses(loss, False, momentum)
    assert emptied[:2] == never[:2]
    assert emptied[2] != never[2]


def test_a_step_size_that_is_too_large_looks_the_same():
    assert "A step size that is too large" in said("06", "acc-38")
    assert _losses(_loss_of, True, rate=0.15)[-1] > 1e3


def test_the_detector_sees_the_second_round_and_one_line_mends_it():
    code = said("06", "acc-37")
    assert "print(torch.equal(alone, w.grad))" in code
    for is_emptied, wanted in ((False, [True, False]), (True, [True, True])):
        w, seen = _leaf(1.0), []
        for _ in range(2):
            w.grad = None if is_emptied else w.grad
            alone = _sent(_loss_of(w), w)
            _loss_of(w).backward()
            seen.append(torch.equal(alone, w.grad))
        assert seen == wanted


# The exercises


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


def test_exercise_06_3_says_when_the_number_of_portions_is_right():
    texts = " ".join(idea.message for idea in find("06.3").misconceptions)
    assert "That is right while they are equal" in texts
    assert "where they differ, a sample in a small portion counts too much" in texts
    for sizes, is_right in (([2, 2, 2], True), ([3, 2, 1], False)):
        values = torch.ones(6, requires_grad=True)
        parts = values.split(sizes)
        (sum(part.mean() for part in parts) / len(parts)).backward()
        shares = values.grad.tolist()
        assert (max(shares) == pytest.approx(min(shares))) == is_right
        assert shares[-1] == max(shares)


def test_exercise_06_4_swings_about_its_goal_if_nothing_is_emptied():
    texts = [idea.message for idea in find("06.4").misconceptions]
    assert any("it swings about its goal" in each for each in texts)
    for start in (1.0, 5.0, 2.5):
        w, sides = _leaf(start), []
        for _ in range(10):
            ((w - 2) ** 2).backward()
            with torch.no_grad():
                w -= 0.25 * w.grad
            sides.append(w.item() > 2)
        assert sum(one != other for one, other in pairwise(sides)) >= 2


def watched_loss(w, part):
    """Return a loss, and the tensors that its graph saves."""
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        return ((w * part) ** 2).mean(), saved


def bytes_kept(w, portions):
    """Return how many bytes the largest graph saves when each portion has a backward of its own."""
    most = 0
    for part in portions:
        loss, saved = watched_loss(w, part)
        storages = {}
        for tensor in saved:
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
        storages.pop(part.untyped_storage().data_ptr(), None)  # the samples are there anyway
        most = max(most, sum(storages.values()))
        loss.backward()
    return most


def test_with_one_backward_for_each_portion_what_is_saved_for_one_of_them_is_kept():
    texts = " ".join(idea.message for idea in find("06.3").misconceptions)
    assert "the graph keeps what it saved for all the samples" in texts
    w, samples = torch.tensor(2.0, requires_grad=True), torch.ones(4000)
    assert bytes_kept(w, samples.split(1000)) < bytes_kept(w, [samples]) / 3
