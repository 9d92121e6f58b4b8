"""Describe the saved tensors of a backward function; no hook of the user's notices."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain, islice
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import torch

from autograd_graphs.data import SavedTensor, Storage
from autograd_graphs.looking.nodes import is_custom
from autograd_graphs.looking.tensors import may_be_stale, memory_of, read, shape_of, tensor_info
from autograd_graphs.looking.torch_private import backward_elsewhere

# References to a saved tensor: the graph's, a variable here, the one of getrefcount.
HELD_BY_GRAPH_ALONE = 3
NameOf = Callable[[torch.Tensor], tuple[str, ...]]
_MODIFIED = re.compile(r"is at version (\d+); expected version (\d+)")
_OF_OUTPUT = "detached in-place"  # how torch refuses a custom Function's output on its own


class Memory:
    """Number the storages of saved tensors in the order in which they are met, each once."""

    def __init__(self, leaves: Iterable[torch.Tensor]) -> None:
        """Take what exists whether or not a graph holds it: leaves, and weights of models."""
        self._of_leaves = leaves
        self.numbers: dict[int, int] = {}
        self.unknown = 0

    @cached_property
    def leaves(self) -> set[int]:
        """Return where the leaves are, once that is asked."""
        return {memory[0] for memory in map(memory_of, self._of_leaves) if memory}

    def storage(self, tensor: torch.Tensor | None) -> Storage:
        """Return the storage of a tensor; one of unknown size where torch cannot tell."""
        memory = None
        if tensor is not None:
            memory = memory_of(tensor)
        if memory is None:
            self.unknown += 1
            return Storage(-self.unknown)
        address, size = memory
        number = self.numbers.setdefault(address, len(self.numbers))
        return Storage(number, size, address in self.leaves)


def saved(
    node: Any, name_of: NameOf, made: tuple[str, ...] = (), memory: Memory | None = None
) -> tuple[SavedTensor, ...]:
    """Describe what a node saved.

    `name_of(tensor)` finds the learner's names of one that is held, `made` are those of the tensor
    that the node's operation made, `memory` knows storages.

    A saved tensor is unpacked only where no hook would run; a cell that never held anything is left
    out. While another thread goes backward none is touched: torch frees them without a lock.
    """
    if backward_elsewhere():
        if not (is_custom(node) or raw_saved(type(node))):
            return ()
        return (_with_storage(SavedTensor("saved tensors", "busy"), None, memory),)
    saved_tensors = []
    for name, cell, unpack in _cells(node):
        saved_tensor = _state(name, cell, unpack, name_of)
        if saved_tensor:
            saved_tensors.append(_with_storage(_named_result(saved_tensor, made), cell, memory))
    return tuple(saved_tensors)


def _with_storage(saved: SavedTensor, cell: Any, memory: Memory | None) -> SavedTensor:
    """Add whose memory a saved tensor keeps alive; one that is packed or busy is not asked."""
    if memory is None or saved.state == "freed":
        return saved
    data = None if saved.state in ("packed", "busy") else cell.data
    storages = (memory.storage(data if torch.is_tensor(data) else None),)
    # replace() would take three times as long, for each saved tensor of a graph
    known = saved.name, saved.state, saved.tensor, saved.version, saved.version_now
    return SavedTensor(*known, storages=storages)


@cache
def raw_saved(kind: type) -> tuple[str, ...]:
    """Return the attributes of a backward function that hold saved tensors, self first."""
    attributes = [name for name in dir(kind) if name.startswith("_raw_saved_")]
    return tuple(sorted(attributes, key="_raw_saved_self".__ne__))


def _named_result(saved: SavedTensor, made: tuple[str, ...]) -> SavedTensor:
    """Name an output that was edited since: what the graph has left of it lost its history."""
    is_unnamed = saved.name == "result" and saved.tensor and not saved.tensor.names
    if not (is_unnamed and made):
        return saved
    return replace(saved, tensor=replace(saved.tensor, names=made))


def _cells(node: Any) -> list[tuple[str, Any, Callable[[], Any]]]:
    """List saved tensors as (name, raw cell, how to unpack it); the cell is None once freed."""
    if is_custom(node):
        return _cells_of_custom(node)
    cells: list[tuple[str, Any, Callable[[], Any]]] = []
    for attribute in raw_saved(type(node)):
        public, name = attribute.removeprefix("_raw"), attribute.removeprefix("_raw_saved_")
        try:
            raw = getattr(node, attribute)
        except RuntimeError:  # torch refuses a freed list of saved tensors as a whole
            raw = None
        if not isinstance(raw, tuple):
            cells.append((name, raw, partial(getattr, node, public)))
            continue
        for nr, cell in enumerate(raw):
            cells.append((f"{name}[{nr}]", cell, partial(_one_of, node, public, nr)))
    return cells


def _one_of(node: Any, public: str, nr: int) -> Any:
    return getattr(node, public)[nr]


class Cell(NamedTuple):
    """Hold what is read of a custom Function's saved tensor: torch's cell dies when freed."""

    unpack_hook: Any
    data: Any


def _cells_of_custom(node: Any) -> list[tuple[str, Any, Callable[[], Any]]]:
    try:
        cells = [Cell(*fields) for fields in _each(node, attrgetter("unpack_hook", "data"))]
    except RuntimeError:  # freed: torch no longer says how many there were
        return [("saved_tensors", None, lambda: None)]
    named = []
    for nr, cell in enumerate(cells):
        named.append((f"saved_tensors[{nr}]", cell, partial(_unpacked, node, nr)))
    return named


def _each(node: Any, get: Callable, first: int = 0, stop: int | None = None) -> list[Any]:
    """Read a custom Function's saved tensors in one call into C: no thread frees them meanwhile."""
    raw = chain.from_iterable(map(attrgetter("_raw_saved_tensors"), (node,)))
    return list(map(get, islice(raw, first, stop)))


