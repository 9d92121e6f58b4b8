"""What lesson 10 says, run in plain torch; meta stands for the GPU, as in the lesson.

See tests/said.py.
"""

import warnings

import pytest
import torch
from said import said
from torch import nn
from torch.nn import functional as F

OTHER_DEVICE = "is not on the expected device"


def meta(*size):
    return torch.ones(*size, device="meta")


def test_an_index_stays_behind_and_a_write_copies():
    told = said("10", "gpu-27")
    assert (
        "a write copies what it is given, `m[:] = c` as `copy_` does, and an index may stay behind"
        in told
    )
    assert "A write copies." in said("10", "gpu-50")
    c, m = torch.ones(2), meta(2)
    m[:] = c
    assert m.copy_(c).device == m[torch.tensor([0])].device == m.device


def test_a_number_of_the_cpu_goes_along_in_arithmetic_and_not_everywhere():
    told = said("10", "gpu-27")
    assert "In arithmetic a tensor without dimensions *on the CPU* counts as a number" in told
    assert "`torch.stack` refused the same number" in told
    m, n = meta(2), torch.tensor(3.0)
    for operation in (torch.add, torch.sub, torch.mul, torch.div, torch.pow):
        assert operation(n, m).device == operation(m, n).device == m.device
    with pytest.raises(RuntimeError, match=OTHER_DEVICE):
        torch.stack([n, m[0]])


@pytest.mark.parametrize("operation", [torch.add, torch.sub, torch.mul, torch.div, torch.pow])
def test_arithmetic_moves_no_other_tensor(operation):
    assert "Arithmetic moves no other tensor for you" in said("10", "gpu-27")
    with pytest.raises(RuntimeError, match=OTHER_DEVICE):
        operation(meta(2), torch.ones(2))


def test_a_loss_is_stricter_than_a_difference():
    assert "`m - n` runs, and `mse_loss(m, n)` raises" in said("10", "gpu-33")
    m, n = meta(2), torch.tensor(3.0)
    assert (m - n).device == m.device
    with warnings.catch_warnings(action="ignore"), pytest.raises(RuntimeError, match=OTHER_DEVICE):
        F.mse_loss(m, n)


def test_meta_forgives_data_that_stayed_on_the_cpu():
    told = said("10", "gpu-50")
    assert "Silence proves little: CPU data passes a meta `Conv1d`, `Embedding` or `gather`" in told
    nn.Conv1d(1, 1, 1, device="meta")(torch.ones(1, 1, 4))
    nn.Embedding(4, 2, device="meta")(torch.tensor([1]))
    meta(4).gather(0, torch.tensor([1]))
    with pytest.raises(RuntimeError, match=OTHER_DEVICE):
        nn.Linear(2, 1, device="meta")(torch.ones(1, 2))


def test_the_assert_that_finds_a_moved_leaf_passes_on_the_cpu():
    told = said("10", "gpu-24")
    assert "Place it on `torch.float64` once, and `assert w.is_leaf`" in told
    assert 'With "cpu" that passes: nothing moved' in told
    made = torch.ones(2, requires_grad=True)
    assert made.to("cpu") is made
    assert made.to("cpu").is_leaf
    assert not made.to(torch.float64).is_leaf


def test_a_gradient_has_the_dtype_of_its_leaf_unless_grad_dtype_differs():
    assert "in the dtype of its leaf (unless its `grad_dtype` says otherwise)" in said(
        "10", "gpu-19"
    )
    plain, asked = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    asked.grad_dtype = torch.float64
    for leaf in (plain, asked):
        leaf.to(torch.float64).sum().backward()
    assert (plain.grad.dtype, asked.grad.dtype) == (torch.float32, torch.float64)


def counted_and_held(forward):
    """Return the bytes that `kept` of the lesson counts, and those of the different memories behind
    them.
    """
    saved = []
    x = torch.ones(1024, 1024, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda one: saved.append(one) or one, lambda one: one
    ):
        forward(x)
    storages = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in saved}
    return sum(one.nbytes for one in saved), sum(storages.values())


def test_kept_is_no_bound_neither_way():
    told = said("10", "gpu-43")
    assert "`kept` counts too much" in told
    assert (
        "4 KiB of a view are counted, and the 4 MiB behind it are held. So `kept` is no bound, neither way"
        in told
    )
    counted, held = counted_and_held(lambda x: x.sin().relu().sin().sum())
    assert counted > held
    assert counted_and_held(lambda x: (x * 2)[:1].sin().sum()) == (4 * 2**10, 4 * 2**20)


def test_a_dry_run_estimates_only_where_the_kernels_agree():
    assert (
        "estimates what a graph *would* hold, as long as both devices take the same kernels"
        in said("10", "gpu-41")
    )
    sizes = {}
    for device in ("cpu", "meta"):
        saved = []
        q = torch.ones(1, 1, 256, 16, device=device, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(
            lambda one, saved=saved: saved.append(one.nbytes), id
        ):
            F.scaled_dot_product_attention(q, q, q)
        sizes[device] = sum(saved)
    assert sizes["meta"] > 2 * sizes["cpu"], "meta takes the plain kernel, the CPU the flash one"
