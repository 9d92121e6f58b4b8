"""Make the tensors that the exercises of several lessons begin with, and read what became of them."""

from collections.abc import Iterable

import torch

from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import NotRead, plain
from helpers.exercises.values import same

_tensor = torch.tensor  # a student may put another one in its place


def leaf(*values: float) -> torch.Tensor:
    """Return a vector of floats that requires grad."""
    return _tensor(values, requires_grad=True)


def counted(value: float) -> torch.Tensor:
    """Return a number that requires grad and notes in `arrived` each gradient that comes to it,
    through `backward()` or `torch.autograd.grad`.
    """
    number = _tensor(value, requires_grad=True)
    number.arrived = arrived = []
    number.register_hook(lambda gradient: arrived.append(gradient.detach().clone()))
    return number


def readable(value: object) -> object:
    """Return a value as plain Python, or in words what it is: for observers, which never raise."""
    try:
        return plain(value)
    except NotRead:
        return describe(value)


_given: list[tuple[torch.Tensor, tuple]] = []  # the tensors of the case that runs, as they came in


def note(tensors: Iterable[torch.Tensor]) -> None:
    """Note how the tensors of a case are before a student's code sees them."""
    _given[:] = [(tensor, _state(tensor)) for tensor in tensors]


def afterwards() -> str:
    """Say whether the tensors of the case are still what they were, their gradients and flags too."""
    is_kept = all(same(_state(tensor), before) for tensor, before in _given)
    return "as they were" if is_kept else "changed"


def _state(tensor: torch.Tensor) -> tuple:
    flags = tensor.requires_grad, tensor.is_leaf, tensor.retains_grad, tensor.dtype
    return *flags, readable(tensor), readable(tensor.grad)
