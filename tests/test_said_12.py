"""What lesson 12 claims of functions of one's own beyond its own cells, run in torch."""

import gc
import warnings
import weakref

import pytest
import torch
from torch.autograd import Function, grad, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable

from helpers.claims import refusal
from helpers.moons import learn


def leaf(*values, **options):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True, **options)


def function(forward, backward=None, **more):
    """Return a Function with these static methods."""
    parts = {"forward": forward, "backward": backward} | more
    return type("Own", (Function,), {name: staticmethod(one) for name, one in parts.items() if one})


def keep_attribute(ctx, x):
    ctx.x = x
    return x.clamp(min=0)


def keep_saved(ctx, x):
    ctx.save_for_backward(x)
    return x * x * x


Gate = function(keep_attribute, lambda ctx, arrived: (ctx.x > 0).float())
Cube = function(keep_saved, lambda ctx, arrived: arrived * 3 * ctx.saved_tensors[0] ** 2)
Through = function(lambda ctx, x: x.sign(), lambda ctx, arrived: arrived)


# The case


def test_the_gate_has_the_right_values_and_closes_for_good_after_one_step():
    x, seen = torch.linspace(-3, 3, 31), []
    assert torch.equal(Gate.apply(x), torch.relu(x))

    def watched(x):
        seen.append(int((x > 0).sum()))
        return Gate.apply(x)

    learn(watched)
    assert seen[0] > 400
    assert set(seen[1:]) == {0}
    mended = function(keep_attribute, lambda ctx, arrived: arrived * (ctx.x > 0).float())
    assert learn(mended.apply) == 87


# Idea 1


def test_a_forward_runs_without_a_record_and_becomes_one_node():
    modes = []
    noted = function(lambda ctx, x: (modes.append(torch.is_grad_enabled()), x.exp())[1])
    h = leaf() * 2
    y = noted.apply(h)
    assert modes == [False]
    assert y.grad_fn.next_functions == ((h.grad_fn, 0),)
    for made in (lambda ctx, given: given[0] * 2, lambda ctx, given: given[0].view(-1)):
        assert function(made).apply([leaf()]).grad_fn is None
    both = function(lambda ctx, given, x: given[0] * x).apply([h], h)
    assert both.grad_fn.next_functions == ((h.grad_fn, 0),)
    assert "must implement either the backward or vjp" in refusal(y.sum().backward)
    assert y.grad_fn.saved_tensors == ()


def test_what_a_backward_returns_goes_on_as_it_is():
    for returned, message in (
        (torch.ones(5), "got [5] but expected shape compatible with [2]"),
        ((torch.ones(2),) * 2, "incorrect number of gradients (expected 1, got 2)"),
    ):
        wrong = function(lambda ctx, x: x * 1, lambda ctx, arrived, returned=returned: returned)
        assert message in refusal(wrong.apply(leaf()).sum().backward)
    turned = function(lambda ctx, x: x * 1, lambda ctx, arrived: arrived * 1j)
    assert "input_is_complex == grad_is_complex" in refusal(turned.apply(leaf()).sum().backward)
    wide = function(lambda ctx, x: x * 1, lambda ctx, arrived: torch.ones(2, 5))
    wide.apply(x := torch.ones(2, 1, requires_grad=True)).sum().backward()
    assert x.grad.tolist() == [[5], [5]]
    spare = (torch.ones(2), None)
    for returned, gradient in (
        (torch.ones(2).long(), [1, 1]),
        (torch.ones(3, 2), [3, 3]),
        (spare, [1, 1]),
    ):
        odd = function(lambda ctx, x: x * 1, lambda ctx, arrived, returned=returned: returned)
        odd.apply(x := leaf()).sum().backward()
        assert (x.grad.tolist(), x.grad.dtype) == (gradient, torch.float32)
    nan = function(lambda ctx, x: x * 1, lambda ctx, arrived: arrived * torch.nan)
    nan.apply(x := leaf()).sum().backward()
    assert x.grad.isnan().all()
    with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
        warnings.simplefilter("ignore")
        assert "returned nan values" in refusal(nan.apply(leaf()).sum().backward)


