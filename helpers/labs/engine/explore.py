"""Run a small world of real tensors through every sequence of actions, and keep plain data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from autograd_graphs.data import Graph
from autograd_graphs.guard import undisturbed
from autograd_graphs.looking.snapshot import Walk, graph_of
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.variable_names import find_names
from helpers.labs.engine.state_key import sameness
from helpers.labs.engine.state_map import Outcome, State, StateMap
from helpers.labs.engine.world import World


def replay(world: type[World], path: tuple[str, ...]) -> tuple[World, str]:
    """Return a world after a path, and what its last action raised, as "Type: message"."""
    torch.default_generator.manual_seed(0)
    live = world()
    live.reset()
    error = ""
    actions = {action.name: action for action in live.actions}
    for name in path:
        error = ""
        try:
            live.run(actions[name])
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    return live, error


def describe(live: World) -> dict[str, Any]:
    """Return what is shown of a live world, its graph left out, as plain data."""
    return {
        "boxes": live.boxes(),
        "facts": live.facts(),
        "focus": live.focus(),
        "chosen": live.chosen(),
        "title": live.title(),
        "sentence": live.say(),
    }


def graphs(live: World) -> dict[str, Graph | None]:
    """Return the graph of a live world, and the one behind it if there is one."""
    whole = dict(live.whole())
    behind = picture(tuple(whole.values())[:1], whole) if whole else None
    graph = picture(live.roots(), live.variables()).head(live.most_nodes)
    return {
        "graph": graph,
        "ghost": behind and live.as_ghost(behind),
        "words": tuple(live.on_edges(graph).items()),
    }


def picture(roots: tuple[torch.Tensor, ...], names: Mapping[str, Any]) -> Graph:
    with quietly():
        return graph_of(Walk(roots), find_names(None, names))


@contextlib.contextmanager
def inside() -> Iterator[None]:
    """Give a world the modes that a fresh process has; an action may leave grad mode as it likes."""
    is_elsewhere = torch.get_default_device().type != "cpu"
    on_cpu = torch.device("cpu") if is_elsewhere else contextlib.nullcontext()
    with torch.inference_mode(False), torch.enable_grad(), on_cpu:
        yield


def explore(world: type[World], depth: int) -> StateMap:
    """Try all sequences of up to `depth` actions from a fresh `reset()`, and return the states met.

    Two sequences lead to one state only where all that can matter later is equal. What an action
    raises belongs to the outcome, and the state after it is what torch left behind. After `depth`
    actions the map ends for all of them alike. Grad mode, random numbers and default dtype stay as
    they were.
    """
    search = Search(world, depth)
    with undisturbed():
        torch.set_default_dtype(torch.float32)
        states = search.run()
    cut = ""
    if any(len(state.path) == depth for state in states):
        cut = f"This map ends after {depth} actions."
    return StateMap(world.__name__, states, cut)


@dataclass(slots=True)
class Search:
    """Try actions breadth first; at the depth limit none is tried."""

    world: type[World]
    depth: int
    states: list[State] = field(default_factory=list)
    numbers: dict[Any, int] = field(default_factory=dict)

    def run(self) -> tuple[State, ...]:
        self.outcome(())
        for nr, state in enumerate(self.states):  # the list grows as we go
            outcomes = []
            for action in self.world.actions:
                to = Outcome(None)
                if len(state.path) < self.depth:
                    to = self.outcome((*state.path, action.name))
                outcomes.append((action.name, to))
            self.states[nr] = replace(state, outcomes=tuple(outcomes))
        return tuple(self.states)

    def outcome(self, path: tuple[str, ...]) -> Outcome:
        """Return where a path leads: to a state that is known, or to a new one."""
        with inside():
            live, error = replay(self.world, path)
            shown = describe(live)
            same = sameness(live.compared(), live.unversioned, live.named_tools())
            key = (*shown.values(), same)
        if key not in self.numbers:
            with inside():  # anew: looking for sameness has moved versions
                shown |= graphs(replay(self.world, path)[0])
            self.numbers[key] = len(self.states)
            self.states.append(State(path, **shown))
        return Outcome(self.numbers[key], error)
