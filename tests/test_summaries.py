"""What is told of a gradient by its numbers: torch computes the same, one tensor at a time."""

import math
from unittest import mock

import pytest
import torch

from autograd_graphs.looking import summaries
from autograd_graphs.looking.summaries import BINS, SAMPLE, WHOLE, Summaries
from autograd_graphs.recording.gradient_health import health_of
from autograd_graphs.recording.record import record

pytestmark = pytest.mark.slow

NAN, INF = float("nan"), float("inf")
SHAPES = [
    (5,), (16,), (17,), (4, 4), (8, 8), (9, 2), (2, 3, 4), (8, 1), (65,), (1, 64), (2, 2, 2, 2),
    (30, 30), (WHOLE,), (WHOLE + 1,), (7, 11, 13, 17), (3, 5, 7, 2, 11, 13),
]  # fmt: skip
KINDS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


def gradient(tensor):
    alone = Summaries()
    return alone.described(alone.take(tensor))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def spoiled(tensor, share):
    """Put nan and both infinities into a tensor."""
    for value in (NAN, INF, -INF):
        tensor[torch.rand(tensor.shape) < share] = value
    return tensor


def bin_of(value, most):
    return min(int(value / most * (BINS / 2) + BINS / 2), BINS - 1)


def counts(tensor):
    """Count finite values into bins, in Python."""
    values = [value for value in tensor.flatten().tolist() if math.isfinite(value)]
    most = max(map(abs, values), default=0.0) or 1.0
    found = [0] * BINS
    for value in values:
        found[bin_of(value, most)] += 1
    return found


