"""Exercises of lesson 07, retain_graph: what a failed call leaves, who keeps a node, states, and
shared trunks.
"""

import contextlib
import weakref
from collections.abc import Callable
from functools import partial

import torch

from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.untrusted.plain import is_a
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, numbers
from helpers.exercises.tensors import counted, readable
from helpers.exercises.values import same

_tensor, _tanh, _grad = torch.tensor, torch.tanh, torch.autograd.grad  # as they are now
_IN_TUPLE = "in a tuple"


def _half_walked() -> list[torch.Tensor]:
    a, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    loss = a * a + (b + 1)
    loss.backward()
    with contextlib.suppress(RuntimeError):
        loss.backward()
    return [a.grad, b.grad]


HALF_WALKED = Exercise(
    id="07.1",
    reader=numbers(),
    truth=_half_walked,
    right="The walk takes the latest operation first: `b + 1` missed nothing and was done before `a * a` raised.",
    principle="what a walk has added to `.grad` stays there, also when the walk raises at a later node.",
    misconceptions=(
        Misconception(
            example=[4.0, 1.0],
            when=[4.0, 1.0],
            message="You think that a call which raises changes nothing. Nobody takes back what the walk had added"
            " before it came to the node that raised.",
        ),
        Misconception(
            example="8, 2",
            when=[8.0, 2.0],
            message="You let both paths through in the second call. One of the two nodes needed values again,"
            " and they were freed.",
        ),
        Misconception(
            example=(8, 1),
            when=[8.0, 1.0],
            message="You let the other path through. Ask which of the two nodes had saved something.",
        ),
        Misconception(
            example=[2, 4],
            when=[2.0, 4.0],
            message="The order counts: `a.grad` first, then `b.grad`.",
        ),
        Misconception(
            example=[2, 1],
            when=lambda seen: len(seen) == 2 and seen[0] == 2,
            message="You counted one of the two uses of `a`. Both factors are `a`, and their gradients are added.",
        ),
        Misconception(
            example=[None, None],
            when=lambda seen: None in seen,
            message="An error empties no `.grad`. The first call ran to its end, and what it added stays.",
        ),
        Misconception(
            example=[0, 1],
            when=lambda seen: len(seen) == 2 and 0 in seen,
            message="The first call ran to its end, and neither of its two gradients is zero. Nothing took away what it"
            " added.",
        ),
        Misconception(
            example=[4, 3],
            when=lambda seen: len(seen) == 2 and seen[0] == 4,
            message="You are right about `a.grad`. For `b`, write down what `b + 1` sends in one walk, and how many"
            " walks came as far as that.",
        ),
        Misconception(
            example=[6, 2],
            when=lambda seen: len(seen) == 2 and seen[1] == 2,
            message="You are right about `b.grad`. For `a`, write down what `a * a` sends in one walk, and whether the"
            " second walk could.",
        ),
    ),
    hints=(
        "Two questions for each of the two paths: did its node save a tensor? Was it made first or last?",
        "Backward takes the latest operation first, and a leaf's gradient is added as soon as it is complete.",
    ),
    solution="""
import contextlib
a, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
loss = a * a + (b + 1)
loss.backward()
with contextlib.suppress(RuntimeError):
    loss.backward()
answer = [a.grad, b.grad]
""",
)

_LINES = {
    "p": lambda loss, w: loss * 0.9,
    "q": lambda loss, w: loss.item(),
    "r": lambda loss, w: [loss],
    "s": lambda loss, w: loss.detach(),
    "t": lambda loss, w: w.grad,
    "u": lambda loss, w: max(0.0, loss),
}


def _is_kept(line: str) -> bool:
    """Tell whether the node of `w.exp()` outlives `del loss`, by a mark that lives as long as the
    node.
    """
    w = torch.tensor(2.0, requires_grad=True)
    loss = w.exp()
    loss.backward()
    loss.grad_fn.metadata["mark"] = mark = torch.empty(0)
    alive = weakref.ref(mark)
    result = _LINES[line](loss, w)
    del loss, mark
    return alive() is not None and result is not None


