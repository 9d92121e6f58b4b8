"""Turn a `Trace` into a `Film`: a scene for each view, and for every step what is done, what is now and what comes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from helpers.draw import drawing
from helpers.film import Change, Film, Frame, Unfolding
from helpers.graph import Graph, Node
from helpers.marks import Drawing, Mark
from helpers.script import script
from helpers.text import visible, width
from helpers.trace import Trace
from helpers.turns import Turns
from helpers.views import View, views

MOST_FRAMES = 10_000  # of all views together: a film of 671 nodes has then 14 views and about 400 kB
LONGEST = 14  # characters of a gradient on an edge; a longer one is told by its shape
HOW_TO_OPEN = "Click a folded part, or press o, to unfold it."


def film(trace: Trace, alt: str | None = None) -> Film:
    """Return a film with a frame before the first step, one for each step, and one after the last.

    A folded graph has as many again for each part of it that can be opened.
    """
    said = script(trace)
    stages = [Stage(trace, view) for view in views(trace.graph, MOST_FRAMES // len(said))]
    scenes = tuple(stage.scene(alt) for stage in stages)
    frames = [one for nr, stage in enumerate(stages) for one in stage.frames(nr, scenes[nr].marks, said)]
    opens = tuple(Unfolding(stage.view.parent, tuple(stage.turns.opens())) for stage in stages)
    alt = alt or f"Stepping through backward. {scenes[0].alt}"
    return Film(scenes, tuple(frames), str(trace), alt, views=opens if len(stages) > 1 else ())


class Stage:
    """Know what every mark of a view is in every frame."""

    def __init__(self, trace: Trace, view: View) -> None:
        self.trace, self.view, self.graph, self.last = trace, view, view.graph, len(trace.steps)
        self.turns = Turns(trace, view)
        self.handed = dict(self._handed())
        growing = [nr for nr, node in enumerate(self.graph.nodes) if node.folded and self.turns.gains[nr]]
        self.counts = {nr: visible(str(self.turns.folded(nr, self.last)), 60) for nr in growing}

    def _handed(self) -> Iterator[tuple[int, str]]:
        """Yield (edge, what is handed on along it), short enough to ride on the edge; none where it stands for many."""
        for nr, inside in enumerate(self.view.edges):
            if len(inside) == 1 and (text := self.turns.handed(inside[0])):
                yield nr, text if len(text) <= LONGEST else text.partition(" norm")[0]

    def scene(self, alt: str | None) -> Drawing:
        """Draw the view with every number as wide as it will ever be, so that nothing jumps."""
        nodes = tuple(self._widest(nr, node) for nr, node in enumerate(self.graph.nodes))
        graph = replace(self.graph, nodes=nodes)
        also = ("freed",) if any(step.freed for step in self.trace.steps) else ()
        return told(drawing(graph, self.handed, alt, also), graph)

    def _widest(self, nr: int, node: Node) -> Node:
        if node.folded:
            made = tuple(replace(one, grad=None) for one in node.outputs)
            return replace(node, outputs=made, folded=self.turns.folded(nr, self.last))
        if not (texts := self._grad(nr)):
            return node
        return replace(node, outputs=(replace(node.outputs[0], grad=max(texts, key=lambda t: width(t, 12))),))

    def _grad(self, nr: int) -> tuple[str, str] | None:
        """Return `.grad` before and after, of a leaf or of a tensor that retains its own; None where none shows."""
        if self.graph.nodes[nr].folded or not self.turns.nodes[nr]:
            return None
        (one,) = self.view.nodes[nr]
        before, after = self.trace.graph.nodes[one].outputs, self.trace.after.nodes[one].outputs
        retained = len(before) == 1 and before[0].grad and (before[0].grad, after[0].grad or "None")
        return self.trace.steps[self.turns.of[one]].leaf or retained or None

    def frames(self, scene: int, marks: tuple[Mark, ...], said: list[tuple[str, str]]) -> Iterator[Frame]:
        """Yield the frames of the view; only marks whose moment has come are looked at anew."""
        due, new = self._due(marks), self._new(marks)
        worn, changes = {}, ()
        for now, (sentence, question) in enumerate(said, start=-1):
            for nr in due.get(now, ()):
                worn[nr] = self.change(nr, marks[nr], now)
            if now in due:
                changes = tuple(worn[nr] for nr in sorted(worn) if worn[nr])
            if not 0 <= now < self.last:
                yield Frame(sentence, scene, changes)
                continue
            node = self.trace.steps[now].node
            yield Frame(sentence, scene, changes, f"node {self.turns.box[node]}", tuple(new.get(node, ())), question)

    def _due(self, marks: tuple[Mark, ...]) -> dict[int, list[int]]:
        """Return for each step the marks that may change at it."""
        found = {-1: list(range(len(marks)))}
        moments = {owner: self.turns.moments(owner) for owner in {mark.of for mark in marks}}
        for nr, mark in enumerate(marks):
            for now in moments[mark.of]:
                found.setdefault(now, []).append(nr)
        return found

    def _new(self, marks: tuple[Mark, ...]) -> dict[int, list[int]]:
        """Return for each node of the whole graph the texts that its step brings."""
        found: dict[int, list[int]] = {}
        for nr, mark in enumerate(marks):
            whose, _, number = mark.of.partition(" ")
            if whose == "edge" and mark.runs and int(number) in self.handed:
                (edge,) = self.view.edges[int(number)]
                found.setdefault(self.trace.graph.edges[edge].source, []).append(nr)
            if whose == "node" and is_grad(mark) and self.graph.nodes[int(number)].is_leaf:
                found.setdefault(self.view.nodes[int(number)][0], []).append(nr)
        return found

    def change(self, nr: int, mark: Mark, now: int) -> Change | None:
        """Say what a mark is when step `now` has its turn; None if it is as the scene has it."""
        whose, _, number = mark.of.partition(" ")
        if whose == "node":
            return self._node_change(nr, mark, int(number), now)
        if whose == "edge":
            return self._edge_change(nr, mark, int(number), now)
        return None

    def _node_change(self, nr: int, mark: Mark, node: int, now: int) -> Change | None:
        state = self.turns.node(node, now)
        if mark.role in ("operation", "leaf"):
            return Change(nr, state) if state else None
        if mark.state == "held" and self.turns.is_freed(node, now):
            return Change(nr, "freed")
        if is_grad(mark) and (grad := self._grad(node)):
            before, after = grad
            return Change(nr, runs=((f".grad  {after if state else before}", f"grad{state}"),))
        return self._count_change(nr, mark, node, now)

    def _count_change(self, nr: int, mark: Mark, node: int, now: int) -> Change | None:
        """Say how many leaves of a folded part have a `.grad`."""
        if mark.role != "row" or mark.runs[0][0] != self.counts.get(node):
            return None
        return Change(nr, runs=((str(self.turns.folded(node, now)), ""),))

    def _edge_change(self, nr: int, mark: Mark, edge: int, now: int) -> Change | None:
        is_number = mark.role in ("capsule", "label")
        if is_number and edge not in self.handed:
            return None
        state = self.turns.edge(edge, now)
        return Change(nr, state) if state else Change(nr, hidden=True) if is_number else None


def is_grad(mark: Mark) -> bool:
    return bool(mark.runs) and mark.runs[0][1] == "grad" and mark.runs[0][0].startswith(".grad")


def told(scene: Drawing, graph: Graph) -> Drawing:
    """Say how to open a folded part here, and not how `show` does it."""
    if not (how := graph.how_to_open):
        return scene
    marks = (replace(one, runs=((HOW_TO_OPEN, ""),)) if one.runs == ((how, ""),) else one for one in scene.marks)
    return replace(scene, marks=tuple(marks), text=scene.text.replace(how, HOW_TO_OPEN))
