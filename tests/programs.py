"""Random programs on 2×2 tensors for property tests: a program is plain data, and running it makes
the tensors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

# `PROGRAMS=long` in the environment tries far more programs: for a quarter of an hour, not for
# every day.
settings.register_profile(
    "short", deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("short"), max_examples=4_000)
often = settings.get_profile(os.environ.get("PROGRAMS", "short"))


class Scale(torch.autograd.Function):
    """Multiply by 3; saves its input, its output and nothing, so that every kind of cell occurs.

    Its backward reads them, as people's do: torch looks at a saved tensor's version only then.
    """

    @staticmethod
    def forward(ctx, x):
        y = x * 3
        ctx.save_for_backward(x, None, y)
        ctx.name = "not the name of a node"
        return y

    @staticmethod
    def backward(ctx, grad):
        _ = ctx.saved_tensors
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


RAN: list[str] = []  # what ran of the user's: hooks, and the forward inside a checkpoint


def note(word, result):
    RAN.append(word)
    return result


def edit_the_base(x, y):
    """Return a view whose base was edited after it was made: its history is rewritten when next
    asked for.
    """
    base = x * 1
    view = base.t()
    base.mul_(y)
    return view


def edit_a_view(x, y):
    """Edit a view of a view, and go on with the base."""
    base = x.clone()
    base.t()[0].unsqueeze(0).mul_(y[:1])
    return base


def edit_both(x, y):
    """Use a view of a view that was made before its base was edited, and the base itself."""
    base = x.clone(memory_format=torch.contiguous_format)
    view = base.view(4)[1:3]
    base[0].add_(1)
    return base * view


def halves(x, y):
    """Leave one output of three without a use, and use another twice."""
    first, _, last = (torch.cat([x, y, x])).split(2)
    return first * last + last


def slope(x, y):
    """Return a gradient that has a graph of its own; no way to it leads through y, which may
    refuse.
    """
    if not x.requires_grad:
        return x * y
    return torch.autograd.grad((x * x * y.detach()).sum(), x, create_graph=True)[0]


def slope_of_slope(x, y):
    return slope(slope(x, y), y)


def pure_slope(x, y):
    return torch.func.grad(lambda z: (z * z * z).sum())(x) + y


def hooked(register):
    """Make an operation: a product, and a hook on it that replaces a gradient or keeps it."""

    def operation(x, y):
        z = x * y
        if z.requires_grad:
            register(z)
        return z

    return operation


def each(change):
    """Change each gradient of several, where there is one."""
    return lambda grads, *_: tuple(grad if grad is None else change(grad) for grad in grads)


def rerun(reentrant):
    """Make an operation whose forward runs again in backward."""

    def operation(x, y):
        if reentrant and not (x.requires_grad or y.requires_grad):
            return x * y
        return checkpoint(
            lambda a, b: note("forward", (a * b).sin()), x, y, use_reentrant=reentrant
        )

    return operation


def packed(hooks):
    """Make an operation under hooks on its saved tensors: not on a result, which `save_on_cpu`
    would keep for ever.
    """

    def operation(x, y):
        with hooks():
            return x * y

    return operation


def noted_hooks():
    return saved_tensors_hooks(
        lambda tensor: note("pack", tensor.clone()), lambda tensor: note("unpack", tensor)
    )


FAMILIES: dict[str, tuple[Callable, ...]] = {
    "elementwise": (
        lambda x, y: x + y,
        lambda x, y: x * y,
        lambda x, y: x.exp(),
        lambda x, y: x / (y * y + 1),
    ),
    "reductions": (
        lambda x, y: x.sum(0, keepdim=True).expand(2, 2),
        lambda x, y: x.mean() * y,
        lambda x, y: x.logsumexp(1)[None] + y,
    ),
    "views": (
        lambda x, y: x.t(),
        lambda x, y: x.reshape(4).view(2, 2) + y,
        lambda x, y: x[:, :1].expand(2, 2),
    ),
    "in-place": (
        lambda x, y: write(x, lambda z: z.add_(1)),
        lambda x, y: write(x, lambda z: z.mul_(y)),
        lambda x, y: write(x, row_times_two),
    ),
    "views of views": (
        lambda x, y: x.unsqueeze(0).transpose(1, 2).squeeze(0),
        lambda x, y: x.narrow(0, 0, 2)[:, 1:].expand(2, 2),
        lambda x, y: x.unfold(0, 2, 1)[0].t() + y.diagonal(),
    ),
    "views and in-place": (edit_the_base, edit_a_view, edit_both),
    "indexing": (
        lambda x, y: x[[1, 0]],
        lambda x, y: x[0] * y,
        lambda x, y: torch.where(x > y, x, y),
    ),
    "multi-output": (
        swap,
        lambda x, y: torch.cat(x.chunk(2)[::-1]),
        lambda x, y: x.max(0).values + y,
    ),
    "many outputs": (
        halves,
        lambda x, y: sum(torch.std_mean(x, 1)) + x.sort(1).values,
    ),
    "matmul": (lambda x, y: x @ y, lambda x, y: torch.addmm(y, x, x)),
    "custom Function": (lambda x, y: Scale.apply(x), lambda x, y: Scale.apply(x * y)),
    "no-grad islands": (island, edit_unnoticed, lambda x, y: x.detach() * y),
    "shared leaves": (lambda x, y: x * x, lambda x, y: x + x),
    "higher order": (slope, slope_of_slope, pure_slope),
    "hooks": (
        hooked(lambda z: z.register_hook(lambda grad: note("tensor", grad * 2))),
        hooked(lambda z: z.register_hook(lambda grad: note("tensor", None))),
        hooked(lambda z: z.grad_fn.register_prehook(each(lambda grad: note("before", grad + 1)))),
        hooked(lambda z: z.grad_fn.register_hook(each(lambda grad: note("after", -grad)))),
        hooked(lambda z: z.retain_grad()),
    ),
    "checkpoints": (rerun(False), rerun(True)),
    "packed": (packed(noted_hooks), packed(save_on_cpu)),
}


@dataclass(frozen=True)
class Program:
    """Hold the flags of three leaves, and steps of (family, number of the operation, two operands).

    The first operand is counted back from the newest tensor, the second on from the first leaf.
    """

    flags: tuple[bool, bool, bool]
    steps: tuple[tuple[str, int, int, int], ...]

    def run(
        self, look: Callable[[list[torch.Tensor]], object] = lambda pool: None
    ) -> list[torch.Tensor]:
        """Run the steps and return every tensor, three leaves first."""
        torch.manual_seed(0)
        RAN.clear()
        pool = [torch.rand(2, 2).requires_grad_(flag) for flag in self.flags]
        for family, nr, left, right in self.steps:
            pool.append(FAMILIES[family][nr](pool[-1 - left % len(pool)], pool[right % len(pool)]))
            look(pool)
        return pool


def programs(
    most: int = 8, last: str | None = None, families: Iterable[str] = FAMILIES
) -> st.SearchStrategy[Program]:
    """Draw programs of three to `most` steps from `families`, and one of family `last` if given."""
    flags = st.tuples(st.booleans(), st.booleans(), st.just(True))
    some = st.lists(steps(list(families), most + 2), min_size=3, max_size=most)
    # the last step uses the newest tensor and the leaf that requires grad
    end = st.just([]) if last is None else steps([last], 0).map(lambda step: [(*step[:3], 2)])
    return st.builds(lambda flags, some, end: Program(flags, (*some, *end)), flags, some, end)


def steps(families: list[str], operands: int) -> st.SearchStrategy[tuple[str, int, int, int]]:
    operand = st.integers(0, operands)
    drawn = st.tuples(st.sampled_from(families), st.integers(0, 59), operand, operand)
    return drawn.map(lambda step: (step[0], step[1] % len(FAMILIES[step[0]]), *step[2:]))


def bits(tensor: torch.Tensor | None) -> str | None:
    """Tell a tensor to the last bit: nan equals nan, and -0.0 is not 0.0."""
    return None if tensor is None else tensor.detach().contiguous().numpy().tobytes().hex()


def kept_gradients(pool: list[torch.Tensor]) -> list[str | None]:
    """Return `.grad`, bit for bit, of every tensor that has one: leaves, and those that retain it."""
    return [bits(one.grad) if one.is_leaf or one.retains_grad else None for one in pool]
