"""Time `record(loss)` beside a bare `loss.backward()`, in turn in one run, and give the ratio pair
by pair.

Run `python -m benchmarks record_beside_backward`. Looking costs time: this says how much, on a
small network and on twelve layers of a transformer.
"""

from collections.abc import Callable

import torch

from benchmarks.measure import Row, seconds
from helpers import record


def small_network() -> torch.Tensor:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    return model(torch.randn(64, 10)).square().mean()


def twelve_layers() -> torch.Tensor:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return model(torch.randn(2, 16, 64)).square().mean()


def ms(run: Callable[[torch.Tensor], object], loss: torch.Tensor) -> float:
    return 1000 * seconds(lambda: run(loss))


def rows(rounds: int) -> list[Row]:
    """Return the times of both, and the ratio pair by pair."""
    return [row for make in (small_network, twelve_layers) for row in compare(make, rounds)]


def compare(make: Callable[[], torch.Tensor], rounds: int) -> list[Row]:
    case = f"{make.__name__}, {len(record(make()).steps)} steps"
    pairs = [(ms(record, make()), ms(torch.Tensor.backward, make())) for _ in range(rounds)]
    ours, bare = zip(*pairs, strict=True)
    ratio = tuple(one / other for one, other in pairs)
    named = (
        ("record", ours, "ms"),
        ("backward alone", bare, "ms"),
        ("record / backward", ratio, "times"),
    )
    return [Row("record", case, what, values, unit) for what, values, unit in named]
