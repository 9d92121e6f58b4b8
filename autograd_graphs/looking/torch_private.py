"""Read tensors and backward functions without running anybody's code: the place for torch's
private parts that more than one room needs.

Every read goes through torch's own descriptors with `__torch_function__` and `__torch_dispatch__`
switched off, so a subclass is looked at and never asked. What torch refuses to say comes back as
None.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cache
from types import FrameType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograd_graphs.data import Gradient, TensorInfo, tile_of
from autograd_graphs.text import numbers

CUSTOM = torch._C._FunctionBase
with torch.inference_mode(False):  # whatever mode the course is imported in
    _LEAF = torch.ones(1, requires_grad=True)  # for the class of its node alone
    ACCUMULATE_GRAD = type(torch.autograd.graph.get_gradient_edge(_LEAF).node)


def is_list(thing: object) -> bool:
    """Say whether a thing is a list or a tuple, and nothing that only claims to be equal to one."""
    return type(thing) is list or type(thing) is tuple


def mro(thing: object) -> tuple[type, ...]:
    """Return what the class of a thing is made of; its metaclass is not asked."""
    return type.__dict__["__mro__"].__get__(type(thing))


def is_tensor(thing: object) -> bool:
    return isinstance(thing, torch.Tensor)


def is_module(thing: object) -> bool:
    return isinstance(thing, torch.nn.Module)


def is_custom(node: object) -> bool:
    """Say whether a node is of a custom `autograd.Function`: its class may be the user's."""
    return isinstance(node, CUSTOM)


def is_plain(tensor: torch.Tensor) -> bool:
    """Say whether a tensor's values may be read: of torch's own class, not of `torch.func`."""
    own = type(tensor) is torch.Tensor or type(tensor) is torch.nn.Parameter
    return own and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)


PYTHON = torch._C.DispatchKey.Python


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Switch off torch functions and dispatch modes, then grad mode: a mode would hear of it."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
        yield


def shows_flag_of_base(tensor: torch.Tensor) -> bool:
    """Say whether a view, as one made under no_grad(), has no graph, but its base requires grad."""
    if not torch._C.TensorBase._is_view(tensor) or read(tensor, "grad_fn") is not None:
        return False
    return read(read(tensor, "_base"), "requires_grad")


class Refusal(TorchDispatchMode):
    """Answer for every tensor class that wants to be asked for its own shape or device."""

    def __torch_dispatch__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("A look asks no class of the user's.")


REFUSAL = Refusal()


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Put `REFUSAL` before every class: torch asks one for its shape even with dispatch off."""
    was = torch._C._dispatch_tls_is_dispatch_key_excluded(PYTHON)
    torch._C._dispatch_tls_set_dispatch_key_excluded(PYTHON, False)
    torch._C._push_on_torch_dispatch_stack(REFUSAL)
    try:
        yield
    finally:
        torch._C._pop_torch_dispatch_stack(None)
        torch._C._dispatch_tls_set_dispatch_key_excluded(PYTHON, was)


@cache
def getter(attribute: str) -> Callable[[torch.Tensor], Any]:
    """Return how torch itself reads an attribute of a tensor."""
    return getattr(torch._C.TensorBase, attribute).__get__


def read(tensor: torch.Tensor, attribute: str) -> Any:
    """Return an attribute by torch's own descriptor; None where torch would ask the class."""
    get = getter(attribute)
    try:
        if attribute not in ("shape", "device") or is_plain(tensor):
            return get(tensor)
        with refusing():
            return get(tensor)
    except Exception:
        return None


ENGINE = torch.autograd.graph._engine_run_backward.__code__


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
    while frame is not None and frame.f_code is not ENGINE:
        frame = frame.f_back
    return frame is not None


SMALL = 4  # elements: the largest tensor whose values are read
LARGE = 1_000_000  # elements: the largest gradient that is summed up
MOST_DIMENSIONS = 16  # sizes that are written out


def may_be_stale(tensor: torch.Tensor) -> bool:
    """Say whether reading `grad_fn` could rewrite history: a view of an edited base."""
    return torch._C.TensorBase._is_view(tensor) and read(tensor, "_version") != 0


def tensor_info(
    tensor: torch.Tensor, names: tuple[str, ...], with_value: bool = False
) -> TensorInfo:
    """Describe a tensor; with `with_value` its values and a leaf's `.grad`, where it is small."""
    dtype, device = dtype_name(read(tensor, "dtype")), device_name(read(tensor, "device"))
    known = names, shape(tensor), dtype, device, bool(read(tensor, "requires_grad"))
    if not with_value:
        return TensorInfo(*known)
    small = values(tensor)
    value = None if small is None else numbers(small)
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


def shape(thing: Any) -> tuple[int, ...] | None:
    """Return the sizes of a tensor, or of an output's metadata; None if it has none, or too many to
    read.

    A symbolic size has no number as long as nobody asks, and asking would fix it: then it is None
    as well.
    """
    try:
        sizes = tuple(read(thing, "shape") if is_tensor(thing) else thing.shape)
    except Exception:
        return None
    if len(sizes) > MOST_DIMENSIONS:
        return None
    for size in sizes:
        if type(size) is not int:
            return None
    return sizes


