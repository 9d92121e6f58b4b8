"""`moons`: two half circles of points, the data of the small classifier that cases are about; and
`learn`, which trains it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn


def moons(count: int = 100, noise: float = 0.1) -> tuple[torch.Tensor, torch.Tensor]:
    """Return points in two half moons, shape (count, 2), and the moon of each, 0 or 1, (count, 1).

    The same numbers at each call; global random numbers are left alone.
    """
    random = torch.Generator().manual_seed(0)
    angle = math.pi * torch.rand(count, generator=random)
    moon = (torch.arange(count) % 2).float()
    up = 1 - 2 * moon  # the second moon opens upwards, and stands to the right
    points = torch.stack([angle.cos() * up + moon, angle.sin() * up + moon / 2], dim=1)
    return points + noise * torch.randn(count, 2, generator=random), moon[:, None]


def classifier() -> nn.Sequential:
    """Return a classifier of the moons with eight hidden numbers, the same one at each call; global
    random numbers are left alone.
    """
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))


def learn(activation: Callable[[torch.Tensor], torch.Tensor], rounds: int = 100) -> int:
    """Train a classifier of the moons with a function between its two layers, and return how many
    of the 100 points it gets right. The same numbers at each call.
    """
    points, moon = moons()
    first, _, last = classifier()
    weights = [*first.parameters(), *last.parameters()]
    for _ in range(rounds):
        guess = last(activation(first(points)))
        loss = nn.functional.binary_cross_entropy_with_logits(guess, moon)
        with torch.no_grad():
            for weight, gradient in zip(weights, torch.autograd.grad(loss, weights), strict=True):
                weight -= 0.1 * gradient
    with torch.no_grad():
        guess = last(activation(first(points)))
    return int(((guess > 0) == (moon > 0.5)).sum())
