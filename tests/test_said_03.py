"""What lesson 03, its exercises and the glossary say of leaves and kept gradients is run in plain
torch. Reads them.
"""

import warnings

import pytest
import torch
from said import said

from helpers.clinic.catalogue import book
from helpers.exercises.lessons.lesson_03 import GRADIENTS, LEAVES, MIDDLE, WEIGHT


def middle():
    """Return the lesson's leaf d, its logarithm t, and 5 * t: the gradient of the last with respect
    to t is 5.
    """
    d = torch.tensor(10.0, requires_grad=True)
    t = torch.log(d)
    return d, t, t * 5


def message(exercise, words):
    (found,) = [idea.message for idea in exercise.misconceptions if words in idea.message]
    return found


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_an_optimizer_takes_a_non_leaf_only_if_it_retains_and_leaves_the_leaf_behind(kind):
    said_of_it = message(WEIGHT, "still the result of a recorded operation")
    assert "by default it gets no `.grad`, and an optimizer refuses it" in said_of_it
    assert "is taken and is still no leaf: a step leaves the leaf behind it as it was" in said_of_it
    leaf = torch.tensor([2.0, 3.0], requires_grad=True)
    weight = leaf * 0.1
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        kind([weight], lr=0.5)
    weight.retain_grad()
    optimizer = kind([weight], lr=0.5)
    (weight**2).sum().backward()
    before = weight.tolist()
    optimizer.step()
    assert before != weight.tolist()
    assert (weight.is_leaf, leaf.tolist()) == (False, [2.0, 3.0])


def test_a_parameter_is_a_leaf_whatever_its_values_were_computed_from():
    assert (
        "Has what `torch.nn.Parameter(...)` returns a `grad_fn`?"
        in dict(LEAVES.letters.about).values()
    )
    v = torch.ones(2, requires_grad=True)
    for values in (torch.ones(2) * 0.1, v * 0.1, v):
        parameter = torch.nn.Parameter(values)
        assert (parameter.is_leaf, parameter.grad_fn) == (True, None)


def test_a_tensor_that_retains_keeps_what_passes_in_each_later_walk():
    assert "asks *later* walks through the graph to add the gradient that passes" in said(
        "03", "7087b96b"
    )
    (term,) = [term for term in book().terms if term.name == "`retain_grad()`"]
    assert "every later backward() to add the gradient that passes through a non-leaf" in term.says
    d, t, e = middle()
    e.backward(retain_graph=True)
    t.retain_grad()
    assert t.grad is None
    for walk, total in (
        (lambda: e.backward(retain_graph=True), 5.0),
        (lambda: e.backward(retain_graph=True), 10.0),
        (lambda: torch.autograd.grad(e, t, retain_graph=True), 15.0),
        (lambda: torch.autograd.grad(e, d), 20.0),
    ):
        walk()
        assert t.grad.item() == total


def test_retains_grad_with_no_grad_has_three_reasons():
    assert 'means "asked too late", no `backward()` yet, or none that reached `t`' in said(
        "03", "7087b96b"
    )
    for late, begin in ((True, 0), (False, None), (False, 1)):
        d, t, e = middle()
        if not late:
            t.retain_grad()
        if begin is not None:
            (e, d * 2)[begin].backward()
        if late:
            t.retain_grad()
        assert (t.retains_grad, t.grad) == (True, None)


def test_an_edit_outside_no_grad_is_an_error_on_a_leaf_alone():
    assert "(b) would be one too, if <code>w</code> were a leaf and <code>no_grad()</code>" in said(
        "03", "2ff6124d"
    )
    leaf = torch.tensor([2.0, 3.0], requires_grad=True)
    scaled = leaf * 0.1
    scaled -= 0.5
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf -= 0.5


def test_the_warning_of_a_non_leaf_comes_once_a_line():
    assert "|And a non-leaf's?|`None` by default; a warning says so, once a line.|" in said(
        "03", "c7a11b63"
    )
    _, t, _ = middle()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            assert t.grad is None
        assert t.grad is None
    assert len(caught) == 2


def test_a_leaf_that_no_backward_reached_has_no_gradient():
    assert "came after `requires_grad=True`, or no `backward()` reached it.|5, 6|" in said(
        "03", "c7a11b63"
    )
    reached, unreached = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (reached * 3).sum().backward()
    assert reached.grad.tolist() == [3.0, 3.0]
    assert unreached.grad is None


def test_the_principle_of_03_2_names_who_gets_a_gradient():
    assert "the leaves that it reaches and that require grad" in GRADIENTS.principle
    a, b, c, unreached = (torch.ones(2, requires_grad=flag) for flag in (True, False, True, True))
    kept, dropped = a * b, a * c
    kept.retain_grad()
    (kept + dropped).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [tensor.grad is not None for tensor in (a, c, kept, b, unreached, dropped)]
    assert found == [True, True, True, False, False, False]


def test_the_principle_of_03_3_holds_for_arithmetic():
    assert "arithmetic on a tensor that requires grad is recorded, unless gradients are off" in (
        WEIGHT.principle
    )
    w = torch.ones(2, requires_grad=True)
    for run in (lambda: w * 0.1, lambda: w + 1, lambda: -w, lambda: w / 3, lambda: w**2):
        assert not run().is_leaf
        with torch.no_grad():
            assert run().is_leaf


def test_what_the_messages_of_03_3_and_03_4_say_of_errors_and_of_none():
    assert "Python multiplies no list by a float" in message(WEIGHT, "multiplies no list")
    with pytest.raises(TypeError, match="can't multiply sequence by non-int"):
        print([1.0] * 0.1)
    assert "`backward()` itself returns None" in message(MIDDLE, "retained it, but")
    _, t, e = middle()
    t.retain_grad()
    assert e.backward() is None
    assert t.grad.item() == 5


def test_the_principle_of_03_4_holds_for_every_way_to_ask():
    assert "kept or returned only if somebody asked before" in MIDDLE.principle
    _, t, e = middle()
    e.backward(retain_graph=True)
    t.retain_grad()
    assert t.grad is None
    assert torch.autograd.grad(e, t)[0].item() == 5
