"""Exercises of lesson 01, Variable to Tensor: what cuts, what shares memory, and a training loop of
2017 to port.
"""

import torch
from torch.autograd import Variable

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.lessons.loop_of_2017 import PORT
from helpers.exercises.readers import letters, number


def _same(t: torch.Tensor) -> torch.Tensor:
    return t


def _gradient(through_y=_same, through_w=_same) -> torch.Tensor:
    """Return the gradient of z = y * w, y = w**2, with each factor passed through a function first."""
    w = torch.tensor(5.0, requires_grad=True)
    (through_y(w**2) * through_w(w)).backward()
    return w.grad


WRAPPER = Exercise(
    id="01.1",
    reader=number(),
    truth=lambda: _gradient(through_y=Variable),
    right="The wrapped factor is a constant for backward, and `z` is that constant times `w`.",
    misconceptions=(
        Misconception(
            example=75,
            when=same_as(_gradient),
            message="You let the gradient through both factors. That is what happens without the wrapper,"
            " and `Variable(y)` does not hand out `y` itself.",
        ),
        Misconception(
            example=None,
            when=lambda read: not read,
            message="You cut more than torch did. Only what goes through the wrapped tensor is cut off; `w` is also"
            " a factor of its own.",
        ),
        Misconception(
            example="error",
            when="error",
            message="Nothing raises here: `z` still has a way back to `w`, past the wrapped tensor.",
        ),
        Misconception(
            example=50.0,
            when=same_as(lambda: _gradient(through_w=torch.Tensor.detach)),
            message="That comes of the way through `y` alone, with the other `w` held fixed; but it is the way through"
            " `y` that is cut.",
        ),
    ),
    hints=(
        "Run the first three lines, then `show(z, y)` draws both graphs. Which edge leads from `z` to `w`?",
        "Write the value of `Variable(y)` as a number, and take the gradient of number * w.",
    ),
    solution="""
from torch.autograd import Variable

w = torch.tensor(5.0, requires_grad=True)
y = w**2
z = Variable(y) * w
z.backward()
answer = w.grad
""",
)


def _under_no_grad(x: torch.Tensor) -> None:
    with torch.no_grad():
        x.add_(1)


_EDITS = {
    "a": lambda x: x.data.add_(1),
    "b": lambda x: x.detach().add_(1),
    "c": lambda x: x.detach().clone().add_(1),
    "d": lambda x: Variable(x).add_(1),
    "e": _under_no_grad,
}


def _noticed(edit) -> bool:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    loss = (x**2).sum()
    edit(x)
    try:
        loss.backward()
    except RuntimeError:
        return True
    return False


NOTICED = Exercise(
    id="01.2",
    reader=letters("abcde"),
    judge=lambda read: read == {name for name, edit in _EDITS.items() if _noticed(edit)},
    right="The power saved `x`, and backward compares version counters: it notices an edit exactly when the counter of"
    " `x` ticked.",
    misconceptions=(
        Misconception(
            example=["x.detach()"],
            when=lambda read: not read <= set(_EDITS),
            message="You named something that is not in the left column. Write its letters, and only those.",
        ),
        Misconception(
            example=["a", "b", "c", "d", "e"],
            when=lambda read: "c" in read,
            message="You counted an edit of a copy. `clone()` has memory of its own, and `x` stays as it was.",
        ),
        Misconception(
            example="a, b, d, e",
            when=lambda read: "a" in read,
            message="You trust `.data` to be watched. It shares the memory of `x` and brings a version counter"
            " of its own, so nobody is told.",
        ),
        Misconception(
            example=["b", "d"],
            when=lambda read: read and "e" not in read,
            message="You took `no_grad` for a way around the check. It stops recording; an in-place edit still counts.",
        ),
        Misconception(
            example=["b", "e"],
            when=lambda read: read and "d" not in read,
            message="You left out an old name that still works. What it hands out shares memory with `x`: look"
            " whether it shares the counter too.",
        ),
        Misconception(
            example="d, e",
            when=lambda read: read and "b" not in read,
            message="You left out an edit that this lesson made before your eyes. Look for the triangle on a card.",
        ),
        Misconception(
            example="none",
            when=lambda read: not read,
            message="You expect no check at all. Torch counts in-place edits, and backward compares the count.",
        ),
    ),
    hints=(
        "Look at `x._version` before and after each edit.",
        "Two questions for each: does it change the memory of `x`, and does it tick the counter of `x`?",
    ),
    solution="""
from torch.autograd import Variable

def a(x): x.data.add_(1)
def b(x): x.detach().add_(1)
def c(x): x.detach().clone().add_(1)
def d(x): Variable(x).add_(1)
def e(x):
    with torch.no_grad():
        x.add_(1)

answer = []
for edit in (a, b, c, d, e):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    edit(x)
    if x._version > 0:
        answer.append(edit.__name__)
""",
)

EXERCISES = (WRAPPER, NOTICED, PORT)