def _kept() -> list[str]:
    return [line for line in _LINES if _is_kept(line)]


KEEPERS = Exercise(
    id="07.2",
    reader=letters("pqrstu"),
    truth=_kept,
    right="Each of them is, or holds, a tensor whose `grad_fn` leads to that node.",
    misconceptions=(),
    letters=Letters(
        read="idea 6, and the picture of `total`",
        about=(
            ("p", "The product has a node of its own: which edges does that node have?"),
            ("q", "What kind of object does `item()` hand back?"),
            ("r", "Does a list hold the tensors themselves, or their numbers?"),
            ("s", "What is the `grad_fn` of a detached tensor?"),
            ("t", "What is the `grad_fn` of a gradient that a plain `backward()` left?"),
            ("u", "Which object does Python's `max` hand back, and of which kind is it?"),
        ),
    ),
    hints=(
        "For each name ask: is there a tensor in it, and does that tensor have a `grad_fn`?",
        "Run the line and look: `u is loss`, `s.grad_fn`, `t.grad_fn`.",
    ),
    solution="""
w = torch.tensor(2.0, requires_grad=True)
loss = w.exp()
loss.backward()
lines = {"p": loss * 0.9, "q": loss.item(), "r": [loss], "s": loss.detach(), "t": w.grad, "u": max(0.0, loss)}
inside = {name: value[0] if name == "r" else value for name, value in lines.items()}
answer = [name for name, value in inside.items() if torch.is_tensor(value) and value.grad_fn]
""",
)


def _own_steps(w: torch.Tensor, inputs: list[float]) -> None:
    h = _tensor(1.0)
    for x in inputs:
        h = _tanh(w * h.detach() + x)
        h.backward()


def _all_steps(w: torch.Tensor, inputs: list[float]) -> None:
    h = _tensor(1.0)
    for x in inputs:
        h = _tanh(w * h + x)
        h.backward(retain_graph=True)


def _forgetful(w: torch.Tensor, inputs: list[float]) -> None:
    for x in inputs:
        _tanh(w * _tensor(1.0) + x).backward()


def _last_step(w: torch.Tensor, inputs: list[float]) -> None:
    h = _tensor(1.0)
    for x in inputs:
        h = _tanh(w * h + x)
    h.backward()


def _emptied(w: torch.Tensor, inputs: list[float]) -> None:
    h = _tensor(1.0)
    for x in inputs:
        w.grad = None
        h = _tanh(w * h.detach() + x)
        h.backward()


def _but_last(w: torch.Tensor, inputs: list[float]) -> None:
    _own_steps(w, inputs[:-1])


def _state(weight: float, *inputs: float) -> tuple[torch.Tensor, list[float]]:
    w = counted(weight)
    w.start, w.inputs = weight, inputs
    return w, list(inputs)


def _filled(returned: object, w: torch.Tensor, inputs: list[float]) -> object:
    """See what is in `.grad`, whether a walk brought it, how the first step went, and what became
    of `w`.
    """
    gradient = readable(w.grad)
    kept = same(readable(w), w.start) and w.requires_grad
    return [
        gradient,
        "by a walk" if w.arrived else "by no walk",
        "as it was" if kept else "changed",
        "of the first step" if _begins(gradient, w) else "of something else",
    ]


def _begins(gradient: object, w: torch.Tensor) -> bool:
    """Tell whether the first gradient that came is that of the first step; True as well where
    `.grad` is right, or the walks are not one a step.
    """
    if len(w.arrived) != len(w.inputs) or same(gradient, _right_grad(w.start, w.inputs)):
        return True
    return same(readable(w.arrived[0]), _right_grad(w.start, w.inputs[:1]))


def _right_grad(weight: float, inputs: tuple[float, ...]) -> object:
    w = _tensor(weight, requires_grad=True)
    _own_steps(w, inputs)
    return readable(w.grad)


def _weight(value: float) -> torch.Tensor:
    return torch.tensor(value, requires_grad=True)


def _saw(seen: tuple, at: int, word: object) -> bool:
    """Tell whether each case was seen, with this in this place."""
    return all(is_a(case, tuple) and case[at] == word for case in seen)


