"""What a lab's world is: real tensors, actions that really run, and words for what is there. Runs
nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch


class World:
    """Be a small world: attributes that are real tensors, and actions, methods that really do
    something to them.

    `actions` are (method, words for its button). An attribute whose name begins with _ takes no
    part in deciding whether two states are equal; every other one does.
    """

    actions: tuple[tuple[str, str], ...] = ()
    limits = ""  # where `offers` keeps the world small, this says so

    def reset(self) -> None:
        """Build everything anew."""

    def offers(self, action: str) -> bool:
        """Say whether the map holds an action here: one that makes sense, within the limits. Where
        not, its button says that the map has no such step; it never says that nothing would
        change.
        """
        return True

    def roots(self) -> tuple[torch.Tensor, ...]:
        """Return the tensors whose graph is drawn."""
        return ()

    def whole(self) -> Mapping[str, torch.Tensor]:
        """Return freshly made tensors, by name, whose graph is drawn behind as a ghost: the first
        is the root.
        """
        return {}

    def values(self) -> tuple[tuple[str, str], ...]:
        """Return what stands in the table: (name, text)."""
        return ()

    def bars(self) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """Return what is drawn as bars: (label, heights)."""
        return ()

    def focus(self) -> int | None:
        """Return the number of the node that the talk is of."""
        return None

    def say(self) -> str:
        """Say in one sentence, from what is there and never from what was done, what to notice."""
        return ""
