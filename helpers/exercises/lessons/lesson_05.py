"""Exercises of lesson 05, backward and the chain rule: an angle whose gradient is a number, where
backward starts, what a node returns, and a whole Jacobian.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from random import Random

import torch
from torch.autograd import grad
from torch.autograd.functional import jacobian

from autograd_graphs.guard import Failed, guarded
from autograd_graphs.plain_values import NotRead
from helpers.engine.checks import GRADIENTS, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by
from helpers.exercises.letters import Lines
from helpers.exercises.reading import numbers, opened, same
from helpers.exercises.recognise import (
    When,
    at,
    each_has,
    fails_first,
    right_in,
    shows,
    wrong_in,
)
from helpers.exercises.watched_inputs import readable

_NUMBERS = numbers()


def _three_numbers(answer: object) -> object:
    """Read numbers as usual, but for rows that differ in length: no tensor has that shape."""
    value = opened(answer)
    rows = value if isinstance(value, tuple) else ()
    if len({isinstance(row, tuple) and len(row) for row in rows}) > 1:
        raise NotRead("its rows differ in length")
    return _NUMBERS.read(value)


def _two_right(seen: tuple, right: tuple) -> bool:
    pairs = zip(seen, right, strict=True)
    return sum(same(mine, true) for mine, true in pairs) == 2


_PROGRAM = """
x = torch.tensor({x}, requires_grad=True)
{line}.backward(gradient=torch.tensor({arrives}))
answer = x.grad
"""
_POWERS = {"x**2": 2, "x * x": 2, "x.square()": 2, "x**3": 3, "x * x * x": 3, "x.pow(3)": 3}
_NAMES = {2: "square", 3: "cube"}


def _pulled_back(x: list[float], arrives: list[float], power: str = "x**2") -> dict[str, object]:
    """Return the program in which this arrives at a power of `x`, and what is known of wrong answers."""
    code = _PROGRAM.format(x=x, arrives=arrives, line=f"({power})")
    return {"solution": code, "known": _known_pulled(x, arrives, _POWERS[power])}


def _other_pulled_back(random: Random) -> dict[str, object]:
    x, arrives = random.sample(range(2, 7), 3), [0, *random.sample(range(3, 13), 2)]
    random.shuffle(arrives)
    power = random.choice(list(_POWERS))
    return _pulled_back(list(map(float, x)), list(map(float, arrives)), power)


def _known_pulled(x: list[float], arrives: list[float], n: int) -> dict[str, object]:
    values, slopes = [number**n for number in x], [n * number ** (n - 1) for number in x]
    right = _product(arrives, slopes)
    no_zero = _product([number or 1.0 for number in arrives], slopes)
    name = _NAMES[n]
    return {
        "You gave the slopes themselves. You would get them if ones arrived, and here each element"
        " begins with another number.": tuple(slopes),
        f"You gave what arrives at the {name}. Its node multiplies that before anything reaches"
        " `x`.": (tuple(arrives)),
        "You multiplied by the values of `y`. A node multiplies by its derivative.": (
            _product(arrives, values)
        ),
        "You wrote None where nothing changes. None would mean that no gradient arrived. Here one does"
        " arrive, and it's a number, 0.": lambda seen, _: len(seen) == 3 and None in seen,
        f"It runs. The {name} has several elements, and the line hands in a number for each of"
        " them.": ("error"),
        "Where a 0 arrives, you left the slope as it is. But it's multiplied there, too.": tuple(
            no_zero
        ),
        f"You multiplied what arrives by `x`, and `x` is not the derivative of its {name}.": (
            _product(arrives, x)
        ),
        f"A factor {n} came in once too often. Differentiate the {name} again.": (
            tuple([n * number for number in right])
        ),
        "You let the 0 stop everything. It arrives at one element; at the others something else"
        " arrives.": (0, 0, 0),
        "Two of your three numbers are right. For the other one write down what arrives at that"
        f" element, and the derivative of the {name} there, and multiply.": _two_right,
    }


def _product(arrives: list[float], others: list[float]) -> tuple:
    return tuple([number * other for number, other in zip(arrives, others, strict=True)])


PULLED_BACK = Exercise(
    id="05.1",
    reader=replace(_NUMBERS, read=_three_numbers),
    right="What arrives, times the slope, element by element.",
    principle="a node multiplies what arrives by its slope. A power does that element by element.",
    asked="After these lines, what is in `x.grad`? Give three numbers.",
    vary=_other_pulled_back,
    hints=(
        "The node of a power multiplies what arrives by the derivative of that power.",
        "Write the derivatives at the three elements below the three numbers that arrive, and"
        " multiply downwards.",
    ),
    **_pulled_back([1.0, 2.0, 3.0], [1.0, 0.0, 10.0]),
)


_HANDED = "What shape is `y`, and what shape is what you hand in?"
_OF_SUM = "What shape is the sum, and what shape is what you hand in?"
_NOTHING_IN = "How many elements are there, and who would put in what arrives?"
CALLS = Lines(
    read="“Where a walk begins”, and what happened when we handed something in",
    begins=(
        "W, x = torch.ones(2, 3), torch.ones(3, requires_grad=True)\ny = W @ x",
        "W, x = torch.ones(3, 2), torch.ones(2, requires_grad=True)\ny = W @ x",
        "x = torch.ones(2, requires_grad=True)\ny = x * 3",
        "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x.exp()",
    ),
    lines={
        "y.backward()": "How many elements does `y` have, and who would put in what arrives?",
        "y.backward(torch.ones(3))": _HANDED,
        "y.backward(torch.ones(2))": _HANDED,
        "y.sum().backward()": "How many elements does the sum have, and who would put in what arrives?",
        "y.sum().backward(torch.tensor([1.0]))": _OF_SUM,
        "y.sum().backward(torch.tensor(1.0))": _OF_SUM,
        "y.mean().backward()": _NOTHING_IN,
        "y[:1].backward()": _NOTHING_IN,
        "y[0].backward(torch.tensor(5.0))": "What shape is the element, and what shape is what you hand in?",
        "y.backward(torch.ones_like(y))": _HANDED,
        "y.backward(torch.tensor(1.0))": _HANDED,
        "(y * 2).backward()": _NOTHING_IN,
        "y.max().backward()": _NOTHING_IN,
        "y.backward(y.detach())": _HANDED,
        "y.sum().backward(torch.ones(2))": _OF_SUM,
    },
    trial="""
{begin}
try:
    exec(line)