@pytest.mark.parametrize("share", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_tensor_is_told_as_torch_tells_it(shape, kind, share):
    tensor = spoiled(torch.randn(shape, dtype=torch.float64).to(kind), share)
    told = gradient(tensor)
    norm, (least, greatest) = tensor.norm().item(), tensor.aminmax()
    assert (told.shape, told.values) == (shape, None)
    assert told.norm == pytest.approx(norm, rel=1e-2, nan_ok=True)
    assert repr((told.least, told.greatest)) == repr((least.item(), greatest.item()))
    assert (told.nans, told.infs) == (tensor.isnan().sum(), tensor.isinf().sum())
    assert health_of(told) == ("NaN" if told.nans else "inf" if told.infs else "")
    rows = tensor.reshape(-1, shape[-1])
    if tensor.numel() <= 64 and rows.shape[0] <= 8 and rows.shape[1] <= 16:
        assert repr(told.tile) == repr(tuple(map(tuple, rows.tolist())))
        assert told.bins is None
        return
    assert told.tile is None
    assert len(told.bins) == BINS
    if tensor.numel() <= SAMPLE and kind in (torch.float32, torch.float64):
        assert list(told.bins) == counts(tensor)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("value", [300.0, 1e-5, 1e30, 1e-30])
def test_a_norm_has_a_range_of_its_own_and_not_that_of_the_values(value, kind):
    tensor = torch.full((400, 400), value, dtype=torch.float64).to(kind)
    told = gradient(tensor)
    values = (told.least, told.greatest)
    assert values == (tensor[0, 0].item(),) * 2
    assert told.norm == pytest.approx(400 * values[0], rel=1e-3)
    assert health_of(told) == ("inf" if math.isinf(values[0]) else "" if values[0] else "zero")


@pytest.mark.parametrize("count", [SAMPLE + 1, WHOLE, WHOLE + 1, 123_456, 1_000_000])
def test_a_histogram_of_many_is_that_of_a_sample(count):
    tensor = torch.randn(count)
    told = gradient(tensor)
    assert SAMPLE / 2 <= sum(told.bins) <= SAMPLE
    for share, found in zip(counts(tensor), told.bins, strict=True):
        assert share / count == pytest.approx(found / sum(told.bins), abs=0.05)


@pytest.mark.parametrize(
    ("tensor", "tile", "health"),
    [
        (torch.tensor(2.0), None, ""),
        (torch.tensor([[1.0], [NAN]]), ((1.0,), (NAN,)), "NaN"),
        (torch.ones(0), None, ""),
        (torch.zeros(300), None, "zero"),
        (torch.ones(3, dtype=torch.complex64), None, ""),
        (torch.arange(10), None, ""),
        (torch.eye(3).to_sparse(), None, ""),
        (torch.ones(1).expand(10**9), None, ""),
        (torch.ones(8).to(torch.float8_e5m2), None, ""),
    ],
    ids=str,
)
def test_odd_tensors_have_no_tile_and_small_ones_have_their_values(tensor, tile, health):
    told = gradient(tensor)
    assert repr(told.tile) == repr(tile)
    assert health_of(told) == health
    assert tensor.numel() == 300 or told.bins is None


def test_many_together_are_told_as_each_alone():
    """Else a gradient that no hook changed could differ in its last bit before and after hooks."""
    shapes = [SHAPES[nr % len(SHAPES)] for nr in range(400)]
    tensors = [
        spoiled(torch.randn(shape).to(KINDS[nr % 3]), 0.01 * (nr % 5 == 0))
        for nr, shape in enumerate(shapes)
    ]
    together = Summaries()
    taken = [together.take(tensor) for tensor in tensors]
    assert [together.described(one) for one in taken] == [gradient(tensor) for tensor in tensors]
    with mock.patch.object(summaries, "MOST_KEPT", 0):
        assert [gradient(tensor) for tensor in tensors] == [
            together.described(one) for one in taken
        ]


def steps(make):
    """Record what a function makes; return all that is told of the steps."""
    try:
        return record(make()).steps
    except RuntimeError as error:
        return error.trace.steps


def edited(edit):
    """Return a hook that edits a gradient in place and returns nothing."""

    def hook(grad):
        edit(grad)

    return hook


def through_numpy(grad):
    grad.numpy()[...] *= 10


def through_a_view(grad):
    with torch.no_grad():
        grad.view(-1)[1] = 10


HOOKS = {
    "another": [lambda grad: grad * 10],
    "there and back": [lambda grad: grad * 4, lambda grad: grad / 4],
    "in place": [edited(lambda grad: grad.mul_(10))],
    "in place, unseen": [edited(lambda grad: grad.data.mul_(10))],
    "numpy": [edited(through_numpy)],
    "a view": [edited(through_a_view)],
    "a copy": [lambda grad: grad.clone()],
    "nan": [lambda grad: grad * NAN],
    "nothing": [],
}


@pytest.mark.parametrize("size", [6, WHOLE + 100])
@pytest.mark.parametrize("where", ["tensor", "node before", "node after", "leaf", "fork"])
@pytest.mark.parametrize("named", HOOKS)
def test_a_hook_that_changes_a_gradient_is_seen(named, where, size):
    def make():
        x = torch.linspace(0.5, 2, size).requires_grad_()
        y = x.sin()
        z = y.exp()
        for hook in HOOKS[named]:
            if where in ("tensor", "fork"):
                y.register_hook(hook)
            elif where == "leaf":
                x.register_hook(hook)
            elif where == "node before":
                y.grad_fn.register_prehook(lambda grads, hook=hook: over(hook, grads))
            else:
                z.grad_fn.register_hook(lambda grads, _, hook=hook: over(hook, grads))
        return (z * y if where == "fork" else z * 3).sum()

    told = sum(step.before_hooks != step.grad_outputs for step in steps(make))
    is_changed = named not in ("a copy", "nothing", "there and back")
    if where != "node after":  # there it is handed on as the hook made it
        assert told == is_changed


def over(hook, grads):
    """Return what a hook of one tensor makes of the gradients of a node."""
    made = hook(grads[0])
    return None if made is None else (made, *grads[1:])
