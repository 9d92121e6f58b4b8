"""Ask torch, and nobody else: `__torch_function__`, `__torch_dispatch__` and modes are off while we look.

Touches torch's switches of the running thread, and puts them back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from helpers.kinds import is_plain

PYTHON = torch._C.DispatchKey.Python


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Switch off torch functions and dispatch modes, and then grad mode: a mode would hear of that."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
        yield


class Refusal(TorchDispatchMode):
    """Answer in the place of every tensor class that wants to be asked for its own shape or device."""

    def __torch_dispatch__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("A look asks no class of the user's.")


REFUSAL = Refusal()


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Put `REFUSAL` before every class and mode: torch asks a class for its shape even where dispatch is off."""
    was = torch._C._dispatch_tls_is_dispatch_key_excluded(PYTHON)
    torch._C._dispatch_tls_set_dispatch_key_excluded(PYTHON, False)
    torch._C._push_on_torch_dispatch_stack(REFUSAL)
    try:
        yield
    finally:
        torch._C._pop_torch_dispatch_stack(None)
        torch._C._dispatch_tls_set_dispatch_key_excluded(PYTHON, was)


def read(tensor: torch.Tensor, attribute: str) -> Any:
    """Return an attribute through torch's own descriptor; None where torch raises, or would ask the tensor's class."""
    asks = attribute in ("shape", "device") and not is_plain(tensor)
    try:
        with refusing() if asks else contextlib.nullcontext():
            return getattr(torch._C.TensorBase, attribute).__get__(tensor)
    except Exception:
        return None
