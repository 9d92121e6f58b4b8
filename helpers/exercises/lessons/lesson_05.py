"""Exercises of lesson 05, backward and the chain rule: where backward starts, what a node returns, a
whole Jacobian, and a distance whose gradient is a number.
"""

import sys
from collections.abc import Callable
from dataclasses import replace

import torch
from torch.autograd import grad
from torch.autograd.functional import jacobian

from autograd_graphs.untrusted.plain import NotRead, is_a, plain
from autograd_graphs.untrusted.sandbox import Failed, guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, numbers
from helpers.exercises.recognise import (
    Like,
    When,
    each_has,
    fails,
    like,
    right_in,
    shows,
    wrong_in,
)
from helpers.exercises.tensors import readable
from helpers.exercises.values import rows, same

_NUMBERS = numbers()


def _three_numbers(answer: object) -> object:
    """Read numbers as usual, but for rows that differ in length: no tensor has that shape."""
    value = plain(answer)
    if is_a(value, tuple) and any(is_a(item, tuple) for item in value):
        rows(value)
    return _NUMBERS.read(answer)


def _two_right(seen: tuple, right: tuple) -> bool:
    pairs = zip(seen, right, strict=True)
    return sum(same(mine, true) for mine, true in pairs) == 2


PULLED_BACK = Exercise(
    id="05.1",
    reader=replace(_NUMBERS, read=_three_numbers),
    right="What arrives, times `2 * x`, element by element.",
    principle="a node multiplies what arrives by its slope. A square does that element by element.",
    known={
        "You gave the slopes themselves. You would get them if ones arrived, and here each"
        " element begins with another number.": (2, 4, 6),
        "You gave what arrives at the square. Its node multiplies that before anything reaches `x`.": (
            1,
            0,
            10,
        ),
        "You multiplied by the values of `y`. A node multiplies by its derivative.": (1, 0, 90),
        "You wrote None where nothing changes. None would mean that no gradient came. Here one"
        " does come, and it is a number.": lambda seen, _: len(seen) == 3 and None in seen,
        "It runs. `x**2` has several elements, and the line hands in a number for each of them.": "error",
        "Where a 0 arrives you left the slope as it is. It is multiplied there, too.": (2, 4, 60),
        "You multiplied what arrives by `x`, and `x` is not the derivative of its square.": (
            1,
            0,
            30,
        ),
        "A factor 2 came in once too often. Differentiate the square again.": (4, 0, 120),
        "You let the 0 stop everything. It arrives at one element; at the others"
        " something else arrives.": (0, 0, 0),
        "Two of your three numbers are right. For the other one write down what"
        " arrives at that element, and the derivative of the square there, and multiply.": _two_right,
    },
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


STARTS = Exercise(
    id="05.2",
    reader=letters("abcdef"),
    right="What you hand in has the shape of what you call it on, and one real element needs"
    " nothing handed in.",
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


_GIVEN = "v", "a", "b"


def _pair_seen(returned: object, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> list[object]:
    """See the gradients, and what the three tensors hold afterwards."""
    if type(returned) is dict and set(returned) == {"a", "b"}:
        returned = returned["a"], returned["b"]
    return [readable(one) for one in (returned, v, a, b)]


def _right_at(at: int) -> When:
    """Match where each case ended in a pair whose gradient `at` is right."""
    return lambda seen, right: all(
        len(mine[0]) == 2 and same(mine[0][at], kept[0][at])
        for mine, kept in zip(seen, right, strict=True)
    )


def _formulas(formulas: str, arguments: str = "v, a, b") -> Like:
    return like(f"def answer({arguments}):\n    return {formulas}")


DIVISION = Exercise(
    id="05.3",
    reader=function(
        made_by("v, a, b = torch.tensor(10.0), torch.tensor(3.0), torch.tensor(5.0)", *_GIVEN),
        made_by(
            "v = torch.tensor([1.0, 10.0])\n"
            "a, b = torch.tensor([6.0, 5.0]), torch.tensor([2.0, -4.0])",
            *_GIVEN,
        ),
        observe=_pair_seen,
        parts=("gradients", "v afterwards", "a afterwards", "b afterwards"),
    ),
    right="Both agree with the node that torch makes for `/`, for numbers and for tensors of one shape.",
    principle="for each input a node hands on what arrives, times the slope in that input, with the"
    " other input held still.",
    known={
        "After your function ran, a tensor that it was given holds other numbers than"
        " before. `v`, `a` and `b` belong to whoever called: compute new tensors, without"
        " writing in place.": wrong_in(1, 2, 3),
        "You treated both inputs alike, as that engine does. In `a / b` they have"
        " different parts: what becomes of the quotient when only `b` grows?": _formulas(
            "v / b, v / a"
        ),
        "The sizes are right, a sign is not. Make the denominator a little larger:"
        " where does the quotient go?": _formulas("v / b, v * a / b**2"),
        "The sizes are right, both signs are not. Make only `a` a little larger, then"
        " only `b`: where does the quotient go?": _formulas("-v / b, v * a / b**2"),
        "You returned the derivatives. A node returns them times what arrives, and `v`"
        " is not always 1.": _formulas("1 / b, -a / b**2"),
        "Only your first gradient is multiplied by what arrives. `v` arrives at the"
        " node, so it stands in both.": _formulas("v / b, -a / b**2"),
        "Only your second gradient is multiplied by what arrives. `v` arrives at the"
        " node, so it stands in both.": _formulas("1 / b, -v * a / b**2"),
        "That is what the node of a product does: each factor gets the other one.": _formulas(
            "v * b, v * a"
        ),
        "You returned the pair in the other order. The order is that of the inputs:"
        " first for `a`.": _formulas("-v * a / b**2, v / b"),
        "Your formulas would be right with the arguments in another order. They come"
        " as `v, a, b`: first what arrives.": _formulas("v / b, -v * a / b**2", "a, b, v"),
        "You added the two gradients up. They belong to two inputs: return a pair.": _formulas(
            "v / b - v * a / b**2"
        ),
        "You returned a gradient for `a` only. Here `b` gets one as well: return a pair.": _formulas(
            "v / b"
        ),
        "Your gradient for `a` is right, that for `b` is not. Write `a / b` as `a *"
        " b**-1`, and differentiate with `a` held still.": _right_at(0),
        "Your gradient for `b` is right, that for `a` is not. With `b` held still, `a"
        " / b` is a number times `a`.": _right_at(1),
        "You summed over the elements. Each element of `a` and of `b` has a gradient"
        " of its own, so a gradient has the shape of its input.": _formulas(
            "(v / b).sum(), (-v * a / b**2).sum()"
        ),
    },
    hints=(
        "Differentiate `a / b` with respect to `a`, with `b` held still; then the other way round.",
        "The derivatives are 1/b and −a/b². What arrives is `v`, and multiplies each of them.",
    ),
    solution="""
def answer(v, a, b):
    return v / b, -v * a / b**2
""",
)


_CALLED_BY_JACOBIAN: list[bool] = []  # for each call of f in a case


def _is_running(function: Callable) -> bool:
    """Tell whether `function`, by whatever name it was called, waits for the code that asks."""
    frame = sys._getframe()
    while frame and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def _watched(f: Callable, x: torch.Tensor) -> tuple[Callable, torch.Tensor]:
    """Note each call of `f`, and what `x` holds."""
    _CALLED_BY_JACOBIAN.clear()
    values = plain(x)

    def noted(x: torch.Tensor) -> torch.Tensor:
        _CALLED_BY_JACOBIAN.append(_is_running(jacobian))
        return f(x)

    noted.values = values
    return noted, x


_IN_JACOBIAN, _CHANGED, _NEVER_RAN = "jacobian ran", "x was changed", "f never ran"


def _holds(x: torch.Tensor, values: tuple) -> bool:
    try:
        return same(plain(x), values)
    except NotRead:
        return False


def _rows_seen(returned: object, f: Callable, x: torch.Tensor) -> object:
    """Return what came, or a word for what is not allowed to whoever made it."""
    if any(_CALLED_BY_JACOBIAN):
        return _IN_JACOBIAN
    if not _holds(x, f.values):
        return _CHANGED
    return returned if _CALLED_BY_JACOBIAN else _NEVER_RAN


def _with_rows(of_rows: str, v: str = "torch.eye(len(y))") -> str:
    """Return the source of an answer that makes something of the rows."""
    row = "torch.autograd.grad(y, x, v, retain_graph=True)[0]"
    return f"def answer(f, x):\n    y = f(x)\n    rows = [{row} for v in {v}]\n    return {of_rows}"


def _kept_in_grad(row: str, after: str = "pass") -> Like:
    """Match rows that are read from `x.grad` after each `backward()`."""
    return like(f"""
def answer(f, x):
    y, rows = f(x), []
    for v in torch.eye(len(y)):
        y.backward(v, retain_graph=True)
        rows.append({row})
        {after}
    return torch.stack(rows)
""")


ROWS = Exercise(
    id="05.4",
    reader=function(
        made_by(
            "f = lambda x: torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])\n"
            "x = torch.tensor([1.0, 2.0], requires_grad=True)",
            *("f", "x"),
            then=_watched,
        ),
        made_by(
            "f = lambda x: torch.stack([x[0] * x[1] * x[2], x.exp().sum()])\n"
            "x = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)",
            *("f", "x"),
            then=_watched,
        ),
        observe=_rows_seen,
    ),
    right="Row by row the same matrix as torch's own, for a tall one and for a wide one.",
    principle="a backward that begins with `v` brings `v` times the Jacobian.",
    known={
        "`jacobian` ran inside your function. This exercise asks you to go back yourself,"
        " once for each element of `f(x)`. To compare with `jacobian`, call it outside.": shows(
            _IN_JACOBIAN
        ),
        "After your function ran, `x` holds other numbers than before. It belongs to"
        " whoever called: read it, and do not write into it.": shows(_CHANGED),
        "Your function returned something and never called `f`. Its rows depend on"
        " what `f` computes at `x`.": shows(_NEVER_RAN),
        "Your first backward freed the saved tensors that the second one needs. Retain"
        " them, or run `f` again for each row.": fails("a second time"),
        "What you hand in does not have the shape of the output, and the output is"
        " where it arrives. A one-hot vector has as many elements as the output.": fails(
            "Mismatch in shape"
        ),
        "Each of your rows is still in a tuple: `grad` returns one, even for a single"
        " tensor.": fails("but got tuple"),
        "`grad` returns a tuple with one gradient for each tensor that you"
        " differentiate by, and Python counts its entries from 0.": fails(
            "tuple index out of range"
        ),
        "You used `f` itself where its result is wanted: `f` is a function, `f(x)` the"
        " tensor that backward begins at.": fails("'function' object is not iterable"),
        "`torch.eye` wants a size, the number of its rows, and not a tensor.": fails(
            "eye(): argument"
        ),
        "You started at an output of several elements without saying with what. Which"
        " vector picks out one row?": fails("only for scalar outputs"),
        "All the numbers are there, and the matrix lies on its side: each backward gives a"
        " row, and you laid them as columns.": like(_with_rows("torch.stack(rows, dim=1)")),
        "You went back once, with ones: that adds all the rows up. A sum cannot be taken"
        " apart again.": like(_with_rows("sum(rows)")),
        "You went back once, from the first element of the output: that is one row. Each"
        " element has one.": like(_with_rows("rows[0]")),
        "Your matrix has one row, that of the output's first element. Each element has"
        " a row.": like(_with_rows("rows[0][None]")),
        "All the numbers are there, in one long vector: `torch.cat` puts the rows"
        " behind each other. A matrix has them below each other.": like(
            _with_rows("torch.cat(rows)")
        ),
        "All your rows are zeros. If you kept `x.grad` itself and emptied it with"
        " `zero_()`, you emptied the row that you kept: it is the same tensor.": _kept_in_grad(
            "x.grad", "x.grad.zero_()"
        ),
        "Your first row is right, and each later one has those before it in it:"
        " `backward()` adds to `x.grad`. Use what returns the gradient, or empty `x.grad` in"
        " between.": _kept_in_grad("x.grad.clone()"),
        "All your rows are one tensor: you kept `x.grad` itself, and each `backward()`"
        " added to it.": _kept_in_grad("x.grad"),
    },
    hints=(
        "`y = f(x)` has `len(y)` elements, so `torch.eye(len(y))` has the one-hot vectors as its"
        " rows.",
        "`torch.autograd.grad(y, x, v, retain_graph=True)` returns a tuple with one row in it;"
        " `torch.stack` makes a matrix of rows.",
    ),
    solution=_with_rows("torch.stack(rows)"),
)


def _value_and_gradient(
    returned: object, points: torch.Tensor, centre: torch.Tensor
) -> list[object]:
    """See the number that came back, and what backward from it brings to `centre`."""
    gradient = guarded(lambda: grad(returned, centre, allow_unused=True)[0])
    return [readable(returned), readable(None if is_a(gradient, Failed) else gradient)]


def _is_nan(seen: tuple, right: tuple) -> bool:
    gradients = [case[1] for case in seen if is_a(case, tuple)]
    return any(one != one for gradient in gradients for one in gradient or ())


_WITH = "def answer(points, centre):\n    squares = ((points - centre) ** 2).sum(1)\n    return "

CASE = Exercise(
    id="05.5",
    reader=function(
        made_by(
            "points = torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 2.0]])\n"
            "centre = torch.zeros(2, requires_grad=True)",
            *("points", "centre"),
        ),
        made_by(
            "points = torch.tensor([[1.0, 1.0], [4.0, 5.0]])\n"
            "centre = torch.tensor([1.0, -1.0], requires_grad=True)",
            *("points", "centre"),
        ),
        observe=_value_and_gradient,
        parts=("the loss", "the gradient of `centre`"),
    ),
    right="The loss is the same, and its gradient is a number everywhere. Now say where the NaN came from.",
    principle="make the input safe before the operation whose slope is infinite, not its result"
    " afterwards.",
    known={
        "The gradient is still NaN. Backward goes through every root that you took,"
        " also through one whose result you replaced. What must never reach the root?": _is_nan,
        "No gradient reaches `centre`. Something cut the path, such as `detach()`,"
        " `no_grad()` or a plain number in place of a tensor.": each_has(1, None),
        "You left the root out, so far points count too much. The mean of the"
        " distances is asked for, not of their squares.": like(_WITH + "squares.mean()"),
        "Your gradient is right, and your loss is not. A point on the centre has the"
        " distance 0: put that back after the root.": right_in(1),
        "You left the point on the centre out, and so divide by one point too few."
        " Its distance is 0, and it counts.": like(_WITH + "squares[squares > 0].sqrt().mean()"),
        "You returned the sum of the distances. Divide it by the number of points.": like(
            _WITH + "torch.where(squares > 0, squares, 1e-12).sqrt().sum()"
        ),
        "Your loss is right, and the gradient is not: the point on the centre pulls,"
        " and it should not. Did you move it aside a little? It then pulls with full force.": right_in(
            0
        ),
    },
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
