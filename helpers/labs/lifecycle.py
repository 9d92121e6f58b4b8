"""The lab of lesson 07: a graph is built, used and freed; who holds its nodes, its saved tensors
and their bytes.
"""

from __future__ import annotations

import weakref

import torch

from helpers.labs.engine.lab import Lab
from helpers.labs.engine.world import World
from helpers.looking.saved_tensors import saved, values_held
from helpers.looking.snapshot import Walk
from helpers.looking.torch_private import grad_of

MOST_RETAINED = 2


class Mark:
    """Lie in a node's metadata: as long as this lives, the node does."""


class Life(World):
    """x, then h = x ** 2 and loss = (h * h).sum(), which may have lost their names again.

    Whether a node lives is not guessed: each but AccumulateGrad gets a mark of ours in its
    metadata, and we count those alive.
    `again` counts the backward() calls since forward that kept the saved tensors.
    """

    actions = (
        ("forward", "x.grad = None; h = x ** 2; loss = (h * h).sum()"),
        ("backward", "loss.backward()"),
        ("retained", "loss.backward(retain_graph=True)"),
        ("del_h", "del h"),
        ("del_loss", "del loss"),
    )
    limits = f"The map goes to {MOST_RETAINED} backward(retain_graph=True) on one graph; forward leads on."

    def reset(self) -> None:
        self.x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        self.again = 0
        self._marks: weakref.WeakSet[Mark] = weakref.WeakSet()

    def forward(self) -> None:
        self.x.grad, self.again = None, 0
        self.h = self.x**2
        self.loss = (self.h * self.h).sum()
        for node in (self.h.grad_fn, self.loss.grad_fn, self.loss.grad_fn.next_functions[0][0]):
            node.metadata["mark"] = mark = Mark()
            self._marks.add(mark)

    def backward(self) -> None:
        self.loss.backward()

    def retained(self) -> None:
        self.loss.backward(retain_graph=True)
        self.again += 1

    def del_h(self) -> None:
        del self.h

    def del_loss(self) -> None:
        del self.loss

    def offers(self, action: str) -> bool:
        if action == "retained" and self.again == MOST_RETAINED:
            return False
        return action == "forward" or hasattr(self, "h" if action == "del_h" else "loss")

    def bound(self) -> dict[str, torch.Tensor]:
        return {name: getattr(self, name) for name in ("x", "h", "loss") if hasattr(self, name)}

    def roots(self) -> tuple[torch.Tensor, ...]:
        return tuple(self.bound().values())[::-1]

    def kept(self) -> tuple[int, int, dict[int, int]]:
        """Return how many saved tensors are held and freed, and the bytes of each storage that they
        hold.
        """
        nodes = [one for one in Walk(self.roots()).met if not isinstance(one, torch.Tensor)]
        states = [cell.state for node in nodes for cell in saved(node, lambda tensor: ())]
        held = [
            one
            for node in nodes
            for one in values_held(node).values()
            if isinstance(one, torch.Tensor)
        ]
        storages = {
            one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in held
        }
        return states.count("held"), states.count("freed"), storages

    def alone(self, storages: dict[int, int]) -> int:
        """Return the bytes that the graph alone holds: no name leads to them."""
        named = {one.untyped_storage().data_ptr() for one in self.bound().values()}
        return sum(count for where, count in storages.items() if where not in named)

    def values(self) -> tuple[tuple[str, str], ...]:
        held, freed, storages = self.kept()
        return (
            ("names", ", ".join(self.bound())),
            ("nodes alive", str(len(self._marks))),
            ("saved tensors", f"{held} held, {freed} freed"),
            ("bytes they hold", str(sum(storages.values()))),
            ("held by no name", f"{self.alone(storages)} bytes"),
            ("x.grad", str(grad_of(self.x))),
        )

    def say(self) -> str:
        nodes, (held, freed, storages) = len(self._marks), self.kept()
        if not nodes:
            return "No node is alive: no name leads to one."
        if not hasattr(self, "loss"):
            return f"Without loss, {nodes} node is alive: the one that h leads to."
        if not held:
            return f"All {nodes} nodes are alive, and their {freed} saved tensors are freed: backward() frees those alone."
        lost = (
            ""
            if hasattr(self, "h")
            else f" h has no name, but {self.alone(storages)} bytes of it are kept."
        )
        again = " Another backward() can follow." if self.x.grad is not None else ""
        return f"{nodes} nodes are alive and hold {held} saved tensors, {sum(storages.values())} bytes.{lost}{again}"


lifecycle = Lab(
    "lifecycle",
    Life,
    8,
    "Lab: the life of a graph; a full circle is a saved tensor that is held, an empty one is freed."
    " Nodes are counted without AccumulateGrad.",
    {
        "built": "forward",
        "freed": "forward backward",
        "second backward": "forward backward backward",
        "retained": "forward retained",
        "retained twice": "forward retained retained",
        "held without a name": "forward del_h",
        "only h": "forward del_loss",
        "gone": "forward del_h del_loss",
    },
)
