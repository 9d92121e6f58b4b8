"""`plot_voices`: how long the gradient of each point is, round by round; and `lengths_alone`, which
computes those lengths without the gradients. Leaves models as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import nn

from helpers.moons import moons
from helpers.plots import Plot, plot

if TYPE_CHECKING:  # matplotlib takes half a second: only who plots waits for it
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize

SOFTEST, LOUDEST = 0.1, 1000.0  # the ends of the colours; what is softer has the darkest
COLOURS = "inferno"
POINTS = 11  # the size of words
SILENT = 0.01  # a length below this counts as none
SHARES = (0, "none"), (0.1, "few"), (0.4, "some"), (0.6, "about half"), (1, "most")


def plot_voices(heard: Sequence[tuple[nn.Module, torch.Tensor]]) -> Plot:
    """Plot what was heard in each round: a model, and the length of the gradient of each point.

    Point 0 has a row of its own; below it are the others, and how many of the hundred clean
    points the model gets right.
    """
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    table = torch.stack([lengths for _, lengths in heard]).T
    right = [_right(model) for model, _ in heard]
    looks = matplotlib.colormaps[COLOURS], LogNorm(SOFTEST, LOUDEST, clip=True)
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    rows = figure.subplots(3, sharex=True, gridspec_kw={"height_ratios": (1, 5, 2)})
    _draw_rows(rows[0], table[:1], "point 0", *looks)
    _draw_rows(rows[1], table[1:], "the others", *looks)
    rows[2].plot(right, color="C0")
    rows[2].set(ylim=(0, 100), yticks=(0, 50, 100))
    rows[2].set_xlabel("round", fontsize=POINTS)
    _name(rows[2], "points right")
    for axes in rows:
        axes.tick_params(labelsize=POINTS)
    bar = figure.colorbar(ScalarMappable(looks[1], looks[0]), ax=list(rows), pad=0.02)
    bar.set_label("length of a point's gradient", fontsize=POINTS)
    bar.ax.tick_params(labelsize=POINTS)
    bar.ax.yaxis.set_major_formatter("{x:g}")
    return plot(figure, alt=_in_words(table, right[-1]))


def _right(model: nn.Module) -> int:
    """Return how many of the hundred moons a model gets right."""
    points, moon = moons()
    with torch.no_grad():
        return int(((model(points) > 0) == moon).sum())


def _draw_rows(
    axes: Axes, table: torch.Tensor, name: str, colours: Colormap, scale: Normalize
) -> None:
    """Draw a row for each point as pixels, a column for each round."""
    pixels = colours(scale(table.clamp(min=SOFTEST).numpy()))[..., :3]
    axes.imshow(pixels, aspect="auto", interpolation="none")
    axes.set_yticks([])
    _name(axes, name)


def _name(axes: Axes, name: str) -> None:
    axes.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=POINTS)


def _in_words(table: torch.Tensor, right: int) -> str:
    """Say how long the gradients are, to two digits: a last digit differs between machines."""
    first, others = table[0], table[1:]
    return (
        f"The length of each point's gradient in {table.shape[1]} rounds. Point 0: at most "
        f"{_two_digits(first.max())}, and nothing in {_share(first < SILENT)} of the rounds. "
        f"The others: at most {_two_digits(others.max())}. Right at the end: {right} "
        f"of {len(moons()[0])}."
    )


def _two_digits(value: torch.Tensor) -> str:
    return f"{float(f'{value.item():.2g}'):g}"


def _share(is_so: torch.Tensor) -> str:
    """Return a share in words, so that one more or less makes no difference."""
    share = is_so.float().mean().item()
    return next(word for most, word in SHARES if share <= most)


def lengths_alone(
    model: nn.Module,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    points: torch.Tensor,
    labels: torch.Tensor,
) -> torch.Tensor:
    """Return the length of each point's own gradient, shape (points,), and build none of them.

    In a Linear layer the gradient of one point is an outer product: what came in times what arrives
    from behind. Its length is the product of theirs. `loss` takes the results and the labels of one
    point or of many, and is a sum over points. All weights have to be in Linear layers that run
    once.
    """
    came_in: dict[nn.Module, torch.Tensor] = {}
    arrived: dict[nn.Module, torch.Tensor] = {}
    layers = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    with ExitStack() as hooks:
        for layer in layers:
            keep = partial(_keep, came_in, arrived)
            hooks.enter_context(layer.register_forward_hook(keep))
        total = loss(model(points), labels)
    torch.autograd.grad(total, [layer.weight for layer in layers])
    squares = torch.zeros(len(points))
    for layer in layers:
        factor = came_in[layer].square().sum(1) + (layer.bias is not None)
        squares += arrived[layer].square().sum(1) * factor
    return squares.sqrt()


def _keep(
    came_in: dict[nn.Module, torch.Tensor],
    arrived: dict[nn.Module, torch.Tensor],
    layer: nn.Module,
    inputs: tuple[torch.Tensor, ...],
    output: torch.Tensor,
) -> None:
    """Keep what a layer is given, and the gradient that arrives at its result."""
    came_in[layer] = inputs[0].detach()
    output.register_hook(lambda gradient: arrived.__setitem__(layer, gradient))