except RuntimeError:
    continue
answer.append(letter)
""",
)

STARTS = Exercise(
    id="05.2",
    right="What you hand in has the shape of what you call it on, and one real element needs"
    " nothing handed in.",
    asked="Each line gets a fresh `y`. Which lines run without an error? Give a list of letters.",
    **CALLS.first("abcdef"),
    hints=(
        "Write the shape of what stands before `.backward` on each line, and next to it the shape"
        " of what is in it.",
        "`y` is a vector, and its sum has the shape (). With nothing in the parentheses, PyTorch"
        " puts in a 1, but only where one real element stands before `.backward`.",
    ),
)


_GIVEN = "v", "a", "b"


def _pair_seen(returned: object, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> list[object]:
    if type(returned) is dict and set(returned) == {"a", "b"}:
        returned = returned["a"], returned["b"]
    return [readable(value) for value in (returned, v, a, b)]


def _quotients(numbers: list[float], v: list[float], a: list[float], b: list[float]) -> tuple:
    single = "v, a, b = torch.tensor({}), torch.tensor({}), torch.tensor({})".format(*numbers)
    several = f"v = torch.tensor({v})\na, b = torch.tensor({a}), torch.tensor({b})"
    return made_by(single, *_GIVEN), made_by(several, *_GIVEN)


def _other_quotients(random: Random) -> tuple:
    three, v, a = (list(map(float, random.sample(range(2, 13), 3))) for _ in range(3))
    return _quotients(three, v, a, [-v[1], *map(float, random.sample(range(14, 19), 2))])


def _right_at(at: int) -> When:
    """Match where each case ended in a pair whose gradient `at` is right."""

    def matches(seen: tuple, right: tuple) -> bool:
        pairs = zip(seen, right, strict=True)
        return all(len(mine[0]) == 2 and same(mine[0][at], kept[0][at]) for mine, kept in pairs)

    return matches


DIVISION = Exercise(
    id="05.3",
    reader=function(
        *_quotients([10.0, 3.0, 5.0], [1.0, 10.0], [6.0, 5.0], [2.0, -4.0]),
        observe=_pair_seen,
        parts=("gradients", "v afterwards", "a afterwards", "b afterwards"),
    ),
    right="Both agree with PyTorch's own node for `/`, for numbers and for tensors of one shape.",
    principle="for each input a node hands on what arrives, times the slope with respect to it, with the"
    " other input held still.",
    known={
        "After your function ran, a tensor that it was given holds different numbers from before. `v`,"
        " `a` and `b` belong to whoever called: compute new tensors, without writing in"
        " place.": wrong_in(1, 2, 3),
        "Your gradient for `a` is right, but that for `b` isn't. Write `a / b` as `a * b**-1`, and"
        " differentiate with `a` held still.": _right_at(0),
        "Your gradient for `b` is right, but that for `a` isn't. With `b` held still, `a / b` is a"
        " number times `a`.": _right_at(1),
    },
    hints=(
        "Differentiate `a / b` with respect to `a`, with `b` held still; then the other way round.",
        "The first derivative is 1/b. For the second one, write `a / b` as `a * b**-1`. What arrives is `v`, and it multiplies each of them.",
    ),
    reference="""
