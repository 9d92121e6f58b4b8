"""The lab of lesson 06: what several backward() calls, zero_() and None make of `.grad`."""

from __future__ import annotations

import torch

from helpers.labs.engine.lab import Lab
from helpers.labs.engine.world import World
from helpers.text import numbers

MOST_ADDED, MOST_WHILE_HELD, MOST_ZEROS = 3, 2, 2


class Sums(World):
    """A leaf x, two losses, two ways to empty `.grad`, and g, a second name for the tensor in it.

    `history` holds what was in `.grad` since it was last emptied, the present included; `zeros`
    counts how often zero_() was called on the tensor that is in it now: that moves its version, so
    the states do not repeat.
    """

    limits = (
        f"The map goes to {MOST_ADDED} gradients and {MOST_ZEROS} calls of zero_() between two x.grad = None; "
        f"with g bound, to {MOST_WHILE_HELD} of the first loss and one zero_()."
    )
    actions = (
        ("backward", "backward of x.sum()"),
        ("other", "backward of (x * x).sum()"),
        ("zero", "x.grad.zero_()"),
        ("none", "x.grad = None"),
        ("keep", "g = x.grad"),
    )

    def reset(self) -> None:
        self.x = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)
        self.loss: torch.Tensor | None = None
        self.g: torch.Tensor | None = None
        self.history, self.zeros = (self.now(),), 0

    def now(self) -> tuple[float, ...] | None:
        return None if self.x.grad is None else tuple(self.x.grad.tolist())

    def backward(self) -> None:
        self.loss = self.x.sum()
        self.loss.backward()
        self.history = (*self.history, self.now())

    def other(self) -> None:
        self.loss = (self.x * self.x).sum()
        self.loss.backward()
        self.history = (*self.history, self.now())

    def zero(self) -> None:
        self.x.grad.zero_()
        self.history, self.zeros = (self.now(),), self.zeros + 1

    def none(self) -> None:
        self.x.grad = None
        self.history, self.zeros = (self.now(),), 0

    def keep(self) -> None:
        self.g = self.x.grad

    def offers(self, action: str) -> bool:
        added, free, has = len(self.history) - 1, self.g is None, self.x.grad is not None
        return {
            "backward": added < (MOST_ADDED if free else MOST_WHILE_HELD),
            "other": added < MOST_ADDED and free,
            "zero": has
            and (self.zeros < MOST_ZEROS if free else self.zeros < 1 and self.g is self.x.grad),
            "none": has,
            "keep": free and self.history == (None, (1.0, 1.0, 1.0)),
        }[action]

    def roots(self) -> tuple[torch.Tensor, ...]:
        return (self.x,) if self.loss is None else (self.loss,)

    def values(self) -> tuple[tuple[str, str], ...]:
        rows = (("x", numbers(self.x.tolist())), ("x.grad", shown(self.x.grad)), ("g", self.of_g()))
        return (*rows, ("", ""), ("x.grad since it was emptied:", ""))

    def of_g(self) -> str:
        if self.g is None:
            return "not bound"
        return shown(self.g) + (", x.grad itself" if self.g is self.x.grad else ", another tensor")

    def bars(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        return tuple(
            ("None" if one is None else numbers(list(one)), one or ()) for one in self.history
        )

    def say(self) -> str:
        grad, held, added = self.x.grad, self.g, len(self.history) - 1
        if grad is None:
            told = "x.grad is None: no gradient has been added."
        elif not added:
            told = "x.grad is a tensor of zeros, which is not None."
        else:
            told = (
                f"{added} gradient{'s make' if added > 1 else ' makes'} up x.grad: {shown(grad)}."
            )
        if held is None:
            return told
        return f"{told} g is {'the same tensor' if held is grad else f'another tensor and holds {shown(held)}'}."


def shown(grad: torch.Tensor | None) -> str:
    return "None" if grad is None else numbers(grad.tolist())


accumulation = Lab(
    "accumulation",
    Sums,
    12,
    "Lab: what x.grad held since it was last emptied, as bars; backward adds, zero_() and None empty it.",
    {
        "once": "backward",
        "twice": "backward backward",
        "three times": "backward backward backward",
        "two losses": "backward other",
        "zeroed": "backward backward zero",
        "set to None": "backward backward none",
        "alias zeroed": "backward keep zero",
        "alias kept": "backward keep none backward",
    },
)
