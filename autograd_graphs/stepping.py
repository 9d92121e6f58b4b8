"""`step_through`: play one real backward, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from autograd_graphs.playing.animate import film
from autograd_graphs.playing.player import Player
from autograd_graphs.recording.record import record
from autograd_graphs.recording.trace import Trace


def save(trace: Trace, path: str | Path) -> Path:
    """Write one page that plays a trace; returns the path. Raises ValueError for no .html."""
    return step_through(trace).save(path)


def step_through(loss: torch.Tensor | Trace, *, alt: str | None = None, **how: Any) -> Player:
    """Run backward from `loss` and show a player of its steps; a `Trace` is played without running
    anything.

    A large graph is folded, as `show` does it; a click on a folded part opens it at the same step.
    A factor or a form is shown only where it gives what torch handed on. What is made "by torch's
    formula" was not checked: a hook on that node may have changed it.

    `how` goes to `record`: names, gradient, retain_graph, create_graph, inputs. `alt` says what to
    notice, for those who do not see the picture. Raises what `record` raises.
    """
    trace = loss if isinstance(loss, Trace) else record(loss, **how)
    return Player(film(trace, alt))
