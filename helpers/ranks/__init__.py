"""Run one function in several processes that talk to each other: `run_ranks(function, world)`."""

from helpers.ranks.calling import run_ranks
from helpers.ranks.telling import RankError

__all__ = ["RankError", "run_ranks"]
