"""Turn a `Trace` into a `Film`: one scene, and for every step what is done, what is now and what comes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from helpers.draw import drawing
from helpers.film import Change, Film, Frame
from helpers.graph import Graph, Node
from helpers.marks import Mark
from helpers.text import width
from helpers.trace import Step, Trace, arrival, title

LONGEST = 14  # characters of a gradient on an edge; a longer one is told by its shape


def film(trace: Trace, alt: str | None = None) -> Film:
    """Return a film with a frame before the first step, one for each step, and one after the last."""
    stage = Stage(trace)
    scene = drawing(stage.widest(), stage.handed, alt, also=("freed",) if stage.frees else ())
    frames = [stage.frame(number, scene.marks) for number in range(-1, len(trace.steps) + 1)]
    return Film((scene,), tuple(frames), str(trace), alt or f"Stepping through backward. {scene.alt}")


class Stage:
    """Know when each node has its turn, and so what every mark is in every frame."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.graph, self.last = trace, trace.graph, len(trace.steps)
        self.turn = {step.node: number for number, step in enumerate(trace.steps)}
        self.frees = any(step.freed for step in trace.steps)
        self.handed = dict(self._handed())

    def _handed(self) -> Iterator[tuple[int, str]]:
        """Yield (edge, what is handed on along it), short enough to ride on the edge."""
        for number, edge in enumerate(self.graph.edges):
            went = self.trace.steps[self.turn[edge.source]].handed_on if edge.source in self.turn else ()
            text = went[edge.position] if edge.position < len(went) and edge.target is not None else None
            if text is not None:
                yield number, text if len(text) <= LONGEST else text.partition(" norm")[0]

    def widest(self) -> Graph:
        """Return the graph with every `.grad` as wide as it will ever be, so that nothing jumps."""
        return replace(self.graph, nodes=tuple(self._widest(nr, node) for nr, node in enumerate(self.graph.nodes)))

    def _widest(self, number: int, node: Node) -> Node:
        if not (texts := self._grad(number)):
            return node
        return replace(node, outputs=(replace(node.outputs[0], grad=max(texts, key=lambda t: width(t, 12))),))

    def _grad(self, number: int) -> tuple[str, str] | None:
        """Return `.grad` before and after, of a leaf or of a tensor that retains its own; None where none shows."""
        if number not in self.turn:
            return None
        before, after = self.graph.nodes[number].outputs, self.trace.after.nodes[number].outputs
        retained = len(before) == 1 and before[0].grad and (before[0].grad, after[0].grad or "None")
        return self.trace.steps[self.turn[number]].leaf or retained or None

    def frame(self, now: int, marks: tuple[Mark, ...]) -> Frame:
        """Return the frame in which step `now` (from 0) has its turn; -1 is before all, the last after all."""
        changes = [change for nr, mark in enumerate(marks) if (change := self.change(nr, mark, now))]
        if now < 0:
            return Frame(f"{self.last} steps to come. {self._begin()}", changes=tuple(changes))
        if now == self.last:
            return Frame(self._end(), changes=tuple(changes))
        step = self.trace.steps[now]
        new = [nr for nr, mark in enumerate(marks) if mark.runs and self._is_new(mark, step)]
        question = f"step {now + 1} of {self.last}: {title(self.graph.nodes[step.node])}: {arrival(step)}. {ask(step)}"
        focus = f"node {step.node}"
        return Frame(self.trace.sentence(now), 0, tuple(changes), focus, tuple(new), question)

    def change(self, nr: int, mark: Mark, now: int) -> Change | None:
        """Say what a mark is when step `now` has its turn; None if it is as the scene has it."""
        whose, _, number = mark.of.partition(" ")
        if whose == "node":
            return self._node_change(nr, mark, int(number), now)
        if whose == "edge":
            return self._edge_change(nr, mark, int(number), now)
        return None

    def _node_change(self, nr: int, mark: Mark, node: int, now: int) -> Change | None:
        turn = self.turn.get(node)
        state = "" if turn is None or turn > now else "now" if turn == now else "done"
        if mark.role in ("operation", "leaf"):
            return Change(nr, state) if state else None
        if mark.state == "held" and state == "done" and self.trace.steps[turn].freed:
            return Change(nr, "freed")
        if self._is_grad(mark) and (grad := self._grad(node)):
            before, after = grad
            return Change(nr, runs=((f".grad  {after if state else before}", f"grad{state}"),))
        return None

    def _edge_change(self, nr: int, mark: Mark, edge: int, now: int) -> Change | None:
        source, target = (self.turn.get(end) for end in (self.graph.edges[edge].source, self.graph.edges[edge].target))
        if source is None or source > now or edge not in self.handed:
            return Change(nr, hidden=True) if mark.role in ("capsule", "label") and edge in self.handed else None
        return Change(nr, "next" if target is None or target > now else "now" if target == now else "done")

    def _is_grad(self, mark: Mark) -> bool:
        return bool(mark.runs) and mark.runs[0][1] == "grad" and mark.runs[0][0].startswith(".grad")

    def _is_new(self, mark: Mark, step: Step) -> bool:
        """Say whether a text is a number that this step brings."""
        whose, _, number = mark.of.partition(" ")
        if whose == "edge":
            return int(number) in self.handed and self.graph.edges[int(number)].source == step.node
        return whose == "node" and int(number) == step.node and bool(step.leaf) and self._is_grad(mark)

    def _begin(self) -> str:
        names = ", ".join(root.tensor.name or "the root" for root in self.graph.roots)
        return f"backward() starts at {names}."

    def _end(self) -> str:
        if self.trace.error:
            return f"backward() stopped after {self.last} steps: {self.trace.error}"
        leaves = [(self.graph.nodes[step.node].name, step.leaf[1]) for step in self.trace.steps if step.leaf]
        got = [f"{name or 'a leaf'}.grad = {text}" for name, text in leaves[:6]] + ["…"] * (len(leaves) > 6)
        return f"After {self.last} steps: {', '.join(got) or 'no leaf got a gradient'}."


def ask(step: Step) -> str:
    """Ask for the numbers that a step brings."""
    return "What is .grad now?" if step.leaf else "What does it hand on?"
