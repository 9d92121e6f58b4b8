"""What a lab's world is: real tensors with names, lines that really run, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import CodeType
from typing import Any

import torch

from autograd_graphs.data import Graph
from autograd_graphs.looking.tensors import read
from autograd_graphs.text import short_numbers
from helpers.labs.engine.state_map import Box, Row


@dataclass(frozen=True, slots=True)
class Action:
    """Hold what a lab can run: `code` is what is run, `does` says what that does in general; a lesson
    speaks of it by `called`, or by its name.

    Buttons of one `group` belong together. What is done `anew` begins with the set-up of the lab. An action
    without code has no button: the picture is clicked. Where all are of the group "turn", each is a value of one slider.
    """

    name: str
    code: str
    does: str = ""
    group: str = ""
    anew: bool = False
    called: str = ""


@cache
def compiled(code: str) -> CodeType:
    """Return lines of a lab, ready to be run again and again."""
    return compile(code, "<lab>", "exec")


def kept_grad(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return `.grad`, without the warning that torch gives where it keeps none."""
    is_kept = read(tensor, "is_leaf") or read(tensor, "retains_grad")
    return read(tensor, "grad") if is_kept else None


def maker(tensor: torch.Tensor) -> str:
    """Return the name of the node that made a tensor, "None" where there is none."""
    return type(tensor.grad_fn).__name__ if tensor.grad_fn else "None"


def without(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


class World:
    """Be a small world: names bound to real tensors, and actions, each a line that is really run.

    `setup` is what `reset()` runs; `names` are the names, or "x.grad" of one, whose tensors the
    picture shows, in order. `unversioned` are names of which no action ever makes the version
    matter: it takes no part in deciding whether two states are equal. Names that are `unread`, which
    no action reads, take part by what their boxes show alone. An attribute whose name begins with _
    takes no part either; every other one, and every name that is bound, does. `tools` are names of
    what is no variable: functions, all hooks among them, an optimizer. A hook reads no variable. Of the graph behind `root_names` the `most_nodes`
    nearest nodes are drawn.
    """

    setup: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    names: tuple[str, ...] = ()
    unversioned: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    root_names: tuple[str, ...] = ()
    most_nodes = 40

    def __init__(self) -> None:
        self.bound: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        """Return what a name of the world is bound to. Raises AttributeError where it is not."""
        if name.startswith("_") or name not in self.bound:
            raise AttributeError(f"{type(self).__name__} has no name {name!r} now.")
        return self.bound[name]

    def reset(self) -> None:
        """Build everything anew."""
        self.bound.clear()
        self.bound = {"torch": torch, "nn": torch.nn}
        self.execute("\n".join(self.setup))

    def __del__(self) -> None:
        """Let go of all names. A hook of the lab leads to them, which Python's collector cannot see."""
        self.bound.clear()

    def execute(self, code: str) -> None:
        """Run lines of a lab as a cell would. They are ours, never a user's."""
        exec(compiled(code), self.bound)

    def run(self, action: Action) -> None:
        """Really do what an action says. Raises what torch raises."""
        if action.anew:
            self.reset()
        self.execute(action.code)

    def compared(self) -> dict[str, Any]:
        """Return all that can matter later, by name."""
        own = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        del own["bound"]
        return own | without(self.variables(), self.unread)

    def variables(self) -> dict[str, Any]:
        """Return what the lines of the lab have bound."""
        return without(self.bound, ("torch", "nn", "__builtins__", *self.tools))

    def named_tools(self) -> dict[str, Any]:
        """Return what the lines of the lab have bound and is no variable."""
        return {name: self.bound[name] for name in self.tools}

    def find(self, name: str) -> tuple[bool, Any]:
        """Say whether a name, or "x.grad" of one, is bound, and to what."""
        owner = name.removesuffix(".grad")
        if owner not in self.bound:
            return False, None
        value = self.bound[owner]
        if owner == name or value is None:
            return True, value
        return True, kept_grad(value)

    def boxes(self) -> tuple[Box, ...]:
        """Return a box for each tensor with all its names, and one for each name of none."""
        boxes: list[Box] = []
        tensors: list[Any] = []
        for name in self.names:
            is_bound, tensor = self.find(name)
            same = [nr for nr, other in enumerate(tensors) if other is tensor]
            if same and tensor is not None:
                old = boxes[same[0]]
                boxes[same[0]] = replace(old, names=(*old.names, name))
                continue
            tensors.append(tensor)
            box = Box((name,), place=self.home_of(name))
            if tensor is None:
                boxes.append(replace(box, why="None" if is_bound else "not bound"))
            else:
                rows, totals = self.rows(name, tensor), self.totals(name, tensor)
                boxes.append(replace(box, rows=rows, totals=totals))
        return tuple(boxes)

    def rows(self, name: str, tensor: torch.Tensor) -> tuple[Row, ...]:
        """Return the lines in the box of a tensor: its value first."""
        return (Row("", short_numbers(tensor.tolist())),)

    def totals(self, name: str, tensor: torch.Tensor) -> tuple[float, ...] | None:
        """Return the numbers that are drawn as blocks; None where a tensor is told by rows alone."""
        return None

    def home_of(self, name: str) -> str:
        """Return the name at whose place a tensor stands, and stays when names change."""
        return name

    def facts(self) -> tuple[Row, ...]:
        """Return what is told of no tensor alone: modes, counts, one node."""
        return ()

    def chosen(self) -> tuple[str, ...]:
        """Return the names of marked actions: the program that is shown, flags that are on."""
        return ()

    def roots(self) -> tuple[torch.Tensor, ...]:
        """Return the tensors whose graph is drawn."""
        return tuple([self.bound[name] for name in self.root_names if name in self.bound])

    def whole(self) -> Mapping[str, torch.Tensor]:
        """Return new tensors by name, whose graph is drawn as a ghost: the first is the root.
        Nodes are found in it by their operation, or by name where an operation is there twice.
        """
        return {}

    def as_ghost(self, graph: Graph) -> Graph:
        """Return the graph of `whole` as it is drawn."""
        return graph

    def on_edges(self, graph: Graph) -> dict[int, str]:
        """Return what is written on edges of the graph that is drawn, by their numbers."""
        return {}

    def focus(self) -> int | None:
        """Return the number of the node that the talk is of."""
        return None

    def title(self) -> str:
        """Say in few words what is seen."""
        return ""

    def say(self) -> str:
        """Say in one sentence, from what is there and never from what was done, what to notice."""
        return ""
