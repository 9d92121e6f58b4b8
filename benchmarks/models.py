"""The models that are looked at, each with its input: `torch.nn` only, small, fixed seeds."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Case:
    """Hold a model in training mode, what it is called with."""

    model: nn.Module
    inputs: Tensor

    def loss(self) -> Tensor:
        return self.model(self.inputs).sum()


class Bottleneck(nn.Module):
    """Be a residual block of 1×1, 3×3 and 1×1 convolutions, as ResNet-50 stacks sixteen of them."""

    def __init__(self, channels: int, wide: int, widen: bool) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *self.step(channels, wide // 4, 1),
            *self.step(wide // 4, wide // 4, 3),
            *self.step(wide // 4, wide, 1)[:2],
        )
        self.skip = nn.Sequential(*self.step(channels, wide, 1)[:2]) if widen else nn.Identity()

    @staticmethod
    def step(channels: int, wide: int, size: int) -> list[nn.Module]:
        return [
            nn.Conv2d(channels, wide, size, padding=size // 2, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU(),
        ]

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.skip(x))


def mlp() -> Case:
    layers = nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)
    return Case(nn.Sequential(*layers), torch.ones(4, 8))


def resnet50_like() -> Case:
    layers = [nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    channels = 8
    for wide, count in ((16, 3), (32, 4), (64, 6), (128, 3)):
        for nr in range(count):
            layers.append(Bottleneck(channels, wide, widen=nr == 0))
            channels = wide
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)]
    return Case(nn.Sequential(*layers), torch.ones(2, 3, 16, 16))


def transformer_12() -> Case:
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return Case(encoder, torch.ones(2, 8, 32))


MODELS = {maker.__name__: maker for maker in (mlp, transformer_12, resnet50_like)}


def make(name: str) -> Case:
    """Return a model with its input: the same numbers at every call."""
    torch.manual_seed(0)
    return MODELS[name]()
