"""`walk`: push a point straight through the two moons, and draw what a model says of it on the way,
the slope of that, and the slope of the slope. Leaves the model as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from helpers.moons import moons
from helpers.plots import Plot, plot

if TYPE_CHECKING:  # matplotlib takes half a second
    from matplotlib.axes import Axes

LEFT, RIGHT, HEIGHT, PLACES = -1.3, 2.3, 0.25, 361
CURVES = ("the score", "its slope", "the slope\nof its slope")
COLOURS = ("C0", "C1")  # of moon 0 and moon 1, and of the first and the second model
POINTS = 11  # the size of words
BESIDE = {"rotation": 0, "ha": "left", "va": "center", "fontsize": POINTS}
NAMED = ((-1.3, -0.5), (1.95, 0.7))  # where the moons have their names
LOOKS = ({"linestyle": "-"}, {"linestyle": "--"})


def walk(*models: nn.Module, names: tuple[str, ...] = ("",)) -> Plot:
    """Draw the path of the point, and below it three curves for each of one or two models: its
    score along the way, the slope of the score, and the slope of that slope.
    """
    import matplotlib.pyplot as plt

    heights = {"height_ratios": (1.2, 1, 1, 1)}
    figure, (above, *axes) = plt.subplots(
        4, figsize=(8, 3.4), sharex=True, layout="constrained", gridspec_kw=heights
    )
    _draw_the_way(above)
    said = []
    for model, name, look, colour in zip(models, names, LOOKS, COLOURS, strict=False):
        curves = along(model)
        said.append(f"{name or 'One classifier'}: {_in_words(curves)}.")
        for panel, curve in zip(axes, curves, strict=True):
            panel.plot(places(), curve, label=name, color=colour, **look)
    for panel, title in zip(axes, CURVES, strict=True):
        panel.axhline(0, color="#8a8f98", linewidth=0.8)
        panel.set_ylabel(title, **BESIDE)
        panel.locator_params(axis="y", nbins=3)
        if not any(line.get_ydata().any() for line in panel.lines[:-1]):
            panel.set_ylim(-1, 1)
    if len(models) > 1:
        axes[0].legend(loc="upper left", ncols=2, fontsize=POINTS, frameon=False)
    for panel in (above, *axes):
        panel.tick_params(labelsize=POINTS)
        panel.yaxis.set_label_coords(-0.2, 0.5)
    begin = "A straight path through both moons, and three curves along it, one below the other."
    return plot(figure, alt=" ".join([begin, *said]))


def places() -> torch.Tensor:
    return torch.linspace(LEFT, RIGHT, PLACES)


def along(model: nn.Module) -> list[torch.Tensor]:
    """Return the score at each place of the way, its slope along the way, and the slope of that."""
    way = torch.stack([places(), torch.full((PLACES,), HEIGHT)], 1).requires_grad_()
    score = model(way)
    (slope,) = torch.autograd.grad(score.sum(), way, create_graph=True)
    (bend,) = torch.autograd.grad(slope[:, 0].sum(), way)
    return [score[:, 0].detach(), slope[:, 0].detach(), bend[:, 0]]


def _draw_the_way(axes: Axes) -> None:
    points, moon = moons()
    for number, (colour, mark) in enumerate(zip(COLOURS, ("o", "^"), strict=True)):
        some = points[moon[:, 0] == number]
        axes.scatter(some[:, 0], some[:, 1], s=12, color=colour, marker=mark)
        axes.text(*NAMED[number], f"moon {number}", color=colour, fontsize=POINTS)
    axes.annotate(
        "", (RIGHT, HEIGHT), (LEFT, HEIGHT), arrowprops={"arrowstyle": "->", "linewidth": 1.2}
    )
    axes.set_ylabel("the path", **BESIDE)


def _in_words(curves: list[torch.Tensor]) -> str:
    """Say between which whole numbers each curve runs."""
    said = []
    for name, curve in zip(CURVES, curves, strict=True):
        low, high = round(curve.min().item()), round(curve.max().item())
        said.append(f"{' '.join(name.split())} from {low} to {high}")
    return ", ".join(said)
