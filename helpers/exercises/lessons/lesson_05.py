"""Exercises of lesson 05, backward and the chain rule: where backward starts, what a node returns, a
whole Jacobian, and a distance whose gradient is a number.
"""

import sys
from collections.abc import Callable
from dataclasses import replace

import torch
from torch.autograd import grad
from torch.autograd.functional import jacobian
from torch.linalg import vector_norm as _norm

from autograd_graphs.untrusted.plain import NotRead, is_a, plain
from autograd_graphs.untrusted.sandbox import Failed, guarded
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, numbers
from helpers.exercises.tensors import readable
from helpers.exercises.values import rows, same


def _pulled_back() -> torch.Tensor:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x**2).backward(gradient=torch.tensor([1.0, 0.0, 10.0]))
    return x.grad


_NUMBERS = numbers()


def _three_numbers(answer: object) -> object:
    """Read numbers as usual, but for rows that differ in length: no tensor has that shape."""
    value = plain(answer)
    if is_a(value, tuple) and any(is_a(item, tuple) for item in value):
        rows(value)
    return _NUMBERS.read(answer)


def _differ(seen: tuple, right: tuple) -> int:
    """Return how many entries differ, or -1 where the lengths do."""
    if len(seen) != len(right):
        return -1
    return sum(not same(*pair) for pair in zip(seen, right, strict=True))


