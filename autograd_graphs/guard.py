"""Run somebody else's code, and put back what it changed in torch, random states and output."""

import contextlib
import gc
import io
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType

import torch

from autograd_graphs.text import first_sentence, message_of


@dataclass(frozen=True)
class Failed:
    """Hold how a call ended that gave no value: the exception's type, which counts, and text."""

    kind: str
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}".rstrip(".: ")


class Heard(io.TextIOBase):
    """Take down the beginning of what is printed, and count how much it is."""

    def __init__(self, most: int) -> None:
        self.text, self.count, self.most = "", 0, most

    def write(self, text: str) -> int:
        """Keep what there is room for."""
        self.text += text[: self.most - len(self.text)]
        self.count += len(text)
        return len(text)

    def writable(self) -> bool:
        """Say yes: `print` asks."""
        return True


def guarded(function: Callable, *args: object, heard: Heard | None = None) -> object:
    """Return what `function(*args)` returns, or a Failed; only an interrupt passes.

    It runs with gradients on, a fixed seed, silent; afterwards all that is as it was before. What
    it prints goes to `heard`, or is dropped.
    """
    try:
        with undisturbed(heard):
            return function(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Failed(type(error).__name__, first_sentence(message_of(error)))


@contextlib.contextmanager
def undisturbed(heard: Heard | None = None) -> Iterator[None]:
    """Drop output, but for what is printed to `heard`, and warnings inside the block; put grad
    mode, all of _STATES, random states and filters back after it.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(contextlib.redirect_stdout(heard or Heard(0)))
        stack.enter_context(contextlib.redirect_stderr(Heard(0)))
        stack.enter_context(_same_random_states())
        for state in _STATES:
            stack.enter_context(_same(*state))
        # inference_mode(False) also turns gradients on, and at the end puts both back as they were.
        stack.enter_context(torch.inference_mode(False))
        yield


@contextlib.contextmanager
def limited(most: int, within: str = "") -> Iterator[None]:
    """Stop what runs more than so many lines: of this file, or of any file."""
    left = [most]

    def trace(frame: FrameType, event: str, argument: object) -> Callable | None:
        if within and frame.f_code.co_filename != within:
            return None
        left[0] -= event == "line"
        if left[0] < 0:
            raise RuntimeError(f"stopped after {most:,} lines: it does not end.")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@contextlib.contextmanager
def _same(ask: Callable, put: Callable, inside: object = None) -> Iterator[None]:
    """Put a state back after the block; within it, it is `inside`, or as before if that is None."""
    before = ask()
    if inside is not None and before != inside:
        put(inside)
    try:
        yield
    finally:
        if ask() != before:
            put(before)


def _set_device(device: torch.device) -> None:
    torch.set_default_device(None if device.type == "cpu" else device)


def _set_collecting(is_on: bool) -> None:
    if is_on:
        gc.enable()
    else:
        gc.disable()


def _saved_tensors_hooks() -> list:
    """Return the hooks on saved tensors that are on now, the innermost first."""
    hooks = []
    while (top := torch._C._autograd._top_saved_tensors_default_hooks(True)) is not None:
        torch._C._autograd._pop_saved_tensors_default_hooks()
        hooks.append(top)
    for pack, unpack in reversed(hooks):
        torch._C._autograd._push_saved_tensors_default_hooks(pack, unpack)
    return hooks


def _set_saved_tensors_hooks(hooks: list) -> None:
    for _ in _saved_tensors_hooks():
        torch._C._autograd._pop_saved_tensors_default_hooks()
    for pack, unpack in reversed(hooks):
        torch._C._autograd._push_saved_tensors_default_hooks(pack, unpack)


_OF_ALL_MODULES = [  # where the hooks on all modules are, each kind in a dict of its own
    hooks
    for name, hooks in vars(torch.nn.modules.module).items()
    if name.startswith("_global_") and isinstance(hooks, dict)
]


def _module_hooks() -> list[dict]:
    return list(map(dict, _OF_ALL_MODULES))


def _set_module_hooks(before: list[dict]) -> None:
    for hooks, kept in zip(_OF_ALL_MODULES, before, strict=True):
        hooks.clear()
        hooks.update(kept)


# What code may leave changed: what asks for it, what sets it, what it is while the code runs.
_STATES: tuple[tuple, ...] = (
    (_saved_tensors_hooks, _set_saved_tensors_hooks, []),
    (_module_hooks, _set_module_hooks, [{}] * len(_OF_ALL_MODULES)),
    (torch.get_default_device, _set_device, torch.device("cpu")),
    (torch.get_default_dtype, torch.set_default_dtype),
    (
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda anomaly: torch.autograd.set_detect_anomaly(*anomaly),
    ),
    (torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (
        lambda: torch.is_autocast_enabled("cpu"),
        lambda is_on: torch.set_autocast_enabled("cpu", is_on),
        False,
    ),
    (torch.get_num_threads, torch.set_num_threads),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (gc.isenabled, _set_collecting),
)


@contextlib.contextmanager
def _same_random_states() -> Iterator[None]:
    """Give the block random numbers from a fixed seed, and put the states back after it."""
    devices: list[int] = []
    if torch.cuda.is_initialized():
        devices = list(range(torch.cuda.device_count()))
    numpy, python = sys.modules.get("numpy"), random.getstate()
    if numpy:
        arrays = numpy.random.get_state()
    try:
        with torch.random.fork_rng(devices=devices):
            torch.default_generator.manual_seed(0)
            random.seed(0)
            yield
    finally:
        random.setstate(python)
        if numpy:
            numpy.random.set_state(arrays)
