"""Exercises of lesson 07, retain_graph: who keeps a node, gradients apart, and the case of the lesson."""

import weakref
from collections.abc import Callable
from functools import partial

import torch

from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.untrusted.plain import is_a
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters
from helpers.exercises.tensors import readable

_tensor, _tanh, _grad = torch.tensor, torch.tanh, torch.autograd.grad  # as they are now
_IN_TUPLE = "in a tuple"


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
    right="Each of them is a tensor that leads to that node, or holds one.",
    misconceptions=(),
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


def _step(w: torch.Tensor, loss: torch.Tensor) -> None:
    """Take one step along the gradient of this loss, and empty `w.grad`."""
    loss.backward()
    with torch.no_grad():
        w -= w.grad
    w.grad = None


def _mended(w: torch.Tensor, inputs: list[float]) -> None:
    h = _tensor(0.5)
    for x in inputs:
        h = _tanh(w * h.detach() + x)
        _step(w, (h - 0.9) ** 2)


def _forgetful(w: torch.Tensor, inputs: list[float]) -> None:
    for x in inputs:
        _step(w, (_tanh(w * _tensor(0.5) + x) - 0.9) ** 2)


def _one_step_at_the_end(w: torch.Tensor, inputs: list[float]) -> None:
    h, total = _tensor(0.5), _tensor(0.0)
    for x in inputs:
        h = _tanh(w * h + x)
        total = total + (h - 0.9) ** 2
    _step(w, total)


def _last_loss_alone(w: torch.Tensor, inputs: list[float]) -> None:
    h = _tensor(0.5)
    for x in inputs:
        h = _tanh(w * h + x)
    _step(w, (h - 0.9) ** 2)


def _never_emptied(w: torch.Tensor, inputs: list[float]) -> None:
    h = _tensor(0.5)
    for x in inputs:
        h = _tanh(w * h.detach() + x)
        ((h - 0.9) ** 2).backward()
        with torch.no_grad():
            w -= w.grad


def _trained(returned: object, w: torch.Tensor, inputs: list[float]) -> object:
    """See where `w` has come to, and whether it still is a leaf that learns."""
    return [readable(w), "learns" if w.is_leaf and w.requires_grad else "does not learn"]


def _never_moved(seen: tuple) -> bool:
    return [case[0] for case in seen if is_a(case, tuple)] == [start for start, *_ in STARTS]


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

