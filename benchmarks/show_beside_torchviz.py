"""Time `show(e)` beside torchviz with the `dot` program, for four numbers, in turn in one process
that is warm.

Run `python -m benchmarks show_beside_torchviz`. It needs the `dot` program (Debian's package
`graphviz`), which the course itself does not.
"""

import shutil
import warnings

import torch

from benchmarks.measure import Row, seconds
from helpers import show


def example() -> torch.Tensor:
    a, b, c, d = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 5.0, 10.0))
    return a * b + torch.log(d) * c


def with_torchviz(tensor: torch.Tensor) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torchviz import make_dot
    return make_dot(tensor).pipe(format="svg")


def rows(rounds: int) -> list[Row]:
    """Return the times of both, and the ratio pair by pair."""
    if not shutil.which("dot"):
        return [Row("warm", "four numbers", "torchviz + dot", words="no dot program is installed")]
    tensor = example()
    show(tensor), with_torchviz(tensor)  # warm up
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(1000 * seconds(lambda: show(tensor)))
        theirs.append(1000 * seconds(lambda: with_torchviz(tensor)))
    ratio = tuple(other / one for one, other in zip(ours, theirs, strict=True))
    return [
        Row("warm", "four numbers", "show", tuple(ours)),
        Row("warm", "four numbers", "torchviz + dot", tuple(theirs)),
        Row("warm", "four numbers", "torchviz / show", ratio, "times", 3),
    ]
