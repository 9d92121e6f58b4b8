"""What the text of lesson 00 and its messages claim, run in torch.

Reads notebooks/ and the exercises only.
"""

import re
import warnings

import pytest
import torch
from said import said

from helpers import show
from helpers.exercises import exercise as registry
from helpers.exercises.verdict import judge


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
    assert "A flag that is set on loss afterwards makes none." in message
    assert "Is x a leaf with the flag, and not the result of an operation?" in message
    result = torch.tensor([1.0, 2.0], requires_grad=True) * 1.0
    (result**2).sum().backward()
    assert not result.is_leaf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert result.grad is None
    x = torch.tensor([1.0, 2.0])
    loss = (x**2).sum()
    assert loss.is_leaf
    loss.requires_grad_()
    assert loss.is_leaf
    loss.backward()
    assert x.grad is None


def told(id, words):
    """Return the one message, hint or principle of an exercise that holds these words."""
    exercise = registry.find(id)
    texts = [exercise.principle, *(idea.message for idea in exercise.misconceptions)]
    (text,) = [text for text in texts if words in text]
    return text


def test_00_1_what_arrives_is_added_and_a_product_hands_back_the_other_factor():
    assert "the sum of all that arrives along its arrows" in told("00.1", "sum of all")
    assert "What a product hands back to a factor is the other factor" in told("00.1", "hands back")
    u, v = leaf(5.0), leaf(2.0)
    (u * v).backward()
    assert (u.grad, v.grad) == (v.detach(), u.detach())
    u.grad = None
    (u * v + u).backward()
    assert u.grad == v.detach() + 1


def test_00_2_what_the_derivative_is_computed_from_is_saved():
    assert "where its derivative is computed from that value" in told("00.2", "derivative")
    x, y = leaf(), leaf(3.0)
    product, power, total = x * y, x.exp(), x + y
    assert product.grad_fn._saved_self is not None
    assert product.grad_fn._saved_other is not None
    assert torch.equal(power.grad_fn._saved_result, power)
    assert not [name for name in dir(total.grad_fn) if name in ("_saved_self", "_saved_other")]


def test_00_3_backward_begins_by_itself_only_at_a_single_number():
    assert "It can begin by itself only at a single one." in told("00.3", "at once")
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * 2).backward()
    (x[:1] * 2).backward()
    (x * 2).backward(torch.ones(3))
    assert x.grad.tolist() == [4.0, 2.0, 2.0]


def test_00_3_nothing_is_recorded_where_no_input_asks():
    assert "where no input asks for a gradient nothing is" in told(
        "00.3", "walks what was recorded"
    )
    assert (torch.ones(2) ** 2).grad_fn is None
    with pytest.raises(TypeError, match=r"\*\* or pow\(\): 'list'"):
        pow([1.0], 2)


HONEST = {
    "backward": lambda v: leaf_gradient(v),
    "torch.func.grad": lambda v: torch.func.grad(lambda x: (x * x).sum())(torch.tensor(v)),
    "forward mode": lambda v: torch.func.jacfwd(lambda x: (x * x).sum())(torch.tensor(v)),
}


def leaf_gradient(values):
    x = torch.tensor(values, requires_grad=True)
    (x**2).sum().backward()
    return x.grad


@pytest.mark.parametrize("answer", HONEST.values(), ids=list(HONEST))
def test_00_3_whatever_of_autograd_computed_it_is_right_also_when_it_is_kept(answer):
    exercise, kept = registry.find("00.3"), {}

    def keeping(values):
        return kept.setdefault(tuple(values), answer(values))

    assert [judge(exercise, keeping).kind for _ in range(2)] == ["right", "right"]


def test_00_3_a_formula_is_found_out():
    assert (
        "autograd computed nothing"
        in judge(registry.find("00.3"), lambda v: [2 * x for x in v]).text
    )
