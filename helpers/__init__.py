"""What the lessons import: pictures and players of `autograd_graphs`, guesses, exercises and labs.

What few lessons need is imported when asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from autograd_graphs import Picture, module_calls, record, show, snapshot
from autograd_graphs.playing.guesses import keep_with
from helpers.exercises import again, check, expect_error, hint, solution
from helpers.plots import plot
from helpers.predicting.player_guesses import keep
from helpers.short_tracebacks import install

if TYPE_CHECKING:
    from autograd_graphs.stepping import step_through
    from autograd_graphs.torchviz_view import beside_torchviz
    from helpers import labs
    from helpers.clinic.finding import find
    from helpers.clinic.report import diagnose
    from helpers.own_loop.watcher import watch, watching
    from helpers.predicting.attempting import attempt
    from helpers.predicting.overview import progress
    from helpers.predicting.prediction import draw, explain, find_line, order, predict
    from helpers.predicting.reviewing import review
    from helpers.predicting.settling import mended, run_order

__all__ = [
    "Picture",
    "again",
    "attempt",
    "beside_torchviz",
    "check",
    "diagnose",
    "draw",
    "expect_error",
    "explain",
    "find",
    "find_line",
    "hint",
    "labs",
    "mended",
    "module_calls",
    "order",
    "plot",
    "predict",
    "progress",
    "record",
    "review",
    "run_order",
    "show",
    "snapshot",
    "solution",
    "step_through",
    "watch",
    "watching",
]


_LATER = {  # players and predictions bring ipywidgets, which takes longer than all of ours
    "attempt": "helpers.predicting.attempting",
    "beside_torchviz": "autograd_graphs.torchviz_view",
    "diagnose": "helpers.clinic.report",
    "draw": "helpers.predicting.prediction",
    "explain": "helpers.predicting.prediction",
    "find": "helpers.clinic.finding",
    "find_line": "helpers.predicting.prediction",
    "labs": "helpers.labs",
    "mended": "helpers.predicting.settling",
    "order": "helpers.predicting.prediction",
    "predict": "helpers.predicting.prediction",
    "progress": "helpers.predicting.overview",
    "review": "helpers.predicting.reviewing",
    "run_order": "helpers.predicting.settling",
    "step_through": "autograd_graphs.stepping",
    "watch": "helpers.own_loop.watcher",
    "watching": "helpers.own_loop.watcher",
}

keep_with(keep)
install()


def __getattr__(name: str) -> Any:
    """Import one of the names in `_LATER`: whoever does not use it does not wait for it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if name == "labs" else getattr(module, name)
