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
    "def f(x, n=2): return torch.dropout(lin(x), 0.5, lin.training) * n",
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
    """Hold what a graph asks of a call, or what a call has; `rows` and `n` are None where many will do."""

    rows: int | None
    n: int | None
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
        self.names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "seen": seen}
        self.names["listening"] = self.listening
        self.shapes: list[tuple[bool, bool]] = []
        self.ran = 0
        setup = "\n".join(SETUP).replace('"eager"', "listening")
        with calm():
            exec(compile(setup, f"<lab of lesson 16, walk {next(_WALKS)}>", "exec"), self.names)

    def listening(self, graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        """Be a backend like "eager", which runs a graph as it is, and note which graph runs."""
        self.shapes.append(loose(graph))
        number = len(self.shapes)

        def run(*values: Any) -> Any:
            self.ran = number
            return graph(*values)

        return run

    def press(self, call: Call) -> Done:
        """Run the lines of a call, then the same call in eager mode, both from one seed."""
        before, self.ran = len(self.shapes), 0
        self.names["lin"].train(call.is_training)
        if call.has_hook and not self.names["hook"]:
            self.names["hook"] = self.names["lin"].register_forward_hook(self.names["tenfold"])
        arguments = call.code.rpartition("fast(")[2]
        with calm():
            torch.default_generator.manual_seed(SEED)
            exec(call.code, self.names)
            torch.default_generator.manual_seed(SEED)
            eager = eval(f"f({arguments}", self.names)
            rows, n = eval(f"seen({arguments}", self.names)
        had = Locks(rows, n, call.is_training, "no_grad" not in call.code.partition("fast")[0])
        made = None
        if len(self.shapes) > before:
            many_rows, any_n = self.shapes[-1]
            locks = had._replace(rows=None if many_rows else rows, n=None if any_n else n)
            made = Made(locks, call.has_hook)
        return Done(self.ran, made, had, times(self.names["y"], eager))


def seen(x: torch.Tensor, n: int = 2) -> tuple[int, int]:
    """Return what locks look at in the arguments of `f`."""
    return len(x), n


def loose(graph: torch.fx.GraphModule) -> tuple[bool, bool]:
    """Say whether a graph leaves the number of rows open, and whether it leaves `n` open."""
    given = {
        node.name: node.meta["example_value"] for node in graph.graph.find_nodes(op="placeholder")
    }
    return isinstance(given["l_x_"].shape[0], torch.SymInt), "l_n_" in given


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
    bench = _BENCHES.pop(made, None) or Bench()
    for earlier in made[len(bench.shapes) - 1 :]:
        bench.press(earlier)
    found = bench.press(call)
    _BENCHES[(*made, call) if found.made else made] = bench
    return found
