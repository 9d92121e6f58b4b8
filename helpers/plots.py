"""`plot`: a matplotlib figure with words for whoever does not see it. Reads no global."""

from __future__ import annotations

import base64
import io
import math
import sys
from typing import TYPE_CHECKING

from autograd_graphs.drawing.svg import image, safe
from autograd_graphs.text import short_number, visible

if TYPE_CHECKING:  # matplotlib takes half a second: only lessons that plot import it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

DOTS = 100  # per inch
MOST = 40_000  # characters of an SVG: a figure that needs more is shown in pixels
COLOURS = 64  # of pixels
LONGEST, MOST_BARS = 1_000, 12  # characters of the words; bars whose heights are said
LONG, FLAT = 10, 1 / 12  # points of a line that may be called flat; of its axis' height
# In JupyterLab's dark theme light and dark change places; colours stay what they are.
IN_LAB = (
    '<style>body[data-jp-theme-light=false] .jp-Notebook img[src^="data:image/png"]'
    "{filter:invert(.9) hue-rotate(180deg)}</style>"
)


class Plot:
    """Hold a figure as `.svg`, or "" and the pixels as `.png`; and what to notice as `.alt`."""

    def __init__(self, svg: str, alt: str, png: bytes = b"") -> None:
        self.svg, self.alt, self.png = svg, alt, png

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Give a named image, inert even in an untrusted notebook, and the words."""
        if self.svg:
            return {"text/html": image(self.svg, self.alt), "text/plain": repr(self)}
        data = base64.b64encode(self.png).decode()
        pixels = f'<img alt="{safe(self.alt)}" src="data:image/png;base64,{data}">'
        return {"text/html": f"{IN_LAB}{pixels}", "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Plot: {self.alt}"


def plot(figure: Figure, *, alt: str | None = None) -> Plot:
    """Turn a figure into a picture that says in words what it shows; the figure is not shown a
    second time.

    The words are made from titles, axis labels, and the ends and extremes of each line; `alt`
    takes their place. Raises TypeError for what is no matplotlib Figure, ValueError where `alt` is
    empty or no text.
    """
    made_by = sys.modules.get("matplotlib.figure")
    if made_by is None or not isinstance(figure, made_by.Figure):
        raise TypeError(
            f"This is a {type(figure).__name__}. "
            "Give plot() the figure: figure, axes = plt.subplots()."
        )
    if alt is None:
        alt = description_of(figure)
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(
            "alt is empty, so anyone who can't see the plot is told nothing. Say what to notice."
        )
    svg = _svg(figure, alt)
    made = Plot(svg, alt, b"" if svg else _pixels(figure))
    _forget(figure)
    return made


def description_of(figure: Figure) -> str:
    """Return what a figure shows, in words: its axes, and of each line the ends and extremes."""
    parts = " ".join(map(_axes, figure.axes))
    return visible(parts, LONGEST) or "a figure with nothing in it"


def _axes(axes: Axes) -> str:
    """Return sentences on one part of a figure."""
    sentences = [f"{axes.get_title()}."] if axes.get_title() else []
    across, up = axes.get_xlabel() or "x", axes.get_ylabel() or axes.get_title("left") or "y"
    sentences.append(f"{up} over {across}.")
    sentences += map(_line, axes.lines)
    bars = [patch for patch in axes.patches if hasattr(patch, "get_height")]
    if bars:
        heights = [short_number(float(bar.get_height())) for bar in bars[:MOST_BARS]]
        sentences.append(f"{len(bars)} bars: {', '.join(heights)}.")
    return " ".join(sentences)


def _line(line: Line2D) -> str:
    """Return where a line begins and ends, and its lowest and highest point; of a long one that
    hardly rises or falls only about where it lies.
    """
    points = [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)]
    points = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    name = line.get_label()
    if name.startswith("_"):
        name = "A line"
    if not points:
        return f"{name}: no points."
    low, high = min(points, key=lambda point: point[1]), max(points, key=lambda point: point[1])
    if len(points) >= LONG and _is_flat(line, low[1], high[1]):
        about = float(f"{sum(y for _, y in points) / len(points):.2g}")
        return f"{name}: about {short_number(about)} all along."
    ends = f"from {_point(points[0])} to {_point(points[-1])}"
    return f"{name}: {ends}; lowest {_point(low)}, highest {_point(high)}."


def _is_flat(line: Line2D, low: float, high: float) -> bool:
    """Return whether a line looks level in the figure."""
    bottom, top = line.axes.get_ylim()
    return line.axes.get_yscale() == "linear" and high - low < FLAT * abs(top - bottom)


def _point(point: tuple[float, float]) -> str:
    """Return where a point lies: "0.61 at 0.1"."""
    x, y = (float(f"{value:.3g}") for value in point)
    return f"{short_number(y)} at {short_number(x)}"


def _svg(figure: Figure, alt: str) -> str:
    """Return a figure as SVG, "" where that is not small."""
    from helpers import plot_svg

    svg = plot_svg.chart(figure, alt)
    return svg if len(svg) <= MOST else ""


def _pixels(figure: Figure) -> bytes:
    """Return a figure as PNG with a palette of its own: few colours do, in a third of the bytes."""
    from PIL import Image  # matplotlib has brought it by now

    drawn, file = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS, metadata={"Software": None})
    with Image.open(drawn) as pixels:
        pixels.convert("RGB").quantize(COLOURS).save(file, format="png", optimize=True)
    return file.getvalue()


def _forget(figure: Figure) -> None:
    """Close a figure that pyplot made: else the notebook shows it once more, without words."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)
