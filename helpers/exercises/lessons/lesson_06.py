"""Exercises of lesson 06, accumulation: what is in `.grad`, who holds it, equal portions or not, a
loop repaired.
"""

import torch

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function
from helpers.exercises.readers import numbers
from helpers.untrusted.sandbox import Failed

_CALLS = """
x = torch.tensor(2.0, requires_grad=True)
(3 * x + 5 * x).backward()
(10 * x).backward()
p = x.grad.item()
x.grad.zero_()
(x**2).backward()
(2 * x).backward()
q = x.grad.item()
answer = [p, q]
"""


def _calls() -> list[float]:
    x = torch.tensor(2.0, requires_grad=True)
    (3 * x + 5 * x).backward()
    (10 * x).backward()
    p = x.grad.item()
    x.grad.zero_()
    (x**2).backward()
    (2 * x).backward()
    return [p, x.grad.item()]


CALLS = Exercise(
    id="06.1",
    reader=numbers(),
    truth=_calls,
    right="Two paths and two calls were added the same way, and after `zero_()` the adding began anew.",
    misconceptions=(
        Misconception(
            example=[10, 2],
            when=lambda seen: seen in ((10, 2), (10, 4)),
            message="You let each call write over the one before. `backward()` adds to what `.grad` holds.",
        ),
        Misconception(
            example=[15, 6],
            when=lambda seen: len(seen) == 2 and seen[0] in (13, 15),
            message="You took one of the two paths of the first call. `x` stands twice in that sum, and each use"
            " sends a gradient.",
        ),
        Misconception(
            example=[18, 24],
            when=lambda seen: len(seen) == 2 and seen[1] > 10,
            message="You went on adding as if nothing had been emptied. Look at the line between the two halves.",
        ),
        Misconception(
            example=[18, 8],
            when=lambda seen: len(seen) == 2 and seen[1] in (7, 8),
            message="Your second number counts values, or gradients at another place. What is the derivative of"
            " `x**2` where `x` is 2, and that of `2 * x`?",
        ),
        Misconception(
            example=[8, 4],
            when=lambda seen: seen == (8, 4),
            message="You stopped after the first call of each half. There is a second one, and it adds its gradient.",
        ),
    ),
    hints=(
        "Write down what each of the four `backward()` calls sends to `x`; the first call has two paths.",
        "`p` is the sum of what calls 1 and 2 sent; `q` is that of calls 3 and 4 alone.",
    ),
    solution=_CALLS,
)

_HOLDERS = """
x = torch.tensor(2.0, requires_grad=True)
(3 * x).backward()
g = x.grad
h = x.grad.clone()
(3 * x).backward()
x.grad = None
(5 * x).backward()
k = x.grad
x.grad.zero_()
answer = [g, h, k]
"""


def _holders() -> list[torch.Tensor]:
    x = torch.tensor(2.0, requires_grad=True)
    (3 * x).backward()
    g, h = x.grad, x.grad.clone()
    (3 * x).backward()
    x.grad = None
    (5 * x).backward()
    k = x.grad
    x.grad.zero_()
    return [g, h, k]


HOLDERS = Exercise(
    id="06.2",
    reader=numbers(),
    truth=_holders,
    right="`g` and `k` are names of tensors that backward or `zero_()` went on writing to; `h` is a copy.",
    misconceptions=(
        Misconception(
            example=[3, 3, 5],
            when=(3, 3, 5),
            message="You treat all three as notes of a number. Two of them are names for the tensor in `x.grad`, and"
            " what is written to that tensor they show too.",
        ),
        Misconception(
            example=[0, 3, 0],
            when=lambda seen: len(seen) == 3 and seen[0] in (0, 5, 11),
            message="You let `g` follow whatever `x.grad` is. After `x.grad = None` the next call puts a new tensor"
            " there: who still writes to the old one?",
        ),
        Misconception(
            example=[None, 3, 0],
            when=lambda seen: len(seen) == 3 and seen[0] is None,
            message="You think that `x.grad = None` empties the tensor. It only takes the name away: what `g` holds"
            " is still there.",
        ),
        Misconception(
            example=[3, 3, 0],
            when=lambda seen: len(seen) == 3 and seen[0] == 3 and seen[2] == 0,
            message="You are right about `zero_()`, which writes to the tensor that `k` names. Does the second"
            " `backward()` write to the one that `g` names, or make a new one?",
        ),
        Misconception(
            example=[6, 6, 0],
            when=lambda seen: len(seen) == 3 and seen[1] == 6,
            message="You let `h` change too. `clone()` made a tensor of its own, and backward does not know it.",
        ),
        Misconception(
            example=[6, 3, 5],
            when=lambda seen: len(seen) == 3 and seen[0] == 6 and seen[2] in (5, 11, None),
            message="You are right about `g`. Now read the last line again: on which tensor does it work in place?",
        ),
    ),
    hints=(
        "Draw boxes: one for each tensor that ever was in `x.grad`, and one for the clone. Who names which?",
        "The second `backward()` adds in place; `= None` lets go of a box; `zero_()` empties the box that is there.",
    ),
    solution=_HOLDERS,
)