def answer(v, a, b):
    return v / b, -v * a / b**2  # each input gets what arrives, times its own slope
~   return v / b, v / a  # You treated both inputs alike, as that engine does. In `a / b` they have
~       # different parts: what becomes of the quotient when only `b` grows?
~   return v / b, v * a / b**2  # The sizes are right, but a sign isn't. Make the denominator a little
~       # larger: where does the quotient go?
~   return -v / b, v * a / b**2  # The sizes are right, but neither sign is. Make only `a` a little larger,
~       # then only `b`: where does the quotient go?
~   return 1 / b, -a / b**2  # You returned the derivatives. A node returns them times what arrives, and `v`
~       # is not always 1.
~   return v / b, -a / b**2  # Only your first gradient is multiplied by what arrives. `v` arrives at the node, so
~       # it belongs in both.
~   return 1 / b, -v * a / b**2  # Only your second gradient is multiplied by what arrives. `v` arrives at the node,
~       # so it belongs in both.
~   return -v * a / b**2, v / b  # You returned the pair in reverse order. It should follow the inputs: first the
~       # gradient for `a`.
~   return b / a, -b * v / a**2  # Your formulas would be right with the arguments in another order. They come as
~       # `v, a, b`, so what arrives is first.
~   return v / b - v * a / b**2  # You added the two gradients up. They belong to two different inputs, so return a
~       # pair.
~   return v / b  # You returned a gradient only for `a`. Here `b` gets one as well, so return a pair.
~   return (v / b).sum(), (-v * a / b**2).sum()  # You summed over the elements. Each element of `a` and of
~       # `b` has a gradient of its own, so a gradient has the shape of its input.
""",
    cases=_other_quotients,
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
    values = readable(x)

    def noted(x: torch.Tensor) -> torch.Tensor:
        _CALLED_BY_JACOBIAN.append(_is_running(jacobian))
        return f(x)

    noted.values = values
    return noted, x


_IN_JACOBIAN, _CHANGED, _NEVER_RAN = "jacobian ran", "x was changed", "f never ran"


def _rows_seen(returned: object, f: Callable, x: torch.Tensor) -> object:
    if any(_CALLED_BY_JACOBIAN):
        return _IN_JACOBIAN
    if not same(readable(x), f.values):
        return _CHANGED
    return returned if _CALLED_BY_JACOBIAN else _NEVER_RAN


def _fs(two: list[float], three: list[float], factor: int) -> tuple:
    """Return a case whose Jacobian is tall, and one whose Jacobian is wide."""
    codes = (
        f"f = lambda x: torch.stack([x[0] * x[1], x[0] ** 2, {factor} * x[1]])\n"
        f"x = torch.tensor({two}, requires_grad=True)",
        "f = lambda x: torch.stack([x[0] * x[1] * x[2], x.exp().sum()])\n"
        f"x = torch.tensor({three}, requires_grad=True)",
    )
    return tuple(made_by(code, "f", "x", then=_watched) for code in codes)


def _other_fs(random: Random) -> tuple:
    two, three = random.sample(range(1, 9), 2), random.sample(range(1, 6), 3)
    return _fs(list(map(float, two)), list(map(float, three)), random.randint(3, 9))


ROWS = Exercise(
    id="05.4",
    reader=function(
        *_fs([1.0, 2.0], [1.0, 2.0, 5.0], 3),
        observe=_rows_seen,
    ),
    right="Row by row the same matrix as PyTorch's own, for a tall one and for a wide one.",
    principle="a backward that begins with `v` gives you `v` times the Jacobian.",
    known={
        "`jacobian` ran inside your function. This exercise asks you to go back yourself, once for"
        " each element of `f(x)`. To compare with `jacobian`, call it"
        " outside.": shows(_IN_JACOBIAN),
        "After your function ran, `x` holds different numbers from before. It belongs to whoever"
        " called: read it, but don't write into it.": shows(_CHANGED),
        "Your function returned something and never called `f`. Its rows depend on what `f`"
        " computes at `x`.": shows(_NEVER_RAN),
    },
    hints=(
        "`y = f(x)` has `len(y)` elements, so `torch.eye(len(y))` has the one-hot vectors as its"
        " rows.",
        "`torch.autograd.grad(y, x, v, retain_graph=True)` returns a tuple with one row in it;"
        " `torch.stack` makes a matrix of rows.",
    ),
    reference="""
