"""What the lab of lesson 16 really runs: a compiled function, call after call, beside the same in eager mode.

Each walk has its own function, so no graph of a reader's is touched. What torch logs meanwhile is dropped.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import torch

SETUP = (
    "lin, hook = nn.Linear(3, 1, bias=False), None",
    "x = torch.ones(4, 3)",
    "def tenfold(module, inputs, output): return output * 10",
    "def f(x): return torch.dropout(lin(x), 0.5, lin.training)",
    'fast = torch.compile(f, backend="eager", recompile_limit=3)',
    "y = fast(x)",
)
SEED = 2  # with it dropout keeps the first row
_WALKS = count(1)


class Call(NamedTuple):
    """Hold the lines of one press, and how `lin` is when `fast` is called."""

    code: str
    is_training: bool
    has_hook: bool


class Locks(NamedTuple):
    """Hold what a graph asks of a call, or what a call has; `rows` is None where many will do."""

    rows: int | None
    is_training: bool
    grad_mode: bool


class Made(NamedTuple):
    """Hold a graph on the shelf: its locks, and whether the hook was there when it was made."""

    locks: Locks
    has_hook: bool


class Done(NamedTuple):
    """Hold what one call did: the number of the graph that ran, 0 for none; what was made, if anything; what the call
    had; and how many times as large eager's numbers are.
    """

    ran: int
    made: Made | None
    had: Locks
    times: float


class Bench:
    """Hold the names of one walk, and its graphs in the order in which they were made."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"torch": torch, "nn": torch.nn}
        self.names["listening"] = self.listening
        self.are_open: list[bool] = []
        self.ran, self.count = 0, 1
        setup = "\n".join(SETUP).replace('"eager"', "listening")
        with calm():
            exec(compile(setup, f"<lab of lesson 16, walk {next(_WALKS)}>", "exec"), self.names)

    def listening(self, graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        """Be a backend like "eager", which runs a graph as it is, and note which graph runs."""
        self.are_open.append(is_open(graph))
        number = len(self.are_open)

        def run(*values: Any) -> Any:
            self.ran = number
            return graph(*values)

        return run

    def is_alive(self) -> bool:
        """Say whether the graphs are still on the shelf, by the first call once more: `torch._dynamo.reset()` may
        have been called since.
        """
        self.names["lin"].train()
        with calm():
            exec(SETUP[-1], self.names)
        return len(self.are_open) == self.count

    def hang(self, has_hook: bool) -> None:
        """Put the hook on, or take off what another call has left there."""
        hook = self.names["hook"]
        if hook and not has_hook:
            self.names["hook"] = hook.remove()
        elif has_hook and not hook:
            self.names["hook"] = self.names["lin"].register_forward_hook(self.names["tenfold"])

    def press(self, call: Call) -> Done:
        """Run the lines of a call, then the same call in eager mode, both from one seed."""
        self.ran = 0
        self.names["lin"].train(call.is_training)
        self.hang(call.has_hook)
        given = call.code.rpartition("fast")[2]
        with calm():
            torch.default_generator.manual_seed(SEED)
            exec(call.code, self.names)
            torch.default_generator.manual_seed(SEED)
            eager = eval(f"f{given}", self.names)
        y = self.names["y"]
        had, made = Locks(len(y), call.is_training, y.requires_grad), None
        if len(self.are_open) > self.count:
            self.count += 1
            locks = had._replace(rows=None) if self.are_open[-1] else had
            made = Made(locks, call.has_hook)
        return Done(self.ran, made, had, times(y, eager))


def is_open(graph: torch.fx.GraphModule) -> bool:
    """Say whether a graph leaves the number of rows open."""
    nodes = graph.graph.find_nodes(op="placeholder")
    given = {node.name: node.meta["example_value"] for node in nodes}
    return isinstance(given["l_x_"].shape[0], torch.SymInt)


def times(y: torch.Tensor, eager: torch.Tensor) -> float:
    """Return how many times as large eager's numbers are: 1.0 where all are equal."""
    if torch.equal(y, eager):
        return 1.0
    return round((eager.sum() / y.sum()).item(), 3)


@contextlib.contextmanager
def calm() -> Iterator[None]:
    """Drop what torch logs, and let it not time the locks of a graph, which takes longer than to make it."""
    from torch._dynamo import guards  # takes a second: not before a lab is shown

    level, timed = logging.root.manager.disable, guards.profile_guard_manager
    logging.disable(logging.CRITICAL)
    guards.profile_guard_manager = lambda *_: 0.0
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        guards.profile_guard_manager = timed
        logging.disable(level)


_BENCHES: dict[tuple[Call, ...], Bench] = {}


@cache
def done(made: tuple[Call, ...], call: Call) -> Done:
    """Return what a call does where earlier ones have made graphs beside the first, in that order.

    Calls that make no graph change nothing that a later one could notice: they need not be run again.
    """
    bench = _BENCHES.pop(made, None)
    if bench is None or not bench.is_alive():
        bench = Bench()
        for earlier in made:
            bench.press(earlier)
    found = bench.press(call)
    _BENCHES[(*made, call) if found.made else made] = bench
    return found
