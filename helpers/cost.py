"""Count what a computation costs: its calls of operations, the multiplications in its products of
matrices, its bytes. Changes nothing; what is measured is run twice.

Views are no calls here, since they compute nothing. Of the arithmetic only products of matrices are
counted, which is where nearly all of it is in a network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.func import jacfwd, jacrev
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from autograd_graphs.text import in_bytes
from helpers.memory import most_bytes_while

COPIES = "detach", "_unsafe_view", "lift_fresh"  # views that torch doesn't call views
HIDDEN = 64  # numbers between the two layers of the network that `rows_or_columns` asks
SIZES = (200, 1), (50, 50), (1, 200)  # how many numbers go in, and come out
LONG = 100_000  # numbers in each sine of a chain
GAP = "  "


@dataclass(frozen=True)
class Cost:
    """Hold how often an operation was called, how many multiplications products of matrices took,
    and the most bytes that were in use at a time.
    """

    calls: int
    products: int
    most_bytes: int


class Table:
    """Hold rows of a table, the first of them its heads; shown as lines of text."""

    def __init__(self, rows: list[list[str]]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        """Give lines of text: the first column begins on the left, the others end on the right."""
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        lines = []
        for first, *others in self.rows:
            cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
            lines.append(GAP.join(cells).rstrip())
        return "\n".join(lines)


def cost(run: Callable[[], object]) -> Cost:
    """Return what `run()` costs. It runs twice: once to count, and once to weigh its bytes."""
    with _Counter() as counter:
        run()
    return Cost(counter.calls, counter.products, most_bytes_while(run))


def costs(**ways: Callable[[], object]) -> Table:
    """Return a table of what each way costs, in calls, multiplications and bytes."""
    rows = [["", "calls", "multiplications", "most bytes"]]
    for name, run in ways.items():
        one = cost(run)
        sizes = _grouped(one.calls), _grouped(one.products), in_bytes(one.most_bytes)
        rows.append([name.replace("_", " "), *sizes])
    return Table(rows)


def growth(way: Callable[[Callable], Callable], *sines: int) -> list[float]:
    """Return how many times as many bytes are in use for chains of so many sines as for the first.

    `way` takes a function of a tensor, as torch.func's `grad` does, and returns what is run.
    """

    def peak(count: int) -> int:
        return most_bytes_while(partial(way(partial(_chain, count)), torch.ones(LONG)))

    return [round(peak(count) / peak(sines[0]), 1) for count in sines]


def _chain(count: int, x: torch.Tensor) -> torch.Tensor:
    for _ in range(count):
        x = x.sin() * 1.01
    return x.sum()


def images() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Return a network of 4,225 weights, a hundred images of 64 numbers, and a label for each; the
    same ones at each call. Global random numbers are left alone.
    """
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(64, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))
        return net, torch.randn(100, 64), torch.randn(100, 1)


def rows_or_columns() -> Table:
    """Return a table of what a Jacobian of a small network costs, by rows and by columns: networks
    with many inputs, with as many outputs, and with many outputs.
    """
    rows = [["numbers in and out", "by rows", "by columns"]]
    for size in SIZES:
        both = [cost(way).products for way in both_ways(*size)]
        rows.append(["{} → {}".format(*size), *map(_grouped, both)])
    return Table(rows)


def both_ways(inputs: int, outputs: int) -> list[Callable[[], torch.Tensor]]:
    """Return two functions that compute the same Jacobian of a network: by rows, by columns. Global
    random numbers are left alone.
    """
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(inputs, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, outputs))
        x = torch.randn(inputs)
    net.requires_grad_(False)
    return [partial(transform(net), x) for transform in (jacrev, jacfwd)]


def _grouped(count: int) -> str:
    return f"{count:,}"


class _Counter(TorchDispatchMode):
    """Count the calls of operations, and the multiplications in products of matrices."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = self.products = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say no: to compile nothing, torch would import its compiler, which takes seconds."""
        return False

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        name = operation.overloadpacket.__name__
        self.calls += not (operation.is_view or name in COPIES)
        count = flop_registry.get(operation.overloadpacket)
        if count:  # each multiplication comes with an addition, and counts as two
            self.products += count(*args, **(kwargs or {}), out_val=result) // 2
        return result
