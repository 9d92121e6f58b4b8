"""Know whether another thread goes backward: it frees saved tensors without a lock, and whoever reads one dies.

Looks at the frames of other threads, and touches nothing.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType

import torch

ENGINE = torch.autograd.graph._engine_run_backward.__code__


def backward_elsewhere() -> bool:
    """Say whether a backward runs in another thread; no, where this thread works for one itself, as in a hook."""
    if torch._C._current_graph_task_id() != -1:
        return False
    own = threading.get_ident()
    return any(is_in_engine(frame) for thread, frame in sys._current_frames().items() if thread != own)


def is_in_engine(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not ENGINE:
        frame = frame.f_back
    return frame is not None
