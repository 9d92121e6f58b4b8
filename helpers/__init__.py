"""Look at PyTorch's computational graphs without disturbing them."""

from helpers.exercises import check, expect_error, hint, solution
from helpers.picture import Picture, show
from helpers.snapshot import snapshot
from helpers.torchviz_view import beside_torchviz

__all__ = ["Picture", "beside_torchviz", "check", "expect_error", "hint", "show", "snapshot", "solution"]
