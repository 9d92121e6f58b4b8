"""Run a small world of real tensors through every sequence of actions, and keep what was found as plain data."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from helpers.replay import Draft, look
from helpers.statemap import StateMap
from helpers.world import World

MOST_STATES = 250


def explore(world: type[World], depth: int, most: int = MOST_STATES) -> StateMap:
    """Try every sequence of up to `depth` actions, each from a fresh `reset()`, and return the states met.

    Two sequences lead to one state only where all that can matter later is equal. What an action raises is a
    state of its own, from which nothing leads on. Grad mode, random numbers and default dtype stay as they were.
    """
    search = Search(world, depth, most)
    with undisturbed():
        search.run()
    states = tuple(draft.state(moves) for draft, moves in zip(search.drafts, search.moves, strict=True))
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
            self.moves.append(tuple((action, number) for action, number in tried if number is not None))

    def arrive(self, path: tuple[str, ...]) -> int | None:
        """Return the number of the state that a path leads to; None where it is a new one and past a limit."""
        draft = look(self.world, path)
        if draft.key not in self.found:
            over = "depth" if len(path) > self.depth else "count" if len(self.drafts) >= self.most else ""
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
