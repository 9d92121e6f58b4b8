"""Say all of a live world that can matter later, as plain data: with equal ones worlds are alike.

Runs nothing, but ends by moving version counters, to see which tensors share one: look last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.autograd.graph import increment_version

from autograd_graphs.looking.nodes import is_custom, leaf_of, next_functions, outputs_of
from autograd_graphs.looking.saved_tensors import saved, values_held
from autograd_graphs.looking.tensors import read, shape_of
from autograd_graphs.looking.torch_private import quietly
from helpers.labs.engine.world import kept_grad

PLAIN = (type(None), bool, int, float, str)


def sameness(
    things: Mapping[str, object],
    unversioned: Sequence[str] = (),
    tools: Mapping[str, object] | None = None,
) -> tuple[Any, ...]:
    """Return plain data on named tensors, modules and plain values, and all that they lead to.

    Of tensors named in `unversioned`, "x.grad" among them, the version is left out: the caller knows
    that it cannot matter. `tools` are functions by name, the same ones in every world that is
    compared: a hook is told by its name there.

    That is: values, shapes, flags, versions, `.grad`, storages and version counters in common,
    every node with its edges, what it saved and in what state, the engine's order, grad mode, the
    random numbers to come. Equal within one process only. Raises TypeError for what it cannot
    judge.
    """
    drawn = hash(torch.default_generator.get_state().numpy().tobytes())
    modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), drawn)
    with quietly():
        seen = Seen(bound_to(things, unversioned), tools or {})
        bound = tuple((name, seen.thing(name, thing)) for name, thing in sorted(things.items()))
        facts = tuple(map(seen.facts, seen.met))  # `met` grows as we go
        return modes, bound, facts, seen.order(), shared_counters(seen.met)


def bound_to(things: Mapping[str, object], names: Sequence[str]) -> list[Any]:
    """Return the tensors that names, or "x.grad" of one, are bound to."""
    tensors = []
    for name in names:
        owner, _, grad = name.partition(".")
        tensor = things.get(owner)
        if tensor is not None and grad:
            tensor = kept_grad(tensor)
        if tensor is not None:
            tensors.append(tensor)
    return tensors


class Seen:
    """Number tensors, backward functions and storages as they are met, and keep them alive.

    Of the tensors in `ignore_versions_of` the version is not told.
    """

    def __init__(self, ignore_versions_of: Sequence[Any], tools: Mapping[str, object]) -> None:
        self._unversioned = set(map(id, ignore_versions_of))
        self._tools = {id(tool): name for name, tool in tools.items()}
        self.met: list[Any] = []
        self._index: dict[int, int] = {}
        self._storages: dict[int, int] = {}

    def number(self, thing: Any) -> int | None:
        """Return the number of a tensor or a node; an AccumulateGrad counts as its leaf."""
        if thing is None:
            return None
        thing = leaf_of(thing)
        if id(thing) not in self._index:
            self._index[id(thing)] = len(self.met)
            self.met.append(thing)
        return self._index[id(thing)]

    def thing(self, name: str, thing: Any) -> Any:
        """Return what is bound to a name: a number for a tensor, plain data as it is."""
        if torch.is_tensor(thing):
            return "tensor", self.number(thing)
        if isinstance(thing, torch.nn.Module):
            inside = [*thing.named_parameters(), *thing.named_buffers()]
            modes = tuple(part.training for part in thing.modules())
            tensors = tuple((path, self.number(tensor)) for path, tensor in inside)
            return "module", repr(thing), modes, tensors
        if type(thing) in (tuple, list):
            return type(thing).__name__, tuple(self.thing(name, item) for item in thing)
        if type(thing) in PLAIN:
            return type(thing).__name__, repr(thing)
        raise TypeError(
            f"{name} is a {type(thing).__name__}, and whether two of those are equal in all that matters cannot be "
            "told. Keep tensors, modules, numbers and texts in a world; a name that begins with _ is not compared."
        )

    def facts(self, thing: Any) -> tuple[Any, ...]:
        if torch.is_tensor(thing):
            return self.of_tensor(thing)
        return self.of_node(thing)

    def of_tensor(self, tensor: torch.Tensor) -> tuple[Any, ...]:
        leaf, keeps = read(tensor, "is_leaf"), read(tensor, "retains_grad")
        storage = torch._C.TensorBase.untyped_storage(tensor)
        place = tensor.stride(), tensor.storage_offset()
        look = (str(tensor.dtype), str(tensor.device), shape_of(tensor), *place)
        flags = (type(tensor).__name__, tensor.requires_grad, leaf, keeps)
        is_free = tensor.is_inference() or id(tensor) in self._unversioned
        version = tensor.is_inference(), None if is_free else read(tensor, "_version")
        node, nr = read(tensor, "grad_fn"), read(tensor, "output_nr")
        made = (self.number(node), nr, self.number(tensor._base))
        grad = self.number(kept_grad(tensor))
        hooks = self.hook_names(tensor._backward_hooks)
        after = self.hook_names(tensor._post_accumulate_grad_hooks)
        where = self._storages.setdefault(storage._cdata, len(self._storages)), storage.nbytes()
        values = repr(torch._C.TensorBase.tolist(tensor))
        return "tensor", look, flags, version, made, grad, (hooks, after), where, values

    def hook_names(self, hooks: Mapping[int, object] | None) -> tuple[str, ...]:
        """Return what the world calls hooks. Raises TypeError for one that it does not name."""
        names = []
        for hook in (hooks or {}).values():
            if id(hook) not in self._tools:
                raise TypeError(
                    "A world whose hooks cannot be compared: such a hook may do anything. Define it in "
                    "the setup, and name it in the world's tools."
                )
            names.append(self._tools[id(hook)])
        return tuple(names)

    def of_node(self, node: Any) -> tuple[Any, ...]:
        operation = type(node).__name__
        edges = tuple((self.number(child), nr) for child, nr in next_functions(node))
        cells, held = saved(node, lambda tensor: ()), values_held(node)
        hidden, states = [], []
        for cell in cells:
            states.append((cell.name, cell.state, cell.version, cell.version_now))
            if cell.state not in ("freed", "modified") and cell.name not in held:
                hidden.append(cell.name)
        if hidden or is_custom(node):
            raise TypeError(
                f"What {operation} keeps cannot be compared: {', '.join(hidden) or 'it is a custom one'}."
            )
        kept = []
        for name, value in sorted(held.items()):
            kept.append((name, self.number(value) if torch.is_tensor(value) else repr(value)))
        made = tuple(outputs_of(node, lambda *_: ()))
        return "node", operation, edges, tuple(states), tuple(kept), made

    def order(self) -> tuple[int, ...]:
        """Return the nodes in the order in which the engine would take them."""
        nodes = [nr for nr, thing in enumerate(self.met) if not torch.is_tensor(thing)]
        return tuple(sorted(nodes, key=lambda nr: (self.met[nr]._sequence_nr(), nr)))


def shared_counters(things: list[Any]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of tensors with one version counter, found by moving each counter once."""
    tensors = [
        nr for nr, met in enumerate(things) if torch.is_tensor(met) and not met.is_inference()
    ]
    pairs = []
    for place, nr in enumerate(tensors):
        before = {other: things[other]._version for other in tensors[place + 1 :]}
        increment_version(things[nr])
        pairs += [(nr, other) for other, old in before.items() if things[other]._version != old]
    return tuple(pairs)
