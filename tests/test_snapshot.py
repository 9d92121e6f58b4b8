"""`snapshot` tells what torch itself would tell, names things as the learner does, and refuses
kindly.
"""

import pytest
import torch
from hypothesis import given, settings
from programs import Scale, programs

from autograd_graphs.looking.snapshot import Limits, Walk
from helpers import snapshot
from helpers.claims import refusal


@given(programs())
@settings(deadline=None, max_examples=100)
def test_saved_tensors_are_held_or_modified_as_backward_finds_them(program):
    pool = program.run()
    nodes = snapshot(pool[-1]).nodes
    states = {saved.state for node in nodes for saved in node.saved}
    if pool[-1].grad_fn is None:
        return
    refused = refusal(pool[-1].sum().backward)
    if "modified" in states:
        assert "modified by an inplace operation" in refused
    elif "CopySlices" in {node.operation for node in nodes}:  # it holds a node that no one is shown
        assert not refused or "modified by an inplace operation" in refused
    elif not states & {
        "edited",
        "packed",
    }:  # of what is packed, as in a checkpoint, nothing is told
        assert not refused
        after = [saved for node in snapshot(pool[-1]).nodes for saved in node.saved]
        assert {saved.state for saved in after} <= {"freed"}


def test_an_output_that_an_own_function_saved_is_told_as_edited_and_no_hook_is_asked():
    x = torch.tensor([1.0], requires_grad=True)
    kept, edited = Scale.apply(x), Scale.apply(x)
    asked = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, asked.append):
        packed = Scale.apply(x)
    with torch.no_grad():
        edited.add_(1)
        packed.add_(1)
    assert [saved.state for saved in snapshot(kept).nodes[0].saved] == ["held", "held"]
    first, output = snapshot(edited).nodes[0].saved
    assert (first.state, output.state, output.version, output.version_now) == (
        "held",
        "modified",
        0,
        1,
    )
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        edited.backward()
    snapshot(packed)
    assert asked == []


def test_dtype_and_device_are_said_where_they_are_unusual():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = x.to("meta")
    graph = snapshot(y)
    assert (graph.nodes[0].outputs[0].device, graph.nodes[0].outputs[0].shape) == ("meta", (2,))
    assert "ToCopyBackward0 → y (2,) float64 meta" in str(graph)


def test_inputs_that_are_left_out_are_told():
    walk = Walk([torch.cat([torch.ones(1, requires_grad=True)] * 5)], Limits(nodes=9, edges=3))
    assert (walk.is_cut, walk.at_least) == (True, 2)


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


@pytest.mark.parametrize(
    ("thing", "advice"),
    [
        (None, "Pass the loss itself"),
        (torch.nn.Linear(1, 1), "Call it and pass the result"),
        ([torch.ones(1)], "one by one"),
        ({"loss": 3}, "Expected a tensor, got dict. Pass one of the tensors in it"),
    ],
)
def test_anything_else_is_refused_with_what_to_pass(thing, advice):
    with pytest.raises(TypeError, match=advice):
        snapshot(thing)
