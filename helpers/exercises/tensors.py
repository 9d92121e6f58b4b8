"""Make the tensors that the exercises of several lessons begin with."""

import torch


def leaf(*values: float) -> torch.Tensor:
    """Return a vector of floats that requires grad."""
    return torch.tensor(values, requires_grad=True)
