"""`classifier` of the moons, and `learn`, which trains one. Leaves global random numbers alone."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from helpers.moons.points import moons


def classifier(state: dict[str, torch.Tensor] | None = None) -> nn.Sequential:
    """Return a classifier of the moons with eight hidden numbers, the same one at each call, or one
    with the weights of a `state_dict()`; global random numbers are left alone.
    """
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    if state is not None:
        model.load_state_dict(state)
    return model


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


def pretrained() -> nn.Sequential:
    """Return a trained classifier, which gets all 100 points right; a new one at each call."""
    (points, moon), model = moons(), classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
    for _ in range(80):
        loss = nn.functional.binary_cross_entropy_with_logits(model(points), moon)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model
