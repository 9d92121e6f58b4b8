"""Make the tensors that the exercises of several lessons begin with, and read what became of them."""

import torch

from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import NotRead, plain

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
