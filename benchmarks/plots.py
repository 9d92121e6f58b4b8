"""Two plots of what was measured: who draws what in which time, and how snapshot grows. Writes SVG
files.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.contenders import CONTENDERS
from benchmarks.measure import Row

LOOKS = dict(
    zip(
        CONTENDERS,
        (
            ("#0b5cad", "o"),
            ("#111827", "*"),
            ("#5aa9e6", "D"),
            ("#c2410c", "s"),
            ("#15803d", "^"),
            ("#7e22ce", "v"),
        ),
        strict=True,
    )
)
SAVED = {"format": "svg", "metadata": {"Date": None}}


def draw(seen: Mapping[tuple[str, str], list[dict]], path: Path) -> None:
    """Plot the time to SVG of every contender and model: the median, its spread, or the failure in
    words.
    """
    models = list(dict.fromkeys(model for model, _ in seen))
    figure = Figure(figsize=(9, 1.2 + 1.15 * len(models)), layout="constrained")
    axes = figure.subplots()
    for (model, one), results in seen.items():
        height = models.index(model) + 0.14 * (list(CONTENDERS).index(one) - 2.5)
        times = [1000 * result["seconds"] for result in results if "failure" not in result]
        if times:
            mark(axes, times, height, *LOOKS[one])
        else:
            axes.text(
                2,
                height,
                f"{one}: {results[0]['failure']}",
                va="center",
                fontsize=8,
                color=LOOKS[one][0],
            )
    for one, (colour, shape) in LOOKS.items():
        axes.plot([], [], shape, color=colour, label=one.replace("_", " "))
    axes.set(
        xscale="log",
        xlim=(1.5, 60_000),
        xlabel="ms from the loss (or model) to SVG: median, least to most",
    )
    axes.set_yticks(range(len(models)), [model.replace("_", " ") for model in models])
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.09), ncols=6, frameon=False)
    figure.savefig(path, **SAVED)


def mark(axes: Axes, times: Sequence[float], height: float, colour: str, shape: str) -> None:
    axes.plot([min(times), max(times)], [height, height], "-", color=colour, linewidth=1.5)
    axes.plot(statistics.median(times), height, shape, color=colour)


def growth(rows: Sequence[Row], path: Path) -> None:
    """Plot the time of snapshot and of its text against the number of nodes; nothing where it was
    not measured.
    """
    timed = [row for row in rows if row.benchmark == "growth" and row.unit == "ms"]
    if not timed:
        return
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for what, shape in zip(dict.fromkeys(row.what for row in timed), "osD^", strict=True):
        curve = [row for row in timed if row.what == what]
        sizes = [int(row.case.split()[0].replace(",", "")) for row in curve]
        axes.plot(sizes, [row.median for row in curve], f"{shape}-", label=what)
    axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="ms (median)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, **SAVED)
