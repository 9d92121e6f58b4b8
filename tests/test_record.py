"""`record` runs the one real backward and tells what happened in it: torch is the judge of both."""

import contextlib
import gc
import re
import weakref
from unittest import mock

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from programs import programs

from helpers import peek
from helpers.record import record

often = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def example():
    a, b, c, d = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0, 10.0))
    u, t = a * b, torch.log(d)
    v = t * c
    e = u + v
    return {"a": a, "b": b, "c": c, "d": d, "u": u, "t": t, "v": v, "e": e}


def test_the_steps_of_the_example_in_the_engines_order():
    space = example()
    trace = record(space["e"], names=space)
    assert [trace.graph.nodes[step.node].name for step in trace.steps] == list("evctduab")
    assert str(trace).splitlines() == [
        "step 1 of 8: AddBackward0 (e): 1.0 arrives, hands on 1.0 (times 1) and 1.0 (times 1)",
        "step 2 of 8: MulBackward0 (v): 1.0 arrives, hands on 5.0 (times c = 5.0) and 2.303 (times t = 2.303);"
        " freed: self, other",
        "step 3 of 8: AccumulateGrad (leaf c): 2.303 arrives, .grad goes from None to 2.303",
        "step 4 of 8: LogBackward0 (t): 5.0 arrives, hands on 0.5 (times 1 / d = 0.1); freed: self",
        "step 5 of 8: AccumulateGrad (leaf d): 0.5 arrives, .grad goes from None to 0.5",
        "step 6 of 8: MulBackward0 (u): 1.0 arrives, hands on 3.0 (times b = 3.0) and 2.0 (times a = 2.0);"
        " freed: self, other",
        "step 7 of 8: AccumulateGrad (leaf a): 3.0 arrives, .grad goes from None to 3.0",
        "step 8 of 8: AccumulateGrad (leaf b): 2.0 arrives, .grad goes from None to 2.0",
    ]
    assert trace.steps[3].formulas == (("self", "grad.div(self.conj())"),)


def run(program, go):
    """Run a program and `go` on its loss; return gradients bit for bit, and torch's own error."""
    pool = program.run()
    try:
        go(pool[-1].sum())
        error = None
    except RuntimeError as raised:
        error = str(raised.__cause__ or raised)
    return [leaf.grad if leaf.grad is None else leaf.grad.numpy().tobytes() for leaf in pool[:3]], error


@given(programs())
@often
def test_gradients_and_errors_are_those_of_backward_alone(program):
    assert run(program, record) == run(program, lambda loss: loss.backward())


@given(programs())
@often
def test_what_arrives_is_the_sum_of_what_consumers_handed_on(program):
    loss = program.run()[-1].sum()
    if not loss.requires_grad:
        return
    with mock.patch.object(peek, "summary", bits):
        try:
            trace = record(loss)
        except RuntimeError as error:
            trace = error.trace
    for step in trace.steps:
        assert step.before_hooks == step.arrived


def bits(gradient):
    """Tell a gradient to the last bit, where `summary` would round it."""
    return None if gradient is None else gradient.detach().contiguous().numpy().tobytes().hex()


