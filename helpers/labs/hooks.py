"""The lab of lesson 14: hooks on a tensor in the middle and on a leaf, and what they make of gradients."""

from __future__ import annotations

import torch

from autograd_graphs.text import short_numbers
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row
from helpers.labs.engine.world import Action, World

ON_H = ("tenfold", "one_more")


class Hooks(World):
    """A leaf w, h = w * 3 and y = h ** 2. Torch does not list hooks, so `on_h` and `on_w` do."""

    setup = (
        "w = torch.tensor(2., requires_grad=True)",
        "tenfold, one_more = lambda g: g * 10, lambda g: g + 1",
        "def halve(w): w.grad /= 2",
        "h = w * 3; y = h ** 2",
    )
    actions = (
        Action("tenfold", "h.register_hook(tenfold)", "puts a hook on h"),
        Action("one_more", "h.register_hook(one_more)", "puts a hook on h"),
        Action("keep", "h.retain_grad()", "lets h keep its gradient"),
        Action("halve", "w.register_post_accumulate_grad_hook(halve)", "puts a hook behind w.grad"),
        Action("forward", "h = w * 3; y = h ** 2", "runs the forward pass again"),
        Action("backward", "y.backward()", "goes backward"),
    )
    names = ("w", "w.grad", "h", "h.grad")
    root_names = ("y",)
    tools = ("tenfold", "one_more", "halve")
    unversioned = ("w.grad",)

    def reset(self) -> None:
        super().reset()
        self.on_h: tuple[str, ...] = ()
        self.on_w: tuple[str, ...] = ()

    def run(self, action: Action) -> None:
        super().run(action)
        if action.name == "forward":
            self.on_h = ()
        if action.name in ON_H:
            self.on_h += (action.name,)
        if action.name == "halve":
            self.on_w += (action.name,)

    def rows(self, name: str, tensor: torch.Tensor) -> tuple[Row, ...]:
        return (Row("", short_numbers(tensor.item())),)

    def facts(self) -> tuple[Row, ...]:
        return (
            Row("hooks on h", " → ".join(self.on_h) or "none"),
            Row("hooks behind w.grad", " → ".join(self.on_w) or "none"),
        )

    def title(self) -> str:
        if self.w.grad is None:
            return "no gradient yet"
        return f"w.grad is {short_numbers(self.w.grad.item())}"

    def say(self) -> str:
        kept = "h keeps its gradient" if self.h.retains_grad else "h keeps no gradient"
        count = len(self.on_h) + len(self.on_w)
        hooks = {0: "No hook is set", 1: "One hook is set"}.get(count, f"{count} hooks are set")
        return f"{hooks}, and {kept}."


hooks = Lab(
    "hooks",
    Hooks,
    5,
    "Lab: hooks on h = w * 3 and behind w.grad, and the gradients of y = h ** 2 that they change.",
    {
        "plain": "backward",
        "ten times, then one more": "tenfold one_more backward",
        "one more, then ten times": "one_more tenfold backward",
        "kept": "keep tenfold backward",
        "a new h": "tenfold backward forward backward",
        "halved sums": "halve backward forward backward",
    },
)
