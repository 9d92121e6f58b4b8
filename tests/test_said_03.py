"""What lesson 03 claims of leaves and kept gradients beyond its own cells, run in torch."""

import warnings

import pytest
import torch
from torch import nn

from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


def quietly(tensor):
    """Return `.grad` without the warning that a non-leaf gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.grad


def middle():
    """Return the lesson's leaf d, its logarithm t, and 5 * t."""
    d = torch.tensor(10.0, requires_grad=True)
    t = torch.log(d)
    return d, t, t * 5


def trained(w, skips=True):
    """Run the case with this weight; return how many points it gets right."""
    points, moon = moons()
    b = torch.zeros(1, requires_grad=True)
    for _ in range(100):
        guess = torch.sigmoid(points @ w + b)
        ((guess - moon) ** 2).mean().backward()
        with torch.no_grad():
            for each in (w, b):
                grad = quietly(each)
                if grad is not None or not skips:
                    each -= grad
                    each.grad = None
    return int((guess.round() == moon).sum())


def test_the_case_trains_a_leaf_and_not_what_was_made_from_one():
    assert trained(torch.tensor([0.5, 0.5]).reshape(2, 1).requires_grad_()) == 87
    with pytest.raises(TypeError, match="NoneType"):  # the note: without the `if`
        trained(leaf(0.5, 0.5).reshape(2, 1), skips=False)
    for kind in (torch.optim.SGD, torch.optim.Adam):
        w, other = leaf(1.0), leaf(1.0)
        other.grad = torch.ones(1)
        kind([w, other], lr=0.5, weight_decay=0.1).step()
        assert w.item() == 1
        assert other.item() != 1


def test_retain_grad_moves_a_result_of_the_case_and_its_leaf_only_through_shared_memory():
    for change, moves in ((lambda x: x.reshape(2, 1), True), (lambda x: x[:, None].clone(), False)):
        start = leaf(0.5, 0.5)
        w = change(start)
        w.retain_grad()
        assert trained(w) == 87
        assert (start.tolist() == w.flatten().tolist()) == moves
        assert (start.tolist() != [0.5, 0.5]) == moves


def test_what_no_recorded_operation_made_is_a_leaf():
    w = leaf(2.0, 3.0)
    with torch.no_grad():
        q = w * 0.5
        unrecorded = [q, w[:1], w.to("meta")]
    cut = (w * 3).detach_()
    leaves = [w, *unrecorded, torch.ones(3), w > 0, w.long(), w.detach(), cut, w.sort().indices]
    others = [w * 3, w[:1], w.double(), w.to("meta"), w.sort().values, w.reshape(2, 1)]
    assert {(x.is_leaf, x.grad_fn is None) for x in leaves} == {(True, True)}
    assert {(x.is_leaf, x.grad_fn is None) for x in others} == {(False, False)}
    assert q.requires_grad_().is_leaf
    q = torch.zeros(2)
    q += w * 0.1
    assert not q.is_leaf


CHANGES = (lambda x: x * 0.1, lambda x: x.double(), lambda x: x.to("meta"), lambda x: x[:, None])


def test_what_comes_after_the_flag_is_recorded():
    for change in CHANGES:
        assert not change(leaf(2.0, 3.0)).is_leaf
        assert change(torch.tensor([2.0, 3.0])).requires_grad_().is_leaf
    x = leaf(2.0, 3.0)
    with torch.no_grad():
        nn.init.normal_(x)
    assert x.is_leaf
    assert torch.tensor([2.0], dtype=torch.float64, device="meta", requires_grad=True).is_leaf
    for where in ("meta", torch.float64, "cpu"):
        module = nn.Linear(2, 1).to(where)
        assert all(one.is_leaf and one.requires_grad for one in module.parameters())


