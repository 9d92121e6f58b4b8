"""The labs: one small module each, a world of real tensors, its actions and its words."""

from helpers.labs.accumulation import accumulation
from helpers.labs.explorer import explorer
from helpers.labs.hooks import hooks
from helpers.labs.jacobian import jacobian
from helpers.labs.leaves import leaves
from helpers.labs.lifecycle import lifecycle
from helpers.labs.loop import loop
from helpers.labs.ranks import ranks
from helpers.labs.requires_grad import requires_grad
from helpers.labs.shelf import shelf
from helpers.labs.sure import sure
from helpers.labs.versions import versions
from helpers.labs.who_records import who_records

__all__ = [
    "accumulation",
    "explorer",
    "hooks",
    "jacobian",
    "leaves",
    "lifecycle",
    "loop",
    "ranks",
    "requires_grad",
    "shelf",
    "sure",
    "versions",
    "who_records",
]
