"""Exercises of lesson 00, start here: a gradient by hand, reading a picture, repairing a program that
does not learn. 00.3 is asked by old copies of the lesson only.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from autograd_graphs.untrusted.plain import is_a, plain
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised
from helpers.exercises.lessons.operations import LEAF, SAVED, operations
from helpers.exercises.lessons.watching import watched
from helpers.exercises.readers import number
from helpers.exercises.tensors import readable
from helpers.exercises.values import same
from helpers.moons import moons


def _f() -> tuple[torch.Tensor, ...]:
    u, v = torch.tensor(5.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    return u, v, u * v + u


def _gradient(of: int) -> torch.Tensor:
    leaves_and_f = _f()
    leaves_and_f[-1].backward()
    return leaves_and_f[of].grad


BY_HAND = Exercise(
    id="00.1",
    reader=number(),
    truth=lambda: _gradient(0),
    right="Two arrows end at `u`, and what arrives along them is added.",
    misconceptions=(
        Misconception(
            example=2.0,
            when=same_as(lambda: _f()[1].detach()),
            message="That is what arrives at `u` through the product. Every path from `f` back to `u`"
            " counts.",
        ),
        Misconception(
            example="1",
            when=1.0,
            message="That is what arrives at `u` through the addition alone. Follow every path from `f`"
            " back to `u`.",
        ),
        Misconception(
            example=torch.tensor(15.0),
            when=same_as(lambda: _f()[2].detach()),
            message="That is the value of `f`. The gradient says how much `f` changes when `u` changes a"
            " little.",
        ),
        Misconception(
            example=10,
            when=same_as(lambda: _f()[0].detach() * _f()[1].detach()),
            message="That is the value of `u * v`. What a product hands back to a factor is the"
            " other factor.",
        ),
        Misconception(
            example=[5.0],
            when=same_as(lambda: _gradient(1)),
            message="That is the gradient of `f` by `v`. A product hands each factor the other one.",
        ),
    ),
    hints=(
        "Make u and v, compute f, and draw it with show(f). How many arrows end at u?",
        "Go back from `f` with a 1. The addition hands it to both sides, and the product multiplies it by the"
        " other factor. Add what arrives at `u`.",
    ),
    solution="""
