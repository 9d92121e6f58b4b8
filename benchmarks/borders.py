"""Are the borders of our boxes those of the module calls? On real models, against another witness.

The witness is torch's anomaly mode, which stores a text with every backward node that is made: here
the calls that run at that moment, told by a wrapper around `Module.__call__`. It knows nothing of
sequence numbers, nor ours of it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.fx import traceback

from benchmarks.measure import Row
from benchmarks.models import make
from benchmarks.real_models import MODELS, are_installed

Inner = dict[int, int]  # per operation of a graph: the innermost call that made it, -1 for none


@contextmanager
def witnessed() -> Iterator[None]:
    """Store with every backward node the number of the innermost module call that runs."""
    running, count = [-1], 0
    called, told = nn.Module.__call__, traceback.format_stack

    def counted(module: nn.Module, *args: object, **kwargs: object) -> object:
        nonlocal count
        running.append(count)
        count += 1
        try:
            return called(module, *args, **kwargs)
        finally:
            running.pop()

    nn.Module.__call__, traceback.format_stack = counted, lambda *_: [str(running[-1])]
    try:
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            yield
    finally:
        nn.Module.__call__, traceback.format_stack = called, told


def by_witness(loss: Tensor) -> Inner:
    from autograd_graphs.looking.snapshot import Walk

    met = enumerate(Walk([loss]).met)
    return {
        nr: int(one.metadata["traceback_"][0]) for nr, one in met if not isinstance(one, Tensor)
    }


def by_calls(graph: object) -> Inner:
    found = dict.fromkeys(graph.ran, -1)
    for number, call in enumerate(graph.calls):  # a call stands before those made in it
        for node in graph.ran[call.start : call.stop]:
            found[node] = number
    return found


def agreement(ours: Mapping[int, int], theirs: Mapping[int, int]) -> float:
    """Return the share of operations, in percent, that share their call with the same operations."""
    together, apart = groups(ours), groups(theirs)
    same = sum(together[ours[node]] == apart[theirs[node]] for node in theirs)
    return 100 * same / len(theirs)


def groups(inner: Mapping[int, int]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for node, call in inner.items():
        found.setdefault(call, set()).add(node)
    return found


def look(name: str) -> Iterator[tuple[str, float, str]]:
    """Yield what is measured of one model: its name, a number, the unit."""
    from helpers import module_calls, show, snapshot

    case = make(name)
    with witnessed(), module_calls(case.model) as calls:
        loss = case.loss()
    graph = snapshot(loss, names=calls)
    yield "operations", len(graph.operations), ""
    yield "operations in the right call", agreement(by_calls(graph), by_witness(loss)), "%"
    for what, names in (("with calls", calls), ("without", case.model)):
        begin = time.perf_counter()
        picture = show(loss, names=names)
        yield f"show {what}", 1000 * (time.perf_counter() - begin), "ms"
        yield f"folded nodes {what}", folded_nodes(picture), ""
        for side in ("width", "height"):
            yield f"{side} {what}", pixels(picture, side), "px"


def folded_nodes(picture: object) -> int:
    """Count the nodes of a picture's graph as it is folded."""
    from autograd_graphs.large.fold import fold

    return len(fold(picture.graph).nodes)


def pixels(picture: object, side: str) -> int:
    return int(picture.svg.partition(f'{side}="')[2].partition('"')[0])


def rows(rounds: int) -> list[Row]:
    """Return a row for each thing that is measured of each model, once: only times are noisy."""
    if not are_installed():
        return [Row("borders", "real models", "", words="their packages are not installed")]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in MODELS:
            for what, value, unit in look(name):
                wanted = 100 if unit == "%" else None
                found.append(Row("borders", name, what, (value,), unit, wanted))
    return found
