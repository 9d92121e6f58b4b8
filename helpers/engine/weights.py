"""The numbers from which lesson 19 trains a classifier of the moons, on any engine."""

import torch

from helpers.moons import classifier

SIZES = (2, 8), (8,), (8, 1), (1,)


def random_weights() -> list[torch.Tensor]:
    """Return weight, bias, weight and bias of two layers, float64, the same at each call."""
    dice = torch.Generator().manual_seed(1)
    return [torch.randn(size, generator=dice, dtype=torch.float64) for size in SIZES]


def classifier_weights() -> list[torch.Tensor]:
    """Return those with which `classifier()` begins, float64, as `points @ weight + bias` wants them.

    They are rounded to four digits, since processors differ in the last ones of a float32.
    """
    first, _, last = classifier()
    parts = first.weight.T, first.bias, last.weight.T, last.bias
    return [part.detach().double().round(decimals=4) for part in parts]
