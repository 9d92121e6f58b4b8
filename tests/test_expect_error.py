"""expect_error shows the error a lesson announces, and fails on no error, another type or other
words.
"""

import gc
import weakref

import pytest
import torch

from helpers import expect_error

pytestmark = pytest.mark.usefixtures("unfolded")

SECOND = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed)."
)
MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [1]], which is output 0 of Exp, is at version 1; expected version 0 instead."
)


def twice():
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    loss.backward()


def modified():
    y = torch.ones(1, requires_grad=True).exp()
    y += 1
    y.sum().backward()


REAL = [
    (twice, "a second time", SECOND),
    (modified, "modified by an inplace operation", MODIFIED),
    (
        lambda: torch.ones(2, requires_grad=True).exp().backward(torch.ones(3)),
        "Mismatch in shape",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of "
        "torch.Size([2]).",
    ),
]


@pytest.mark.parametrize(("act", "fragment", "sentence"), REAL)
def test_the_announced_error_is_shown_by_its_first_sentence(act, fragment, sentence, capsys):
    with expect_error(RuntimeError, fragment):
        act()
    assert capsys.readouterr().out == f"RuntimeError: {sentence}\n"


def test_no_error_fails():
    wanted = r"should raise RuntimeError with \"words\".* Nothing was raised"
    with pytest.raises(AssertionError, match=wanted), expect_error(RuntimeError, "words"):
        pass


@pytest.mark.parametrize(
    "error", [ValueError("words"), RecursionError("words"), NotImplementedError("words")]
)
def test_another_type_fails_even_a_subclass(error, capsys):
    raised = f"It raised {type(error).__name__}: words"
    with pytest.raises(AssertionError, match=raised) as caught, expect_error(RuntimeError, "words"):
        raise error
    assert caught.value.__cause__ is error
    assert capsys.readouterr().out == ""


def test_other_words_fail_and_are_shown():
    error = RuntimeError("something else. More.")
    said = r"The message was: RuntimeError: something else\."
    with pytest.raises(AssertionError, match=said) as caught, expect_error(RuntimeError, "words"):
        raise error
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_and_an_exit_pass(error):
    with pytest.raises(error), expect_error(RuntimeError, "words"):
        raise error


@pytest.mark.parametrize(
    ("kind", "fragment", "error"),
    [
        ("RuntimeError", "x", TypeError),
        (int, "x", TypeError),
        (RuntimeError, "", ValueError),
        (RuntimeError, 3, ValueError),
    ],
)
def test_a_useless_announcement_is_refused_at_once(kind, fragment, error):
    with pytest.raises(error, match=r'expect_error\(RuntimeError, "fragment"\)'):
        expect_error(kind, fragment)


def test_nothing_of_the_failed_block_stays_alive(capsys):
    def act() -> None:
        kept = torch.ones(2, requires_grad=True).exp()
        alive.append(weakref.ref(kept))
        raise RuntimeError("words")

    alive = []
    gc.collect()
    gc.disable()
    try:
        with expect_error(RuntimeError, "words"):
            act()
        assert alive[0]() is None
    finally:
        gc.enable()
