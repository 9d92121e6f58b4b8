"""The lab of lesson 08: four ways out of the graph, and eval(): what each records and shares."""

from __future__ import annotations

import torch

from autograd_graphs.text import short_numbers
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row
from helpers.labs.engine.world import Action, World, maker

USE = "use y"


def way(name: str, code: str, does: str, called: str = "") -> Action:
    return Action(name, code, does, group="make y", anew=True, called=called)


class Ways(World):
    """A leaf x, and y, made from x by one of the ways; `way` is the one that made it last."""

    setup = (
        "x = torch.tensor([1., 2., 3.], requires_grad=True)",
        "model = nn.Sequential(nn.Dropout(0.5), nn.ReLU())",
    )
    actions = (
        way("ordinary", "y = x * 2", "y by an operation"),
        way("no_grad", "with torch.no_grad(): y = x * 2", "the same, within a block", "no grad"),
        way(
            "inference", "with torch.inference_mode(): y = x * 2", "the same, within another block"
        ),
        way("detach", "y = x.detach()", "y from x itself"),
        way("data", "y = x.data", "y from x itself, the old way"),
        way("evaluate", "y = model.eval()(x)", "y by dropout and relu in eval mode", "eval"),
        Action(
            "inside",
            "with torch.no_grad(): z = x * y",
            "uses y within a block",
            USE,
            called="z inside",
        ),
        Action("outside", "z = x * y", "uses y", USE, called="z"),
    )
    names = ("x", "y", "z")
    root_names = ("y",)
    unread = ("z",)
    most_nodes = 4

    _way = ""

    def run(self, action: Action) -> None:
        super().run(action)
        if action.anew:
            self._way = action.name

    def chosen(self) -> tuple[str, ...]:
        return tuple(filter(None, [self._way]))

    def shares(self) -> bool:
        return self.y.untyped_storage().data_ptr() == self.x.untyped_storage().data_ptr()

    def rows(self, name: str, tensor: torch.Tensor) -> tuple[Row, ...]:
        rows = [Row("", short_numbers(tensor.tolist()))]
        if name in ("y", "z"):
            rows.append(Row("grad_fn", maker(tensor)))
        if name == "y":
            rows.append(Row("storage", "that of x" if self.shares() else "its own"))
        return tuple(rows)

    def title(self) -> str:
        if "y" not in self.bound:
            return "There is no y yet"
        return recorded("y", self.y)

    def say(self) -> str:
        if "y" not in self.bound:
            return "Choose a way to make y from x."
        numbers = "Its numbers are those of x." if self.shares() else "It has numbers of its own."
        if "z" not in self.bound:
            return numbers
        return f"{numbers} {recorded('z', self.z)}."


def recorded(name: str, tensor: torch.Tensor) -> str:
    """Say whether a tensor has a graph."""
    if tensor.requires_grad:
        return f"{name} is recorded"
    return f"{name} is not recorded"


who_records = Lab(
    "who_records",
    Ways,
    5,
    "Lab: you make y from x in one of six ways. A card shows what was recorded.",
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
    },
    [
        Question(
            "Which of the six record `y`? In which does `y` share the memory of `x`?",
            ["ordinary", "no_grad", "inference", "detach", "data", "evaluate"],
        ),
        Question(
            "After *inference*: is `z = x * y` refused in a `no_grad` block, outside of it, or both?",
            ["inference inside", "inference outside"],
        ),
    ],
)