def values(tensor: torch.Tensor) -> Any:
    """Return a small plain tensor's values, a number or nested tuples; else None."""
    sizes = shape(tensor)
    if not is_plain(tensor) or sizes is None or len(sizes) > SMALL:
        return None
    if torch.Size(sizes).numel() > SMALL:
        return None
    try:
        # A storage can be resized behind a tensor's back. The storage itself is not asked, which
        # would count one owner more from then on.
        if tensor.layout is torch.strided and fits(tensor.detach(), reach(tensor)):
            return as_tuples(torch._C.TensorBase.tolist(tensor))
    except Exception:  # a layout that has no values to read
        return None
    return None


def as_tuples(values: Any) -> Any:
    """Return nested lists of numbers as nested tuples; a lone number as it is."""
    if isinstance(values, list):
        return tuple(map(as_tuples, values))
    return values


def memory_of(tensor: torch.Tensor) -> tuple[int, int] | None:
    """Return the address of a tensor's storage and its size in bytes; None where torch cannot tell.

    The size is tried out from how far the tensor reaches, or the one that it is a view of: the
    storage itself is not asked, as in `values`.
    """
    is_real = is_plain(tensor) and tensor.layout is torch.strided and not tensor.is_meta
    if not is_real or tensor.is_quantized or torch._is_functional_tensor(tensor):
        return None
    try:
        base, size = read(tensor, "_base"), tensor.element_size()
        count = reach(tensor)
        if base is not None and is_plain(base):
            count = max(count, reach(base) * base.element_size() // size)
        return torch._C._storage_address(tensor), room(tensor, count) * size
    except Exception:
        return None


def reach(tensor: torch.Tensor) -> int:
    """Return how many elements of its storage come before the end of a tensor."""
    if not tensor.numel():
        return 0
    if not tensor.is_nested and tensor.is_contiguous():
        return tensor.storage_offset() + tensor.numel()
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.storage_offset() + sum((size - 1) * stride for size, stride in steps) + 1


def room(tensor: torch.Tensor, guess: int) -> int:
    """Return for how many elements the storage of a tensor has room: mostly for as many as guessed.

    A detached view reaches less far, and no longer knows what it was a view of.
    """
    flat = tensor.detach()
    if fits(flat, guess) and not fits(flat, guess + 1):
        return guess
    most = guess + 1
    while fits(flat, most):
        most *= 2
    return bisect_left(range(most), True, key=lambda count: not fits(flat, count + 1))


def fits(flat: torch.Tensor, count: int) -> bool:
    """Say whether the storage of a tensor has room for so many elements."""
    try:
        flat.as_strided((count,), (1,), 0)
    except RuntimeError:
        return False
    return True


def grad_of(tensor: torch.Tensor) -> Gradient | None:
    """Describe a tensor's `.grad`; None where it is empty. In a backward elsewhere it is unread."""
    if backward_elsewhere():
        return Gradient(None)
    grad = read(tensor, "grad")
    if grad is None:
        return None
    small = values(grad)
    return Gradient(shape(grad), small, tile=tile_of(small))


def leaf_of(node: Any) -> Any:
    """Return the leaf tensor of an AccumulateGrad; any other node, or a tensor, as it is."""
    return node.variable if type(node) is ACCUMULATE_GRAD else node


def next_functions(node: Any) -> tuple[tuple[Any, int], ...]:
    """Return the `(Node, input_nr)` pairs of a node; a leaf tensor has none."""
    if is_tensor(node):
        return ()
    return of_node(node, "next_functions")


def of_node(node: Any, attribute: str) -> Any:
    """Return an attribute of a backward function; the class of a custom one is not asked."""
    if is_custom(node):
        return getattr(CUSTOM, attribute).__get__(node)
    return getattr(node, attribute)


def ran_as(node: Any) -> int:
    """Return torch's number of an operation: only its rank means something."""
    return of_node(node, "_sequence_nr")()


def next_number() -> int:
    """Return the sequence number that the next backward node of this thread will have."""
    return torch._C._autograd._get_sequence_nr()


def why_no_graph(tensor: torch.Tensor) -> str:
    """Say why a tensor has no graph, as far as the tensor itself tells."""
    if torch._C.TensorBase.is_inference(tensor):
        return "requires_grad=False: it was made under inference_mode()"
    dtype = read(tensor, "dtype")
    if not (dtype.is_floating_point or dtype.is_complex):
        able = "only floating point and complex tensors can require grad"
        return f"requires_grad=False: {able}, this is {dtype_name(dtype)}"
    made = "made without requires_grad=True, or under no_grad(), or detached"
    return f"requires_grad=False: {made}, or no input required grad"


def outputs(node: Any, names: Callable[[Any, int], tuple[str, ...]]) -> list[TensorInfo]:
    """Describe what a node's operation made, by torch's metadata; `names(node, nr)` names it."""
    infos = []
    for nr, made in enumerate(of_node(node, "_input_metadata")):
        dtype, device = dtype_name(made.dtype), device_name(made.device)
        infos.append(TensorInfo(names(node, nr), shape(made), dtype, device))
    return infos


def register(node: Any, prehook: Any, hook: Any) -> tuple[Any, Any]:
    """Register a hook before and one after a node runs; returns their handles."""
    before, after = of_node(node, "register_prehook"), of_node(node, "register_hook")
    return before(prehook), after(hook)