PULLED_BACK = Exercise(
    id="05.1",
    reader=replace(_NUMBERS, read=_three_numbers),
    truth=_pulled_back,
    right="What arrives, times `2 * x`, element by element.",
    principle="a node multiplies what arrives by its slope. A square does that element by element.",
    misconceptions=(
        Misconception(
            example=[2, 4, 6],
            when=lambda seen: seen == (2, 4, 6),
            message="You gave the slopes themselves. You would get them if ones arrived, and here each"
            " element begins with another number.",
        ),
        Misconception(
            example=[1, 0, 10],
            when=lambda seen: seen == (1, 0, 10),
            message="You gave what arrives at the square. Its node multiplies that before anything reaches `x`.",
        ),
        Misconception(
            example=[1, 0, 90],
            when=lambda seen: seen == (1, 0, 90),
            message="You multiplied by the values of `y`. A node multiplies by its derivative.",
        ),
        Misconception(
            example=[2, None, 60],
            when=lambda seen: len(seen) == 3 and None in seen,
            message="You wrote None where nothing changes. None would mean that no gradient came. Here one"
            " does come, and it is a number.",
        ),
        Misconception(
            example="error",
            when="error",
            message="It runs. `x**2` has several elements, and the line hands in a number for each of them.",
        ),
        Misconception(
            example=[2, 4, 60],
            when=(2, 4, 60),
            message="Where a 0 arrives you left the slope as it is. It is multiplied there, too.",
        ),
        Misconception(
            example=[1, 0, 30],
            when=(1, 0, 30),
            message="You multiplied what arrives by `x`, and `x` is not the derivative of its"
            " square.",
        ),
        Misconception(
            example=[4, 0, 120],
            when=(4, 0, 120),
            message="A factor 2 came in once too often. Differentiate the square again.",
        ),
        Misconception(
            example=[0, 0, 0],
            when=(0, 0, 0),
            message="You let the 0 stop everything. It arrives at one element; at the others"
            " something else arrives.",
        ),
        Misconception(
            example=[2, 0, 30],
            when=lambda seen: _differ(seen, plain(_pulled_back())) == 1,
            message="Two of your three numbers are right. For the other one write down what"
            " arrives at that element, and the derivative of the square there, and multiply.",
        ),
    ),
    hints=(
        "The node of `x**2` multiplies what arrives by the derivative of the square.",
        "Write the derivatives of the three squares below the three numbers that arrive, and"
        " multiply downwards.",
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
    return [name for name, call, y in new if not is_a(guarded(call, y), Failed)]


STARTS = Exercise(
    id="05.2",
    reader=letters("abcdef"),
    truth=_starts,
    right="What you hand in has the shape of what you call it on, and one real element needs"
    " nothing handed in.",
    misconceptions=(),
    letters=Letters(
        read="idea 4, and what happened when we handed something in",
        about=(
            ("a", "How many elements has `y`, and who would put in what arrives?"),
            ("b", "Which shape has `y`, and which has what is handed in?"),
            ("c", "Which shape has `y`, and which has what is handed in?"),
            ("d", "How many elements has the sum, and who would put in what arrives?"),
            ("e", "Which shape has the sum, and which has what is handed in?"),
            ("f", "Which shape has the sum, and which has what is handed in?"),
        ),
    ),
    hints=(
        "Write the shape of what stands before `.backward` on each line, and next to it the shape"
        " of what is in it.",
        "`y` has the shape (2,) and its sum the shape (). With nothing in the parentheses, torch"
        " puts in a 1, and only where one real element stands before `.backward`.",
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
lines = {"a": (itself,), "b": (itself, torch.ones(3)), "c": (itself, torch.ones(2))}
lines |= {"d": (torch.sum,), "e": (torch.sum, torch.tensor([1.0]))}
lines |= {"f": (torch.sum, torch.tensor(1.0))}
answer = [letter for letter, line in lines.items() if runs(*line)]
""",
)


def _quotient(v: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
    return grad(a / b, (a, b), v)


def _one_quotient() -> tuple[torch.Tensor, ...]:
    return torch.tensor(10.0), torch.tensor(3.0), torch.tensor(5.0)


def _two_quotients() -> tuple[torch.Tensor, ...]:
    return torch.tensor([1.0, 10.0]), torch.tensor([6.0, 5.0]), torch.tensor([2.0, -4.0])


def _pair_seen(returned: object, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> list[object]:
    """See the gradients, and what the three tensors hold afterwards."""
    if type(returned) is dict and set(returned) == {"a", "b"}:
        returned = returned["a"], returned["b"]
    return [readable(one) for one in (returned, v, a, b)]


def _changed(reading: tuple) -> bool:
    """Tell whether what a function was given held other numbers afterwards."""
    right = _DIVISIONS.read(_quotient)
    return any(
        is_a(seen, tuple) and not same(seen[1:], kept[1:])
        for seen, kept in zip(reading, right, strict=True)
    )


def _right_at(reading: tuple, at: int) -> bool:
    """Tell whether each case ended in a pair whose gradient `at` is right."""
    right = _DIVISIONS.read(_quotient)
    return all(
        is_a(seen, tuple)
        and is_a(seen[0], tuple)
        and len(seen[0]) == 2
        and same(seen[0][at], kept[0][at])
        for seen, kept in zip(reading, right, strict=True)
    )


_DIVISIONS = function(
    _one_quotient,
    _two_quotients,
    observe=_pair_seen,
    parts=("gradients", "v afterwards", "a afterwards", "b afterwards"),
)

DIVISION = Exercise(
    id="05.3",
    reader=_DIVISIONS,
    truth=lambda: _quotient,
    right="Both agree with the node that torch makes for `/`, for numbers and for tensors of one shape.",
    principle="for each input a node hands on what arrives, times the slope in that input, with the"
    " other input held still.",
    misconceptions=(
        Misconception(
            example="def answer(v, a, b):\n    g = v / b\n    b.pow_(2)\n    return g, -v * a / b",
            when=_changed,
            message="After your function ran, a tensor that it was given holds other numbers than"
            " before. `v`, `a` and `b` belong to whoever called: compute new tensors, without"
            " writing in place.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b, v / a",
            when=same_as(lambda: lambda v, a, b: (v / b, v / a)),
            message="You treated both inputs alike, as that engine does. In `a / b` they have"
            " different parts: what becomes of the quotient when only `b` grows?",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b, v * a / b**2",
            when=same_as(lambda: lambda v, a, b: (v / b, v * a / b**2)),
            message="The sizes are right, a sign is not. Make the denominator a little larger:"
            " where does the quotient go?",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return -v / b, v * a / b**2",
            when=same_as(lambda: lambda v, a, b: (-v / b, v * a / b**2)),
            message="The sizes are right, both signs are not. Make only `a` a little larger, then"
            " only `b`: where does the quotient go?",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return 1 / b, -a / b**2",
            when=same_as(lambda: lambda v, a, b: (1 / b, -a / b**2)),
            message="You returned the derivatives. A node returns them times what arrives, and `v`"
            " is not always 1.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b, -a / b**2",
            when=same_as(lambda: lambda v, a, b: (v / b, -a / b**2)),
            message="Only your first gradient is multiplied by what arrives. `v` arrives at the"
            " node, so it stands in both.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return 1 / b, -v * a / b**2",
            when=same_as(lambda: lambda v, a, b: (1 / b, -v * a / b**2)),
            message="Only your second gradient is multiplied by what arrives. `v` arrives at the"
            " node, so it stands in both.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v * b, v * a",
            when=same_as(lambda: lambda v, a, b: (v * b, v * a)),
            message="That is what the node of a product does: each factor gets the other one.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return -v * a / b**2, v / b",
            when=same_as(lambda: lambda v, a, b: (-v * a / b**2, v / b)),
            message="You returned the pair in the other order. The order is that of the inputs:"
            " first for `a`.",
        ),
        Misconception(
            example="def answer(a, b, v):\n    return v / b, -v * a / b**2",
            when=same_as(lambda: lambda a, b, v: (v / b, -v * a / b**2)),
            message="Your formulas would be right with the arguments in another order. They come"
            " as `v, a, b`: first what arrives.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b - v * a / b**2",
            when=same_as(lambda: lambda v, a, b: v / b - v * a / b**2),
            message="You added the two gradients up. They belong to two inputs: return a pair.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b",
            when=same_as(lambda: lambda v, a, b: v / b),
            message="You returned a gradient for `a` only. Here `b` gets one as well: return a pair.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v / b, v * torch.log(b)",
            when=lambda seen: _right_at(seen, 0),
            message="Your gradient for `a` is right, that for `b` is not. Write `a / b` as `a *"
            " b**-1`, and differentiate with `a` held still.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return v * b, -v * a / b**2",
            when=lambda seen: _right_at(seen, 1),
            message="Your gradient for `b` is right, that for `a` is not. With `b` held still, `a"
            " / b` is a number times `a`.",
        ),
        Misconception(
            example="def answer(v, a, b):\n    return (v / b).sum(), (-v * a / b**2).sum()",
            when=same_as(lambda: lambda v, a, b: ((v / b).sum(), (-v * a / b**2).sum())),
            message="You summed over the elements. Each element of `a` and of `b` has a gradient"
            " of its own, so a gradient has the shape of its input.",
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
    y = f(x)
    rows = [grad(each, x, retain_graph=True)[0] for each in y]
    return torch.stack(rows)


_CALLED_BY_JACOBIAN: list[bool] = []  # for each call of f in a case


def _to_three(x: torch.Tensor) -> torch.Tensor:
    _CALLED_BY_JACOBIAN.append(_is_running(jacobian))
    return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])


def _to_two(x: torch.Tensor) -> torch.Tensor:
    _CALLED_BY_JACOBIAN.append(_is_running(jacobian))
    return torch.stack([x[0] * x[1] * x[2], x.exp().sum()])


def _is_running(function: Callable) -> bool:
    """Tell whether `function`, by whatever name it was called, waits for the code that asks."""
    frame = sys._getframe()
    while frame and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


_VALUES = {_to_three: [1.0, 2.0], _to_two: [1.0, 2.0, 5.0]}


@written(
    "f = lambda x: torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]]);"
    " x = torch.tensor([1.0, 2.0], requires_grad=True)"
)
def _three() -> tuple[Callable, torch.Tensor]:
    return _inputs(_to_three)


@written(
    "f = lambda x: torch.stack([x[0] * x[1] * x[2], x.exp().sum()]);"
    " x = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)"
)
def _two() -> tuple[Callable, torch.Tensor]:
    return _inputs(_to_two)


def _inputs(f: Callable) -> tuple[Callable, torch.Tensor]:
    _CALLED_BY_JACOBIAN.clear()
    return f, torch.tensor(_VALUES[f], requires_grad=True)


_IN_JACOBIAN, _CHANGED, _NEVER_RAN = "jacobian ran", "x was changed", "f never ran"


def _holds(x: torch.Tensor, values: list[float]) -> bool:
    try:
        return same(plain(x), tuple(values))
    except NotRead:
        return False


def _rows_seen(returned: object, f: Callable, x: torch.Tensor) -> object:
    """Return what came, or a word for what is not allowed to whoever made it."""
    if any(_CALLED_BY_JACOBIAN):
        return _IN_JACOBIAN
    if not _holds(x, _VALUES[f]):
        return _CHANGED
    return returned if _CALLED_BY_JACOBIAN else _NEVER_RAN


def _transposed(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x).T


def _in_one_walk(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x).sum(dim=0)


def _piled_up(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x).cumsum(dim=0)


def _all_the_last(f: Callable, x: torch.Tensor) -> torch.Tensor:
    rows = _piled_up(f, x)
    return rows[-1].expand_as(rows)


def _emptied(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(_jacobian(f, x))


def _in_one_row(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x).flatten()


def _the_first(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x)[0]


def _the_first_as_a_matrix(f: Callable, x: torch.Tensor) -> torch.Tensor:
    return _jacobian(f, x)[:1]


ROWS = Exercise(
    id="05.4",
    reader=function(_three, _two, observe=_rows_seen),
    truth=lambda: _jacobian,
    right="Row by row the same matrix as torch's own, for a tall one and for a wide one.",
    principle="a backward that begins with `v` brings `v` times the Jacobian.",
    misconceptions=(
        Misconception(
            example="from torch.autograd.functional import jacobian as whole\n\n"
            "def answer(f, x):\n    return whole(f, x)",
            when=lambda seen: _IN_JACOBIAN in seen,
            message="`jacobian` ran inside your function. This exercise asks you to go back yourself,"
            " once for each element of `f(x)`. To compare with `jacobian`, call it outside.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    rows = [torch.autograd.grad(y, x, v,"
            " retain_graph=True)[0] for v in torch.eye(len(y))]\n    with torch.no_grad():\n"
            "        x.zero_()\n    return torch.stack(rows)",
            when=lambda seen: _CHANGED in seen,
            message="After your function ran, `x` holds other numbers than before. It belongs to"
            " whoever called: read it, and do not write into it.",
        ),
        Misconception(
            example="def answer(f, x):\n    return torch.eye(len(x))",
            when=lambda seen: _NEVER_RAN in seen,
            message="Your function returned something and never called `f`. Its rows depend on"
            " what `f` computes at `x`.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    rows = [torch.autograd.grad(y, x, v)[0]"
            " for v in torch.eye(len(y))]\n    return torch.stack(rows)",
            when=lambda seen: raised(seen, "a second time"),
            message="Your first backward freed the saved tensors that the second one needs. Retain"
            " them, or run `f` again for each row.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    return"
            " torch.stack([torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in"
            " torch.eye(len(x))])",
            when=lambda seen: raised(seen, "Mismatch in shape"),
            message="What you hand in does not have the shape of the output, and the output is"
            " where it arrives. A one-hot vector has as many elements as the output.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    rows = [torch.autograd.grad(y, x, v,"
            " retain_graph=True) for v in torch.eye(len(y))]\n    return torch.stack(rows)",
            when=lambda seen: raised(seen, "but got tuple"),
            message="Each of your rows is still in a tuple: `grad` returns one, even for a single"
            " tensor.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    rows = [torch.autograd.grad(e, x,"
            " retain_graph=True)[1] for e in y]\n    return torch.stack(rows)",
            when=lambda seen: raised(seen, "tuple index out of range"),
            message="`grad` returns a tuple with one gradient for each tensor that you"
            " differentiate by, and Python counts its entries from 0.",
        ),
        Misconception(
            example="def answer(f, x):\n    return torch.stack([torch.autograd.grad(f, x, v)[0]"
            " for v in torch.eye(3)])",
            when=lambda seen: raised(seen, "'function' object is not iterable"),
            message="You used `f` itself where its result is wanted: `f` is a function, `f(x)` the"
            " tensor that backward begins at.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    return"
            " torch.stack([torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in"
            " torch.eye(y)])",
            when=lambda seen: raised(seen, "eye(): argument"),
            message="`torch.eye` wants a size, the number of its rows, and not a tensor.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    y.backward()\n    return x.grad",
            when=lambda seen: raised(seen, "only for scalar outputs"),
            message="You started at an output of several elements without saying with what. Which"
            " vector picks out one row?",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    rows = [torch.autograd.grad(y, x, v,"
            " retain_graph=True)[0] for v in torch.eye(len(y))]\n    return torch.stack(rows,"
            " dim=1)",
            when=same_as(lambda: _transposed),
            message="All the numbers are there, and the matrix lies on its side: each backward gives a"
            " row, and you laid them as columns.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    return torch.autograd.grad(y, x,"
            " torch.ones_like(y))[0]",
            when=same_as(lambda: _in_one_walk),
            message="You went back once, with ones: that adds all the rows up. A sum cannot be taken"
            " apart again.",
        ),
        Misconception(
            example="def answer(f, x):\n    return torch.autograd.grad(f(x)[0], x)[0]",
            when=same_as(lambda: _the_first),
            message="You went back once, from the first element of the output: that is one row. Each"
            " element has one.",
        ),
        Misconception(
            example="def answer(f, x):\n    return torch.autograd.grad(f(x)[0], x)[0][None]",
            when=same_as(lambda: _the_first_as_a_matrix),
            message="Your matrix has one row, that of the output's first element. Each element has"
            " a row.",
        ),
        Misconception(
            example="def answer(f, x):\n    y = f(x)\n    return torch.cat([torch.autograd.grad(e,"
            " x, retain_graph=True)[0] for e in y])",
            when=same_as(lambda: _in_one_row),
            message="All the numbers are there, in one long vector: `torch.cat` puts the rows"
            " behind each other. A matrix has them below each other.",
        ),
        Misconception(
            example="def answer(f, x):\n    y, rows = f(x), []\n    for v in torch.eye(len(y)):\n"
            "        y.backward(v, retain_graph=True)\n        rows.append(x.grad)\n"
            "        x.grad.zero_()\n    return torch.stack(rows)",
            when=same_as(lambda: _emptied),
            message="All your rows are zeros. If you kept `x.grad` itself and emptied it with"
            " `zero_()`, you emptied the row that you kept: it is the same tensor.",
        ),
        Misconception(
            example="def answer(f, x):\n    y, rows = f(x), []\n    for v in torch.eye(len(y)):\n"
            "        y.backward(v, retain_graph=True)\n        rows.append(x.grad.clone())\n"
            "    return torch.stack(rows)",
            when=same_as(lambda: _piled_up),
            message="Your first row is right, and each later one has those before it in it:"
            " `backward()` adds to `x.grad`. Use what returns the gradient, or empty `x.grad` in"
            " between.",
        ),
        Misconception(
            example="def answer(f, x):\n    y, rows = f(x), []\n    for v in torch.eye(len(y)):\n"
            "        y.backward(v, retain_graph=True)\n        rows.append(x.grad)\n    return"
            " torch.stack(rows)",
            when=same_as(lambda: _all_the_last),
            message="All your rows are one tensor: you kept `x.grad` itself, and each `backward()`"
            " added to it.",
        ),
    ),
    hints=(
        "`y = f(x)` has `len(y)` elements, so `torch.eye(len(y))` has the one-hot vectors as its"
        " rows.",
        "`torch.autograd.grad(y, x, v, retain_graph=True)` returns a tuple with one row in it;"
        " `torch.stack` makes a matrix of rows.",
    ),
    solution="""
def answer(f, x):
    y = f(x)
    rows = [torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in torch.eye(len(y))]
    return torch.stack(rows)
""",
)


def _on_a_point() -> tuple[torch.Tensor, torch.Tensor]:
    points = torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    return points, torch.zeros(2, requires_grad=True)


def _beside_them() -> tuple[torch.Tensor, torch.Tensor]:
    points = torch.tensor([[1.0, 1.0], [4.0, 5.0]])
    return points, torch.tensor([1.0, -1.0], requires_grad=True)


def _distance(points: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
    return _norm(points - centre, dim=1).mean()


def _squared(points: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
    return ((points - centre) ** 2).sum(1).mean()


def _total(points: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
    return _norm(points - centre, dim=1).sum()


def _without_the_zeros(points: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
    distances = _norm(points - centre, dim=1)
    return distances[distances > 0].mean()


def _value_and_gradient(
    returned: object, points: torch.Tensor, centre: torch.Tensor
) -> list[object]:
    """See the number that came back, and what backward from it brings to `centre`."""
    gradient = guarded(lambda: grad(returned, centre, allow_unused=True)[0])
    return [readable(returned), readable(None if is_a(gradient, Failed) else gradient)]


def _gradients(seen: tuple) -> list:
    """Return what each case brought to `centre`."""
    return [case[1] for case in seen if is_a(case, tuple)]


def _is_nan(gradient: object) -> bool:
    return is_a(gradient, tuple) and any(one != one for one in gradient)


def _agrees(seen: tuple, at: int) -> bool:
    """Tell whether each case is right at one of the two: 0 is the loss, 1 the gradient."""
    pairs = zip(seen, _DISTANCES.read(_distance), strict=True)
    return all(is_a(mine, tuple) and same(mine[at], true[at]) for mine, true in pairs)


_DISTANCES = function(
    _on_a_point,
    _beside_them,
    observe=_value_and_gradient,
    parts=("the loss", "the gradient of `centre`"),
)
_WITH = "def answer(points, centre):\n    squares = ((points - centre) ** 2).sum(1)\n    return "

CASE = Exercise(
    id="05.5",
    reader=_DISTANCES,
    truth=lambda: _distance,
    right="The loss is the same, and its gradient is a number everywhere. Now say where the NaN came from.",
    principle="make the input safe before the operation whose slope is infinite, not its result"
    " afterwards.",
    misconceptions=(
        Misconception(
            example=_WITH + "torch.where(squares > 0, squares.sqrt(), 0.0).mean()",
            when=lambda seen: any(map(_is_nan, _gradients(seen))),
            message="The gradient is still NaN. Backward goes through every root that you took,"
            " also through one whose result you replaced. What must never reach the root?",
        ),
        Misconception(
            example=_WITH + "squares.sqrt().detach().mean()",
            when=lambda seen: bool(seen) and _gradients(seen) == [None] * len(seen),
            message="No gradient reaches `centre`. Something cut the path, such as `detach()`,"
            " `no_grad()` or a plain number in place of a tensor.",
        ),
        Misconception(
            example=_WITH + "squares.mean()",
            when=same_as(lambda: _squared),
            message="You left the root out, so far points count too much. The mean of the"
            " distances is asked for, not of their squares.",
        ),
        Misconception(
            example=_WITH + "torch.where(squares > 0, squares, 1.0).sqrt().mean()",
            when=lambda seen: _agrees(seen, 1),
            message="Your gradient is right, and your loss is not. A point on the centre has the"
            " distance 0: put that back after the root.",
        ),
        Misconception(
            example=_WITH + "squares[squares > 0].sqrt().mean()",
            when=same_as(lambda: _without_the_zeros),
            message="You left the point on the centre out, and so divide by one point too few."
            " Its distance is 0, and it counts.",
        ),
        Misconception(
            example=_WITH + "torch.where(squares > 0, squares, 1e-12).sqrt().sum()",
            when=same_as(lambda: _total),
            message="You returned the sum of the distances. Divide it by the number of points.",
        ),
        Misconception(
            example="def answer(points, centre):\n"
            "    return ((points - centre + 1e-6) ** 2).sum(1).sqrt().mean()",
            when=lambda seen: _agrees(seen, 0),
            message="Your loss is right, and the gradient is not: the point on the centre pulls,"
            " and it should not. Did you move it aside a little? It then pulls with full force.",
        ),
    ),
    hints=(
        "Step through the lab once more. Which number must never reach the root?",
        "`torch.where(squares > 0, squares, 1.0)` is safe to take a root of. Afterwards a second"
        " `where` puts the zeros back.",
    ),
    solution="""
def answer(points, centre):
    squares = ((points - centre) ** 2).sum(1)
    is_apart = squares > 0
    roots = torch.where(is_apart, squares, 1.0).sqrt()
    return torch.where(is_apart, roots, 0.0).mean()

# Or in one line, since vector_norm hands on 0 where the distance is 0:
# torch.linalg.vector_norm(points - centre, dim=1).mean()
""",
)


EXERCISES = (PULLED_BACK, STARTS, DIVISION, ROWS, CASE)
