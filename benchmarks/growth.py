"""How `snapshot` and its text grow with the graph: time and memory for 10 to 2,000 nodes, and the
fitted exponent.

Also how long the layout takes at the cap of what is drawn. Time is
that of the processor, memory the peak of what Python allocates (tracemalloc).
"""

from __future__ import annotations

import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from math import log

import torch
from torch import Tensor

from autograd_graphs.drawing.layout import MOST_WORK, place, work
from benchmarks.measure import Row, seconds
from helpers import snapshot

SIZES = (10, 30, 100, 300, 1_000, 2_000)
STEEPEST = 1.2  # the goal: a little over linear
BOXES = 400


def chain(nodes: int) -> Tensor:
    """Return the end of a chain of that many nodes, the leaf among them."""
    x = torch.ones(2, requires_grad=True)
    for _ in range(nodes - 1):
        x = x.sin()
    return x


def layers(nodes: int) -> Tensor:
    """Return the end of small layers, x = tanh(x * w + b): five nodes each, every leaf another."""
    x = torch.ones(2)
    for _ in range(max(1, nodes // 5)):
        w, b = (torch.ones(2, requires_grad=True) for _ in range(2))
        x = torch.tanh(x * w + b)
    return x


def worked(job: Callable[[], object]) -> float:
    """Return the seconds that this process worked: what others do meanwhile does not count."""
    return seconds(job, time.process_time)


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that Python held while `work` ran."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of the straight line nearest to log cost over log size."""
    return statistics.linear_regression(
        [log(n) for n in sizes], [log(cost) for cost in costs]
    ).slope


def curves(rounds: int) -> list[Row]:
    """Return the cost of every size, and the exponent over all of them and over the large ones
    alone.
    """
    found = []
    for make in (chain, layers):
        name = "a chain" if make is chain else "layers"
        losses = [make(nodes) for nodes in SIZES]
        graphs = [snapshot(loss) for loss in losses]
        for what, jobs in (
            ("snapshot", [lambda loss=loss: snapshot(loss) for loss in losses]),
            ("text", [lambda graph=graph: str(graph) for graph in graphs]),
        ):
            # The first round warms up.
            times = [[1000 * worked(job) for job in jobs] for _ in range(rounds + 1)][1:]
            memory = [peak(job) / 1e6 for job in jobs]
            found += told(f"{what} of {name}", times, memory)
    return found


def told(what: str, times: list[list[float]], memory: list[float]) -> list[Row]:
    """Return the rows of one curve."""
    columns = list(zip(*times, strict=True))
    middles = [statistics.median(column) for column in columns]
    found = [
        Row("growth", f"{n:,} nodes", what, column)
        for n, column in zip(SIZES, columns, strict=True)
    ]
    found += [
        Row("growth", f"{n:,} nodes", what, (m,), "MB") for n, m in zip(SIZES, memory, strict=True)
    ]
    for first, case in ((0, "10 to 2,000 nodes"), (2, "100 to 2,000 nodes")):
        for name, costs in (("time", middles), ("memory", memory)):
            slope = exponent(SIZES[first:], costs[first:])
            found.append(
                Row("growth", case, f"{what}: exponent of {name}", (slope,), "", None, STEEPEST)
            )
    return found


def at_the_cap(seed: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return boxes and edges that the cap just lets through: a spine, and skips at random while
    there is work left.
    """
    chance, edges = random.Random(seed), [(nr, nr + 1) for nr in range(BOXES - 1)]
    while True:
        tail = chance.randrange(BOXES - 20)
        more = [*edges, (tail, tail + chance.randint(2, 20))]
        if work(BOXES, more) > MOST_WORK:
            return [(120, 40)] * BOXES, edges
        edges = more


def layouts(rounds: int) -> list[Row]:
    """Time the layout of as many boxes as are ever drawn: in a chain, and with all the skips that
    are let through.
    """
    bare = [(120, 40)] * BOXES, [(nr, nr + 1) for nr in range(BOXES - 1)]
    cases = {
        "chain": [bare] * rounds,
        "skips at random": [at_the_cap(seed) for seed in range(rounds)],
    }
    found = []
    for name, many in cases.items():
        times = tuple(worked(partial(place, *one)) for one in many)
        found.append(Row("layout", f"{BOXES} boxes", name, times, "s", None, 1))
    return found


def rows(rounds: int) -> list[Row]:
    return curves(rounds) + layouts(rounds)
