"""torchviz's picture beside ours: its own boxes and arrows, drawn with no `dot` program."""

import os
import warnings

import torch
import torchviz

from autograd_graphs.torchviz_view import their_graph
from helpers import beside_torchviz


def example():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return (x.exp() * x).sum()


def test_boxes_and_arrows_are_those_of_torchviz():
    loss = example()
    theirs = their_graph(loss, beside_torchviz(loss).graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = torchviz.make_dot(loss).body
    assert len(theirs.arrows) == sum("->" in line for line in body)
    assert len(theirs.boxes) == len(
        {line.split()[0] for line in body if "->" not in line and "[" in line}
    )
    assert (("SumBackward0",), "function") in theirs.boxes


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
        "torchviz draws by recursion: over 200 nodes it is not asked."
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
    assert beside_torchviz(y).text.startswith("torchviz raised RuntimeError.")
