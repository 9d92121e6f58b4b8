"""Exercises of lesson 07, retain_graph: who keeps a node, gradients apart, and the case of the lesson."""

from collections.abc import Callable
from functools import partial
from random import Random

import torch

from autograd_graphs.looking.saved_tensors import saved
from autograd_graphs.untrusted.plain import is_a
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by
from helpers.exercises.letters import Lines
from helpers.exercises.recognise import When, always, fails, like, shows, wrong_in
from helpers.exercises.tensors import readable

_IN_TUPLE = "in a tuple"


_NO_HISTORY = "What is the `grad_fn` of a detached tensor?"
_OF_NUMBER = "What kind of object does this call hand back?"
_OF_RESULT = "What it makes has a node of its own: which edges does that node have?"
_HOLDS_TENSORS = "Does it hold the tensors themselves, or their numbers?"
RESULTS = Lines(
    read="idea 4, and the picture of `total`",
    begins=tuple(
        f"w = torch.tensor({number}, requires_grad=True)\nloss = {loss}\nloss.backward()"
        for number, loss in (
            (2.0, "w.exp()"),
            (0.5, "w.sin()"),
            (3.0, "w * w"),
            (1.0, "w.tanh() + 1"),
        )
    ),
    lines={
        "loss * 0.9": _OF_RESULT,
        "loss.item()": _OF_NUMBER,
        "[loss]": _HOLDS_TENSORS,
        "loss.detach()": _NO_HISTORY,
        "w.grad": "What is the `grad_fn` of a gradient that a plain `backward()` left?",
        "max(0.0, loss)": "Which object does Python's `max` hand back, and of which kind is it?",
        "{'best': loss}": _HOLDS_TENSORS,
        "loss.tolist()": _OF_NUMBER,
        "loss > 1": "Of which dtype is a comparison, and can that have a `grad_fn`?",
        "torch.stack([loss, w])": _OF_RESULT,
        "loss.item() + w": _OF_RESULT,
        "(loss - 1).detach()": _NO_HISTORY,
        "loss.clone()": _OF_RESULT,
        "[loss.item(), w]": _HOLDS_TENSORS,
    },
    trial="""
import weakref
{begin}
mark = loss.grad_fn.metadata["mark"] = torch.empty(0)  # lives as long as the node
mark = weakref.ref(mark)
kept = eval(line)
del loss
if mark() is not None:
    answer.append(letter)
""",
)

KEEPERS = Exercise(
    id="07.2",
    right="Each of them is a tensor that leads to that node, or holds one.",
    asked="After `loss.backward()` *one* of the lines runs, its result is kept, and then comes `del loss`."
    " With which of them does the node of `loss` stay alive? Give a list of letters.",
    vary=RESULTS.vary,
    hints=(
        "For each letter ask: is there a tensor in it, and does that tensor have a `grad_fn`?",
        "Run the line and look: is it `loss` itself, and what is the `grad_fn` of a tensor in it?",
    ),
    **RESULTS.of("pqrstu"),
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


def _other_starts(random: Random) -> tuple:
    """Draw a start and inputs of the same signs and lengths."""
    factor = random.choice((0.7, 0.8, 0.9, 1.1, 1.2))
    return tuple(partial(_start, *[factor * one for one in numbers]) for numbers in STARTS)


CASE = Exercise(
    id="07.5",
    cases=_other_starts,
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
            "def answer(w, inputs): return 0", 0
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


def _trunks(number: float, values: list[float], old: list[float], factor: int) -> tuple:
    """Return a case of three losses of a number, and one of two losses of a vector with a gradient."""
    names = "w", "h", "losses"
    codes = (
        f"w = torch.tensor({number}, requires_grad=True)\nh = w.exp()\n"
        f"losses = [h * {factor}, h.sin(), h * h]",
        f"w = torch.tensor({values}, requires_grad=True)\n"
        f"w.grad = torch.tensor({old})\nh = w.exp()\nlosses = [h.sum(), h.prod()]",
    )
    return tuple(made_by(code, *names, then=_with_trunk) for code in codes)


def _other_trunks(random: Random) -> tuple:
    number, *values = [at / 10 for at in random.sample(range(1, 12), 4)]
    old = [float(random.randint(2, 9)) for _ in values]
    return _trunks(number, values, old, random.randint(3, 9))


APART = Exercise(
    id="07.4",
    reader=function(
        *_trunks(0.5, [0.1, 0.2], [2.0, 5.0], 3),
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
    cases=_other_trunks,
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
