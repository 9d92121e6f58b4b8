"""Operations on three shapes each, with broadcasting and arguments that are not the default: what
`local_derivatives` must be able to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F

SHAPES = ((), (3,), (2, 3))
TABLES = ((2, 3), (4, 3), (3, 3))
IMAGES = ((1, 2, 4, 4), (2, 1, 5, 4), (1, 1, 6, 5))
BLOCKS = ((2, 3, 4), (3, 2, 2), (1, 4, 2))
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
MATRICES = (((2, 3), (3, 4)), ((1, 3), (3, 1)), ((4, 2), (2, 2)))
BATCHES = (((2, 2, 3), (2, 3, 4)), ((1, 1, 3), (1, 3, 2)), ((3, 2, 2), (3, 2, 2)))

ELEMENTWISE = [
    *unary("neg", torch.neg),
    *unary("exp", torch.exp),
    *unary("exp2", torch.exp2),
    *unary("expm1", torch.expm1),
    *unary("log", torch.log, positive=True),
    *unary("log2", torch.log2, positive=True),
    *unary("log10", torch.log10, positive=True),
    *unary("log1p", torch.log1p, positive=True),
    *unary("sqrt", torch.sqrt, positive=True),
    *unary("rsqrt", torch.rsqrt, positive=True),
    *unary("sin", torch.sin),
    *unary("cos", torch.cos),
    *unary("tan", lambda x: torch.tan(x / 2)),
    *unary("asin", lambda x: torch.asin(x / 2)),
    *unary("acos", lambda x: torch.acos(x / 2)),
    *unary("atan", torch.atan),
    *unary("sinh", torch.sinh),
    *unary("cosh", torch.cosh),
    *unary("asinh", torch.asinh),
    *unary("atanh", lambda x: torch.atanh(x / 2)),
    *unary("tanh", torch.tanh),
    *unary("erf", torch.erf),
    *unary("sigmoid", torch.sigmoid),
    *unary("log_sigmoid", F.logsigmoid),
    *unary("relu", torch.relu),
    *unary("relu6", F.relu6),
    *unary("leaky_relu", lambda x: F.leaky_relu(x, 0.2)),
    *unary("elu", F.elu),
    *unary("elu", lambda x: F.elu(x, 0.5)),
    *unary("selu", F.selu),
    *unary("celu", lambda x: F.celu(x, 0.5)),
    *unary("gelu", F.gelu),
    *unary("gelu", lambda x: F.gelu(x, approximate="tanh")),
    *unary("silu", F.silu),
    *unary("mish", F.mish),
    *unary("softplus", F.softplus),
    *unary("softplus", lambda x: F.softplus(x, beta=2, threshold=1)),
    *unary("softsign", F.softsign),
    *unary("hardtanh", lambda x: F.hardtanh(x, -0.5, 0.7)),
    *unary("hardsigmoid", F.hardsigmoid),
    *unary("hardswish", F.hardswish),
    *unary("threshold", lambda x: F.threshold(x, 0.3, 2.0)),
    *unary("clamp", lambda x: x.clamp(-0.5, 0.7)),
    *unary("clamp", lambda x: x.clamp(max=0.7)),
    *unary("clamp", lambda x: x.clamp(min=-0.5)),
    *unary("clamp_min", lambda x: torch.clamp_min(x, 0.1)),
    *unary("clamp_max", lambda x: torch.clamp_max(x, 0.1)),
    *unary("abs", torch.abs),
    *unary("square", torch.square),
    *unary("reciprocal", torch.reciprocal),
    *unary("sign", torch.sign),
    *unary("floor", torch.floor),
    *unary("ceil", torch.ceil),
    *unary("round", torch.round),
    *unary("trunc", torch.trunc),
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
    *unary("number by x", lambda x: 2 / x),
    *binary("maximum", torch.maximum),
    *binary("minimum", torch.minimum),
    *binary("atan2", torch.atan2),
    *binary("where", lambda a, b: torch.where(torch.rand(2, 3) > 0.5, a, b)),
    *binary("lerp", lambda a, b: torch.lerp(a, b, 0.3)),
    *cases("lerp", torch.lerp, ((), (), ()), ((3,), (3,), (3,)), ((2, 3), (3,), (2, 1))),
    *cases("addcmul", lambda a, b, c: torch.addcmul(a, b, c, value=0.5),
           ((), (), ()), ((3,), (3,), (3,)), ((2, 3), (3,), (2, 1))),
    *cases("addcdiv", lambda a, b, c: torch.addcdiv(a, b, c, value=2),
           ((), (), ()), ((3,), (3,), (3,)), ((2, 3), (3,), (2, 1))),
    *unary("masked_fill", lambda x: x.masked_fill(x > 0, 9.0)),
    *cases("masked_fill", lambda x: x.masked_fill(MASK, -1.0), ((3,),), ((2, 3),), ((1, 3),)),
    *unary("dropout", lambda x: F.dropout(x, 0.4)),
    *unary("native_dropout", lambda x: torch.native_dropout(x, 0.4, True)[0]),
    *cases("prelu", F.prelu, ((2, 3), (1,)), ((2, 3), (3,)), ((4, 2), (2,))),
    *each("glu", [lambda x: F.glu(x), lambda x: F.glu(x, 0), lambda x: F.glu(x, -2)], (4, 2), (2, 4), (2, 2)),
]  # fmt: skip

REDUCTIONS = [
    *unary("sum", torch.sum),
    *each("sum", [lambda x: x.sum(1), lambda x: x.sum(0, keepdim=True), lambda x: x.sum((-1, 0))]),
    *unary("mean", torch.mean),
    *each("mean", [lambda x: x.mean(1), lambda x: x.mean(-1, True), lambda x: x.mean((0, 1))]),
    *unary("prod", torch.prod),
    *each("prod", [lambda x: x.prod(1), lambda x: x.prod(0, True), lambda x: x.prod(-1)]),
    *unary("max", torch.max),
    *unary("min", torch.min),
    *each("max", [lambda x: x.max(1)[0], lambda x: x.max(0, True)[0], lambda x: x.max(-1)[0]]),
    *each("min", [lambda x: x.min(1)[0], lambda x: x.min(0, True)[0], lambda x: x.min(-1)[0]]),
    *each("amax", [lambda x: x.amax(1), lambda x: x.amax((0, 1)), lambda x: x.amax(0, True)]),
    *each("amin", [lambda x: x.amin(1), lambda x: x.amin(), lambda x: x.amin(0, True)]),
    *each("var", [lambda x: x.var(), lambda x: x.var(1), lambda x: x.var(0, correction=0)]),
    *each("var", [lambda x: x.var(1, keepdim=True), lambda x: x.var((0, 1))]),
    *each("std", [lambda x: x.std(), lambda x: x.std(1), lambda x: x.std(0, correction=0)]),
    *each("norm", [lambda x: x.norm(), lambda x: x.norm(dim=1), lambda x: x.norm(1)]),
    *each(
        "vector_norm",
        [
            torch.linalg.vector_norm,
            lambda x: torch.linalg.vector_norm(x, 1, dim=1),
            lambda x: torch.linalg.vector_norm(x, 3, dim=0, keepdim=True),
            lambda x: torch.linalg.vector_norm(x, torch.inf, dim=-1),
        ],
    ),
    *unary("cumsum", lambda x: x.cumsum(0)),
    *each("cumsum", [lambda x: x.cumsum(1), lambda x: x.cumsum(-2)]),
    *each("cumprod", [lambda x: x.cumprod(1), lambda x: x.cumprod(0), lambda x: x.cumprod(-1)]),
    *unary("logsumexp", lambda x: x.logsumexp(0)),
    *each("logsumexp", [lambda x: x.logsumexp(1), lambda x: x.logsumexp((0, 1), True)]),
    *unary("softmax", lambda x: x.softmax(0)),
    *each("softmax", [lambda x: x.softmax(-1), lambda x: x.softmax(1)]),
    *unary("log_softmax", lambda x: x.log_softmax(0)),
    *each("log_softmax", [lambda x: x.log_softmax(-1), lambda x: x.log_softmax(1)]),
    *each("topk", [lambda x: x.topk(2, 1)[0], lambda x: x.topk(1, 0)[0], lambda x: x.topk(2)[0]]),
    *each("sort", [lambda x: x.sort()[0], lambda x: x.sort(0)[0], lambda x: x.sort(1, True)[0]]),
    *each("median", [lambda x: x.median(), lambda x: x.median(1)[0], lambda x: x.median(0)[0]]),
]  # fmt: skip

LOSSES = [
    *unary("mse_loss", lambda x: F.mse_loss(x, target(x))),
    *unary("mse_loss", lambda x: F.mse_loss(x, target(x), reduction="sum")),
    *unary("mse_loss", lambda x: F.mse_loss(x, target(x), reduction="none")),
    *binary("mse_loss", F.mse_loss, shapes=[((), ()), ((3,), (3,)), ((2, 3), (2, 3))]),
    *unary("l1_loss", lambda x: F.l1_loss(x, target(x))),
    *unary("l1_loss", lambda x: F.l1_loss(x, target(x), reduction="sum")),
    *unary("smooth_l1_loss", lambda x: F.smooth_l1_loss(x, target(x))),
    *unary("smooth_l1_loss", lambda x: F.smooth_l1_loss(x, target(x), reduction="sum", beta=0.3)),
    *unary("huber_loss", lambda x: F.huber_loss(x, target(x))),
    *unary("huber_loss", lambda x: F.huber_loss(x, target(x), reduction="sum", delta=0.3)),
    *unary("binary_cross_entropy", lambda x: F.binary_cross_entropy(x / 2, target(x)), True),
    *unary(
        "binary_cross_entropy",
        lambda x: F.binary_cross_entropy(x / 2, target(x), weight=target(x), reduction="sum"),
        True,
    ),
    *unary("bce_with_logits", lambda x: F.binary_cross_entropy_with_logits(x, target(x))),
    *unary(
        "bce_with_logits",
        lambda x: F.binary_cross_entropy_with_logits(
            x, target(x), weight=target(x), pos_weight=target(x) + 1, reduction="sum"
        ),
    ),
    *cases("nll_loss", lambda x: F.nll_loss(x, classes(x)), ((2, 3),), ((1, 4),), ((5, 2),)),
    *each(
        "nll_loss",
        [
            lambda x: F.nll_loss(x, classes(x), reduction="sum"),
            lambda x: F.nll_loss(x, classes(x), reduction="none"),
            lambda x: F.nll_loss(x, classes(x), weight=torch.tensor([1.0, 2.0, 0.5])),
            lambda x: F.nll_loss(x, classes(x), ignore_index=1),
        ],
    ),
    *cases("nll_loss2d", lambda x: F.nll_loss(x, classes(x)), ((2, 3, 2, 2),), ((1, 2, 1, 3),), ((2, 2, 1, 1),)),
    *cases("cross_entropy", lambda x: F.cross_entropy(x, classes(x)), ((2, 3),), ((1, 4),), ((5, 2),)),
    *each(
        "cross_entropy",
        [
            lambda x: F.cross_entropy(x, classes(x), label_smoothing=0.1),
            lambda x: F.cross_entropy(x, classes(x), reduction="sum", ignore_index=0),
            lambda x: F.cross_entropy(x, x.detach().softmax(1)),
        ],
    ),
    *binary("kl_div", lambda x, y: F.kl_div(x, y, reduction="sum"), True, [((), ()), ((3,), (3,)), ((2, 3), (2, 3))]),
]  # fmt: skip

MATMULS = [
    *binary("mm", torch.mm, shapes=MATRICES),
    *binary("matmul", torch.matmul, shapes=[((3,), (3,)), ((2, 3), (3,)), ((2, 2, 3), (3, 2))]),
    *binary("matmul", torch.matmul, shapes=[((3,), (3, 2)), ((2, 3), (4, 3, 2)), ((2, 1, 2, 3), (3, 3, 2))]),
    *binary("mv", torch.mv, shapes=[((2, 3), (3,)), ((1, 2), (2,)), ((4, 4), (4,))]),
    *binary("dot", torch.dot, shapes=[((3,), (3,)), ((1,), (1,)), ((5,), (5,))]),
    *binary("bmm", torch.bmm, shapes=BATCHES),
    *binary("outer", torch.outer, shapes=[((2,), (3,)), ((1,), (4,)), ((3,), (3,))]),
    *cases("addmm", torch.addmm, ((4,), (2, 3), (3, 4)), ((), (1, 3), (3, 1)), ((4, 2), (4, 2), (2, 2))),
    *cases("addmm", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2),
           ((4,), (2, 3), (3, 4)), ((1, 1), (1, 3), (3, 1)), ((4, 2), (4, 2), (2, 2))),
    *cases("addmv", lambda c, a, b: torch.addmv(c, a, b, beta=0.5, alpha=2),
           ((2,), (2, 3), (3,)), ((), (1, 3), (3,)), ((1,), (4, 2), (2,))),
    *cases("addr", lambda c, a, b: torch.addr(c, a, b, beta=0.5, alpha=2),
           ((2, 3), (2,), (3,)), ((), (1,), (3,)), ((2,), (4,), (2,))),
    *cases("baddbmm", lambda c, a, b: torch.baddbmm(c, a, b, beta=0.5, alpha=2),
           ((2, 2, 4), (2, 2, 3), (2, 3, 4)), ((1,), (1, 1, 3), (1, 3, 2)), ((2, 2), (3, 2, 2), (3, 2, 2))),
    *cases("linear", F.linear, ((2, 3), (4, 3), (4,)), ((3,), (2, 3), (2,)), ((2, 2, 3), (4, 3), (4,))),
    *cases("linear", F.linear, ((2, 3), (4, 3)), ((3,), (2, 3)), ((2, 2, 3), (4, 3))),
    *cases("einsum", lambda a, b: torch.einsum("bij,bkj->bik", a, b),
           ((2, 2, 3), (2, 4, 3)), ((1, 1, 3), (1, 2, 3)), ((3, 2, 2), (3, 1, 2))),
    *cases("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
           ((1, 1, 3, 2), (1, 1, 4, 2), (1, 1, 4, 2)), ((2, 2, 2, 4), (2, 2, 2, 4), (2, 2, 2, 4)), ((2, 3, 4), (2, 3, 4), (2, 3, 4))),
    *cases("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
           ((1, 1, 3, 2), (1, 1, 3, 2), (1, 1, 3, 2)), ((2, 2, 2, 4), (2, 2, 2, 4), (2, 2, 2, 4))),
    *cases("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(3, 4), scale=0.5),
           ((1, 1, 3, 2), (1, 1, 4, 2), (1, 1, 4, 2))),
]  # fmt: skip

LAYERS = [
    *cases("conv1d", F.conv1d, ((1, 2, 5), (3, 2, 2), (3,)), ((2, 1, 4), (1, 1, 3), (1,)), ((2, 2, 3), (2, 2, 1), (2,))),
    *cases("conv2d", F.conv2d, ((1, 2, 4, 4), (3, 2, 2, 2), (3,)), ((2, 1, 3, 3), (1, 1, 3, 3), (1,)), ((1, 2, 3, 3), (2, 2, 1, 1), (2,))),
    *cases("conv2d", lambda x, w: F.conv2d(x, w, stride=2, padding=1), ((1, 2, 4, 4), (3, 2, 2, 2))),
    *cases("conv2d", lambda x, w: F.conv2d(x, w, dilation=2, groups=2), ((1, 2, 4, 4), (2, 1, 2, 2))),
    *cases("conv3d", F.conv3d, ((1, 1, 3, 3, 3), (1, 1, 2, 2, 2)), ((2, 1, 2, 3, 2), (2, 1, 2, 1, 2)), ((1, 2, 2, 2, 2), (1, 2, 1, 1, 1))),
    *cases("conv_transpose2d", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
           ((1, 2, 3, 3), (2, 3, 2, 2), (3,)), ((2, 1, 2, 2), (1, 1, 3, 3), (1,)), ((1, 1, 2, 3), (1, 2, 2, 2), (2,))),
    *each("max_pool1d", [lambda x: F.max_pool1d(x, 2)], (1, 2, 5), (2, 1, 4), (2, 3, 2)),
    *each("max_pool2d", [lambda x: F.max_pool2d(x, 2), lambda x: F.max_pool2d(x, 3, 1, 1), lambda x: F.max_pool2d(x, (2, 1))], *IMAGES),
    *each("adaptive_max_pool2d", [lambda x: F.adaptive_max_pool2d(x, 2), lambda x: F.adaptive_max_pool2d(x, (1, 3)), lambda x: F.adaptive_max_pool2d(x, 1)], *IMAGES),
    *each("avg_pool1d", [lambda x: F.avg_pool1d(x, 2)], (1, 2, 4), (2, 1, 5), (2, 3, 2)),
    *each("avg_pool2d", [lambda x: F.avg_pool2d(x, 2), lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False), lambda x: F.avg_pool2d(x, (2, 1), divisor_override=3)], *IMAGES),
    *each("adaptive_avg_pool2d", [lambda x: F.adaptive_avg_pool2d(x, 2), lambda x: F.adaptive_avg_pool2d(x, (1, 3)), lambda x: F.adaptive_avg_pool2d(x, 1)], *IMAGES),
    *cases("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), ((3, 2), (2,), (2,)), ((2, 2, 3), (2,), (2,)), ((2, 2, 2, 2), (2,), (2,))),
    *cases("batch_norm", lambda x, w, b: F.batch_norm(x, torch.ones(2), torch.full((2,), 3.0), w, b, False), ((3, 2), (2,), (2,)), ((2, 2, 3), (2,), (2,))),
    *cases("batch_norm", lambda x: F.batch_norm(x, None, None, None, None, True), ((3, 2),), ((2, 2, 3),)),
    *cases("layer_norm", lambda x, w, b: F.layer_norm(x, w.shape, w, b), ((2, 3), (3,), (3,)), ((2, 2, 3), (2, 3), (2, 3)), ((4, 3), (3,), (3,))),
    *cases("layer_norm", lambda x: F.layer_norm(x, x.shape[1:]), ((2, 3),), ((2, 2, 3),), ((4, 3),)),
    *cases("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), ((2, 4, 3), (4,), (4,)), ((1, 2, 2, 3), (2,), (2,)), ((3, 4), (4,), (4,))),
    *cases("rms_norm", lambda x, w: F.rms_norm(x, w.shape, w), ((2, 3), (3,)), ((2, 2, 3), (3,)), ((4, 3), (3,))),
    *cases("embedding", lambda w: F.embedding(ROWS, w), ((3, 2),), ((2, 4),), ((5, 1),)),
    *cases("embedding", lambda w: F.embedding(ROWS.reshape(2, 2), w, padding_idx=0), ((3, 2),)),
    *cases("embedding", lambda w: F.embedding(ROWS, w, scale_grad_by_freq=True), ((3, 2),)),
    *each("interpolate", [lambda x: F.interpolate(x, scale_factor=2), lambda x: F.interpolate(x, size=(3, 5)), lambda x: F.interpolate(x, size=(2, 2))], *IMAGES),
]  # fmt: skip

INDEXING = [
    *each("select", [lambda x: x[0], lambda x: x[:, 1], lambda x: x.select(-1, -1)]),
    *each("slice", [lambda x: x[:1], lambda x: x[:, ::2], lambda x: x[1:, -2:]]),
    *each("narrow", [lambda x: x.narrow(1, 1, 2), lambda x: x.narrow(0, 0, 1), lambda x: x.narrow(-1, 0, 2)]),
    *each("index", [lambda x: x[[1, 0, 1]], lambda x: x[:, [0, 2]], lambda x: x[x > 0]]),
    *each("index", [lambda x: x[[0, 1], [2, 2]], lambda x: x[torch.tensor([[0, 0], [1, 0]])]]),
    *each("index_select", [lambda x: x.index_select(0, ROWS), lambda x: x.index_select(1, ROWS), lambda x: x.index_select(-1, ROWS)]),
    *each("gather", [lambda x: x.gather(0, ROWS[:3].reshape(1, 3)), lambda x: x.gather(1, ROWS.reshape(2, 2)), lambda x: x.gather(-1, ROWS.reshape(2, 2))]),
    *each("masked_select", [lambda x: x.masked_select(x > 0), lambda x: x.masked_select(MASK), lambda x: x.masked_select(x > -9)]),
    *each("take", [lambda x: x.take(ROWS), lambda x: x.take(torch.tensor(5)), lambda x: x.take(ROWS.reshape(2, 2))]),
    *cases("scatter", lambda x, y: x.scatter(1, ROWS.reshape(2, 2), y), ((2, 3), (2, 2)), ((4, 2), (2, 2)), ((3, 3), (2, 2))),
    *cases("scatter_add", lambda x, y: x.scatter_add(1, ROWS.reshape(2, 2), y), ((2, 3), (2, 2)), ((4, 2), (2, 2)), ((3, 3), (2, 2))),
    *cases("index_add", lambda x, y: x.index_add(0, ROWS, y, alpha=2), ((2, 3), (4, 3)), ((4, 2), (4, 2)), ((2,), (4,))),
    *cases("index_put", lambda x, y: x.clone().index_put_((torch.tensor([1, 0]),), y), ((2, 3), (2, 3)), ((4, 2), (2,)), ((3, 2), ())),
    *cases("cat", lambda x, y: torch.cat([x, y]), ((2,), (3,)), ((2, 3), (1, 3)), ((1, 2, 2), (2, 2, 2))),
    *cases("cat", lambda x, y, z: torch.cat([x, y, z], -1), ((2, 1), (2, 2), (2, 3))),
    *cases("stack", lambda x, y: torch.stack([x, y]), ((), ()), ((3,), (3,)), ((2, 3), (2, 3))),
    *cases("stack", lambda x, y: torch.stack([x, y], -1), ((3,), (3,)), ((2, 3), (2, 3))),
    *each("split", [lambda x: x.split(2, 1)[1], lambda x: x.split([1, 2], 1)[0], lambda x: torch.cat(x.split(1), 1)]),
    *each("chunk", [lambda x: x.chunk(2, -1)[0], lambda x: sum(x.chunk(2)), lambda x: x.chunk(3, 1)[2]]),
    *each("unbind", [lambda x: x.unbind()[0], lambda x: x.unbind(1)[2], lambda x: sum(x.unbind(-1))]),
    *each("triu", [torch.triu, lambda x: x.triu(1), lambda x: x.triu(-1)]),
    *each("tril", [torch.tril, lambda x: x.tril(1), lambda x: x.tril(-1)]),
    *each("flip", [lambda x: x.flip(0), lambda x: x.flip((0, 1)), lambda x: x.flip(-1)]),
    *each("roll", [lambda x: x.roll(1), lambda x: x.roll(1, 1), lambda x: x.roll((1, -1), (0, 1))]),
    *each("repeat", [lambda x: x.repeat(2, 1), lambda x: x.repeat(2, 1, 3), lambda x: x.repeat(1, 2)]),
    *each("repeat_interleave", [lambda x: x.repeat_interleave(2, 0), lambda x: x.repeat_interleave(2), lambda x: x.repeat_interleave(torch.arange(len(x)), 0)]),
    *each("pad", [lambda x: F.pad(x, (1, 2)), lambda x: F.pad(x, (0, 0, 1, 0), value=3.0), lambda x: F.pad(x, (-1, 1))]),
    *each("diag", [torch.diag, lambda x: x.diagonal(1), lambda x: x.diagonal(-1)]),
    *each("trace", [torch.trace], (3, 3), (2, 3), (4, 2)),
    *each("unfold", [lambda x: x.unfold(1, 2, 1), lambda x: x.unfold(0, 2, 1), lambda x: x.unfold(-1, 1, 2)]),
]  # fmt: skip

VIEWS = [
    *each("view", [lambda x: x.view(x.numel()), lambda x: x.view(3, -1), lambda x: x.view(-1, 1)]),
    *each("reshape", [lambda x: x.reshape(-1), lambda x: x.t().reshape(-1), lambda x: x.reshape(1, -1)]),
    *each("t", [torch.t, lambda x: x.T, lambda x: x[0].t()]),
    *each("transpose", [lambda x: x.transpose(0, 1), lambda x: x.transpose(-1, 0), lambda x: x.mT]),
    *each("permute", [lambda x: x.permute(2, 0, 1), lambda x: x.permute(1, 0, 2), lambda x: x.permute(-1, 1, 0)], *BLOCKS),
    *each("movedim", [lambda x: x.movedim(0, 2), lambda x: x.swapaxes(0, 1), lambda x: x.movedim(-1, 0)], *BLOCKS),
    *each("squeeze", [lambda x: x.squeeze(), lambda x: x.squeeze(0), lambda x: x.squeeze((0, 2))], (1, 3, 1), (1, 2, 1), (1, 1, 1)),
    *unary("unsqueeze", lambda x: x.unsqueeze(0)),
    *each("unsqueeze", [lambda x: x.unsqueeze(-1), lambda x: x[:, None]]),
    *each("flatten", [torch.flatten, lambda x: x.flatten(1), lambda x: x.flatten(0, 1)], *BLOCKS),
    *each("unflatten", [lambda x: x.unflatten(1, (1, 3)), lambda x: x.unflatten(0, (1, -1))]),
    *cases("expand", lambda x: x.expand(2, 3), ((3,),), ((2, 1),), ((1, 3),)),
    *cases("expand", lambda x: x.expand(4, 2, 3), ((),), ((2, 3),), ((2, 1),)),
    *unary("clone", torch.clone),
    *each("contiguous", [lambda x: x.t().contiguous()]),
    *unary("to", lambda x: x.to(torch.float64)),
    *each("to", [lambda x: x.double().float(), lambda x: x.bfloat16()]),
    *unary("alias", lambda x: torch.ops.aten.alias(x)),
    *each("view_as", [lambda x: x.view_as(x), lambda x: x.detach().clone().expand_as(x) + x]),
    *each("as_strided", [lambda x: x.as_strided((2, 2), (3, 1)), lambda x: x.as_strided((3,), (1,)), lambda x: x.as_strided((2, 3), (0, 1))]),
]  # fmt: skip

ALL = [*ELEMENTWISE, *REDUCTIONS, *LOSSES, *MATMULS, *LAYERS, *INDEXING, *VIEWS]
