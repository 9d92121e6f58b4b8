"""The lab of lesson 03: who is a leaf, and who gets `.grad`, as w is made, moved, scaled and asked
to keep it.
"""

from __future__ import annotations

import torch

from helpers.labs.engine.lab import Lab
from helpers.labs.engine.world import World
from helpers.looking.torch_private import grad_of
from helpers.text import numbers

MOST_BACKWARDS = 2


class Weight(World):
    """One name, w, that every action edits or binds to another tensor; `times` counts the
    backward() calls.
    """

    actions = (
        ("plain", "w = torch.tensor([20., 30.])"),
        ("flagged", "w = torch.tensor([20., 30.], requires_grad=True)"),
        ("cast", "w = w.to(torch.float64)"),
        ("scale", "w = w * 0.1"),
        ("flag", "w.requires_grad_()"),
        ("retain", "w.retain_grad()"),
        ("backward", "(w * w).sum().backward()"),
    )
    limits = f"The map goes to one * 0.1 and then {MOST_BACKWARDS} calls of backward(); a new w leads on."

    def reset(self) -> None:
        self.plain()

    def plain(self) -> None:
        self.w, self.times = torch.tensor([20.0, 30.0]), 0

    def flagged(self) -> None:
        self.plain()
        self.w = torch.tensor([20.0, 30.0], requires_grad=True)

    def cast(self) -> None:
        self.w = self.w.to(torch.float64)

    def scale(self) -> None:
        self.w = self.w * 0.1

    def flag(self) -> None:
        self.w.requires_grad_()

    def retain(self) -> None:
        self.w.retain_grad()

    def backward(self) -> None:
        self.times += 1
        (self.w * self.w).sum().backward()

    def offers(self, action: str) -> bool:
        if action in ("cast", "scale"):
            return not self.times and (action == "cast" or self.w[0].item() > 10)
        return action != "backward" or self.times < MOST_BACKWARDS

    def roots(self) -> tuple[torch.Tensor, ...]:
        return (self.w,)

    def grad(self) -> str:
        """Return `w.grad` as text, without the warning that reading a non-leaf's would give."""
        if self.w.is_leaf or self.w.retains_grad:
            return str(grad_of(self.w))
        return "None"

    def values(self) -> tuple[tuple[str, str], ...]:
        made = type(self.w.grad_fn).__name__ if self.w.grad_fn else "None"
        flags = tuple(
            (f"w.{name}", str(getattr(self.w, name)))
            for name in ("is_leaf", "requires_grad", "retains_grad")
        )
        kind = str(self.w.dtype).removeprefix("torch.")
        return (
            ("w", f"{numbers(self.w.tolist())} {kind}"),
            *flags,
            ("w.grad_fn", made),
            ("w.grad", self.grad()),
        )

    def say(self) -> str:
        if not self.w.requires_grad:
            return "w is a leaf that requires no grad: it can get no .grad."
        if self.w.is_leaf:
            has = (
                f"holds {self.grad()}"
                if self.w.grad is not None
                else "is still None, and a backward() will fill it"
            )
            return f"w is a leaf that requires grad: its .grad {has}."
        return (
            f"w is no leaf: {type(self.w.grad_fn).__name__} made it. {self.kept()} {self.behind()}"
        )

    def kept(self) -> str:
        if not self.w.retains_grad:
            return "Its .grad stays None."
        if self.w.grad is None:
            return "It retains, but its .grad is None: only a later backward() keeps what passes."
        return f"It retains: its .grad holds {self.grad()}."

    def behind(self) -> str:
        """Say what the leaf behind w has got, which no name holds any more."""
        node = self.w.grad_fn
        while not hasattr(node, "variable"):
            node = node.next_functions[0][0]
        grad = node.variable.grad
        return "The leaf behind it has no name" + (
            f" and got {numbers(grad.tolist())}." if grad is not None else "."
        )


leaves = Lab(
    "leaves",
    Weight,
    7,
    "Lab: a tensor w and the graph behind it; a blue pill is the leaf that gets .grad.",
    {
        "leaf": "flagged",
        "leaf with grad": "flagged backward",
        "scaled too late": "flagged scale backward",
        "cast too late": "flagged cast backward",
        "flag last": "scale flag backward",
        "retained": "flagged scale retain backward",
        "retained too late": "flagged scale backward retain",
        "nothing to differentiate": "backward",
        "nothing to retain": "retain",
    },
)
