"""What lesson 06 says of `.grad` and of portions beyond its own cells: it still stands there, and torch
bears it out.
"""

from itertools import pairwise

import pytest
import torch
from said import said, source
from torch import nn
from torch.nn.functional import cross_entropy

from helpers.exercises.exercise import find
from helpers.moons import moons
from helpers.predicting.programs import cured, outcome
from helpers.predicting.questions import question

D = torch.arange(1.0, 5.0)


def leaf(value=1.0):
    return torch.tensor(value, requires_grad=True)


def sent(loss, to):
    """Return the gradient that a loss sends, beside `.grad`."""
    return torch.autograd.grad(loss, to)[0]


def texts(exercise):
    """Return all that an exercise may say, in one text."""
    one = find(exercise)
    told = [idea.message for idea in one.misconceptions]
    places = one.quantities.places if one.quantities else ()
    own = one.quantities.own if one.quantities else ()
    told += [text for place in places for text in (place.wanted, *place.known)]
    return " ".join([*told, *own, *one.hints, one.principle, one.right])


# The case


def trained(size, steps, rate=0.2):
    """Return the losses of the program of the case, over all points, before each step."""
    torch.manual_seed(0)
    (points, moon), model = moons(), nn.Linear(2, 1)
    sgd, losses = torch.optim.SGD(model.parameters(), lr=rate), []
    for _ in range(steps):
        losses.append(((model(points) - moon) ** 2).mean().item())
        for part, which in zip(points.split(size), moon.split(size), strict=True):
            ((model(part) - which) ** 2).mean().backward()
        sgd.step()
        sgd.zero_grad()
    return losses


def test_the_case_explodes_wherever_it_stops_and_one_portion_learns():
    told = said("06", "case-then")
    assert "the same program learns" in told
    names = {"torch": torch, "nn": nn, "moons": moons}
    exec(source("06", "case-run"), names)
    assert "A loss of more than a thousand!" in told
    assert names["loss"] > 1000
    exec(source("06", "case-run").replace("split(20)", "split(100)"), names)
    assert names["loss"] < 0.25
    assert all(after > 3 * before for before, after in pairwise(trained(20, 25)[1:]))
    whole = trained(100, 100)
    assert all(after < before for before, after in pairwise(whole))
    assert whole[-1] < 0.1
    assert "Even a model that always says 0 has a loss of only 0.5." in told
    assert (moons()[1] ** 2).mean() == 0.5


def test_the_gradient_is_five_times_too_large_and_a_smaller_step_hides_it():
    assert "a smaller one would hide the fault" in said("06", "case-notes")
    assert "(Five times, for five equal portions.)" in said("06", "q11-notes")
    assert "(For plain SGD and equal portions, yes." in said("06", "q11-notes")
    fifth = trained(20, 50, rate=0.2 / 5)
    assert fifth == pytest.approx(trained(100, 50), rel=1e-4)


# Idea 1


def test_calls_add_in_the_leaf_where_two_graphs_meet():
    told = said("06", "d1-because")
    assert "`backward()` adds to what the leaf's `.grad` holds" in told
    assert "the first call brought 3 and the second brought 2, so `.grad` is 5" in told
    w = leaf()
    one, two = 3 * w + 1, w**2
    nodes = [one.grad_fn.next_functions[0][0].next_functions[0][0]]
    nodes += [two.grad_fn.next_functions[0][0]]
    assert [sent(loss, w) for loss in (one, two)] == [3, 2]
    one, two = 3 * w + 1, w**2
    one.backward()
    two.backward()
    assert w.grad == 5
    assert {type(node).__name__ for node in nodes} == {"AccumulateGrad"}
    assert "`torch.autograd.grad` returns the gradients, and adds nothing to `.grad`" in told
    sent(7 * w, w)
    assert w.grad == 5
    assert "the gradient of a sum is the sum of the gradients" in said("06", "d1-notes")
    assert sent(3 * w + 1 + w**2, w) == 5


def logged(after=lambda w: None, keep=lambda grad: grad, **how):
    w, log = leaf(), []
    for _ in range(3):
        (2 * w).backward(**how)
        log.append(keep(w.grad))
        after(w)
    return log