def _unpacked(node: Any, nr: int) -> Any:
    try:
        return _each(node, methodcaller("unpack"), nr, nr + 1)[0]
    except RuntimeError as error:
        if _OF_OUTPUT not in str(error):
            raise
        raise _edited_output(node, nr) or error from None


def _edited_output(node: Any, nr: int) -> RuntimeError | None:
    """Return what torch says of a custom Function's saved output if it was edited since.

    It unpacks an output only with all that was saved, so nothing else may be packed, a view or
    edited: that would run a hook, rewrite a history or be told of in the output's place.
    """
    cells = [Cell(*fields) for fields in _each(node, attrgetter("unpack_hook", "data"))]
    for other, cell in enumerate(cells):
        if cell.unpack_hook is not None or (torch.is_tensor(cell.data) and may_be_stale(cell.data)):
            return None
        try:
            _each(node, methodcaller("unpack"), other, other + 1)
        except RuntimeError as error:
            if _OF_OUTPUT not in str(error):
                return None
    try:
        attrgetter("saved_tensors")(node)
    except RuntimeError as error:
        versions = _MODIFIED.search(str(error))
        if versions and int(versions[1]) == read(cells[nr].data, "_version"):
            return error
    return None


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
    if torch.is_tensor(data) and may_be_stale(data) and sys.getrefcount(data) > alone:
        info = tensor_info(data, name_of(data))
        return SavedTensor(name, "edited", info, None, read(data, "_version"))
    try:
        tensor = unpack()
    except RuntimeError as error:
        return _refused(name, cell, str(error), name_of)
    if tensor is None:
        return None
    version, names = read(tensor, "_version"), name_of(tensor)
    info = tensor_info(tensor, names, with_value=not names and shape_of(tensor) == ())
    return SavedTensor(name, "held", info, version, version)


def _refused(name: str, cell: Any, message: str, name_of: NameOf) -> SavedTensor:
    """Tell from torch's message why a saved tensor could not be had."""
    data = cell.data
    if data is None:
        return SavedTensor(name, "freed")
    info = tensor_info(data, name_of(data))
    if versions := _MODIFIED.search(message):
        now, then = map(int, versions.groups())
        return SavedTensor(name, "modified", info, then, now)
    return SavedTensor(name, "held", info)


def values_held(node: Any) -> dict[str, Any]:
    """Return what a node saved, by torch's names, but for what a hook has packed."""
    values: dict[str, Any] = {}
    if torch.is_tensor(node) or is_custom(node):
        return values
    for raw, public, name in _held_names(type(node)):
        if not _is_packed(getattr(node, raw, None)):
            with suppress(RuntimeError):  # freed or modified: backward is about to say so itself
                values[name] = getattr(node, public)
    return values


def _is_packed(raw: Any) -> bool:
    """Say whether a hook has packed a saved tensor, or any one of a list."""
    if isinstance(raw, tuple):
        return any(map(_is_packed, raw))
    return raw is not None and raw.unpack_hook is not None


@cache
def _held_names(kind: type) -> tuple[tuple[str, str, str], ...]:
    """Return what a backward function saves: raw cell, value, and its name in formulas."""
    names = [name for name in dir(kind) if name.startswith("_saved_") and not name.endswith("_")]
    return tuple((f"_raw{name}", name, name.removeprefix("_saved_")) for name in names)
