"""What lesson 05 claims beyond its own cells, run in torch."""

import pytest
import torch
from torch.autograd import grad
from torch.autograd.functional import jacobian

from helpers.claims import refusal
from helpers.exercises import exercise as registry
from helpers.moons import moons
from helpers.predicting.program_outcomes import outcome
from helpers.predicting.questions import question

DIVISION, ROWS, CASE = (registry.find(f"05.{number}") for number in (3, 4, 5))


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def distances(points, centre):
    return ((points - centre) ** 2).sum(1).sqrt()


def test_one_step_with_the_gradient_of_the_case_loses_the_centre():
    points, _ = moons(40)
    centre = points[0].clone().requires_grad_()
    assert points.isfinite().all()
    assert len(points) == 40
    distances(points, centre).mean().backward()
    with torch.no_grad():
        centre -= 0.1 * centre.grad
    assert centre.isnan().all()
    assert distances(points, centre).isnan().all()
    one = points[0].clone().requires_grad_()
    distances(points[1:], one).mean().backward()
    assert one.grad.isfinite().all(), "the point that is the centre, and no other, brings the NaN"


# Where backward begins, and with what


def implicit(shape, dtype):
    """Return why `backward()` without a gradient is refused at an output of this shape and dtype."""
    output = 2 * torch.ones(shape, dtype=dtype, requires_grad=True)
    return refusal(output.backward)


def test_torch_puts_in_a_1_for_one_real_element_of_any_shape():
    for shape in ((), (1,), (1, 1)):
        assert implicit(shape, torch.float64) == ""
        assert "real scalar outputs" in implicit(shape, torch.complex64)
    for shape in ((2,), (1, 2), (0,)):
        assert "only for scalar outputs" in implicit(shape, torch.float32)


def test_v_is_neither_cut_nor_stretched():
    for shape in ((), (1,), (3,), (1, 2), (2, 1), (2, 2)):
        y = torch.ones(2, 3) @ torch.ones(3, requires_grad=True)
        v = torch.ones(shape)
        assert "Mismatch in shape" in refusal(lambda y=y, v=v: y.backward(v))
        y.backward(torch.ones_like(y))


def test_v_times_the_jacobian_comes():
    x, W = leaf(1.0, 2.0, 3.0), torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    for v in (torch.tensor([1.0, 10.0]), torch.tensor([0.0, 1.0])):
        assert torch.equal(grad(W @ x, x, v)[0], v[0] * W[0] + v[1] * W[1])
    x = leaf(1.0, 2.0)
    for reduce, v in ((torch.sum, [1.0, 1.0]), (torch.mean, [0.5, 0.5])):
        assert torch.equal(grad(reduce(x**2), x)[0], grad(x**2, x, torch.tensor(v))[0])
    for case in ROWS.reader.cases:
        f, x = case()
        y, rows = f(x), jacobian(f, x)
        v = torch.arange(1.0, len(y) + 1)
        assert torch.allclose(grad(y, x, v)[0], v @ rows)
        assert torch.equal(ROWS.truth()(f, x), rows)


def test_a_second_backward_needs_the_saved_tensors_once_more():
    x = leaf(1.0, 2.0)
    y = x**2
    grad(y, x, torch.eye(2)[0])
    assert "a second time" in refusal(lambda: grad(y, x, torch.eye(2)[1]))


def test_grad_leaves_the_grad_of_leaves_alone():
    x, other = leaf(1.0, 1.0), leaf(1.0, 1.0)
    x.grad = torch.tensor([7.0, 7.0])
    grad((x * other).sum(), (x, other))
    assert (x.grad.tolist(), other.grad) == ([7, 7], None)
    inner = x * 1
    inner.retain_grad()
    grad(inner**2, inner, torch.ones(2))
    assert inner.grad.tolist() == [2, 2], "a result that retains its gradient gets it"


def test_an_element_that_is_taken_first_and_used_counts():
    x = torch.ones(3, requires_grad=True)
    first = x[0]
    assert grad(first**2, first) == (2,)
    assert grad((x**2).sum(), x[0], allow_unused=True) == (None,)
    assert x[0].data_ptr() == x.data_ptr()
    assert grad((x**2).sum(), x)[0][0] == 2


# What a node does


def test_a_node_returns_what_arrives_times_its_jacobian_without_writing_that_down():
    z = torch.tensor(1 + 0j, requires_grad=True)
    assert grad(z * 1j, z, torch.tensor(1 + 0j)) == (-1j,), "a complex slope is conjugated"
    v, x = torch.tensor([1.0, 10.0, -3.0]), leaf(2.0, 3.0, 0.5)
    large = torch.ones(1_000_000, requires_grad=True)  # the table of these would take 4 terabytes
    for operation in (torch.square, torch.sin, lambda x: x.cumsum(0), lambda x: x.softmax(0)):
        assert torch.allclose(operation(x).grad_fn(v), v @ jacobian(operation, x))
        assert operation(large).grad_fn(torch.ones_like(large)).shape == large.shape
    W = torch.ones(2, 3)
    assert (jacobian(lambda x: W @ x, x.detach()) != 0).sum(dim=1).tolist() == [3, 3]
    assert torch.equal(jacobian(torch.square, x.detach()), torch.diag(2 * x))


