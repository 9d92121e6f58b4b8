"""Exercises of lesson 05, backward and the chain rule: where a walk starts, what a node returns, a
whole Jacobian.
"""

import sys
from collections.abc import Callable

import torch
from torch.autograd.functional import jacobian

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised
from helpers.exercises.readers import names, numbers
from helpers.untrusted.plain import is_a
from helpers.untrusted.sandbox import Failed, attempt


def _pulled_back() -> torch.Tensor:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x**2).backward(gradient=torch.tensor([1.0, 0.0, 10.0]))
    return x.grad


PULLED_BACK = Exercise(
    id="05.1",
    reader=numbers(),
    truth=_pulled_back,
    right="What arrives, times `2 * x`, element by element. A 0 that arrives stays a 0.",
    misconceptions=(
        Misconception(
            example=62,
            when=lambda seen: len(seen) == 1 and None not in seen,
            message="You gave one number. `x.grad` has the shape of `x`: one entry for each element.",
        ),
        Misconception(
            example=[2, 4, 6],
            when=lambda seen: seen == (2, 4, 6),
            message="You gave the derivatives themselves, as if the walk had started with ones. Here each element"
            " starts with a number of its own.",
        ),
        Misconception(
            example=[1, 0, 10],
            when=lambda seen: seen == (1, 0, 10),
            message="You gave what goes in. The node of the square has its say before anything reaches `x`.",
        ),
        Misconception(
            example=[1, 0, 90],
            when=lambda seen: seen == (1, 0, 90),
            message="You multiplied by the values of `y`. A node multiplies by its derivative.",
        ),
        Misconception(
            example=[2, None, 60],
            when=lambda seen: None in seen,
            message="You wrote None where nothing changes. None means that no gradient came; here one does, and it"
            " is a number.",
        ),
    ),
    hints=(
        "The node of `x**2` multiplies what arrives by the derivative of the square.",
        "Write the derivatives of the three squares below the three numbers that arrive, and multiply downwards.",
    ),
    solution="""
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(x**2).backward(gradient=torch.tensor([1.0, 0.0, 10.0]))
answer = x.grad
""",
)


def _starts() -> list[str]:
    calls: dict[str, Callable[[torch.Tensor], None]] = {
        "a": lambda y: y.backward(),
        "b": lambda y: y.backward(torch.ones(3)),
        "c": lambda y: y.backward(torch.ones(2)),
        "d": lambda y: y.sum().backward(),
        "e": lambda y: y.sum().backward(torch.tensor([1.0])),
        "f": lambda y: y.sum().backward(torch.tensor(1.0)),
    }
    new = [
        (name, call, torch.ones(2, 3) @ torch.ones(3, requires_grad=True))
        for name, call in calls.items()
    ]
    return [name for name, call, y in new if not is_a(attempt(call, y), Failed)]


STARTS = Exercise(
    id="05.2",
    reader=names(),
    truth=_starts,
    right="What you hand in has the shape of what you call it on, and one real number needs nothing handed in.",
    misconceptions=(
        Misconception(
            example=[False, False, True, True, False, True],
            when=lambda seen: bool(seen - set("abcdef")),
            message="Something in your answer is none of the six letters. Give a list of letters.",
        ),
        Misconception(
            example=["b", "d", "f"],
            when=lambda seen: "b" in seen,
            message="You gave the gradient the shape of `x`. It is the gradient that *arrives* at `y`, so ask how"
            " many elements `y` has.",
        ),
        Misconception(
            example=["c", "d", "e", "f"],
            when=lambda seen: "e" in seen,
            message="You took a tensor of one element for a single number. Its shape is (1,), and a sum has the"
            " shape (): torch compares shapes, not counts.",
        ),
        Misconception(
            example=["a", "c", "d", "f"],
            when=lambda seen: "a" in seen,
            message="You let torch put in ones by itself. It does so for one real element only, and `y` has more.",
        ),
        Misconception(
            example=["c", "d"],
            when=lambda seen: "f" not in seen and "d" in seen,
            message="You left out a call because it hands in what torch would have put in by itself. That is"
            " needless, and allowed.",
        ),
        Misconception(
            example=["c", "f"],
            when=lambda seen: "d" not in seen,
            message="You let no walk start with empty parentheses. For one kind of output torch puts in by itself what"
            " arrives: which kind?",
        ),
        Misconception(
            example=["d", "f"],
            when=lambda seen: "c" not in seen,
            message="You let only single numbers start a walk. A tensor of several elements can too, if you say with"
            " what.",
        ),
    ),
    hints=(
        "Write the shape of what stands before `.backward` on each line, and next to it the shape of what is in it.",
        "`y` has the shape (2,) and its sum the shape (). With nothing in the parentheses, torch puts in a 1, and"
        " only where one real element stands before `.backward`.",
    ),
    solution="""
def runs(start, *gradient):
    y = torch.ones(2, 3) @ torch.ones(3, requires_grad=True)
    try:
        start(y).backward(*gradient)
    except RuntimeError:
        return False
    return True


itself = lambda y: y
lines = {"a": (itself,), "b": (itself, torch.ones(3)), "c": (itself, torch.ones(2)), "d": (torch.sum,)}
lines |= {"e": (torch.sum, torch.tensor([1.0])), "f": (torch.sum, torch.tensor(1.0))}
answer = [letter for letter, line in lines.items() if runs(*line)]
""",
)


