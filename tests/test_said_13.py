"""What lesson 13 claims of gradients of gradients beyond its own cells, run in torch."""

import pytest
import torch
from torch import nn
from torch.autograd import Function, grad, gradcheck, gradgradcheck
from torch.nn.functional import binary_cross_entropy_with_logits as bce
from torch.optim import SGD

from helpers import snapshot
from helpers.claims import refusal
from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import classifier, moons

CYCLE = pytest.mark.filterwarnings("ignore:Using backward")


def leaf(*values, **options):
    return torch.tensor(values[0] if len(values) == 1 else values, requires_grad=True, **options)


def derivatives(f, at=3.0):
    x = leaf(at)
    (first,) = grad(f(x), x, create_graph=True)
    return first.item(), grad(first, x)[0].item()


# The case


def trained(factor, **flags):
    """Train the classifier of the case, and return its last penalty."""
    points, moon = moons()
    points.requires_grad_()
    model = classifier()
    optimizer = SGD(model.parameters(), lr=0.1)
    for _ in range(100):
        score = model(points)
        (slope,) = grad(score.sum(), points, **flags)
        penalty = slope.square().sum(1).mean()
        optimizer.zero_grad()
        (bce(score, moon) + factor * penalty).backward()
        optimizer.step()
    return round(penalty.item(), 2)


@pytest.mark.slow
def test_with_the_flag_of_the_message_the_penalty_changes_nothing():
    assert {trained(factor, retain_graph=True) for factor in (0, 0.1, 10)} == {3.57}
    assert trained(0.1, create_graph=True) < 1
    assert "Specify retain_graph=True" in refusal(lambda: trained(0.1))


# Idea 1


def test_a_recorded_gradient_leads_to_what_it_was_made_of():
    x = leaf(0.0)
    h = x.exp()
    (g,) = grad(5 * h, x, create_graph=True)
    assert g.grad_fn.next_functions == ((None, 0), (h.grad_fn, 0))
    assert grad(5 * x.exp(), x)[0].grad_fn is None
    assert not grad(3 * x, x, create_graph=True)[0].requires_grad
    assert derivatives(lambda x: 5 * x.exp(), 0.0) == (5, 5)


@CYCLE
def test_backward_adds_derivatives_up():
    x = leaf(3.0)
    y = x**3
    y.backward(retain_graph=True)
    (g,) = grad(y, x, create_graph=True)
    x.grad = None
    g.backward()
    assert x.grad.item() == 18
    x = leaf(3.0)
    (x**3).backward(create_graph=True)
    assert snapshot(x.grad).nodes[-1].is_leaf
    x.grad.backward()
    assert x.grad.item() == 45
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
            (leaf(3.0) ** 3).backward(create_graph=True)
    finally:
        torch.set_warn_always(False)


# Idea 2


def test_which_flag_keeps_what():
    x = leaf(3.0)
    y = x**3
    (first,) = grad(y, x, retain_graph=True)
    assert (first.item(), first.requires_grad) == (27, False)
    assert grad(first * x, x)[0].item() == 27
    assert "does not require grad" in refusal((first * 2).backward)
    grad(y, x, create_graph=True)
    assert grad(y, x)[0].item() == 27


def test_a_step_is_differentiated_if_its_gradient_was_recorded():
    w = leaf(2.0)
    (g,) = grad((w - 6) ** 2, w)
    ((w - 0.25 * g - 5) ** 2).backward()
    assert w.grad.item() == -2  # and −1 where the gradient was recorded, as the run shows
    before = w._version
    SGD([w], lr=0.1).step()
    assert (w.grad_fn, w._version) == (None, before + 1)


# Idea 3


def cubes(x):
    return (x**3).sum() * x.sum()


def test_a_product_with_the_hessian_takes_one_pass_more():
    for size in (3, 10):
        x, v = torch.ones(size, requires_grad=True), torch.arange(float(size))
        (g,) = grad(cubes(x), x, create_graph=True)
        assert len(snapshot(g @ v).nodes) == 13
        whole = torch.func.hessian(cubes)(torch.ones(size))
        assert torch.allclose(grad(g @ v, x, retain_graph=True)[0], whole @ v)
        assert torch.allclose(grad(g[0], x, retain_graph=True)[0], whole[0])
        passes = []
        x.register_hook(lambda _, passes=passes: passes.append(1))
        (rows,) = grad(g, x, torch.eye(size), is_grads_batched=True)
        assert torch.allclose(rows, whole)
        assert len(passes) == 1


def test_a_straight_function_may_have_a_gradient_with_a_graph():
    line, x = nn.Linear(3, 1), torch.ones(3, requires_grad=True)
    (g,) = grad(line(x).sum(), x, create_graph=True)
    assert g.requires_grad, "it leads to the weights"
    product = run(find("13.5").solution)
    assert product(lambda x: line(x).sum(), x, torch.ones(3)).tolist() == [0, 0, 0]


# Idea 4


def square(keep, slope):
    """Return a Square whose forward and backward keep and use the slope in some way."""
    parts = {"forward": lambda ctx, x: (keep(ctx, x), x * x)[1]}
    parts["backward"] = lambda ctx, arrived: arrived * slope(ctx)
    return type("Square", (Function,), {name: staticmethod(one) for name, one in parts.items()})


def keep_slope(ctx, x):
    ctx.slope = 2 * x


def save_slope(ctx, x):
    ctx.save_for_backward(2 * x)


def keep_x(ctx, x):
    ctx.x = x


def save_x(ctx, x):
    ctx.save_for_backward(x)


@pytest.mark.parametrize(
    ("keep", "slope", "second"),
    [
        (keep_slope, lambda ctx: ctx.slope, 12),
        (save_slope, lambda ctx: ctx.saved_tensors[0], 12),
        (save_x, lambda ctx: 2 * ctx.saved_tensors[0].data, 12),
        (save_x, lambda ctx: 2 * ctx.saved_tensors[0].detach(), 12),
        (keep_x, lambda ctx: 2 * ctx.x, 18),
        (save_x, lambda ctx: 2 * ctx.saved_tensors[0], 18),
    ],
)
def test_what_a_backward_only_remembers_is_a_constant(keep, slope, second):
    own = square(keep, slope)
    assert derivatives(lambda x: own.apply(x) * x) == (27, second)
    x = leaf([3.0], dtype=torch.float64)
    assert gradcheck(own.apply, x)
    assert gradgradcheck(own.apply, x, raise_exception=False) == (second == 18)
    if second == 12:
        assert "Jacobian mismatch" in refusal(lambda: gradgradcheck(own.apply, x))
        for alone in (own.apply, lambda x: own.apply(x) + x):
            x = leaf(3.0)
            (first,) = grad(alone(x), x, create_graph=True)
            assert "does not require grad" in refusal(first.backward)


# Exercises


def test_torch_func_records_for_an_x_that_requires_grad_and_a_mean_score_has_a_smaller_slope():
    x = leaf([1.0, 2.0])
    assert torch.func.grad(lambda x: (x**3).sum())(x).requires_grad
    assert not torch.func.grad(lambda x: (x**3).sum())(x.detach()).requires_grad
    points = torch.ones(5, 2, requires_grad=True)
    score = classifier()(points)
    whole, mean = (grad(one, points, retain_graph=True)[0] for one in (score.sum(), score.mean()))
    assert torch.allclose(whole, 5 * mean), "too small by the number of points"
