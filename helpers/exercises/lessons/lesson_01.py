"""Exercises of lesson 01, Variable to Tensor: what a wrapper cuts off, what still leads back, and a
training loop of 2017 to port. 01.2, on edits that are noticed, is asked by old copies of the lesson only.
"""

import torch
from torch.autograd import Variable

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.lessons.loop_of_2017 import PORT
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, number

_detach = torch.Tensor.detach


def _w() -> torch.Tensor:
    return torch.tensor(5.0)


def _same(t: torch.Tensor) -> torch.Tensor:
    return t


def _gradient(through_y=_same, through_w=_same) -> torch.Tensor:
    """Return the gradient of z = y * w, y = w**2, with each factor passed through a function first."""
    w = _w().requires_grad_()
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
            message="You let the gradient through both factors. That is what happens without the"
            " wrapper, and `Variable(y)` does not hand out `y` itself.",
        ),
        Misconception(
            example=None,
            when=None,
            message="None would mean that `backward()` did not reach `w`. Only what goes through"
            " the wrapped tensor is cut off; `w` is also a factor of its own.",
        ),
        Misconception(
            example=0,
            when=0.0,
            message="You cut more than torch did. One of the two ways from `z` to `w` is left,"
            " past the wrapped tensor.",
        ),
        Misconception(
            example="error",
            when="error",
            message="Nothing raises here: `z` still has a way back to `w`, past the wrapped"
            " tensor.",
        ),
        Misconception(
            example=50.0,
            when=same_as(lambda: _gradient(through_w=_detach)),
            message="That comes of the way through `y` alone, with the other `w` held fixed; but"
            " it is the way through `y` that is cut.",
        ),
        Misconception(
            example=125,
            when=same_as(lambda: _w() ** 3),
            message="That is the value of `z`. The gradient says how much `z` moves when `w` moves"
            " by a little.",
        ),
        Misconception(
            example="10",
            when=same_as(lambda: 2 * _w()),
            message="That is the gradient of `y` with respect to `w`. Asked for is that of `z`,"
            " which has two factors.",
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
    principle="a gradient goes back only along recorded ways, and what has no way back counts as a"
    " constant.",
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
    "f": lambda x: x.detach().add(1),
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


NOTICED = Exercise(  # the lesson asks it no more; copies that students made before it had predict() do
    id="01.2",
    reader=letters("abcdef"),
    truth=lambda: [name for name, edit in _EDITS.items() if _noticed(edit)],
    right="The power saved `x`, and backward compares version counters: it notices those of these"
    " edits at which the counter of `x` ticked.",
    misconceptions=(),
    letters=Letters(
        read="the idea “`.data` or `.detach()`?”, and look at the version counters in its cells",
        about=(
            ("a", "What does `.data` share with `x`: its memory, its version counter, both?"),
            ("b", "What does `.detach()` share with `x`: its memory, its version counter, both?"),
            ("c", "Whose memory does this line write into?"),
            ("d", "What does `Variable(x)` share with `x` today?"),
            ("e", "What does `no_grad` switch off: the recording, or the counting of edits too?"),
            ("f", "Does `add` without an underscore write into the tensor it is called on?"),
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
def f(x): x.detach().add(1)

answer = []
for edit in (a, b, c, d, e, f):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    edit(x)
    if x._version > 0:
        answer.append(edit.__name__)
""",
)


_RESULTS = {
    "a": lambda x, z: z.data * 3,
    "b": lambda x, z: z * z.data,
    "c": lambda x, z: Variable(z) + z[0],
    "d": lambda x, z: Variable(z, requires_grad=True) * 3,
    "e": lambda x, z: Variable(x.data) + z,
    "f": lambda x, z: z.detach() * Variable(x),
}


def _reaches(make) -> bool:
    """Tell whether backward() from what `make` returns leaves a gradient in x."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    result = make(x, x * 2)
    if result.requires_grad:
        result.sum().backward()
    return x.grad is not None


REACHES = Exercise(
    id="01.4",
    reader=letters("abcdef"),
    truth=lambda: [name for name, make in _RESULTS.items() if _reaches(make)],
    right="One recorded way back to `x` is enough, whatever else goes into the result.",
    misconceptions=(),
    letters=Letters(
        read="the idea “Is the graph broken?”, and draw each result with `show(result)`",
        about=(
            ("a", "What did `.data` leave behind?"),
            ("b", "Do both factors have the same history?"),
            ("c", "What was recorded of each of the two summands?"),
            ("d", "Which tensor asks for a gradient here, and what is behind it?"),
            ("e", "What was recorded of each of the two summands?"),
            ("f", "What did each of the two calls leave behind?"),
        ),
    ),
    hints=(
        "Draw one of them with `show(result)`. Is the leaf `x` in the picture?",
        "Replace each tensor that was cut off by a constant. Is there a `z` or an `x` left?",
    ),
    solution="""
from torch.autograd import Variable

def a(x, z): return z.data * 3
def b(x, z): return z * z.data
def c(x, z): return Variable(z) + z[0]
def d(x, z): return Variable(z, requires_grad=True) * 3
def e(x, z): return Variable(x.data) + z
def f(x, z): return z.detach() * Variable(x)

answer = []
for make in (a, b, c, d, e, f):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    result = make(x, x * 2)
    if result.requires_grad:
        result.sum().backward()
    if x.grad is not None:
        answer.append(make.__name__)
""",
)

EXERCISES = (WRAPPER, NOTICED, PORT, REACHES)