def _quotient(v: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    return torch.autograd.grad(a / b, (a, b), v)


def _one_quotient() -> tuple[torch.Tensor, ...]:
    return torch.tensor(1.0), torch.tensor(3.0), torch.tensor(2.0)


def _two_quotients() -> tuple[torch.Tensor, ...]:
    return torch.tensor([1.0, 10.0]), torch.tensor([6.0, 5.0]), torch.tensor([2.0, -4.0])


DIVISION = Exercise(
    id="05.3",
    reader=function(_one_quotient, _two_quotients),
    truth=lambda: _quotient,
    right="Both agree with the node that torch makes for `/`, for one number and for several.",
    misconceptions=(
        Misconception(
            example="def answer(v, a, b):\n    return v / b, v / a",
            when=same_as(lambda: lambda v, a, b: (v / b, v / a)),
            message="You treated both inputs alike, as that engine does. In `a / b` they have different parts: what"
            " becomes of the quotient when only `b` grows?",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b, v * a / b**2",
            when=same_as(lambda: lambda v, a, b: (v / b, v * a / b**2)),
            message="The sizes are right, a sign is not. Make the denominator a little larger: where does the"
            " quotient go?",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return 1 / b, -a / b**2",
            when=same_as(lambda: lambda v, a, b: (1 / b, -a / b**2)),
            message="You returned the derivatives. A node returns them times what arrives, and `v` is not always 1.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v * b, v * a",
            when=same_as(lambda: lambda v, a, b: (v * b, v * a)),
            message="That is what the node of a product does: each factor gets the other one.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return -v * a / b**2, v / b",
            when=same_as(lambda: lambda v, a, b: (-v * a / b**2, v / b)),
            message="You returned the pair in the other order. The order is that of the inputs: first for `a`.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b - v * a / b**2",
            when=same_as(lambda: lambda v, a, b: v / b - v * a / b**2),
            message="You added the two gradients up. They belong to two inputs: return a pair.",
        ),
    ),
    hints=(
        "Differentiate `a / b` with respect to `a`, with `b` held still; then the other way round.",
        "The derivatives are 1/b and −a/b². What arrives is `v`, and multiplies each of them.",
    ),
    solution="""
def answer(v, a, b):
    return v / b, -v * a / b**2
""",
)


def _jacobian(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return jacobian(f.unwatched, x)


def _to_three(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])


def _to_two(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[0] * x[1] * x[2], x.exp().sum()])


def _three() -> tuple[Callable, torch.Tensor]:
    return _watched(_to_three, [1.0, 2.0])


def _two() -> tuple[Callable, torch.Tensor]:
    return _watched(_to_two, [1.0, 2.0, 5.0])


def _watched(f: Callable, values: list[float]) -> tuple[Callable, torch.Tensor]:
    """Return `f`, which notes whether `jacobian` is among its callers and what `x` was, and a new
    `x`.
    """

    def watched(x: torch.Tensor) -> torch.Tensor:
        watched.in_jacobian |= _is_running(jacobian)
        return f(x)

    watched.__name__, watched.unwatched = f.__name__, f
    watched.in_jacobian, watched.values = False, values
    return watched, torch.tensor(values, requires_grad=True)


def _is_running(function: Callable) -> bool:
    """Tell whether `function`, by whatever name it was called, waits for the code that asks."""
    frame = sys._getframe()
    while frame and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


_IN_JACOBIAN, _CHANGED = "jacobian ran", "x was changed"


