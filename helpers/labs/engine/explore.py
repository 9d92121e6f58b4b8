"""Run a small world of real tensors through every sequence of actions, and keep what was found as
plain data.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from helpers.graph import Graph
from helpers.labs.engine.state_key import sameness
from helpers.labs.engine.state_map import State, StateMap
from helpers.labs.engine.world import World
from helpers.looking.snapshot import Walk, graph_of
from helpers.looking.torch_private import quietly
from helpers.looking.variable_names import find_names

_SENTENCE_END = re.compile(r"\n|\.\s|\.(?=[A-Z][a-z]* [a-z])")


@dataclass(slots=True)
class Draft:
    """Hold one state while the search goes on; the key is what makes it differ from the others."""

    path: tuple[str, ...]
    key: Any
    facts: dict[str, Any]
    offered: tuple[str, ...]

    def state(self, moves: tuple[tuple[str, int], ...]) -> State:
        return State(self.path, moves=moves, **self.facts)


def look(world: type[World], path: tuple[str, ...]) -> Draft:
    """Replay a path in a fresh world and describe where it ends."""
    with inside():
        live, error = replay(world, path)
        offered = () if error else tuple(name for name, _ in live.actions if live.offers(name))
        facts = describe(live, error)
        return Draft(
            path,
            (facts["values"], facts["error"], offered, sameness(compared(live))),
            facts,
            offered,
        )


def replay(world: type[World], path: tuple[str, ...]) -> tuple[World, str]:
    """Return a world after a path, and what the last action raised as "Type: message"; an earlier
    one raises.

    Every replay begins with the same random numbers to come.
    """
    torch.default_generator.manual_seed(0)
    live = world()
    live.reset()
    for action in path[:-1]:
        getattr(live, action)()
    try:
        for action in path[-1:]:
            getattr(live, action)()
    except Exception as error:
        return live, f"{type(error).__name__}: {error}"
    return live, ""


def compared(live: World) -> dict[str, Any]:
    return {name: one for name, one in vars(live).items() if not name.startswith("_")}


def describe(live: World, error: str) -> dict[str, Any]:
    """Return what is shown of a live world, as plain data."""
    whole = dict(live.whole())
    return {
        "graph": picture(live.roots(), compared(live)),
        "ghost": picture(tuple(whole.values())[:1], whole) if whole else None,
        "values": tuple(live.values()),
        "bars": tuple(live.bars()),
        "focus": live.focus(),
        "error": error,
        "sentence": f"{lead(error)} {live.say()}".strip(),
    }


def picture(roots: tuple[torch.Tensor, ...], names: Mapping[str, Any]) -> Graph:
    with quietly():
        return graph_of(Walk(roots), find_names(None, names))


def lead(error: str) -> str:
    """Return the first sentence of an error; torch leaves out the space after some."""
    return _SENTENCE_END.split(error, maxsplit=1)[0].removesuffix(".") + "." if error else ""


@contextlib.contextmanager
def inside() -> Iterator[None]:
    """Give a world the modes that a fresh process has; an action may leave grad mode as it likes."""
    with torch.inference_mode(False), torch.enable_grad(), torch.device("cpu"):
        yield


MOST_STATES = 250


def explore(world: type[World], depth: int, most: int = MOST_STATES) -> StateMap:
    """Try every sequence of up to `depth` actions, each from a fresh `reset()`, and return the
    states met.

    Two sequences lead to one state only where all that can matter later is equal. What an action
    raises is a state of its own, from which nothing leads on. Grad mode, random numbers and default
    dtype stay as they were.
    """
    search = Search(world, depth, most)
    with undisturbed():
        search.run()
    states = tuple(
        draft.state(moves) for draft, moves in zip(search.drafts, search.moves, strict=True)
    )
    return StateMap(world.__name__, world.actions, states, f"{world.limits} {search.cut()}".strip())


@dataclass(slots=True)
class Search:
    """Go breadth first from the start; at the depth limit only ways back to known states are kept."""

    world: type[World]
    depth: int
    most: int
    drafts: list[Draft] = field(default_factory=list)
    moves: list[tuple[tuple[str, int], ...]] = field(default_factory=list)
    found: dict[Any, int] = field(default_factory=dict)
    beyond: set[str] = field(default_factory=set)

    def run(self) -> None:
        self.arrive(())
        for draft in self.drafts:  # the list grows as we go
            tried = [(action, self.arrive((*draft.path, action))) for action in draft.offered]
            self.moves.append(
                tuple((action, number) for action, number in tried if number is not None)
            )

    def arrive(self, path: tuple[str, ...]) -> int | None:
        """Return the number of the state that a path leads to; None where it is a new one and past
        a limit.
        """
        draft = look(self.world, path)
        if draft.key not in self.found:
            over = (
                "depth"
                if len(path) > self.depth
                else "count"
                if len(self.drafts) >= self.most
                else ""
            )
            if over:
                self.beyond.add(over)
                return None
            self.found[draft.key] = len(self.drafts)
            self.drafts.append(draft)
        return self.found[draft.key]

    def cut(self) -> str:
        limits = {"depth": f"after {self.depth} actions", "count": f"at {self.most} states"}
        where = " and ".join(limits[name] for name in sorted(self.beyond))
        return f"Cut {where}: there is more beyond." if where else ""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Put random numbers and the default dtype back afterwards."""
    dtype = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        try:
            torch.set_default_dtype(torch.float32)
            yield
        finally:
            torch.set_default_dtype(dtype)
