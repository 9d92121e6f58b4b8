"""The lab of lesson 06: what several backward() calls, zero_() and None make of `.grad`."""

from __future__ import annotations

import torch

from autograd_graphs.text import short_numbers
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.world import Action, World


class Sums(World):
    """A leaf x, two losses, two ways to empty `.grad`, and g, a second name for the tensor in it.

    No action saves x.grad in a graph, so its version never matters.
    """

    setup = ("x = torch.tensor([0.5, 1.0, 1.5], requires_grad=True)",)
    actions = (
        Action(
            "backward", "x.sum().backward()", "sends back the gradient of the sum", called="ones"
        ),
        Action(
            "other",
            "(x * x).sum().backward()",
            "sends back the gradient of the sum of squares",
            called="others",
        ),
        Action("zero", "x.grad.zero_()", "writes zeros into the tensor that's there"),
        Action("none", "x.grad = None", "lets go of the tensor"),
        Action(
            "keep", "g = x.grad", "gives the tensor in x.grad a second name", called="second name"
        ),
    )
    names = ("x", "x.grad", "g")
    unversioned = ("x.grad", "g")

    def totals(self, name: str, tensor: torch.Tensor) -> tuple[float, ...] | None:
        if name == "x":
            return None
        return tuple(tensor.tolist())

    def home_of(self, name: str) -> str:
        """Let the tensor that only g leads to stay where it was, at the place of x.grad."""
        other = self.bound.get("g")
        if other is None or other is self.x.grad:
            return name
        return {"x.grad": "g", "g": "x.grad"}.get(name, name)

    def title(self) -> str:
        return "x.grad is None" if self.x.grad is None else f"x.grad: {shown(self.x.grad)}"

    def say(self) -> str:
        grad, other = self.x.grad, self.bound.get("g")
        if grad is None:
            words = "x.grad holds no tensor."
        elif not grad.any():
            words = "x.grad is a tensor of zeros, which is not None."
        else:
            words = "x.grad holds the sum of the gradients that arrived."
        if other is None:
            return words
        if other is grad:
            return f"{words} g is the same tensor."
        return f"{words} g is a different tensor: {shown(other)}."


def shown(grad: torch.Tensor) -> str:
    return short_numbers(grad.tolist())


accumulation = Lab(
    "accumulation",
    Sums,
    5,
    "Lab: what x.grad holds, as a stack of blocks. backward() adds one; zero_() and None empty it.",
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
    [
        Question("`g = x.grad`, then `backward()`: what is in `g`?", ["keep backward"]),
        Question(
            "1, 1, 1 in `x.grad` and in `g`, in two tensors: how few presses?",
            [
                lambda state, _: (
                    list(map(str, state.boxes[1:])) == ["x.grad: [1, 1, 1]", "g: [1, 1, 1]"]
                )
            ],
        ),
    ],
)