def _rows_seen(returned: object, f: Callable, x: torch.Tensor) -> object:
    """Return what came, or a word for what is not allowed to whoever made it."""
    if f.in_jacobian:
        return _IN_JACOBIAN
    return (
        returned
        if x.shape == (len(f.values),) and torch.allclose(x, torch.tensor(f.values))
        else _CHANGED
    )


def _transposed(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x).T


def _in_one_walk(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x).sum(dim=0)


def _piled_up(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x).cumsum(dim=0)


def _all_the_last(f: Callable, x: torch.Tensor) -> torch.Tensor:
    rows = _piled_up(f, x)
    return rows[-1].expand_as(rows)


ROWS = Exercise(
    id="05.4",
    reader=function(_three, _two, observe=_rows_seen),
    truth=lambda: _jacobian,
    right="Row by row the same matrix as torch's own, for a tall one and for a wide one.",
    misconceptions=(
        Misconception(
            example="from torch.autograd.functional import jacobian as whole\n\n"
            "def answer(f, x):\n    return whole(f, x)",
            when=lambda seen: _IN_JACOBIAN in seen,
            message="`jacobian` ran inside your function, and this exercise asks for the walks themselves: start one at"
            " each element of `f(x)`. To compare with `jacobian`, call it outside.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n"
            "    rows = [torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in torch.eye(len(y))]\n"
            "    with torch.no_grad():\n        x.zero_()\n    return torch.stack(rows)",
            when=lambda seen: _CHANGED in seen,
            message="After your function ran, `x` holds other numbers than before. It belongs to whoever called:"
            " read it, and do not write into it.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n"
            "    rows = [torch.autograd.grad(y, x, v)[0] for v in torch.eye(len(y))]\n    return torch.stack(rows)",
            when=lambda seen: raised(seen, "a second time"),
            message="Your first walk freed the saved tensors that the second one needs. Retain them, or run `f` again"
            " for each row.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n"
            "    return torch.stack([torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in torch.eye(len(x))])",
            when=lambda seen: raised(seen, "Mismatch in shape"),
            message="What you hand in does not have the shape of the output, and the output is where it arrives. A"
            " one-hot vector has as many elements as the output.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n"
            "    rows = [torch.autograd.grad(y, x, v, retain_graph=True) for v in torch.eye(len(y))]\n"
            "    return torch.stack(rows)",
            when=lambda seen: raised(seen, "but got tuple"),
            message="Each of your rows is still in a tuple: `grad` returns one, even for a single tensor.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    y.backward()\n    return x.grad",
            when=lambda seen: raised(seen, "only for scalar outputs"),
            message="You started at an output of several elements without saying with what. Which vector picks out"
            " one row?",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n"
            "    rows = [torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in torch.eye(len(y))]\n"
            "    return torch.stack(rows, dim=1)",
            when=same_as(lambda: _transposed),
            message="All the numbers are there, and the matrix lies on its side: each walk gives a row, and you laid"
            " them as columns.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    return torch.autograd.grad(y, x, torch.ones_like(y))[0]",
            when=same_as(lambda: _in_one_walk),
            message="You walked once, with ones: that adds all the rows up. A sum cannot be taken apart again.",
        ),
        Misconception(
            example="def answer(f, x):\n    y, rows = f(x), []\n    for v in torch.eye(len(y)):\n"
            "        y.backward(v, retain_graph=True)\n        rows.append(x.grad.clone())\n"
            "    return torch.stack(rows)",
            when=same_as(lambda: _piled_up),
            message="Your first row is right, and each later one has those before it in it: `backward()` adds to"
            " `x.grad`. Use what returns the gradient, or empty `x.grad` in between.",
        ),
        Misconception(
            example="def answer(f, x):\n    y, rows = f(x), []\n    for v in torch.eye(len(y)):\n"
            "        y.backward(v, retain_graph=True)\n        rows.append(x.grad)\n    return torch.stack(rows)",
            when=same_as(lambda: _all_the_last),
            message="All your rows are one tensor: you kept `x.grad` itself, and each `backward()` added to it.",
        ),
    ),
    hints=(
        "`y = f(x)` has `len(y)` elements, so `torch.eye(len(y))` has the one-hot vectors as its rows.",
        "`torch.autograd.grad(y, x, v, retain_graph=True)` returns a tuple with one row in it; `torch.stack` makes a"
        " matrix of rows.",
    ),
    solution="""
def answer(f, x):
    y = f(x)
    rows = [torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in torch.eye(len(y))]
    return torch.stack(rows)
""",
)

EXERCISES = (PULLED_BACK, STARTS, DIVISION, ROWS)
