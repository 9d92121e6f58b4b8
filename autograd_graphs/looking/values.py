"""Read values of an engine that is not torch's, such as a student writes: the same `Graph`.

A value has `data` (a tensor), `requires_grad`, `grad`, `grad_fn`, and a leaf that was used its
`grad_accumulator`. A node has `next_functions`, `name()`, `shape` and `saved`: values or (value,
version) pairs, None once freed; the end of a path has its leaf as `variable`. What is an ordinary
attribute is read without running any code; what a property runs leaves nothing behind.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from types import FrameType
from typing import Any, NamedTuple

import torch

from autograd_graphs.data import Edge, Gradient, Graph, Node, Root, SavedTensor, TensorInfo
from autograd_graphs.guard import guarded, undisturbed
from autograd_graphs.looking.refusals import short
from autograd_graphs.looking.saved_tensors import Memory
from autograd_graphs.looking.tensors import described_grad, tensor_info, values_of, why_no_graph
from autograd_graphs.looking.torch_formulas import formulas
from autograd_graphs.looking.torch_private import quietly
from autograd_graphs.looking.variable_names import MOST_NAMES, variables
from autograd_graphs.text import visible

VALUE = ("data", "requires_grad", "grad", "grad_fn")
MOST_NODES, MOST_EDGES = 2_000, 25_000
NO_NODES = (str, bytes, int, float, complex, tuple, list, dict, set, torch.Tensor)
_MISSING = object()


def is_value(thing: object) -> bool:
    """Say whether a thing is a value of an engine that isn't torch's."""
    return may_be_value(thing) and not lacking(thing) and torch.is_tensor(data_of(thing))


def may_be_value(thing: object) -> bool:
    return not issubclass(type(thing), torch.Tensor | torch.nn.Module | type)


def lacking(thing: object) -> list[str]:
    """List what a value has and this thing has not."""
    return [name for name in VALUE if static(thing, name) is _MISSING]


def data_of(thing: object) -> object:
    """Return `data`; where code of the thing's own gives it, run so that nothing comes of that."""
    data = static(thing, "data")
    return data if torch.is_tensor(data) else guarded(own, thing, "data")


def static(thing: object, name: str) -> Any:
    """Return what is kept under a name, on a thing or its class, without running code of theirs."""
    try:
        return inspect.getattr_static(thing, name, _MISSING)
    except Exception:
        return _MISSING


def own(thing: object, name: str) -> Any:
    """Return an attribute; None where there is none, or where the thing's own code fails."""
    found = static(thing, name)
    if found is _MISSING:
        return None
    if not hasattr(type(found), "__get__"):
        return found
    try:
        return getattr(thing, name)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


@contextmanager
def looking_at_values():
    """Look at somebody's objects: what their code prints, draws or sets meanwhile is undone."""
    with undisturbed(), quietly():
        yield


def demand_values(things: Sequence[Any]) -> None:
    """Raise TypeError unless all things are values of one kind of engine."""
    for thing in things:
        if not is_value(thing):
            given = f"Expected a value of your own engine, got {type(thing).__name__}."
            raise short(TypeError(f"{given} Show tensors and values of your own separately."))


