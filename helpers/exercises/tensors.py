"""Make the tensors that the exercises of several lessons begin with, and read what became of them."""

import torch

from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import NotRead, plain
from helpers.exercises.values import same

_tensor = torch.tensor  # a student may put another one in its place


def leaf(*values: float) -> torch.Tensor:
    """Return a vector of floats that requires grad."""
    return _tensor(values, requires_grad=True)


def readable(value: object) -> object:
    """Return a value as plain Python, or in words what it is: for observers, which never raise."""
    try:
        return plain(value)
    except NotRead:
        return describe(value)


NOT_A_TENSOR, SEVERAL = "no tensor", "several numbers"
NO_TENSOR = (
    "You don't return a tensor. `.item()` and `.tolist()` give plain numbers, and backward can't"
    " start from those."
)


def no_loss(returned: object) -> str:
    """Say why backward can't start from what a function returned; "" where it is one number."""
    if not isinstance(returned, torch.Tensor):
        return NOT_A_TENSOR
    return "" if returned.numel() == 1 else SEVERAL


_given: list[tuple[torch.Tensor, tuple]] = []  # the tensors of the case that runs, as they came in


def noted(*inputs: object) -> tuple:
    """Note how the tensors of a case are before a student's code sees them, and return its inputs."""
    _given[:] = [(tensor, _state(tensor)) for tensor in tensors_in(inputs)]
    return inputs


def tensors_in(value: object) -> list[torch.Tensor]:
    """Return the tensors in lists and dicts, and the parameters of models there."""
    if isinstance(value, torch.Tensor):
        return [value]
    inside = ()
    if isinstance(value, (list, tuple)):
        inside = value
    elif isinstance(value, dict):
        inside = dict.values(value)
    elif isinstance(value, torch.nn.Module):
        inside = value.parameters()
    return [tensor for part in inside for tensor in tensors_in(part)]


def afterwards() -> str:
    """Say whether the tensors of the case are still what they were, their gradients and flags too."""
    is_kept = all(same(_state(tensor), before) for tensor, before in _given)
    return "as they were" if is_kept else "changed"


def _state(tensor: torch.Tensor) -> tuple:
    flags = tensor.requires_grad, tensor.is_leaf, tensor.retains_grad, tensor.dtype
    return *flags, readable(tensor), readable(tensor.grad)
