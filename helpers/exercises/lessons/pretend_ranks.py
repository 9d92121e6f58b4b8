"""Run a function on pretend ranks: threads that take turns, in place of processes that talk over gloo.

A rank runs until it calls a collective. When all have called, each gets what all of them gave and
goes on; where one has ended, the others hear of it. Only one runs at a time, so every run is alike,
and none takes longer than its function. `tests/test_ranks.py` compares it with real ranks.
"""

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn

_here = threading.local()  # `_here.rank` is the rank that runs in a thread
_ALONE = "Default process group has not been initialized: outside a check, use run_ranks."


class Stuck(RuntimeError):
    """Say that a rank waits for one that will never come, or that doesn't fit."""


class _Rank(threading.Thread):
    """Hold one rank: it runs while it is its turn, and waits at each collective."""

    def __init__(self, number: int, world: int, work: Callable) -> None:
        super().__init__(daemon=True)
        self.number, self.world, self.work = number, world, work
        self.turn, self.waits = threading.Semaphore(0), threading.Semaphore(0)
        self.given: tuple | None = None
        self.reply: object = None
        self.sent: list[int] = []
        self.returned: object = None
        self.error: BaseException | None = None
        self.trace = sys.gettrace()  # a limit on lines counts in a thread as well

    def run(self) -> None:
        self.turn.acquire()
        _here.rank = self
        sys.settrace(self.trace)
        try:
            self.returned = self.work()
        except BaseException as error:
            self.error = error
        sys.settrace(None)
        self.given = None
        self.waits.release()

    def proceed(self) -> None:
        """Let the rank run until it waits or has ended."""
        self.turn.release()
        self.waits.acquire()

    def exchange(self, name: str, tensor: torch.Tensor) -> list[torch.Tensor]:
        """Wait for the other ranks, and return what each of them gave."""
        self.sent.append(tensor.numel())
        self.given = name, tensor.shape, tensor.detach().clone()
        self.waits.release()
        self.turn.acquire()
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def together(function: Callable, inputs: list[tuple]) -> tuple[list, list[list[int]]]:
    """Call a function on a rank for each tuple of inputs; return what each returned, and how many
    numbers each gave at each collective. Raises what a rank raises, and Stuck.
    """
    ranks = [
        _Rank(number, len(inputs), lambda given=given: function(*given))
        for number, given in enumerate(inputs)
    ]
    for rank in ranks:
        rank.start()
    with mock.patch.multiple(dist, create=True, **COLLECTIVES):
        try:
            _take_turns(ranks)
        except BaseException:
            _stop(ranks)
            raise
    errors = sorted((rank.error for rank in ranks if rank.error), key=_is_stuck)
    if errors:
        raise errors[0]
    return [rank.returned for rank in ranks], [rank.sent for rank in ranks]


def pretend(function: FunctionType, world: int = 2, *args: object) -> list:
    """Return what `function(rank, world, *args)` returns on each rank, as `run_ranks` does: it may
    use the names that a rank has from the beginning.
    """
    names = {"torch": torch, "nn": nn, "dist": dist, "DDP": PretendDDP}
    there = FunctionType(function.__code__, function.__globals__ | names, function.__name__)
    return together(there, [(rank, world, *args) for rank in range(world)])[0]


def _take_turns(ranks: list[_Rank]) -> None:
    going = ranks
    while going:
        for rank in going:
            rank.proceed()
        going = [rank for rank in going if rank.given]
        reply = _reply(ranks)
        for rank in going:
            rank.reply = reply


def _reply(ranks: list[_Rank]) -> object:
    """Return what all ranks gave, or an error where one has ended or calls something else."""
    given = [rank.given for rank in ranks]
    if None in given:
        return Stuck("A rank waited for one that had ended.")
    calls = {(name, shape) for name, shape, _ in given}
    if len(calls) > 1:
        return Stuck("The ranks called different collectives, or gave tensors of different shapes.")
    return [tensor for *_, tensor in given]


def _stop(ranks: list[_Rank]) -> None:
    """End threads that would run on after an interrupt."""
    for rank in ranks:
        rank.reply = Stuck("The other ranks were stopped.")
        rank.turn.release()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(rank.ident), ctypes.py_object(SystemExit)
        )


def _is_stuck(error: BaseException) -> bool:
    return isinstance(error, Stuck)


class _Sent:
    """Stand for a collective that was begun with `async_op=True`: here it has always ended."""

    def wait(self, timeout: object = None) -> bool:
        return True

    def is_completed(self) -> bool:
        return True