class ValueWalk:
    """Visit the nodes behind values, breadth first, each once, holding on to every one.

    What is met is a node, or a leaf that was never used and so has no node yet. Raises TypeError
    where `next_functions` is not as torch's is, and says which entry; ValueError where a graph runs
    in a circle.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.met: list[Any] = []
        self.edges: list[Edge] = []
        self.is_cut = False
        self._index: dict[int, int] = {}
        self.roots = [(value, self._begin(value)) for value in values]
        for source, node in enumerate(self.met):  # the list grows as we go
            self._follow(source, node)
        self._demand_an_end()

    def _begin(self, value: Any) -> int | None:
        """Return the node of a root; None where it has no graph."""
        node = own(value, "grad_fn")
        if node is not None:
            return self._meet(demand_node(node, "grad_fn"))
        if not is_true(own(value, "requires_grad")):
            return None
        end = own(value, "grad_accumulator")
        return self._meet(value if end is None else demand_node(end, "grad_accumulator"))

    def _meet(self, node: Any) -> int | None:
        if id(node) not in self._index and len(self.met) < MOST_NODES:
            self._index[id(node)] = len(self.met)
            self.met.append(node)
        return self._index.get(id(node))

    def _follow(self, source: int, node: Any) -> None:
        for position, (child, input_nr) in enumerate(inputs_of(node)):
            if len(self.edges) >= MOST_EDGES:
                self.edges.append(Edge(source, position, None, cut=True, many=True))
                return
            target = None if child is None else self._meet(child)
            is_cut = child is not None and target is None
            self.is_cut = self.is_cut or is_cut
            self.edges.append(Edge(source, position, target, input_nr, cut=is_cut))

    def _demand_an_end(self) -> None:
        inputs: dict[int, list[int]] = {}
        for edge in self.edges:
            if edge.target is not None:
                inputs.setdefault(edge.source, []).append(edge.target)
        try:
            TopologicalSorter(inputs).prepare()
        except CycleError as error:
            name = name_of(self.met[error.args[1][0]])
            said = f"This graph runs in a circle: from {name} you come back to {name}."
            advice = (
                "But a node only leads to what was there before it, so look at its next_functions."
            )
            raise short(ValueError(f"{said} {advice}")) from None


def is_true(flag: object) -> bool:
    """Say whether a flag is set, without asking an odd object for its truth."""
    return isinstance(flag, bool | int) and bool(flag)


def leaf_of(node: Any) -> Any:
    """Return the leaf that a node writes to, or that stands for its node; else None."""
    leaf = node if is_value(node) else own(node, "variable")
    return leaf if is_value(leaf) else None


def demand_node(thing: Any, place: str) -> Any:
    """Return a node. Raises TypeError for what can be none."""
    if is_value(thing):
        what = f"{place} is a value"
    elif isinstance(thing, NO_NODES):
        what = f"{place} is {type(thing).__name__}"
    else:
        return thing
    advice = "It has to be the node that made a value (its grad_fn), or a leaf's AccumulateGrad."
    raise short(TypeError(f"{what}. {advice}"))


def inputs_of(node: Any) -> list[tuple[Any, int]]:
    """Return the (node, number) pairs of `next_functions`; none where there is none yet."""
    entries = None if is_value(node) else own(node, "next_functions")
    if entries is None:
        return []
    place = f"next_functions of {name_of(node)}"
    if not isinstance(entries, list | tuple):
        raise short(TypeError(f"{place} is {type(entries).__name__}. {PAIRS}"))
    for nr, entry in enumerate(entries[:MOST_EDGES]):
        if not is_pair(entry):
            raise short(TypeError(f"{place}, entry {nr}, is {type(entry).__name__}. {PAIRS}"))
        if entry[0] is not None:
            demand_node(entry[0], f"{place}, entry {nr},")
    return list(entries)


PAIRS = (
    "It has to hold a pair for each input: (its node, 0), or (None, 0) if no gradient is wanted."
)


def is_pair(entry: object) -> bool:
    return isinstance(entry, list | tuple) and len(entry) == 2 and type(entry[1]) is int


def name_of(node: Any) -> str:
    """Return what a node calls itself, or else its class."""
    name = own(node, "name")
    if callable(name):
        try:
            name = name()
        except KeyboardInterrupt:
            raise
        except BaseException:
            name = None
    return visible(name if isinstance(name, str) and name else type(node).__name__)


class ValueNames:
    """Know the learner's names of values, by id, and which of them a node made."""

    def __init__(self, frame: FrameType | None, given: object) -> None:
        self.names: dict[int, tuple[str, ...]] = {}
        self.made: dict[int, Any] = {}
        self._keep: list[Any] = []  # an id stays true as long as we look
        first = list(given.items()) if isinstance(given, Mapping) else []
        for name, thing in [*first, *variables(frame)]:
            if is_value(thing):
                self._add(visible(name), thing)

    def _add(self, name: str, value: Any) -> None:
        node = own(value, "grad_fn")
        self._keep += [value, node]
        self.made.setdefault(id(node), value)
        have = self.names.get(id(value if node is None else node), ())
        if name not in have and len(have) < MOST_NAMES:
            self.names[id(value if node is None else node)] = (*have, name)

    def of_value(self, value: Any) -> tuple[str, ...]:
        node = own(value, "grad_fn")
        return self.names.get(id(value if node is None else node), ())

    def of_node(self, node: Any) -> tuple[str, ...]:
        return self.names.get(id(node), ())


def graph_of_values(walk: ValueWalk, names: ValueNames) -> Graph:
    """Describe what a walk met, as it is now."""
    leaves = [own(leaf, "data") for leaf in map(leaf_of, walk.met) if leaf is not None]
    memory = Memory(leaves)
    usual = tensor_info(own(walk.roots[0][0], "data"), ())
    nodes = tuple([describe(node, names, memory, usual) for node in walk.met])
    roots = tuple([root(value, begin, names) for value, begin in walk.roots])
    return Graph(nodes, tuple(walk.edges), roots, at_least=len(walk.met) * walk.is_cut)


