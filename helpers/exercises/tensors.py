"""Make the tensors that the exercises of several lessons begin with, and look at what came back."""

import torch

from helpers.untrusted.plain import NotRead, plain


def leaf(*values: float) -> torch.Tensor:
    """Return a vector of floats that requires grad."""
    return torch.tensor(values, requires_grad=True)


def readable(value: object, otherwise: str = "no values that can be read") -> object:
    """Return `value`, or these words where it has no plain form, as a tensor on meta has none."""
    try:
        plain(value)
    except NotRead:
        return otherwise
    return value
