"""`plot`: a matplotlib figure with words for whoever does not see it. Reads the figure, and no
global of matplotlib.
"""

from __future__ import annotations

import base64
import io
import sys
from typing import TYPE_CHECKING

from helpers.drawing.svg import safe
from helpers.looking.torch_private import type_name

if TYPE_CHECKING:  # matplotlib takes half a second: only lessons that plot import it
    from matplotlib.figure import Figure

DOTS = 100  # per inch
COLOURS = 64  # of a plot
# In JupyterLab's dark theme light and dark change places; colours stay what they are.
IN_LAB = (
    '<style>body[data-jp-theme-light=false] .jp-Notebook img[src^="data:image/png"]'
    "{filter:invert(.9) hue-rotate(180deg)}</style>"
)


class Plot:
    """Hold the pixels of a figure as `.png` and what to notice as `.alt`."""

    def __init__(self, png: bytes, alt: str) -> None:
        self.png, self.alt = png, alt

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Give a named image, inert even in an untrusted notebook, and the words."""
        data = base64.b64encode(self.png).decode()
        image = f'<img alt="{safe(self.alt)}" src="data:image/png;base64,{data}">'
        return {"text/html": f"{IN_LAB}{image}", "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Plot: {self.alt}"


def plot(figure: Figure, *, alt: str) -> Plot:
    """Turn a figure into a picture that says in `alt` what to notice; the figure is not shown a
    second time.

    Raises TypeError for what is no matplotlib Figure, ValueError where `alt` is empty or no text.
    """
    made_by = sys.modules.get("matplotlib.figure")
    if made_by is None or not issubclass(type(figure), made_by.Figure):
        raise TypeError(
            f"This is a {type_name(figure)}. Give plot() the figure: figure, axes = plt.subplots()."
        )
    if not issubclass(type(alt), str) or not alt.strip():
        raise ValueError(
            "alt is empty, so whoever does not see the plot is told nothing. Say what to notice."
        )
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS, metadata={"Software": None})
    _forget(figure)
    return Plot(_small(file), alt)


def _small(png: io.BytesIO) -> bytes:
    """Return a picture with a palette of its own: lines on paper need few colours, and a third of
    the bytes.
    """
    from PIL import Image  # matplotlib has brought it by now

    file = io.BytesIO()
    with Image.open(png) as image:
        image.convert("RGB").quantize(COLOURS).save(file, format="png", optimize=True)
    return file.getvalue()


def _forget(figure: Figure) -> None:
    """Close a figure that pyplot made: else the notebook shows it once more, without words."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)
