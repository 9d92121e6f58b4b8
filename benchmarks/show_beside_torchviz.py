"""Time `show(e)` beside torchviz with the `dot` program, in turn in one run, and print the ratio of medians.

Run `python benchmarks/show_beside_torchviz.py`. It needs the `dot` program (Debian's package `graphviz`), which
the course itself does not.
"""

import shutil
import statistics
import time
import warnings
from collections.abc import Callable

import torch

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


def main() -> None:
    if not shutil.which("dot"):
        raise SystemExit("The dot program is not installed: there is nothing to compare with.")
    tensor = example()
    show(tensor), with_torchviz(tensor)  # warm up
    pairs = [(seconds(show, tensor), seconds(with_torchviz, tensor)) for _ in range(ROUNDS)]
    ours, theirs = (sorted(column) for column in zip(*pairs, strict=True))
    for name, times in (("show", ours), ("torchviz + dot", theirs)):
        low, middle, high = (1000 * value for value in (times[0], statistics.median(times), times[-1]))
        print(f"{name:15} {low:7.1f} {middle:7.1f} {high:7.1f} ms (least, median, most of {ROUNDS})")
    print(f"torchviz + dot takes {statistics.median(t / o for o, t in pairs):.1f} times as long")


if __name__ == "__main__":
    main()
