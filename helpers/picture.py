"""`show`: the picture of a graph, in every form that a notebook, a page and a test can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from helpers.drawing.diagram import drawing
from helpers.drawing.display_list import Drawing
from helpers.drawing.dot import dot
from helpers.drawing.svg import html, svg
from helpers.folding.fold import demand_names, fold
from helpers.graph import Graph
from helpers.looking.snapshot import Given, snapshot
from helpers.looking.torch_private import type_name
from helpers.text import visible

LONGEST_ALT = 2_000  # characters


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
        forms = {
            ".svg": lambda: self.svg,
            ".txt": lambda: self.text + "\n",
            ".dot": lambda: self.dot,
        }
        path = Path(path)
        if path.suffix not in forms:
            raise ValueError(
                f"Cannot save a picture as {path.name!r}. Use an ending out of {', '.join(forms)}."
            )
        path.write_text(forms[path.suffix](), encoding="utf-8")
        return path

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Give a named image with the tree, folded, both inert even in an untrusted notebook; and
        the text tree.
        """
        return {"text/html": html(self.svg, self.alt, self.text), "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def show(
    *tensors: torch.Tensor,
    names: Given | None = None,
    alt: str | None = None,
    unfold: str | Sequence[str] | bool = (),
) -> Picture:
    """Draw the backward graph behind one or several tensors, changing nothing.

    `names` goes on top of the names found: a dict from name to tensor; a model, whose parameters
    have names; or the context of `module_calls(model)`, which knows the module calls as well. `alt`
    says what to notice, for those who do not see the picture. A large graph is folded. With module
    calls, over 25 nodes, a box is one call, a row of equal ones, or of rounds of a loop; without,
    over 60, it is what reads the parameters of a module. `unfold="encoder.3"` opens one, a list
    several, True all. A tensor with no graph gives a calm picture that says why. As `snapshot`
    says, nodes of a very deep graph get an entry in `metadata`. Raises TypeError for anything not
    a tensor, ValueError where no part is called like that.
    """
    unfold, alt = demand_names(unfold), demand_words(alt)
    graph = snapshot(*tensors, names=names)
    return picture(graph, drawing(fold(graph, unfold), alt=alt))


def demand_words(alt: object) -> str | None:
    """Return `alt`, cut to a paragraph. Raises TypeError for anything but text."""
    if alt is not None and type(alt) is not str:
        raise TypeError(f"alt is {type_name(alt)}. Pass a sentence that says what to notice.")
    return alt and visible(alt, LONGEST_ALT)


def picture(graph: Graph, drawn: Drawing) -> Picture:
    """Turn a display list into every form of a picture."""
    return Picture(graph, svg(drawn), drawn.text, drawn.alt)
