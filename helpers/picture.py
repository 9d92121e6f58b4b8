"""`show`: the picture of a graph, in every form that a notebook, a page and a test can use."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from helpers.dot import dot
from helpers.draw import drawing
from helpers.fold import demand_names, fold
from helpers.graph import Graph
from helpers.kinds import type_name
from helpers.marks import Drawing
from helpers.snapshot import snapshot
from helpers.svg import safe, svg
from helpers.text import visible

LONGEST_ALT = 2_000  # characters
AS_TEXT = "The graph as text"


@dataclass(frozen=True, slots=True)
class Picture:
    """Hold one graph as `.svg` and `.text`; a notebook shows it where a cell ends on it."""

    graph: Graph
    svg: str
    text: str
    alt: str

    @property
    def dot(self) -> str:
        """Write the graph, every node of it, as DOT source."""
        return dot(self.graph)

    def save(self, path: str | Path) -> Path:
        """Write the picture to `path`, by its ending .svg, .txt or .dot; returns the path."""
        forms = {".svg": lambda: self.svg, ".txt": lambda: self.text + "\n", ".dot": lambda: self.dot}
        path = Path(path)
        if path.suffix not in forms:
            raise ValueError(f"Cannot save a picture as {path.name!r}. Use an ending out of {', '.join(forms)}.")
        path.write_text(forms[path.suffix](), encoding="utf-8")
        return path

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Give a named image and the tree, folded, both inert even in an untrusted notebook; the SVG; the text tree."""
        data = base64.b64encode(self.svg.encode()).decode()
        image = f'<img alt="{safe(self.alt)}" src="data:image/svg+xml;base64,{data}">'
        tree = f"<details><summary>{AS_TEXT}</summary><pre>{safe(self.text)}</pre></details>"
        return {"text/html": image + tree, "image/svg+xml": self.svg, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def show(
    *tensors: torch.Tensor,
    names: Mapping[str, torch.Tensor] | torch.nn.Module | None = None,
    alt: str | None = None,
    unfold: str | Sequence[str] | bool = (),
) -> Picture:
    """Draw the backward graph behind one or several tensors, changing nothing.

    `names` goes on top of the names found: a dict from name to tensor, or a model, whose parameters have names.
    `alt` says what to notice, for those who do not see the picture. In a graph of more than 60 nodes what repeats,
    and what belongs to a module, is folded to one box: `unfold="encoder.3"` opens one, a list several, True all.
    A tensor with no graph gives a calm picture that says why. Raises TypeError for anything that is not a tensor,
    ValueError where no part is called like that.
    """
    unfold, alt = demand_names(unfold), demand_words(alt)
    graph = snapshot(*tensors, names=names)
    return picture(graph, drawing(fold(graph, unfold), alt=alt))


def demand_words(alt: object) -> str | None:
    """Return `alt`, cut to a paragraph. Raises TypeError, with what to pass, for anything but text."""
    if alt is not None and type(alt) is not str:
        raise TypeError(f"alt is {type_name(alt)}. Pass a sentence that says what to notice.")
    return alt and visible(alt, LONGEST_ALT)


def picture(graph: Graph, drawn: Drawing) -> Picture:
    """Turn a display list into every form of a picture."""
    return Picture(graph, svg(drawn), drawn.text, drawn.alt)
