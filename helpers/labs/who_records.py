"""The lab of lesson 08: four ways out of the graph, and eval(): what each records, shares and
checks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partialmethod

import torch
from torch import nn

from helpers.labs.engine.lab import Lab
from helpers.labs.engine.table import WRONG
from helpers.labs.engine.world import World
from helpers.text import numbers

BLOCKS = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "": contextlib.nullcontext,
}


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def evaluated(x: torch.Tensor) -> torch.Tensor:
    return nn.Sequential(nn.Dropout(0.5), nn.ReLU()).eval()(x)


class Ways(World):
    """A leaf x, and s = x ** 2, recorded beforehand, which saved x.

    y is made from x by one of the ways.

    `block` names the block that y was made in, if any.
    """

    limits = "The map goes to one z, then one edit of y, and one backward() for each way; a way leads on."

    actions = (
        ("ordinary", "y = x * 2"),
        ("no_grad", "no_grad: y = x * 2"),
        ("inference", "inference_mode: y = x * 2"),
        ("detach", "y = x.detach()"),
        ("data", "y = x.data"),
        ("evaluate", "model.eval(); y = model(x), dropout and relu"),
        ("inside", "inside the block: z = x * y"),
        ("outside", "z = x * y"),
        ("edit", "y += 1"),
        ("backward", "s.sum().backward()"),
    )

    def reset(self) -> None:
        self.x, self.block, self.edited = (
            torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
            "",
            False,
        )
        self.s = self.x**2
        self.right = self.x.detach() * 2
        self.y: torch.Tensor | None = None
        self.z: torch.Tensor | None = None

    def make(self, way: Callable[[torch.Tensor], torch.Tensor], block: str = "") -> None:
        self.reset()
        self.block = block
        with BLOCKS[block]():
            self.y = way(self.x)

    ordinary = partialmethod(make, double)
    no_grad = partialmethod(make, double, "no_grad")
    inference = partialmethod(make, double, "inference_mode")
    detach = partialmethod(make, torch.Tensor.detach)
    data = partialmethod(make, lambda x: x.data)
    evaluate = partialmethod(make, evaluated)

    def inside(self) -> None:
        with BLOCKS[self.block]():
            self.z = self.x * self.y

    def outside(self) -> None:
        self.z = self.x * self.y

    def edit(self) -> None:
        self.edited = True
        self.y += 1

    def backward(self) -> None:
        self.s.sum().backward()

    def offers(self, action: str) -> bool:
        return {
            "inside": self.block and self.z is None and not self.edited,
            "outside": self.y is not None and self.z is None and not self.edited,
            "edit": self.y is not None and not self.edited,
            "backward": self.x.grad is None,
        }.get(action, True)

    def roots(self) -> tuple[torch.Tensor, ...]:
        return tuple(one for one in (self.z, self.y, self.s) if one is not None)

    def shares(self) -> bool:
        return self.y.untyped_storage().data_ptr() == self.x.untyped_storage().data_ptr()

    def wrong(self) -> bool:
        return self.x.grad is not None and not torch.equal(self.x.grad, self.right)

    def values(self) -> tuple[tuple[str, str], ...]:
        grad = (
            "None"
            if self.x.grad is None
            else numbers(self.x.grad.tolist()) + f" {WRONG} wrong" * self.wrong()
        )
        of_x = (("x", f"{numbers(self.x.tolist())} at version {self.x._version}"), ("x.grad", grad))
        return of_x if self.y is None else (*of_x, *self.of_y())

    def of_y(self) -> tuple[tuple[str, str], ...]:
        version = "no version" if self.y.is_inference() else f"at version {self.y._version}"
        return (
            ("y", f"{numbers(self.y.tolist())} {version}"),
            ("y.requires_grad", str(self.y.requires_grad)),
            ("y.grad_fn", type(self.y.grad_fn).__name__ if self.y.grad_fn else "None"),
            ("storage of x and y", "the same" if self.shares() else "two"),
            ("z.requires_grad", "no z yet" if self.z is None else str(self.z.requires_grad)),
        )

    def say(self) -> str:
        if self.wrong():
            now, right = (numbers(one.tolist()) for one in (self.x.grad, self.right))
            return f"No error was raised, and x.grad is wrong: {now} instead of {right}."
        if self.y is None:
            return "s saved x. Choose a way to make y from x."
        recorded = "is recorded" if self.y.requires_grad else "is not recorded"
        return f"y {recorded}. {self.told()} {self.of_z()}".strip()

    def told(self) -> str:
        """Say what y and x have in common, and whether an edit of y would be, or was, noticed."""
        if self.y.is_inference():
            return (
                "It has no version: outside of inference_mode it may be neither saved nor edited."
            )
        if not self.shares():
            return "It has numbers of its own."
        if not self.edited:
            return "Its numbers are those of x."
        return f"It was edited, and x with it: x is {'' if self.x._version else 'still '}at version {self.x._version}."

    def of_z(self) -> str:
        if self.z is None:
            return ""
        return "z is recorded: x requires grad." if self.z.requires_grad else "z is not recorded."


who_records = Lab(
    "who_records",
    Ways,
    5,
    "Lab: y made from x in one of six ways; a card is what was recorded.",
    {
        "ordinary": "ordinary",
        "no_grad": "no_grad",
        "inference_mode": "inference",
        "detach": "detach",
        "data": "data",
        "eval": "evaluate",
        "inside": "no_grad inside",
        "outside": "no_grad outside",
        "inference, used outside": "inference outside",
        "inference, edited outside": "inference edit",
        "detach, checked": "detach edit backward",
        "data, unchecked": "data edit backward",
    },
)
