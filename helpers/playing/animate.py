"""Turn a `Trace` into a `Film`: a scene for each view, and for every step what is done, what is now
and what comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from helpers.drawing.cards import grad_words
from helpers.drawing.diagram import drawing, is_dense
from helpers.drawing.display_list import Drawing, Mark, Owner
from helpers.drawing.palette import TITLE
from helpers.graph import NOT_FOLDED, Gradient, Graph, Node
from helpers.playing.film import Change, Film, Frame, Unfolding
from helpers.playing.timeline import Turns
from helpers.playing.views import View, views
from helpers.recording.trace import LeafGrad, Trace, script
from helpers.text import width

MOST_FRAMES = (
    10_000  # of all views together: a film of 671 nodes has then 14 views and about 400 kB
)
LONGEST = 14  # characters of a gradient on an edge; a longer one is told by its shape
HOW_TO_OPEN = "Click a folded part to unfold it; after any click in here, the key o does so too."
# A frame changes the state of a mark, not its shape: only a circle can become the circle of "freed".
CAN_BE_FREED = ("held",)


def film(trace: Trace, alt: str | None = None) -> Film:
    """Return a film with a frame before the first step, one for each step, and one after the last.

    A folded graph has as many again for each part of it that can be opened.
    """
    said = script(trace)
    stages = [Stage(trace, view) for view in views(trace.graph, MOST_FRAMES // len(said))]
    scenes = tuple(stage.scene(alt) for stage in stages)
    frames = [
        one for nr, stage in enumerate(stages) for one in stage.frames(nr, scenes[nr].marks, said)
    ]
    opens = tuple(Unfolding(stage.view.parent, tuple(stage.turns.opens())) for stage in stages)
    alt = alt or f"Stepping through backward. {scenes[0].alt}"
    text = f"{trace}\n{NOT_FOLDED}" if stages[0].graph.folding_failed else str(trace)
    return Film(scenes, tuple(frames), text, alt, views=opens if len(stages) > 1 else ())


class Stage:
    """Know what every mark of a view is in every frame."""

    def __init__(self, trace: Trace, view: View) -> None:
        self.trace, self.view, self.graph, self.last = trace, view, view.graph, len(trace.steps)
        self.turns = Turns(trace, view)
        self.handed = dict(self._handed())

    def _handed(self) -> Iterator[tuple[int, str]]:
        """Yield (edge, what is handed on along it), short enough to ride on the edge; none where it
        stands for many.
        """
        for nr, inside in enumerate(self.view.edges):
            if len(inside) != 1:
                continue
            gradient = self.turns.handed(inside[0])
            if gradient is None:
                continue
            has_room = gradient.norm is None and not is_dense(self.graph)
            is_long = not has_room and len(str(gradient)) > LONGEST
            yield nr, str(gradient.shape) if is_long else str(gradient)

    def scene(self, alt: str | None) -> Drawing:
        """Draw the view with every number as wide as it will ever be, so that nothing jumps."""
        nodes = tuple(self._widest(nr, node) for nr, node in enumerate(self.graph.nodes))
        graph = replace(self.graph, nodes=nodes)
        also = ("freed",) if any(step.freed for step in self.trace.steps) else ()
        return drawing(graph, self.handed, alt, also, remarks)

    def _widest(self, nr: int, node: Node) -> Node:
        if node.folded:
            made = tuple(replace(one, keeps_grad=False, grad=None) for one in node.outputs)
            return replace(node, outputs=made, folded=self.turns.folded(nr, self.last))
        if not (leaf := self._grad(nr)):
            return node
        widest = max((leaf.before, leaf.after), key=self._slot)
        return replace(node, outputs=(replace(node.outputs[0], keeps_grad=True, grad=widest),))

    def _slot(self, grad: Gradient | None) -> int:
        """Return the width of what is drawn of a `.grad`, px."""
        return width(grad_words(grad, is_dense(self.graph)), TITLE, bold=True)

    def _grad(self, nr: int) -> LeafGrad | None:
        """Return `.grad` before and after, of a leaf or of a tensor that retains its own; None
        where none shows.
        """
        if self.graph.nodes[nr].folded or not self.turns.nodes[nr]:
            return None
        (one,) = self.view.nodes[nr]
        if leaf := self.trace.steps[self.turns.of[one]].leaf:
            return leaf
        before, after = self.trace.graph.nodes[one].outputs, self.trace.after.nodes[one].outputs
        if len(before) != 1 or not before[0].keeps_grad:
            return None
        return LeafGrad(before[0].grad, after[0].grad)

    def frames(
        self, scene: int, marks: tuple[Mark, ...], said: list[tuple[str, str]]
    ) -> Iterator[Frame]:
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
            focus = Owner("node", self.turns.box[node])
            yield Frame(sentence, scene, changes, focus, tuple(new.get(node, ())), question)

    def _due(self, marks: tuple[Mark, ...]) -> dict[int, list[int]]:
        """Return for each step the marks that may change at it."""
        found = {-1: list(range(len(marks)))}
        moments = {owner: self.turns.moments(owner) for owner in {mark.owner for mark in marks}}
        for nr, mark in enumerate(marks):
            for now in moments[mark.owner]:
                found.setdefault(now, []).append(nr)
        return found

    def _new(self, marks: tuple[Mark, ...]) -> dict[int, list[int]]:
        """Return for each node of the whole graph the texts that its step brings."""
        found: dict[int, list[int]] = {}
        for nr, mark in enumerate(marks):
            if mark.part == "gradient" and mark.runs:
                (edge,) = self.view.edges[mark.owner.number]
                found.setdefault(self.trace.graph.edges[edge].source, []).append(nr)
            if mark.part == "grad" and mark.runs and self.graph.nodes[mark.owner.number].is_leaf:
                found.setdefault(self.view.nodes[mark.owner.number][0], []).append(nr)
        return found

    def change(self, nr: int, mark: Mark, now: int) -> Change | None:
        """Say what a mark is when step `now` has its turn; None if it is as the scene has it."""
        if mark.owner is None:
            return None
        if mark.owner.kind == "node":
            return self._node_change(nr, mark, mark.owner.number, now)
        return self._edge_change(nr, mark, mark.owner.number, now)

    def _node_change(self, nr: int, mark: Mark, node: int, now: int) -> Change | None:
        """Say what a card, or a line of it, is at a step."""
        state = self.turns.node(node, now)
        if mark.part == "body" and state:
            return Change(nr, state)
        if mark.part == "saved" and mark.state in CAN_BE_FREED and self.turns.is_freed(node, now):
            return Change(nr, "freed")
        if mark.part == "grad" and (leaf := self._grad(node)):
            grad = leaf.after if state else leaf.before
            return slot_change(nr, mark, grad, state, grad_words(grad, is_dense(self.graph)))
        if mark.part == "count" and self.turns.gains[node]:
            return Change(nr, runs=((str(self.turns.folded(node, now)), ""),))
        return None

    def _edge_change(self, nr: int, mark: Mark, edge: int, now: int) -> Change | None:
        """Say what a wire, or the gradient on it, is at a step: a gradient is not seen before it is
        on its way.
        """
        if mark.part == "word":
            return None
        if state := self.turns.edge(edge, now):
            return Change(nr, state)
        if mark.part == "gradient":
            return Change(nr, hidden=True)
        return None


def remarks(graph: Graph) -> list[str]:
    """Return the remarks on a graph in a player, where a click opens what is folded."""
    to_open = HOW_TO_OPEN if graph.how_to_open else ""
    return graph.remarks_with(to_open)


def slot_change(nr: int, mark: Mark, grad: Gradient | None, state: str, words: str) -> Change:
    """Say what a slot, or what is in it, is at a step."""
    if mark.runs:
        return Change(nr, runs=((words, "none" if grad is None else f"grad{state}"),))
    if grad is None:
        return Change(nr, "none")
    return Change(nr, state or "full")
