"""Turn live tensors into a `Graph`: walk from the roots along `next_functions`, and let go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import Any, NamedTuple

import torch

from autograd_graphs.data import Edge, Graph, Node, Root, TensorInfo
from autograd_graphs.looking.calls import ModuleCalls
from autograd_graphs.looking.freeing import make_freeable
from autograd_graphs.looking.nodes import leaf_of, next_functions, outputs_of, ran_as
from autograd_graphs.looking.refusals import short
from autograd_graphs.looking.saved_tensors import Memory, saved
from autograd_graphs.looking.tensors import grad_of, read, tensor_info, values_of, why_no_graph
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.values import (
    VALUE,
    ValueNames,
    ValueWalk,
    demand_values,
    graph_of_values,
    is_value,
    lacking,
    looking_at_values,
    may_be_value,
)
from autograd_graphs.looking.variable_names import Names, caller, find_names
from autograd_graphs.text import visible


class Limits(NamedTuple):
    """Hold how many nodes are met, and how many of their inputs followed one by one."""

    nodes: int
    edges: int


WHOLE = Limits(25_000, 50_000)  # what is larger is not described as a whole: it would take seconds
NEAREST = Limits(2_000, 25_000)  # what is described of it, nearest to the roots first


Given = Mapping[str, torch.Tensor] | torch.nn.Module | ModuleCalls


def snapshot(*tensors: torch.Tensor, names: Given | None = None) -> Graph:
    """Return the backward graph behind one or several tensors as plain data, changing nothing.

    Variables of the caller, parameters of modules in reach and `names={"w": w}` or `names=model`
    name what they hold; `names=calls`, from `module_calls`, also tells which module call made each
    operation. Of a graph of more than 25,000 nodes, or 50,000 inputs of nodes, the 2,000 nodes
    nearest to the roots are told; `graph.left_out` says what is missing. On a graph deeper than
    500 levels some nodes get an entry in `metadata`, without which freeing it could end the
    process. Values of an engine of one's own are told alike. Raises TypeError for anything that is
    not a tensor or such a value. A tensor with no graph is a root with a reason.
    """
    if not tensors:
        raise TypeError(
            "Nothing was given. Pass the tensor whose graph you want, for example the loss."
        )
    if any(map(is_value, tensors)):
        return snapshot_of_values(tensors, caller(), demand_mapping(names))
    for thing in tensors:
        demand_tensor(thing)
    in_reach = names_in_reach(caller(), names)
    with quietly():
        return graph_of(Walk(tensors), in_reach)


def snapshot_of_values(values: Sequence[Any], frame: FrameType | None, given: Given) -> Graph:
    """Return the graph behind values of an engine of somebody's own."""
    demand_values(values)
    with looking_at_values():
        return graph_of_values(ValueWalk(values), ValueNames(frame, given))


def names_in_reach(frame: FrameType | None, given: Given | None) -> Names:
    """Collect names, and keep module calls that are given.

    Raises TypeError for `names` of another kind, ValueError for module calls that are not complete.
    """
    if not isinstance(given, ModuleCalls):
        return find_names(frame, demand_mapping(given))
    names = find_names(frame, given.models())
    names.calls = given
    return names


def graph_of(walk: Walk, names: Names) -> Graph:
    """Describe what a walk met, with the names that were found."""
    roots = tuple(root(tensor, begin, names) for tensor, begin in walk.roots)
    memory = Memory([*filter(torch.is_tensor, walk.met), *names.weights])
    nodes = tuple([describe(node, names, memory) for node in walk.met])
    numbers = sequence_numbers(walk)
    ran = tuple(sorted(numbers, key=lambda nr: (numbers[nr], -nr)))
    graph = Graph(nodes, tuple(walk.edges), roots, ran, at_least=walk.at_least)
    if names.calls is None:
        return graph
    calls, without = names.calls.calls_in(numbers, walk.edges)
    return replace(graph, calls=calls, without_calls=without)


def sequence_numbers(walk: Walk) -> dict[int, int]:
    """Return the sequence number of every operation that a walk met, by its place."""
    return {nr: ran_as(node) for nr, node in enumerate(walk.met) if not torch.is_tensor(node)}


