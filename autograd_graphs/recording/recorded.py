"""Remember the trace of each loss that was recorded for as long as the loss lives, and keep nothing
alive: a trace is plain data, and a loss is known by a weak reference.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from functools import partial
from typing import Any

from autograd_graphs.recording.trace import Trace

# By the id of a loss, not by the loss: a class of the user's is not asked whether two are equal.
_TRACES: dict[int, tuple[weakref.ref[Any], Trace]] = {}


def remember(roots: Iterable[Any], trace: Trace) -> None:
    """Keep the trace of roots, in the place of an older one.

    One that stopped replaces none: a second backward through a freed graph would hide the first.
    """
    for root in roots:
        if not (trace.error and latest(root)):
            key = id(root)
            _TRACES[key] = weakref.ref(root, partial(_forget, key)), trace


def _forget(key: int, gone: weakref.ref[Any]) -> None:
    """Drop the trace of a loss that is gone; its id may be another's by now."""
    known = _TRACES.get(key)
    if known and known[0] is gone:
        _TRACES.pop(key, None)


def latest(root: Any) -> Trace | None:
    """Return the trace of the last backward recorded from a root; None where there was none."""
    known, trace = _TRACES.get(id(root), (None, None))
    return trace if known is not None and known() is root else None
