"""Names are the learner's own, found without running anything of the learner's."""

import sys
import weakref

import pytest
import torch

from helpers import snapshot


def leaf_names(graph):
    return [leaf.name for leaf in graph.leaves]


def run(source, **given):
    """Run source as a module of its own, as a notebook cell would run; return its variables."""
    space = {"torch": torch, "snapshot": snapshot, "__name__": "__main__", **given}
    exec(source, space)
    return space


def test_locals_come_before_globals_and_hide_them():
    space = run(
        "x = torch.ones(1, requires_grad=True)\n"
        "w = torch.zeros(1, requires_grad=True)\n"
        "def inside():\n"
        "    x = w\n"
        "    return snapshot(x * 1)\n"
        "graph = inside()"
    )
    assert leaf_names(space["graph"]) == ["x, w"]


@pytest.mark.parametrize("name", ["_", "___", "_12", "_i3", "_oh", "Out"])
def test_names_of_ipython_are_never_used(name):
    space = run(f"{name} = torch.ones(1, requires_grad=True)\ngraph = snapshot({name})")
    assert space["graph"].leaves[0].name == ""


def test_parameters_are_named_by_their_path():
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 1, bias=False))
    )
    paths = {f"model.{path}" for path, _ in model.named_parameters()}
    assert set(leaf_names(snapshot(model(torch.ones(1, 2))))) == paths


def test_the_tensor_that_an_operation_made_is_named_through_its_node():
    x = torch.ones(2, requires_grad=True)
    loss = (x * 2).sum()
    alias = loss.view_as(loss)
    assert snapshot(alias).nodes[1].name == "loss"


def test_the_learners_own_locals_dict_stays_whole():
    x = torch.ones(1, requires_grad=True)
    mine = locals()
    snapshot(x)
    assert mine["x"] is x


@pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="frames keep no dict of their locals since Python 3.13"
)
def test_a_frame_keeps_nothing_alive():
    def cell():
        x = torch.ones(1, requires_grad=True)
        snapshot(x * 2)
        alive = weakref.ref(x)
        del x
        return alive()

    assert cell() is None
