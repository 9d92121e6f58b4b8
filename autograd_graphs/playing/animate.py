"""Turn a `Trace` into a film: what the panel says at every stop, and a scene for each view."""

from __future__ import annotations

from dataclasses import replace

from autograd_graphs.data import NOT_FOLDED, Graph, Program
from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.playing.backward_film import BackwardFilm, Moment, Scene
from autograd_graphs.playing.moments import Moments
from autograd_graphs.playing.scenes import Stage
from autograd_graphs.playing.stepped_over import Summaries
from autograd_graphs.playing.views import views
from autograd_graphs.recording.trace import Trace

MOST_VIEWS = 24


def film(trace: Trace, alt: str | None = None) -> BackwardFilm:
    """Return a film with a moment at each end, and one for each step that is ever shown."""
    moments = Moments(trace)
    stages = [Stage(trace, view, moments.equations) for view in views(trace.graph, MOST_VIEWS)]
    scenes: list[Scene] = []
    over: list[Moment] = []
    first = len(trace.steps) + 2
    for stage in stages:
        scenes.append(stage.scene(first + len(over)))
        summaries = Summaries(stage, moments)
        over += [summaries.moment(stop) for stop in scenes[-1].stops if stop.last > stop.first]
    still = drawing(stages[0].graph)
    text = f"{trace}\n{NOT_FOLDED}" if stages[0].graph.folding_failed else str(trace)
    return BackwardFilm(
        (moments.begin(), *shown(moments, scenes, len(trace.steps)), moments.end(), *over),
        tuple(scenes),
        len(trace.steps),
        text,
        alt or f"Stepping through backward. {still.alt}",
        still,
        (trace.program or Program()).lines,
        tuple(filter(None, [*remarks(stages[0].graph, scenes[0].picture.drawn), trace.not_read])),
        moments.first and moments.first.step,
    )


def explored(graph: Graph, alt: str) -> BackwardFilm:
    """Return a film without steps: a graph to look around in."""
    made = film(Trace(graph, graph, ()), alt)
    return replace(made, text=made.scenes[0].text)


def shown(moments: Moments, scenes: list[Scene], count: int) -> list[Moment | None]:
    """Return the moment of each step; None for a step that is inside a folded part everywhere."""
    made: list[Moment | None] = [None] * count
    for scene in scenes:
        for stop in scene.stops:
            if 0 < stop.moment <= count and made[stop.moment - 1] is None:
                made[stop.moment - 1] = moments.step(stop.moment - 1)
    return made


def remarks(graph: Graph, drawn: int) -> list[str]:
    """Return the sentences on what is not shown; of the graph so many nodes are drawn."""
    failed = NOT_FOLDED if graph.folding_failed else ""
    sentences = [graph.without_calls, graph.head(drawn).left_out, failed]
    return list(filter(None, sentences))
