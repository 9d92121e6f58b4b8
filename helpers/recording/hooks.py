"""Take down one backward through hooks: what arrives at each node, and what it hands on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

from helpers.graph import Gradient, Root
from helpers.looking.saved_tensors import values_held
from helpers.looking.snapshot import NEAREST, Walk, graph_of
from helpers.looking.torch_private import (
    grad_of,
    gradient,
    graph_task,
    is_custom,
    is_list,
    is_tensor,
    leaf_of,
    quietly,
    register,
)
from helpers.looking.variable_names import Names
from helpers.recording.local_derivatives import computable, factors, formulas
from helpers.recording.trace import LeafGrad, Step, Trace, with_saved

Gradients = Sequence[torch.Tensor | None]
_UNSUMMED = object()  # stands for a gradient that is too large or too odd to be summed up once more


class Log:
    """Take down what arrives at each node and what it hands on.

    Hooks know nodes by number alone: one that referred to its node would keep the graph alive for
    ever. No hook of ours raises, and none does arithmetic on what is not a plain dense tensor:
    torch could crash over it.
    """

    def __init__(self, roots: Sequence[torch.Tensor], found: Names, gradient: object) -> None:
        with quietly():
            self.walk = Walk(roots, NEAREST)  # each step is kept, with its numbers
            self.graph = self.after = graph_of(self.walk, found)
        self.found, self.live = found, self.walk.live
        self.edges = self.graph.inputs_by_node()
        self.cut = bool(self.graph.left_out)  # a cut graph may hide a consumer
        self.begins = {root.node for root in self.graph.roots}
        self.handles: list[Any] = []
        self.task: int | None = None
        self.pending: dict[tuple[int, int], Any] = {}
        self.begun: dict[int, tuple[Step, dict[str, Any]]] = {}  # with what the node saved
        self.steps: list[Step] = []
        with unnoticed():
            self._begin(roots, gradient)
        self.start = dict(self.pending)

    def _begin(self, roots: Sequence[torch.Tensor], gradient: object) -> None:
        """Count what the roots are given as arrived, before any hook; what is no tensor, torch
        refuses.
        """
        given = gradient if is_list(gradient) else [gradient] * len(roots)
        for root, tensor, start in zip(self.graph.roots, roots, given, strict=False):
            if start is None:
                start = implicit_gradient(root, tensor)
            if root.node is not None and is_tensor(start):
                self._add((root.node, root.output_nr), start)

    def _add(self, place: tuple[int, int], arrived: torch.Tensor) -> None:
        """Sum up what arrives at a place, in the order in which the engine does."""
        have = self.pending.get(place)
        if have is _UNSUMMED or not computable(arrived):
            self.pending[place] = _UNSUMMED
        elif have is None:
            self.pending[place] = arrived.detach().clone()
        else:
            self.pending[place] = have + arrived

    def watch(self) -> None:
        """Hook every node."""
        for number, node in enumerate(self.live):
            if is_tensor(node):
                self.live[number] = node = accumulator(
                    node
                )  # held: a leaf alone would drop it, and our hooks with it
            self.handles.append(register(node, "register_prehook", partial(self.enter, number)))
            self.handles.append(register(node, "register_hook", partial(self.leave, number)))

    def let_go(self) -> None:
        """Take the hooks away, look at the graph once more, and let go of its nodes from the root
        to the leaves.
        """
        for handle in self.handles:
            handle.remove()
        with unnoticed():
            self.after = graph_of(self.walk, self.found)
        for held in (self.pending, self.start, self.begun):
            held.clear()
        self.live.reverse()
        self.walk.met.reverse()
        while self.live:
            self.live.pop()
            self.walk.met.pop()

    def _is_other(self, number: int) -> bool:
        """Say whether a node runs for another backward than ours: in a hook of the user's, or in
        another thread.

        Ours begins at a root. One that a hook of the root starts begins there too, and earlier, but
        is younger.
        """
        task = graph_task()
        if number in self.begins and (self.task is None or task < self.task):
            self.task, self.pending = task, dict(self.start)
            self.steps.clear()
        return task != self.task

    def enter(self, number: int, grad_outputs: Gradients) -> None:
        """Take down what arrives at a node, before and after the hooks of the user, and what it has
        saved.
        """
        with unnoticed():
            if self._is_other(number):
                return
            before = [self.pending.pop((number, nr), None) for nr in range(len(grad_outputs))]
            step = Step(
                number,
                self.formulas(number),
                before_hooks=self._sums(before, grad_outputs),
                grad_outputs=tuple(map(gradient, grad_outputs)),
            )
            node = self.live[number]
            if self.graph.nodes[number].is_leaf:
                self.begun[number] = replace(step, leaf=LeafGrad(grad_of(leaf_of(node)), None)), {}
            else:
                self.begun[number] = step, values_held(node)

    def _sums(self, before: Sequence[Any], grad_outputs: Gradients) -> tuple[Gradient | None, ...]:
        """Describe what arrived before hooks; where we could not sum it up, only what came through
        them is known.
        """
        found = []
        for have, after in zip(before, grad_outputs, strict=True):
            found.append(gradient(after if self.cut or have is _UNSUMMED else have))
        return tuple(found)

    def leave(self, number: int, grad_inputs: Gradients, grad_outputs: Gradients) -> None:
        """Take down what a node hands on, and count it as arrived at its inputs."""
        with unnoticed():
            if self._is_other(number) or number not in self.begun:
                return
            step, held = self.begun.pop(number)
            self._hand_on(number, grad_inputs)
            if step.leaf:
                leaf = LeafGrad(step.leaf.before, grad_of(leaf_of(self.live[number])))
                self.steps.append(replace(step, leaf=leaf))
                return
            found = factors(
                step.formulas, self.graph.nodes[number], held, grad_outputs, grad_inputs
            )
            self.steps.append(
                replace(step, grad_inputs=tuple(map(gradient, grad_inputs)), factors=found)
            )

    def _hand_on(self, number: int, grad_inputs: Gradients) -> None:
        """Count what a node hands on as arrived at the nodes behind its inputs."""
        for edge in self.edges.get(number, ()):
            if edge.target is None or edge.position >= len(grad_inputs):
                continue
            if grad_inputs[edge.position] is not None:
                self._add((edge.target, edge.input_nr), grad_inputs[edge.position])

    def formulas(self, number: int) -> tuple[tuple[str, str], ...]:
        """Return (input, formula) of a node, in PyTorch's own words; for a custom Function,
        "custom".
        """
        node = self.live[number]
        if is_custom(node):
            return (("input", "custom"),)
        return tuple(formulas(self.graph.nodes[number].operation).items())

    def trace(self, error: str = "") -> Trace:
        """Close the log: tell of each step what it used and freed."""
        steps = tuple(with_saved(step, self.graph, self.after) for step in self.steps)
        return Trace(self.graph, self.after, steps, error)


def implicit_gradient(root: Root, tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the 1 that torch starts with at a single number; an odd tensor stands for its own."""
    sizes = root.tensor.shape
    if sizes is None or torch.Size(sizes).numel() != 1:
        return None
    return torch.ones_like(tensor) if computable(tensor) else tensor


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Look, and drop what cannot be read: nothing of ours may stop a backward."""
    with contextlib.suppress(Exception), quietly():
        yield


def accumulator(leaf: torch.Tensor) -> Any:
    """Return the AccumulateGrad of a leaf, whatever mode is on and whatever its class would say."""
    with torch.inference_mode(False), quietly():
        return get_gradient_edge(leaf).node
