"""Run the programs of exercises, with torch as it was before any student's code ran."""

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from types import CodeType, ModuleType

import torch


def _as_now(module: ModuleType) -> ModuleType:
    """Return a copy of a module: a student may put other functions into the module itself."""
    copy = ModuleType(module.__name__)
    vars(copy).update(vars(module))
    return copy


def _torch_as_now() -> ModuleType:
    copy = _as_now(torch)
    for name in ("autograd", "linalg", "nn", "optim"):
        setattr(copy, name, _as_now(getattr(torch, name)))
    copy.nn.functional = _as_now(torch.nn.functional)
    return copy


_TORCH = _torch_as_now()
_GRAD = torch.autograd.grad


def run(code: str) -> object:
    """Run a program of ours on the CPU, and return the `answer` that it defines."""
    return names_of(code)["answer"]


def run_once(code: str) -> object:
    """Return the `answer` of a program that takes long, such as one that compiles: each is run once."""
    return deepcopy(_once(code))


_once = lru_cache(maxsize=512)(run)


def names_of(code: str | CodeType) -> dict[str, object]:
    """Run a program of ours on the CPU, and return all names that it defines."""
    names = {"torch": _TORCH, "nn": _TORCH.nn}
    if isinstance(code, str):
        code = compile(code, "<exercise>", "exec")
    with torch.device("cpu"):  # whatever the student's default is
        exec(code, names)
    return names


def value(expression: str, data: Mapping[str, object]) -> float:
    """Return what an expression gives, of the numbers in these data."""
    return float(eval(expression, dict(data)))


def slope(expression: str, data: Mapping[str, object], by: str) -> float:
    """Return the gradient of an expression by one of the floats in these data."""
    if by not in expression:
        return 0.0
    leaf = _TORCH.tensor(data[by], requires_grad=True)
    outcome = eval(expression, dict(data) | {by: leaf})
    return _GRAD(outcome, leaf)[0].item()
