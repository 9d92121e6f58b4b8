"""Take down one backward through hooks: what arrives at each node, and what it hands on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

from helpers import peek
from helpers.factors import computable, factors
from helpers.formulas import formulas
from helpers.names import Names
from helpers.saved import values_held
from helpers.snapshot import Walk, graph_of
from helpers.trace import Step, Trace, with_saved

Gradients = Sequence[torch.Tensor | None]
_UNSUMMED = object()  # stands for a gradient that is too large or too odd to be summed up once more


class Log:
    """Take down what arrives at each node and what it hands on.

    Hooks know nodes by number alone: one that referred to its node would keep the graph alive for ever. No hook
    of ours raises, and none does arithmetic on what is not a plain dense tensor: torch could crash over it.
    """

    def __init__(self, roots: Sequence[torch.Tensor], found: Names, gradient: object) -> None:
        with peek.quietly():
            self.walk = Walk(roots)
            self.graph = self.after = graph_of(self.walk, found)
        self.found, self.live = found, self.walk.live
        self.edges = self.graph.inputs_by_node()
        self.cut = bool(self.graph.left_out)  # a cut graph may hide a consumer
        self.begins = {root.node for root in self.graph.roots}
        self.handles: list[Any] = []
        self.task: int | None = None
        self.pending: dict[tuple[int, int], Any] = {}
        self.came: dict[int, tuple[Any, ...]] = {}
        self.steps: list[Step] = []
        with unnoticed():
            self._begin(roots, gradient)
        self.start = dict(self.pending)

    def _begin(self, roots: Sequence[torch.Tensor], gradient: object) -> None:
        """Count what the roots are given as arrived, before any hook; what is no tensor, torch refuses."""
        given = gradient if type(gradient) in (list, tuple) else [gradient] * len(roots)
        for root, tensor, start in zip(self.graph.roots, roots, given, strict=False):
            if start is None and root.tensor.shape is not None and torch.Size(root.tensor.shape).numel() == 1:
                start = torch.ones_like(tensor) if computable(tensor) else tensor
            if root.node is not None and peek.is_tensor(start):
                self._add((root.node, root.output_nr), start)

    def _add(self, place: tuple[int, int], gradient: torch.Tensor) -> None:
        """Sum up what arrives at a place, in the order in which the engine does."""
        have = self.pending.get(place)
        if have is _UNSUMMED or not computable(gradient):
            self.pending[place] = _UNSUMMED
        else:
            self.pending[place] = gradient.detach().clone() if have is None else have + gradient

    def watch(self) -> None:
        """Hook every node."""
        for number, node in enumerate(self.live):
            if peek.is_tensor(node):
                self.live[number] = node = accumulator(node)  # held: a leaf alone would drop it, and our hooks with it
            self.handles.append(peek.register(node, "register_prehook", partial(self.enter, number)))
            self.handles.append(peek.register(node, "register_hook", partial(self.leave, number)))

    def let_go(self) -> None:
        """Take the hooks away, look at the graph once more, and let go of its nodes from the root to the leaves."""
        for handle in self.handles:
            handle.remove()
        with unnoticed():
            self.after = graph_of(self.walk, self.found)
        for held in (self.pending, self.start, self.came):
            held.clear()
        self.live.reverse()
        self.walk.met.reverse()
        while self.live:
            self.live.pop()
            self.walk.met.pop()

    def _is_other(self, number: int) -> bool:
        """Say whether a node runs for another backward than ours: in a hook of the user's, or in another thread.

        Ours begins at a root. One that a hook of the root starts begins there too, and earlier, but is younger.
        """
        task = graph_task()
        if number in self.begins and (self.task is None or task < self.task):
            self.task, self.pending = task, dict(self.start)
            self.steps.clear()
        return task != self.task

    def enter(self, number: int, arrived: Gradients) -> None:
        """Take down what arrives at a node, before and after the hooks of the user, and what it has saved."""
        with unnoticed():
            if self._is_other(number):
                return
            before = [self.pending.pop((number, nr), None) for nr in range(len(arrived))]
            node = self.live[number]
            grad = peek.grad_text(peek.leaf_of(node)) if self.graph.nodes[number].is_leaf else None
            held = {} if grad else values_held(node)
            self.came[number] = (self._texts(before, arrived), tuple(map(peek.summary, arrived)), grad, held)

    def _texts(self, before: Sequence[Any], arrived: Gradients) -> tuple[str | None, ...]:
        """Tell what arrived before hooks; where we could not sum it up, only what arrived is known."""
        pairs = zip(before, arrived, strict=True)
        return tuple(peek.summary(after if self.cut or one is _UNSUMMED else one) for one, after in pairs)

    def leave(self, number: int, handed_on: Gradients, arrived: Gradients) -> None:
        """Take down what a node hands on, and count it as arrived at its inputs."""
        with unnoticed():
            if self._is_other(number) or number not in self.came:
                return
            before, after, grad, held = self.came.pop(number)
            for edge in self.edges.get(number, ()):
                gradient = handed_on[edge.position] if edge.position < len(handed_on) else None
                if edge.target is not None and gradient is not None:
                    self._add((edge.target, edge.input_nr), gradient)
            leaf = (grad, peek.grad_text(peek.leaf_of(self.live[number]))) if grad else None
            went = () if leaf else tuple(map(peek.summary, handed_on))
            step = Step(number, self.formulas(number), before, after, went, leaf=leaf)
            found = factors(step.formulas, self.graph.nodes[number], held, arrived, handed_on)
            self.steps.append(replace(step, factors=found if step.handed_on else ()))

    def formulas(self, number: int) -> tuple[tuple[str, str], ...]:
        """Return (input, formula) of a node, in PyTorch's own words; for a custom Function, "custom"."""
        node = self.live[number]
        if peek.is_custom(node):
            return (("input", "custom"),)
        return tuple(formulas(self.graph.nodes[number].operation).items())

    def trace(self, error: str = "") -> Trace:
        """Close the log: tell of each step what it used and freed."""
        steps = tuple(with_saved(step, self.graph, self.after) for step in self.steps)
        return Trace(self.graph, self.after, steps, error)


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Look, and drop what cannot be read: in the middle of a backward nothing of ours may stop it."""
    with contextlib.suppress(Exception), peek.quietly():
        yield


def accumulator(leaf: torch.Tensor) -> Any:
    """Return the AccumulateGrad of a leaf, whatever mode is on and whatever its class would say."""
    with torch.inference_mode(False), peek.quietly():
        return get_gradient_edge(leaf).node


def graph_task() -> int:
    """Return torch's number of the backward that runs in this thread: a younger one has a greater number."""
    return getattr(torch._C, "_current_graph_task_id", int)()