def test_a_backward_that_edits_what_arrives_spoils_another_path():
    hundredfold = function(lambda ctx, x: x * 1, lambda ctx, arrived: arrived.mul_(100))
    x = leaf()
    h = x * 1
    ((h + hundredfold.apply(h)) * torch.ones(2)).sum().backward()
    assert x.grad.tolist() == [200, 200], "101 would be right for this backward"


def test_a_backward_that_returns_a_view_of_x_lets_torch_add_into_x():
    viewing = function(keep_attribute, lambda ctx, arrived: ctx.x.detach().view(2))
    x = leaf()
    viewing.apply(x).sum().backward()
    assert x.grad.data_ptr() == x.data_ptr()
    viewing.apply(x).sum().backward()
    assert x.tolist() == [2, 4]


# Idea 2


def test_save_for_backward_guards_a_tensor_and_an_attribute_does_not():
    x = leaf(2.0)
    gate, cube = Gate.apply(x), Cube.apply(x)
    assert gate.grad_fn.x is x
    assert cube.grad_fn.saved_tensors[0].data_ptr() == x.data_ptr()
    (gate + cube).sum().backward()
    assert "after they have already been freed" in refusal(lambda: cube.grad_fn.saved_tensors)
    assert gate.grad_fn.x is x
    for thing in (3.0, x.shape, True):
        own = function(lambda ctx, x, thing=thing: (ctx.save_for_backward(thing), x * 3)[1])
        assert "can only save variables" in refusal(lambda own=own: own.apply(x))


def test_a_result_in_an_attribute_waits_for_the_garbage_collector():

    def circle(ctx, x):
        ctx.y = y = x.exp()
        return y

    y = function(circle).apply(leaf())
    result = weakref.ref(y)
    gc.disable()
    del y
    assert result() is not None
    gc.enable()
    gc.collect()
    assert result() is None


# Idea 3


def checked(call, *values, **options):
    with warnings.catch_warnings(record=True) as said_too:
        warnings.simplefilter("always")
        return refusal(lambda: gradcheck(call, leaf(*values, **options))), said_too


def test_gradcheck_needs_float64_and_says_no_at_a_corner():
    message, said_too = checked(Cube.apply, 2.0, 5.0)
    for number in ("11.4441", "68.6646", "12.", "75."):
        assert number in message
    assert "is not a double precision floating point" in str(said_too[0].message)
    assert checked(Cube.apply, 2.0, 5.0, dtype=torch.float64)[0] == ""
    assert "numerical:tensor([[0.5000]]" in checked(torch.relu, 0.0, dtype=torch.float64)[0]
    assert checked(torch.abs, 0.0, dtype=torch.float64)[0] == ""
    above, below = torch.tensor([2.0, 5.0]) + 1e-6, torch.tensor([2.0, 5.0]) - 1e-6
    assert torch.allclose(Cube.apply(above), Cube.apply(below), rtol=3e-6)


def test_gradcheck_finds_the_fault_of_the_case_and_not_second_derivatives():
    alone = checked(Gate.apply, 2.0, dtype=torch.float64)[0]
    assert "backward not multiplied by grad_output" in alone
    assert "Jacobian mismatch" in checked(Gate.apply, 2.0, -3.0, dtype=torch.float64)[0]
    cut = function(
        keep_saved, lambda ctx, arrived: arrived * 3 * ctx.saved_tensors[0].detach() ** 2
    )
    assert checked(cut.apply, 2.0, dtype=torch.float64)[0] == ""
    assert refusal(lambda: gradgradcheck(cut.apply, leaf(2.0, dtype=torch.float64)))


def test_once_differentiable_raises_in_backward_and_may_not_in_grad():
    once = once_differentiable(lambda ctx, arrived: arrived * 3 * ctx.saved_tensors[0] ** 2)
    own = function(keep_saved, once)
    x = leaf(2.0)
    (first,) = grad(own.apply(x).sum(), x, create_graph=True)
    assert "does not require grad" in refusal(first.backward)
    (first,) = grad((own.apply(x) ** 2).sum(), x, create_graph=True)
    assert "once_differentiable" in refusal(first.backward)
    (first,) = grad((own.apply(x) * x).sum(), x, create_graph=True)
    assert first.requires_grad
    assert grad(first.sum(), x)[0].item() == 12, "12 x² is 48, and nothing raises"


