"""The lab of lesson 14 that turns one number: what a model returns, and what the textbook's loss makes of it."""

from __future__ import annotations

import torch

from autograd_graphs.data import Graph
from autograd_graphs.looking.snapshot import Walk
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.world import Action, World

FORWARD = "p = z.sigmoid(); q = 1 - p\nloss = -y * p.log() - (1 - y) * q.log()"


def turned(z: int) -> Action:
    code = (
        f"z = torch.tensor({z}., requires_grad=True)\n{FORWARD}\nloss.backward(retain_graph=True)"
    )
    return Action(f"z{z}", code, group="turn", anew=True, called=f"z = {z}")


class Sure(World):
    """One point of the lower moon, and a model that gets surer of it."""

    setup = ("y = torch.tensor(1.)",)
    actions = tuple(map(turned, range(8, 19)))
    root_names = ("loss",)

    def reset(self) -> None:
        super().reset()
        self._handed: dict[int, tuple[torch.Tensor | None, ...]] = {}  # on by each node

    def run(self, action: Action) -> None:
        forward, _, back = action.code.rpartition("\n")
        self.reset()
        self.execute(forward)
        for nr, node in enumerate(Walk(self.roots()).met):
            if not isinstance(node, torch.Tensor):
                node.register_hook(lambda grads, _, nr=nr: self._handed.update({nr: grads}))
        self.execute(back)

    def on_edges(self, graph: Graph) -> dict[int, str]:
        """Write on each arrow the gradient that came down it."""
        words = {}
        for nr, edge in enumerate(graph.edges):
            grad = self._handed[edge.source][edge.position]
            if grad is not None:
                words[nr] = f"{grad.item():.3g}"
        return words

    def title(self) -> str:
        return f"z.grad is {self.z.grad.item():.3g}" if "z" in self.bound else ""

    def say(self) -> str:
        if "z" not in self.bound:
            return ""
        p, q, loss = self.p.item(), self.q.item(), self.loss.item()
        if q:
            return f"p is {p:.9g}, q is {q:.3g}, and the loss is {loss:.3g}."
        return f"p is exactly {p:g}, so q is 0, its logarithm is {self.q.log().item()}, and the loss is {loss}."


sure = Lab(
    "sure",
    Sure,
    2,
    "Lab: the graph of the textbook's loss for one point, with y = 1, for each z from 8 to 18.",
    {"start": "z8", "z = 16": "z16", "z = 17": "z17"},
    [Question("From which `z` on is the gradient NaN?", ["z17"])],
)