def root(value: Any, begin: int | None, names: ValueNames) -> Root:
    """Describe a value that was asked about, and where the walk from it began."""
    info = replace(info_of(value, names.of_value(value)), values=values_of(own(value, "data")))
    if begin is None:
        return Root(info, reason=why_no_graph(own(value, "data")))
    return Root(info, begin)


def describe(node: Any, names: ValueNames, memory: Memory, usual: TensorInfo) -> Node:
    """Describe a leaf, or a node with what it made and saved.

    Of what has no name the type is not known: it is told as that of the root.
    """
    leaf = leaf_of(node)
    if leaf is not None:
        return Node("AccumulateGrad", (info_of(leaf, names.of_value(leaf), with_value=True),), True)
    known = names.of_node(node)
    shape = own(node, "shape")
    made = replace(usual, names=known, shape=as_shape(shape), requires_grad=True)
    if id(node) in names.made:
        made = info_of(names.made[id(node)], known)
    return Node(name_of(node), (made,), False, saved_of(node, names, memory))


def as_shape(shape: object) -> tuple[int, ...] | None:
    """Return a shape as torch has it; None for anything else."""
    if isinstance(shape, list | tuple) and all(type(size) is int for size in shape):
        return tuple(shape)
    return None


def info_of(value: Any, known: tuple[str, ...], with_value: bool = False) -> TensorInfo:
    """Describe a value; with `with_value` its numbers, and the `.grad` of a leaf."""
    info = tensor_info(own(value, "data"), known, with_value)
    is_leaf = own(value, "grad_fn") is None
    needed = is_true(own(value, "requires_grad")) or not is_leaf
    grad = grad_of(value) if with_value and is_leaf else None
    return replace(info, requires_grad=needed, keeps_grad=with_value and is_leaf, grad=grad)


def grad_of(value: Any) -> Gradient | None:
    """Describe the `.grad` of a value, which holds a value, a tensor or a number."""
    grad = own(value, "grad")
    if grad is None:
        return None
    array = array_of(grad)
    return Gradient(None) if array is None else described_grad(array)


def array_of(thing: Any) -> torch.Tensor | None:
    """Return the tensor of a value, a tensor itself, a number as one; None for anything else."""
    if torch.is_tensor(thing):
        return thing
    if type(thing) in (int, float, complex):
        return torch.tensor(thing)
    data = own(thing, "data")
    return data if torch.is_tensor(data) else None


class Photograph(NamedTuple):
    """Hold what a node saved: by torch's name, the value or tensor, its version then if known."""

    name: str
    thing: Any
    version: int | None


def photographs(node: Any) -> list[Photograph]:
    """List what a node holds."""
    saved = own(node, "saved")
    if not isinstance(saved, list | tuple):
        return []
    held = [entry if is_pair(entry) else (entry, None) for entry in saved]
    names = saved_names(node, len(held))
    return [Photograph(name, *pair) for name, pair in zip(names, held, strict=True)]


def saved_names(node: Any, count: int) -> list[str]:
    """Return torch's names of what its operation of that name saves, where they are as many."""
    known = list(torch_formulas_of(node))
    if len(known) != count:
        return [f"saved_tensors[{nr}]" for nr in range(count)]
    return known


def torch_formulas_of(node: Any) -> dict[str, str]:
    """Return torch's formulas for an operation of this name; none without PyYAML."""
    try:
        return formulas(name_of(node))
    except ImportError:
        return {}


def saved_of(node: Any, names: ValueNames, memory: Memory) -> tuple[SavedTensor, ...]:
    """Describe what a node saved, and whether backward still can use it."""
    if static(node, "saved") is not _MISSING and own(node, "saved") is None:
        freed = list(torch_formulas_of(node)) or ["saved_tensors"]
        return tuple([SavedTensor(name, "freed") for name in freed])
    described = [saved_tensor(one, names, memory) for one in photographs(node)]
    return tuple(filter(None, described))


def saved_tensor(one: Photograph, names: ValueNames, memory: Memory) -> SavedTensor | None:
    """Describe one photograph; None of what is no tensor and no value."""
    data = array_of(one.thing)
    if data is None or type(one.thing) in (int, float, complex):
        return None
    known = names.of_value(one.thing) if is_value(one.thing) else ()
    info = tensor_info(data, known, with_value=not known and data.dim() == 0)
    needs_grad = is_value(one.thing) and is_true(own(one.thing, "requires_grad"))
    info = replace(info, requires_grad=needs_grad, keeps_grad=False, grad=None)
    now = own(one.thing, "_version")
    now = now if type(now) is int else None
    then = now if one.version is None else one.version
    state = "held" if then == now else "modified"
    return SavedTensor(one.name, state, info, then, now, (memory.storage(data),))
