"""`step_through`: play one real backward, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from autograd_graphs.drawing.diagram import in_words
from autograd_graphs.drawing.layout import NoLayout
from autograd_graphs.looking.snapshot import NEAREST, Walk, graph_of, snapshot_of_values
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.values import is_value
from autograd_graphs.looking.variable_names import find_names
from autograd_graphs.picture import Picture, picture
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.player import Player
from autograd_graphs.recording.record import record
from autograd_graphs.recording.recorded import latest, ran_already
from autograd_graphs.recording.trace import Trace, title

AGAIN = "This backward already ran. Here's the same recording again, and .grad stays as it was."
PRINTED = "The player has one step for each node, so here are the steps as text."


def save(trace: Trace, path: str | Path) -> Path:
    """Write one page that plays a trace; returns the path. Raises ValueError for no .html."""
    return step_through(trace).save(path)


def step_through(
    loss: torch.Tensor | Sequence[torch.Tensor] | Trace, *, alt: str | None = None, **how: Any
) -> Player | Picture:
    """Run backward from `loss` and show a player of its steps; a `Trace` is played without running
    anything.

    A backward that was recorded already is played once more, and a line says so: running a cell
    again adds nothing to `.grad`, with retain_graph=True neither. That is so for the same loss and
    flags, without gradient or inputs, until something else changes the graph or, in one that was
    not freed, a `.grad`. `step_through(record(loss))` always runs backward.

    A large graph is folded, as `show` does it; a click on a folded part opens it at the same step.
    A factor or a form is shown only where it gives what torch handed on. What is made "by torch's
    formula" was not checked: a hook on that node may have changed it.

    `how` goes to `record`: names, gradient, retain_graph, create_graph, inputs. `alt` says what to
    notice, for those who do not see the picture. Raises what `record` raises. The steps are text
    where no program can lay out a graph, and where an engine of one's own runs a node twice.
    """
    if isinstance(loss, Trace):
        return played(loss, alt)
    if trace := recorded_before(loss, how):
        return played(trace, alt, AGAIN)
    return played(record(loss, **how), alt)


def played(trace: Trace, alt: str | None, *remarks: str) -> Player | Picture:
    """Return a player of a trace; its steps as text where no program can lay out a graph."""
    if trace.repeated is not None:
        steps = f"{PRINTED}\n{trace}"
        return picture(trace.after, in_words(repeats(trace), steps, steps.splitlines()))
    try:
        made = film(trace, alt)
    except NoLayout as error:
        return picture(trace.after, in_words(str(error), str(trace)))
    text = "\n".join([*remarks, made.text])
    return Player(replace(made, remarks=(*remarks, *made.remarks), text=text))


def repeats(trace: Trace) -> str:
    """Say which node ran most often in a backward, and how often."""
    times = sum(step.node == trace.repeated for step in trace.steps)
    return f"{title(trace.graph.nodes[trace.repeated])} ran {times:,} times in this one backward."


def recorded_before(
    loss: torch.Tensor | Sequence[torch.Tensor], how: Mapping[str, Any]
) -> Trace | None:
    """Return the trace of the backward that `how` asks for, if it ran; None where it has to run."""
    roots = tuple(loss) if isinstance(loss, (list, tuple)) else (loss,)
    if not roots or not all(map(latest, roots)):
        return None
    if is_value(roots[0]):
        return ran_already(roots, how, snapshot_of_values(roots, None, {}))
    with quietly():
        now = graph_of(Walk(roots, NEAREST), find_names(None, {}))
    return ran_already(roots, how, now)
