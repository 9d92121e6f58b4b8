"""Exercises of lesson 07, retain_graph: what a failed call leaves, who keeps a node, states, and
shared trunks.
"""

import contextlib
import weakref

import torch

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised
from helpers.exercises.readers import names, numbers
from helpers.looking.saved_tensors import saved
from helpers.untrusted.plain import is_a


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
            example=[2, 1],
            when=lambda seen: len(seen) == 2 and seen[0] == 2,
            message="You counted one of the two uses of `a`. Both factors are `a`, and their gradients are added.",
        ),
        Misconception(
            example=[None, None],
            when=lambda seen: None in seen,
            message="You think that an error empties `.grad`. The first call ran to its end, and what it added stays.",
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
    reader=names(),
    truth=_kept,
    right="Each of them is, or holds, a tensor whose `grad_fn` leads to that node.",
    misconceptions=(
        Misconception(
            example="nothing",
            when=[],
            message="You think that `backward()` or `del` ends the node. The first frees saved tensors, the second"
            " takes away one name of several.",
        ),
        Misconception(
            example=["p", "r", "t", "u"],
            when=lambda seen: "t" in seen,
            message="You counted the gradient. It was computed by the graph, but it has no `grad_fn` that leads back.",
        ),
        Misconception(
            example="p, r, s, u",
            when=lambda seen: "s" in seen,
            message="You counted `s`. It shares the value with `loss`; ask what its `grad_fn` is.",
        ),
        Misconception(
            example=["p", "q", "r", "u"],
            when=lambda seen: "q" in seen,
            message="You counted `q`, which is a Python number. A number leads nowhere.",
        ),
        Misconception(
            example=["r", "u"],
            when=lambda seen: "p" not in seen and bool(seen) and seen <= set(_LINES),
            message="You left out `p`. It is another tensor than `loss`, but its own node has an edge to that one.",
        ),
        Misconception(
            example=["p"],
            when=lambda seen: "p" in seen and "u" not in seen,
            message="Look at Python's own functions and containers again. Some hand back, or hold, the very"
            " tensor that they were given.",
        ),
        Misconception(
            example=["p", "u"],
            when=lambda seen: "r" not in seen and "p" in seen,
            message="You left out `r`. A list records no operation, but what is in it stays alive.",
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
    h = torch.tensor(1.0)
    for x in inputs:
        h = torch.tanh(w * h.detach() + x)
        h.backward()


def _all_steps(w: torch.Tensor, inputs: list[float]) -> None:
    h = torch.tensor(1.0)
    for x in inputs:
        h = torch.tanh(w * h + x)
        h.backward(retain_graph=True)


def _forgetful(w: torch.Tensor, inputs: list[float]) -> None:
    for x in inputs:
        torch.tanh(w * torch.tensor(1.0) + x).backward()


def _last_step(w: torch.Tensor, inputs: list[float]) -> None:
    h = torch.tensor(1.0)
    for x in inputs:
        h = torch.tanh(w * h + x)
    h.backward()


def _emptied(w: torch.Tensor, inputs: list[float]) -> None:
    h = torch.tensor(1.0)
    for x in inputs:
        w.grad = None
        h = torch.tanh(w * h.detach() + x)
        h.backward()


def _filled(returned: object, w: torch.Tensor, inputs: list[float]) -> object:
    return w.grad


def _weight(value: float) -> torch.Tensor:
    return torch.tensor(value, requires_grad=True)


STATE = Exercise(
    id="07.3",
    reader=function(
        lambda: (_weight(0.5), [0.1, 0.2, 0.3]),
        lambda: (_weight(-2.0), [0.5, 0.1, -0.2, 0.3]),
        observe=_filled,
    ),
    truth=lambda: _own_steps,
    right="Each walk ends at its own step, and the numbers of the state went on.",
    misconceptions=(
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x)\n        h.backward()",
            when=lambda seen: raised(seen, "a second time"),
            message="The second step still walks into the first, whose saved tensors are freed. The new `h` is"
            " computed from the old one, with its history.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x).detach()\n        h.backward()",
            when=lambda seen: raised(seen, "does not require grad"),
            message="You cut the graph before it was used: at your `backward()` no node was left to walk to.",
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
            message="You emptied `w.grad` on the way, so that only the last step is left in it. Here they add up.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(1.0)\n    for x in inputs:\n"
            "        h = torch.tanh(w.detach() * h + x)",
            when=lambda seen: None in seen,
            message="After your function `w.grad` is None. Each step needs its `backward()`, and what these add has to"
            " stay.",
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
    """Be the list of losses, and know the node of their trunk: a student may empty the list, or
    fill it anew.
    """

    def __init__(self, trunk: torch.Tensor, losses: list[torch.Tensor]) -> None:
        super().__init__(losses)
        self.trunk = trunk.grad_fn


def _scalar_trunk() -> tuple[list[torch.Tensor], torch.Tensor]:
    w = _weight(0.5)
    h = w.exp()
    return _Losses(h, [h * 3, h.sin(), h * h]), w


def _vector_trunk() -> tuple[list[torch.Tensor], torch.Tensor]:
    w = torch.tensor([0.1, 0.2], requires_grad=True)
    h = w.exp()
    w.grad = torch.tensor([2.0, 5.0])
    return _Losses(h, [h.sum(), h.prod()]), w


def _apart(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    *others, last = losses
    rows = [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in others]
    return [*rows, torch.autograd.grad(last, w)[0]]


def _all_kept(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    return [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses]


def _of_the_sum(losses: list[torch.Tensor], w: torch.Tensor) -> list[torch.Tensor]:
    return [torch.autograd.grad(sum(losses), w)[0]]


def _rows_and_trunk(returned: object, losses: _Losses, w: torch.Tensor) -> object:
    """See what came back, what stands in `w.grad`, and in one word whether the trunk still holds
    what it saved.
    """
    states = {one.state for one in saved(losses.trunk, lambda tensor: ())}
    return [returned, w.grad, "freed" if states == {"freed"} else "held"]


def _fine(case: object) -> bool:
    return is_a(case, tuple) and len(case) == 3


def _in_tuples(rows: tuple) -> bool:
    return len(rows) == 3 and all(is_a(row, tuple) for row in rows)


APART = Exercise(
    id="07.4",
    reader=function(_scalar_trunk, _vector_trunk, observe=_rows_and_trunk),
    truth=lambda: _apart,
    right="The trunk was kept for every walk but the last, and `w.grad` was left alone.",
    misconceptions=(
        Misconception(
            example="def answer(losses, w):\n    return [torch.autograd.grad(loss, w)[0] for loss in losses]",
            when=lambda seen: raised(seen, "a second time"),
            message="One walk freed saved tensors, and a later one asked for them: it came by the same nodes.",
        ),
        Misconception(
            example="def answer(losses, w):\n    for loss in losses:\n        loss.backward(retain_graph=True)",
            when=lambda seen: all(map(_fine, seen)) and {case[0] for case in seen} == {None},
            message="Your function returns nothing: hand a list of gradients back with `return`.",
        ),
        Misconception(
            example="def answer(losses, w):\n    rows = []\n    for loss in losses:\n"
            "        loss.backward(retain_graph=loss is not losses[-1])\n        rows.append(w.grad)\n    return rows",
            when=lambda seen: (
                all(map(_fine, seen)) and [case[1] for case in seen] != [None, (2.0, 5.0)]
            ),
            message="You changed what stood in `w.grad`: that is where `backward()` adds. Another function hands"
            " gradients back instead, and leaves it alone.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return list(torch.autograd.grad(sum(losses), w))",
            when=same_as(lambda: _of_the_sum),
            message="You give one gradient, that of the sum. It is the cheapest walk, but here they are wanted apart.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return [torch.autograd.grad(loss, w, retain_graph=True)"
            " for loss in losses]",
            when=lambda seen: all(map(_fine, seen)) and _in_tuples(seen[0][0]),
            message="Your list holds tuples: `torch.autograd.grad` gives one gradient for each input, in a tuple.",
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
    for loss in losses:
        (row,) = torch.autograd.grad(loss, w, retain_graph=loss is not losses[-1])
        rows.append(row)
    return rows
""",
)

EXERCISES = (HALF_WALKED, KEEPERS, STATE, APART)
