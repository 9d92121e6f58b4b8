"""How `snapshot` and its text grow with the graph, from 10 to 2,000 nodes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from math import log

import torch
from torch import Tensor

from autograd_graphs import snapshot
from benchmarks.measure import Row

SIZES = (10, 30, 100, 300, 1_000, 2_000)
STEEPEST = 1.2  # the goal: a little over linear


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
        w, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        x = torch.tanh(x * w + b)
    return x


def worked(job: Callable[[], object]) -> float:
    """Return the milliseconds that this process worked: what others do meanwhile does not count."""
    begin = time.process_time()
    job()
    return 1000 * (time.process_time() - begin)


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of the straight line nearest to log cost over log size."""
    logs = [log(size) for size in sizes], [log(cost) for cost in costs]
    return statistics.linear_regression(*logs).slope


def rows(rounds: int) -> list[Row]:
    """Return the cost of every size, and the exponents over all sizes."""
    found = []
    for make in (chain, layers):
        losses = [make(nodes) for nodes in SIZES]
        graphs = [snapshot(loss) for loss in losses]
        looks = [lambda loss=loss: snapshot(loss) for loss in losses]
        texts = [lambda graph=graph: str(graph) for graph in graphs]
        found += curve(f"snapshot of {make.__name__}", looks, rounds)
        found += curve(f"text of {make.__name__}", texts, rounds)
    return found


def curve(what: str, jobs: Sequence[Callable[[], object]], rounds: int) -> list[Row]:
    """Return the rows of one curve; the first round warms up and does not count."""
    times = [[worked(job) for job in jobs] for _ in range(rounds + 1)][1:]
    columns = list(zip(*times, strict=True))
    found = [
        Row(f"{nodes:,} nodes", what, column) for nodes, column in zip(SIZES, columns, strict=True)
    ]
    slope = exponent(SIZES, [statistics.median(column) for column in columns])
    return [*found, Row("10 to 2,000 nodes", f"{what}: exponent", (slope,), "", STEEPEST)]
