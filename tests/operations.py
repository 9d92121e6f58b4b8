"""Operations on several shapes, with broadcasting and arguments that are not the default: what
`local_derivatives` must be able to tell, and what sentences say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F

SHAPES = ((), (3,), (2, 3))
TABLES = ((2, 3), (4, 3))
PAIRS = (((), ()), ((2, 3), (3,)), ((2, 1), (1, 3)))


class Case(NamedTuple):
    """Hold one operation on tensors of the given shapes; all of them require a gradient."""

    name: str
    run: Callable[..., torch.Tensor]
    shapes: tuple[tuple[int, ...], ...]
    positive: bool = False

    def inputs(self) -> list[torch.Tensor]:
        """Make its inputs, the same each time, of distinct numbers in which nothing cancels out."""
        torch.manual_seed(len(self.name) + 7 * len(self.shapes))
        found = []
        for shape in self.shapes:
            values = torch.rand(shape) * 1.4 + 0.2
            if not self.positive:
                values = values * torch.randn(shape).sign()
            found.append(values.requires_grad_())
        return found


def unary(name, run, positive=False, shapes=SHAPES):
    return [Case(name, run, (shape,), positive) for shape in shapes]


def binary(name, run, positive=False, shapes=PAIRS):
    return [Case(name, run, pair, positive) for pair in shapes]


def cases(name, run, *shapes, positive=False):
    return [Case(name, run, each, positive) for each in shapes]


def each(name, runs, *shapes):
    """One operation with several sets of arguments, on several shapes."""
    return [Case(name, run, (shape,)) for run in runs for shape in shapes or TABLES]


def classes(scores, dim=1):
    """Return one class for each row of scores."""
    sizes = [size for number, size in enumerate(scores.shape) if number != dim]
    return torch.arange(torch.Size(sizes).numel()).reshape(sizes) % scores.shape[dim]


def target(x):
    """Return numbers between 0 and 1 of the same shape."""
    return torch.linspace(0.1, 0.8, max(x.numel(), 1))[: x.numel()].reshape(x.shape)


MASK = torch.tensor([True, False, True])
ROWS = torch.tensor([1, 0, 1, 1])
MATRICES = (((2, 3), (3, 4)), ((1, 3), (3, 1)))
BATCHES = (((2, 2, 3), (2, 3, 4)), ((1, 1, 3), (1, 3, 2)))

# Operations of which a rule of ours says what each input is handed on.
RULED = [
    *unary("neg", torch.neg),
    *unary("exp", torch.exp),
    *unary("log", torch.log, positive=True),
    *unary("log1p", torch.log1p, positive=True),
    *unary("sqrt", torch.sqrt, positive=True),
    *unary("sin", torch.sin),
    *unary("cos", torch.cos),
    *unary("tanh", torch.tanh),
    *unary("sigmoid", torch.sigmoid),
    *unary("relu", torch.relu),
    *unary("leaky_relu", lambda x: F.leaky_relu(x, 0.2)),
    *unary("clamp", lambda x: x.clamp(-0.5, 0.7)),
    *unary("clamp", lambda x: x.clamp(max=0.7)),
    *unary("clamp", lambda x: x.clamp(min=-0.5)),
    *unary("clamp_min", lambda x: torch.clamp_min(x, 0.1)),
    *unary("clamp_max", lambda x: torch.clamp_max(x, 0.1)),
    *unary("abs", torch.abs),
    *unary("reciprocal", torch.reciprocal),
    *unary("pow", lambda x: x**2),
    *unary("pow", lambda x: x**3),
    *unary("pow", lambda x: x**-1),
    *unary("pow", lambda x: x**1),
    *unary("pow", lambda x: x**0),
    *unary("pow", lambda x: x**0.5, positive=True),
    *unary("pow of a number", lambda x: 2**x),
    *binary("pow of two", torch.pow, positive=True),
    *binary("add", torch.add),
    *binary("add", lambda a, b: torch.add(a, b, alpha=3)),
    *unary("add a number", lambda x: x + 2),
    *binary("sub", torch.sub),
    *binary("sub", lambda a, b: torch.sub(a, b, alpha=0.5)),
    *unary("rsub", lambda x: 1 - x),
    *binary("rsub", lambda a, b: torch.rsub(a, b, alpha=2)),
    *binary("mul", torch.mul),
    *unary("mul by a number", lambda x: x * 3),
    *binary("div", torch.div),
    *binary("div floor", lambda a, b: torch.div(a, b, rounding_mode="floor")),
    *unary("div by a number", lambda x: x / 4),
    *each("jumps", [torch.sign, torch.floor, torch.ceil, torch.round, torch.trunc], (3,)),
    *binary("where", lambda a, b: torch.where(torch.rand(2, 3) > 0.5, a, b)),
    *cases("masked_fill", lambda x: x.masked_fill(MASK, -1.0), ((3,),), ((2, 3),)),
    *unary("native_dropout", lambda x: torch.native_dropout(x, 0.4, True)[0]),
    *unary("sum", torch.sum),
    *each("sum", [lambda x: x.sum(1), lambda x: x.sum(0, keepdim=True), lambda x: x.sum((-1, 0))]),
    *unary("mean", torch.mean),
    *each("mean", [lambda x: x.mean(1), lambda x: x.mean(-1, True), lambda x: x.mean((0, 1))]),
    *each("softmax", [lambda x: x.softmax(0), lambda x: x.softmax(-1)]),
    *each("log_softmax", [lambda x: x.log_softmax(0), lambda x: x.log_softmax(-1)]),
    *each("nll_loss", [
        lambda x: F.nll_loss(x, classes(x)),
        lambda x: F.nll_loss(x, classes(x), reduction="none"),
        lambda x: F.nll_loss(x, classes(x), reduction="sum", ignore_index=1),
    ]),
    *cases("nll_loss of an image", lambda x: F.nll_loss(x, classes(x)), ((2, 3, 2, 2),)),
    *cases("mse_loss", F.mse_loss, ((3,), (3,)), ((2, 3), (2, 3)), ((1,), (1,))),
    *cases("mse_loss", lambda a, b: F.mse_loss(a, b, reduction="none"), ((2, 3), (2, 3))),
    *unary("bce", lambda x: F.binary_cross_entropy_with_logits(x, target(x))),
    *cases("mm", torch.mm, *MATRICES),
    *cases("bmm", torch.bmm, *BATCHES),
    *cases("mv", torch.mv, ((2, 3), (3,)), ((1, 2), (2,))),
    *cases("dot", torch.dot, ((3,), (3,)), ((1,), (1,))),
    *cases("addmm", torch.addmm, ((4,), (2, 3), (3, 4)), ((2, 2), (2, 3), (3, 2))),
    *cases("addmm", lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), ((4,), (2, 3), (3, 4))),
    *cases("addmv", torch.addmv, ((2,), (2, 3), (3,))),
    *cases("addmv", lambda a, b, c: torch.addmv(a, b, c, beta=0.5, alpha=2), ((2,), (2, 3), (3,))),
    *each("view", [lambda x: x.reshape(-1), lambda x: x.unsqueeze(1), lambda x: x[None].squeeze(0)]),
    *each("t", [torch.t, lambda x: x.transpose(0, -1), lambda x: x.permute(-1, 0)]),
    *cases("permute", lambda x: x.permute(1, -1, 0), ((2, 3, 4),)),
    *unary("expand", lambda x: x.expand(4, *x.shape)),
    *unary("clone", torch.clone),
    *unary("to", torch.Tensor.double),
    *each("select", [lambda x: x[1], lambda x: x.select(-1, -1)]),
    *each("slice", [lambda x: x[1:], lambda x: x[:, ::2], lambda x: x[..., -2:]]),
    *each("index", [lambda x: x[ROWS % 2], lambda x: x[:, [0, 2, 0]], lambda x: x[x > 0]]),
    *cases("embedding", lambda x: F.embedding(ROWS, x), ((3, 2),)),
    *cases("cat", lambda a, b: torch.cat([a, b], 1), ((2, 3), (2, 1))),
    *cases("cat", lambda a, b: torch.cat([a.detach(), a, b]), ((2, 3), (1, 3))),
    *cases("stack", lambda a, b: torch.stack([a, b], -1), ((2, 3), (2, 3))),
]  # fmt: skip

# Operations of which only a sentence says what they do.
IN_WORDS = [
    *cases("conv1d", F.conv1d, ((1, 2, 5), (3, 2, 2), (3,))),
    *cases("max_pool2d", lambda x: F.max_pool2d(x, 2), ((1, 2, 4, 4),)),
    *cases("avg_pool2d", lambda x: F.avg_pool2d(x, 2), ((1, 2, 4, 4),)),
    *cases("layer_norm", lambda x, w, b: F.layer_norm(x, (3,), w, b), ((2, 3), (3,), (3,))),
    *cases("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), ((4, 3), (3,), (3,))),
    *cases("attention", F.scaled_dot_product_attention, *[((1, 2, 3, 4),) * 3]),
    *unary("gelu", F.gelu, shapes=((3,),)),
    *each("reductions", [torch.max, torch.var, torch.norm, torch.prod], (3,)),
    *each("orders", [lambda x: x.cumsum(0), lambda x: x.sort(0)[0], lambda x: x.flip(0)]),
    *each("pieces", [lambda x: x.split(1)[0], lambda x: x.unbind()[0], lambda x: x.triu()]),
    *binary("maximum", torch.maximum),
]  # fmt: skip
ALL = RULED + IN_WORDS
