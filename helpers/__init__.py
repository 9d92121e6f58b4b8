"""What the lessons import: pictures, players and diagnoses of `autograd_graphs`, which learns here
where our lessons are; guesses, exercises and labs.

What few lessons need is imported when asked for.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograd_graphs import Picture, module_calls, record, show, snapshot
from autograd_graphs.diagnosing.course_links import Course, taught_by
from autograd_graphs.looking.users_line import add_library
from autograd_graphs.playing.guesses import keep_with
from helpers.exercises import again, check, expect_error, hint, solution
from helpers.lessons import notebook
from helpers.plots import plot
from helpers.predicting.player_guesses import keep
from helpers.short_tracebacks import install

if TYPE_CHECKING:
    from autograd_graphs import beside_torchviz, diagnose, find, step_through, watch, watching
    from helpers import labs
    from helpers.engine.keeping import my_engine
    from helpers.predicting.attempting import attempt
    from helpers.predicting.overview import progress
    from helpers.predicting.prediction import draw, explain, find_line, order, predict
    from helpers.predicting.reviewing import review
    from helpers.predicting.settling import mended, run_order
    from helpers.ranks.calling import run_ranks

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
    "my_engine",
    "order",
    "plot",
    "predict",
    "progress",
    "record",
    "review",
    "run_order",
    "run_ranks",
    "show",
    "snapshot",
    "solution",
    "step_through",
    "watch",
    "watching",
]


_LATER = {  # players and predictions bring ipywidgets, which takes longer than all of ours
    "attempt": "helpers.predicting.attempting",
    "beside_torchviz": "autograd_graphs",
    "diagnose": "autograd_graphs",
    "draw": "helpers.predicting.prediction",
    "explain": "helpers.predicting.prediction",
    "find": "autograd_graphs",
    "find_line": "helpers.predicting.prediction",
    "labs": "helpers.labs",
    "mended": "helpers.predicting.settling",
    "my_engine": "helpers.engine.keeping",
    "order": "helpers.predicting.prediction",
    "predict": "helpers.predicting.prediction",
    "progress": "helpers.predicting.overview",
    "review": "helpers.predicting.reviewing",
    "run_order": "helpers.predicting.settling",
    "run_ranks": "helpers.ranks.calling",
    "step_through": "autograd_graphs",
    "watch": "autograd_graphs",
    "watching": "autograd_graphs",
}

add_library(Path(__file__).parent)
taught_by(Course(notebook, "glossary.ipynb", "clinic.ipynb"))
keep_with(keep)
install()


def __getattr__(name: str) -> Any:
    """Import one of the names in `_LATER`: whoever does not use it does not wait for it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LATER[name])
    return module if name == "labs" else getattr(module, name)