u = torch.tensor(5.0, requires_grad=True)
v = torch.tensor(2.0, requires_grad=True)
(u * v + u).backward()
answer = u.grad
""",
    principle="the gradient of `f` by a leaf is the sum of all that arrives along its arrows.",
)


def _h() -> torch.Tensor:
    x, y, z = (torch.tensor(value, requires_grad=True) for value in (0.0, 2.0, 3.0))
    return (x * y).exp() + z


def _savers() -> list[str]:
    """Return the operations of h that hold a saved tensor, under the short names that the cards
    print bold.
    """
    found, waiting = [], [_h().grad_fn]
    while waiting:
        node = waiting.pop()
        if any(
            is_a(getattr(node, name), torch.Tensor)
            for name in dir(node)
            if name.startswith("_saved_")
        ):
            found.append(type(node).__name__.removesuffix("Backward0").lower())
        waiting += [below for below, _ in node.next_functions if below is not None]
    return found


CIRCLES = Exercise(
    id="00.2",
    reader=operations(),
    truth=_savers,
    right="These two keep a value that they need for their slope. The addition needs none.",
    misconceptions=(
        Misconception(
            example=["exp", "add", "mul"],
            when=lambda read: "add" in read,
            message="You counted the addition. Look at its card: is there a circle?",
        ),
        Misconception(
            example=["MulBackward0", "exp", "AccumulateGrad"],
            when=lambda read: LEAF in read,
            message="You counted a leaf. A blue pill receives a gradient, and saves nothing.",
        ),
        Misconception(
            example=["self", "other", "result"],
            when=lambda read: SAVED in read,
            message="You named what was saved. Name the operations that saved it: the bold words on"
            " their cards.",
        ),
        Misconception(
            example=["pow"],
            when=lambda read: bool(read - {"exp", "mul", "add"}),
            message="You named something that is not an operation of `h`. Draw `h` itself, and read the"
            " cards of that picture.",
        ),
        Misconception(
            example="mul",
            when={"mul"},
            message="You found an operation that saved its inputs. An operation may also save its"
            " result.",
        ),
        Misconception(
            example="ExpBackward0",
            when={"exp"},
            message="You found one card. Follow the arrows to the end: more than one card has a"
            " circle.",
        ),
        Misconception(
            example="none",
            when=set(),
            message="You name no operation. Look at the cards of h again: a line with a full"
            " circle is a saved tensor.",
        ),
    ),
    hints=(
        "show(h) draws it. A saved tensor is a line with a full circle inside a card.",
        'Take the bold word of each card that has such a line, such as "pow" in the picture of e.',
    ),
    solution='answer = ["exp", "mul"]  # show(h): the cards with a full circle',
    principle="an operation saves a value if its slope is computed from that value.",
)


def _trained(
    points: torch.Tensor,
    moon: torch.Tensor,
    steps: int = 100,
    sign: int = -1,
    is_emptied: bool = True,
) -> torch.Tensor:
    """Train as the program of the case does; with other arguments, as some get it wrong."""
    w = torch.zeros(2, 1, requires_grad=True)
    for _ in range(steps):
        ((torch.sigmoid(points @ w) - moon) ** 2).mean().backward()
        with torch.no_grad():
            w += sign * w.grad
        if is_emptied:
            w.grad = None
    return w


_BROKEN = """def answer(points, moon):
    w = torch.zeros(2, 1)
    for step in range(100):
        guess = torch.sigmoid(points @ w)
        loss = ((guess - moon) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= w.grad
        w.grad = None
    return w
"""
_MENDED = _BROKEN.replace("(2, 1)", "(2, 1, requires_grad=True)")

CASE = Exercise(
    id="00.4",
    reader=function(moons, partial(moons, 30), observe=lambda returned, *_: readable(returned)),
    truth=lambda: _trained,
    right="`w` asks for a gradient before the first operation runs, so there is a graph to go back through.",
    principle="`backward()` goes back through what was written down. If no leaf asks for a gradient,"
    " nothing is.",
    misconceptions=(
        Misconception(
            example=_BROKEN,
            when=lambda seen: raised(seen, "does not require grad"),
            message="In some step the loss still has no graph. Which tensor should ask for a gradient? And does it"
            " still ask in the second step?",
        ),
        Misconception(
            example=_BROKEN.replace(
                "loss.backward()", "loss.requires_grad_()\n        loss.backward()"
            ),
            when=lambda seen: raised(seen, "NoneType"),
            message="`w.grad` is None: no gradient reached `w`. A flag on the loss comes too late, for the operations"
            " before it have run, and nothing was written down.",
        ),
        Misconception(
            example=_MENDED.replace(
                "        with torch.no_grad():\n            w -=", "        w -="
            ),
            when=lambda seen: raised(seen, "leaf Variable that requires grad"),
            message="`w` asks for a gradient now, and torch protects it: without `torch.no_grad()` it does not let you"
            " change a leaf in place. That line was right.",
        ),
        Misconception(
            example=_MENDED.replace("        w.grad = None\n", ""),
            when=same_as(lambda: partial(_trained, is_emptied=False)),
            message="Nobody empties `w.grad`, so each step uses the gradients of all steps so far. (Lesson 06.) Leave"
            " that line in.",
        ),
        Misconception(
            example=_MENDED.replace("    return w", "        return w"),
            when=same_as(lambda: partial(_trained, steps=1)),
            message="You return after the first step. Move the `return` out of the loop.",
        ),
        Misconception(
            example="def answer(points, moon):\n    return torch.zeros(2, 1)",
            when=same_as(lambda: partial(_trained, steps=0)),
            message="Your `w` is where it began. Each step has to move it by its gradient.",
        ),
        Misconception(
            example=_MENDED.replace("w -=", "w +="),
            when=same_as(lambda: partial(_trained, sign=1)),
            message="You step along the gradient, which makes the loss larger. Subtract it, as the program did.",
        ),
        Misconception(
            example=_MENDED.replace("return w", "return loss"),
            when=lambda seen: all(is_a(one, float) for one in seen),
            message="You return a single number. Asked for is `w`, with its two.",
        ),
    ),
    hints=(
        "Draw `loss`: which leaf should be at its end, and is it there?",
        "`torch.zeros` takes `requires_grad=True`.",
    ),
    solution=_MENDED,
)


def _repaired(values: list[float]) -> torch.Tensor:
    x = torch.tensor(values, requires_grad=True)
    (x**2).sum().backward()
    return x.grad


_fresh = itertools.count(1)


def _watching(answer: object) -> object:
    """Wrap a function: it returns what `answer` returns, and whether autograd worked in it.

    That is looked for in a run of its own, on numbers that no run had before: what an answer once
    computed it may keep.
    """
    if is_a(answer, type) or not callable(answer):
        return answer  # the reader says what it wants

    def run(values: list[float]) -> tuple:
        returned = answer(values)
        seen = watched(lambda: answer([next(_fresh) / 8, 0.5]))
        return returned, seen.autograd or not seen.ended

    return run


def _as_seen(ended: tuple, values: list[float]) -> list:
    """See the gradient, and whether autograd computed something."""
    gradient, by_autograd = ended
    shown = readable(gradient)
    no_gradient = is_a(shown, str)  # then it does not matter what computed it
    return [shown, "by autograd" if by_autograd or no_gradient else "without autograd"]


_RUN = function(
    lambda: [1.0, 2.0, 3.0],
    lambda: [-0.5, 4.0],
    observe=_as_seen,
    parts=("what came back", "how it was computed"),
)


def _gave(compute: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[tuple], bool]:
    """Match the function that returns `compute(x)` in each case, however it came to it."""

    def matches(outcomes: tuple) -> bool:
        wanted = tuple(plain(compute(torch.tensor(case()))) for case in _RUN.cases)
        return same(tuple(gradient for gradient, _ in outcomes), wanted)

    return matches


BROKEN = "def answer(values):\n    x = torch.tensor(values)\n    loss = (x**2).sum()\n"
ASKED = "def answer(values):\n    x = torch.tensor(values, requires_grad=True)\n"
END = "    loss.backward()\n    return x.grad"

REPAIR = Exercise(  # asked by old copies of the lesson only
    id="00.3",
    reader=replace(_RUN, read=lambda answer: _RUN.read(_watching(answer))),
    truth=lambda: _repaired,
    right="The leaf asks for a gradient before the first operation, so there is a graph to walk.",
    misconceptions=(
        Misconception(
            example=BROKEN + "    loss.requires_grad_()\n" + END,
            when=lambda outcomes: all(gradient is None for gradient, _ in outcomes),
            message="Your function returns None: nothing filled the `.grad` that it hands out. Three"
            " things to ask. Is x a leaf with the flag, and not the result of an operation? Did"
            " backward() run to its end, or was its error caught? Does a way lead from loss back to"
            " x? (A flag that is set on loss afterwards makes none.)",
        ),
        Misconception(
            example=BROKEN + "    x.requires_grad_()\n" + END,
            when=lambda outcomes: raised(outcomes, "does not require grad"),
            message="It still ends in the same RuntimeError: there is no graph behind the tensor"
            " that backward() was called on. Either nothing that asks for a gradient went into it,"
            " or nothing was recorded, or the graph was cut off later. Ask of each line before"
            " backward() what it made.",
        ),
        Misconception(
            example=ASKED + "    return (x**2).sum()",
            when=_gave(lambda x: (x**2).sum()),
            message="You returned the loss, which is a value. Asked for is what backward() leaves"
            " in x.grad.",
        ),
        Misconception(
            example="def answer(values):\n    return torch.tensor([2.0, 4.0, 6.0])",
            when=lambda outcomes: is_a(outcomes[0][0], tuple) and outcomes[0][0] == outcomes[1][0],
            message="Your function returns the same numbers whatever list comes in. It has to work"
            " on the list that it is given.",
        ),
        Misconception(
            example="def answer(values):\n    return [2 * value for value in values]",
            when=_gave(lambda x: 2 * x),
            message="The numbers are right, and you worked them out by hand: autograd computed"
            " nothing while your function ran. Mend the function that is there, so that its"
            " backward() works.",
        ),
    ),
    hints=(
        "Read the last line of the error: which tensor does not require grad, and which one should?",
        "torch.tensor takes requires_grad=True, so x can ask before the first operation runs.",
    ),
    solution="""
def answer(values):
    x = torch.tensor(values, requires_grad=True)
    loss = (x ** 2).sum()
    loss.backward()
    return x.grad
""",
    principle="backward() walks what was recorded, and where no input asks for a gradient nothing"
    " is.",
)

EXERCISES = (BY_HAND, CIRCLES, REPAIR, CASE)
