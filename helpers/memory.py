"""Count the bytes of the tensors that a forward and a backward make, as they come and go.

Sees what operations return; not what one uses while it runs, nor the tensor that torch makes of a
Python number (the 2 in `x * 2`), nor that a storage grows later. A storage counts once and whole,
as long as it or a view of it is there. While this watches, torch adds gradients that meet at a node
into a new tensor, where it would else reuse one of them: the peak comes out higher there.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

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


class _Meter(TorchDispatchMode):
    """Follow the storages that operations make, until they are freed."""

    def __init__(self) -> None:
        super().__init__()
        self.in_use = [0]
        self._sizes: dict[int, int] = {}

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        given = _storages((args, kwargs))
        known = {one._cdata for one in given if not _is_lifted(operation, one)} | self._sizes.keys()
        for storage in _storages(result):
            if storage._cdata not in known:
                self._came(storage)
        return result

    def _came(self, storage: torch.UntypedStorage) -> None:
        self._sizes[storage._cdata] = storage.nbytes()
        self._change(storage.nbytes())
        weakref.finalize(storage, self._went, storage._cdata).atexit = False

    def _went(self, key: int) -> None:
        self._change(-self._sizes.pop(key))

    def _change(self, size: int) -> None:
        self.in_use.append(self.in_use[-1] + size)


def _is_lifted(operation: Any, storage: torch.UntypedStorage) -> bool:
    """Tell whether this is what `torch.tensor(...)` has just made: its one operation is given that.
    Memory of numpy's is lifted, too, but was there before; torch cannot resize it.
    """
    return operation is torch.ops.aten.lift_fresh.default and storage.resizable()


def _storages(values: Any) -> list[torch.UntypedStorage]:
    tensors = (value for value in tree_leaves(values) if isinstance(value, torch.Tensor))
    return [tensor.untyped_storage() for tensor in tensors]