class Walk:
    """Visit nodes breadth first, each once, holding on to every one so that its id stays its own.

    What is met is a backward function, or a leaf tensor that stands for its AccumulateGrad: asking
    torch for that node would use up a sequence number. What is larger than `whole` is walked once
    more, as far as `NEAREST`; `at_least` is then how many nodes it has at least.
    """

    def __init__(self, tensors: Sequence[torch.Tensor], whole: Limits | None = None) -> None:
        self.met: list[Any] = []
        # The same, but with the AccumulateGrad of every leaf that is not a root:
        self.live: list[Any] = []
        self.edges: list[Edge] = []
        self.at_least = 0
        self.is_cut = False
        self._index: dict[int, int] = {}
        self._limits = whole or WHOLE
        self.roots = [(tensor, self._start(tensor)) for tensor in tensors]
        begin = len(self.met)
        self._run(as_a_whole=True)
        if self.is_cut:
            self.at_least = len(self.met)
            self._begin_again(begin)
            self._limits = NEAREST
            self._run()

    def _begin_again(self, count: int) -> None:
        """Forget all that was met but the first `count`, where the walk begins."""
        del self.met[count:], self.live[count:]
        self._index = {id(node): nr for nr, node in enumerate(self.met)}
        self.edges = []

    def _start(self, tensor: torch.Tensor) -> tuple[int | None, int] | None:
        """Return (node, output_nr) of a root, or None if it has no graph."""
        if not read(tensor, "requires_grad"):
            return None
        # Read once: for a view of an edited base this rewrites history.
        node = read(tensor, "grad_fn")
        if node is None:
            return self._meet(tensor), 0
        return self._meet(node), read(tensor, "output_nr")

    def _meet(self, node: Any) -> int | None:
        """Return the number of a node, a new one if need be; None once the cap is reached."""
        thing = leaf_of(node)
        if id(thing) not in self._index and len(self.met) < self._limits.nodes:
            self._index[id(thing)] = len(self.met)
            self.met.append(thing)
            self.live.append(node)
        return self._index.get(id(thing))

    def _run(self, as_a_whole: bool = False) -> None:
        """Visit all that is met; what Python has seen until then is made safe to free."""
        try:
            self._visit(as_a_whole)
        finally:
            make_freeable(self.met, self.edges)

    def _visit(self, as_a_whole: bool) -> None:
        """Follow the inputs of all that is met; of all or nothing, up to the first cut."""
        most = self._limits.edges
        for source, node in enumerate(self.met):  # the list grows as we go
            if as_a_whole and self.is_cut:
                return
            if len(self.edges) >= most and not torch.is_tensor(node):
                self._cut(source, 0)
                continue
            for position, (child, input_nr) in enumerate(next_functions(node)):
                if len(self.edges) >= most:
                    self._cut(source, position)
                    break
                self.edges.append(self._edge(source, position, child, input_nr))

    def _cut(self, source: int, position: int) -> None:
        """Write down that all inputs of a node from a position on are left out."""
        self.is_cut = True
        self.edges.append(Edge(source, position, None, cut=True, many=True))

    def _edge(self, source: int, position: int, child: Any, input_nr: int) -> Edge:
        """Return one entry of `next_functions`, cut where its node is beyond the cap."""
        if child is None:
            return Edge(source, position, None, input_nr)
        target = self._meet(child)
        if target is None:
            self.is_cut = True
        return Edge(source, position, target, input_nr, cut=target is None)


def root(tensor: torch.Tensor, begin: tuple[int | None, int] | None, names: Names) -> Root:
    """Describe a tensor that was asked about, and where the walk from it began."""
    info = replace(tensor_info(tensor, names.of_tensor(tensor)), values=values_of(tensor))
    if begin is None:
        return Root(info, reason=why_no_graph(tensor))
    return Root(info, *begin)


def describe(node: Any, names: Names, memory: Memory) -> Node:
    """Describe a leaf tensor, or a backward function with what it made and saved."""
    if torch.is_tensor(node):
        leaf = tensor_info(node, names.of_tensor(node), with_value=True)
        return Node("AccumulateGrad", (leaf,), True)
    made = outputs_of(node, names.of_output)
    for nr, info in enumerate(made):
        if info.names:
            made[nr] = with_kept_grad(info, names.tensor_of_output(node, nr))
    own = made[0].names if made else ()
    kept = saved(node, names.of_tensor, own, memory)
    return Node(visible(type(node).__name__), tuple(made), False, kept)


def with_kept_grad(info: TensorInfo, tensor: torch.Tensor | None) -> TensorInfo:
    """Add to what is known of a named output its `.grad`, where retain_grad() keeps one."""
    if tensor is None or not read(tensor, "retains_grad"):
        return info
    return replace(info, keeps_grad=True, grad=grad_of(tensor))


def demand_mapping(names: object) -> Mapping[str, torch.Tensor] | torch.nn.Module:
    """Return `names`, a dict or a model; raises TypeError, with an example, for anything else."""
    if names is None:
        return {}
    if isinstance(names, torch.nn.Module):
        return names
    if not isinstance(names, dict):
        advice = "a model, or the context of module_calls(model)."
        given = f"names is {type(names).__name__}. "
        example = "Pass a dict from name to tensor: names={'w': w}, "
        raise short(TypeError(given + example + advice))
    for name, thing in names.items():
        if not isinstance(name, str):
            said = f"A key of names is {type(name).__name__}. "
            raise short(TypeError(said + "Pass the name as text: names={'w': w}."))
        demand_tensor(thing, f"names[{visible(name)!r}]")
    return names


def demand_tensor(thing: object, what: str = "") -> None:
    """Raise TypeError, with what to pass instead, unless `thing`, called `what`, is a tensor."""
    if torch.is_tensor(thing) or is_value(thing):
        return
    advice = "Pass a tensor, for example the loss."
    if missing := missing_in(thing):
        advice = missing
    elif isinstance(thing, torch.nn.Module):
        advice = (
            "A module has no graph of its own. Call it and pass the result, for example model(x)."
        )
    elif thing is None:
        advice = "backward() returns None, and an empty .grad is None, too. Pass the loss itself."
    elif isinstance(thing, dict):
        advice = "Pass one of the tensors in it, for example out['loss']."
    elif isinstance(thing, (list, tuple)):
        advice = "Pass the tensors one by one, for example with a star before the list."
    given = f"Expected a tensor{what and ' as '}{what}, got {type(thing).__name__}."
    raise short(TypeError(f"{given} {advice}"))


def missing_in(thing: object) -> str:
    """Say what a value of an engine of one's own lacks; "" for anything that is none."""
    missing = lacking(thing)
    if not may_be_value(thing) or "data" in missing or {"grad", "grad_fn"} <= {*missing}:
        return ""
    needs = f"{', '.join(VALUE[:-1])} and {VALUE[-1]}"
    if missing:
        return f"A value of your own engine has {needs}; this one lacks {' and '.join(missing)}."
    return f"A value of your own engine has {needs}, and its data is a tensor."
