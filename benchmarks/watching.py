"""A training loop with `watching` beside the same loop without, on one thread."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

import torch
from torch import nn

from benchmarks.growth import worked
from benchmarks.measure import Row, ratios
from helpers import watching

MOST = 1.5  # times as long as without
TRAINED = {  # the model, what it is given, rounds
    "two layers, 193 weights": (lambda: mlp(32), (32, 4), 200),
    "four layers, 0.5 million weights": (lambda: mlp(512, 512), (64, 4), 30),
    "convolutions, 0.3 million weights": (lambda: convolutions(), (4, 3, 32, 32), 10),
}
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "SGD": lambda weights: torch.optim.SGD(weights, lr=0.01),
    "Adam": lambda weights: torch.optim.Adam(weights, lr=0.01),
}


def mlp(*widths: int) -> nn.Module:
    layers: list[nn.Module] = []
    last = 4
    for width in (*widths, widths[-1])[: len(widths) + (len(widths) > 1)]:
        layers += [nn.Linear(last, width), nn.ReLU()]
        last = width
    return nn.Sequential(*layers, nn.Linear(last, 1))


def convolutions() -> nn.Module:
    layers: list[nn.Module] = []
    for before, after in ((3, 32), (32, 64), (64, 128), (128, 128)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 1))


def loop(case: str, kind: str, is_watched: bool) -> Callable[[], None]:
    """Return a function that trains a new model; what it prints is thrown away."""
    make, shape, rounds = TRAINED[case]
    torch.manual_seed(0)
    model, inputs = make(), torch.randn(shape)
    optimizer = OPTIMIZERS[kind](model.parameters())

    def train() -> None:
        for _ in range(rounds):
            optimizer.zero_grad()
            loss = model(inputs).square().mean()
            loss.backward()
            optimizer.step()

    def watched() -> None:
        with contextlib.redirect_stdout(io.StringIO()), watching(model, optimizer):
            train()

    return watched if is_watched else train


def rows(rounds: int) -> list[Row]:
    """Return how many times as long each loop takes when it is watched; the first time warms up."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = []
    for case in TRAINED:
        for kind in OPTIMIZERS:
            times: list[list[float]] = [[], []]
            for _ in range(rounds + 1):
                for is_watched in (False, True):
                    times[is_watched].append(worked(loop(case, kind, is_watched)))
            plain, watched = (each[1:] for each in times)
            each = tuple(took / TRAINED[case][2] for took in plain)
            found.append(Row(case, f"{kind}, a round without", each))
            ratio = ratios(plain, watched)
            found.append(Row(case, f"{kind}, watched / without", ratio, "times", MOST))
    torch.set_num_threads(threads)
    return found
