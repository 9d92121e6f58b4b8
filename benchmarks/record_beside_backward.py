"""Time `record(loss)` beside a bare `loss.backward()`, in turn in one run, and give the ratio pair
by pair.

Run `python -m benchmarks record_beside_backward`. Looking costs time: this says how much, on a
small network, on twelve layers of a transformer, and on a ResNet-50 at batch 2.
"""

from collections.abc import Callable

import torch
from torch import nn

from benchmarks.measure import Row, seconds
from helpers import record

Loss = Callable[[], torch.Tensor]
MOST = {"twelve_layers": 15, "resnet_50": 2}  # times as long as a bare backward


def small_network() -> Loss:
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
    return loss_of(model, torch.randn(64, 10))


def twelve_layers() -> Loss:
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return loss_of(model, torch.randn(2, 16, 64))


def resnet_50() -> Loss:
    """Be as wide and as deep as ResNet-50, on two pictures of 224 by 224."""
    layers = [*step(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for wide, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for nr in range(count):
            layers.append(Bottleneck(channels, wide, 2 if nr == 0 and wide > 64 else 1))
            channels = 4 * wide
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1_000)]
    return loss_of(nn.Sequential(*layers), torch.randn(2, 3, 224, 224))


def step(channels: int, wide: int, size: int, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(channels, wide, size, stride, padding=size // 2, bias=False)
    return [convolution, nn.BatchNorm2d(wide), nn.ReLU(inplace=True)]


class Bottleneck(nn.Module):
    """Be a residual block of 1×1, 3×3 and 1×1 convolutions."""

    def __init__(self, channels: int, wide: int, stride: int) -> None:
        super().__init__()
        last = step(wide, 4 * wide, 1)[:2]
        self.body = nn.Sequential(*step(channels, wide, 1), *step(wide, wide, 3, stride), *last)
        self.skip = nn.Identity()
        if channels != 4 * wide or stride > 1:
            self.skip = nn.Sequential(*step(channels, 4 * wide, 1, stride)[:2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.skip(x))


def loss_of(model: nn.Module, inputs: torch.Tensor) -> Loss:
    """Return what makes a loss anew, each time with empty `.grad`s."""

    def make() -> torch.Tensor:
        model.zero_grad()
        return model(inputs).square().mean()

    return make


def ms(run: Callable[[torch.Tensor], object], loss: torch.Tensor) -> float:
    return 1000 * seconds(lambda: run(loss))


def rows(rounds: int) -> list[Row]:
    """Return the times of both, and the ratio pair by pair."""
    return [
        row for make in (small_network, twelve_layers, resnet_50) for row in compare(make, rounds)
    ]


def compare(build: Callable[[], Loss], rounds: int) -> list[Row]:
    torch.manual_seed(0)
    make = build()
    case = f"{build.__name__}, {len(record(make()).steps)} steps"
    pairs = [(ms(record, make()), ms(torch.Tensor.backward, make())) for _ in range(rounds)]
    ours, bare = zip(*pairs, strict=True)
    ratio = tuple(one / other for one, other in pairs)
    return [
        Row("record", case, "record", ours, "ms"),
        Row("record", case, "backward alone", bare, "ms"),
        Row(
            "record",
            case,
            "record / backward",
            ratio,
            "times",
            most_wanted=MOST.get(build.__name__),
        ),
    ]
