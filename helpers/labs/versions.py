"""The lab of lesson 09: edits in place by every route, version counters, and what backward() makes
of them.
"""

from __future__ import annotations

import torch

from helpers.graph import SavedTensor
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.table import WRONG
from helpers.labs.engine.world import World
from helpers.looking.snapshot import snapshot
from helpers.text import numbers

MOST_EDITS = 2


class Edits(World):
    """A leaf x, and y = x ** 2, whose node saved x.

    `then` is a copy of x as it was in the forward pass.

    `edits` counts the changes of x: its version never goes back, so the states do not repeat.
    """

    actions = (
        ("forward", "x.grad = None; y = x ** 2"),
        ("no_grad", "with no_grad(): x += 1"),
        ("undo", "with no_grad(): x -= 1"),
        ("detach", "x.detach().add_(1)"),
        ("data", "x.data.add_(1)"),
        ("numpy", "x.detach().numpy()[:] += 1"),
        ("direct", "x += 1"),
        ("clone", "c = x.clone(); c += 1"),
        ("backward", "y.sum().backward()"),
    )
    limits = f"The map goes to {MOST_EDITS} changes of x, or to one copy c."

    def reset(self) -> None:
        self.x, self.edits = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), 0
        self.forward()

    def forward(self) -> None:
        self.x.grad = None
        self.y, self.then = self.x**2, self.x.detach().clone()

    def no_grad(self) -> None:
        self.edits += 1
        with torch.no_grad():
            self.x += 1

    def undo(self) -> None:
        self.edits += 1
        with torch.no_grad():
            self.x -= 1

    def detach(self) -> None:
        self.edits += 1
        self.x.detach().add_(1)

    def data(self) -> None:
        self.edits += 1
        self.x.data.add_(1)

    def numpy(self) -> None:
        self.edits += 1
        self.x.detach().numpy()[:] += 1

    def direct(self) -> None:
        self.x += 1

    def clone(self) -> None:
        self.c = self.x.clone()
        self.c += 1

    def backward(self) -> None:
        self.y.sum().backward()

    def offers(self, action: str) -> bool:
        if action == "clone":
            return not hasattr(self, "c") and not self.edits
        return action in ("forward", "direct", "backward") or (
            self.edits < MOST_EDITS and not hasattr(self, "c")
        )

    def roots(self) -> tuple[torch.Tensor, ...]:
        return (self.y,)

    def right(self) -> torch.Tensor:
        """Return the gradient that y had asked for, computed by torch from the copy."""
        fresh = self.then.clone().requires_grad_()
        return torch.autograd.grad((fresh**2).sum(), fresh)[0]

    def saved(self) -> SavedTensor:
        return snapshot(self.y, names={"x": self.x}).nodes[0].saved[0]

    def values(self) -> tuple[tuple[str, str], ...]:
        cell, grad = self.saved(), self.x.grad
        wrong = grad is not None and not torch.equal(grad, self.right())
        return (
            ("x", numbers(self.x.tolist())),
            ("x._version", str(self.x._version)),
            (
                "y saved x",
                "freed" if cell.state == "freed" else f"{cell.state}, at version {cell.version}",
            ),
            (
                "x.grad",
                ("None" if grad is None else numbers(grad.tolist())) + f" {WRONG} wrong" * wrong,
            ),
            ("the right one", numbers(self.right().tolist())),
        )

    def say(self) -> str:
        cell, changed = self.saved(), not torch.equal(self.x, self.then)
        if self.x.grad is not None:
            now, right = numbers(self.x.grad.tolist()), numbers(self.right().tolist())
            if now != right:
                return f"No error was raised, and x.grad is wrong: {now} instead of {right}."
            return f"x.grad is right: {now}." + (
                " x has changed since, but nothing saved is needed any more." if changed else ""
            )
        if cell.state == "modified":
            back = "" if changed else " That the numbers are the old ones again does not help."
            return f"y saved x at version {cell.version}, now it is at {cell.version_now}: backward() will refuse.{back}"
        if changed:
            return f"x has changed and its version is still {self.x._version}: backward() will notice nothing."
        return f"y saved x at version {cell.version}, and x is at {self.x._version}: backward() can trust it."


versions = Lab(
    "versions",
    Edits,
    6,
    "Lab: x is edited after y = x ** 2 saved it; a triangle marks a saved tensor whose version has moved.",
    {
        "right": "backward",
        "no_grad, RuntimeError": "no_grad backward",
        "detach, RuntimeError": "detach backward",
        "data, silent": "data backward",
        "numpy, silent": "numpy backward",
        "there and back": "no_grad undo",
        "leaf": "direct",
        "copy": "clone backward",
        "after backward": "backward no_grad",
        "forward again": "no_grad forward backward",
    },
)
