"""Say all of a live world that can matter later, as plain data: with equal ones worlds are alike.

Runs nothing, but ends by moving version counters, to see which tensors share one: look last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dis import get_instructions
from typing import Any

import torch
from torch.autograd.graph import increment_version

from autograd_graphs.looking.saved_tensors import saved, values_held
from autograd_graphs.looking.torch_private import (
    is_custom,
    is_tensor,
    leaf_of,
    next_functions,
    outputs,
    quietly,
    read,
    shape,
    type_name,
)
from autograd_graphs.looking.variable_names import is_module
from helpers.labs.engine.world import kept_grad

PLAIN = (type(None), bool, int, float, str)


def sameness(things: Mapping[str, object], unversioned: Sequence[str] = ()) -> tuple[Any, ...]:
    """Return plain data on named tensors, modules and plain values, and all that they lead to.

    Of tensors named in `unversioned`, "x.grad" among them, the version is left out: the caller knows
    that it cannot matter.

    That is: values, shapes, flags, versions, `.grad`, storages and version counters in common,
    every node with its edges, what it saved and in what state, the engine's order, grad mode, the
    random numbers to come. Equal within one process only. Raises TypeError for what it cannot
    judge.
    """
    drawn = hash(torch.default_generator.get_state().numpy().tobytes())
    modes = (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), drawn)
    with quietly():
        seen = Seen(bound_to(things, unversioned))
        bound = tuple((name, seen.thing(name, one)) for name, one in sorted(things.items()))
        facts = tuple(map(seen.facts, seen.met))  # `met` grows as we go
        return modes, bound, facts, seen.order(), shared_counters(seen.met)


def bound_to(things: Mapping[str, object], names: Sequence[str]) -> list[Any]:
    """Return the tensors that names, or "x.grad" of one, are bound to."""
    found = []
    for name in names:
        owner, _, grad = name.partition(".")
        one = things.get(owner)
        if one is not None and grad:
            one = kept_grad(one)
        if one is not None:
            found.append(one)
    return found


class Seen:
    """Number tensors, backward functions and storages as they are met, and keep them alive.

    Of the tensors in `ignore_versions_of` the version is not told.
    """

    def __init__(self, ignore_versions_of: Sequence[Any] = ()) -> None:
        self._unversioned = set(map(id, ignore_versions_of))
        self.met: list[Any] = []
        self._index: dict[int, int] = {}
        self._storages: dict[int, int] = {}

    def number(self, one: Any) -> int | None:
        """Return the number of a tensor or a node; an AccumulateGrad counts as its leaf."""
        if one is None:
            return None
        one = leaf_of(one)
        if id(one) not in self._index:
            self._index[id(one)] = len(self.met)
            self.met.append(one)
        return self._index[id(one)]

    def thing(self, name: str, one: Any) -> Any:
        """Return what is bound to a name: a number for a tensor, plain data as it is."""
        if is_tensor(one):
            return "tensor", self.number(one)
        if is_module(one):
            inside = [*one.named_parameters(), *one.named_buffers()]
            modes = tuple(part.training for part in one.modules())
            tensors = tuple((path, self.number(tensor)) for path, tensor in inside)
            return "module", repr(one), modes, tensors
        if type(one) in (tuple, list):
            return type(one).__name__, tuple(self.thing(name, item) for item in one)
        if type(one) in PLAIN:
            return type(one).__name__, repr(one)
        raise TypeError(
            f"{name} is a {type_name(one)}, and whether two of those are equal in all that matters cannot be "
            "told. Keep tensors, modules, numbers and texts in a world; a name that begins with _ is not compared."
        )

    def facts(self, one: Any) -> tuple[Any, ...]:
        if is_tensor(one):
            return self.of_tensor(one)
        return self.of_node(one)

    def of_tensor(self, one: torch.Tensor) -> tuple[Any, ...]:
        leaf, keeps = read(one, "is_leaf"), read(one, "retains_grad")
        storage = torch._C.TensorBase.untyped_storage(one)
        look = (str(one.dtype), str(one.device), shape(one), one.stride(), one.storage_offset())
        flags = (type_name(one), one.requires_grad, leaf, keeps)
        is_free = one.is_inference() or id(one) in self._unversioned
        version = one.is_inference(), None if is_free else read(one, "_version")
        made = (self.number(read(one, "grad_fn")), read(one, "output_nr"), self.number(one._base))
        grad = self.number(kept_grad(one))
        hooks = tuple(map(of_hook, (one._backward_hooks or {}).values()))
        after = tuple(map(of_hook, (one._post_accumulate_grad_hooks or {}).values()))
        where = self._storages.setdefault(storage._cdata, len(self._storages)), storage.nbytes()
        values = repr(torch._C.TensorBase.tolist(one))
        return "tensor", look, flags, version, made, grad, (hooks, after), where, values

    def of_node(self, one: Any) -> tuple[Any, ...]:
        operation = type_name(one)
        edges = tuple((self.number(child), nr) for child, nr in next_functions(one))
        cells, held = saved(one, lambda tensor: ()), values_held(one)
        known = [cell for cell in cells if cell.state not in ("freed", "modified")]
        hidden = [cell.name for cell in known if cell.name not in held]
        if hidden or is_custom(one):
            raise TypeError(
                f"What {operation} keeps cannot be compared: {', '.join(hidden) or 'it is a custom one'}."
            )
        kept = []
        for name, value in sorted(held.items()):
            kept.append((name, self.number(value) if is_tensor(value) else repr(value)))
        states = tuple([(cell.name, cell.state, cell.version, cell.version_now) for cell in cells])
        made = tuple(outputs(one, lambda *_: ()))
        return "node", operation, edges, states, tuple(kept), made

    def order(self) -> tuple[int, ...]:
        """Return the nodes in the order in which the engine would take them."""
        nodes = [nr for nr, one in enumerate(self.met) if not is_tensor(one)]
        return tuple(sorted(nodes, key=lambda nr: (self.met[nr]._sequence_nr(), nr)))


def of_hook(hook: Any) -> tuple[Any, ...]:
    """Return the code of a hook. Raises TypeError if it reads more than its arguments."""
    code = getattr(hook, "__code__", None)
    reach = None if code is None else [line.opname for line in get_instructions(code)]
    if reach is None or code.co_freevars or "LOAD_GLOBAL" in reach or hook.__defaults__:
        raise TypeError("A world whose hooks cannot be compared: such a hook may do anything.")
    return code.co_code, code.co_consts, code.co_names


def shared_counters(things: list[Any]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of tensors with one version counter, found by moving each counter once."""
    tensors = [nr for nr, one in enumerate(things) if is_tensor(one) and not one.is_inference()]
    pairs = []
    for place, nr in enumerate(tensors):
        before = {other: things[other]._version for other in tensors[place + 1 :]}
        increment_version(things[nr])
        pairs += [(nr, other) for other, old in before.items() if things[other]._version != old]
    return tuple(pairs)