_BY_HAND = """
import math
def answer(w, inputs):
    h, gradient = 1.0, 0.0
    for x in inputs:
        new = math.tanh(w.item() * h + x)
        gradient, h = gradient + (1 - new**2) * h, new
    w.grad = torch.tensor(gradient)
"""
STATES = ((0.5, 0.1, 0.2, 0.3), (-2.0, 0.5, 0.1, -0.2, 0.3), (1.5, -0.7, 0.4))

STATE = Exercise(
    id="07.3",
    reader=function(
        *(partial(_state, *numbers) for numbers in STATES),
        observe=_filled,
        parts=("`w.grad`", "it came", "`w` itself", "the first gradient"),
    ),
    truth=lambda: _own_steps,
    right="Each walk ends at its own step, and the numbers of the state went on.",
    principle="`backward()` walks the history that its tensor has when it is called; `detach()` hands on the value"
    " without it.",
    misconceptions=(
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x)\n        h.backward()",
            when=lambda seen: raised(seen, "a second time"),
            message="A walk came to a node whose saved tensors an earlier walk had freed. Either a step's `h` is"
            " computed from the old one with its history, or one graph was walked twice.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x).detach()\n        h.backward()",
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="When your `backward()` ran, no node was there to walk to: the graph was cut off before that, or"
            " nothing was recorded.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h.detach() + x)\n        h.backward()\n"
            "        with torch.no_grad():\n            w -= 0.1 * w.grad",
            when=lambda seen: any(is_a(case, tuple) and case[2] == "changed" for case in seen),
            message="Your function leaves `w` itself changed, its number or its flag. Only `w.grad` is to be filled; no"
            " step is asked for.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x)\n        h.backward(retain_graph=True)",
            when=same_as(lambda: _all_steps),
            message="It runs, but the gradient of each step goes on through all the steps before it. Here it shall"
            " end at its own.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    for x in inputs:\n        h = torch.tensor(1.0)\n"
            "        h = torch.tanh(w * h + x)\n        h.backward()",
            when=same_as(lambda: _forgetful),
            message="You dropped the values of the state with its history: every step begins at the first state again.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x)\n    h.backward()",
            when=same_as(lambda: _last_step),
            message="You moved `backward()` behind the loop: one walk, from the last state through all the steps. Here"
            " each step has a walk of its own.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n        w.grad = None\n"
            "        h = torch.tanh(w * h.detach() + x)\n        h.backward()",
            when=same_as(lambda: _emptied),
            message="In `w.grad` is what the last step sent, and nothing of the steps before it. Here they add up.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs[:-1]:\n"
            "        h = torch.tanh(w * h.detach() + x)\n        h.backward()",
            when=same_as(lambda: _but_last),
            message="Your `w.grad` has the gradients of all the steps but the last. Each step has its `backward()`.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w.detach() * h + x)",
            when=lambda seen: _saw(seen, 0, None),
            message="After your function `w.grad` is None. Each step needs its `backward()`, and what these add has to"
            " stay.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h.detach() + x)\n        h.backward()\n        w.grad.zero_()",
            when=lambda seen: _saw(seen, 0, 0.0) and _saw(seen, 1, "by a walk"),
            message="Gradients came, and at the end `w.grad` is zero: what they added was taken away again. Here they"
            " add up, and stay.",
        ),
        Misconception(
            example=_BY_HAND,
            when=lambda seen: (
                _saw(seen, 1, "by no walk")
                and same(
                    tuple(case[0] for case in seen),
                    tuple(_right_grad(weight, inputs) for weight, *inputs in STATES),
                )
            ),
            message="The number in `w.grad` is right, but no gradient came to the `w` that went in. The line"
            " `h.backward()` is to stay, and to run.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.sigmoid(w * h.detach() + x)\n        h.backward()",
            when=lambda seen: _saw(seen, 3, "of something else"),
            message="Already the first gradient that came to `w` is not that of the first step. The first state and the"
            " line `torch.tanh(w * h + x)` are to stay as they are.",
        ),
    ),
    hints=(
        "The line `h.backward()` is right. What does the next step need of `h`: its value, its history, or both?",
        "After `h.backward()`, go on with a tensor that has the same value and no `grad_fn`.",
    ),
    solution="""
def answer(w, inputs):
    h = torch.tensor(1.0)
    for x in inputs:
        h = torch.tanh(w * h + x)
        h.backward()
        h = h.detach()
""",
)