def answer(f, x):
    y = f(x)
~   y = f  # You used `f` itself where its result is needed: `f` is a function, and `f(x)` is the tensor backward
~       # starts from.
    rows = []
    for v in torch.eye(len(y)):  # each element of the output needs a row of its own
~   for v in torch.ones(1, len(y)):  # You ran backward only once, with ones, which adds all the rows up. You can't
~       # take a sum apart again.
~   for v in torch.eye(len(x)):  # What you hand in has to have the shape of the output, because that's where it
~       # arrives. So your one-hot vector needs as many elements as the output.
        (row,) = torch.autograd.grad(y, x, v, retain_graph=True)  # the next backward needs the saved tensors again
~       (row,) = torch.autograd.grad(f, x, v)  # You used `f` itself where its result is needed: `f` is a function,
~           # and `f(x)` is the tensor backward starts from.
~       (row,) = torch.autograd.grad(y, x, retain_graph=True)  # You started backward from an output with several
~           # elements, so it needs a vector to start with. Which vector picks out one row?
~       row = torch.autograd.grad(y, x, v, retain_graph=True)  # Each of your rows is still in a tuple: `grad`
~           # returns one, even for a single tensor.
~       row = torch.autograd.grad(y, x, v, retain_graph=True)[1]  # `grad` returns a tuple with one gradient for
~           # each tensor you differentiate with respect to, and Python counts its entries from 0.
~       y.backward(v, retain_graph=True); row = x.grad.clone()  # Your first row is right, but each later one
~           # includes the rows before it, because `backward()` adds to `x.grad`. Use the function that returns the
~           # gradient, or empty `x.grad` in between.
~       y.backward(v, retain_graph=True); row = x.grad; rows += [row]; continue  # All your rows are the same. Each
~           # of them is `x.grad` itself, and every `backward()` goes on adding to that one tensor. Use the function
~           # that returns the gradient, or keep a clone and empty `x.grad` before each call.
~       y.backward(v, retain_graph=True); row = x.grad; rows += [row]; row.zero_(); continue  # All your rows are
~           # zeros. If you kept `x.grad` itself and then called `zero_()` on it, you wiped the row you had kept,
~           # because it's the same tensor.
        rows.append(row)
    return torch.stack(rows)  # the rows go one below the other