@given(programs())
@often
def test_every_step_is_a_node_that_the_engine_ran(program):
    pool = program.run()
    loss = pool[-1].sum()
    if not loss.requires_grad:
        return
    ran = []
    seen, stack = set(), [loss.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        name = type(node).__name__
        owner = torch._C._FunctionBase if isinstance(node, torch._C._FunctionBase) else type(node)
        owner.register_prehook(node, lambda grads, name=name: ran.append(name))
        stack += [child for child, _ in node.next_functions]
    del seen, node
    try:
        trace = record(loss)
    except RuntimeError as error:
        trace = error.trace
        ran = ran[: len(trace.steps)]
    assert [trace.graph.nodes[step.node].operation for step in trace.steps] == ran


@pytest.fixture(scope="module")
def warm():
    """Record once with and once without success: what torch imports on the way leaves garbage of its own."""
    attempt(torch.ones(1, requires_grad=True).exp())
    attempt(torch.ones(1))
    attempt(used(torch.ones(1, requires_grad=True).exp()))


@given(programs())
@often
@pytest.mark.usefixtures("warm")
def test_nothing_is_left_behind_that_backward_alone_would_not_leave(program):
    """After an error half-way torch itself keeps some saved tensors: then we keep the same, and no more."""
    gc.disable()
    try:
        assert left_alive(program, record) == left_alive(program, lambda loss: loss.backward())
    finally:
        gc.enable()


def left_alive(program, go):
    """Run `go` on a loss, drop everything, and say which tensors and whether the graph are still there."""
    pool = program.run()
    loss, canary = pool[-1].sum(), Canary()
    if loss.grad_fn is not None:
        loss.grad_fn.metadata["canary"] = canary
    alive = [weakref.ref(one) for one in (*pool, loss, canary)]
    attempt(loss, go)
    del pool, loss, canary
    return [one() is not None for one in alive]


def attempt(loss, go=record):
    """Run in a frame of its own: a tracer of the test's frame, as hypothesis sets one, keeps its locals."""
    with contextlib.suppress(RuntimeError):
        go(loss)


class Canary:
    """Live as long as the node that holds it."""


def test_hooks_are_gone_after_a_recording():
    x = torch.ones(2, requires_grad=True)
    loss = x.exp().sum()
    record(loss, retain_graph=True)
    before = x.grad.clone()
    loss.backward()
    assert torch.equal(x.grad, 2 * before)


def test_a_hook_of_the_users_is_seen_before_and_after():
    space = example()
    space["t"].register_hook(lambda grad: grad * 10)
    step = record(space["e"], names=space).steps[3]
    assert (step.before_hooks, step.arrived, step.handed_on) == (("5.0",), ("50.0",), ("5.0",))


def test_a_factor_is_shown_only_where_the_numbers_agree():
    x = torch.tensor([0.0, 2.0], requires_grad=True)
    steps = record(torch.where(x > 0, x, -x).sum() + (x.sin() ** 2).sum()).steps
    told = {
        formula: factor for step in steps for (_, formula), factor in zip(step.formulas, step.factors, strict=False)
    }
    assert told["where(condition, grad, 0)"] == ""
    assert told["grad.neg()"] == "-1"
    assert told["grad * self.cos().conj()"].startswith("x.cos() = [1.0, -0.4161]")


def test_where_no_factor_is_verified_the_formula_is_told():
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    first = str(record(x.mean())).splitlines()[0]
    assert "hands on [0.5, 0.5] (by grad.expand_symint(self.sym_sizes()) / self.sym_numel())" in first


def test_sin_then_square():
    x = torch.tensor(2.0, requires_grad=True)
    y = x.sin()
    z = y**2
    assert record(z).steps[-1].leaf == ("None", "-0.7568")
    assert x.grad.item() == pytest.approx(-0.756802)


def test_undefined_gradients_are_told():
    x = torch.ones(2, requires_grad=True)
    first, _ = (x * 1.0).unbind()
    trace = record(first)
    assert trace.steps[0].arrived == ("1.0", None)
    assert "1.0 and nothing arrive" in str(trace)


def test_several_roots_and_given_gradients():
    x = torch.ones(2, requires_grad=True)
    y, z = x * 2, (x * 3).sum()
    trace = record([y, z], gradient=[torch.tensor([1.0, 10.0]), None])
    assert x.grad.tolist() == [5.0, 23.0]
    assert {"[1.0, 10.0]", "1.0"} <= {step.arrived[0] for step in trace.steps}
    assert all(step.before_hooks == step.arrived for step in trace.steps)


def test_inputs_limits_the_walk_as_in_torch():
    space = example()
    trace = record(space["e"], inputs=[space["c"]], names=space)
    assert space["a"].grad is None
    assert space["c"].grad is not None
    assert [trace.graph.nodes[step.node].name for step in trace.steps] == list("evc")


def test_create_graph_gives_gradients_that_can_be_differentiated():
    x = torch.tensor(3.0, requires_grad=True)
    with pytest.warns(UserWarning, match="create_graph=True"):
        record(x**3, create_graph=True)
    assert x.grad.requires_grad
    x.grad = None


def test_a_leaf_alone_has_one_step():
    x = torch.tensor(3.0, requires_grad=True)
    assert str(record(x)) == "step 1 of 1: AccumulateGrad (leaf x): 1.0 arrives, .grad goes from None to 1.0"


class Raises(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise KeyError("half-way")


def test_an_exception_half_way_is_torchs_own_with_the_steps_so_far():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(KeyError, match="half-way") as caught:
        record(Raises.apply(x).exp().sum())
    trace = caught.value.trace
    assert [trace.graph.nodes[step.node].operation for step in trace.steps] == ["SumBackward0", "ExpBackward0"]
    assert trace.error == "'half-way'"
    assert str(trace).splitlines()[-1] == "stopped: 'half-way'"


@pytest.mark.parametrize(
    ("make", "ours", "theirs"),
    [
        (lambda: used(torch.ones(2, requires_grad=True).exp().sum()), "were freed by an earlier", "a second time"),
        (lambda: torch.ones(3, requires_grad=True) * 2, r"has shape \(3,\)", "only for scalar outputs"),
        (lambda: torch.ones(1), "has no graph: requires_grad=False", "does not require grad"),
    ],
)
def test_common_errors_are_plain_and_raised_from_torchs_own(make, ours, theirs):
    loss = make()
    with pytest.raises(RuntimeError, match=ours) as caught:
        record(loss)
    assert theirs in str(caught.value.__cause__)
    assert caught.value.trace.error


def used(loss):
    loss.backward()
    return loss


def test_what_is_no_tensor_is_refused_before_anything_runs():
    with pytest.raises(TypeError, match="Expected a tensor, got int"):
        record(3)


@pytest.mark.parametrize("gradient", [3.0, "v", torch.ones(5)])
def test_a_gradient_that_does_not_fit_is_refused_by_torch_itself(gradient):
    def refused(go):
        x = torch.ones(2, requires_grad=True)
        with pytest.raises((TypeError, RuntimeError)) as caught:
            go(x * 2)
        return type(caught.value), str(caught.value)

    ours = refused(lambda loss: record(loss, gradient=gradient))
    assert ours == refused(lambda loss: torch.autograd.backward(loss, gradient))


def test_large_gradients_are_summarised():
    x = torch.linspace(-1, 1, 100).requires_grad_()
    trace = record((x * x).sum())
    assert "(100,) norm 11.66, -2.0 to 2.0" in str(trace)
    wide = torch.ones(1_000_001, requires_grad=True)
    assert re.search(r"AccumulateGrad \(leaf wide\): \(1000001,\) arrives", str(record((wide * 2).sum())))


def test_a_custom_function_says_custom():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.ones(1, requires_grad=True)
    assert record(Twice.apply(x)).steps[0].formulas == (("input", "custom"),)


def test_a_checkpointed_graph_runs_its_forward_as_often_as_without_us():
    runs = []

    def forward(x):
        runs.append(1)
        return (x * x).exp()

    x = torch.tensor(1.0, requires_grad=True)
    record(torch.utils.checkpoint.checkpoint(forward, x, use_reentrant=False))
    assert runs == [1, 1]
