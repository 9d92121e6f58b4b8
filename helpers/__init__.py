"""Look at PyTorch's computational graphs without disturbing them.

What few lessons need is imported when asked for.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.exercises import check, expect_error, hint, solution
from helpers.looking.calls import module_calls
from helpers.looking.snapshot import snapshot
from helpers.picture import Picture, show
from helpers.plots import plot
from helpers.recording.record import record
from helpers.recording.trace import Trace, write_by

if TYPE_CHECKING:
    from helpers import labs
    from helpers.clinic.finding import find
    from helpers.clinic.report import diagnose
    from helpers.predicting.attempting import attempt
    from helpers.predicting.overview import progress
    from helpers.predicting.prediction import predict
    from helpers.stepping import step_through
    from helpers.torchviz_view import beside_torchviz

__all__ = [
    "Picture",
    "attempt",
    "beside_torchviz",
    "check",
    "diagnose",
    "expect_error",
    "find",
    "hint",
    "labs",
    "module_calls",
    "plot",
    "predict",
    "progress",
    "record",
    "show",
    "snapshot",
    "solution",
    "step_through",
]


_LATER = {  # players and predictions bring ipywidgets, which takes longer than all of ours
    "attempt": "helpers.predicting.attempting",
    "beside_torchviz": "helpers.torchviz_view",
    "diagnose": "helpers.clinic.report",
    "find": "helpers.clinic.finding",
    "labs": "helpers.labs",
    "predict": "helpers.predicting.prediction",
    "progress": "helpers.predicting.overview",
    "step_through": "helpers.stepping",
}


def _save(trace: Trace, path: str | Path) -> Path:
    """Write a trace as a page, by the player."""
    return import_module("helpers.stepping").save(trace, path)


write_by(_save)


def __getattr__(name: str) -> Any:
    """Import one of the names in `_LATER`: whoever does not use it does not wait for it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if name == "labs" else getattr(module, name)