CASE = Exercise(
    id="07.5",
    reader=function(
        *(partial(_start, *numbers) for numbers in STARTS),
        observe=_trained,
        parts=("`w`", "afterwards it"),
    ),
    truth=lambda: _mended,
    right="The number went on from step to step, and its history stayed behind. Now say why the flag was not the answer.",
    principle="`backward()` walks all the history that its tensor has. `detach()` keeps the number and leaves the history.",
    misconceptions=(
        Misconception(
            example=_LOOP,
            when=lambda seen: raised(seen, "a second time"),
            message="The second step still goes back into the first one, whose saved tensors are freed. Which name"
            " carries the history of step one into step two?",
        ),
        Misconception(
            example=_LOOP.replace("backward()", "backward(retain_graph=True)"),
            when=lambda seen: raised(seen, "modified by an inplace operation"),
            message="With the flag you get one step further. Then backward reaches a product that saved `w` before you"
            " changed it, and refuses. The old steps should not be there at all.",
        ),
        Misconception(
            example=_LOOP.replace("w * h + x)", "w * h + x).detach()"),
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="You cut too early: this loss has no history left, so nothing leads back to `w`. Cut after"
            " `backward()`, when the step has used its history.",
        ),
        Misconception(
            example=_LOOP.replace(
                "        h = torch.tanh", "        h = torch.tensor(0.5)\n        h = torch.tanh"
            ),
            when=same_as(lambda: _forgetful),
            message="Every step begins at 0.5 again. You left the history behind, and the number with it.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h, total = torch.tensor(0.5), 0.0\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x)\n        total = total + (h - 0.9) ** 2\n    total.backward()\n"
            "    with torch.no_grad():\n        w -= w.grad\n    w.grad = None",
            when=same_as(lambda: _one_step_at_the_end),
            message="You add up the losses and take one step at the end. That is right when earlier steps should count."
            " Here each step moves `w` by its own gradient.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    h = torch.tensor(0.5)\n    for x in inputs:\n"
            "        h = torch.tanh(w * h + x)\n    ((h - 0.9) ** 2).backward()\n"
            "    with torch.no_grad():\n        w -= w.grad\n    w.grad = None",
            when=same_as(lambda: _last_loss_alone),
            message="Only the last loss goes back, and `w` moves once. Each step has a loss, and moves `w`.",
        ),
        Misconception(
            example=_LOOP.replace("        w.grad = None\n", "        h = h.detach()\n"),
            when=same_as(lambda: _never_emptied),
            message="The history is cut, but nobody empties `w.grad`, so each step uses the gradients of all steps so"
            " far.",
        ),
        Misconception(
            example="def answer(w, inputs):\n    w.requires_grad_(False)",
            when=lambda seen: all(
                is_a(case, tuple) and case[1] == "does not learn" for case in seen
            ),
            message="Afterwards your `w` cannot learn any more. It has to stay a leaf that requires grad.",
        ),
        Misconception(
            example=_LOOP.replace("w -= w.grad", "w - w.grad") + "        h = h.detach()\n",
            when=_never_moved,
            message="Your `w` is where it started. Each step has to move it, in place and under `torch.no_grad()`.",
        ),
    ),
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


@written("h = w.exp(), then [h * 3, h.sin(), h * h], and w = torch.tensor(0.5, requires_grad=True)")
def _scalar_trunk() -> tuple[list[torch.Tensor], torch.Tensor]:
    w = torch.tensor(0.5, requires_grad=True)
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
    right="You kept the trunk for every call but the last, and left `w.grad` alone.",
    principle="a call frees the saved tensors it passes, unless you retain the graph.",
    misconceptions=(
        Misconception(
            example="def answer(losses, w):\n    return [torch.autograd.grad(loss, w)[0] for loss in losses]",
            when=lambda seen: raised(seen, "a second time"),
            message="One of your calls freed the trunk's saved tensor, and a later one needed it. All the losses share that trunk.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return [torch.autograd.grad(w, loss)[0] for loss in losses]",
            when=lambda seen: raised(seen, "appears to not have been used in the graph"),
            message="`torch.autograd.grad(a, b)` gives the gradient of `a` with respect to `b`. You gave `w` first and the"
            " loss second, and `w` was not computed from the loss.",
        ),
        Misconception(
            example="def answer(losses, w):\n    rows = []\n    for loss in losses:\n"
            "        loss.backward(retain_graph=loss is not losses[-1])\n        rows.append(w.grad)\n    return rows",
            when=lambda seen: (
                all(map(_fine, seen)) and [case[1] for case in seen] != [None, (2.0, 5.0)]
            ),
            message="Your function changed `w.grad`. `backward()` adds to it. Another function returns gradients and"
            " leaves `.grad` alone.",
        ),
        Misconception(
            example="def answer(losses, w):\n    rows = [torch.autograd.grad(loss, w, retain_graph=loss is not"
            " losses[-1])[0] for loss in losses]\n    with torch.no_grad():\n        w -= rows[0]\n    return rows",
            when=lambda seen: any(_fine(case) and case[3] == "changed" for case in seen),
            message="Your function changed `w` itself. We only want its gradients.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return list(torch.autograd.grad(sum(losses), w))",
            when=same_as(lambda: _of_the_sum),
            message="You return one gradient, that of the sum. That is the cheapest way, but here we want them apart.",
        ),
        Misconception(
            example="def answer(losses, w):\n    return len(losses) * list(torch.autograd.grad(sum(losses), w))",
            when=same_as(lambda: _of_the_sum_each),
            message="Each of your gradients is that of the sum of all losses. Each loss has a gradient that belongs to it alone.",
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
            message="Your gradients are None. Losses keep no `.grad`, because they are not leaves, and `backward()` returns"
            " nothing. Look for the function that returns gradients.",
        ),
        Misconception(
            example="def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses[:-1]]",
            when=lambda seen: _each(seen, lambda rows: True) and _are_fewer(seen),
            message="You return fewer gradients than there are losses. The list needs one for each.",
        ),
        Misconception(
            example="def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=loss is not losses[0])[0] for loss in losses[::-1]]",
            when=same_as(lambda: _reversed),
            message="All the gradients are there, but in another order. The first one belongs to the first loss.",
        ),
        Misconception(
            example="def answer(losses, w):\n"
            "    return [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses]",
            when=same_as(lambda: _all_kept),
            message="The gradients are right. But the trunk still holds its saved tensor, because no call was told that it"
            " is the last one.",
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

EXERCISES = (KEEPERS, APART, CASE)