def test_sine_and_square_use_the_one_tensor_that_each_saved():
    x = leaf(2.0)
    s = torch.sin(x)
    y = s**2
    assert torch.equal(y.grad_fn._saved_self, s)
    assert torch.equal(s.grad_fn._saved_self, x)
    at = torch.linspace(-7, 7, 10_001, dtype=torch.float64, requires_grad=True)
    (slopes,) = grad((torch.sin(at) ** 2).sum(), at)
    assert torch.allclose(slopes, torch.sin(2 * at))
    nearest = torch.minimum(torch.sin(at).abs(), torch.cos(at).abs())
    assert ((slopes.abs() < 1e-3) == (nearest < 5e-4)).all()


def test_what_a_node_called_by_hand_returns_is_recorded_if_it_uses_x():
    x = leaf(2.0, 3.0)
    assert (x**2).grad_fn(torch.ones(2)).grad_fn is not None
    total, *_ = (x + 1).grad_fn(torch.ones(2))
    assert total.grad_fn is None, "it hands on what arrives, and x plays no part"


def test_where_paths_meet_gradients_are_added_and_a_node_has_one_turn():
    x, arrived = leaf(3.0), []
    x.register_hook(lambda gradient: arrived.append(gradient.item()))
    p = x**2
    q = p * x
    (p + q).backward(retain_graph=True)
    p.backward(retain_graph=True)
    assert arrived == [1 * 6 + 1 * 3 * 6 + 1 * 9, 6], "q was not waited for"
    turns, loss = [], p + q
    for made in (loss, q, p):
        made.grad_fn.register_prehook(lambda _, node=made.grad_fn: turns.append(node.name()))
    loss.backward()
    assert turns == ["AddBackward0", "MulBackward0", "PowBackward0"]


def test_the_first_round_of_a_loop_is_reached_last():
    w, h, turns = leaf(2.0), torch.tensor(1.0), []
    for number in range(3):
        h = w * h
        h.grad_fn.register_hook(lambda *_, number=number: turns.append(number))
    h.backward()
    assert turns == [2, 1, 0]


# NaN and infinity


def slope_at_0(function):
    x = torch.zeros(2, requires_grad=True)
    return grad(function(x).sum(), x)[0].tolist()


def test_abs_and_norm_hand_on_0_where_they_are_0_and_others_do_not():
    assert slope_at_0(torch.abs) == slope_at_0(torch.linalg.vector_norm) == [0, 0]
    for function in (torch.sqrt, torch.log, lambda x: x**0.5):
        assert slope_at_0(function) == [float("inf")] * 2


def test_a_root_is_made_safe_before_it_and_not_after():
    lines = question("05.f1").shown["lines"]
    assert question("05.f1").told["mend"]["2"] == "root = torch.where(x > 0, x, 1.0).sqrt()"
    for line in ("half * (x > 0)", "half.masked_fill(x <= 0, 0.0)"):
        assert "nan" in outcome("\n".join(lines).replace(lines[4], f"safe = {line}")).printout


def test_infinity_minus_infinity_where_two_paths_meet_is_nan():
    x = leaf(0.0)
    (x.sqrt() - x.sqrt()).backward()
    assert x.grad.isnan()
    for one, other in ((torch.inf, 0.0), (0.0, torch.inf)):
        assert torch.tensor(one * other).isnan()
    assert torch.tensor(1e-12).sqrt().item() == pytest.approx(1e-6)


# Exercises


def test_the_engine_of_05_3_is_caught_by_a_quotient():
    v, a, b, h = (
        torch.tensor([1.0, -3.0]),
        torch.tensor([6.0, 5.0]),
        torch.tensor([2.0, -4.0]),
        1e-3,
    )
    for_a, for_b = DIVISION.truth()(v, a, b)
    assert torch.allclose(for_a, v * ((a + h) / b - (a - h) / b) / (2 * h), rtol=1e-2)
    assert torch.allclose(for_b, v * (a / (b + h) - a / (b - h)) / (2 * h), rtol=1e-2)


def test_a_point_on_the_centre_of_05_5_pulls_in_no_direction():
    for case in CASE.reader.cases:
        points, centre = case()
        (mine,) = grad(CASE.truth()(points, centre), centre)
        away = [(centre - one).detach() for one in points if not torch.equal(one, centre)]
        assert torch.allclose(mine, sum(one / one.norm() for one in away) / len(points))