def _exchange(name: str, tensor: torch.Tensor) -> list[torch.Tensor]:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"a collective takes a tensor, and this is {type(tensor).__name__}: {tensor}"
        )
    if not hasattr(_here, "rank"):
        raise ValueError(_ALONE)
    return _here.rank.exchange(name, tensor)


def _all_reduce(
    tensor: torch.Tensor,
    op: object = dist.ReduceOp.SUM,
    group: object = None,
    async_op: bool = False,
) -> _Sent | None:
    parts = torch.stack(_exchange(f"all_reduce {op}", tensor))
    results = {
        dist.ReduceOp.SUM: lambda: parts.sum(0),
        dist.ReduceOp.AVG: lambda: parts.sum(0) / len(parts),
        dist.ReduceOp.MAX: lambda: parts.amax(0),
        dist.ReduceOp.MIN: lambda: parts.amin(0),
    }
    tensor.detach().copy_(results[op]())  # the version doesn't tell, nor does it with gloo
    return _Sent() if async_op else None


def _broadcast(
    tensor: torch.Tensor, src: int = 0, group: object = None, async_op: bool = False
) -> _Sent | None:
    tensor.detach().copy_(_exchange(f"broadcast {src}", tensor)[src])
    return _Sent() if async_op else None


def _all_gather(
    tensors: list, tensor: torch.Tensor, group: object = None, async_op: bool = False
) -> _Sent | None:
    for own, other in zip(tensors, _exchange("all_gather", tensor), strict=True):
        own.detach().copy_(other)
    return _Sent() if async_op else None


def _unknown(name: str) -> Callable:
    """Return what refuses a call that pretend ranks don't know."""

    def refuse(*given: object, **named: object) -> None:
        raise ValueError(
            f"Pretend ranks know `all_reduce`, `broadcast`, `all_gather` and `barrier`, but no `{name}`."
        )

    return refuse


def _barrier(group: object = None) -> None:
    _exchange("barrier", torch.zeros(()))


OTHERS = (
    "all_gather_into_tensor",
    "all_gather_object",
    "all_to_all",
    "broadcast_object_list",
    "gather",
    "gather_object",
    "irecv",
    "isend",
    "monitored_barrier",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "send",
)
COLLECTIVES = {name: _unknown(name) for name in OTHERS} | {
    "all_reduce": _all_reduce,
    "broadcast": _broadcast,
    "all_gather": _all_gather,
    "barrier": _barrier,
    "get_rank": lambda group=None: _here.rank.number,
    "get_world_size": lambda group=None: _here.rank.world,
    "is_initialized": lambda: True,
}


class PretendDDP(nn.Module):
    """Do what DistributedDataParallel does to gradients: a mean over ranks at the end of the one
    backward that follows a forward through the wrapper, and only if each parameter got a gradient.
    """

    def __init__(self, module: nn.Module, **options: object) -> None:
        super().__init__()
        self.module = module
        if not any(each.requires_grad for each in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that"
                " requires a gradient."
            )
        self.syncs, self.is_armed, self.arrived = True, False, set()
        self._send([*module.parameters(), *module.buffers()])
        self.learning = [each for each in module.parameters() if each.requires_grad]
        for each in self.learning:
            each.register_post_accumulate_grad_hook(self._arrive)

    def forward(self, *inputs: object, **named: object) -> object:
        if self.arrived:
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration before starting a new one."
            )
        self.is_armed = self.syncs and torch.is_grad_enabled()
        if self.syncs:
            self._send(list(self.module.buffers()))
        return self.module(*inputs, **named)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave gradients as they are after a forward inside the block."""
        before, self.syncs = self.syncs, False
        try:
            yield
        finally:
            self.syncs = before

    def _send(self, tensors: list[torch.Tensor]) -> None:
        """Give every rank the values of rank 0."""
        for tensor in tensors:
            _broadcast(tensor)

    def _arrive(self, parameter: torch.Tensor) -> None:
        if not self.is_armed:
            return
        if not self.arrived:
            torch.autograd.Variable._execution_engine.queue_callback(self._average)
        self.arrived.add(id(parameter))

    def _average(self) -> None:
        if len(self.arrived) < len(self.learning):
            return  # the bucket isn't full: nothing is sent
        for each in self.learning:
            _all_reduce(each.grad, dist.ReduceOp.AVG)
        self.arrived.clear()
        self.is_armed = False
