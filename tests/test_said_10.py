"""What lesson 10 says, run in plain torch; meta stands for the GPU, as in the lesson.

What only a GPU can show is in tests/test_gpu.py. See tests/said.py.
"""

import ast
import inspect
import warnings

import pytest
import torch
from said import said
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from helpers import gpu
from helpers.memory import bytes_in_use

OTHER_DEVICE = "is not on the expected device"


def meta(*size):
    return torch.ones(size, device="meta")


# 1, 2: who decides, and no such device


def test_a_block_changes_the_default_which_is_the_cpu():
    told = said("10", "gpu-05")
    assert "The default is the CPU" in told
    assert "A block `with torch.device(…)` changes the default" in told
    assert torch.get_default_device() == torch.device("cpu")
    with torch.device("meta"):
        assert torch.ones(2).is_meta
        assert torch.get_default_device() == torch.device("meta")


def test_what_stands_on_given_memory_stays_on_the_cpu():
    assert "**`torch.ones(2)` goes where you say, or to the default device;" in said("10", "gpu-05")
    assert "(On the CPU, on the memory of the array.)" in said("10", "gpu-06")
    array = torch.ones(2).numpy()
    with torch.device("meta"):
        assert torch.ones(2).is_meta
        assert torch.ones(2, device="cpu").device.type == "cpu"
        taken = torch.from_numpy(array)
    array[0] = 5
    assert (taken.device.type, taken.tolist()) == ("cpu", [5, 1])


def test_what_is_made_like_another_tensor_goes_where_that_one_is():
    assert "`ones_like(a)` goes where `a` is" in said("10", "gpu-05")
    a = torch.ones(2)
    with torch.device("meta"):
        assert torch.ones_like(a).device.type == "cpu"
    assert torch.ones_like(meta(2)).is_meta


def test_a_number_of_meta_is_none():
    assert "`b[0].item()` raises: there is no number" in said("10", "gpu-06")
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        meta(2)[0].item()


def test_without_a_gpu_there_is_an_error_of_one_of_two_kinds():
    told = said("10", "gpu-09")
    assert "`.cuda()` on a build without CUDA does the same" in told
    assert "where it finds no driver it raises a `RuntimeError`, by PyTorch's source" in told
    assert "`except RuntimeError` would not catch this one" in told
    assert not issubclass(AssertionError, RuntimeError)
    if not torch.backends.cuda.is_built():
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            torch.ones(1).cuda()
    start = inspect.getsource(torch.cuda._lazy_init)
    assert 'AssertionError("Torch not compiled with CUDA enabled")' in start
    assert "throws if there's a driver initialization error, no GPUs" in start


def test_a_place_never_falls_back_but_autocast_does():
    assert "**This `.to()` does not fall back to the CPU" in said("10", "gpu-09")
    assert '(`torch.autocast("cuda")` warns, and goes on without it.)' in said("10", "gpu-13")
    if not torch.cuda.is_available():
        with pytest.warns(UserWarning, match="CUDA is not available"), torch.autocast("cuda"):
            assert not torch.is_autocast_enabled("cuda")


def test_a_wrong_name_gets_the_list_of_devices():
    assert "A list of the device types there are" in said("10", "gpu-13")
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, .*meta"):
        torch.ones(1).to("gpu")


# 3: what .to() gives back


def test_the_assert_that_finds_a_moved_leaf_passes_on_the_cpu():
    assert '`made.to("cpu")` gave `made` itself' in said("10", "gpu-16")
    told = said("10", "gpu-21")
    assert "Place it on `torch.float64` once, and `assert w.is_leaf`" in told
    assert 'With "cpu" that passes: nothing moved' in told
    made = torch.ones(2, requires_grad=True)
    assert made.to("cpu") is made
    assert made.to("cpu").is_leaf
    assert not made.to(torch.float64).is_leaf


def test_who_asks_for_gradients_last_has_a_leaf():
    told = said("10", "gpu-16")
    assert "Ask for gradients last: `torch.tensor(…).to(device).requires_grad_()`" in told
    assert "Leaf: created there" in said("10", "gpu-21")
    for place in ("cpu", "meta", torch.float64):
        assert torch.tensor([2.0]).to(place).requires_grad_().is_leaf
    assert torch.tensor([2.0], device="meta", requires_grad=True).is_leaf


