"""Describe the saved tensors of a backward function without unpacking anything that a hook would notice."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import torch

from helpers import peek
from helpers.graph import SavedTensor
from helpers.threads import backward_elsewhere

HELD_BY_GRAPH_ALONE = 3  # references to a saved tensor: the graph's, a variable here, the one of getrefcount
NameOf = Callable[[torch.Tensor], tuple[str, ...]]
_MODIFIED = re.compile(r"is at version (\d+); expected version (\d+)")


def saved(node: Any, name_of: NameOf, made: tuple[str, ...] = ()) -> tuple[SavedTensor, ...]:
    """Describe what a node saved. `name_of(tensor)` finds the learner's names of one that is held,
    `made` are those of the tensor that the node's operation made.

    A saved tensor is unpacked only where no hook would run; a cell that never held anything is left out.
    While another thread goes backward none is touched: torch frees them without a lock.
    """
    if backward_elsewhere():
        return (SavedTensor("saved tensors", "busy"),) if _can_save(node) else ()
    found = [_state(name, cell, unpack, name_of) for name, cell, unpack in _cells(node)]
    return tuple(_named_result(one, made) for one in found if one)


def _can_save(node: Any) -> bool:
    return peek.is_custom(node) or any(name.startswith("_raw_saved_") for name in dir(type(node)))


def _named_result(one: SavedTensor, made: tuple[str, ...]) -> SavedTensor:
    """Name an output that was edited since: what is left of it in the graph has lost its history."""
    unnamed = one.name == "result" and one.tensor and not one.tensor.names
    return replace(one, tensor=replace(one.tensor, names=made)) if unnamed and made else one


def _cells(node: Any) -> list[tuple[str, Any, Callable[[], Any]]]:
    """List a node's saved tensors as (name, raw cell, how to unpack it); the cell is None once freed."""
    if peek.is_custom(node):
        return _cells_of_custom(node)
    cells: list[tuple[str, Any, Callable[[], Any]]] = []
    attributes = [name for name in dir(type(node)) if name.startswith("_raw_saved_")]
    for attribute in sorted(attributes, key="_raw_saved_self".__ne__):  # self first, as in the formulas
        public, name = attribute.removeprefix("_raw"), attribute.removeprefix("_raw_saved_")
        try:
            raw = getattr(node, attribute)
        except RuntimeError:  # torch refuses a freed list of saved tensors as a whole
            raw = None
        if not isinstance(raw, tuple):
            cells.append((name, raw, partial(getattr, node, public)))
            continue
        cells += [
            (f"{name}[{nr}]", cell, lambda public=public, nr=nr: getattr(node, public)[nr])
            for nr, cell in enumerate(raw)
        ]
    return cells


class Cell(NamedTuple):
    """Hold what is read of a saved tensor of a custom Function: torch's own cell dies when a backward frees it."""

    unpack_hook: Any
    data: Any


def _cells_of_custom(node: Any) -> list[tuple[str, Any, Callable[[], Any]]]:
    try:
        cells = [Cell(*one) for one in _each(node, attrgetter("unpack_hook", "data"))]
    except RuntimeError:  # freed: torch no longer says how many there were
        return [("saved_tensors", None, lambda: None)]
    return [(f"saved_tensors[{nr}]", one, partial(_unpacked, node, nr)) for nr, one in enumerate(cells)]


def _each(node: Any, read: Callable[[Any], Any], first: int = 0, stop: int | None = None) -> list[Any]:
    """Read saved tensors of a custom Function within one call into C: no other thread can free them meanwhile."""
    raw = chain.from_iterable(map(peek.CUSTOM._raw_saved_tensors.__get__, (node,)))
    return list(map(read, islice(raw, first, stop)))


def _unpacked(node: Any, nr: int) -> Any:
    return _each(node, methodcaller("unpack"), nr, nr + 1)[0]


def _state(name: str, cell: Any, unpack: Callable[[], Any], name_of: NameOf) -> SavedTensor | None:
    """Describe one cell.

    Unpacking reads `grad_fn`: a view of an edited tensor is unpacked only where the graph
    alone holds it, so that nobody can see its history rewritten.
    """
    if cell is None:
        return SavedTensor(name, "freed")
    if cell.unpack_hook is not None:
        return SavedTensor(name, "packed")
    data = cell.data
    alone = HELD_BY_GRAPH_ALONE + (type(cell) is Cell)
    if peek.is_tensor(data) and peek.may_be_stale(data) and sys.getrefcount(data) > alone:
        return SavedTensor(name, "edited", peek.tensor_info(data, name_of(data)), None, peek.read(data, "_version"))
    try:
        tensor = unpack()
    except RuntimeError as error:
        return _refused(name, cell, str(error), name_of)
    if tensor is None:
        return None
    version, names = peek.read(tensor, "_version"), name_of(tensor)
    is_unnamed_number = not names and peek.shape(tensor) == ()
    return SavedTensor(name, "held", peek.tensor_info(tensor, names, is_unnamed_number), version, version)


def _refused(name: str, cell: Any, message: str, name_of: NameOf) -> SavedTensor:
    """Tell from torch's message why a saved tensor could not be had."""
    data = cell.data
    if data is None:
        return SavedTensor(name, "freed")
    info = peek.tensor_info(data, name_of(data))
    if versions := _MODIFIED.search(message):
        now, then = map(int, versions.groups())
        return SavedTensor(name, "modified", info, then, now)
    return SavedTensor(name, "held", info)


def values_held(node: Any) -> dict[str, Any]:
    """Return what a node saved, by torch's names: plain numbers, and the tensors that no hook has packed."""
    found: dict[str, Any] = {}
    if peek.is_tensor(node) or peek.is_custom(node):
        return found
    for name in (name for name in dir(type(node)) if name.startswith("_saved_") and not name.endswith("_")):
        cell = getattr(node, f"_raw{name}", None)
        if isinstance(cell, tuple) or (cell is not None and cell.unpack_hook is not None):
            continue
        try:
            found[name.removeprefix("_saved_")] = getattr(node, name)
        except RuntimeError:  # freed or modified: backward is about to say so itself
            continue
    return found
