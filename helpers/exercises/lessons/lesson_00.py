"""Exercises of lesson 00, start here: a gradient by hand, reading a picture, repairing a first
error.
"""

import torch

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function
from helpers.exercises.readers import names, number
from helpers.untrusted.plain import is_a
from helpers.untrusted.sandbox import Failed


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
    right="Two arrows end at u, and what arrives along them is added.",
    misconceptions=(
        Misconception(
            example=2.0,
            when=same_as(lambda: _f()[1].detach()),
            message="You followed u through the product and stopped. Every way from f back to u counts.",
        ),
        Misconception(
            example="1",
            when=1.0,
            message="You followed u through the addition alone. Every way from f back to u counts.",
        ),
        Misconception(
            example=torch.tensor(15.0),
            when=same_as(lambda: _f()[2].detach()),
            message="That is the value of f. The gradient says how much f moves when u moves by a little.",
        ),
        Misconception(
            example=[5.0],
            when=same_as(lambda: _gradient(1)),
            message="That is the gradient of f with respect to v. A product hands each factor the other one.",
        ),
    ),
    hints=(
        "Make u and v, compute f, and draw it with show(f). How many arrows end at u?",
        "Walk back from f with 1.0. The addition hands it on to both sides; the product multiplies it by the"
        " other factor. Add what arrives at u.",
    ),
    solution="""
u = torch.tensor(5.0, requires_grad=True)
v = torch.tensor(2.0, requires_grad=True)
(u * v + u).backward()
answer = u.grad
""",
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


def _short(read: frozenset) -> set[str]:
    """Return the words without the faint part of a card: MulBackward0, mul and * are one operation."""
    spoken = {
        "*": "mul",
        "+": "add",
        "product": "mul",
        "addition": "add",
        "multiply": "mul",
        "exponential": "exp",
    }
    plain = (word.removesuffix("0").removesuffix("backward") for word in read)
    return {spoken.get(word, word) for word in plain}


CIRCLES = Exercise(
    id="00.2",
    reader=names(),
    judge=lambda read: _short(read) == set(_savers()),
    right="These two keep a value that their derivative needs; the third needs none.",
    misconceptions=(
        Misconception(
            example=["exp", "add", "mul"],
            when=lambda read: "add" in _short(read),
            message="You counted the addition. Look for a circle on its card: what would it need a value for?",
        ),
        Misconception(
            example=["MulBackward0", "exp", "AccumulateGrad"],
            when=lambda read: bool(_short(read) & {"x", "y", "z", "accumulategrad", "leaf"}),
            message="You counted a leaf. A blue pill receives a gradient; it saves nothing for backward.",
        ),
        Misconception(
            example=["pow"],
            when=lambda read: bool(_short(read) - {"exp", "mul", "add"}),
            message="You named something that is no operation of h. Draw h itself, and read the cards of that picture.",
        ),
        Misconception(
            example="mul",
            when=lambda read: _short(read) == {"mul"},
            message="You looked for saved inputs only. An operation may save its own output as well.",
        ),
        Misconception(
            example="ExpBackward0",
            when=lambda read: _short(read) == {"exp"},
            message="You found one card. Follow the arrows to the end: more than one card has a circle.",
        ),
    ),
    hints=(
        "show(h) draws it. A saved tensor is a line with a full circle inside a card.",
        'Take the bold word of each card that has such a line, such as "pow" in the picture of e.',
    ),
    solution='answer = ["exp", "mul"]  # show(h): the cards with a full circle',
)


def _repaired(values: list[float]) -> torch.Tensor:
    x = torch.tensor(values, requires_grad=True)
    (x**2).sum().backward()
    return x.grad


def _no_graph(outcome: object) -> bool:
    return is_a(outcome, Failed) and "does not require grad" in str(outcome)


BROKEN = "def answer(values):\n    x = torch.tensor(values)\n    loss = (x**2).sum()\n"

REPAIR = Exercise(
    id="00.3",
    reader=function(lambda: [1.0, 2.0, 3.0], lambda: [-0.5, 4.0]),
    truth=lambda: _repaired,
    right="The leaf asks for a gradient before the first operation, so there is a graph to walk.",
    misconceptions=(
        Misconception(
            example=BROKEN + "    loss.requires_grad_()\n    loss.backward()\n    return x.grad",
            when=lambda outcomes: set(outcomes) == {None},
            message="The error is gone, and so is the gradient: your function returns None. If loss alone was asked,"
            " only its flag is new: it was a leaf before, with no way back to x. If not: does backward() run, and does"
            " return hand out x.grad?",
        ),
        Misconception(
            example=BROKEN + "    x.requires_grad_()\n    loss.backward()\n    return x.grad",
            when=lambda outcomes: any(_no_graph(outcome) for outcome in outcomes),
            message="It still ends in the same RuntimeError: x was not asked for a gradient, or asked too late. A graph"
            " is recorded while an operation runs.",
        ),
        Misconception(
            example="def answer(values):\n    x = torch.tensor(values, requires_grad=True)\n    return (x**2).sum()",
            when=same_as(lambda: lambda values: (torch.tensor(values) ** 2).sum()),
            message="You returned the loss, which is a value. Asked for is what backward() leaves in x.grad.",
        ),
        Misconception(
            example=BROKEN + "    return torch.ones_like(x)",
            when=same_as(lambda: lambda values: torch.ones(len(values))),
            message="You returned ones, which is what a plain sum would give. Here x is squared first.",
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
)

EXERCISES = (BY_HAND, CIRCLES, REPAIR)
