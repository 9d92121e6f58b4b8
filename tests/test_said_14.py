"""What lesson 14 claims of hooks, NaN and clipping beyond its own cells, run in torch."""

import math
import warnings

import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from autograd_graphs import show
from helpers.claims import refusal
from helpers.exercises.exercise import exercises
from helpers.flow import gradient_norms
from helpers.moons import moons

*_, STABLE = exercises("14")


def leaf(value=2.0):
    return torch.tensor(value, requires_grad=True)


def trained(loss_of, rounds=80, clip=False):
    """Train the case; return the losses and the model."""
    torch.manual_seed(0)
    (x, y), log = moons(), []
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
    for _ in range(rounds):
        loss = loss_of(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        if clip:
            clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log.append(loss.item())
    return log, model


def from_the_book(z, y):
    p = z.sigmoid()
    return -(y * p.log() + (1 - y) * (1 - p).log()).mean()


# The case


@pytest.mark.slow
def test_the_case_ends_in_nan_because_a_probability_is_rounded_to_1_and_its_answer_repairs_it():
    log, model = trained(from_the_book)
    first = next(nr for nr, loss in enumerate(log) if math.isnan(loss))
    assert 50 < first < 80
    assert all(not math.isnan(loss) for loss in log[:first])
    assert log[first - 1] < 0.01 < log[0]
    assert all(one.isnan().all() for one in model.parameters())
    assert all(one.isfinite().all() for one in moons())
    _, before = trained(from_the_book, rounds=first)
    p = before(moons()[0]).sigmoid()
    assert (p == 1).any()
    assert torch.tensor(17.0).sigmoid() == 1
    stable, _ = trained(STABLE.truth())
    assert all(map(math.isfinite, stable))
    assert stable[-1] < log[first - 1]
    assert stable[:40] == pytest.approx(log[:40], rel=1e-3)


@pytest.mark.slow
def test_clipping_does_not_save_the_case_and_anomaly_mode_names_the_logarithm_and_its_line():
    clipped, model = trained(from_the_book, clip=True)
    assert math.isnan(clipped[-1])
    assert all(one.isnan().all() for one in model.parameters())
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="Function 'LogBackward0' returned nan values"):
            trained(from_the_book)
    assert "(1 - p).log()" in str(seen[-1].message)


# Idea 1


def test_a_module_hook_is_two_nodes_or_one_and_a_tensor_hook_none():
    calls = []
    for needs_grad, nodes in ((True, 2), (False, 1)):
        layer, x = nn.Linear(2, 1), torch.ones(1, 2, requires_grad=needs_grad)
        plain = str(show(layer(x)))
        layer.register_full_backward_hook(lambda layer, *both: calls.append(layer.weight.grad))
        hooked = layer(x)
        hooked.register_hook(lambda g: None)
        assert plain.count("BackwardHookFunction") == 0
        assert str(show(hooked)).count("BackwardHookFunction") == nodes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            hooked.sum().backward()
        assert (calls.pop() is not None) == needs_grad


def test_a_module_hook_is_given_the_gradients_of_both_ends_and_forbids_an_edit_behind_it():
    layer, seen = nn.Tanh(), []
    layer.register_full_backward_hook(lambda module, *both: seen.extend(both))
    (layer(leaf(0.5)) * 2).backward()
    (inner,), (outer,) = seen
    assert outer.item() == 2
    assert inner.item() == pytest.approx(2 * (1 - math.tanh(0.5) ** 2))
    layer.register_full_backward_hook(lambda module, inner, outer: (inner[0] * 10,))
    (layer(x := leaf(0.5)) * 2).backward()
    assert x.grad.item() == pytest.approx(10 * inner.item())
    layer.register_full_backward_hook(lambda module, inner, outer: inner * 2)
    with pytest.raises(RuntimeError, match="invalid number of grad_input"):
        layer(leaf(0.5)).backward()

    class Times(nn.Module):
        def forward(self, x, k):
            return x * k

    for count, message in ((2, ""), (1, "got 1, but expected 2")):
        times, x = Times(), leaf()
        times.register_full_backward_hook(lambda module, *_, n=count: (torch.ones(()), None)[:n])
        assert message in (told := refusal(times(x, 3).backward))
        assert bool(message) == bool(told)
    assert str(show(times(x, 3))).count("BackwardHookFunction") == 2
    assert str(show(times(x=x, k=3))).count("BackwardHookFunction") == 1
    relu = nn.ReLU(inplace=True)
    relu.register_full_backward_hook(lambda *given: None)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        relu(leaf() * 1)


