"""Replay one sequence of actions in a fresh world, and describe as plain data where it ends."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from helpers import peek
from helpers.graph import Graph
from helpers.names import find_names
from helpers.sameness import sameness
from helpers.snapshot import Walk, graph_of
from helpers.statemap import State
from helpers.world import World

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
        return Draft(path, (facts["values"], facts["error"], offered, sameness(compared(live))), facts, offered)


def replay(world: type[World], path: tuple[str, ...]) -> tuple[World, str]:
    """Return a world after a path, and what the last action raised as "Type: message"; an earlier one raises.

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
    with peek.quietly():
        return graph_of(Walk(roots), find_names(None, names))


def lead(error: str) -> str:
    """Return the first sentence of an error; torch leaves out the space after some."""
    return _SENTENCE_END.split(error, maxsplit=1)[0].removesuffix(".") + "." if error else ""


@contextlib.contextmanager
def inside() -> Iterator[None]:
    """Give a world the modes that a fresh process has; an action may leave grad mode as it likes."""
    with torch.inference_mode(False), torch.enable_grad(), torch.device("cpu"):
        yield