def test_a_gradient_has_the_dtype_of_its_leaf_unless_grad_dtype_differs():
    told = said("10", "gpu-16")
    assert "has the leaf's device and, unless `grad_dtype` says otherwise, the leaf's dtype" in told
    plain, asked = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    asked.grad_dtype = torch.float64
    for leaf in (plain, asked):
        leaf.to(torch.float64).sum().backward()
    assert (plain.grad.dtype, asked.grad.dtype) == (torch.float32, torch.float64)
    free = torch.ones(2, requires_grad=True)
    free.grad_dtype = None
    free.grad = torch.ones(2, dtype=torch.float64)
    assert free.grad.dtype == torch.float64
    with pytest.raises(RuntimeError):
        plain.grad = torch.ones(2, dtype=torch.float64)


def test_a_gradient_does_not_come_back_from_meta_and_the_other_is_there():
    told = said("10", "gpu-21")
    assert "It raises: meta has no numbers to copy. `far.grad` is there all the same." in told
    near = torch.tensor([2.0, 3.0], requires_grad=True)
    far = torch.ones(2, device="meta", requires_grad=True)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data"):
        (near.to("meta") * far).sum().backward()
    assert near.grad is None
    assert far.grad.is_meta


def test_a_module_changes_its_parameters_and_on_meta_it_gets_new_ones():
    assert "A module changes its parameters, and they stay leaves" in said("10", "q4-because")
    told = said("10", "gpu-24")
    assert "After `layer.double()` the weight is the same object" in told
    assert 'after `layer.to("meta")` it is not' in told
    assert "The docstring of `Module.cuda` says to move first" in told
    layer = nn.Linear(2, 1)
    weight = layer.weight
    assert layer.double() is layer
    assert layer.weight is weight
    layer.to("meta")
    assert layer.weight is not weight
    assert layer.weight.is_leaf
    docstring = " ".join(nn.Module.cuda.__doc__.split())
    assert "it should be called before constructing the optimizer" in docstring


def test_a_plain_attribute_of_a_module_stays_and_a_buffer_moves():
    told = said("10", "gpu-24")
    assert "(No, as a plain attribute it stays; `register_buffer` makes it move." in told
    assert "an `nn.ModuleList` moves the layers of a list" in told
    assert "A module's plain attributes and lists of layers stay behind" in said("10", "q4-because")
    layer = nn.Linear(2, 1)
    layer.mask, layer.plain = torch.ones(2), [nn.Linear(2, 1)]
    layer.listed = nn.ModuleList([nn.Linear(2, 1)])
    layer.register_buffer("kept", torch.ones(2))
    layer.to("meta")
    assert not layer.mask.is_meta
    assert not layer.plain[0].weight.is_meta
    assert layer.listed[0].weight.is_meta
    assert layer.kept.is_meta


# 4: two devices


def test_a_write_copies_but_not_out_of_meta_and_not_by_out():
    assert "`m.copy_(c)` does the same" in said("10", "gpu-27")
    assert "`m[:] = c` copies." in said("10", "gpu-50").replace("|", ".")
    notes = said("10", "q6-notes")
    assert '"`c[:] = m`?" (It raises: meta has no numbers to copy.)' in notes
    assert '"`torch.add(c, c, out=m)`?" (It raises: `out=` is no copy.)' in notes
    c, m = torch.ones(2), meta(2)
    m[:] = c
    assert m.copy_(c).device == m.device
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data"):
        c[:] = m
    with pytest.raises(RuntimeError, match="cross-device copies are not allowed"):
        torch.add(c, c, out=m)


def test_an_index_may_stay_on_the_cpu_between_brackets():
    assert "(In `m[torch.tensor([0])]` it may;" in said("10", "q7-notes")
    m = meta(2)
    assert m[torch.tensor([0])].device == m.device


ARITHMETIC = [torch.add, torch.sub, torch.mul, torch.div, torch.pow]


@pytest.mark.parametrize("operation", ARITHMETIC)
def test_in_arithmetic_a_number_of_the_cpu_goes_along_and_nothing_else(operation):
    told = said("10", "gpu-27")
    assert "In `+ - * /` a CPU tensor without dimensions may take part" in told
    assert "in `+ - * /` the side makes no difference" in said("10", "q6-notes")
    recap = said("10", "gpu-50")
    assert "|`c + m` raises; in `+ - * /` a CPU tensor without dimensions may take part." in recap
    m, n = meta(2), torch.tensor(3.0)
    assert operation(n, m).device == operation(m, n).device == m.device
    for one, other in ((m, torch.ones(2)), (torch.ones(2), m), (torch.ones(2), meta())):
        with pytest.raises(RuntimeError, match=OTHER_DEVICE):
            operation(one, other)


