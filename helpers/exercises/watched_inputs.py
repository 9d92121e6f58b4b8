"""Make the tensors that the exercises of several lessons begin with, write them as one could type them in
a cell, and read what became of them.
"""

from types import BuiltinFunctionType, FunctionType

import torch
from torch import nn

from autograd_graphs.plain_values import NotRead, describe, plain
from helpers.exercises.reading import same

_new = torch.tensor  # a student may put another one in its place
MOST_WRITTEN = 12  # elements that are written out
LONGEST_FLOAT = 8  # characters of a float that is written out


def leaf(*values: float) -> torch.Tensor:
    """Return a vector of floats that requires grad."""
    return _new(values, requires_grad=True)


def readable(value: object) -> object:
    """Return a value as plain Python, or in words what it is: for observers, which never raise."""
    try:
        return plain(value)
    except NotRead:
        return describe(value)


NOT_A_TENSOR, SEVERAL = "no tensor", "several numbers"
NO_TENSOR = (
    "You don't return a tensor. `.item()` and `.tolist()` give plain numbers, and backward can't"
    " start from those."
)


def no_loss(returned: object) -> str:
    """Say why backward can't start from what a function returned; "" where it is one number."""
    if not isinstance(returned, torch.Tensor):
        return NOT_A_TENSOR
    return "" if returned.numel() == 1 else SEVERAL


_given: list[
    tuple[object, tuple]
] = []  # tensors and modules of the case that runs, as they came in


def noted(*inputs: object) -> tuple:
    """Note how the tensors and models of a case are before a student's code sees them, and return its inputs."""
    models = [one for value in inputs if isinstance(value, nn.Module) for one in value.modules()]
    _given[:] = [(one, _state(one)) for one in [*tensors_in(inputs), *models]]
    return inputs


def tensors_in(value: object) -> list[torch.Tensor]:
    """Return the tensors in lists and dicts, and the parameters of models there."""
    if isinstance(value, torch.Tensor):
        return [value]
    inside = ()
    if isinstance(value, (list, tuple)):
        inside = value
    elif isinstance(value, dict):
        inside = dict.values(value)
    elif isinstance(value, nn.Module):
        inside = value.parameters()
    return [tensor for part in inside for tensor in tensors_in(part)]


def afterwards() -> str:
    """Say whether the tensors and models of the case are still what they were, their gradients and flags
    too.
    """
    is_kept = all(same(_state(one), before) for one, before in _given)
    return "as they were" if is_kept else "changed"


def _state(tensor: torch.Tensor | nn.Module) -> tuple:
    if isinstance(tensor, nn.Module):
        return (tensor.training,)
    flags = tensor.requires_grad, tensor.is_leaf, tensor.retains_grad, tensor.dtype
    return *flags, readable(tensor), readable(tensor.grad)


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
    return exact if len(exact) <= LONGEST_FLOAT else f"{value:.6g}"


def _tensor(tensor: torch.Tensor) -> str:
    if tensor.numel() > MOST_WRITTEN:
        return describe(tensor)
    values = tensor.detach()
    dtype = "" if values.dtype in _NATURAL else f", dtype={values.dtype}"
    flag = ", requires_grad=True" if tensor.requires_grad and tensor.is_leaf else ""
    if tensor.is_meta:
        return f'torch.empty({tuple(tensor.shape)}, device="meta"{dtype}{flag})'
    text = f"torch.tensor({typed(values.tolist())}{dtype}{flag})"
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
