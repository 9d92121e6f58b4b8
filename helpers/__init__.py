"""Look at PyTorch's computational graphs without disturbing them."""

from helpers import labs
from helpers.exercises import check, expect_error, hint, solution
from helpers.picture import Picture, show
from helpers.record import record
from helpers.snapshot import snapshot
from helpers.stepping import step_through
from helpers.torchviz_view import beside_torchviz

__all__ = [
    "Picture",
    "beside_torchviz",
    "check",
    "expect_error",
    "hint",
    "labs",
    "record",
    "show",
    "snapshot",
    "solution",
    "step_through",
]