def test_stack_and_a_loss_are_stricter_than_a_difference():
    told = said("10", "gpu-27")
    assert "`torch.stack` is stricter, and so is `mse_loss(m, n)`, although `m - n` runs" in told
    m, n = meta(2), torch.tensor(3.0)
    assert (m - n).device == (3.0 * m).device == m.device
    with warnings.catch_warnings(action="ignore"), pytest.raises(RuntimeError, match=OTHER_DEVICE):
        F.mse_loss(m, n)
    with pytest.raises(RuntimeError, match=OTHER_DEVICE):
        torch.stack([n, m[0]])


def test_the_expected_device_is_that_of_the_first_and_a_moved_weight_is_a_result():
    told = said("10", "gpu-31")
    assert "in `weight * data` the names change places" in told
    assert "a moved weight would be a result" in told
    data, weight = torch.ones(2), meta(2).requires_grad_()
    with pytest.raises(RuntimeError, match="device meta is not on the expected device cpu"):
        data * weight
    with pytest.raises(RuntimeError, match="device cpu is not on the expected device meta"):
        weight * data
    assert not torch.ones(2, requires_grad=True).to("meta").is_leaf
    (data.to(weight.device) * weight).sum().backward()
    assert weight.grad.is_meta


def test_a_gradient_that_is_assigned_must_be_on_the_device_of_its_leaf():
    assert "(It raises, and names both devices." in said("10", "gpu-33")
    weight = meta(2).requires_grad_()
    with pytest.raises(RuntimeError, match="device type 'cpu' to a tensor with device type 'meta'"):
        weight.grad = 2 * torch.ones(2)


def test_meta_forgives_data_that_stayed_on_the_cpu_and_refuses_what_a_gpu_runs():
    told = said("10", "q7-because")
    assert "CPU data passes a meta `nn.Embedding`, `nn.Conv1d`, `gather`, and a linear" in told
    assert "Meta is stricter, too: `.item()` asks it for a number" in told
    assert "its silence proves little" in told
    notes = said("10", "q7-notes")
    assert "a CPU matrix `@` a meta matrix raises nothing and gives a *CPU* tensor" in notes
    assert (
        "`m + c` raises; `m += c` passes, and so does `c *= m`, which leaves `c` as it was" in notes
    )
    nn.Conv1d(1, 1, 1, device="meta")(torch.ones(1, 1, 4))
    nn.Embedding(4, 2, device="meta")(torch.tensor([1]))
    meta(4).gather(0, torch.tensor([1]))
    assert (torch.ones(2, 2) @ meta(2, 2)).device.type == "cpu"
    without = nn.Linear(2, 3, bias=False, device="meta")
    assert without(torch.ones(1, 2)).device.type == "cpu"
    m = meta(2)
    m += torch.ones(2)
    c = torch.ones(2)
    c *= m
    assert c.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=OTHER_DEVICE):
        m + torch.ones(2)
    net = nn.Linear(2, 1, device="meta")
    with pytest.raises(RuntimeError, match=OTHER_DEVICE):
        net(torch.ones(1, 2))
    assert torch.ones(1, 2).device != net.weight.device


def test_the_stand_in_of_torch_itself_refuses_an_embedding_and_takes_numbers():
    """FakeTensor has a device of its own for each tensor, and needs no GPU; under no_grad, since a
    graph of such tensors does.
    """
    told = said("10", "q7-because")
    assert "FakeTensor, torch 2.13's own stand-in for a GPU, refuses the embedding" in told
    notes = said("10", "q7-notes")
    assert "in `nn.Embedding`, `gather` and `index_select` FakeTensor refuses it" in notes
    words = "found at least two devices"
    with torch.no_grad(), FakeTensorMode():
        there, left = torch.ones(2, device="cuda"), torch.ones(2)
        assert (torch.tensor(3.0) * there).device.type == "cuda"
        layer = nn.Embedding(2, 3, device="cuda")
        assert layer(torch.tensor([0, 1], device="cuda")).device.type == "cuda"
        for refused in (
            lambda: layer(torch.tensor([0, 1])),
            lambda: there.gather(0, torch.tensor([1])),
            lambda: there.index_select(0, torch.tensor([1])),
            lambda: left + there,
            lambda: there.add_(left),
        ):
            with pytest.raises(Exception, match=words):
                refused()