def test_who_keeps_a_gradient():
    w = leaf(2.0)
    torch.autograd.grad(w * 3, w)
    assert w.grad is None, "in backward(), and not in grad"
    a, b, c, unreached = (torch.ones(2, requires_grad=flag) for flag in (True, False, True, True))
    kept, dropped, named = a * b, a * c, a * c
    kept.retain_grad()
    assert a.grad is None, "before backward"
    (kept + dropped).sum().backward()
    found = [quietly(one) is not None for one in (a, c, kept, b, unreached, dropped)]
    assert found == [True, True, True, False, False, False]
    (named * unreached).sum().backward(inputs=[named])
    assert named.grad.tolist() == [1, 1]
    assert unreached.grad is None
    _, t, _ = middle()
    with pytest.warns(UserWarning, match="not a leaf Tensor") as caught:
        assert t.grad is None
    assert "use .retain_grad() on the non-leaf Tensor" in str(caught[0].message)
    assert "make sure you access the leaf Tensor instead" in str(caught[0].message)


def test_what_passes_later_is_kept():
    d, t, e = middle()
    assert e.backward(retain_graph=True) is None
    t.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the note: no warning comes
        assert t.grad is None
    torch.autograd.grad(d * 2, d)
    assert t.grad is None, "this backward did not pass t"
    for back, total in (
        (lambda: e.backward(retain_graph=True), 5.0),
        (lambda: torch.autograd.grad(e, t, retain_graph=True), 10.0),
        (lambda: torch.autograd.grad(e, d, retain_graph=True), 15.0),
    ):
        back()
        assert t.grad.item() == total
    t.grad = None
    e.backward()
    assert t.grad.item() == 5, "the request stays"
    d.retain_grad()
    assert not d.retains_grad, "a leaf need not ask"


def test_a_gradient_is_as_large_as_its_tensor():
    layer = nn.Sequential(nn.Linear(2, 8), nn.Tanh())
    points, kept = torch.ones(100, 2), []
    for part in layer:
        points = part(points)
        points.retain_grad()
        kept.append(points)
    points.sum().backward()
    assert sum(one.grad.numel() for one in kept) == 1600
    assert sum(one.numel() for one in layer.parameters()) == 24
    table = nn.Embedding(1000, 64, sparse=True)
    table(torch.tensor([1, 2])).sum().backward()
    assert table.weight.grad._values().numel() == 128, "a sparse gradient is not as large"


def test_a_request_after_a_cast():
    start = leaf(20.0, 30.0)
    w = start.to(torch.float64)
    (w * w).sum().backward()
    w.retain_grad()
    (w * w).sum().backward()
    assert (w.grad.tolist(), start.grad.tolist()) == ([40, 60], [80, 120])
    assert not w.is_leaf


def test_03_1_three_of_the_lines_are_recorded_and_their_results_have_a_grad_fn():
    w = leaf(1.0, 1.0)
    s = nn.Parameter(torch.ones(2) * 0.1)
    made = [w, w + 0, w.detach(), w.detach() * 3, s, s * 2, w[:1], w > 0]
    assert [one.grad_fn is not None for one in made] == [0, 1, 0, 0, 0, 1, 1, 0]
    for values in (leaf(1.0) * 0.1, leaf(1.0)):
        assert nn.Parameter(values).is_leaf
        assert nn.Parameter(values) is not values


def test_an_optimizer_takes_a_non_leaf_only_if_it_retains_or_the_step_is_recorded():
    start = leaf(2.0, 3.0)
    weight = start * 0.1
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([weight], lr=0.5)
    torch.optim.SGD([weight], lr=0.5, differentiable=True)
    weight.retain_grad()
    weight.sum().backward()
    torch.optim.SGD([weight], lr=0.5).step()
    assert weight.tolist() == pytest.approx([-0.3, -0.2])
    assert start.grad.tolist() == pytest.approx([0.1, 0.1])


def test_the_example_of_reasons_for_a_missing_gradient():
    why_no_grad = run(find("03.7").solution)
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    model.add_module("head", nn.Linear(1, 1))
    model[0].weight.requires_grad_(False)
    model[1](model[0](torch.ones(1, 1))).sum().backward()
    reasons = {"0.weight": "flag down", "head.weight": "not reached", "head.bias": "not reached"}
    assert why_no_grad(dict(model.named_parameters())) == reasons
    model.zero_grad()
    assert why_no_grad({"weight": model[1].weight}) == {"weight": "not reached"}
