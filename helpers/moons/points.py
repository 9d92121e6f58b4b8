"""`moons`: two half circles of points, the data that cases are about. Reads no global."""

from __future__ import annotations

import math

import torch


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
