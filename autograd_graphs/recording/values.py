"""Watch a backward of an engine that is not torch's: each node's own `backward`, as it is called.

What it computes, and in which order, that engine decides.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import FunctionType
from typing import Any

import torch

from autograd_graphs.data import Gradient
from autograd_graphs.looking.refusals import short
from autograd_graphs.looking.summaries import gradient
from autograd_graphs.looking.values import (
    ValueNames,
    ValueWalk,
    array_of,
    demand_values,
    graph_of_values,
    leaf_of,
    looking_at_values,
    own,
    photographs,
    static,
    torch_formulas_of,
)
from autograd_graphs.looking.variable_names import caller
from autograd_graphs.recording.local_derivatives import local_derivatives
from autograd_graphs.recording.recorded import remember
from autograd_graphs.recording.trace import (
    CUSTOM,
    LeafGrad,
    LocalDerivative,
    Step,
    Trace,
    saved_at,
)
from autograd_graphs.text import first_line

MOST_STEPS = 2_000  # that are taken down: an engine may come by a node any number of times
Locals = tuple[LocalDerivative | None, ...]


def record_value(values: Sequence[Any], names: object, how: Mapping[str, Any]) -> Trace:
    """Run `value.backward(...)` with the arguments that are given, and return its steps.

    Raises TypeError for several values and for one that has no backward, before anything is run.
    """
    value = demand_one(values)
    log = ValueLog(value, names)
    given = {name: thing for name, thing in how.items() if thing is not None and thing is not False}
    try:
        try:
            log.watch()
            value.backward(**given)
        finally:
            log.let_go()
    except BaseException as error:
        trace = log.trace("gradient" in given, first_line(error))
        short(error, trace=trace)
        remember_value(value, trace, how)
        raise
    trace = log.trace("gradient" in given)
    remember_value(value, trace, how)
    return trace


def demand_one(values: Sequence[Any]) -> Any:
    """Return the one value that is given."""
    demand_values(values)
    if len(values) > 1:
        said = f"The backward of your own engine starts at one value, but you gave {len(values)}."
        raise short(TypeError(f"{said} Pass one of them, or their sum."))
    if not callable(own(values[0], "backward")):
        said = f"{type(values[0]).__name__} has no backward() yet, so there are no steps."
        raise short(TypeError(f"{said} show() draws the graph."))
    return values[0]


def remember_value(value: Any, trace: Trace, how: Mapping[str, Any]) -> None:
    with suppress(TypeError):  # a class with __slots__ that nothing can refer to weakly
        remember([value], trace, how)


class ValueLog:
    """Take down each call of a node's `backward`: what came in, and what came out.

    For the time of one backward the `backward` of each class of nodes is one of ours, which calls
    it. So the engine may call `node.backward(grad)` or `type(node).backward(node, grad)`, and nodes
    stay of the class they are.
    """

    def __init__(self, value: Any, names: object) -> None:
        with looking_at_values():
            self.walk, self.names = ValueWalk([value]), ValueNames(caller(), names)
            self.graph = self.after = graph_of_values(self.walk, self.names)
        self.number = {id(node): nr for nr, node in enumerate(self.walk.met)}
        self.patched: list[tuple[type, bool, Any]] = []
        self.inside: set[int] = set()  # nodes whose backward runs now
        self.steps: list[Step] = []
        self.lost = self.more = 0

    def watch(self) -> None:
        """Put our `backward` in the place of that of each class; one without it is lost."""
        for kind in dict.fromkeys(map(type, self.walk.met)):
            real = static(kind, "backward")
            if isinstance(real, FunctionType | staticmethod):
                self.patched.append((kind, "backward" in kind.__dict__, real))
                type.__setattr__(kind, "backward", self.watched(real))
            else:
                self.lost += 1

    def let_go(self) -> None:
        """Give all classes their own `backward` again, and look once more."""
        for kind, is_own, real in self.patched:
            if is_own:
                type.__setattr__(kind, "backward", real)
            elif "backward" in kind.__dict__:
                type.__delattr__(kind, "backward")
        try:
            with looking_at_values():
                self.after = graph_of_values(self.walk, self.names)
        except Exception:
            self.lost += 1

    def watched(self, real: Any) -> Any:
        """Return what calls a backward and takes down what it did."""
        function = real.__func__ if isinstance(real, staticmethod) else real

        @functools.wraps(function)
        def backward(*args: Any, **named: Any) -> Any:
            number = self.number.get(id(args[0])) if args else None
            if number is None or number in self.inside or len(args) + len(named) != 2:
                return function(*args, **named)
            node, grad = args[0], (*args, *named.values())[1]
            self.inside.add(number)
            try:
                before = self.looked(self.before, node, grad)
                handed_on = function(*args, **named)
            finally:
                self.inside.discard(number)
            if before is not None:
                self.looked(self.take_down, number, node, before, handed_on)
            return handed_on

        return staticmethod(backward) if isinstance(real, staticmethod) else backward

    def looked(self, look: Callable[..., Any], *args: Any) -> Any:
        """Look, if there is room for more steps; count what cannot be read."""
        if len(self.steps) >= MOST_STEPS:
            self.more += look == self.take_down
            return True if look == self.before else None
        try:
            with looking_at_values():
                return look(*args)
        except Exception:
            self.lost += 1
            return None

    def before(self, node: Any, grad: Any) -> tuple[Any, ...]:
        """Return what arrives at a node, copied, what it has saved, and the `.grad` of its leaf."""
        array, leaf = array_of(grad), leaf_of(node)
        held: dict[str, Any] = {"alpha": 1}
        for photograph in photographs(node):
            held[photograph.name] = array_of(photograph.thing)
        arrived = None if array is None else array.detach().clone()
        return arrived, held, None if leaf is None else tally_of(leaf)

    def take_down(self, number: int, node: Any, before: tuple[Any, ...], handed_on: Any) -> None:
        arrived, held, tally = before
        came = (gradient(arrived),)
        leaf = leaf_of(node)
        if leaf is not None:
            now = LeafGrad(tally, tally_of(leaf))
            self.steps.append(Step(number, (), came, came, leaf=now))
            return
        outputs = self.wanted(number, handed_on)
        made_by, derivatives = self.derivatives(number, node, held, arrived, outputs)
        handed = tuple(map(gradient, outputs))
        self.steps.append(Step(number, made_by, came, came, handed, derivatives))

    def wanted(self, number: int, handed_on: Any) -> list[torch.Tensor | None]:
        """Return what was handed on as tensors; None where it leads nowhere."""
        if not isinstance(handed_on, list | tuple):
            handed_on = (handed_on,)
        tensors = list(map(array_of, handed_on))
        for edge in self.graph.edges:
            if edge.source == number and edge.target is None and not edge.cut:
                tensors[edge.position : edge.position + 1] = [None]
        return tensors

    def derivatives(
        self, number: int, node: Any, held: Any, arrived: Any, outputs: Any
    ) -> tuple[tuple[tuple[str, str], ...], Locals]:
        """Return by which formulas, and how, gradients were made: by torch's rules where all
        numbers agree with them, else by the engine's own backward.
        """
        rules = tuple(torch_formulas_of(node).items())
        found = local_derivatives(rules, self.graph.nodes[number], held, (arrived,), outputs)
        for local, out in zip(found, outputs, strict=True):
            if out is not None and (local is None or local.is_refuted):
                return CUSTOM, (None,) * len(outputs)
        return tuple([(name, "") for name, _ in rules]), found

    def trace(self, is_given: bool, error: str = "") -> Trace:
        """Close the log: tell of each step what it used and freed."""
        (root,) = self.graph.roots
        starts = [step.grad_outputs[0] for step in self.steps[:1] if step.node == root.node]
        return Trace(
            self.graph,
            self.after,
            tuple([self.settled(step) for step in self.steps]),
            error,
            starts=tuple(starts or [None]),
            given=(is_given,),
            lost=self.lost,
            more=self.more,
        )

    def settled(self, step: Step) -> Step:
        used, freed = saved_at(step.node, self.graph, self.after)
        return replace(step, used=used, freed=freed)


def tally_of(leaf: Any) -> Gradient | None:
    """Describe the `.grad` of a leaf as it is now."""
    grad = own(leaf, "grad")
    return None if grad is None else gradient(array_of(grad)) or Gradient(None)
