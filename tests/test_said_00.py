"""What the text of lesson 00 and its messages claim, run in torch.

Reads notebooks/ and the exercises only.
"""

import re

import pytest
import torch
from said import said

from helpers import show
from helpers.exercises import exercise as registry


def node_names(tensor):
    """Return the type names of the nodes behind `tensor`, walking back; a node met twice counts
    once.
    """
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.append(node)
            waiting += [below for below, _ in node.next_functions]
    return [type(node).__name__ for node in found]


def leaf(value=2.0):
    return torch.tensor(value, requires_grad=True)


def under_no_grad():
    with torch.no_grad():
        return leaf() * 2


def test_a_card_is_the_grad_fn_of_a_result():
    assert (
        "A white card is the *backward function* of one operation, and the `grad_fn` of its result"
        in said("00", "cell-06")
    )
    product = leaf() * leaf(3.0)
    result = (product + leaf(4.0)) ** 2
    cards = [name for name in node_names(result) if name != "AccumulateGrad"]
    assert cards[0] == type(result.grad_fn).__name__
    assert result.grad_fn.next_functions[0][0].next_functions[0][0] is product.grad_fn
    text = show(result).text
    assert len(cards) == 3
    assert all(name in text for name in cards)


def test_pytorch_says_that_the_graph_is_freed():
    assert "PyTorch's own page on `backward()` says that *the graph … will be freed*" in said(
        "00", "cell-15"
    )
    assert re.search(
        r"the graph used to compute the grads? will be freed",
        " ".join(torch.Tensor.backward.__doc__.split()),
    )


DEVICES = {torch.device("cpu"), torch.accelerator.current_accelerator(check_available=True)}


@pytest.mark.parametrize("device", sorted(map(str, DEVICES - {None})))
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_small_whole_numbers_are_exact_and_others_are_not(device, dtype):
    text = said("00", "cell-23")
    assert "whole numbers as small as these are exact, on a GPU as on the CPU." in text
    x = torch.tensor([1.0, 2.0, 3.0], dtype=dtype, device=device, requires_grad=True)
    (x**2).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]
    assert torch.tensor(0.1, dtype=torch.float32, device=device).item() != 0.1


NO_GRAPH = {
    "plain": lambda: torch.ones(3).sum(),
    "no_grad": under_no_grad,
    "detached": lambda: (leaf() * 2).detach(),
    "compared": lambda: leaf() > 0,
}
"""Tensors that do not require grad, three of them made from one that does."""


@pytest.mark.parametrize("make", NO_GRAPH.values(), ids=list(NO_GRAPH))
def test_no_card_and_no_pill_means_that_backward_raises(make):
    assert "| no card, no pill | no graph | requires no grad: `backward()` raises |" in said(
        "00", "cell-45"
    )
    made = make()
    text = show(made).text
    assert "no graph" in text
    assert "Backward0" not in text
    assert "AccumulateGrad" not in text
    assert not made.requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        made.backward()


def test_a_leaf_alone_has_a_pill_and_no_card_and_backward_works():
    x = leaf()
    text = show(x).text
    assert "AccumulateGrad (leaf x" in text
    assert "Backward0" not in text
    x.backward()
    assert x.grad == 1


def test_00_3_a_loss_that_is_asked_was_a_leaf_before():
    (message,) = [
        idea.message
        for idea in registry.find("00.3").misconceptions
        if "returns None" in idea.message
    ]
    assert (
        "If loss alone was asked, only its flag is new: it was a leaf before, with no way back to x."
        in message
    )
    x = torch.tensor([1.0, 2.0])
    loss = (x**2).sum()
    assert loss.is_leaf
    loss.requires_grad_()
    assert loss.is_leaf
    loss.backward()
    assert x.grad is None