class _Losses(list):
    """Be the list of losses, and know the node of their trunk, and `w` as it was: a student may empty the list, or
    fill it anew.
    """

    def __init__(self, w: torch.Tensor, trunk: torch.Tensor, losses: list[torch.Tensor]) -> None:
        super().__init__(losses)
        self.trunk = trunk.grad_fn
        self.start = readable(w)


@written("h = w.exp(), then [h * 3, h.sin(), h * h], and w = torch.tensor(0.5, requires_grad=True)")
def _scalar_trunk() -> tuple[list[torch.Tensor], torch.Tensor]:
    w = _weight(0.5)
    h = w.exp()
    return _Losses(w, h, [h * 3, h.sin(), h * h]), w


@written(
    "h = w.exp(), then [h.sum(), h.prod()], and w = torch.tensor([0.1, 0.2], requires_grad=True),"
    " w.grad = torch.tensor([2.0, 5.0])"
)
def _vector_trunk() -> tuple[list[torch.Tensor], torch.Tensor]:
    w = torch.tensor([0.1, 0.2], requires_grad=True)
    h = w.exp()
    w.grad = torch.tensor([2.0, 5.0])
    return _Losses(w, h, [h.sum(), h.prod()]), w


def _apart(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    *others, last = losses
    rows = [_grad(loss, w, retain_graph=True)[0] for loss in others]
    return [*rows, _grad(last, w)[0]]


def _all_kept(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    return [_grad(loss, w, retain_graph=True)[0] for loss in losses]


def _reversed(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    return _apart(losses, w)[::-1]


def _of_the_sum(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    return [_grad(sum(losses), w)[0]]


def _of_the_sum_each(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    return len(losses) * _of_the_sum(losses, w)


def _rows_and_trunk(returned: object, losses: _Losses, w: torch.Tensor) -> object:
    """See what came back, what stands in `w.grad`, in one word whether the trunk still holds what
    it saved, and whether `w` is as it was.
    """
    states = {one.state for one in saved(losses.trunk, lambda tensor: ())}
    kept = readable(w) == losses.start
    return [
        _rows(returned, w),
        readable(w.grad),
        "freed" if states == {"freed"} else "held",
        "as it was" if kept else "changed",
    ]


def _rows(returned: object, w: torch.Tensor) -> object:
    """Return the rows that came back; one that is a tuple of gradients stands behind a word for
    that.
    """
    if not is_a(returned, list, tuple):
        return readable(returned)
    return [[_IN_TUPLE, readable(row)] if _holds(row, w) else readable(row) for row in returned]


def _holds(row: object, w: torch.Tensor) -> bool:
    """Tell whether a row is a tuple or list of tensors that have as many dimensions as `w`."""
    if not is_a(row, tuple, list):
        return False
    with torch._C.DisableTorchFunctionSubclass():
        return any(is_a(each, torch.Tensor) and each.dim() == w.dim() for each in row)


def _fine(case: object) -> bool:
    return is_a(case, tuple) and len(case) == 4


def _each(seen: tuple, test: Callable) -> bool:
    """Tell whether the rows of each case are a list that passes the test."""
    return all(_fine(case) and is_a(case[0], tuple) and test(case[0]) for case in seen)


def _are_fewer(seen: tuple) -> bool:
    """Tell whether fewer gradients than losses came back, each of them a number for a number `w`."""
    (scalars, *_), (vectors, *_) = seen
    if any(is_a(row, tuple) for row in scalars):
        return False
    return len(scalars) < 3 and len(vectors) < 2


def _in_tuples(rows: tuple) -> bool:
    return len(rows) > 1 and all(is_a(row, tuple) and row[:1] == (_IN_TUPLE,) for row in rows)


APART = Exercise(
    id="07.4",
    reader=function(
        _scalar_trunk,
        _vector_trunk,
        observe=_rows_and_trunk,
        parts=("gradients", "`w.grad`", "what the trunk had saved", "`w` itself"),
    ),
    truth=lambda: _apart,
    right="The trunk was kept for every walk but the last, and `w.grad` was left alone.",
    principle="a walk frees the saved tensors that it passes, unless the graph is retained.",
    misconceptions=(
        Misconception(
            example="def answer(losses, w):\n    return [torch.autograd.grad(loss, w)[0] for loss in losses]",
            when=lambda seen: raised(seen, "a second time"),
            message="One walk freed saved tensors, and a later one asked for them: it came by the same nodes.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return [torch.autograd.grad(w, loss)[0] for loss in losses]",
            when=lambda seen: raised(seen, "appears to not have been used in the graph"),
            message="`torch.autograd.grad(a, b)` gives the gradient of `a` with respect to `b`. What you gave second has"
            " no part in the graph of what you gave first.",
        ),
        Misconception(
            example="def answer(losses, w):\n    rows = []\n    for loss in losses:\n"
            "        loss.backward(retain_graph=loss is not losses[-1])\n        rows.append(w.grad)\n    return rows",
            when=lambda seen: (
                all(map(_fine, seen)) and [case[1] for case in seen] != [None, (2.0, 5.0)]
            ),
            message="`w.grad` is not as it was before your function, and it is to stay so. `backward()` adds to it;"
            " another function hands gradients back, and leaves it alone.",
        ),
        Misconception(
            example="def answer(losses, w):\n    rows = [torch.autograd.grad(loss, w, retain_graph=loss is not"
            " losses[-1])[0] for loss in losses]\n    with torch.no_grad():\n        w -= rows[0]\n    return rows",
            when=lambda seen: any(_fine(case) and case[3] == "changed" for case in seen),
            message="Your function changed the numbers of `w` itself. Only its gradients are asked for.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return list(torch.autograd.grad(sum(losses), w))",
            when=same_as(lambda: _of_the_sum),
            message="You give one gradient, that of the sum. It is the cheapest walk, but here they are wanted apart.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return len(losses) * list(torch.autograd.grad(sum(losses), w))",
            when=same_as(lambda: _of_the_sum_each),
            message="Each of your gradients is that of the sum of all losses. Here each loss has one of its own.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return [torch.autograd.grad(loss, w, retain_graph=True)"
            " for loss in losses]",
            when=lambda seen: _each(seen, _in_tuples),
            message="Your list holds tuples: `torch.autograd.grad` gives one gradient for each input, in a tuple.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return [loss.grad for loss in losses]",
            when=lambda seen: _each(seen, lambda rows: len(rows) > 1 and set(rows) == {None}),
            message="Your gradients are None. A loss that is no leaf keeps no `.grad`, and `backward()` returns nothing:"
            " there is a function that hands gradients back.",
        ),
        Misconception(
            example="def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses[:-1]]",
            when=lambda seen: _each(seen, lambda rows: True) and _are_fewer(seen),
            message="You hand back fewer gradients than there are losses. The list is to have one for each.",
        ),
        Misconception(
            example="def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=loss is not losses[0])[0] for loss in losses[::-1]]",
            when=same_as(lambda: _reversed),
            message="All the gradients are there, in another order than the losses. The first belongs to the first loss.",
        ),
        Misconception(
            example="def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses]",
            when=same_as(lambda: _all_kept),
            message="The gradients can be had so, but afterwards the trunk still holds its saved tensor: nobody told"
            " any walk that it was the last.",
        ),
    ),
    hints=(
        "`torch.autograd.grad(loss, w)` returns gradients and leaves `.grad` alone. It takes `retain_graph`, too.",
        "`retain_graph=True` for every loss but the last one in the list.",
    ),
    solution="""
def answer(losses, w):
    rows = []
    for number, loss in enumerate(losses, start=1):
        (row,) = torch.autograd.grad(loss, w, retain_graph=number < len(losses))
        rows.append(row)
    return rows
""",
)

EXERCISES = (HALF_WALKED, KEEPERS, STATE, APART)