def test_all_hooks_run_in_one_order():
    w, ran = leaf(), []
    h = w * 3
    h.retain_grad()
    h.grad_fn.register_hook(lambda *g: ran.append(("behind the node", w.grad)))
    h.grad_fn.register_prehook(lambda g: ran.append(("before the node", h.grad.item())))
    h.register_hook(lambda g: ran.append(("on h", g.item())))
    h.register_hook(lambda g: g * 10)
    w.register_post_accumulate_grad_hook(lambda w: ran.append(("filled", w.grad.item())))
    w.register_hook(lambda g: ran.append(("on w", w.grad)))
    (h**2).backward()
    assert ran == [
        ("on h", 12),
        ("before the node", 120),
        ("behind the node", None),
        ("on w", None),
        ("filled", 360),
    ]
    edited = leaf()
    (made := edited * 3).register_hook(lambda g: g.mul_(2) and None)
    (made**2).backward()
    assert edited.grad == 72, "twice 36"
    plain = leaf()
    (made := plain * 3).retain_grad()
    (made**2).backward()
    assert (made.grad.item(), plain.grad.item()) == (12, 36)


def test_autograd_grad_calls_a_hook_on_a_leaf_and_none_that_waits_for_its_grad():
    w, ran = leaf(), []
    w.register_hook(lambda g: ran.append("on w"))
    w.register_post_accumulate_grad_hook(lambda w: ran.append("filled"))
    torch.autograd.grad(w * 3, w)
    assert (ran, w.grad) == (["on w"], None)


def test_a_bad_hook_raises_and_what_is_behind_it_gets_nothing():
    def stop(g):
        raise KeyError("mine")

    w, v = torch.ones(2, requires_grad=True), leaf()
    (h := w * 3).register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        h.sum().backward()
    (h := w * 3).register_hook(lambda g: g.double())
    with pytest.raises(RuntimeError, match="has changed the type of value"):
        h.sum().backward()
    v.register_hook(stop)
    with pytest.raises(KeyError, match="mine"):
        (v * w * 3).sum().backward()
    assert v.grad is None
    u = leaf()
    u.register_post_accumulate_grad_hook(lambda one: one.grad)
    with pytest.raises(RuntimeError, match="should return None"):
        (u * 2).backward()


def test_a_hook_may_call_backward_and_returns_nothing():
    w, v = leaf(), leaf(5.0)
    inner = v * v
    w.register_hook(lambda g: inner.backward())
    (w * 3).backward()
    assert (w.grad.item(), v.grad.item()) == (3, 10)
    for keep, message in ((True, ""), (False, "second time")):
        y, todo = (h := leaf() * 3) ** 2, [1]

        def once_more(g, y=y, todo=todo, keep=keep):
            if todo:
                todo.pop()
                y.backward(retain_graph=keep)

        h.register_hook(once_more)
        assert message in (told := refusal(lambda y=y, keep=keep: y.backward(retain_graph=keep)))
        assert bool(message) == bool(told)


# Idea 2


def test_a_tensor_that_is_used_twice_has_one_gradient_and_two_orders_end_at_2():
    w, ran = leaf(), []
    h = w * 3
    h.register_hook(lambda g: ran.append(g.item()))
    (h * 2 + h * 5).backward()
    assert ran == [7]
    w = leaf(1.0)
    (w * 10).backward()
    w.grad.clamp_(-1, 1)
    w.register_hook(lambda g: g.clamp(-1, 1))
    (w * 100).backward()
    assert w.grad.item() == 2


def test_a_hook_goes_with_its_tensor_unless_it_is_a_parameter():
    w, ran = leaf(), []
    w.register_hook(lambda g: ran.append("w"))
    for _ in range(2):
        h = w * 3
        if not ran:
            h.register_hook(lambda g: ran.append("h"))
        h.backward()
    assert ran == ["h", "w", "w"]
    v = leaf()
    h = v * 3
    h.register_hook(lambda g: g * 10)
    y = h**2
    del h
    y.backward()
    assert v.grad == 360, "the name is gone, and the hook is not"


# Idea 3


