"""Take down one backward through hooks: what arrives at each node, and what it hands on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

from autograd_graphs.data import Gradient, Root
from autograd_graphs.looking.nodes import is_custom, leaf_of
from autograd_graphs.looking.saved_tensors import values_held
from autograd_graphs.looking.snapshot import NEAREST, Walk, graph_of
from autograd_graphs.looking.summaries import PendingSummary, Summaries, are_equal
from autograd_graphs.looking.tensors import read
from autograd_graphs.looking.torch_formulas import formulas
from autograd_graphs.looking.torch_private import backward_elsewhere, graph_task, quietly
from autograd_graphs.looking.variable_names import Names
from autograd_graphs.recording.local_derivatives import local_derivatives
from autograd_graphs.recording.saved_values import computable
from autograd_graphs.recording.trace import CUSTOM, LeafGrad, LocalDerivative, Step, Trace, saved_at

Gradients = Sequence[torch.Tensor | None]
_UNSUMMED = object()  # stands for a gradient that is too large or too odd to be summed up once more


@dataclass(slots=True)
class Raw:
    """Hold what is known of a step before what it saved is, with pending summaries of gradients."""

    node: int
    formulas: tuple[tuple[str, str], ...]
    before_hooks: tuple[Any, ...]
    grad_outputs: tuple[Any, ...]
    held: dict[str, Any]
    edited_by: str = ""
    versions: tuple[int, ...] = ()
    grad_inputs: tuple[Any, ...] = ()
    locals: tuple[LocalDerivative | None, ...] = ()
    leaf_before: Any = None
    leaf_after: Any = None


def best_effort_hook(look: Callable[..., None]) -> Callable[..., None]:
    """Make a hook of a log look quietly, and count what cannot be read: nothing of ours may stop a
    backward.

    A context manager of Python's would take as long as the look.
    """

    @functools.wraps(look)
    def hook(log: Log, *args: Any) -> None:
        try:
            with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
                if not torch.is_grad_enabled():
                    look(log, *args)
                    return
                with torch.no_grad():
                    look(log, *args)
        except Exception:  # what cannot be read
            log.lost += 1

    return hook


class Log:
    """Take down what arrives at each node and what it hands on.

    Hooks know nodes by number alone: one that referred to its node would keep the graph alive for
    ever. No hook of ours raises, and none does arithmetic on what is not a plain dense tensor:
    torch could crash over it.
    """

    def __init__(self, roots: Sequence[torch.Tensor], names: Names, gradient: object) -> None:
        with quietly():
            self.walk = Walk(roots, NEAREST)  # each step is kept, with its numbers
            self.graph = self.after = graph_of(self.walk, names)
        self.names, self.live = names, self.walk.live
        self.edges = self.graph.inputs_by_node()
        self.cut = bool(self.graph.left_out)  # a cut graph may hide a consumer
        self.begins = {root.node for root in self.graph.roots}
        self.summaries = Summaries()
        self.handles: list[Any] = []
        self.task: int | None = None
        self.pending: dict[tuple[int, int], Any] = {}
        self.waiting: dict[tuple[int, int], int] = {}  # where in memory what was handed on lies
        self.edited: dict[tuple[int, int], str] = {}  # the operation that edited it there
        self.begun: dict[int, Raw] = {}
        self.steps: list[Raw] = []
        self.starts: list[Any] = []
        self.given: list[bool] = []
        self.stopped_at: int | None = None  # what was begun and not left
        self.lost = 0  # looks that failed
        self._begin(roots, gradient)
        self.start = dict(self.pending)

    @best_effort_hook
    def _begin(self, roots: Sequence[torch.Tensor], gradient: object) -> None:
        """Count what the roots are given as arrived; what is no tensor, torch refuses."""
        given = gradient if isinstance(gradient, (list, tuple)) else [gradient] * len(roots)
        for root, tensor, start in zip(self.graph.roots, roots, given, strict=False):
            self.given.append(start is not None)
            if start is None:
                start = implicit_gradient(root, tensor)
            if not torch.is_tensor(start):
                self.starts.append(None)
                continue
            self.starts.append(self.summaries.take(start))
            if root.node is not None:
                self._add((root.node, root.output_nr), start)

    def _add(self, place: tuple[int, int], arrived: torch.Tensor) -> None:
        """Sum up what arrives at a place, in the engine's order."""
        have = self.pending.get(place)
        self.waiting.pop(place, None)
        if have is _UNSUMMED or not computable(arrived):
            self.pending[place] = _UNSUMMED
        elif have is None:
            self.pending[place] = arrived.detach().clone()
            self.waiting[place] = arrived.data_ptr()
        else:
            self.pending[place] = have + arrived

    def watch(self) -> None:
        for number, node in enumerate(self.live):
            if torch.is_tensor(node):
                # Held: a leaf alone would drop it, and our hooks with it.
                with torch.inference_mode(False), quietly():  # whatever its class would say
                    self.live[number] = node = get_gradient_edge(node).node
            self.handles.append(node.register_prehook(partial(self.enter, number)))
            self.handles.append(node.register_hook(partial(self.leave, number)))

    def let_go(self) -> None:
        """Take the hooks away, look once more, and let go of nodes from the root down."""
        for handle in self.handles:
            handle.remove()
        self._look_again()
        self.stopped_at = next(reversed(self.begun), None)
        for held in (self.pending, self.start, self.begun):
            held.clear()
        self.live.reverse()
        self.walk.met.reverse()
        while self.live:
            self.live.pop()
            self.walk.met.pop()

    @best_effort_hook
    def _look_again(self) -> None:
        """Describe all gradients that were taken, and the graph as it is now."""
        self.summaries.settle()
        self.after = graph_of(self.walk, self.names)

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

    @best_effort_hook
    def enter(self, number: int, grad_outputs: Gradients) -> None:
        """Take down what arrives at a node, before and after hooks, and what it has saved."""
        if self._is_other(number):
            return
        before, after = [], []
        for nr, tensor in enumerate(grad_outputs):
            arrived, used = self._arrived((number, nr), tensor)
            before.append(arrived)
            after.append(used)
        leaf_before, held = None, {}
        if self.graph.nodes[number].is_leaf:
            leaf_before = self._grad(number)
        elif are_little(after):
            held = values_held(self.live[number])
        node, made_by = self.live[number], CUSTOM
        if not is_custom(node):  # a custom Function has no formula
            made_by = tuple(formulas(type(node).__name__).items())
        step = Raw(number, made_by, tuple(before), tuple(after), held, leaf_before=leaf_before)
        for nr in range(len(grad_outputs)):
            self.waiting.pop((number, nr), None)
            step.edited_by = self.edited.pop((number, nr), "") or step.edited_by
        if made_by == CUSTOM:
            step.versions = versions(grad_outputs)
        self.begun[number] = step

    def _arrived(self, place: tuple[int, int], tensor: torch.Tensor | None) -> tuple[Any, Any]:
        """Describe what arrives at a place, before hooks, where that is known, and after them."""
        have = self.pending.pop(place, None)
        now = self.summaries.take(tensor)
        if self.cut or have is _UNSUMMED:
            return now, now
        if have is not None and tensor is not None and are_equal(have, tensor):
            return now, now
        return self.summaries.take(have), now

    def _grad(self, number: int) -> Any:
        if backward_elsewhere():
            return Gradient(None)
        return self.summaries.take(read(leaf_of(self.live[number]), "grad"))

    @best_effort_hook
    def leave(self, number: int, grad_inputs: Gradients, grad_outputs: Gradients) -> None:
        """Take down what a node hands on, and count it as arrived at its inputs."""
        if self._is_other(number) or number not in self.begun:
            return
        step = self.begun.pop(number)
        if self.graph.nodes[number].is_leaf:
            step.leaf_after = self._grad(number)
            self.steps.append(step)
            return
        take = self.summaries.take
        handed_on = tuple(map(take, grad_inputs))
        if step.versions and step.versions != versions(grad_outputs):
            self._note_edit(number, grad_outputs)
        self._hand_on(number, grad_inputs)
        step.locals = (None,) * len(grad_inputs)
        if are_little((*step.grad_outputs, *handed_on)):
            saved = self.graph.nodes[number], step.held
            step.locals = local_derivatives(step.formulas, *saved, grad_outputs, grad_inputs, take)
        step.grad_inputs, step.held = handed_on, {}
        self.steps.append(step)

    def _note_edit(self, number: int, grad_outputs: Gradients) -> None:
        """Notice where else a gradient is to arrive that a custom Function has edited."""
        memory = {tensor.data_ptr() for tensor in grad_outputs if computable(tensor)}
        for place, start in self.waiting.items():
            if start in memory:
                self.edited[place] = self.graph.nodes[number].operation

    def _hand_on(self, number: int, grad_inputs: Gradients) -> None:
        """Count what a node hands on as arrived at the nodes behind its inputs."""
        for edge in self.edges.get(number, ()):
            nr = edge.position
            if edge.target is not None and nr < len(grad_inputs) and grad_inputs[nr] is not None:
                self._add((edge.target, edge.input_nr), grad_inputs[nr])

    def trace(self, error: str = "") -> Trace:
        """Close the log: tell of each step what it used and freed."""
        steps = tuple(map(self._step, self.steps))
        starts = tuple(map(self.summaries.described, self.starts))
        stopped_at = self.stopped_at if error else None
        given = tuple(self.given)
        return Trace(
            self.graph, self.after, steps, error, stopped_at, starts, given, lost=self.lost
        )

    def _step(self, raw: Raw) -> Step:
        described = self.summaries.described
        used, freed = saved_at(raw.node, self.graph, self.after)
        leaf = None
        if self.graph.nodes[raw.node].is_leaf:
            leaf = LeafGrad(described(raw.leaf_before), described(raw.leaf_after))
        return Step(
            raw.node,
            raw.formulas,
            tuple(map(described, raw.before_hooks)),
            tuple(map(described, raw.grad_outputs)),
            tuple(map(described, raw.grad_inputs)),
            tuple([settled(local, described) for local in raw.locals]),
            used,
            freed,
            leaf,
            raw.edited_by,
        )


def versions(gradients: Gradients) -> tuple[int, ...]:
    """Return the version counters of gradients: an edit in place raises them."""
    return tuple([read(gradient, "_version") for gradient in gradients if computable(gradient)])


def settled(local: LocalDerivative | None, of: Callable[[Any], Any]) -> LocalDerivative | None:
    """Return a local derivative whose factor is described, in the place of a pending summary."""
    if local is None or type(local.value) is not PendingSummary:
        return local
    return replace(local, value=of(local.value))


def are_little(summaries: Sequence[Any]) -> bool:
    """Say whether none of some gradients is large, so that arithmetic on them takes no time."""
    for summary in summaries:
        if type(summary) is PendingSummary and summary.whole is None:
            return False
    return True


def implicit_gradient(root: Root, tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the 1 that torch starts with at a single number; an odd tensor stands for its own."""
    sizes = root.tensor.shape
    if sizes is None or torch.Size(sizes).numel() != 1:
        return None
    return torch.ones_like(tensor) if computable(tensor) else tensor
