"""Exercise 01.3: port a training loop of 2017. The loops, right and wrong, that an answer is
compared with.
"""

import sys
from collections.abc import Callable
from dataclasses import replace

import torch

from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.messages import type_name
from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.exercise import Exercise, Misconception
from helpers.exercises.functions import function, raised
from helpers.exercises.lessons.watching import Seen, watched
from helpers.exercises.tensors import readable
from helpers.exercises.values import same

_detach, _clone = torch.Tensor.detach, torch.Tensor.clone


def _port(update, zero=True, reduce=torch.mean, steps=3):
    """Build the training loop of exercise 01.3 with this update, with or without zeroing."""

    def train(w, x, y):
        losses = []
        for _ in range(steps):
            loss = reduce((w * x - y) ** 2)
            loss.backward()
            update(w)
            w.grad = None if zero else w.grad
            losses.append(loss.item())
        return losses

    return train


def _step(w: torch.Tensor) -> None:
    with torch.no_grad():
        w -= 0.1 * w.grad


def _watching(answer: object) -> object:
    """Wrap a function: it returns what `answer` returns, and what was seen of a second run, on copies
    of the inputs.
    """
    if is_a(answer, type) or not callable(answer):
        return answer  # the reader says what it wants

    def run(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple:
        copies = _clone(_detach(w)).requires_grad_(), _clone(x), _clone(y)
        losses = answer(w, x, y)
        return losses, watched(lambda: answer(*copies))

    return run


def _trained(ended: tuple, w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> list:
    """See the losses, what kind of values they are, and of `w` its values, its flag and whether its
    version counter ticked; and the names of 2017.
    """
    losses, seen = ended
    return [
        readable(_alone(losses)),
        _kinds(_alone(losses)),
        readable(_detach(w)),
        "requires grad" if w.requires_grad else "requires no grad",
        "noticed" if w._version > 0 or seen.fused else "not noticed",
        _old_names(seen),
    ]


def _alone(losses: object) -> object:
    """Take the list of losses out of what else came back with it; an array counts as a list."""
    if is_a(losses, tuple):
        first = next(tuple.__iter__(losses), None)
        losses = first if is_a(first, list) else losses
    numpy = sys.modules.get("numpy")
    return list(losses) if numpy and is_a(losses, numpy.ndarray) and losses.ndim else losses


def _kinds(losses: object) -> object:
    """Name the kind of each loss, or say what stands where the list should be."""
    if not is_a(losses, list, tuple):
        return "no list: " + describe(losses)
    base = list if is_a(losses, list) else tuple  # a subclass may iterate by code of its own
    kinds = (type(loss) for loss in base.__iter__(losses))
    return ["float" if issubclass(kind, float) else type_name(kind) for kind in kinds]


def _old_names(seen: Seen) -> list[str]:
    used = ((".data", seen.data), ("Variable", seen.variable))
    return [name for name, was_used in used if was_used] or ["none"]


def _fits(w: list[float], x: list[float], y: list[float]):
    return lambda: (torch.tensor(w, requires_grad=True), torch.tensor(x), torch.tensor(y))


_RUN = function(
    _fits([0.0], [1.0, 2.0], [3.0, 6.0]),
    _fits([1.0, -1.0], [2.0, 1.0], [1.0, 3.0]),
    observe=_trained,
    parts=(
        "the losses",
        "what kind of values they are",
        "w afterwards",
        "the flag of w",
        "updates, for torch",
        "names of 2017",
    ),
)


def _read(answer: object) -> object:
    return _RUN.read(_watching(answer))


def _numbers_of(train: Callable) -> Callable[[tuple], bool]:
    """Match what has the losses and weights that `train` gives, however it came to them."""

    def matches(seen: tuple) -> bool:
        pairs = zip(seen, _read(train), strict=True)
        return all(same(did[0], wanted[0]) and same(did[2], wanted[2]) for did, wanted in pairs)

    return matches


_is_right = _numbers_of(_port(_step))


def _uses(name: str) -> Callable[[tuple], bool]:
    """Match what has the right numbers, and this name of 2017 in it."""
    return lambda seen: _is_right(seen) and any(name in case[5] for case in seen)


def _all_kinds(seen: tuple) -> tuple:
    """Return the kind of every value in the lists of losses; nothing where a case has no list."""
    return tuple(kind for case in seen for kind in case[1] if is_a(case[1], tuple))


def _untouched(seen: tuple) -> bool:
    """Tell whether in every case the weights are still what the caller passed."""
    before = [case()[0].detach() for case in _RUN.cases]
    return all(
        same(did[2], tuple(w.tolist())) and did[4] == "not noticed"
        for did, w in zip(seen, before, strict=True)
    )


def _none_for_a_gradient(seen: tuple) -> bool:
    """Tell whether a case ended because None stood where a gradient was to be used."""
    others = ("append", "iterable", "subscriptable")
    return any(
        is_a(case, Failed) and "NoneType" in case.text and not any(o in case.text for o in others)
        for case in seen
    )


def _has_right_weights(seen: tuple) -> bool:
    return all(same(did[2], right[2]) for did, right in zip(seen, _read(_port(_step)), strict=True))


def _firsts(seen: tuple) -> list[bool]:
    """Tell of each case whether its first loss is right."""
    wanted = _read(_port(_step))
    return [
        same(did[0][:1], right[0][:1]) for did, right in zip(seen, wanted, strict=True) if did[0]
    ]


_LOOP = """
def answer(w, x, y):
    losses = []
    for step in range(3):
        loss = ((w * x - y) ** 2).mean()
        loss.backward()
        {update}
        losses.append({report})
    return losses
"""
_STEP = "with torch.no_grad():\n    w -= 0.1 * w.grad\nw.grad = None"


def _loop(update: str = _STEP, report: str = "loss.item()") -> str:
    return _LOOP.format(update=update.replace("\n", "\n        "), report=report)


PORT = Exercise(
    id="01.3",
    reader=replace(_RUN, read=_read),
    truth=lambda: _port(_step),
    right="Same numbers as in 2017, plain floats in the list, and an update that torch notices.",
    misconceptions=(
        Misconception(
            example=_loop(report="loss.data[0]"),
            when=lambda seen: raised(seen[:1], "0-dim tensor"),
            message="You kept an index from 2017. Today this loss has no dimension to index; its"
            " number has a method.",
        ),
        Misconception(
            example=_loop("w -= 0.1 * w.grad\nw.grad = None"),
            when=lambda seen: raised(seen[:1], "leaf Variable"),
            message="You updated a leaf while autograd was recording. An update is no part of the"
            " model's graph.",
        ),
        Misconception(
            example=_loop("w = w - 0.1 * w.grad"),
            when=_none_for_a_gradient,
            message="None stood where a gradient was wanted. `w.grad` is None until a `backward()`"
            " has reached `w`. And `w = w - …` gives the name `w` to a new tensor, which has no"
            " gradient of its own.",
        ),
        Misconception(
            example=_loop("with torch.no_grad():\n    w = w - 0.1 * w.grad"),
            when=lambda seen: raised(seen[:1], "does not require grad"),
            message="A loss had no graph. Either `w` was by then the name of a tensor that asks"
            " for no gradient, such as `w - …` gives under `no_grad`, or nothing was recorded"
            " while the loss was computed.",
        ),
        Misconception(
            example=_loop().replace(".mean()", ""),
            when=lambda seen: raised(seen[:1], "only for scalar outputs"),
            message="`backward()` was called on several numbers. The old loop made one of them"
            " first.",
        ),
        Misconception(
            example=_loop("w.data -= 0.1 * w.grad\nw.grad = None"),
            when=lambda seen: (
                _uses(".data")(seen) and all(case[4] == "not noticed" for case in seen)
            ),
            message="The numbers are right, but torch did not notice the update: it went through"
            " `.data`. What an edit like that can spoil is in lesson 09.",
        ),
        Misconception(
            example=_loop(report="loss.data.item()"),
            when=_uses(".data"),
            message="The numbers are right, and there is a `.data` left: your function took or set"
            " one while it ran. The migration table says what stands there today.",
        ),
        Misconception(
            example=_loop(report="torch.autograd.Variable(loss).item()"),
            when=_uses("Variable"),
            message="The numbers are right, and `Variable` was still called while your function"
            " ran. It hands out a plain tensor without history, so it does nothing here that is"
            " needed.",
        ),
        Misconception(
            example=_loop("w.detach().numpy()[:] -= 0.1 * w.grad.numpy()\nw.grad = None"),
            when=lambda seen: _is_right(seen) and any(case[4] == "not noticed" for case in seen),
            message="The numbers are right, but torch did not notice the update: it went past"
            " torch. Write into `w` itself, with an operation of torch.",
        ),
        Misconception(
            example=_loop(report="loss"),
            when=lambda seen: "Tensor" in _all_kinds(seen),
            message="The list holds tensors, and the old loop stored plain numbers. A tensor that"
            " has a `grad_fn` keeps its graph alive.",
        ),
        Misconception(
            example=_loop(report="str(loss.item())"),
            when=lambda seen: bool(set(_all_kinds(seen)) - {"float"}),
            message="Something in the list is no plain float. `print(type(losses[0]))` tells what"
            " it is.",
        ),
        Misconception(
            example=_loop().replace("return losses", "return losses[-1]"),
            when=lambda seen: all(not is_a(case[1], tuple) for case in seen),
            message="What came back is no list. The old loop returned the list with the loss of"
            " each step.",
        ),
        Misconception(
            example=_loop("w = w.detach() - 0.1 * w.grad\nw.requires_grad_()"),
            when=_untouched,
            message="The `w` that came in is as it was before. Each step has an update, and it has"
            " to write into that very tensor: a copy, or a new tensor under the same name, does not"
            " reach it.",
        ),
        Misconception(
            example=_loop(
                "w.requires_grad_(False)\nw -= 0.1 * w.grad\nw.grad = None\nw.requires_grad_()"
            ).replace("return losses", "w.requires_grad_(False)\n    return losses"),
            when=lambda seen: (
                _is_right(seen) and any(case[3] == "requires no grad" for case in seen)
            ),
            message="The numbers are right, and `w` no longer requires grad: whoever goes on with"
            " it finds no graph.",
        ),
        Misconception(
            example=_loop("with torch.no_grad():\n    w -= 0.1 * w.grad"),
            when=_numbers_of(_port(_step, zero=False)),
            message="From the second step on the updates are too large. `backward()` adds to"
            " `w.grad`, and nobody took away the old gradient.",
        ),
        Misconception(
            example=_loop().replace("mean", "sum"),
            when=_numbers_of(_port(_step, reduce=torch.sum)),
            message="Your loss is a sum of squares. The old one was their mean, and both losses"
            " and steps depend on it.",
        ),
        Misconception(
            example=_loop().replace("    return losses", "        return losses"),
            when=_numbers_of(_port(_step, steps=1)),
            message="Your function was done after one step. Look how far `return` is indented.",
        ),
        Misconception(
            example=_loop().replace("range(3)", "range(2)"),
            when=lambda seen: any(len(case[0]) != 3 for case in seen),
            message="The old loop took three steps and stored one loss in each. Count yours.",
        ),
        Misconception(
            example=_loop(report="loss.item() / 2"),
            when=lambda seen: _has_right_weights(seen) and not _is_right(seen),
            message="`w` ends where it should, so your steps are right, and the list does not hold"
            " the losses of these steps. Look at what you store, and when.",
        ),
        Misconception(
            example=_loop().replace("w -= ", "w += "),
            when=lambda seen: all(_firsts(seen)),
            message="Each first loss is right, and what comes after it is not. So look at what"
            " lies between two losses: the update, its sign and factor, and the gradient that it"
            " uses.",
        ),
        Misconception(
            example=_loop().replace("** 2", "* 2"),
            when=lambda seen: not all(_firsts(seen)),
            message="The first loss of a case is wrong already, before any update could matter."
            " Compare the line that computes the loss.",
        ),
    ),
    hints=(
        "Drop every `Variable(...)`: a tensor is enough. Then look each remaining `.data` up in the table.",
        "The update belongs under `with torch.no_grad():`, in place; then let go of the gradient.",
    ),
    solution=_loop(),
    principle="the caller holds the tensor that `w` named at first, and sees only what is written"
    " into it.",
)
