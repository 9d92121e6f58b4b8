"""Turn live tensors into a `Graph`: walk from the roots along `next_functions`, look, and let go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from helpers import peek
from helpers.graph import Edge, Graph, Node, Root, TensorInfo
from helpers.kinds import is_a, is_module
from helpers.names import Names, caller, find_names
from helpers.saved import saved

MOST_EDGES = 25_000  # inputs that are followed one by one
MOST_NODES = 2_000  # Python must not touch more: freeing a longer chain of touched nodes overflows the stack


def snapshot(*tensors: torch.Tensor, names: Mapping[str, torch.Tensor] | torch.nn.Module | None = None) -> Graph:
    """Return the backward graph behind one or several tensors as plain data, changing nothing.

    Variables of the caller, parameters of modules in reach and `names={"w": w}` or `names=model` name what they hold.
    At most 2,000 nodes are visited, nearest to the roots first; `graph.left_out` says what is missing.
    Raises TypeError for anything that is not a tensor. A tensor with no graph is a root with a reason.
    """
    if not tensors:
        raise TypeError("Nothing was given. Pass the tensor whose graph you want, for example the loss.")
    for thing in tensors:
        demand_tensor(thing)
    names = demand_mapping(names)
    with peek.quietly():
        return graph_of(Walk(tensors), find_names(caller(), names))


def graph_of(walk: Walk, found: Names) -> Graph:
    """Describe what a walk met, with the names that were found."""
    roots = tuple(root(tensor, begin, found) for tensor, begin in walk.roots)
    return Graph(tuple(describe(one, found) for one in walk.met), tuple(walk.edges), roots, ran(walk))


def ran(walk: Walk) -> tuple[int, ...]:
    """Return the operations that a walk met in the order in which they ran, by their places among what it met."""
    numbers = {nr: peek.ran_as(one) for nr, one in enumerate(walk.met) if not peek.is_tensor(one)}
    return tuple(sorted(numbers, key=lambda nr: (numbers[nr], -nr)))


class Walk:
    """Visit nodes breadth first, each once, holding on to every one so that its id stays its own.

    What is met is a backward function, or a leaf tensor that stands for its AccumulateGrad: asking torch
    for that node would use up a sequence number.
    """

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self.met: list[Any] = []
        self.live: list[Any] = []  # the same, but with the AccumulateGrad of every leaf that is not a root
        self.edges: list[Edge] = []
        self._index: dict[int, int] = {}
        self.roots = [(tensor, self._start(tensor)) for tensor in tensors]
        self._run()

    def _start(self, tensor: torch.Tensor) -> tuple[int | None, int] | None:
        """Return (node, output_nr) of a root, or None if it has no graph."""
        if not peek.read(tensor, "requires_grad"):
            return None
        node = peek.read(tensor, "grad_fn")  # read once: for a view of an edited base this rewrites history
        return (self._meet(tensor), 0) if node is None else (self._meet(node), peek.read(tensor, "output_nr"))

    def _meet(self, node: Any) -> int | None:
        """Return the number of a node, a new one if need be; None once the cap is reached."""
        one = peek.leaf_of(node)
        if id(one) not in self._index and len(self.met) < MOST_NODES:
            self._index[id(one)] = len(self.met)
            self.met.append(one)
            self.live.append(node)
        return self._index.get(id(one))

    def _run(self) -> None:
        for source, one in enumerate(self.met):  # the list grows as we go
            if len(self.edges) >= MOST_EDGES and not peek.is_tensor(one):
                self.edges.append(Edge(source, 0, None, cut=True, many=True))
                continue
            for position, (child, input_nr) in enumerate(peek.next_functions(one)):
                if len(self.edges) >= MOST_EDGES:
                    self.edges.append(Edge(source, position, None, cut=True, many=True))
                    break
                target = None if child is None else self._meet(child)
                cut = child is not None and target is None
                self.edges.append(Edge(source, position, target, input_nr, cut))


def root(tensor: torch.Tensor, begin: tuple[int | None, int] | None, found: Names) -> Root:
    info = peek.tensor_info(tensor, found.of_tensor(tensor))
    return Root(info, reason=peek.why_no_graph(tensor)) if begin is None else Root(info, *begin)


def describe(one: Any, found: Names) -> Node:
    """Describe what the walk met: a leaf tensor, or a backward function with what it made and saved."""
    if peek.is_tensor(one):
        return Node("AccumulateGrad", (peek.tensor_info(one, found.of_tensor(one), with_value=True),), True)
    made = [output(info, one, nr, found) for nr, info in enumerate(peek.outputs(one))]
    return Node(peek.type_name(one), tuple(made), False, saved(one, found.of_tensor, found.of_output(one, 0)))


def output(info: TensorInfo, node: Any, nr: int, found: Names) -> TensorInfo:
    """Add to what a node knows of its output the learner's names, and `.grad` where retain_grad() keeps one."""
    tensor = found.tensor_of_output(node, nr)
    keeps = tensor is not None and peek.read(tensor, "retains_grad")
    return replace(info, names=found.of_output(node, nr), grad=peek.grad_text(tensor) if keeps else None)


def demand_mapping(names: object) -> Mapping[str, torch.Tensor] | torch.nn.Module:
    """Return `names`, a dict or a model; raises TypeError, with an example, for anything else."""
    if names is None:
        return {}
    if is_module(names):
        return names
    if not is_a(names, dict):
        raise TypeError(
            f"names is {peek.type_name(names)}. Pass a dict from name to tensor: names={{'w': w}}, or a model."
        )
    given = list(dict.items(names))
    for name, thing in given:
        if type(name) is not str:
            raise TypeError(f"A key of names is {peek.type_name(name)}. Pass the name as text: names={{'w': w}}.")
        demand_tensor(thing, f"names[{peek.visible(name)!r}]")
    return dict(given)


def demand_tensor(thing: object, what: str = "") -> None:
    """Raise TypeError, with what to pass instead, unless `thing` is a tensor; `what` says which one is meant."""
    if peek.is_tensor(thing):
        return
    advice = "Pass a tensor, for example the loss."
    if is_module(thing):
        advice = "A module has no graph of its own: call it and pass the result, for example model(x)."
    elif thing is None:
        advice = "None is what backward() returns and what an empty .grad holds: pass the loss itself."
    elif type(thing) is dict:
        advice = "Pass one of the tensors in it, for example out['loss']."
    elif type(thing) is list or type(thing) is tuple:
        advice = "Pass the tensors one by one: a star before the list does it."
    raise TypeError(f"Expected a tensor{what and ' as '}{what}, got {peek.type_name(thing)}. {advice}")
