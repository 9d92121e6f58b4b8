"""Write an input of an exercise as one could type it in a cell."""

from types import BuiltinFunctionType, FunctionType

import torch
from torch import nn

from autograd_graphs.plain_values import describe

MOST = 12  # elements that are written out
LONGEST = 8  # characters of a float that is written out


def typed(value: object) -> str:
    """Return Python source for a value of the exercise's own; what has none is described."""
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    return describe(value)


def _list(values: list | tuple) -> str:
    return f"[{', '.join(map(typed, values))}]"


def _dict(values: dict) -> str:
    pairs = [f"{typed(key)}: {typed(part)}" for key, part in values.items()]
    return "{" + ", ".join(pairs) + "}"


def _short(value: float) -> str:
    """Return a float with six digits, where it has more."""
    exact = repr(value)
    return exact if len(exact) <= LONGEST else f"{value:.6g}"


def _tensor(tensor: torch.Tensor) -> str:
    if tensor.numel() > MOST:
        return describe(tensor)
    plain = tensor.detach()
    dtype = "" if plain.dtype in _NATURAL else f", dtype={plain.dtype}"
    flag = ", requires_grad=True" if tensor.requires_grad and tensor.is_leaf else ""
    if tensor.is_meta:
        return f'torch.empty({tuple(tensor.shape)}, device="meta"{dtype}{flag})'
    text = f"torch.tensor({typed(plain.tolist())}{dtype}{flag})"
    if tensor.grad_fn is None:
        return text
    return f"{text}, from {type(tensor.grad_fn).__name__}"


_NATURAL = (torch.float32, torch.int64, torch.bool)


def _module(module: nn.Module) -> str:
    name = type(module).__name__
    if isinstance(module, nn.Sequential):
        return f"nn.Sequential({', '.join(map(_module, module))})"
    if type(module).__module__.startswith("torch.nn.") and not list(module.children()):
        return f"nn.{name}({module.extra_repr()})"
    return f"a model {name}"


_WRITERS = (
    (torch.Tensor, _tensor),
    (nn.Module, _module),
    (torch.dtype, str),
    (torch.device, lambda device: f'torch.device("{device}")'),
    (float, _short),
    ((int, str, type(None)), repr),
    ((list, tuple), _list),
    (dict, _dict),
    ((FunctionType, BuiltinFunctionType), lambda function: f"the function {function.__name__}"),
)
