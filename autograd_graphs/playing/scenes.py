"""Turn each view of a trace into a scene: picture, what becomes of nodes and edges, and stops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from autograd_graphs.data import Edge, Gradient, Graph, Node, SavedTensor, TensorInfo, line, tree
from autograd_graphs.drawing.for_player import Reserve, Size, on_its_side, player_picture
from autograd_graphs.drawing.palette import TITLE
from autograd_graphs.playing.backward_film import EdgeFlow, Scene, Stop, Turn, What
from autograd_graphs.playing.equations import (
    Equations,
    as_shown,
    is_unknown,
    number_of,
    shape,
    single,
)
from autograd_graphs.playing.views import Copy, View
from autograd_graphs.recording.trace import LeafGrad, Trace, nth
from autograd_graphs.text import short_number, short_numbers, width

CAPSULE = 24  # px: the height of a capsule
TILE = 38, 18  # px: the room of a tensor in a capsule
IN_CAPSULE = 14  # characters of values in a capsule
IN_CARD = 10  # characters of values in a card
AROUND = 14  # px beside what is in a capsule


class Stage:
    """Make the scene of one view."""

    def __init__(self, trace: Trace, view: View, equations: Equations) -> None:
        self.trace, self.view, self.graph = trace, view, view.graph
        self.equations, self.turn_of, self.step_of = equations, equations.turn_of, equations.step_of
        self.copies = dict(view.copies)
        self.last = len(trace.steps)
        self.box_of: dict[int, int] = {}
        for nr, inside in enumerate(view.nodes):
            self.box_of |= dict.fromkeys(inside, nr)

    def turns(self, nodes: Iterable[int]) -> list[int]:
        """Return the numbers of the steps of some nodes, in order."""
        return sorted([self.turn_of[node] for node in nodes if node in self.turn_of])

    def scene(self, summary: int) -> Scene:
        """Return the scene; `summary` is the number of the first moment of a step over a part."""
        turns = tuple(map(self.turn, range(len(self.graph.nodes))))
        flows = tuple(map(self.flow, range(len(self.graph.edges))))
        starts = tuple(self.starts().items())
        capsules = {}
        for nr, flow in enumerate(flows):
            if flow.carried is not None:
                capsules[nr] = room(flow.carried)
        entries = {node: room(what) for node, what in starts}
        slots = {nr: max(map(wide, turn.slot)) for nr, turn in enumerate(turns) if turn.slot}
        factors = {nr: f"× {flow.factor}" for nr, flow in enumerate(flows) if flow.factor}
        kept, reserve = self.keeping(), Reserve(capsules, entries, slots, factors)
        return Scene(
            player_picture(kept, reserve),
            turns,
            flows,
            self.stops(summary),
            starts,
            self.view.parent,
            tuple(map(line, self.graph.nodes)),
            tree(self.graph),
            self.box_of.get(self.trace.stopped_at),
            on_its_side(kept, reserve) if self.last else None,
        )

    def keeping(self) -> Graph:
        """Return the graph as the player draws it: with a slot in every card that will show a
        `.grad`, saved tensors called as in the program, numbers short.
        """
        nodes = []
        for nr, node in enumerate(self.graph.nodes):
            outputs = with_all(map(brief, node.outputs), grad=None)
            if not node.is_leaf:
                outputs = with_all(self.valued(nr, outputs), shape=())
            if node.folded:
                outputs = with_all(outputs, keeps_grad=False)
                saved = with_all(node.saved, storages=())
                node = replace(node, folded=replace(node.folded, with_grad=0), saved=saved)
            else:
                node = replace(node, saved=self.saved(self.view.nodes[nr][0], node))
            nodes.append(replace(node, outputs=outputs))
        return replace(self.graph, nodes=tuple(nodes))

    def valued(self, nr: int, outputs: tuple[TensorInfo, ...]) -> tuple[TensorInfo, ...]:
        """Return what a node made, with its number where backward starts from it."""
        for root in self.graph.roots:
            value = number_of(root.tensor.values)
            if root.node == nr and value is not None and len(outputs) == 1 and outputs[0].names:
                return (replace(outputs[0], value=short_number(value)),)
        return outputs

    def saved(self, number: int, node: Node) -> tuple[SavedTensor, ...]:
        """Return the saved tensors of a node, called as the learner calls them."""
        tensors = []
        known = {}
        if number in self.step_of:
            known = self.equations.names(self.step_of[number])
        for saved in node.saved:
            if saved.tensor is not None:
                name = saved.tensor.name or known.get(saved.name, saved.name)
                tensor = replace(brief(saved.tensor), names=())
                if name != saved.name:
                    tensor = replace(tensor, shape=())
                saved = replace(saved, name=name, tensor=tensor)
            tensors.append(saved)
        return tuple(tensors)

    def turn(self, nr: int) -> Turn:
        inside = self.view.nodes[nr]
        steps = self.turns(inside)
        freed = max([number for number in steps if self.trace.steps[number].freed], default=None)
        slot = None
        if leaf := self.leaf_grad(nr):
            slot = in_capsule(leaf.before), in_capsule(leaf.after)
        return Turn(stretches(steps), freed, slot, len(inside), self.opens(nr))

    def leaf_grad(self, nr: int) -> LeafGrad | None:
        """Return `.grad` before and after, of what keeps one; None where none shows."""
        if self.graph.nodes[nr].folded:
            return None
        (number,) = self.view.nodes[nr]
        step = self.step_of.get(number)
        if step and step.leaf:
            return step.leaf
        traced, later = self.trace.graph.nodes, self.trace.after.nodes
        before, after = traced[number].outputs, later[number].outputs
        if len(before) != 1 or not before[0].keeps_grad or not before[0].requires_grad:
            return None
        return LeafGrad(before[0].grad, after[0].grad)

    def flow(self, nr: int) -> EdgeFlow:
        times, gradients = [], []
        for number in self.view.edges[nr]:
            edge = self.trace.graph.edges[number]
            if self.grad_input(edge) is not None:
                gradients.append(self.grad_input(edge))
                to = self.turn_of.get(edge.target, self.last + 1)
                times.append((self.turn_of[edge.source], to))
        times.sort()
        if len(gradients) != 1:
            return EdgeFlow(tuple(times))
        carried, factor = in_capsule(gradients[0]), ""
        if len(self.view.edges[nr]) == 1 and isinstance(carried, str):
            factor = self.equations.scalar_factor(self.step_of[edge.source], edge)
        return EdgeFlow(tuple(times), carried, factor)

    def grad_input(self, edge: Edge) -> Gradient | None:
        """Return the gradient that is handed on along an edge of the whole graph."""
        if edge.target is None or edge.source not in self.step_of:
            return None
        return nth(self.step_of[edge.source].grad_inputs, edge.position)

    def starts(self) -> dict[int, What]:
        """Return what enters the roots from above, by the node of the view."""
        entering: dict[int, list[What]] = {}
        for root, start in zip(self.trace.graph.roots, self.trace.starts, strict=False):
            if root.node in self.turn_of and start is not None:
                entering.setdefault(self.box_of[root.node], []).append(in_capsule(start))
        return {node: together(what) for node, what in entering.items()}

    def opens(self, nr: int) -> tuple[tuple[int, int], ...]:
        """Return for a folded node which view it opens: (from this step on, view)."""
        if nr not in self.copies:
            return ()
        return changes(self.opened(self.copies[nr]))

    def opened(self, copies: tuple[Copy, ...]) -> list[int]:
        """Return for -1 and every step the view that a folded node opens: of the copy that has its
        turn, or had it last, else has it first, or ran last.
        """
        view = {}
        for copy in copies:
            if copy.view:
                view |= dict.fromkeys(self.turns(copy.nodes), copy.view)
        views = [view[min(view)] if view else copies[-1].view]
        for now in range(self.last + 1):
            views.append(view.get(now, views[-1]))
        return views

    def stops(self, summary: int) -> tuple[Stop, ...]:
        """Return where the player stops: at each step, or after all steps in a folded part."""
        stops = [Stop(-1, -1, 0)]
        if not self.last:
            return tuple(stops)
        for box, first, last in self.stretches_of_boxes():
            if self.graph.nodes[box].folded and last > first:
                stops.append(Stop(first, last, summary))
                summary += 1
            else:
                for now in range(first, last + 1):
                    stops.append(Stop(now, now, now + 1))
        return (*stops, Stop(self.last, self.last, self.last + 1))

    def stretches_of_boxes(self) -> Iterator[tuple[int, int, int]]:
        """Yield (box, first step, last step) of steps in a row that are in one box."""
        boxes = [self.box_of[step.node] for step in self.trace.steps]
        first = 0
        for now, box in enumerate(boxes, start=1):
            if now == self.last or boxes[now] != box:
                yield box, first, now - 1
                first = now


def with_all(things: Iterable[Any], **fields: Any) -> tuple[Any, ...]:
    return tuple([replace(thing, **fields) for thing in things])


def stretches(steps: list[int]) -> tuple[tuple[int, int], ...]:
    """Return (first, last) of numbers in a row."""
    pairs: list[tuple[int, int]] = []
    for step in steps:
        if pairs and pairs[-1][1] == step - 1:
            pairs[-1] = (pairs[-1][0], step)
        else:
            pairs.append((step, step))
    return tuple(pairs)


def changes(values: list[int]) -> tuple[tuple[int, int], ...]:
    """Return where a list, which begins at step -1, takes another value: (step, value)."""
    pairs = []
    for at, value in enumerate(values):
        if at == 0 or value != values[at - 1]:
            pairs.append((at - 1, value))
    return tuple(pairs)


def together(what: list[What]) -> What:
    """Return what enters one node for several roots: the numbers, as they will be added."""
    if len(what) == 1:
        return what[0]
    return " + ".join([part if isinstance(part, str) else "…" for part in what])


def in_capsule(gradient: Gradient | None) -> What:
    """Return a gradient as a capsule or a slot shows it: a number, few values, or the tensor."""
    if gradient is None:
        return None
    what = as_shown(gradient)
    if isinstance(what, str) and single(gradient) is None and len(what) > IN_CAPSULE:
        return gradient
    return what


def room(what: What) -> Size:
    """Return the size of the capsule that something fits into, px."""
    words = what or "…"
    if isinstance(what, Gradient):
        if not is_unknown(what):
            return TILE[0] + AROUND, CAPSULE
        words = shape(what.shape)
    return max(36, width(words, TITLE, bold=True) + AROUND), CAPSULE


def wide(what: What) -> int:
    return 0 if what is None else room(what)[0]


def brief(tensor: TensorInfo) -> TensorInfo:
    """Return a tensor whose values are written as short as can be; many are told by their shape."""
    if tensor.values is None:
        return tensor
    words = short_numbers(tensor.values)
    return replace(tensor, value=words if len(words) <= IN_CARD else None)
