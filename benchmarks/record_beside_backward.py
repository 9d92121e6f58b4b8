"""Time `record(loss)` beside a bare `loss.backward()`, in turn in one run, and print the ratio of medians.

Run `python benchmarks/record_beside_backward.py`. Looking costs time: this says how much, on a small network and
on twelve layers of a transformer.
"""

import statistics
import time
from collections.abc import Callable

import torch

from helpers import record

ROUNDS = 15


def small_network() -> torch.Tensor:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    return model(torch.randn(64, 10)).square().mean()


def twelve_layers() -> torch.Tensor:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return model(torch.randn(2, 16, 64)).square().mean()


def seconds(make: Callable[[], torch.Tensor], run: Callable[[torch.Tensor], object]) -> float:
    loss = make()
    begin = time.perf_counter()
    run(loss)
    return time.perf_counter() - begin


def compare(make: Callable[[], torch.Tensor]) -> None:
    steps = len(record(make()).steps)
    pairs = [(seconds(make, record), seconds(make, torch.Tensor.backward)) for _ in range(ROUNDS)]
    ours, bare = (statistics.median(column) * 1000 for column in zip(*pairs, strict=True))
    ratio = statistics.median(one / other for one, other in pairs)
    print(f"{make.__name__:15} {steps:5} steps  record {ours:8.2f} ms  backward {bare:7.2f} ms  {ratio:6.1f} times")


def main() -> None:
    for make in (small_network, twelve_layers):
        compare(make)


if __name__ == "__main__":
    main()
