"""Watch what a student's function does while it runs: which names of 2017 it used, however they were
spelled, and what it does to a weight.
"""

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

import torch
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograd_graphs.guard import guarded
from autograd_graphs.looking.saved_tensors import saved

_DATA = torch.Tensor.data
_BETWEEN = ("torch._dynamo", "torch.overrides", "torch.utils._python_dispatch")  # before our code


@dataclass
class Seen:
    """Hold what was seen of one run.

    `data` and `variable` say that code outside torch took or set `.data`, or called `Variable`;
    `fused`, that a fused optimizer wrote, which ticks no counter.
    """

    data: bool = False
    variable: bool = False
    fused: bool = False


class _Calls(TorchFunctionMode):
    """Note who takes `.data`, and how many of torch's functions are being run now."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen, self.depth = seen, 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__self__", None) is _DATA and not _by_torch(sys._getframe(1)):
            self.seen.data = True
        self.depth += 1
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.depth -= 1


class Mode(TorchDispatchMode):
    """Be what watches operations, without a wait for all of torch's compiler."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say no: to wrap `__torch_dispatch__`, torch would import its compiler, which takes seconds."""
        return False


class _Operations(Mode):
    """Note a `detach` that no function of torch asked for, which is what `Variable(x)` does today, and
    a fused write.
    """

    def __init__(self, seen: Seen, calls: _Calls) -> None:
        super().__init__()
        self.seen, self.calls = seen, calls

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        walking = torch._C._current_autograd_node() is not None
        differentiating = walking or forward_ad._current_level >= 0
        is_detach = func is torch.ops.aten.detach.default and not differentiating
        if is_detach and self.calls.depth == 0:
            self.seen.variable |= not _by_torch(sys._getframe(1))
        self.seen.fused |= "_fused_" in func.__name__
        return func(*args, **(kwargs or {}))


def watched(run: Callable[[], object]) -> Seen:
    """Run `run()`, silently, and return what was seen; what it raises is dropped."""
    seen = Seen()

    def under_watch() -> None:
        calls = _Calls(seen)
        with calls, _Operations(seen, calls):
            run()

    guarded(under_watch)
    return seen


def _by_torch(frame: FrameType | None) -> bool:
    """Tell whether code of torch's own stands behind a call, going past what leads to us."""
    while frame is not None and _module(frame).startswith(_BETWEEN):
        frame = frame.f_back
    return frame is not None and _module(frame).partition(".")[0] == "torch"


def _module(frame: FrameType) -> str:
    name = dict.get(frame.f_globals, "__name__")
    return name if type(name) is str else ""


class WeightWatch(Mode):
    """Look at a weight before each operation that torch runs, and keep the nodes that backward visits.

    `has_missed` says that new numbers came to the weight and its counter stood still, `arrived` holds the
    gradients that came to it, `alive` a mark for each node that is still there.
    """

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight, self.has_missed = weight, False
        self.numbers, self.version = _held(weight), weight._version
        self.nodes, self.alive, self.arrived = [], weakref.WeakSet(), []
        weight.register_hook(lambda gradient: self.arrived.append(gradient.clone()))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.look()
        node = torch._C._current_autograd_node()
        if node is not None and "mark" not in node.metadata:
            node.metadata["mark"] = mark = torch.empty(0)  # lives as long as its node
            self.alive.add(mark)
            self.nodes.append(node)
        made = func(*args, **(kwargs or {}))
        # An optimizer's own writes: fused ones tick nothing, foreach ones nothing under a mode.
        if "_fused_" in func.name() or "_foreach_" in func.name():
            self.numbers = _held(self.weight)
        return made

    def look(self) -> None:
        """Compare with the look before: are there new numbers, but no tick?"""
        numbers, version = _held(self.weight), self.weight._version
        if numbers != self.numbers and version == self.version:
            self.has_missed = True
        self.numbers, self.version = numbers, version

    def keeps(self) -> bool:
        """Tell whether a node that was visited has a saved tensor still; let go of the nodes."""
        states = [row.state for node in self.nodes for row in saved(node, lambda tensor: ())]
        self.nodes.clear()
        return "held" in states


def _held(weight: torch.Tensor) -> object:
    """Return the numbers of a weight, None where it has none to give."""
    try:
        return weight.tolist()
    except (RuntimeError, NotImplementedError):
        return None