def test_what_anomaly_mode_sees_is_what_a_node_hands_on_and_only_a_nan():
    found = []
    for y in (
        lambda x: x.sqrt(),
        lambda x: x.sqrt() - x.sqrt(),
        lambda x: x.sqrt() * x,
        lambda x: (h := x * 2).sqrt() - h.sqrt(),
    ):
        x = torch.tensor([0.0, 4.0], requires_grad=True)
        with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
            warnings.simplefilter("ignore")
            try:
                y(x).sum().backward()
                found.append(x.grad[0].item())
            except RuntimeError as error:
                found.append(str(error))
    infinite, added_up, slope, one_later = found
    assert math.isinf(infinite)
    assert math.isnan(added_up), "an infinity and its opposite, added for x"
    assert slope.startswith("Function 'SqrtBackward0' returned nan values")
    assert one_later.startswith("Function 'MulBackward0' returned nan values"), "which is innocent"


# Idea 4


def test_two_ways_of_clipping():
    w = torch.ones(3, requires_grad=True)
    clipped = []
    for clip in (clip_grad_value_, clip_grad_norm_):
        w.grad = torch.tensor([3.0, 4.0, math.inf])
        clip(w, 1.0)
        clipped += w.grad.tolist()
    assert clipped[:5] == [1, 1, 1, 0, 0]
    assert math.isnan(clipped[5])
    w.grad = torch.tensor([3.0, 4.0, math.nan])
    with pytest.raises(RuntimeError, match="non-finite"):
        clip_grad_norm_(w, 1.0, error_if_nonfinite=True)


def test_clipping_shortens_a_step_of_sgd_and_not_the_first_one_of_adam():
    steps = {}
    for kind in (torch.optim.SGD, torch.optim.Adam):
        for clip in (False, True):
            w = torch.ones(2, requires_grad=True)
            w.grad = torch.tensor([300.0, 400.0])
            if clip:
                clip_grad_norm_(w, 1.0)
            kind([w], lr=0.1).step()
            steps[kind.__name__, clip] = (1 - w).norm().item()
    assert steps["SGD", True] < 0.01 * steps["SGD", False]
    assert steps["Adam", True] == pytest.approx(steps["Adam", False], rel=1e-4)
    after = {}
    for clip in (False, True):
        w = torch.ones(2, requires_grad=True)
        adam = torch.optim.Adam([w], lr=0.1)
        for size in (1.0, 1.0, 1_000.0, 1.0, 1.0):
            before, w.grad = w.detach().clone(), torch.tensor([0.6, 0.8]) * size
            if clip:
                clip_grad_norm_(w, 1.0)
            adam.step()
        after[clip] = (before - w).norm().item()
    assert after[False] < 0.8 * after[True]


def test_twenty_sigmoids_leave_nothing_and_a_second_path_does_not_vanish():
    torch.manual_seed(0)
    layers, x = [nn.Linear(8, 8) for _ in range(20)], torch.randn(5, 8)
    plain, with_h, relu = (
        gradient_norms(layers, torch.sigmoid, x),
        gradient_norms(layers, torch.sigmoid, x, skip=True),
        gradient_norms(layers, torch.relu, x),
    )
    assert plain[0] < 1e-12 < 1 < plain[-1]
    assert 1 < min(with_h) < max(with_h) < 50
    assert plain[0] * 1e6 < relu[0] < relu[-1]
    weight = layers[0].weight.detach()
    assert torch.equal(weight - plain[0], weight)
    slopes = torch.linspace(-9, 9, 1001, requires_grad=True)
    slopes.sigmoid().sum().backward()
    assert slopes.grad.max().item() == pytest.approx(1 / 4)
    big = gradient_norms([nn.Linear(8, 8) for _ in range(20)], lambda h: 9 * h, x)
    assert big[0] > 1e6
    assert all(layer.weight.grad is None for layer in layers)


# Exercises


def test_roots_and_logs_are_steep_at_0_a_frozen_tensor_takes_no_hook_and_a_loss_of_0_is_capped():
    for operation in (torch.sqrt, torch.log):
        x = leaf(0.0)
        operation(x).backward()
        assert math.isinf(x.grad)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: None)
    z = torch.tensor(2.0)
    assert (1 - z.sigmoid()).item() == pytest.approx((-z).sigmoid().item())
    p, one = torch.tensor([0.0]), torch.tensor([1.0])
    assert nn.functional.binary_cross_entropy(p, one).item() == 100
