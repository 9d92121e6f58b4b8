"""The lab of lesson 02: flags, grad mode and kinds of operation; lines run anew each time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from autograd_graphs.data import Graph
from helpers.labs.engine.goals import Question
from helpers.labs.engine.lab import Lab
from helpers.labs.engine.state_map import Row, State
from helpers.labs.engine.world import Action, World

FIRST = "a = x + y"
PROGRAM, FLAGS = "line of b", "flags and mode"
UNRECORDED = {"b = a > z": "Greater", "b = (a + z).long()": "Long"}
ANEW = "flips it, and computes a and b again"


class Flags(World):
    """Three leaves, and two lines that run after every change: a = x + y, then b from a and z."""

    setup = ("x, y = torch.tensor([1., 2.]), torch.tensor([3., 4.])", "z = torch.tensor([5., 6.])")
    actions = (
        Action("flag_x", "x.requires_grad = not x.requires_grad", ANEW, FLAGS, called="flag x"),
        Action("flag_y", "y.requires_grad = not y.requires_grad", ANEW, FLAGS, called="flag y"),
        Action("flag_z", "z.requires_grad = not z.requires_grad", ANEW, FLAGS, called="flag z"),
        Action(
            "grad_mode",
            "torch.set_grad_enabled(not torch.is_grad_enabled())",
            ANEW,
            FLAGS,
            called="grad mode",
        ),
        Action("float", "b = a + z", "the second line adds", group=PROGRAM, called="add"),
        Action(
            "comparison", "b = a > z", "the second line compares", group=PROGRAM, called="compare"
        ),
        Action(
            "integer",
            "b = (a + z).long()",
            "the second line makes integers",
            group=PROGRAM,
            called="make integers",
        ),
    )
    names = ("x", "y", "z", "a", "b")
    root_names = ("b", "a", "x", "y", "z")

    def reset(self) -> None:
        super().reset()
        self.program = "b = a + z"
        self.anew()

    def anew(self) -> None:
        """Run both lines, as after every change."""
        self.execute(f"{FIRST}; {self.program}")

    def run(self, action: Action) -> None:
        if action.group == PROGRAM:
            self.program = action.code
        else:
            self.execute(action.code)
        self.anew()

    def whole(self) -> Mapping[str, torch.Tensor]:
        x, y, z = (leaf.detach().clone().requires_grad_() for leaf in (self.x, self.y, self.z))
        with torch.enable_grad():
            a = x + y
            return {"b": a + z, "a": a, "x": x, "y": y, "z": z}

    def as_ghost(self, graph: Graph) -> Graph:
        """Call the operation of b what its line does, where that is no sum."""
        root = replace(graph.nodes[0], operation=UNRECORDED.get(self.program, "AddBackward0"))
        return replace(graph, nodes=(root, *graph.nodes[1:]))

    def rows(self, name: str, tensor: torch.Tensor) -> tuple[Row, ...]:
        return (*super().rows(name, tensor), Row("requires_grad", str(tensor.requires_grad)))

    def facts(self) -> tuple[Row, ...]:
        return (Row("grad mode", "on" if torch.is_grad_enabled() else "off"),)

    def chosen(self) -> tuple[str, ...]:
        flags = [f"flag_{name}" for name in "xyz" if self.bound[name].requires_grad]
        if not torch.is_grad_enabled():
            flags.append("grad_mode")
        return (*flags, *[action.name for action in self.actions if action.code == self.program])

    def title(self) -> str:
        if self.b.requires_grad:
            return "b requires grad"
        return "b does not require grad"

    def say(self) -> str:
        if self.b.requires_grad:
            asked = [name for name in "az" if self.bound[name].requires_grad]
            return f"One input that requires grad is enough: here {' and '.join(asked)}."
        has_flags = self.x.requires_grad or self.y.requires_grad or self.z.requires_grad
        if not torch.is_grad_enabled():
            flags = "whatever the flags say" if has_flags else "and no leaf requires grad"
            return f"Grad mode is off: nothing is recorded, {flags}."
        if not has_flags:
            return "No leaf requires grad: nothing is recorded."
        made = "a bool" if self.b.dtype == torch.bool else "an integer"
        rest = " a is recorded all the same." if self.a.requires_grad else ""
        return f"b is {made}, which cannot require grad.{rest}"


def recorded(state: State, name: str) -> bool:
    return state.value(name, "requires_grad") == "True"


requires_grad = Lab(
    "requires_grad",
    Flags,
    7,
    "Lab: the flags of x, y and z, grad mode, and the operation. Whatever isn't recorded is dashed.",
    {
        "one flag": "flag_z",
        "all flags": "flag_x flag_y flag_z",
        "grad mode off": "flag_z grad_mode",
        "comparison": "flag_z comparison",
        "integer": "flag_x integer",
    },
    [
        Question(
            "`b` requires grad without `a`, or `a` without `b`: which takes fewer presses?",
            [
                lambda state, _: recorded(state, "b") and not recorded(state, "a"),
                lambda state, _: recorded(state, "a") and not recorded(state, "b"),
            ],
        ),
        Question(
            "Grad mode on: how many flags can you raise with nothing recorded?",
            ["flag_z comparison"],
        ),
        Question(
            "Grad mode off, three flags up, grad mode on: which tensors require grad, before the last press and after it?",
            ["grad_mode flag_x flag_y flag_z", "grad_mode flag_x flag_y flag_z grad_mode"],
        ),
    ],
)
