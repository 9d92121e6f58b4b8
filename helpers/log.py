"""Take down one backward through hooks: what arrives at each node, and what it hands on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

from helpers import peek
from helpers.factors import factor
from helpers.formulas import formulas
from helpers.graph import Graph
from helpers.names import Names
from helpers.saved import values_held
from helpers.snapshot import Walk, graph_of
from helpers.trace import Step, Trace

Gradients = Sequence[torch.Tensor | None]


class Log:
    """Take down what arrives at each node and what it hands on.

    Hooks know nodes by number alone: one that referred to its node would keep the graph alive for ever.
    """

    def __init__(self, roots: Sequence[torch.Tensor], found: Names, gradient: object) -> None:
        with peek.quietly():
            walk = Walk(roots)
            self.graph = graph_of(walk, found)
        self.roots, self.found, self.live = roots, found, walk.live
        self.edges = self.graph.inputs_by_node()
        self.pending: dict[tuple[int, int], torch.Tensor] = {}
        self.came: dict[int, tuple[Any, ...]] = {}
        self.steps: list[Step] = []
        self._begin(gradient)

    def _begin(self, gradient: object) -> None:
        """Count what the roots are given as arrived, before any hook; what is no tensor, torch refuses."""
        given = gradient if type(gradient) in (list, tuple) else [gradient] * len(self.roots)
        for root, tensor, start in zip(self.graph.roots, self.roots, given, strict=False):
            with peek.quietly():
                if start is None and tensor.numel() == 1:
                    start = torch.ones_like(tensor)
            if root.node is not None and peek.is_tensor(start):
                self._add((root.node, root.output_nr), start)

    def _add(self, place: tuple[int, int], gradient: torch.Tensor) -> None:
        """Sum up what arrives at a place, in the order in which the engine does."""
        with peek.quietly():
            have = self.pending.get(place)
            self.pending[place] = gradient.detach().clone() if have is None else have + gradient

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Hook every node for as long as the block runs, and let go of the nodes from the root to the leaves."""
        handles = []
        try:
            for number, node in enumerate(self.live):
                node = get_gradient_edge(node).node if peek.is_tensor(node) else node
                handles.append(peek.register(node, "register_prehook", partial(self.enter, number)))
                handles.append(peek.register(node, "register_hook", partial(self.leave, number)))
            yield
        finally:
            for handle in handles:
                handle.remove()
            self.live.reverse()
            while self.live:
                self.live.pop()

    def enter(self, number: int, arrived: Gradients) -> None:
        """Take down what arrives at a node, before and after the hooks of the user, and what it has saved."""
        with peek.quietly():
            before = [self.pending.pop((number, nr), None) for nr in range(len(arrived))]
            node = self.live[number]
            grad = peek.grad_text(peek.leaf_of(node)) if self.graph.nodes[number].is_leaf else None
            held = {} if grad else values_held(node)
            self.came[number] = (self._texts(before, arrived), tuple(map(peek.summary, arrived)), grad, held)

    def _texts(self, before: Gradients, arrived: Gradients) -> tuple[str | None, ...]:
        """Tell what arrived before hooks; where a cut graph hides a consumer, only what arrived is known."""
        return tuple(map(peek.summary, arrived if self.graph.left_out else before))

    def leave(self, number: int, handed_on: Gradients, arrived: Gradients) -> None:
        """Take down what a node hands on, and count it as arrived at its inputs."""
        before, after, grad, held = self.came.pop(number)
        for edge in self.edges.get(number, ()):
            gradient = handed_on[edge.position] if edge.position < len(handed_on) else None
            if edge.target is not None and gradient is not None:
                self._add((edge.target, edge.input_nr), gradient)
        with peek.quietly():
            leaf = (grad, peek.grad_text(peek.leaf_of(self.live[number]))) if grad else None
            went = () if leaf else tuple(map(peek.summary, handed_on))
            step = Step(number, self.formulas(number), before, after, went, leaf=leaf)
            self.steps.append(replace(step, factors=self.factors(step, held, arrived, handed_on)))

    def formulas(self, number: int) -> tuple[tuple[str, str], ...]:
        """Return (input, formula) of a node, in PyTorch's own words; for a custom Function, "custom"."""
        node = self.live[number]
        if peek.is_custom(node):
            return (("input", "custom"),)
        return tuple(formulas(self.graph.nodes[number].operation).items())

    def factors(self, step: Step, held: Mapping[str, Any], arrived: Gradients, went: Gradients) -> tuple[str, ...]:
        """Return by what each input's gradient was multiplied, where the numbers of this step agree."""
        known = {one.name: one.tensor.name for one in self.graph.nodes[step.node].saved if one.tensor}
        if len(arrived) != 1 or len(step.formulas) != len(step.handed_on):
            return ("",) * len(step.handed_on)
        return tuple(
            factor(formula, held, known, arrived[0], gradient) if gradient is not None else ""
            for (_, formula), gradient in zip(step.formulas, went, strict=True)
        )

    def trace(self, error: BaseException | None = None) -> Trace:
        """Close the log: look at the graph once more, and tell of each step what it used and freed."""
        with peek.quietly():
            after = graph_of(Walk(self.roots), self.found)
        steps = tuple(with_saved(step, self.graph, after) for step in self.steps)
        return Trace(self.graph, after, steps, str(error).partition("\n")[0] if error else "")


def with_saved(step: Step, before: Graph, after: Graph) -> Step:
    """Add to a step the saved tensors that it used, and those of them that were freed after it."""
    used = tuple(one.name for one in before.nodes[step.node].saved if one.state != "freed")
    left = {one.name for one in after.nodes[step.node].saved if one.state != "freed"}
    return replace(step, used=used, freed=tuple(name for name in used if name not in left))
