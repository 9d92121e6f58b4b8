"""`show`: the picture of a graph, in every form that a notebook, a page and a test can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from autograd_graphs.data import Graph, tree
from autograd_graphs.drawing.diagram import alt_text, drawing, in_words
from autograd_graphs.drawing.display_list import Drawing
from autograd_graphs.drawing.dot import dot
from autograd_graphs.drawing.hover import places
from autograd_graphs.drawing.layout import NoLayout
from autograd_graphs.drawing.svg import html, svg
from autograd_graphs.large.fold import demand_names, fold, fold_and_tell
from autograd_graphs.looking.snapshot import Given, demand_tensor, snapshot
from autograd_graphs.playing.animate import explored
from autograd_graphs.recording.recorded import latest
from autograd_graphs.recording.trace import Trace, title
from autograd_graphs.stored import GRAPH, written
from autograd_graphs.text import visible
from autograd_graphs.tinting import Tinting

if TYPE_CHECKING:
    from autograd_graphs.playing.player import Player

LONGEST_ALT, LONGEST_COLOR = 2_000, 60  # characters
MOST_STORED = 24  # nodes: a larger graph is not drawn anew on a slide


@dataclass(frozen=True, slots=True)
class Picture:
    """Hold one graph as `.svg` and `.text`; a notebook shows it where a cell ends on it.

    `folded` is the graph as it was drawn, None where cards are filled by their gradients; `places`
    say what is under the mouse.
    """

    graph: Graph
    svg: str
    text: str
    alt: str
    folded: Graph | None = None
    places: str = ""

    @property
    def dot(self) -> str:
        """Write the graph, every node of it, as DOT source."""
        return dot(self.graph)

    def save(self, path: str | Path) -> Path:
        """Write the picture to `path`, by its ending .svg, .txt, .dot or .html; returns the path.

        As .html it is one page to explore, which needs no kernel and no network.
        """
        forms = {
            ".svg": lambda: self.svg,
            ".txt": lambda: self.text + "\n",
            ".dot": lambda: self.dot,
            ".html": lambda: self.explore().page,
        }
        path = Path(path)
        form = forms.get(path.suffix.lower())
        if form is None:
            raise ValueError(
                f"Cannot save a picture as {path.name!r}. Use an ending from {', '.join(forms)}."
            )
        path.write_text(form(), encoding="utf-8")
        return path

    def explore(self) -> Player:
        """Return the graph as a widget to look around in: zoom, pan, search, unfold by click."""
        from autograd_graphs.playing.player import Player  # brings ipywidgets, which takes its time

        return Player(explored(self.graph, self.alt))

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Give a named image with the tree, folded, both inert even in an untrusted notebook; the
        text tree; and a small graph as data, from which slides draw it anew.
        """
        shown = html(self.svg, self.alt, self.text, places=self.places)
        data = {"text/html": shown, "text/plain": self.text}
        if self.folded is None or len(self.folded.nodes) > MOST_STORED:
            return data, {}
        return data, {GRAPH: written(self.folded)}

    def __repr__(self) -> str:
        return self.text


def show(
    *tensors: torch.Tensor | Trace,
    names: Given | None = None,
    alt: str | None = None,
    unfold: str | Sequence[str] | bool = (),
    color: str | None = None,
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

    `color="grad"` fills each card by the norm of the gradient that arrived there in the backward
    that `record` or `step_through` ran last, or in a `Trace` in the place of the tensors, and marks
    the first NaN or inf, zeros, and gradients that explode. Raises ValueError where none was
    recorded.
    """
    unfold, alt, color = demand_names(unfold), demand_words(alt), demand_color(color)
    if color is None:
        graph = snapshot(*tensors, names=names)
        folded = fold(graph, unfold)
        return replace(picture(graph, drawn(folded, alt=alt)), folded=folded)
    trace = played_once(recorded(tensors))
    graph = trace.after
    if names is not None:
        graph = renamed(trace, tensors, names)
    folded, members = fold_and_tell(graph, unfold)
    seen = Tinting(trace)
    alt = alt or f"{alt_text(folded)} {seen.sentence}".rstrip()
    return picture(graph, drawn(folded, alt=alt, tints=seen.tints(members)))


def drawn(graph: Graph, **how: object) -> Drawing:
    """Return the drawing of a graph, or its text below a sentence that says why there is none."""
    try:
        return drawing(graph, **how)
    except NoLayout as error:
        return in_words(str(error), tree(graph))


def demand_color(color: object) -> str | None:
    """Return `color`. Raises ValueError, with the choices, for one that there is not."""
    if color is None or color == "grad":
        return color
    given = type(color).__name__
    if isinstance(color, str):
        given = repr(visible(color, LONGEST_COLOR))
    raise ValueError(
        f"color is {given}. Pass color='grad' to see the gradients of a recorded backward, or "
        "leave it out."
    )


def recorded(given: Sequence[torch.Tensor | Trace]) -> Trace:
    """Return the trace of the last backward recorded from all that is given, or the one given."""
    if any(isinstance(thing, Trace) for thing in given):
        if len(given) > 1:
            raise ValueError(
                "A trace has all of its roots. Show it alone: show(trace, color='grad')."
            )
        return given[0]
    for thing in given:
        demand_tensor(thing)
    if not given:
        raise TypeError(
            "Nothing was given. Pass the loss that was recorded, or its trace: "
            "show(loss, color='grad')."
        )
    traces = list(map(latest, given))
    if None in traces:
        raise ValueError(
            "No backward of this loss was recorded. Call record(loss) or step_through(loss) "
            "first, or give its trace: show(trace, color='grad')."
        )
    if any(trace is not traces[0] for trace in traces):
        raise ValueError(
            "These tensors were recorded in different backwards. Show them one by one, or record "
            "them together: record([a, b])."
        )
    return traces[0]


def played_once(trace: Trace) -> Trace:
    """Return a trace. Raises ValueError where a node ran twice: one colour cannot tell both."""
    if trace.repeated is not None:
        name = title(trace.graph.nodes[trace.repeated])
        said = f"{name} ran more than once in this backward, but a card has only one colour."
        raise ValueError(f"{said} print(record(...)) shows all of its steps.")
    return trace


def renamed(trace: Trace, tensors: Sequence[torch.Tensor | Trace], names: Given) -> Graph:
    """Return the graph of a trace as it is now, with other names.

    Raises ValueError where it is another graph by now, or where the tensors are not at hand.
    """
    if not isinstance(tensors[0], Trace):
        graph = snapshot(*tensors, names=names)
        if shape(graph) == shape(trace.graph):
            return graph
    raise ValueError(
        "The names were recorded with the backward. Give them to record(loss, names=...), and "
        "leave them out here."
    )


def shape(graph: Graph) -> tuple[object, ...]:
    """Return what two snapshots of one graph have in common, whatever happened to its tensors."""
    operations = tuple(node.operation for node in graph.nodes)
    return operations, graph.edges, tuple((root.node, root.output_nr) for root in graph.roots)


def demand_words(alt: object) -> str | None:
    """Return `alt`, cut to a paragraph. Raises TypeError for anything but text."""
    if alt is not None and not isinstance(alt, str):
        raise TypeError(f"alt is {type(alt).__name__}. Pass a sentence that says what to notice.")
    return alt and visible(alt, LONGEST_ALT)


def picture(graph: Graph, drawn: Drawing) -> Picture:
    """Turn a display list into every form of a picture."""
    return Picture(graph, svg(drawn), drawn.text, drawn.alt, places=places(drawn))
