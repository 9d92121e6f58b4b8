"""What lesson 06 claims of `.grad` and of portions beyond its own cells, run in torch."""

from itertools import pairwise

import pytest
import torch
from said import source
from torch import nn
from torch.nn.functional import cross_entropy

from helpers.moons import moons
from helpers.predicting.program_outcomes import cured, outcome
from helpers.predicting.questions import question

D = torch.arange(1.0, 5.0)


def leaf(value=1.0):
    return torch.tensor(value, requires_grad=True)


def sent(loss, to):
    """Return the gradient that a loss sends, beside `.grad`."""
    return torch.autograd.grad(loss, to)[0]


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
    names = {"torch": torch, "nn": nn, "moons": moons}
    exec(source("06", "case-run").replace("split(20)", "split(100)"), names)
    assert names["loss"] < 0.25
    assert all(after > 3 * before for before, after in pairwise(trained(20, 25)[1:]))
    whole = trained(100, 100)
    assert all(after < before for before, after in pairwise(whole))
    assert whole[-1] < 0.1
    assert (moons()[1] ** 2).mean() == 0.5
    assert trained(20, 50, rate=0.2 / 5) == pytest.approx(trained(100, 50), rel=1e-4)


# Idea 1


def test_grad_adds_nothing_and_a_sum_has_the_sum_of_gradients():
    w = leaf()
    assert [sent(loss, w) for loss in (3 * w + 1, w**2, 3 * w + 1 + w**2)] == [3, 2, 5]
    assert w.grad is None
    h = w * 3
    h.retain_grad()
    sent(h * 5, w)
    assert h.grad == 5, "that of a result which retains it grows"


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
    assert len(set(map(id, logged()))) == 1
    for keep in (torch.clone, torch.Tensor.item):
        assert logged(keep=keep) == [2, 4, 6]
    assert logged(lambda w: w.grad.zero_()) == [0, 0, 0]
    assert logged(let_go) == [2, 2, 2]
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


