"""The lab of lesson 03: who is a leaf, and who gets `.grad`, as w is made, moved and scaled."""

from __future__ import annotations

import torch

from autograd_graphs.looking.tensors import read
from autograd_graphs.text import short_numbers
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row, State
from helpers.labs.engine.world import Action, World, maker

MAKE, ASK = "make w", "ask w"


class Weight(World):
    """One name, w, that every action edits or binds to another tensor."""

    setup = ("w = torch.tensor([20., 30.])",)
    actions = (
        Action("plain", "w = torch.tensor([20., 30.])", "a new tensor", MAKE),
        Action(
            "flagged",
            "w = torch.tensor([20., 30.], requires_grad=True)",
            "a new tensor that requires grad",
            MAKE,
        ),
        Action("cast", "w = w.to(torch.float64)", "binds w to what .to() returns", MAKE),
        Action("scale", "w = w * 0.1", "binds w to the product", MAKE),
        Action("flag", "w.requires_grad_()", "asks for gradients from here on", ASK),
        Action("retain", "w.retain_grad()", "asks w to keep the gradient that passes through", ASK),
        Action("backward", "(w * w).sum().backward()", "backward of a sum of squares of w"),
    )
    names = ("w", "w.grad")
    root_names = ("w",)
    unversioned = ("w", "w.grad")

    def rows(self, name: str, tensor: torch.Tensor) -> tuple[Row, ...]:
        dtype = str(tensor.dtype).removeprefix("torch.")
        value = Row("", f"{short_numbers(tensor.tolist())} {dtype}")
        if name == "w.grad":
            return (value,)
        names = ("is_leaf", "requires_grad", "retains_grad")
        flags = [Row(flag, str(getattr(tensor, flag))) for flag in names]
        return (value, *flags, Row("grad_fn", maker(tensor)))

    def grad(self) -> torch.Tensor | None:
        """Return `w.grad`, without the warning that reading a non-leaf's would give."""
        return self.find("w.grad")[1]

    def title(self) -> str:
        if not self.w.is_leaf:
            return "w is not a leaf"
        if not self.w.requires_grad:
            return "w is a leaf"
        return "w is a leaf that requires grad"

    def say(self) -> str:
        grad = self.grad()
        if self.w.is_leaf and grad is None:
            return "Its .grad is None so far."
        if self.w.is_leaf:
            return f"Its .grad holds {short_numbers(grad.tolist())}."
        return f"{self.kept(grad)} {self.behind()}"

    def kept(self, grad: torch.Tensor | None) -> str:
        if not self.w.retains_grad:
            return "Its .grad is None."
        if grad is None:
            return "It keeps gradients, but its .grad is None so far."
        return f"It keeps gradients: its .grad holds {short_numbers(grad.tolist())}."

    def behind(self) -> str:
        """Say what the leaf behind w has got, which no name holds any more."""
        node = self.w.grad_fn
        while not hasattr(node, "variable"):
            node = node.next_functions[0][0]
        grad = read(node.variable, "grad")
        got = "" if grad is None else f" and got {short_numbers(grad.tolist())}"
        return f"The leaf below it has no name{got}."


def is_done(state: State) -> bool:
    """Say whether the first question of the lab is answered, by whatever kind of tensor."""
    w, grad = state.value("w"), state.value("w.grad")
    return w.startswith("[2, 3] ") and grad.startswith("[4, 6] ")


leaves = Lab(
    "leaves",
    Weight,
    6,
    "Lab: a tensor w and the graph it comes from. A blue pill is the leaf that gets a .grad.",
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
    [
        Question(
            "`w` is `[2, 3]` and `w.grad` is `[4, 6]`, once in a leaf and once in a non-leaf: how few presses can you do each in?",
            [
                lambda state, _: is_done(state) and state.value("w", "is_leaf") == "True",
                lambda state, _: is_done(state) and state.value("w", "is_leaf") == "False",
            ],
        ),
        Question(
            "*cast* comes last, and `w` is a leaf with its flag up. What's the least you can press before it?",
            ["cast flag cast"],
        ),
    ],
)
