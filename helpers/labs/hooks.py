"""The lab of lesson 14: hooks on a tensor in the middle and on a leaf, and what becomes of a gradient there."""

from __future__ import annotations

import torch

from autograd_graphs.data import Graph
from autograd_graphs.text import short_numbers
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row
from helpers.labs.engine.world import Action, World

ON_H = ("tenfold", "one_more")


class Hooks(World):
    """A leaf w, h = w * 3 and y = h ** 2. Torch doesn't list hooks, so `on_h` and `on_w` do; `at_h` is
    what became of the gradient there in the backward just now.
    """

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
        Action(
            "halve",
            "w.register_post_accumulate_grad_hook(halve)",
            "puts a hook on w that runs once w.grad is filled",
        ),
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
        self.at_h: tuple[float, ...] = ()

    def run(self, action: Action) -> None:
        self.at_h = ()
        if action.name == "backward":
            self.listen(action)
            return
        super().run(action)
        if action.name == "forward":
            self.on_h = ()
        if action.name in ON_H:
            self.on_h += (action.name,)
        if action.name == "halve":
            self.on_w += (action.name,)

    def listen(self, action: Action) -> None:
        """Run backward, and note what the node of y hands to h. From there on, each hook is called on
        what the one before it has left.
        """
        handle = self.y.grad_fn.register_hook(lambda grads, _: self.see(grads[0].item()))
        try:
            super().run(action)
        finally:
            handle.remove()

    def see(self, number: float) -> None:
        way = [number]
        for hook in self.on_h:
            way.append(self.bound[hook](way[-1]))
        self.at_h = tuple(way)

    def on_edges(self, graph: Graph) -> dict[int, str]:
        """Write on the arrow to h which hooks wait there, or what became of the gradient."""
        word = way(self.at_h) or waiting(self.on_h)
        targets = [edge.target for edge in graph.edges]
        names = ["" if target is None else graph.nodes[target].name for target in targets]
        return {nr: word for nr, name in enumerate(names) if name == "h" and word}

    def rows(self, name: str, tensor: torch.Tensor) -> tuple[Row, ...]:
        return (Row("", short_numbers(tensor.item())),)

    def facts(self) -> tuple[Row, ...]:
        return (
            Row("hooks on h", waiting(self.on_h) or "none"),
            Row("after w.grad", waiting(self.on_w) or "none"),
        )

    def title(self) -> str:
        if self.w.grad is None:
            return "no gradient yet"
        return f"w.grad is {short_numbers(self.w.grad.item())}"

    def say(self) -> str:
        kept = "h keeps its gradient" if self.h.retains_grad else "h keeps no gradient"
        count = len(self.on_h) + len(self.on_w)
        hooks = {0: "No hook is set", 1: "One hook is set"}.get(count, f"{count} hooks are set")
        gone_by = f" At h: {way(self.at_h)}." if self.at_h else ""
        return f"{hooks}, and {kept}.{gone_by}"


def waiting(names: tuple[str, ...]) -> str:
    """Return the names of hooks, or how many there are."""
    return " → ".join(names) if len(names) < 3 else f"{len(names)} hooks"


def way(numbers: tuple[float, ...]) -> str:
    """Return what a gradient was on its way past hooks; of a long way its ends."""
    shown = list(map(short_numbers, numbers))
    return " → ".join(shown if len(shown) < 4 else [shown[0], "…", shown[-1]])


hooks = Lab(
    "hooks",
    Hooks,
    5,
    "Lab: the graph of y = h ** 2, where h = w * 3. On the arrow to h: the hooks that wait there, or what became of"
    " the gradient.",
    {
        "plain": "backward",
        "ten times, then one more": "tenfold one_more backward",
        "one more, then ten times": "one_more tenfold backward",
        "kept": "keep tenfold backward",
        "a new h": "tenfold backward forward backward",
        "halved sums": "halve backward forward backward",
    },
    [
        Question(
            "*tenfold* and *one_more*, in both orders: what is `w.grad`?",
            ["tenfold one_more backward", "one_more tenfold backward"],
        ),
        Question(
            "*tenfold*, *backward*, *forward*, *backward*: what is `w.grad`?",
            ["tenfold backward forward backward"],
        ),
        Question(
            "`w.grad` is 27: how few presses?", [lambda state, _: state.value("w.grad") == "27"]
        ),
    ],
)