# Idea 4


def test_a_straight_through_gradient_moves_the_first_layer_and_is_no_derivative():
    x = leaf(0.3, -2.0)
    assert grad(torch.sign(x).sum(), x)[0].tolist() == [0, 0]
    assert grad((5 * Through.apply(x)).sum(), x)[0].tolist() == [5, 5]
    assert "Jacobian mismatch" in checked(Through.apply, 0.3, -2.0, dtype=torch.float64)[0]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "expected 2, got 1"),
        ((None,), ""),
        ((None, None), ""),
        ((torch.ones(2),), "gradient different than None"),
    ],
)
def test_one_value_comes_back_for_each_argument(more, message):
    listing = function(lambda ctx, x, k: x * k, lambda ctx, arrived: [arrived * 3.0, None])
    assert "expected 2, got 1" in refusal(listing.apply(leaf(), 3.0).sum().backward)
    wanted = []

    def backward(ctx, arrived):
        wanted.append(ctx.needs_input_grad)
        return (arrived, *more)

    scaled = function(lambda ctx, x, k: x.sign() * k, backward)
    x = leaf()
    y = scaled.apply(x, 3.0)
    told = refusal(y.sum().backward)
    assert message in told
    assert bool(message) == bool(told)
    assert wanted == [(True, False)]
    assert (x.grad is None) == bool(message)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_compile_reads_forward_and_backward_before_there_are_numbers():

    def asks(ctx, arrived):
        return arrived * 3 if arrived.sum() > 0 else arrived

    for backward, message in ((lambda ctx, arrived: arrived * 3, ""), (asks, "branching")):
        own = function(lambda ctx, x: x * 3, backward)
        run = torch.compile(lambda x, own=own: own.apply(x).sum(), backend="eager", fullgraph=True)
        told = refusal(lambda run=run: run(leaf()).backward())
        assert message in told
        assert bool(message) == bool(told)


def test_gradients_in_the_wrong_places_are_noticed_by_gradcheck_alone():

    def kept(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    def turned(ctx, arrived):
        a, b = ctx.saved_tensors
        return arrived * a, arrived * b

    product = function(kept, turned)
    a, b = leaf(2.0, dtype=torch.float64), leaf(5.0, dtype=torch.float64)
    assert refusal(product.apply(a, b).sum().backward) == ""
    assert "Jacobian mismatch" in refusal(lambda: gradcheck(product.apply, (a, b)))


def test_vmap_wants_setup_context_and_a_rule():
    order = []

    def kept(ctx, inputs, output):
        order.append("setup_context")
        ctx.save_for_backward(*inputs)

    def cube(x):
        order.append("forward")
        return x * x * x

    own = function(cube, Cube.backward, setup_context=kept)
    assert torch.func.grad(own.apply)(torch.tensor(2.0)).item() == 12
    assert order[:2] == ["forward", "setup_context"]
    assert "does not have vmap support" in refusal(
        lambda: torch.func.vmap(own.apply)(torch.ones(3))
    )
    own.generate_vmap_rule = True
    assert torch.func.vmap(own.apply)(torch.ones(3)).tolist() == [1, 1, 1]


# Exercises


def test_torch_saves_two_tensors_for_swish_and_its_slope_needs_x_alone():
    x = leaf()
    swish = x * torch.sigmoid(x)
    kept = {swish.grad_fn._saved_self.data_ptr(), swish.grad_fn._saved_other.data_ptr()}
    assert len(kept) == 2
    assert swish.grad_fn.next_functions[1][0]._saved_result.data_ptr() in kept, "once more the same"
    s = torch.sigmoid(x)
    assert torch.allclose(grad(swish.sum(), x)[0], s + x * s * (1 - s))
