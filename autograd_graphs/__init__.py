"""Look at PyTorch's computational graphs, step through a real backward, and find what is wrong with
an error, a step or a whole training loop, disturbing nothing.

A library of its own: it knows no lesson and no progress file. What brings ipywidgets or torchviz
is imported when it is asked for.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograd_graphs.looking.calls import module_calls
from autograd_graphs.looking.snapshot import snapshot
from autograd_graphs.picture import Picture, show
from autograd_graphs.recording.record import record
from autograd_graphs.recording.trace import Trace, write_by

if TYPE_CHECKING:
    from autograd_graphs.diagnosing.diagnosis import diagnose
    from autograd_graphs.diagnosing.finding import find
    from autograd_graphs.monitoring.watcher import watch, watching
    from autograd_graphs.stepping import step_through
    from autograd_graphs.torchviz_view import beside_torchviz

__all__ = [
    "Picture",
    "beside_torchviz",
    "diagnose",
    "find",
    "module_calls",
    "record",
    "show",
    "snapshot",
    "step_through",
    "watch",
    "watching",
]

_LATER = {
    "beside_torchviz": "autograd_graphs.torchviz_view",
    "diagnose": "autograd_graphs.diagnosing.diagnosis",
    "find": "autograd_graphs.diagnosing.finding",
    "step_through": "autograd_graphs.stepping",
    "watch": "autograd_graphs.monitoring.watcher",
    "watching": "autograd_graphs.monitoring.watcher",
}


def _save(trace: Trace, path: str | Path) -> Path:
    return import_module("autograd_graphs.stepping").save(trace, path)


write_by(_save)


def __getattr__(name: str) -> Any:
    """Import one of the names in `_LATER`: whoever does not use it does not wait for it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
