"""The small programs of the explorer: each returns its tensors by name, the root first."""

from __future__ import annotations

import torch

Tensors = dict[str, torch.Tensor]


def leaf(*values: object) -> torch.Tensor:
    return torch.tensor(*values, requires_grad=True)


def divide() -> Tensors:
    a, b = leaf(6.0), leaf(2.0)
    return {"c": a / b, "a": a, "b": b}


def scaled_sum() -> Tensors:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    return {"z": y.sum(), "y": y, "x": x}


def sum_of_two() -> Tensors:
    a, b, c, d = map(leaf, (2.0, 3.0, 5.0, 10.0))
    u, t = a * b, torch.log(d)
    v = c * t
    return {"e": u + v, "u": u, "v": v, "t": t, "a": a, "b": b, "c": c, "d": d}


def matrix() -> Tensors:
    M = leaf([[1.0, 2.0], [3.0, 4.0]])
    return {"loss": torch.trace(M @ M.T), "M": M}


def chain() -> Tensors:
    x = leaf(4.0)
    p = x.sqrt()
    q = p.exp()
    return {"r": -q, "q": q, "p": p, "x": x}
