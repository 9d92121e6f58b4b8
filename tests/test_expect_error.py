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


def test_the_announced_error_is_shown_by_its_first_sentence(capsys):
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    with expect_error(RuntimeError, "a second time"):
        loss.backward()
    assert capsys.readouterr().out == f"RuntimeError: {SECOND}\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, r"should fail with RuntimeError with \"words\".* There was no error"),
        (RecursionError("words"), "It failed with RecursionError: words"),  # a subclass
        (RuntimeError("others. More."), r"The message was: RuntimeError: others\."),
    ],
)
def test_anything_else_fails_and_says_what_came(error, said, capsys):
    def act():
        if error:
            raise error

    with pytest.raises(AssertionError, match=said) as caught, expect_error(RuntimeError, "words"):
        act()
    assert caught.value.__cause__ is error
    assert capsys.readouterr().out == ""


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
