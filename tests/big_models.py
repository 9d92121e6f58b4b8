"""Models of the wild, small in width and large in depth: each function builds one and returns the
graph of its loss.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from torch import nn

import helpers
from autograd_graphs.large.fold import fold
from autograd_graphs.looking.snapshot import Limits
from helpers import module_calls, snapshot

WIDE, HEADS, WORDS = 8, 2, 16


def layer(width=WIDE, **more):
    return nn.TransformerEncoderLayer(
        width, HEADS, 2 * width, dropout=0.0, batch_first=True, **more
    )


def encoder(depth=12):
    return nn.TransformerEncoder(layer(), depth, enable_nested_tensor=False)


def transformer():
    model = nn.Sequential(nn.Embedding(WORDS, WIDE), encoder(), nn.Linear(WIDE, WORDS))
    tokens = torch.arange(10).reshape(2, 5)
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    return snapshot(loss)


def albert():
    """Call one layer six times: attention with shared weights."""
    embedding, shared, head = nn.Embedding(WORDS, WIDE), layer(), nn.Linear(WIDE, 2)
    x = embedding(torch.arange(10).reshape(2, 5))
    for _ in range(6):
        x = shared(x)
    loss = nn.functional.cross_entropy(head(x[:, 0]), torch.tensor([0, 1]))
    return snapshot(loss)


class Bottleneck(nn.Module):
    def __init__(self, channels, inner, stride):
        super().__init__()
        wide = 4 * inner
        self.conv1, self.bn1 = nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.conv2, self.bn2 = (
            nn.Conv2d(inner, inner, 3, stride, 1, bias=False),
            nn.BatchNorm2d(inner),
        )
        self.conv3, self.bn3 = nn.Conv2d(inner, wide, 1, bias=False), nn.BatchNorm2d(wide)
        narrow = stride != 1 or channels != wide
        down = nn.Sequential(nn.Conv2d(channels, wide, 1, stride, bias=False), nn.BatchNorm2d(wide))
        self.downsample = down if narrow else None

    def forward(self, x):
        y = self.bn1(self.conv1(x)).relu()
        y = self.bn3(self.conv3(self.bn2(self.conv2(y)).relu()))
        return (y + (x if self.downsample is None else self.downsample(x))).relu()


class ResNet50(nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.conv1, self.bn1, channels = (
            nn.Conv2d(3, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width),
            width,
        )
        for stage, count in enumerate((3, 4, 6, 3)):
            inner, blocks = width * 2**stage, []
            for nr in range(count):
                blocks.append(Bottleneck(channels, inner, 2 if stage and not nr else 1))
                channels = 4 * inner
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(channels, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.bn1(self.conv1(x)).relu(), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def resnet50():
    model = ResNet50()
    loss = nn.functional.cross_entropy(model(torch.ones(2, 3, 32, 32)), torch.tensor([0, 1]))
    return snapshot(loss)


def double(channels, wide):
    return nn.Sequential(
        nn.Conv2d(channels, wide, 3, padding=1),
        nn.BatchNorm2d(wide),
        nn.ReLU(),
        nn.Conv2d(wide, wide, 3, padding=1),
        nn.BatchNorm2d(wide),
        nn.ReLU(),
    )


class UNet(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        wide = [2 * 2**nr for nr in range(depth + 1)]
        self.first = double(1, wide[0])
        self.down = nn.ModuleList(double(a, b) for a, b in pairwise(wide))
        pairs = list(zip(wide[:0:-1], wide[-2::-1], strict=True))
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs)
        self.join = nn.ModuleList(double(2 * b, b) for _, b in pairs)
        self.last = nn.Conv2d(wide[0], 1, 1)

    def forward(self, x):
        skips = [self.first(x)]
        for down in self.down:
            skips.append(down(nn.functional.max_pool2d(skips[-1], 2)))
        x = skips.pop()
        for up, join in zip(self.up, self.join, strict=True):
            x = join(torch.cat([skips.pop(), up(x)], 1))
        return self.last(x)


def unet():
    model = UNet()
    loss = nn.functional.mse_loss(model(torch.ones(2, 1, 16, 16)), torch.zeros(2, 1, 16, 16))
    return snapshot(loss)


class Dense(nn.ModuleList):
    """Give each layer all that the layers before it made."""

    def __init__(self, channels, count, grown=2):
        super().__init__(double(channels + nr * grown, grown) for nr in range(count))

    def forward(self, x):
        for layer in self:
            x = torch.cat([x, layer(x)], 1)
        return x


def densenet():
    """Stack blocks, each larger, in one Sequential that holds nearly all of the model."""
    features, channels = [nn.Conv2d(3, 4, 3)], 4
    for count in (6, 12, 16):
        features.append(Dense(channels, count))
        channels += 2 * count
        features += [nn.Conv2d(channels, channels // 2, 1), nn.MaxPool2d(2)]
        channels //= 2
    model = nn.ModuleDict({"features": nn.Sequential(*features), "head": nn.Linear(channels, 2)})
    made = model["features"](torch.ones(2, 3, 34, 34)).mean((2, 3))
    return snapshot(nn.functional.cross_entropy(model["head"](made), torch.tensor([0, 1])))


def lstm():
    """Unroll 50 steps and stack what each gives."""
    cell, h, c, outputs = nn.LSTMCell(4, WIDE), torch.zeros(2, WIDE), torch.zeros(2, WIDE), []
    for _ in range(50):
        h, c = cell(torch.ones(2, 4), (h, c))
        outputs.append(h)
    loss = torch.stack(outputs).mean()
    return snapshot(loss)


def two_stacked_cells():
    lower, upper, one, other = nn.LSTMCell(4, WIDE), nn.LSTMCell(WIDE, WIDE), None, None
    for _ in range(20):
        one = lower(torch.ones(2, 4), one)
        other = upper(one[0], other)
    loss = other[0].sum()
    return snapshot(loss)


def own_weights_loop():
    y, kept = torch.tensor(1.0), []
    for nr in range(50):
        w, b = (torch.tensor(1.0 + nr, requires_grad=True) for _ in range(2))
        kept += [w, b]
        y = y * w + b
    return snapshot(y)


def cut_at_the_cap():
    model = encoder(36)
    loss = model(torch.ones(2, 5, WIDE)).sum()
    with patch("autograd_graphs.looking.snapshot.WHOLE", Limits(1_500, 44_000)):
        return snapshot(loss)


EVERY = [transformer, albert, resnet50, unet, densenet, lstm, two_stacked_cells]
EVERY += [own_weights_loop, cut_at_the_cap]
MODELS = {function.__name__: function for function in EVERY}


def graph_of(name):
    """Return the graph of a model, of equal values in each call."""
    torch.manual_seed(0)
    return MODELS[name]()


def graph_with_calls(name):
    """Return the graph of a model with the module calls of its forward; modules go by their classes.

    A model calls `snapshot` itself, so the block is closed right before.
    """
    torch.manual_seed(0)
    calls = module_calls(nn.Identity())

    def look(*tensors, names=None):
        calls.__exit__()
        return helpers.snapshot(*tensors, names=calls)

    with pytest.MonkeyPatch.context() as patch, calls:
        patch.setitem(MODELS[name].__globals__, "snapshot", look)
        return MODELS[name]()


KEPT = ("transformer", "resnet50", "lstm", "unet", "albert")  # models whose texts are kept


def golden(name):
    """Return the file that keeps the text of a folded model."""
    return Path(__file__).parent / "golden" / f"folded_{name}.txt"


def text(name):
    """Return what is kept of a model: its text with module calls, and without."""
    both = (fold(graph_with_calls(name)), fold(graph_of(name)))
    return "\n\n".join(map(str, both)) + "\n"


if __name__ == "__main__":
    for name in KEPT:
        golden(name).write_text(text(name), encoding="utf-8")
