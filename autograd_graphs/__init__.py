"""Look at PyTorch's computational graphs, and step through a real backward, disturbing nothing.

A library of its own: it knows no lesson and no progress file. What brings ipywidgets is imported
when it is asked for.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograd_graphs.looking.calls import module_calls
from autograd_graphs.looking.snapshot import snapshot
from autograd_graphs.picture import Picture, beside_torchviz, show
from autograd_graphs.recording.record import record
from autograd_graphs.recording.trace import Trace, write_by

if TYPE_CHECKING:
    from autograd_graphs.stepping import step_through

__all__ = [
    "Picture",
    "beside_torchviz",
    "module_calls",
    "record",
    "show",
    "snapshot",
    "step_through",
]


def _save(trace: Trace, path: str | Path) -> Path:
    """Write a trace as a page, by the player."""
    return import_module("autograd_graphs.stepping").save(trace, path)


write_by(_save)


def __getattr__(name: str) -> Any:
    """Import `step_through` when it is asked for: whoever does not use it does not wait for it."""
    if name != "step_through":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("autograd_graphs.stepping").step_through
