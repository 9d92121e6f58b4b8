"""`record` runs the one real backward and tells what happened in it: torch is the judge of both."""

import contextlib
import gc
import sys
import weakref
from functools import partial
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import FAMILIES, RAN, bits, kept_gradients, often, programs

from autograd_graphs.looking import torch_formulas
from autograd_graphs.looking.summaries import Summaries
from autograd_graphs.picture import show
from autograd_graphs.playing.animate import film
from autograd_graphs.recording.record import record


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
        "step 1 of 8: AddBackward0 (e): 1.0 arrives, hands on 1.0 (unchanged) and 1.0 (unchanged)",
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
    """Run a program and `go` on its loss."""
    pool = program.run()
    try:
        go(pool[-1].sum())
        error = None
    except RuntimeError as raised:
        error = str(raised.__context__ or raised)
    return kept_gradients(pool), [tensor._version for tensor in pool], list(RAN), error


@pytest.mark.slow
@given(programs())
@often
def test_gradients_and_errors_are_those_of_backward_alone(program):
    assert run(program, record) == run(program, lambda loss: loss.backward())


def nodes_of(loss):
    """Return the nodes of a graph, breadth first, read without our package."""
    nodes = [] if loss.grad_fn is None else [loss.grad_fn]
    for node in nodes:  # the list grows as we go
        children = dict.fromkeys(child for child, _ in node.next_functions)
        nodes += [child for child in children if child not in (None, *nodes)]
    return nodes


def heard(loss):
    """Go backward under hooks of torch's alone."""
    nodes, steps, sums, pending = nodes_of(loss), [], [], {}
    pending[0, 0] = torch.ones_like(loss)
    for number, node in enumerate(nodes):
        owner = torch._C._FunctionBase if isinstance(node, torch._C._FunctionBase) else type(node)
        owner.register_prehook(node, partial(arrive, number, pending, sums))
        owner.register_hook(node, partial(hand_on, number, nodes, pending, steps))
    try:
        loss.backward()
    except RuntimeError:
        sums = sums[: len(steps)]
    return steps, sums


def arrive(number, pending, sums, arrived):
    sums.append(tuple(bits(pending.pop((number, nr), None)) for nr in range(len(arrived))))


def hand_on(number, nodes, pending, steps, handed_on, arrived):
    """Note a step, and add what it hands on to what its inputs have got."""
    for gradient, (child, nr) in zip(handed_on, nodes[number].next_functions, strict=False):
        if child is not None and gradient is not None:
            place, gradient = (nodes.index(child), nr), gradient.detach().clone()
            pending[place] = pending[place] + gradient if place in pending else gradient
    leaf = hasattr(type(nodes[number]), "variable")
    out = () if leaf else tuple(map(bits, handed_on))
    steps.append((type(nodes[number]).__name__, tuple(map(bits, arrived)), out))