def _with_walks(
    old: float | None, *portions: list[float]
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Make a weight that notes each visit of a gradient, and samples in portions; `old` is in its
    `.grad`.
    """
    weight = torch.tensor(3.0, requires_grad=True)
    weight.grad = None if old is None else torch.tensor(old)
    weight.visits = []
    weight.register_post_accumulate_grad_hook(lambda tensor: tensor.visits.append(1))
    return weight, [torch.tensor(portion) for portion in portions]


def _equal() -> tuple[torch.Tensor, list[torch.Tensor]]:
    return _with_walks(None, [1.0, 2.0], [3.0, 4.0])


def _unequal() -> tuple[torch.Tensor, list[torch.Tensor]]:
    return _with_walks(100.0, [1.0, 2.0, 3.0], [4.0, 5.0], [10.0])


def _in_portions(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    weight.grad = None
    for part in portions:
        loss = ((weight * part) ** 2).mean() * len(part)
        (loss / sum(map(len, portions))).backward()


def _summed_up(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    weight.grad = None
    for part in portions:
        ((weight * part) ** 2).mean().backward()


def _naive(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    for part in portions:
        ((weight * part) ** 2).mean().backward()


def _undivided(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    weight.grad = None
    for part in portions:
        ((weight * part) ** 2).sum().backward()


def _by_number(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    weight.grad = None
    for part in portions:
        (((weight * part) ** 2).mean() / len(portions)).backward()


def _on_top(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    for part in portions:
        loss = ((weight * part) ** 2).mean() * len(part)
        (loss / sum(map(len, portions))).backward()


def _last_only(weight: torch.Tensor, portions: list[torch.Tensor]) -> None:
    for part in portions:
        weight.grad = None
        (((weight * part) ** 2).sum() / sum(map(len, portions))).backward()


def _grad_and_visits(
    returned: object, weight: torch.Tensor, portions: list[torch.Tensor]
) -> object:
    """See what is in `.grad`, and how often a gradient came; what the function returns does not
    matter.
    """
    return "no gradient" if weight.grad is None else [weight.grad, len(weight.visits)]


def _no_visit(seen: tuple) -> bool:
    return all(one == "no gradient" or (isinstance(one, tuple) and one[1] == 0) for one in seen)


def _all_at_once(seen: tuple) -> bool:
    return all(isinstance(one, tuple) and one[1] == 1 for one in seen)


_BATCH = """
def answer(w, portions):
    w.grad = None
    (((w * torch.cat(portions)) ** 2).mean()).backward()
"""

PORTIONS = Exercise(
    id="06.3",
    reader=function(_equal, _unequal, observe=_grad_and_visits),
    truth=lambda: _in_portions,
    right="Each sample counted once with the same weight, so the sum is the gradient of the mean over all.",
    misconceptions=(
        Misconception(
            example="def answer(w, portions):\n    return sum(((w * part) ** 2).mean() for part in portions)",
            when=_no_visit,
            message="No gradient arrived at the `w` that went in. Call `backward()` on a loss that is made of it, once"
            " for each portion.",
        ),
        Misconception(
            example=_BATCH,
            when=_all_at_once,
            message="You called `backward()` once for everything. Then all samples must be in memory together, which"
            " portions are meant to avoid: call it once for each portion.",
        ),
        Misconception(
            example="def answer(w, portions):\n    w.grad = None\n    for part in portions:\n"
            "        ((w * part) ** 2).mean().backward()",
            when=same_as(lambda: _summed_up),
            message="You added the means of the portions. A sum of means is larger than the mean over all: each"
            " portion has to be scaled before its `backward()`.",
        ),
        Misconception(
            example="def answer(w, portions):\n    for part in portions:\n        ((w * part) ** 2).mean().backward()",
            when=same_as(lambda: _naive),
            message="Two things are missing. What an earlier step left in `w.grad` is still in your sum; and you added"
            " the means of the portions, which is more than the mean over all.",
        ),
        Misconception(
            example="def answer(w, portions):\n    w.grad = None\n    for part in portions:\n"
            "        ((w * part) ** 2).sum().backward()",
            when=same_as(lambda: _undivided),
            message="Each sample counts the same: good. You have the gradient of a sum over all samples, though, and"
            " the loss is their mean.",
        ),
        Misconception(
            example="def answer(w, portions):\n    w.grad.zero_()\n    for part in portions:\n"
            "        ((w * part) ** 2).mean().backward()",
            when=lambda seen: isinstance(seen[0], Failed) and "zero_" in seen[0].text,
            message="`zero_()` needs a tensor to write to. In the first of my cases `w.grad` is still None: empty it in"
            " the way that always works.",
        ),
        Misconception(
            example="def answer(w, portions):\n    w.grad = None\n    for part in portions:\n"
            "        (((w * part) ** 2).mean() / len(portions)).backward()",
            when=same_as(lambda: _by_number),
            message="You divided by the number of portions. That is right while they are equal; where they differ, a"
            " sample in a small portion counts too much.",
        ),
        Misconception(
            example="def answer(w, portions):\n    count = sum(len(part) for part in portions)\n"
            "    for part in portions:\n        (((w * part) ** 2).sum() / count).backward()",
            when=same_as(lambda: _on_top),
            message="Your scaling is right. A gradient of an earlier step is still in `w.grad`, and yours was added"
            " to it.",
        ),
        Misconception(
            example="def answer(w, portions):\n    count = sum(len(part) for part in portions)\n"
            "    for part in portions:\n        w.grad = None\n        (((w * part) ** 2).sum() / count).backward()",
            when=same_as(lambda: _last_only),
            message="You empty `w.grad` in every round, so only the last portion is left. Empty it once, before"
            " the first.",
        ),
    ),
    hints=(
        "Empty `w.grad` once, then loop. The mean of a portion is its sum divided by `len(part)`; what should the"
        " sum be divided by?",
        "Count all samples first: `count = sum(len(part) for part in portions)`. Then one `backward()` for each"
        " portion, on its sum divided by `count`.",
    ),
    solution="""
def answer(w, portions):
    count = sum(len(part) for part in portions)
    w.grad = None
    for part in portions:
        (((w * part) ** 2).sum() / count).backward()
""",
)


def _start() -> torch.Tensor:
    return torch.tensor(1.0, requires_grad=True)


def _second_start() -> torch.Tensor:
    return torch.tensor(5.0, requires_grad=True)


def _train(w: torch.Tensor) -> torch.Tensor:
    for _ in range(10):
        w.grad = None
        ((w - 2) ** 2).backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
    return w


def _never_emptied(w: torch.Tensor) -> torch.Tensor:
    for _ in range(10):
        ((w - 2) ** 2).backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
    return w


def _same_and_value(returned: object, w: torch.Tensor) -> object:
    """See whether the weight that came in was trained, and how far it got."""
    if not isinstance(returned, torch.Tensor):
        return returned
    return ["the same tensor" if returned is w else "another tensor", returned.detach()]


TRAIN = Exercise(
    id="06.4",
    reader=function(_start, _second_start, observe=_same_and_value),
    truth=lambda: _train,
    right="The leaf itself moved, and each round saw only its own gradient.",
    misconceptions=(
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        w.grad = None\n"
            "        ((w - 2) ** 2).backward()\n        with torch.no_grad():\n            w -= 0.25 * w.grad",
            when=lambda seen: seen == (None, None),
            message="Your function returns nothing: hand the weight back with `return w`.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        w = w - 0.25 * w.grad\n    return w",
            when=lambda seen: isinstance(seen[0], Failed) and "operand" in seen[0].text,
            message="In some round `w.grad` is None when the update reads it. Either `w` is no longer the leaf, because"
            " a new tensor took its name, or `.grad` was emptied between `backward()` and the update.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        w.grad.zero_()\n"
            "        ((w - 2) ** 2).backward()\n        with torch.no_grad():\n            w -= 0.25 * w.grad\n"
            "    return w",
            when=lambda seen: isinstance(seen[0], Failed) and "zero_" in seen[0].text,
            message="`zero_()` met None. Either no backward has run yet, or `w` is no longer the leaf, because a new"
            " tensor took its name.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        with torch.no_grad():\n            w = w - 0.25 * w.grad\n    return w",
            when=lambda seen: (
                isinstance(seen[0], Failed) and "does not require grad" in seen[0].text
            ),
            message="A loss was not recorded, so `backward()` has nothing to walk. Either the whole loop stands inside"
            " `no_grad()`, or `=` gave the name `w` to a new tensor made in that block.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        w -= 0.25 * w.grad\n    return w",
            when=lambda seen: isinstance(seen[0], Failed) and "leaf" in seen[0].text,
            message="You edit the leaf in place while autograd records, and it refuses. An update is no part of the"
            " graph: say so with a block around it.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        w = (w - 0.25 * w.grad).detach().requires_grad_()\n    return w",
            when=lambda seen: isinstance(seen[0], tuple) and seen[0][0] == "another tensor",
            message="The tensor that you return is not the one that came in. The numbers may be right, and whoever"
            " else holds the weight, a model or an optimizer, still has the old one: change it in place.",
        ),
        Misconception(
            example="def answer(w):\n    for _ in range(10):\n        ((w - 2) ** 2).backward()\n"
            "        with torch.no_grad():\n            w -= 0.25 * w.grad\n    return w",
            when=same_as(lambda: _never_emptied),
            message="The leaf is updated, and it swings about its goal: every round still adds to the gradients of"
            " all rounds before.",
        ),
    ),
    hints=(
        "There are two faults: one in the line of the update, and one line that is missing.",
        "Update with `w -= ...` inside `with torch.no_grad():`, and set `w.grad = None` once in each round, after the"
        " update or before `backward()`.",
    ),
    solution="""
def answer(w):
    for _ in range(10):
        w.grad = None
        loss = (w - 2) ** 2
        loss.backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
    return w
""",
)

EXERCISES = (CALLS, HOLDERS, PORTIONS, TRAIN)