def test_the_numbers_of_the_try_cell_are_64_gib_and_take_no_memory():
    assert "2**17 times 2**17 numbers: 64 GiB, and no memory is taken" in said("10", "gpu-try")
    assert torch.empty(2**17, 2**17, device="meta").nbytes == 64 * 2**30


# 6: what a graph holds


def saved_by(forward, *size, device="cpu"):
    """Return what the hook of the lesson is called with."""
    saved = []
    x = torch.ones(*size, device=device, requires_grad=True)
    with saved_tensors_hooks(lambda one: saved.append(one) or one, lambda one: one):
        forward(x)
    return saved


def counted_and_held(forward):
    """Return the bytes that the hook counts, and those of the different memories behind them."""
    saved = saved_by(forward, 1024, 1024)
    storages = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in saved}
    return sum(one.nbytes for one in saved), sum(storages.values())


def test_each_sine_saves_its_input_and_a_sum_nothing():
    assert "Each sine saves its input, 4 MiB; the sum saves nothing" in said("10", "gpu-41")
    assert "It saves outputs: three as well" in said("10", "gpu-43")
    assert saved_by(lambda x: x.sum(), 4) == []
    assert saved_by(lambda x: (x + 1 + 1).sum(), 4) == []
    assert len(saved_by(lambda x: x.sin().sin().sin().sum(), 4)) == 3
    assert len(saved_by(lambda x: x.exp().exp().exp().sum(), 4)) == 3


def test_the_count_is_no_bound_neither_way():
    told = said("10", "gpu-43")
    assert "the hook counts too much" in told
    assert (
        "4 KiB of a view are counted, and the 4 MiB behind it are held. So the count is no bound, neither way"
        in told
    )
    counted, held = counted_and_held(lambda x: x.sin().relu().sin().sum())
    assert counted > held
    assert counted_and_held(lambda x: (x * 2)[:1].sin().sum()) == (4 * 2**10, 4 * 2**20)


def test_a_dry_run_estimates_only_where_the_kernels_agree():
    told = said("10", "gpu-41")
    assert "as long as both devices take the same kernels" in told
    assert "on meta `scaled_dot_product_attention` saves other tensors than on the CPU" in told
    notes = said("10", "gpu-43")
    assert (
        "(On meta more bytes than on the CPU for a long sequence, fewer for a short one.)" in notes
    )

    def counted(places, device):
        saved = saved_by(
            lambda q: F.scaled_dot_product_attention(q, q, q), 1, 2, places, 64, device=device
        )
        return sum(one.nbytes for one in saved)

    assert counted(64, "meta") > counted(64, "cpu"), "meta takes the plain kernel, the CPU another"
    assert counted(512, "meta") > 4 * counted(512, "cpu")
    assert counted(16, "meta") < counted(16, "cpu")


def test_a_mask_of_dropout_is_of_floats_on_meta():
    told = said("10", "gpu-43")
    assert "A mask of floats, as on the CPU" in told
    for device in ("cpu", "meta"):
        (mask,) = saved_by(F.dropout, 4, device=device)
        assert mask.dtype == torch.float32


def test_what_10_e_is_to_show_is_what_the_cpu_counts():
    said_of_e = _promised("10.e")
    x = torch.ones(1024, 1024, requires_grad=True)
    there, back = bytes_in_use(lambda: x.sin().sin().sin().sum())
    assert (there[-1] // 2**20, back[-1] // 2**20) == said_of_e


def test_what_10_b_is_to_show_of_leaves_holds_for_another_dtype():
    first, _, third, _ = _promised("10.b")
    made = torch.ones(2, requires_grad=True)
    assert made.to(torch.float64).is_leaf == first
    assert nn.Linear(2, 1).to(torch.float64).weight.is_leaf == third


def _promised(key):
    """Return the values that documentation promises, devices as their types."""
    tree = ast.parse(gpu.documented()[key]["text"].strip(), mode="eval")
    values = [
        one.value if isinstance(one, ast.Constant) else one.keywords[0].value.value
        for one in tree.body.elts
    ]
    return tuple(values)


def test_twenty_products_are_queued_by_10_d():
    assert "# twenty products" in said("10", "gpu-37")
    calls = []

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            calls.append(function.overloadpacket)
            return function(*args, **(kwargs or {}))

    with Count():
        torch.linalg.matrix_power(torch.ones(2, 2), 2**20)
    products = [one for one in calls if one in (torch.ops.aten.mm, torch.ops.aten.bmm)]
    assert len(products) == 20, calls
