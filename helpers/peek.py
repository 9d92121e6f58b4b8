"""Read tensors and backward functions without running anybody's code: the one place for torch's private parts.

Every read goes through torch's own descriptors with `__torch_function__` and `__torch_dispatch__` switched
off, so a subclass is looked at and never asked. What torch refuses to say comes back as None.
"""

from __future__ import annotations

from typing import Any

import torch

from helpers.graph import TensorInfo
from helpers.kinds import CUSTOM, is_custom, is_plain, is_tensor
from helpers.kinds import type_name as type_name
from helpers.quiet import quietly as quietly
from helpers.quiet import read
from helpers.text import number, numbers
from helpers.text import visible as visible
from helpers.threads import backward_elsewhere

SMALL = 4  # elements: the largest tensor whose values are read
LARGE = 1_000_000  # elements: the largest gradient that is summed up
MOST_DIMENSIONS = 16  # sizes that are written out


def may_be_stale(tensor: torch.Tensor) -> bool:
    """Say whether reading `grad_fn` could rewrite history: for a view whose base was edited in place."""
    return torch._C.TensorBase._is_view(tensor) and read(tensor, "_version") != 0


def tensor_info(tensor: torch.Tensor, names: tuple[str, ...], with_value: bool = False) -> TensorInfo:
    """Describe a tensor; with `with_value` its values and a leaf's `.grad` as text where it is small and plain."""
    return TensorInfo(
        names,
        shape(tensor),
        str(read(tensor, "dtype")).removeprefix("torch."),
        str(read(tensor, "device") or "n/a"),
        bool(read(tensor, "requires_grad")),
        values(tensor) if with_value else None,
        grad_text(tensor) if with_value and read(tensor, "is_leaf") else None,
    )


def shape(thing: Any) -> tuple[int, ...] | None:
    """Return the sizes of a tensor, or of an output's metadata; None if it has none, or too many to read.

    A symbolic size has no number as long as nobody asks, and asking would fix it: then it is None as well.
    """
    try:
        sizes = tuple(read(thing, "shape") if is_tensor(thing) else thing.shape)
    except Exception:
        return None
    return sizes if len(sizes) <= MOST_DIMENSIONS and all(type(size) is int for size in sizes) else None


def values(tensor: torch.Tensor) -> str | None:
    """Return the values of a plain tensor of at most `SMALL` elements and dimensions as text, else None."""
    sizes = shape(tensor)
    if not is_plain(tensor) or sizes is None or len(sizes) > SMALL or torch.Size(sizes).numel() > SMALL:
        return None
    try:
        return numbers(torch._C.TensorBase.tolist(tensor)) if has_memory(tensor) else None
    except Exception:
        return None


def has_memory(tensor: torch.Tensor) -> bool:
    """Say whether the storage of a plain dense tensor still holds all of it: a storage can be resized behind its back.

    Torch is asked for a view, which it refuses; the storage itself would count one owner more from then on.
    """
    if tensor.layout is not torch.strided:
        return False
    try:
        tensor.detach().as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    except RuntimeError:
        return False
    return True


def summary(tensor: torch.Tensor | None) -> str | None:
    """Return a gradient as text: its values where it is small, else shape, norm, least and greatest value.

    Nothing is computed over more than `LARGE` elements: of those only the shape is told.
    """
    if tensor is None:
        return None
    short, sizes = values(tensor), shape(tensor)
    if short or sizes is None or not is_plain(tensor) or not 0 < torch.Size(sizes).numel() <= LARGE:
        return short or str(sizes or "n/a")
    try:
        if not has_memory(tensor):
            return str(sizes)
        norm, low, high = (number(one.item()) for one in (tensor.norm(), *tensor.aminmax()))
    except Exception:
        return str(sizes)
    return f"{sizes} norm {norm}, {low} to {high}"


def grad_text(tensor: torch.Tensor) -> str:
    """Return a tensor's `.grad` as text: "None", its values, or its shape; "n/a" while another thread writes it."""
    if backward_elsewhere():
        return "n/a"
    grad = read(tensor, "grad")
    if grad is None:
        return "None"
    return values(grad) or str(shape(grad) or "n/a")


def leaf_of(node: Any) -> Any:
    """Return the leaf tensor of an AccumulateGrad; any other node, or a tensor, as it is."""
    is_accumulate = not is_tensor(node) and not is_custom(node) and hasattr(type(node), "variable")
    return node.variable if is_accumulate else node


def next_functions(node: Any) -> tuple[tuple[Any, int], ...]:
    """Return the `(Node, input_nr)` pairs of a node; a leaf tensor has none."""
    if is_tensor(node):
        return ()
    return CUSTOM.next_functions.__get__(node) if is_custom(node) else node.next_functions


def ran_as(node: Any) -> int:
    """Return the number that torch gave a backward function when its operation ran: only its rank means something."""
    return CUSTOM._sequence_nr(node) if is_custom(node) else node._sequence_nr()


def why_no_graph(tensor: torch.Tensor) -> str:
    """Say why a tensor has no graph, as far as the tensor itself tells."""
    if torch._C.TensorBase.is_inference(tensor):
        return "requires_grad=False: it was made under inference_mode()"
    dtype = read(tensor, "dtype")
    if not (dtype.is_floating_point or dtype.is_complex):
        name = str(dtype).removeprefix("torch.")
        return f"requires_grad=False: only floating point and complex tensors can require grad, this is {name}"
    made = "made without requires_grad=True, or under no_grad(), or detached, or no input required grad"
    return f"requires_grad=False: {made}"


def outputs(node: Any) -> tuple[TensorInfo, ...]:
    """Describe the tensors that a node's operation made, from the metadata that torch keeps of them."""
    metadata = CUSTOM._input_metadata.__get__(node) if is_custom(node) else node._input_metadata
    return tuple(TensorInfo((), shape(one), str(one.dtype).removeprefix("torch."), str(one.device)) for one in metadata)


def register(node: Any, kind: str, hook: Any) -> Any:
    """Register a hook ("register_hook" or "register_prehook") on a node; returns its handle."""
    owner = CUSTOM if is_custom(node) else type(node)
    return getattr(owner, kind)(node, hook)
