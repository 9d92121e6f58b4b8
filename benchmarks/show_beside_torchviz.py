"""Time `show(e)` beside torchviz with the `dot` program, for four numbers, in turn in one process
that is warm.

Run `python -m benchmarks show_beside_torchviz`. It needs the `dot` program (Debian's package
`graphviz`), which the course itself does not.
"""

import shutil
import time
import warnings
from collections.abc import Callable

import torch

from benchmarks.measure import Row
from helpers import show

ROUNDS = 30


def example() -> torch.Tensor:
    a, b, c, d = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 5.0, 10.0))
    return a * b + torch.log(d) * c


def with_torchviz(tensor: torch.Tensor) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torchviz import make_dot
    return make_dot(tensor).pipe(format="svg")


def seconds(work: Callable[[torch.Tensor], object], tensor: torch.Tensor) -> float:
    begin = time.perf_counter()
    work(tensor)
    return time.perf_counter() - begin


def rows(rounds: int = ROUNDS) -> list[Row]:
    """Return the times of both, and the ratio pair by pair."""
    if not shutil.which("dot"):
        return [Row("warm", "four numbers", "torchviz + dot", words="no dot program is installed")]
    tensor = example()
    show(tensor), with_torchviz(tensor)  # warm up
    pairs = [
        (1000 * seconds(show, tensor), 1000 * seconds(with_torchviz, tensor)) for _ in range(rounds)
    ]
    ours, theirs = zip(*pairs, strict=True)
    ratio = tuple(other / one for one, other in pairs)
    return [
        Row("warm", "four numbers", "show", ours),
        Row("warm", "four numbers", "torchviz + dot", theirs),
        Row("warm", "four numbers", "torchviz / show", ratio, "times", 3),
    ]
