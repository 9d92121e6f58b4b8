"""Remember the trace of each loss that was recorded for as long as the loss lives, and keep nothing
alive: a trace is plain data, and a loss is known by a weak reference.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from autograd_graphs.data import Graph
from autograd_graphs.recording.trace import Trace

FLAGS = ("retain_graph", "create_graph")
TENSORS = ("gradient", "inputs")


class Known(NamedTuple):
    """Hold what is known of a root: itself, weakly, its trace, and the flags of that backward; None
    where it was given tensors besides.
    """

    root: weakref.ref[Any]
    trace: Trace
    flags: tuple[bool, ...] | None


# By the id of a loss, not by the loss: a class of the user's is not asked whether two are equal.
_TRACES: dict[int, Known] = {}


def remember(roots: Iterable[Any], trace: Trace, how: Mapping[str, Any]) -> None:
    """Keep the trace of roots, in the place of an older one, with the arguments `how` of backward.

    One that stopped replaces none: a second backward through a freed graph would hide the first.
    """
    for root in roots:
        if not (trace.error and latest(root)):
            key = id(root)
            _TRACES[key] = Known(weakref.ref(root, partial(_forget, key)), trace, flags_of(how))


def flags_of(how: Mapping[str, Any]) -> tuple[bool, ...] | None:
    """Return the flags among the arguments of a backward; None where tensors are among them."""
    if any(how.get(name) is not None for name in TENSORS):
        return None
    return tuple([bool(how.get(name)) for name in FLAGS])


def _forget(key: int, gone: weakref.ref[Any]) -> None:
    """Drop the trace of a loss that is gone; its id may be another's by now."""
    known = _TRACES.get(key)
    if known and known.root is gone:
        _TRACES.pop(key, None)


def known_of(root: Any) -> Known | None:
    """Return what is kept of a root; None where its id was that of another, which is gone."""
    known = _TRACES.get(id(root))
    if known is None or known.root() is not root:
        return None
    return known


def latest(root: Any) -> Trace | None:
    """Return the trace of the last backward recorded from a root; None where there was none."""
    known = known_of(root)
    return known.trace if known else None


def ran_already(roots: Sequence[Any], how: Mapping[str, Any], now: Graph) -> Trace | None:
    """Return the trace of the backward that these arguments have run from roots, if it is the last
    that can have run; `now` is their graph. Else None.

    Through a graph that it freed no other can have gone. One that is not freed has to be as it was
    left, with the same `.grad` on all leaves.
    """
    known = known_of(roots[0])
    if not known or known.flags is None or known.flags != flags_of(how) or known.trace.error:
        return None
    trace = known.trace
    if len(trace.graph.roots) != len(roots):
        return None
    if not all(latest(root) is trace for root in roots) or not is_as_left(trace.after, now):
        return None
    return trace


def is_as_left(left: Graph, now: Graph) -> bool:
    """Say whether no backward and no edit can have come between two looks at a graph."""
    operations = [node.operation for node in left.nodes]
    if operations != [node.operation for node in now.nodes] or left.edges != now.edges:
        return False  # an edit in place of the root made another graph
    if is_freed(left):
        return is_freed(now)
    return contents(left) == contents(now)


def is_freed(graph: Graph) -> bool:
    states: set[str] = set()
    for node in graph.nodes:
        states.update(saved.state for saved in node.saved)
    return "freed" in states


def contents(graph: Graph) -> list[tuple[Any, ...]]:
    """Return what a backward or an edit would change, and no names."""
    found: list[tuple[Any, ...]] = []
    for node in graph.nodes:
        found += [(one.state, one.version_now) for one in node.saved]
        found += [(one.value, one.grad) for one in node.outputs]
    return found