def let_go(w):
    w.grad = None


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_log_holds_one_tensor_unless_a_call_brought_a_new_one():
    told, note = said("06", "q10-because"), said("06", "q10-notes")
    assert question("06.q10").right == tuple(logged())
    assert len(set(map(id, logged()))) == 1
    assert "log `w.grad.clone()` or `w.grad.item()`" in told
    for keep in (torch.clone, torch.Tensor.item):
        assert logged(keep=keep) == [2, 4, 6]
    assert "0, 0, 0: it writes into the same tensor" in note
    assert logged(lambda w: w.grad.zero_()) == [0, 0, 0]
    assert "2, 2, 2: each call makes a new tensor" in note
    assert logged(let_go) == [2, 2, 2]
    assert "with `create_graph=True` (lesson 07), each call makes a new tensor" in told
    assert len(set(map(id, logged(create_graph=True)))) == 3


# Idea 2


def stepped(grads, kind=torch.optim.SGD, **how):
    """Return a weight of 1 after steps on these gradients."""
    w = torch.ones(1, requires_grad=True)
    optimizer = kind([w], lr=0.1, **how)
    for grad in grads:
        w.grad = None if grad is None else torch.tensor([grad])
        optimizer.step()
    return w.item()


def test_sgd_skips_none_and_a_zero_is_a_gradient():
    told = said("06", "acc-24")
    assert "SGD skips a weight whose `.grad` is None." in told
    assert "A weight whose `.grad` is 0 still decays." in told
    assert "SGD skips a weight whose `.grad` is None, but not one whose `.grad` is 0." in said(
        "06", "acc-51"
    )
    assert stepped([None], weight_decay=1.0) == 1
    assert stepped([0.0], weight_decay=1.0) == pytest.approx(0.9)
    assert "Momentum, too, can move a weight whose gradient is 0." in told
    moved = stepped([1.0], momentum=0.9)
    assert stepped([1.0, 0.0], momentum=0.9) < moved == stepped([1.0, None], momentum=0.9)
    assert "in plain SGD, without decay and momentum, you see no difference" in told
    assert stepped([0.0]) == stepped([None]) == 1


def test_other_optimizers_skip_none_but_lbfgs_reads_zeros():
    assert "SGD, Adam and AdamW do. LBFGS reads None as zeros." in said("06", "acc-27")
    for kind in (torch.optim.Adam, torch.optim.AdamW):
        assert stepped([1.0, None], kind, weight_decay=1.0) == stepped(
            [1.0], kind, weight_decay=1.0
        )
        assert stepped([0.0], kind, weight_decay=1.0) < 1
    a, b = leaf(), leaf()
    a.grad = torch.tensor(1.0)
    assert torch.optim.LBFGS([a, b])._gather_flat_grad().tolist() == [1, 0]


def test_zero_grad_takes_tensors_away_unless_asked_for_zeros():
    assert "and so does **`zero_grad()`** since torch 2.0" in said("06", "q4")
    assert "Try zero_grad(set_to_none=False), too." in said("06", "q4-try")
    for has_zero_grad in (lambda layer: layer, lambda layer: torch.optim.SGD(layer.parameters())):
        layer = nn.Linear(2, 1)
        layer(torch.ones(1, 2)).sum().backward()
        held = layer.weight.grad
        has_zero_grad(layer).zero_grad(set_to_none=False)
        assert layer.weight.grad is held
        assert held.tolist() == [[0, 0]]
        has_zero_grad(layer).zero_grad()
        assert layer.weight.grad is layer.bias.grad is None
        with pytest.raises(TypeError, match="'NoneType' object is not subscriptable"):
            layer.weight.grad[0]


# Idea 3


def test_each_mean_counts_in_full_and_a_sum_needs_no_division():
    told = said("06", "q11-because")
    assert "5 from the first, 25 from the second" in told
    assert "Halve each loss, and you get 15." in told
    w = leaf()
    parts = [sent(((w * part) ** 2).mean(), w) for part in D.split(2)]
    assert parts == [5, 25]
    assert question("06.q11").right == (sum(parts),)
    assert sum(parts) / 2 == sent(((w * D) ** 2).mean(), w) == 15
    assert "a loss that is a sum over the samples needs no division" in told
    sums = [sent(((w * part) ** 2).sum(), w) for part in D.split(3)]
    assert sum(sums) == sent(((w * D) ** 2).sum(), w)
    assert "15: You get it if each mean divides by 4." in told
    assert sum(sent(((w * part) ** 2).sum() / 4, w) for part in D.split(2)) == 15
    assert "each sample's own gradient is 2d²" in said("06", "q11-notes")
    assert all(sent((w * d) ** 2, w) == 2 * d**2 for d in D)


