"""Hold what a node saved, as far as it is safe and cheap to compute with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from autograd_graphs.looking.tensors import LARGE, is_plain

MOST_VERIFIED = 10_000  # elements of each tensor: a form is verified while a backward is recorded
UNSIGNED = 1 << 64  # torch tells a dimension of -1 as this, less 1


class NotTried(Exception):
    """Tell that a rule asked for a tensor that is not to be computed with."""


class Saved:
    """Hold what a rule may look at, for one input of a node: what the node saved, by torch's names,
    and beside it what it was made with.

    `grad` is what arrives for the first output, `shape` the shape of the input that gets a
    gradient, `shapes` those of all inputs, `position` the place of this one among them.
    """

    def __init__(self, held: Mapping[str, object], **seen: object) -> None:
        self.__dict__.update(seen)
        self.__dict__["held"] = held

    def __getattr__(self, name: str) -> Any:
        if name not in self.held:
            raise AttributeError(name)
        value = self.held[name]
        if not is_usable(value):
            raise NotTried(name)
        return value

    def changed(self, change: Callable[[Any], Any]) -> Saved:
        """Return the same with its tensors, saved or arrived, changed."""
        seen = {name: change(value) for name, value in vars(self).items() if name != "held"}
        held = {name: change(value) for name, value in self.held.items()}
        return Saved(held, **seen)


def signed(value: object) -> object:
    """Return a number, or a list of them, as torch means it: below 0 where it was wrapped."""
    if isinstance(value, tuple | list):
        return tuple(map(signed, value))
    if type(value) is int and value >= UNSIGNED // 2:
        return value - UNSIGNED
    return value


def is_usable(value: object) -> bool:
    if isinstance(value, tuple):
        return all(item is None or is_usable(item) for item in value)
    return not torch.is_tensor(value) or is_small(value)


def is_small(tensor: torch.Tensor) -> bool:
    """Say whether a form may be computed with a tensor."""
    return computable(tensor) and tensor.numel() <= MOST_VERIFIED


def computable(tensor: torch.Tensor) -> bool:
    """Say whether arithmetic on a tensor is safe and cheap: a plain, dense one with values, of at
    most `LARGE`.

    Without its class's own code a nested or wrapped tensor is a shape with no memory behind it:
    torch crashes.
    """
    if not is_plain(tensor) or tensor.layout != torch.strided:
        return False
    return not (tensor.is_nested or tensor.is_meta or tensor.numel() > LARGE)
