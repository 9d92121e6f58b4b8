"""Look at PyTorch's computational graphs without disturbing them."""

from helpers import labs
from helpers.clinic.report import diagnose
from helpers.exercises import check, expect_error, hint, solution
from helpers.picture import Picture, show
from helpers.plots import plot
from helpers.record import record
from helpers.snapshot import snapshot
from helpers.stepping import step_through
from helpers.torchviz_view import beside_torchviz

__all__ = [
    "Picture",
    "beside_torchviz",
    "check",
    "diagnose",
    "expect_error",
    "hint",
    "labs",
    "plot",
    "record",
    "show",
    "snapshot",
    "solution",
    "step_through",
]