def bytes_kept(portions):
    """Return how many bytes the largest graph saves, the samples apart, when each portion has a
    backward of its own.
    """
    w, most = leaf(), 0
    for part in portions:
        saved = {}

        def note(tensor, saved=saved):
            storage = tensor.untyped_storage()
            saved[storage.data_ptr()] = storage.nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss = ((w * part) ** 2).mean()
        saved.pop(part.untyped_storage().data_ptr(), None)
        most = max(most, sum(saved.values()))
        loss.backward()
        with pytest.raises(RuntimeError, match="a second time"):
            loss.backward()
    return most


def test_what_differs_in_portions_is_what_is_saved():
    assert "Each `backward()` frees what its portion saved. That is why small portions" in said(
        "06", "q11-because"
    )
    assert "Then the graph keeps what it saved for all of them until that call." in texts("06.5")
    samples = torch.ones(8000)
    assert bytes_kept([samples]) >= 32_000
    assert bytes_kept(samples.split(2000)) <= 8_100


def test_weigh_each_mean_by_what_it_divided_by():
    told = said("06", "f1-because")
    assert "Weigh each mean by the number of samples in it." in told
    assert "With halves, the last sample counts as much as the first two together." in told
    assert "Nobody notices, because the loss still falls." in told
    assert all(after < before for before, after in pairwise(trained(40, 30, rate=0.2 / 3)))
    samples = torch.ones(3, requires_grad=True)
    one, two = samples.split(2)
    halves = sent(one.mean() / 2 + two.mean() / 2, samples)
    assert halves[2] == halves[:2].sum()
    shares = sent((one.mean() * 2 + two.mean()) / 3, samples)
    assert torch.allclose(shares, torch.full((3,), 1 / 3))
    assert "`cross_entropy` leaves out targets of −100, so it may divide by less" in told
    assert "(2/3 and 1/3, since the first mean divides by 2.)" in said("06", "f1-notes")
    scores, targets = torch.zeros(2, requires_grad=True), torch.tensor([0, 0, -100, 1])
    first, last, batch = (
        sent(cross_entropy(scores.expand(len(part), 2), part), scores)
        for part in (targets[:3], targets[3:], targets)
    )
    fits = [
        k
        for k in range(13)
        if torch.allclose(k * first / 12 + (12 - k) * last / 12, batch, atol=1e-6)
    ]
    assert fits == [8], "two thirds, and nothing else"


def test_the_program_of_the_line_is_mended_for_any_portions():
    assert "Portions may have any size." in said("06", "f1")
    told = question("06.f1").told
    program = "\n".join(question("06.f1").shown["lines"])
    assert "in portions 5.0 at once 4.0" in outcome(program).words
    for size in (1, 2, 3):
        cut = cured(program, told["mend"]).replace("split(2)", f"split({size})")
        numbers = outcome(cut).printed[0].split()
        assert float(numbers[2]) == pytest.approx(float(numbers[-1]))
    assert "That is right while they are equal." in texts("06.5")
    equal = program.replace("[1.0, 1.0, 2.0]", "[1.0, 1.0, 2.0, 5.0]")
    assert len(set(outcome(equal).printed[0].split()) - {"in", "portions", "at", "once"}) == 1


# Idea 4


