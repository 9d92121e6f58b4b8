"""How long the gradient of each point is: drawn, said in words, and computed without the gradients."""

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

from helpers.voices import lengths_alone, plot_voices


def heard(*firsts):
    """Return what was heard in rounds in which point 0 is as loud as said, and two others are at 1."""
    return [(nn.Linear(2, 1), torch.tensor([first, 1.0, 1.0])) for first in firsts]


@pytest.mark.parametrize(
    ("firsts", "share"),
    [((0, 0, 0, 867), "most"), ((0, 867), "about half"), ((867, 867), "none")],
)
def test_the_words_say_how_often_the_first_point_is_silent(firsts, share):
    said = plot_voices(heard(*map(float, firsts))).alt
    assert f"nothing in {share} of the rounds" in said
    assert "at most 870" in said
    assert "of 100." in said


def test_a_round_is_as_wide_as_its_column():
    drawn = plot_voices(heard(0.0, 867.0)).svg
    assert 'width="2" height="1"' in drawn
    assert 'width="2" height="2"' in drawn


@pytest.mark.parametrize("bias", [True, False])
def test_lengths_without_gradients_are_those_of_the_gradients(bias):
    net = nn.Sequential(nn.Linear(3, 4, bias=bias), nn.Tanh(), nn.Linear(4, 2, bias=bias))
    points, labels = torch.randn(6, 3), torch.randn(6, 2)
    loss = nn.MSELoss(reduction="sum")
    weights = {name: w.detach() for name, w in net.named_parameters()}
    each = grad(lambda w, x, y: loss(functional_call(net, w, (x,)), y))
    rows = vmap(each, (None, 0, 0))(weights, points, labels).values()
    true = torch.cat([table.flatten(1) for table in rows], 1).norm(dim=1)
    assert torch.allclose(lengths_alone(net, loss, points, labels), true, rtol=1e-4)
    assert all(w.grad is None for w in net.parameters())
    assert not any(layer._forward_hooks for layer in net)
