"""Exercise 07.4 sees the trunk itself: what a student does to the list of losses is no error, and
no alibi.
"""

import pytest
import torch

from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.lessons.lesson_07 import APART
from helpers.exercises.verdict import judge

grad = torch.autograd.grad


def rows_of(losses, w):
    return [grad(loss, w, retain_graph=loss is not losses[-1])[0] for loss in losses]


def kept(losses, w):
    return [grad(loss, w, retain_graph=True)[0] for loss in losses]


def popping(losses, w):
    rows = []
    while losses:
        rows.append(grad(losses.pop(0), w, retain_graph=bool(losses))[0])
    return rows


def replacing(losses, w):
    for place, row in enumerate(rows_of(losses, w)):
        losses[place] = row
    return losses


def batched(losses, w):
    return grad(torch.stack(losses), w, torch.eye(len(losses)), is_grads_batched=True)[0]


def after(rows, *deeds):
    """Return an answer that computes `rows` and then does something to what it was given."""

    def answer(losses, w):
        given = rows(losses, w)
        for deed in deeds:
            deed(losses, w)
        return given

    return answer


SPOIL = {
    "clear": lambda losses, w: losses.clear(),
    "None": lambda losses, w: losses.__setitem__(0, None),
    "no tensors": lambda losses, w: losses.__setitem__(slice(None), [1, "two"]),
    "reverse": lambda losses, w: losses.reverse(),
    "detach_": lambda losses, w: [loss.detach_() for loss in losses],
    "no leaf": lambda losses, w: w.requires_grad_(False),
}
every_deed = pytest.mark.parametrize("deed", SPOIL.values(), ids=SPOIL)


@pytest.mark.parametrize(
    "answer", [rows_of, popping, replacing, batched], ids=lambda answer: answer.__name__
)
def test_a_right_answer_passes_in_each_style(answer):
    assert judge(APART, answer).text == APART.right


@every_deed
def test_what_becomes_of_the_list_changes_no_verdict(deed):
    assert judge(APART, after(rows_of, deed)).text == APART.right
    assert judge(APART, after(kept, deed)).text == APART.misconceptions[-1].message


@every_deed
def test_an_error_of_the_observer_is_never_told_as_the_students(deed):
    for answer in (after(rows_of, deed), after(kept, deed), after(lambda losses, w: None, deed)):
        assert not any(is_a(case, Failed) for case in APART.reader.read(answer))
        assert "raised" not in judge(APART, answer).text


def test_a_call_that_frees_in_the_middle_is_told_so_too():
    def answer(losses, w):
        return [grad(loss, w, retain_graph=place == 0)[0] for place, loss in enumerate(losses)]

    assert judge(APART, answer).text == APART.misconceptions[0].message
    assert "first" not in APART.misconceptions[0].message


def test_only_the_gradient_of_the_sum_is_told_as_that_of_the_sum():
    assert "that of the sum" in judge(APART, lambda losses, w: grad(sum(losses), w)).text
    assert "fewer gradients" in judge(APART, lambda losses, w: grad(losses[0], w)).text


def test_only_tuples_are_told_as_tuples():
    assert (
        "tuples"
        in judge(
            APART, lambda losses, w: [grad(loss, w, retain_graph=True) for loss in losses]
        ).text
    )
    assert judge(APART, lambda losses, w: (batched(losses, w),)).kind == "unknown"
