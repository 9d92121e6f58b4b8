"""The lab of lesson 07: a graph is built, used and freed; who holds nodes, tensors and bytes."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

import torch

from autograd_graphs.data import counted
from autograd_graphs.looking.saved_tensors import saved, values_held
from autograd_graphs.looking.snapshot import Walk
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row
from helpers.labs.engine.world import Action, World


class Mark:
    """Lie in a node's metadata: as long as this lives, the node does."""


class Life(World):
    """x, then h = x ** 2 and loss = (h * h).sum(), which may lose their names again.

    Whether a node lives is not guessed: each but AccumulateGrad gets a mark of ours in its
    metadata, and we count those alive.
    """

    setup = ("x = torch.tensor([1., 2., 3.], requires_grad=True)",)
    actions = (
        Action(
            "forward",
            "x.grad = None; h = x ** 2; loss = (h * h).sum()",
            "empties x.grad and builds a new graph",
        ),
        Action("backward", "loss.backward()", "goes backward"),
        Action(
            "retained",
            "loss.backward(retain_graph=True)",
            "goes backward with a flag",
            called="backward, kept",
        ),
        Action("del_h", "del h", "takes the name h away", called="del h"),
        Action("del_loss", "del loss", "takes the name loss away", called="del loss"),
    )
    names = ("x", "x.grad", "h", "loss")
    root_names = ("loss", "h", "x")
    unversioned = ("x.grad",)

    def reset(self) -> None:
        super().reset()
        self._marks: weakref.WeakSet[Mark] = weakref.WeakSet()

    def run(self, action: Action) -> None:
        super().run(action)
        if action.name == "forward":
            self.mark()

    def mark(self) -> None:
        """Put a mark into each backward function of the new graph."""
        for node in (self.h.grad_fn, self.loss.grad_fn, self.loss.grad_fn.next_functions[0][0]):
            node.metadata["mark"] = mark = Mark()
            self._marks.add(mark)

    def whole(self) -> Mapping[str, torch.Tensor]:
        x = self.x.detach().clone().requires_grad_()
        h = x**2
        return {"loss": (h * h).sum(), "h": h, "x": x}

    def kept(self) -> tuple[int, int, dict[int, int]]:
        """Return how many saved tensors are held and freed, and the bytes that are held."""
        states, storages = [], {}
        for node in Walk(self.roots()).met:
            if isinstance(node, torch.Tensor):
                continue
            states += [cell.state for cell in saved(node, lambda tensor: ())]
            for value in values_held(node).values():
                if isinstance(value, torch.Tensor):
                    storage = value.untyped_storage()
                    storages[storage.data_ptr()] = storage.nbytes()
        return states.count("held"), states.count("freed"), storages

    def alone(self, storages: dict[int, int]) -> int:
        """Return the bytes that the graph alone holds: no name leads to them."""
        named = {tensor.untyped_storage().data_ptr() for tensor in self.variables().values()}
        return sum(count for where, count in storages.items() if where not in named)

    def facts(self) -> tuple[Row, ...]:
        held, freed, storages = self.kept()
        return (
            Row("nodes alive", str(len(self._marks))),
            Row("saved tensors", f"{held} held, {freed} freed"),
            Row("bytes they hold", str(sum(storages.values()))),
            Row("held without a name", f"{self.alone(storages)} bytes"),
        )

    def title(self) -> str:
        return f"{counted(len(self._marks), 'node')} alive"

    def say(self) -> str:
        nodes, (held, freed, storages) = len(self._marks), self.kept()
        if not nodes:
            return "No name leads to a node."
        if "loss" not in self.bound:
            return "Without loss, only the node that h leads to is alive."
        if not held:
            return f"All {nodes} nodes are alive, but their {freed} saved tensors are freed."
        lost = ""
        if "h" not in self.bound:
            lost = f" h has lost its name, but its {self.alone(storages)} bytes are kept."
        return f"They hold {held} saved tensors, {sum(storages.values())} bytes.{lost}"


lifecycle = Lab(
    "lifecycle",
    Life,
    9,
    "Lab: the life of a graph. A full circle is a saved tensor, and an empty one was freed."
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
    [
        Question(
            "After *forward*: what do `loss.backward()`, `del loss` and `del h` each free?",
            ["forward backward", "forward del_loss", "forward del_h"],
        ),
        Question(
            "One *forward*, and `x.grad` is `[8, 64, 216]`: how few presses?",
            [lambda state, _: state.value("x.grad") == "[8, 64, 216]"],
        ),
        Question(
            "A gradient in `x.grad`, and no node alive: how few presses?",
            [
                lambda state, _: (
                    state.value("x.grad").startswith("[") and state.fact("nodes alive") == "0"
                )
            ],
        ),
    ],
)
