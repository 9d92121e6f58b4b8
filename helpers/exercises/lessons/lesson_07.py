"""Exercises of lesson 07, retain_graph: who keeps a node, gradients apart, and the case of the lesson."""

from collections.abc import Callable
from functools import partial

import torch

from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.untrusted.plain import is_a
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters
from helpers.exercises.recognise import When, always, fails, like, shows, wrong_in
from helpers.exercises.tensors import readable

_IN_TUPLE = "in a tuple"


KEEPERS = Exercise(
    id="07.2",
    reader=letters("pqrstu"),
    right="Each of them is a tensor that leads to that node, or holds one.",
    letters=Letters(
        read="idea 4, and the picture of `total`",
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


def _start(value: float, *inputs: float) -> tuple[torch.Tensor, list[float]]:
    return torch.tensor(value, requires_grad=True), list(inputs)


def _trained(returned: object, w: torch.Tensor, inputs: list[float]) -> object:
    """See where `w` has come to, and whether it still is a leaf that learns."""
    return [readable(w), "learns" if w.is_leaf and w.requires_grad else "does not learn"]


STARTS = ((0.5, 1.0, 2.0, 3.0), (-1.0, 0.5, 0.1, -0.2), (1.5, -0.7, 0.4))
_LOOP = """def answer(w, inputs):
    h = torch.tensor(0.5)
    for x in inputs:
        h = torch.tanh(w * h + x)
        loss = (h - 0.9) ** 2
        loss.backward()
        with torch.no_grad():
            w -= w.grad
        w.grad = None
"""
_AT_THE_END = """def answer(w, inputs):
    h, total = torch.tensor(0.5), 0.0
    for x in inputs:
        h = torch.tanh(w * h + x)
        total = total + (h - 0.9) ** 2
    ({loss}).backward()
    with torch.no_grad():
        w -= w.grad
    w.grad = None
"""

CASE = Exercise(
    id="07.5",
    reader=function(
        *(partial(_start, *numbers) for numbers in STARTS),
        observe=_trained,
        parts=("`w`", "afterwards it"),
    ),
    right="The number went on from step to step, and its history stayed behind. Now say why the flag was not the answer.",
    principle="`backward()` walks all the history that its tensor has. `detach()` keeps the number and leaves the history.",
    known={
        "The second step still goes back into the first one, whose saved tensors are freed. Which name"
        " carries the history of step one into step two?": fails("a second time"),
        "With the flag you get one step further. Then backward reaches a product that saved `w` before you"
        " changed it, and refuses. The old steps should not be there at all.": fails(
            "modified by an inplace operation"
        ),
        "You cut too early: this loss has no history left, so nothing leads back to `w`. Cut after"
        " `backward()`, when the step has used its history.": fails(
            "does not require grad and does not have a grad_fn"
        ),
        "Every step begins at 0.5 again. You left the history behind, and the number with it.": like(
            _LOOP.replace(
                "        h = torch.tanh", "        h = torch.tensor(0.5)\n        h = torch.tanh"
            )
        ),
        "You add up the losses and take one step at the end. That is right when earlier steps should count."
        " Here each step moves `w` by its own gradient.": like(_AT_THE_END.format(loss="total")),
        "Only the last loss goes back, and `w` moves once. Each step has a loss, and moves `w`.": like(
            _AT_THE_END.format(loss="(h - 0.9) ** 2")
        ),
        "The history is cut, but nobody empties `w.grad`, so each step uses the gradients of all steps so"
        " far.": like(_LOOP.replace("        w.grad = None\n", "        h = h.detach()\n")),
        "Afterwards your `w` cannot learn any more. It has to stay a leaf that requires grad.": always(
            "does not learn"
        ),
        "Your `w` is where it started. Each step has to move it, in place and under `torch.no_grad()`.": like(
            "def answer(w, inputs): return None", 0
        ),
    },
    hints=(
        "What does step two need from step one: the number in `h`, its history, or both?",
        "Once a step is done, go on with a tensor that has the same number and no `grad_fn`.",
    ),
    solution=_LOOP + "        h = h.detach()\n",
)


class _Losses(list):
    """Be the list of losses, and know the node of their trunk, and `w` as it was: a student may empty the list, or
    fill it anew.
    """

    def __init__(self, w: torch.Tensor, trunk: torch.Tensor, losses: list[torch.Tensor]) -> None:
        super().__init__(losses)
        self.trunk = trunk.grad_fn
        self.start = readable(w)


def _with_trunk(w: torch.Tensor, h: torch.Tensor, losses: list) -> tuple[_Losses, torch.Tensor]:
    return _Losses(w, h, losses), w


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


def _each(test: Callable[[tuple], bool]) -> When:
    """Match where the rows of each case are a list that passes the test."""
    return lambda seen, _: all(is_a(case[0], tuple) and test(case[0]) for case in seen)


def _are_fewer(seen: tuple, right: tuple) -> bool:
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
        made_by(
            "w = torch.tensor(0.5, requires_grad=True)\nh = w.exp()\n"
            "losses = [h * 3, h.sin(), h * h]",
            *("w", "h", "losses"),
            then=_with_trunk,
        ),
        made_by(
            "w = torch.tensor([0.1, 0.2], requires_grad=True)\n"
            "w.grad = torch.tensor([2.0, 5.0])\nh = w.exp()\nlosses = [h.sum(), h.prod()]",
            *("w", "h", "losses"),
            then=_with_trunk,
        ),
        observe=_rows_and_trunk,
        parts=("gradients", "`w.grad`", "what the trunk had saved", "`w` itself"),
    ),
    right="You kept the trunk for every call but the last, and left `w.grad` alone.",
    principle="a call frees the saved tensors it passes, unless you retain the graph.",
    known={
        "One of your calls freed the trunk's saved tensor, and a later one needed it. All the"
        " losses share that trunk.": fails("a second time"),
        "`torch.autograd.grad(a, b)` gives the gradient of `a` with respect to `b`. You gave `w` first and the"
        " loss second, and `w` was not computed from the loss.": fails(
            "appears to not have been used in the graph"
        ),
        "Your function changed `w.grad`. `backward()` adds to it. Another function returns gradients and"
        " leaves `.grad` alone.": wrong_in(1),
        "Your function changed `w` itself. We only want its gradients.": shows("changed"),
        "You return one gradient, that of the sum. That is the cheapest way, but here we want them apart.": like(
            "def answer(losses, w):\n    return list(torch.autograd.grad(sum(losses), w))"
        ),
        "Each of your gradients is that of the sum of all losses. Each loss has a gradient that"
        " belongs to it alone.": like(
            "def answer(losses, w):\n    return len(losses) * list(torch.autograd.grad(sum(losses), w))"
        ),
        "Your list holds tuples: `torch.autograd.grad` gives one gradient for each input, in a tuple.": _each(
            _in_tuples
        ),
        "Your gradients are None. Losses keep no `.grad`, because they are not leaves, and `backward()` returns"
        " nothing. Look for the function that returns gradients.": _each(
            lambda rows: len(rows) > 1 and set(rows) == {None}
        ),
        "You return fewer gradients than there are losses. The list needs one for each.": _are_fewer,
        "All the gradients are there, but in another order. The first one belongs to the first loss.": like(
            "def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=loss is not losses[0])[0] for loss in losses[::-1]]"
        ),
        "The gradients are right. But the trunk still holds its saved tensor, because no call was told that it"
        " is the last one.": like(
            "def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses]"
        ),
    },
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

EXERCISES = (KEEPERS, APART, CASE)