@pytest.mark.slow
@pytest.mark.parametrize("last", FAMILIES)
@given(st.data())
@settings(often, max_examples=often.max_examples // 12)
def test_what_a_recording_tells_is_what_hooks_of_torchs_alone_hear(last, data):
    program = data.draw(programs(last=last))
    loss = program.run()[-1].sum()
    if not loss.requires_grad:
        return
    steps, sums = heard(loss)
    trace = told(program.run()[-1].sum())
    found = []
    for step in trace.steps:
        name = trace.graph.nodes[step.node].operation
        found.append((name, step.grad_outputs, step.grad_inputs))
    assert found == steps
    assert [step.before_hooks for step in trace.steps] == sums
    if not any(family == "hooks" for family, *_ in program.steps):
        assert sums == [step.grad_outputs for step in trace.steps]


def told(loss):
    """Record a loss with every gradient told to the last bit, where a summary would not tell it."""
    with mock.patch.object(Summaries, "take", lambda summaries, tensor: bits(tensor)):
        try:
            return record(loss)
        except RuntimeError as error:
            return error.trace


@pytest.fixture(scope="module")
def warm():
    """Record once with and once without success: what torch imports on the way leaves garbage of
    its own.
    """
    attempt(torch.ones(1, requires_grad=True).exp())
    attempt(torch.ones(1))
    attempt(used(torch.ones(1, requires_grad=True).exp()))


@pytest.mark.slow
@given(programs())
@often
@pytest.mark.usefixtures("warm")
def test_nothing_is_left_behind_that_backward_alone_would_not_leave(program):
    """After an error half-way torch itself keeps some saved tensors: then we keep the same, and no
    more.
    """
    gc.disable()
    try:
        assert left_alive(program, record) == left_alive(program, lambda loss: loss.backward())
    finally:
        gc.enable()


def left_alive(program, go):
    """Run `go` on a loss, drop everything, and say which tensors and whether the graph are still
    there.
    """
    pool = program.run()
    loss, canary = pool[-1].sum(), Canary()
    if loss.grad_fn is not None:
        loss.grad_fn.metadata["canary"] = canary
    alive = [weakref.ref(one) for one in (*pool, loss, canary)]
    attempt(loss, go)
    del pool, loss, canary
    return [one() is not None for one in alive]


def attempt(loss, go=record):
    """Run in a frame of its own: a tracer of the test's frame, as hypothesis sets one, keeps its
    locals.
    """
    with contextlib.suppress(RuntimeError):
        go(loss)


class Canary:
    """Live as long as the node that holds it."""


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
    told = [trace.graph.nodes[step.node].operation for step in trace.steps]
    assert told == ["SumBackward0", "ExpBackward0"]
    assert trace.error == "'half-way'"
    assert str(trace).splitlines()[-1] == "stopped: 'half-way'"


def test_without_pyyaml_it_says_so_before_anything_is_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    torch_formulas._table.cache_clear()
    space = example()
    with pytest.raises(ImportError, match=r"Try: pip install pyyaml") as caught:
        record(space["e"], names=space)
    assert "every .grad is as it was" in str(caught.value)
    assert space["a"].grad is None
    monkeypatch.undo()
    assert len(record(space["e"], names=space).steps) == 8, "the graph is still there"


def test_steps_that_cannot_be_read_are_counted_and_told(monkeypatch):
    def unread(*_):
        raise ImportError("missing")

    monkeypatch.setattr("autograd_graphs.recording.backward_log.values_held", unread)
    space = example()
    trace = record(space["e"], names=space)
    assert [trace.graph.nodes[step.node].is_leaf for step in trace.steps] == [True] * 4
    said = "At 4 places I couldn't read this backward, but it ran all the same."
    assert str(trace).splitlines()[-1] == said
    assert said in film(trace).remarks
    coloured = show(trace, color="grad").text
    assert said in coloured
    assert "No gradient reached" not in coloured

    monkeypatch.setattr("autograd_graphs.recording.backward_log.Log._arrived", unread)
    trace = record(example()["e"])
    assert trace.steps == ()
    assert str(trace).startswith("At 8 places I couldn't read this backward")


@pytest.mark.parametrize(
    ("make", "ours", "theirs"),
    [
        (
            lambda: used(torch.ones(2, requires_grad=True).exp().sum()),
            "^backward\\(\\) has already been through a part of the graph of loss: what ExpBackward0 had saved is freed.",
            "a second time",
        ),
        (
            lambda: torch.ones(3, requires_grad=True) * 2,
            r"has shape \(3,\)",
            "only for scalar outputs",
        ),
        (lambda: torch.ones(1), "has no graph: requires_grad=False", "does not require grad"),
    ],
)
def test_common_errors_are_plain_and_torchs_own_stays_behind_them(make, ours, theirs):
    loss = make()
    with pytest.raises(RuntimeError, match=ours) as caught:
        record(loss)
    assert theirs in str(caught.value.__context__)
    assert caught.value.__suppress_context__  # one error is shown, not two
    assert theirs in caught.value.trace.error


def used(loss):
    loss.backward()
    return loss