def test_optimizers_skip_none_and_a_zero_is_a_gradient():
    moved = stepped([1.0], momentum=0.9)
    assert stepped([1.0, 0.0], momentum=0.9) < moved == stepped([1.0, None], momentum=0.9)
    assert stepped([0.0]) == stepped([None]) == 1
    w = torch.ones(2, requires_grad=True)
    y = w**2
    w.grad = torch.zeros(2)
    torch.optim.SGD([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()  # a step on zeros is a write all the same
    decay = {"weight_decay": 1.0}
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        assert stepped([1.0, None], kind, **decay) == stepped([1.0], kind, **decay)
        assert stepped([0.0], kind, **decay) < 1
    a, b = leaf(), leaf()
    a.grad = torch.tensor(1.0)
    assert torch.optim.LBFGS([a, b])._gather_flat_grad().tolist() == [1, 0]


def test_zero_grad_takes_tensors_away_unless_asked_for_zeros():
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
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'zero_'"):
        layer.weight.grad.zero_()
    with pytest.raises(TypeError, match="'float' and 'NoneType'"):
        0.5 * layer.weight.grad


# Idea 3


def test_each_mean_counts_in_full_and_a_sum_needs_no_division():
    w = leaf()
    parts = [sent(((w * part) ** 2).mean(), w) for part in D.split(2)]
    assert parts == [5, 25]
    assert sum(parts) / 2 == sent(((w * D) ** 2).mean(), w) == 15
    assert sum(sent(((w * part) ** 2).sum() / 4, w) for part in D.split(2)) == 15
    sums = [sent(((w * part) ** 2).sum(), w) for part in D.split(3)]
    assert sum(sums) == sent(((w * D) ** 2).sum(), w)
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
    return most


def test_what_differs_in_portions_is_what_is_saved():
    samples = torch.ones(8000)
    assert bytes_kept([samples]) >= 32_000
    assert bytes_kept(samples.split(2000)) <= 8_100


def test_weigh_each_mean_by_what_it_divided_by():
    assert all(after < before for before, after in pairwise(trained(40, 30, rate=0.2 / 3)))
    samples = torch.ones(3, requires_grad=True)
    one, two = samples.split(2)
    halves = sent(one.mean() / 2 + two.mean() / 2, samples)
    assert halves[2] == halves[:2].sum()
    shares = sent((one.mean() * 2 + two.mean()) / 3, samples)
    assert torch.allclose(shares, torch.full((3,), 1 / 3))
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
    told = question("06.f1").told
    program = "\n".join(question("06.f1").shown["lines"])
    for size in (1, 2, 3):
        cut = cured(program, told["mend"]).replace("split(2)", f"split({size})")
        numbers = outcome(cut).printed[0].split()
        assert float(numbers[2]) == pytest.approx(float(numbers[-1]))
    equal = program.replace("[1.0, 1.0, 2.0]", "[1.0, 1.0, 2.0, 5.0]")
    _, _, portions, _, _, whole = outcome(equal).printed[0].split()
    assert portions == whole


# Idea 4


def in_halves(layer, x):
    losses = [((layer(part) - part) ** 2).mean() for part in (x, *x.split(len(x) // 2))]
    batch, one, two = (sent(loss, layer.weight) for loss in losses)
    return torch.allclose(batch, (one + two) / 2, atol=1e-5)


def test_halves_are_the_batch_unless_batchnorm_mixes_samples():
    points, _ = moons()
    batchnorm, layernorm = nn.BatchNorm1d(2), nn.LayerNorm(2)
    assert not torch.allclose(batchnorm(points)[0], batchnorm(points[:4])[0], atol=0.1)
    assert torch.allclose(layernorm(points)[0], layernorm(points[:1])[0])
    assert in_halves(layernorm, points)
    assert not in_halves(batchnorm, points)
    before = batchnorm(points).detach()
    assert in_halves(batchnorm.eval(), points)
    assert not torch.allclose(batchnorm(points), before, atol=0.1), "another function"
    assert not in_halves(nn.BatchNorm1d(2, track_running_stats=False).eval(), points)
    larger = (points[:, 0] > points[:, 1]).float() * 2 - 1
    assert (layernorm(points)[:, 0] - larger).abs().median() < 0.01
    nn.Sequential(batchnorm).train()
    assert not in_halves(batchnorm, points)


def test_no_weights_repair_batchnorm():
    points, _ = moons()
    layer = nn.BatchNorm1d(2)
    losses = [((layer(part) - part) ** 2).mean() for part in (points, *points.split(50))]
    batch, one, two = (
        torch.cat(torch.autograd.grad(loss, (layer.weight, layer.bias))) for loss in losses
    )
    table = torch.stack([one, two], 1)
    best = torch.linalg.lstsq(table, batch[:, None]).solution
    assert not torch.allclose(table @ best, batch[:, None], atol=1e-3)


# The exercises


def test_a_second_backward_adds_into_the_same_tensor_and_a_clone_stays():
    x = leaf(2.0)
    (3 * x).backward()
    g, h = x.grad, x.grad.clone()
    (3 * x).backward()
    assert (g, h) == (6, 3)
    g.zero_()
    assert (x.grad, h) == (0, 3)
    x.grad = None
    assert g == 0


def test_a_float16_above_65504_is_infinite_and_a_norm_is_made_of_norms():
    assert torch.finfo(torch.half).max == 65504
    assert torch.tensor(70000.0).bfloat16().isfinite(), "the other half precision has more"
    assert torch.full((4,), 40000.0, dtype=torch.half).norm() == float("inf")
    layer = nn.Linear(2, 1)
    (3 * layer(torch.ones(1, 2))).sum().backward()
    norms = [one.grad.norm().item() for one in layer.parameters()]
    assert norms == pytest.approx([4.2426, 3.0], rel=1e-3)
    assert sum(norm**2 for norm in norms) ** 0.5 == pytest.approx(5.196, rel=1e-3)
