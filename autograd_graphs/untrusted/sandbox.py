"""Run somebody else's code, and put back what it changed in torch, random states and output."""

import contextlib
import io
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch

from autograd_graphs.untrusted.messages import error_text, first_sentence, type_name


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
        self.text += str.__getitem__(text, slice(self.most - len(self.text)))
        self.count += str.__len__(text)
        return str.__len__(text)

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
        return Failed(type_name(type(error)), first_sentence(error_text(error)))


@contextlib.contextmanager
def undisturbed(heard: Heard | None = None) -> Iterator[None]:
    """Drop output, but for what is printed to `heard`, and warnings inside the block; put grad
    mode, dtype, random states and filters back after it.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(contextlib.redirect_stdout(heard or Heard(0)))
        stack.enter_context(contextlib.redirect_stderr(Heard(0)))
        stack.enter_context(_same_random_states())
        stack.enter_context(_same_modes())
        yield


@contextlib.contextmanager
def _same_modes() -> Iterator[None]:
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    anomaly = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    try:
        # inference_mode(False) also turns gradients on, and at the end puts both back as they were.
        with torch.inference_mode(False):
            yield
    finally:
        torch.set_default_dtype(dtype)
        if torch.get_default_device() != device:
            torch.set_default_device(None if device.type == "cpu" else device)
        torch.autograd.set_detect_anomaly(*anomaly)


@contextlib.contextmanager
def _same_random_states() -> Iterator[None]:
    numpy = sys.modules.get("numpy")
    arrays = numpy.random.get_state() if numpy else None
    python = random.getstate()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices=list(devices)):
            torch.default_generator.manual_seed(0)
            random.seed(0)
            yield
    finally:
        random.setstate(python)
        if numpy:
            numpy.random.set_state(arrays)
