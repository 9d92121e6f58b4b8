"""Random programs on 2×2 tensors for property tests: a program is plain data, and running it makes the tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from hypothesis import strategies as st


class Scale(torch.autograd.Function):
    """Multiply by 3; saves its input, its output and nothing, so that every kind of cell occurs."""

    @staticmethod
    def forward(ctx, x):
        y = x * 3
        ctx.save_for_backward(x, None, y)
        ctx.name = "not the name of a node"
        return y

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


def write(x, change):
    """Edit a fresh copy in place, so that the history is rewritten but no leaf is touched."""
    y = x.clone()
    change(y)
    return y


def row_times_two(y):
    y[0].mul_(2)


def island(x, y):
    with torch.no_grad():
        constant = x * 2
    return constant + y


def edit_unnoticed(x, y):
    """Edit x in place under no_grad: what saved it before cannot go backward any more."""
    with torch.no_grad():
        (x if x.is_contiguous() else x.contiguous()).add_(1)
    return x * y


def swap(x, y):
    top, bottom = (x + y).unbind(0)
    return torch.stack([bottom, top])


FAMILIES: dict[str, tuple[Callable, ...]] = {
    "elementwise": (lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x.exp(), lambda x, y: x / (y * y + 1)),
    "reductions": (
        lambda x, y: x.sum(0, keepdim=True).expand(2, 2),
        lambda x, y: x.mean() * y,
        lambda x, y: x.logsumexp(1)[None] + y,
    ),
    "views": (lambda x, y: x.t(), lambda x, y: x.reshape(4).view(2, 2) + y, lambda x, y: x[:, :1].expand(2, 2)),
    "in-place": (
        lambda x, y: write(x, lambda z: z.add_(1)),
        lambda x, y: write(x, lambda z: z.mul_(y)),
        lambda x, y: write(x, row_times_two),
    ),
    "indexing": (lambda x, y: x[[1, 0]], lambda x, y: x[0] * y, lambda x, y: torch.where(x > y, x, y)),
    "multi-output": (swap, lambda x, y: torch.cat(x.chunk(2)[::-1]), lambda x, y: x.max(0).values + y),
    "matmul": (lambda x, y: x @ y, lambda x, y: torch.addmm(y, x, x)),
    "custom Function": (lambda x, y: Scale.apply(x), lambda x, y: Scale.apply(x * y)),
    "no-grad islands": (island, edit_unnoticed, lambda x, y: x.detach() * y),
    "shared leaves": (lambda x, y: x * x, lambda x, y: x + x),
}
KINDS = [(family, nr) for family, steps in FAMILIES.items() for nr in range(len(steps))]


@dataclass(frozen=True)
class Program:
    """Hold the flags of three leaves, and steps of (family, number of the operation, two operands)."""

    flags: tuple[bool, bool, bool]
    steps: tuple[tuple[str, int, int, int], ...]

    def run(self, look: Callable[[list[torch.Tensor]], object] = lambda pool: None) -> list[torch.Tensor]:
        """Run the steps and return every tensor, three leaves first; `look` is called after each step."""
        torch.manual_seed(0)
        pool = [torch.rand(2, 2).requires_grad_(flag) for flag in self.flags]
        for family, nr, left, right in self.steps:
            pool.append(FAMILIES[family][nr](pool[left % len(pool)], pool[right % len(pool)]))
            look(pool)
        return pool


def programs(most: int = 8) -> st.SearchStrategy[Program]:
    """Draw programs of up to `most` steps; the first leaf always requires grad."""
    operand = st.integers(0, most + 2)
    step = st.tuples(st.sampled_from(KINDS), operand, operand).map(lambda s: (*s[0], s[1], s[2]))
    flags = st.tuples(st.just(True), st.booleans(), st.booleans())
    return st.builds(Program, flags, st.lists(step, min_size=1, max_size=most).map(tuple))
