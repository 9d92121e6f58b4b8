"""torchviz's picture beside ours: its own boxes and arrows, drawn with no `dot` program."""

import os
import re
import warnings

import pytest
import torch
import torchviz

from autograd_graphs.torchviz_view import their_graph
from helpers import beside_torchviz


def example():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return (x.exp() * x).sum()


def test_boxes_and_arrows_are_those_of_torchviz():
    loss = example()
    theirs = their_graph(loss, beside_torchviz(loss).graph, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = torchviz.make_dot(loss).body
    assert len(theirs.arrows) == sum("->" in line for line in body)
    assert len(theirs.boxes) == len(
        {line.split()[0] for line in body if "->" not in line and "[" in line}
    )
    assert (("SumBackward0",), "function") in theirs.boxes


@pytest.mark.parametrize("names", [{"first": 0, "second": 1}, {"first": 0}, {}])
def test_the_names_that_are_given_stand_in_its_boxes(names):
    leaves = [torch.tensor([float(nr)], requires_grad=True) for nr in (1, 2)]
    z = leaves[0] * leaves[1]
    params = {name: leaves[nr] for name, nr in names.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = torchviz.make_dot(z, params=params).source
    theirs = their_graph(z, beside_torchviz(z, params=params).graph, params)
    of_leaves = [lines for lines, kind in theirs.boxes if kind == "leaf"]
    assert sorted(of_leaves) == sorted(
        [*[(name, "(1)") for name in names], *[("(1)",)] * (2 - len(names))]
    )
    for name in ("first", "second"):
        drawn = beside_torchviz(z, params=params).svg.count(f">{name}<")
        assert drawn == source.count(name) == (name in names)


def test_the_result_has_its_name_where_one_is_given():
    x = torch.ones(3, requires_grad=True)
    z = x * 2
    assert ">product<" in beside_torchviz(z, params={"product": z}).svg
    assert beside_torchviz(z).svg == beside_torchviz(z, params={"x": x}).svg


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ([("x", torch.ones(1))], "params is list"),
        (torch.ones(1), "params is Tensor"),
        ({"x": 2.0}, 'params["x"] is float'),
        ({1: torch.ones(1)}, "A name in params is int"),
    ],
)
def test_what_names_nothing_is_refused(params, said):
    told = said + '. It is a dictionary of names and tensors, such as params={"x": x}.'
    with pytest.raises(TypeError, match=re.escape(told)):
        beside_torchviz(example(), params=params)


def test_no_dot_program_is_needed(monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    picture = beside_torchviz(example())
    assert "arrows from inputs to outputs" in picture.text
    assert "torchviz (left): 6 boxes" in picture.text
    assert "Ours (right): 4 boxes" in picture.text
    assert picture.svg.count("lightblue") == 1


def test_a_graph_too_deep_for_torchviz_is_said_calmly():
    x = torch.ones(1, requires_grad=True)
    for _ in range(3_000):
        x = x.sin()
    assert beside_torchviz(x).text.startswith(
        "torchviz draws by recursion, so it isn't asked to draw more than 200 nodes."
    )


def test_what_torchviz_raises_is_said_calmly():
    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    y = Saves.apply(torch.ones(1, requires_grad=True))
    y.backward()
    assert beside_torchviz(y).text.startswith("torchviz failed with RuntimeError.")