~   return torch.stack(rows, dim=1)  # All the numbers are there, but the matrix is transposed: each backward gives
~       # a row, and you stacked the rows as columns.
~   return sum(rows)  # You ran backward only once, with ones, which adds all the rows up. You can't take a sum apart
~       # again.
~   return rows[0]  # You ran backward only once, from the first element of the output. That gives one row, but each
~       # element has one.
~   return torch.cat(rows)  # All the numbers are there, but in one long vector: `torch.cat` joins the rows end to
~       # end. In a matrix they go one below the other.
""",
    cases=_other_fs,
)


def _value_and_gradient(returned: object, a: torch.Tensor, b: torch.Tensor) -> list[object]:
    gradient = guarded(lambda: grad(returned, a, allow_unused=True)[0])
    return [readable(returned), readable(None if isinstance(gradient, Failed) else gradient)]


def _is_broken(seen: tuple, right: tuple) -> bool:
    gradients = [case[1] or () for case in seen if isinstance(case, tuple)]
    return any(not isfinite(number) for gradient in gradients for row in gradient for number in row)


_DIRECTIONS = ([1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0], [-0.6, 0.8])


def _angles(a: list[list[float]], b: list[list[float]]) -> tuple:
    code = f"a = torch.tensor({a}, requires_grad=True)\nb = torch.tensor({b})"
    return (made_by(code, "a", "b"),)


def _other_angles(random: Random) -> tuple:
    """Draw directions of which some are exactly right, and others of which none is."""
    true = random.sample(_DIRECTIONS, 3)
    axis = random.choice([[1.0, 0.0], [0.0, 1.0]])
    wrong = [random.choice([one for one in _DIRECTIONS if one != each]) for each in true]
    return *_angles([axis, *wrong], [axis, *true]), *_angles(wrong, true)


ANGLES = Exercise(
    id="05.8",
    reader=function(
        *_angles([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]),
        *_angles([[0.6, 0.8], [0.0, 1.0]], [[0.8, 0.6], [1.0, 0.0]]),
        observe=_value_and_gradient,
        parts=("the loss", "the gradient of `a`"),
    ),
    right="The same mean angle, and its gradient is a number everywhere. Which slope was infinite this time?",
    principle="make the input safe before the operation whose slope is infinite, not its result"
    " afterwards.",
    known={
        "The gradient is still infinite or NaN. Backward goes through every `acos` that ran, also"
        " through one whose result you replaced. What must never reach it?": _is_broken,
        "No gradient reaches `a`. Something cut the path, such as `detach()`, `no_grad()` or a"
        " plain number in place of a tensor.": each_has(1, None),
        "Your gradient is right, but your loss isn't quite. A guess that's exactly right has the"
        " angle 0, so put that back after the `acos`.": right_in(1),
        "Your loss is right, but its gradient isn't that of `broken` with a 0 for each guess that's"
        " exactly right.": right_in(0),
    },
    hints=(
        "Where does `acos` have no ordinary slope? Ask PyTorch at 0, at 0.5 and at 1.",
        "What must never reach `acos` is a product of 1. In the lesson, the root was handed a 1"
        " wherever a 0 would have reached it. What could you hand to `acos`?",
        "With `torch.where`, hand `acos` a different number wherever the cosine is 1. Afterwards"
        " a second `where` gives those guesses the angle they should have.",
    ),
    reference="""
def answer(a, b):
    cosines = (a * b).sum(1)
    is_off = cosines < 1
    angles = torch.where(is_off, cosines, 0.0).acos()  # acos must never see a 1
    angles = torch.where(is_off, angles, 0.0)  # a guess that is exactly right has the angle 0
    return angles.mean()
