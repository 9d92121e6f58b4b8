"""Describe tensors. What torch, or the tensor's own class, refuses to say is told as unknown.

Look `quietly`: then a tensor's class does not hear of it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from autograd_graphs.data import Gradient, TensorInfo, tile_of
from autograd_graphs.looking.torch_private import backward_elsewhere
from autograd_graphs.text import numbers

SMALL = 4  # elements: the largest tensor whose values are read
LARGE = 1_000_000  # elements: the largest gradient that is summed up
MOST_DIMENSIONS = 16  # sizes that are written out


def read(tensor: torch.Tensor, name: str) -> Any:
    """Return an attribute of a tensor; None where torch, or the tensor's class, refuses it."""
    try:
        return getattr(tensor, name)
    except Exception:
        return None


def is_plain(tensor: torch.Tensor) -> bool:
    """Say whether a tensor's values may be read: of torch's own class, not of `torch.func`."""
    own = type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter
    return own and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def may_be_stale(tensor: torch.Tensor) -> bool:
    """Say whether reading `grad_fn` could rewrite history: a view of an edited base."""
    return tensor._is_view() and read(tensor, "_version") != 0


def shows_flag_of_base(tensor: torch.Tensor) -> bool:
    """Say whether a view, as one made under no_grad(), has no graph, but its base requires grad."""
    base = read(tensor, "_base")
    if base is None or read(tensor, "grad_fn") is not None:
        return False
    return read(base, "requires_grad")


def tensor_info(
    tensor: torch.Tensor, names: tuple[str, ...], with_value: bool = False
) -> TensorInfo:
    """Describe a tensor; with `with_value` its values and a leaf's `.grad`, where it is small."""
    dtype = dtype_name(read(tensor, "dtype"))
    device = device_name(read(tensor, "device"))
    requires_grad = bool(read(tensor, "requires_grad"))
    known = names, shape_of(tensor), dtype, device, requires_grad
    if not with_value:
        return TensorInfo(*known)
    small = values_of(tensor)
    value = None
    if small is not None:
        value = numbers(small)
    if not read(tensor, "is_leaf"):
        return TensorInfo(*known, value, values=small)
    return TensorInfo(*known, value, keeps_grad=True, grad=grad_of(tensor), values=small)


@cache
def dtype_name(dtype: torch.dtype | None) -> str:
    """Return the name of a type of numbers: "float32"."""
    return str(dtype).removeprefix("torch.")


@cache
def device_name(device: torch.device | None) -> str:
    """Return the name of a device, "n/a" where torch does not tell."""
    return str(device or "n/a")


def shape_of(thing: Any) -> tuple[int, ...] | None:
    """Return the sizes of a tensor, or of an output's metadata; None if it has none, or too many to
    read.

    A symbolic size has no number as long as nobody asks, and asking would fix it: then it is None
    as well.
    """
    sizes = read(thing, "shape")
    if sizes is None or len(sizes) > MOST_DIMENSIONS:
        return None
    if not all(type(size) is int for size in sizes):
        return None
    return tuple(sizes)


def values_of(tensor: torch.Tensor) -> Any:
    """Return a small plain tensor's values, a number or nested tuples; else None."""
    sizes = shape_of(tensor)
    if not is_plain(tensor) or sizes is None or len(sizes) > SMALL:
        return None
    if torch.Size(sizes).numel() > SMALL:
        return None
    try:
        if tensor.layout is torch.strided and is_in_memory(tensor):
            return as_tuples(tensor.tolist())
    except Exception:  # a layout that has no values to read
        return None
    return None


def as_tuples(values: Any) -> Any:
    """Return nested lists of numbers as nested tuples; a lone number as it is."""
    if isinstance(values, list):
        return tuple(map(as_tuples, values))
    return values


def is_in_memory(tensor: torch.Tensor) -> bool:
    """Say whether the storage of a tensor holds all of it: it can be resized behind its back."""
    flat = tensor.detach()
    try:
        flat.as_strided(flat.shape, flat.stride(), flat.storage_offset())
    except RuntimeError:
        return False
    return True


def memory_of(tensor: torch.Tensor) -> tuple[int, int] | None:
    """Return where a tensor's storage is, and its size in bytes; None where torch cannot tell."""
    if not is_plain(tensor) or tensor.layout is not torch.strided or tensor.is_meta:
        return None
    if tensor.is_quantized or torch._is_functional_tensor(tensor):
        return None
    try:
        return torch._C._storage_address(tensor), tensor.untyped_storage().nbytes()
    except Exception:
        return None


def grad_of(tensor: torch.Tensor) -> Gradient | None:
    """Describe a tensor's `.grad`; None where it is empty. In a backward elsewhere it is unread."""
    if backward_elsewhere():
        return Gradient(None)
    grad = read(tensor, "grad")
    return None if grad is None else described_grad(grad)


def described_grad(grad: torch.Tensor) -> Gradient:
    """Describe what a `.grad` holds: its values where it is small."""
    small = values_of(grad)
    return Gradient(shape_of(grad), small, tile=tile_of(small))


def why_no_graph(tensor: torch.Tensor) -> str:
    """Say why a tensor has no graph, as far as the tensor itself tells."""
    if tensor.is_inference():
        return "requires_grad=False: it was made under inference_mode()"
    dtype = read(tensor, "dtype")
    if not (dtype.is_floating_point or dtype.is_complex):
        able = "only floating point and complex tensors can require grad"
        return f"requires_grad=False: {able}, this is {dtype_name(dtype)}"
    made = "made without requires_grad=True, or under no_grad(), or detached"
    return f"requires_grad=False: {made}, or no input required grad"
