"""A captured backward is drawn as it is: what is kept, and what is computed again."""

import pytest
import torch

from helpers.captured import AGAIN, KEPT, show_backward


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def three(x):
    return x.sin().sin().sin()


def said(graph):
    return [f"{node.operation} {node.name}".strip() for node in graph.nodes]


def test_what_is_cheap_is_computed_again_from_what_was_kept():
    drawn = show_backward(three, leaf(0.5))
    assert sorted(said(drawn.graph)) == sorted(
        ["Kept x", "Incoming gradient", *["Sin (again)"] * 2, *["Cos"] * 3, *["Mul"] * 3]
    )
    assert "8 operations, 2 of them computed again. Kept for it: x." in drawn.alt
    assert "gradient of x: 8 operations, 0 leaves" in drawn.svg


def test_a_result_that_was_kept_has_the_name_of_its_operation_and_each_input_a_root():
    function = lambda a, b: (a * b).sin().exp() * 3  # noqa: E731
    graph = show_backward(function, leaf(2.0), leaf(3.0)).graph
    kept = [node.name for node in graph.nodes if node.operation == KEPT]
    assert sorted(kept) == ["a", "b", "result of Exp"]
    assert [node.operation for node in graph.nodes if AGAIN in node.operation] == ["Mul (again)"]
    assert "Mul 3" in said(graph)
    assert [root.tensor.name for root in graph.roots] == ["gradient of a", "gradient of b"]


def test_an_input_without_a_gradient_has_no_root():
    graph = show_backward(lambda a, b: a * b, torch.tensor(2.0), leaf(3.0)).graph
    assert [root.tensor.name for root in graph.roots] == ["gradient of b"]


def test_a_look_leaves_grad_alone_and_may_be_repeated():
    x = leaf(0.5)
    texts = {show_backward(three, x).text for _ in range(10)}
    assert len(texts) == 1, "not even dynamo's limit of graphs makes a difference"
    assert x.grad is None


def broken(x):
    y = x * 2
    if y.sum() > 0:
        y = y.sin()
    return y


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # dynamo's own, after a break
@pytest.mark.parametrize("given", [(broken, leaf(1.0)), (three, torch.tensor(1.0))])
def test_what_has_no_single_backward_is_refused(given):
    with pytest.raises(ValueError, match="Give a function without a break"):
        show_backward(*given)


def test_a_tensor_that_is_no_argument_has_no_name_and_is_refused():
    w = leaf(3.0)
    for function in (lambda x: (w * x).sin(), torch.nn.Linear(1, 1)):
        with pytest.raises(ValueError, match="Give each tensor as an argument"):
            show_backward(function, torch.ones(1, requires_grad=True))


def test_two_results_are_refused():
    with pytest.raises(ValueError, match="returned a tuple"):
        show_backward(lambda x: (x.sin(), x.cos()), leaf(1.0))