~   return angles.sum()  # You returned the sum of the angles. Divide it by the number of guesses.
~   return angles[is_off].mean()  # You left out the guess that's exactly right, so you divide by one guess too few.
~       # Its angle is 0, but it counts.
~   return (1 - cosines).mean()  # You left out the `acos`. Such a loss is safe, and people do use it, but it isn't
~       # the angle we asked for.
""",
    cases=_other_angles,
)

BACKWARD = Exercise(
    id="05.7",
    stage="05",
    reader=function(*cases("05"), promises=GRADIENTS),
    truth=lambda: on_torch,
    solution=yours("05"),
    cases=lambda random: cases("05", random),
    right="Your engine goes backward. Each node runs once, and on every program I tried, its gradients are"
    " the ones that PyTorch computes.",
    principle="a node runs once, when everything that will ever reach it has arrived and been added up.",
    known={
        "An addition hands what reaches it on to both of its inputs, untouched. So it returns two"
        " gradients, one for each edge.": at([0], [0]),
        "You called `backward` of the nodes yourself. Call `evaluate(node, grad)`, which `run_backward` is"
        " given: lessons 07 and 14 change what it does, and your loop will then do that, too.": at(
            [0], [1], 0
        ),
        "The gradients are right, but not every node went through `evaluate(node, grad)`. An AccumulateGrad"
        " is a node, too, and it writes into `.grad` by itself, so there's no need to treat it"
        " differently.": at([0], [2]),
        "You gave each factor its own value. But nudge `x` a little, and the product moves by `y` times as"
        " much: the slope with respect to one factor is the other one.": at([1], [0], (3.0, 5.0)),
        "A node returned its slope and forgot what had reached it. What arrives says how much `z` cares"
        " about this product, so it has to be multiplied in. That's the v in vjp.": at([1, 2], [0]),
        "`x` is both factors, so a 3 arrives for each of them. The second replaced the first. What arrives"
        " at a node has to be added up.": lambda seen, right: same(seen[3], ((3.0,), 1, 0, 0)),
        "You ran the AccumulateGrad of `x` twice, once for each path that leads to it, and the second run"
        " replaced what the first had written. Let a node wait until everything has arrived. Then it runs"
        " once, with the sum.": lambda seen, right: same(seen[3], ((3.0,), 2, 0, 0)),
        "The gradients are right, but you go along each path, so a node runs as often as paths lead to it."
        " With h = h + h, forty times over, that's a million million paths through 41 nodes. Let a node"
        " wait until everything has arrived. Then it runs once.": at([3], [1]),
        "`h * h + h` and `h + h * h` are the same sum, so both should give 114. With yours the order"
        " decides, because the node of `h` runs before everything has reached it, and what comes later is"
        " lost. How would a node know that it has to wait?": at([5, 6], [0]),
        "The first backward is right, but a second one on the same graph isn't: something of the first is"
        " still there. Begin each walk with new dicts and lists, and leave nothing behind on the"
        " nodes.": at([9], [0]),
        "The numbers are right, but your gradients require grad, so the way back was recorded as well."
        " `self.saved` holds the values with all their history. `unpack(self)` gives you the same numbers"
        " without it.": at(range(10), [3]),
        "Where an input needs no gradient, `next_functions` holds `(None, 0)`. Nothing is there to"
        " run, so step over it.": fails_first("'NoneType' object"),
        "A node's `backward` returns a tuple, with one gradient for each input.": fails_first(
            "is not iterable"
        ),
        "I stopped your loop after 100,000 lines, because it doesn't seem to end. Does each round take a node out, and can the same"
        " node come in again?": fails_first("it does not end"),
    },
    hints=(
        "The two vjps first. What reaches a sum goes on to both inputs as it is. What reaches a product is"
        " multiplied by the other factor, and `a, b = unpack(self)` gives you the photographs of both.",
        "Now the order. How many edges lead to each node? Walk through the graph once without computing"
        " anything, and count. A list that grows while you loop over it will do for the walk.",
        "Then you need two things: `arrived`, which says for each node what has reached it so far, and"
        " `ready`, the nodes that wait for nothing any more. In the beginning that's the root, with `grad`.",
        "Each round takes a node from `ready` and calls `evaluate(node, arrived.pop(node))`. It adds what"
        " comes back to what has arrived at the children and takes 1 from their counts. A child whose count"
        " is down to 0 is ready.",
    ),
)


EXERCISES = (ANGLES, BACKWARD, PULLED_BACK, STARTS, DIVISION, ROWS)
