"""Ask torch, by its private parts, what runs in this process now, and look without its noticing."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Iterator
from types import FrameType

import torch

ENGINE = torch.autograd.graph._engine_run_backward.__code__


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Switch off torch functions and dispatch modes, then grad mode: a mode would hear of it."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
        yield


def next_number() -> int:
    """Return the sequence number that the next backward node of this thread will have."""
    return torch._C._autograd._get_sequence_nr()


def graph_task() -> int:
    """Return torch's number of the backward in this thread, a younger one's is greater; else -1."""
    return torch._C._current_graph_task_id()


def backward_elsewhere() -> bool:
    """Say whether a backward runs in another thread, which this one does not work for."""
    if graph_task() != -1:
        return False
    own = threading.get_ident()
    return any(is_in_engine(frame) for thread, frame in frames_now().items() if thread != own)


def frames_now() -> dict[int, FrameType]:
    """Return the frame of each thread, without a garbage collection meanwhile: Python holds a lock
    here that freeing a `threading.local` waits for, so that one thread would wait for itself.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        if collects:
            gc.enable()


def is_in_engine(frame: FrameType | None) -> bool:
    """Say whether a frame was called, however deep, from a backward."""
    while frame is not None and frame.f_code is not ENGINE:
        frame = frame.f_back
    return frame is not None
