"""Count and plot the bytes of the tensors that a forward and a backward make, as they come and go.

Sees what operations return; not what one uses while it runs, nor the tensor that torch makes of a
Python number (the 2 in `x * 2`), nor that a storage grows later. A storage counts once and whole,
as long as it or a view of it is there. While this watches, torch adds gradients that meet at a node
into a new tensor, where it would else reuse one of them: the peak comes out higher there.
"""

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

from helpers.plots import Plot, plot


def bytes_in_use(forward: Callable[[], torch.Tensor], **how: Any) -> tuple[list[int], list[int]]:
    """Run `loss = forward()` and `loss.backward(**how)`; return for each of the two how many bytes
    were in use after each change. What was there before counts 0.
    """
    with _Meter() as meter:
        loss = forward()
        end = len(meter.in_use)
        loss.backward(**how)
        return meter.in_use[:end], meter.in_use[end - 1 :]


def plot_bytes(forward: Callable[[], torch.Tensor], leaf: torch.Tensor) -> Plot:
    """Plot the bytes in use during `forward().backward()`, without and with `retain_graph=True`.

    Empties the `.grad` of `leaf` before each run, so that both begin alike.
    """
    from matplotlib.figure import Figure  # it takes half a second: only who plots waits for it

    figure = Figure(figsize=(6, 2.8), layout="constrained")
    axes = figure.subplots()
    for keep in (False, True):
        leaf.grad = None
        _, back = bytes_in_use(forward, retain_graph=keep)
        axes.plot(back, label=f"retain_graph={keep}")
    axes.set(xlabel="what comes and goes during backward", ylabel="bytes in use")
    axes.legend()
    return plot(figure)


MADE, PASSED, KEPT = "made by the forward", "gradients on their way", "gradients that stay"


def timeline(forward: Callable[[], torch.Tensor]) -> tuple[int, dict[str, list[int]]]:
    """Run `forward().backward()`; return after how many changes backward began, and for what the
    forward made, for gradients on their way and for those that stay the bytes after each change.
    """
    with _Meter() as meter:
        loss = forward()
        start = len(meter.changes)
        loss.backward()
        stays = {number for number, _ in meter.live.values()}
        changes = list(meter.changes)
    bytes_of = {kind: [0] for kind in (MADE, PASSED, KEPT)}
    for number, size in changes:
        made_later = KEPT if number in stays else PASSED
        kind = MADE if number < start else made_later
        for name, line in bytes_of.items():
            line.append(line[-1] + size * (name == kind))
    return start, bytes_of


def plot_timeline(model: torch.nn.Module, **inputs: torch.Tensor) -> Plot:
    """Plot for each input what is in use during `model(x).sum().backward()`, and what it is for.

    Empties the gradients of the model before each run.
    """
    from matplotlib.figure import Figure  # it takes half a second: only who plots waits for it

    figure = Figure(figsize=(8, 3), layout="constrained")
    for axes, (name, x) in zip(figure.subplots(1, len(inputs)), inputs.items(), strict=True):
        model.zero_grad()
        start, bytes_of = timeline(lambda x=x: model(x).sum())
        axes.plot([sum(parts) for parts in zip(*bytes_of.values(), strict=True)], label="in all")
        for kind, line in bytes_of.items():
            axes.plot(line, "--", label=kind)
        axes.set(title=name, xlabel=f"changes; backward begins at {start}", ylabel="bytes in use")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return plot(figure)


def in_blocks(layers: Sequence[torch.nn.Module], x: torch.Tensor, blocks: int) -> torch.Tensor:
    """Run layers in so many blocks of equal length, each under a checkpoint."""
    size = len(layers) // blocks
    for at in range(0, len(layers), size):
        x = checkpoint(torch.nn.Sequential(*layers[at : at + size]), x, use_reentrant=False)
    return x


def most_bytes(forward: Callable[[], torch.Tensor]) -> int:
    """Return the most bytes that are in use at a time during `forward().backward()`."""
    return max(max(part) for part in bytes_in_use(forward))


def plot_trade(layers: Sequence[torch.nn.Module], x: torch.Tensor) -> Plot:
    """Plot the most bytes in use for each number of blocks that divides the number of layers.

    Empties `x.grad` before each run.
    """
    from matplotlib.figure import Figure

    counts = [count for count in range(1, len(layers) + 1) if len(layers) % count == 0]
    most = []
    for count in counts:
        x.grad = None
        most.append(most_bytes(lambda count=count: in_blocks(layers, x, count).sum()))
    figure = Figure(figsize=(6, 2.8), layout="constrained")
    axes = figure.subplots()
    axes.plot(counts, most, "o-", label="with checkpoints")
    axes.set(xlabel="blocks", ylabel="most bytes in use", ylim=(0, None))
    axes.legend()
    return plot(figure)


class _Meter(TorchDispatchMode):
    """Follow the storages that operations make, until they are freed."""

    def __init__(self) -> None:
        super().__init__()
        self.in_use = [0]
        self.changes: list[tuple[int, int]] = []  # which storage, and by how many bytes
        self.live: dict[int, tuple[int, int]] = {}  # which storage, and its size

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        given = _storages((args, kwargs))
        known = {one._cdata for one in given if not _is_lifted(operation, one)} | self.live.keys()
        for storage in _storages(result):
            if storage._cdata not in known:
                self._came(storage)
        return result

    def _came(self, storage: torch.UntypedStorage) -> None:
        number = len(self.changes)
        self.live[storage._cdata] = number, storage.nbytes()
        self._change(number, storage.nbytes())
        weakref.finalize(storage, self._went, storage._cdata).atexit = False

    def _went(self, key: int) -> None:
        number, size = self.live.pop(key)
        self._change(number, -size)

    def _change(self, number: int, size: int) -> None:
        self.changes.append((number, size))
        self.in_use.append(self.in_use[-1] + size)


def _is_lifted(operation: Any, storage: torch.UntypedStorage) -> bool:
    """Tell whether this is what `torch.tensor(...)` has just made: its one operation is given that.
    Memory of numpy's is lifted, too, but was there before; torch cannot resize it.
    """
    return operation is torch.ops.aten.lift_fresh.default and storage.resizable()


def _storages(values: Any) -> list[torch.UntypedStorage]:
    tensors = (value for value in tree_leaves(values) if isinstance(value, torch.Tensor))
    return [tensor.untyped_storage() for tensor in tensors]
