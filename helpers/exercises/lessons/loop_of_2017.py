"""Exercise 01.3: port a training loop of 2017. The loops, right and wrong, that an answer is
compared with.
"""

import torch

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised


def _port(update, zero=True, report=lambda loss: loss.item()):
    """Build the training loop of exercise 01.3 with this update, with or without zeroing."""

    def train(w, x, y):
        losses = []
        for _ in range(3):
            loss = ((w * x - y) ** 2).mean()
            loss.backward()
            update(w)
            w.grad = None if zero else w.grad
            losses.append(report(loss))
        return losses

    return train


def _step(w: torch.Tensor) -> None:
    with torch.no_grad():
        w -= 0.1 * w.grad


def _trained(losses: object, w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> object:
    """See the losses, whether they are plain floats, the weights, and whether the counter of `w`
    ticked.
    """
    if losses is None:
        return "nothing"
    return [losses, [type(loss) is float for loss in losses], w.detach(), w._version > 0]


def _fits(w: list[float], x: list[float], y: list[float]):
    return lambda: (torch.tensor(w, requires_grad=True), torch.tensor(x), torch.tensor(y))


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


def _loop(update: str, report: str = "loss.item()") -> str:
    return _LOOP.format(update=update.replace("\n", "\n        "), report=report)


PORT = Exercise(
    id="01.3",
    reader=function(
        _fits([0.0], [1.0, 2.0], [3.0, 6.0]),
        _fits([1.0, -1.0], [2.0, 1.0], [1.0, 3.0]),
        observe=_trained,
    ),
    truth=lambda: _port(_step),
    right="Same numbers as in 2017, plain floats in the list, and an update that autograd can count.",
    misconceptions=(
        Misconception(
            example=_loop("w.data -= 0.1 * w.grad\nw.grad = None"),
            when=same_as(lambda: _port(lambda w: w.data.sub_(0.1 * w.grad))),
            message="The numbers are right, but the version counter of `w` still says 0: the update went through"
            " `.data`, where no check can see it.",
        ),
        Misconception(
            example=_loop("with torch.no_grad():\n    w -= 0.1 * w.grad"),
            when=same_as(lambda: _port(_step, zero=False)),
            message="From the second step on the updates are too large. `backward()` adds to `w.grad`, and nobody"
            " took away the old gradient.",
        ),
        Misconception(
            example=_loop("with torch.no_grad():\n    w -= 0.1 * w.grad\nw.grad = None", "loss"),
            when=same_as(lambda: _port(_step, report=lambda loss: loss)),
            message="The list holds tensors. Each may keep its graph alive; the old loop stored plain numbers.",
        ),
        Misconception(
            example=_loop("w.grad = None", "loss.data[0]"),
            when=lambda seen: raised(seen[:1], "0-dim tensor"),
            message="You kept an index from 2017. Today a loss has no dimension to index; its number has a method.",
        ),
        Misconception(
            example=_loop("w -= 0.1 * w.grad\nw.grad = None"),
            when=lambda seen: raised(seen[:1], "leaf Variable"),
            message="You updated a leaf while autograd was recording. An update is no part of the model's graph.",
        ),
        Misconception(
            example=_loop("w = w - 0.1 * w.grad"),
            when=lambda seen: (
                raised(seen[:1], "NoneType", "does not require grad") or _untouched(seen)
            ),
            message="You gave the name `w` to a new tensor. The caller's weights stay as they were, and the new"
            " tensor collects no gradient unless you ask for it again.",
        ),
        Misconception(
            example=_loop("pass").replace("return losses", ""),
            when=lambda seen: "nothing" in seen,
            message="Your function returns nothing; the old one returned its list of losses.",
        ),
    ),
    hints=(
        "Drop every `Variable(...)`: a tensor is enough. Then look each remaining `.data` up in the table.",
        "The update belongs under `with torch.no_grad():`, in place; then let go of the gradient.",
    ),
    solution=_loop("with torch.no_grad():\n    w -= 0.1 * w.grad\nw.grad = None"),
)


def _untouched(seen: tuple) -> bool:
    """Tell whether the weights of the first case are still what the caller passed."""
    return type(seen[0]) is tuple and seen[0][2:] == ((0.0,), False)
