"""`snapshot` tells what torch itself would tell, names things as the learner does, and refuses
kindly.
"""

import pytest
import torch
from hypothesis import given, settings
from programs import programs

from autograd_graphs.looking.snapshot import NEAREST, WHOLE
from helpers import show, snapshot


@pytest.mark.slow
@given(programs())
@settings(deadline=None, max_examples=100)
def test_nodes_and_edges_are_those_of_torch(program):
    pool = program.run()
    graph = snapshot(pool[-1])
    root = pool[-1].grad_fn
    if root is None:
        assert (graph.roots[0].node is None) == (not pool[-1].requires_grad)
        return
    live = {0: root}
    for edge in graph.edges:
        child, input_nr = live[edge.source].next_functions[edge.position]
        assert edge.input_nr == input_nr
        assert (edge.target is None) == (child is None)
        if child is not None:
            assert live.setdefault(edge.target, child) is child
    assert len(live) == len(graph.nodes)
    for number, node in live.items():
        assert graph.nodes[number].operation == type(node).__name__
        assert graph.nodes[number].is_leaf == hasattr(node, "variable")
        assert sum(edge.source == number for edge in graph.edges) == len(node.next_functions)


@given(programs())
@settings(deadline=None, max_examples=100)
def test_saved_tensors_are_held_or_modified_as_backward_finds_them(program):
    pool = program.run()
    states = {saved.state for node in snapshot(pool[-1]).nodes for saved in node.saved}
    if pool[-1].grad_fn is None:
        return
    if "modified" in states:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            pool[-1].sum().backward()
    elif "edited" not in states:
        pool[-1].sum().backward()
        after = [saved for node in snapshot(pool[-1]).nodes for saved in node.saved]
        assert {saved.state for saved in after} <= {"freed"}


def test_dtype_and_device_are_said_where_they_are_unusual():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x.to("meta")
    graph = snapshot(y)
    assert (graph.nodes[0].outputs[0].device, graph.nodes[0].outputs[0].shape) == ("meta", (2,))
    assert "ToCopyBackward0 → y (2,) float64 meta" in str(graph)


def test_saved_versions_are_those_that_torch_names():
    w = torch.tensor([1.0], requires_grad=True)
    y = w.exp()
    with torch.no_grad():
        y.add_(1).add_(1)
    saved = snapshot(y).nodes[0].saved[0]
    assert (saved.name, saved.state, saved.version, saved.version_now) == (
        "result",
        "modified",
        0,
        2,
    )
    with pytest.raises(RuntimeError, match="is at version 2; expected version 0"):
        y.backward()


def test_a_frozen_leaf_says_so():
    x = torch.ones(2, requires_grad=True)
    y = x * x
    x.requires_grad_(False)
    assert "leaf x = [1.0, 1.0], .grad None, requires_grad=False" in str(snapshot(y))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: torch.ones(2), "no input required grad"),
        (lambda: torch.ones(2, dtype=torch.int64), "this is int64"),
        (lambda: torch.ones(2, requires_grad=True).detach(), "or detached"),
    ],
)
def test_a_tensor_without_graph_says_why(make, reason):
    thing = make()
    text = str(snapshot(thing))
    assert text.startswith("thing has no graph: requires_grad=False (")
    assert reason in text


def test_an_inference_tensor_says_why():
    with torch.inference_mode():
        x = torch.ones(2)
    assert (
        str(snapshot(x))
        == "x has no graph: requires_grad=False (it was made under inference_mode())"
    )


@pytest.mark.parametrize(
    ("thing", "advice"),
    [
        (3, "Expected a tensor, got int"),
        (None, "pass the loss itself"),
        (torch.nn.Linear(1, 1), "call it and pass the result"),
        ([torch.ones(1)], "one by one"),
        ("loss", "Expected a tensor, got str"),
        ({"loss": 3}, "Expected a tensor, got dict. Pass one of the tensors in it"),
    ],
)
def test_anything_else_is_refused_with_what_to_pass(thing, advice):
    with pytest.raises(TypeError, match=advice):
        snapshot(thing)


def test_no_tensor_and_bad_names_are_refused():
    with pytest.raises(TypeError, match="Nothing was given"):
        snapshot()
    with pytest.raises(TypeError, match="Pass a dict"):
        snapshot(torch.ones(1), names=[torch.ones(1)])
    with pytest.raises(TypeError, match="got str"):
        snapshot(torch.ones(1), names={"w": "not a tensor"})


@pytest.mark.slow
def test_of_a_graph_beyond_the_cap_the_nearest_nodes_are_told_and_its_size_is_not():
    x = doubled(WHOLE.nodes)
    graph = snapshot(x)
    assert len(graph.nodes) == NEAREST.nodes == 2_000
    assert graph.left_out == (
        "Cut here: the 2,000 nodes nearest to the root are shown; 2 inputs lead further. "
        "It has at least 25,000 nodes; how many is not known."
    )
    assert "x: at least 25,000 operations and leaves" in show(x).alt


def doubled(times):
    """Return a tensor that was doubled so many times: as many operations, and one leaf."""
    x = torch.ones(1, requires_grad=True)
    for _ in range(times):
        x = x + x
    return x


def test_a_custom_function_is_named_by_its_class_whatever_its_ctx_says():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.name = ctx.next_functions_ = "shadow"
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.tensor(1.0, requires_grad=True)
    y = Twice.apply(x)
    assert str(snapshot(y)).splitlines()[0] == "TwiceBackward → y   ● saved_tensors[0] = x"
    y.backward()
    assert "○ saved_tensors (freed)" in str(snapshot(y))


def test_a_checkpointed_graph_is_not_run_again():
    runs = []

    def forward(x):
        runs.append(1)
        return (x * x).exp()

    x = torch.tensor(1.0, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(forward, x, use_reentrant=False)
    assert "◆ result (packed by a hook)" in str(snapshot(y))
    assert runs == [1]


class Hostile(torch.Tensor):
    """Raise from everything that a careless look would touch."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise AssertionError("a look ran the user's code")

    def __repr__(self, **kwargs):
        raise AssertionError("a look asked for the repr")

    __str__ = __format__ = __len__ = __bool__ = __eq__ = __hash__ = __repr__


def test_a_hostile_subclass_is_looked_at_and_never_asked():
    with torch._C.DisableTorchFunctionSubclass():
        x = torch.ones(2).as_subclass(Hostile).requires_grad_()
        y = torch.Tensor.mul(x, 2)
    text = str(snapshot(y, x))
    assert "MulBackward0 → y (2,)" in text
    assert "AccumulateGrad (leaf x (2,), .grad None)" in text