def in_halves(layer, x):
    losses = [((layer(part) - part) ** 2).mean() for part in (x, *x.split(len(x) // 2))]
    batch, one, two = (sent(loss, layer.weight) for loss in losses)
    return torch.allclose(batch, (one + two) / 2, atol=1e-5)


def test_halves_are_the_batch_unless_batchnorm_mixes_samples():
    told = said("06", "q7-because")
    assert "In BatchNorm, what a sample becomes depends on who shares its portion." in told
    points, _ = moons()
    batchnorm, layernorm = nn.BatchNorm1d(2), nn.LayerNorm(2)
    assert not torch.allclose(batchnorm(points)[0], batchnorm(points[:4])[0], atol=0.1)
    part = batchnorm(points[:4])
    assert torch.allclose(part.mean(0), torch.zeros(2), atol=1e-5), "subtracts the mean"
    assert torch.allclose(part.std(0, unbiased=False), torch.ones(2), atol=1e-2), "and divides"
    assert "LayerNorm treats each sample alone." in told
    assert torch.allclose(layernorm(points)[0], layernorm(points[:1])[0])
    assert in_halves(layernorm, points)
    assert not in_halves(batchnorm, points)
    assert "in `eval()` mode BatchNorm uses stored numbers, so portions and batch agree" in told
    before = batchnorm(points).detach()
    assert in_halves(batchnorm.eval(), points)
    assert not torch.allclose(batchnorm(points), before, atol=0.1), "another function"
    assert "LayerNorm leaves little more than which one is larger" in said("06", "q7-notes")
    larger = (points[:, 0] > points[:, 1]).float() * 2 - 1
    assert (layernorm(points)[:, 0] - larger).abs().median() < 0.01
    assert "keep that layer in `eval()`, after every `model.train()`" in said("06", "q7-notes")
    nn.Sequential(batchnorm).train()
    assert not in_halves(batchnorm, points)


def test_no_weights_repair_batchnorm():
    assert "Weights don't repair this." in question("06.e1").told["points"][2]
    points, _ = moons()
    layer = nn.BatchNorm1d(2)
    losses = [((layer(part) - part) ** 2).mean() for part in (points, *points.split(50))]
    batch, *parts = (torch.cat([sent(loss, layer.weight)]) for loss in losses)
    bias = [sent(((layer(p) - p) ** 2).mean(), layer.bias) for p in (points, *points.split(50))]
    wanted = torch.cat([batch, bias[0]])
    table = torch.stack([torch.cat(pair) for pair in zip(parts, bias[1:], strict=True)], 1)
    best = torch.linalg.lstsq(table, wanted[:, None]).solution
    assert not torch.allclose(table @ best, wanted[:, None], atol=1e-3)


# The exercises


def test_what_06_1_and_06_2_say():
    assert "adds to what `.grad` holds, and `zero_()` writes zeros over it" in texts("06.1")
    x = leaf(2.0)
    x.grad = torch.tensor(100.0)
    (3 * x).backward()
    held = x.grad
    assert held == 103
    x.grad.zero_()
    assert x.grad is held
    assert held == 0
    assert "shows under each of its names, and under no copy's" in texts("06.2")
    assert "only takes the name away: what `g` holds is still there." in texts("06.2")
    (3 * x).backward()
    g, h = x.grad, x.grad.clone()
    (3 * x).backward()
    x.grad = None
    assert (g, h) == (6, 3)
    g.zero_()
    assert h == 3


def test_what_06_8_says():
    """A half has no number above 65504, and SGD tells a zero from None (06.6)."""
    assert "no number is above 65504" in texts("06.8")
    assert torch.finfo(torch.half).max == 65504
    assert torch.full((4,), 40000.0, dtype=torch.half).norm() == float("inf")
    layer = nn.Linear(2, 1)
    (3 * layer(torch.ones(1, 2))).sum().backward()
    norms = [one.grad.norm().item() for one in layer.parameters()]
    assert norms == pytest.approx([4.2426, 3.0], rel=1e-3)
    assert sum(norm**2 for norm in norms) ** 0.5 == pytest.approx(5.196, rel=1e-3)


def test_what_06_5_says():
    assert "you decide how much a portion counts when you scale its loss" in texts("06.5")
    w = leaf(2.0)
    assert sent(0.25 * w**2, w) == 0.25 * sent(w**2, w)
    assert "Use `model.zero_grad()`, which works in both." in texts("06.5")
    layer = nn.Linear(2, 1)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'zero_'"):
        layer.weight.grad.zero_()
    layer.zero_grad()
    assert "In the mean over all points, a portion counts for its share of the points." in texts(
        "06.5"
    )
    for sizes in ([4], [1, 1, 2], [3, 3]):
        parts = torch.arange(1.0, 1 + sum(sizes)).split(sizes)
        shares = [len(part) / sum(sizes) * part.mean() for part in parts]
        assert torch.allclose(sum(shares), torch.cat(parts).mean())
    assert "Then say in one sentence why the loss exploded" in said("06", "x5")
