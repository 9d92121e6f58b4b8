"""`plot_flow`: how large the gradient of each layer's weight is, for lesson 14."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from helpers.plots import Plot, plot


def plot_flow(
    layers: Sequence[torch.nn.Module], act: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor
) -> Plot:
    """Plot the norm of the gradient of each layer's weight, without and with `+ h`.

    Without it a layer makes `act(layer(h))` of `h`. The loss is the sum of the last `h`. Leaves
    `.grad` as it was.
    """
    from matplotlib.figure import Figure  # it takes half a second: only who plots waits for it

    figure = Figure(figsize=(7, 2.8), layout="constrained")
    axes = figure.subplots()
    numbers = range(1, len(layers) + 1)
    axes.semilogy(numbers, gradient_norms(layers, act, x), label="without + h")
    axes.semilogy(numbers, gradient_norms(layers, act, x, skip=True), label="with + h")
    axes.set_xlabel("layer")
    axes.set_title("norm of the gradient", loc="left", fontsize=11)
    axes.locator_params(axis="x", integer=True)
    axes.yaxis.set_major_formatter("{x:.0e}")
    axes.legend()
    return plot(figure)


def gradient_norms(
    layers: Sequence[torch.nn.Module],
    act: Callable[[torch.Tensor], torch.Tensor],
    x: torch.Tensor,
    skip: bool = False,
) -> list[float]:
    """Return the norm of the gradient of each weight; with `skip` a layer adds its input."""
    h = x
    for layer in layers:
        made = act(layer(h))
        h = made + h if skip else made
    weights = [layer.weight for layer in layers]
    return [gradient.norm().item() for gradient in torch.autograd.grad(h.sum(), weights)]
