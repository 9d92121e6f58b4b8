"""What lesson 10 claims beyond its own cells, run in torch; meta stands for the GPU, as in the lesson.

What only a GPU can show is in tests/test_gpu.py.
"""

import inspect
import mmap
from pathlib import Path

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F

from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons

MEETS = "is not on the expected device"
NO_COPY = "Cannot copy out of meta tensor; no data"


def meta(*size):
    return torch.ones(size, device="meta")


def refused(words, call, kind=RuntimeError):
    """Tell whether a call raises an error with these words, and no other one."""
    try:
        call()
    except kind as error:
        return words in str(error)
    return False


def trained(device, moved=False, given=None):
    """Run the case with a model on a device; return the model and its last loss."""
    points, moon = moons()
    model = given or nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    model = model.to(device)
    if moved:
        points, moon = points.to(device), moon.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.BCEWithLogitsLoss()(model(points), moon)
        loss.backward()
        optimizer.step()
    return model, loss


# The case


def test_it_stops_in_the_first_step_and_ends_when_the_data_are_moved():
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    assert refused(MEETS, lambda: trained("meta", given=model))
    assert all(weight.grad is None for weight in model.parameters())
    for device in ("meta", "cpu"):
        model, loss = trained(device, moved=True)
        assert loss.device.type == device
        assert all(weight.grad.device.type == device for weight in model.parameters())


def test_meta_keeps_shapes_dtypes_devices_and_bytes():
    x = torch.ones(3, 4, dtype=torch.float64, device="meta", requires_grad=True)
    assert ((x * 2).shape, x.dtype, x.nbytes) == ((3, 4), torch.float64, 96)
    assert (x * 2).grad_fn is not None
    assert torch.empty(2**17, 2**17, device="meta").nbytes == 64 * 2**30, "and takes no memory"


# Idea 1


def test_new_tensors_go_where_one_says_and_else_to_the_cpu():
    array = torch.ones(2).numpy()
    assert torch.get_default_device() == torch.device("cpu")
    with torch.device("meta"):
        assert torch.zeros(2).is_meta
        here = torch.ones(2, device="cpu"), torch.Tensor(2), torch.from_numpy(array)
        assert all((one + 1).device.type == "cpu" for one in here)
    assert (meta(2) + 1).is_meta


def test_a_number_of_meta_is_none():
    assert refused("cannot be called on meta tensors", meta(2).sum().item)


def test_a_tensor_has_to_be_kept_and_a_module_not():
    t, layer = torch.ones(2), nn.Linear(2, 1)
    t.to("meta"), layer.to("meta")
    assert t.device.type == "cpu"
    assert layer.weight.is_meta
    assert layer.to("meta") is layer


def test_which_one_is_expected_differs():
    c, m = torch.ones(2), meta(2)
    assert refused(f"device cpu {MEETS} meta", lambda: m + 0 - c)
    assert refused(f"device meta {MEETS} cpu", lambda: c - m)
    assert refused(f"device meta {MEETS} cpu", lambda: nn.BCEWithLogitsLoss()(m, c))
    assert m.copy_(c).is_meta, "and so the glossary says most"


def test_torchs_library_has_these_words_for_a_gpu():
    library = Path(torch.__file__).parent / "lib"
    if not (library / "libtorch_cpu.so").exists():
        pytest.skip("a library of another name")
    with (
        open(library / "libtorch_cpu.so", "rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as words,
    ):
        assert words.find(b"Expected all tensors to be on the same device, but found") >= 0


def test_in_arithmetic_a_number_of_the_cpu_counts_as_a_number():
    m, n = meta(2), torch.tensor(3.0)
    for operation in (torch.add, torch.sub, torch.mul, torch.div):
        assert operation(n, m).is_meta
        for one, other in ((m, torch.ones(2)), (torch.ones(2), meta())):
            assert refused(MEETS, lambda: operation(one, other))  # noqa: B023
    with torch.no_grad(), FakeTensorMode():
        assert (torch.tensor(3.0) * torch.ones(2, device="cuda")).device.type == "cuda"


def test_so_it_does_in_comparisons_and_where_and_a_stack_refuses_it():
    m, n = meta(2), torch.tensor(3.0)
    assert all(made.is_meta for made in (m < n, m == n, torch.where(m > 0, n, m)))
    assert refused(MEETS, lambda: torch.stack([n, m[0]]))
    n, m = n.requires_grad_(), m.requires_grad_()
    assert refused(NO_COPY, (n * m).sum().backward, NotImplementedError)


# Idea 2


def test_no_gradient_comes_back_from_meta_and_each_is_where_its_leaf_is():
    far = meta(2).requires_grad_()
    with pytest.raises(RuntimeError, match="device type 'cpu' to a tensor with device type 'meta'"):
        far.grad = torch.ones(2)
    w = torch.ones(2, requires_grad=True)
    (w.to(torch.float64) ** 2).sum().backward()
    assert w.grad.dtype == torch.float32
    for place in ("meta", torch.float64):
        moved = w.to(place)
        assert "ToCopyBackward0" in str(moved.grad_fn)
        assert (moved.is_leaf, w.is_leaf, w.dtype) == (False, True, torch.float32)
    assert w.to("cpu") is w, "if something has to move"
    assert torch.ones(2).to("meta").requires_grad_().is_leaf


def test_a_module_moves_what_it_has_registered():
    layer = nn.Linear(2, 1)
    layer.inner, layer.listed, layer.mean = nn.Linear(2, 2), [nn.Linear(2, 2)], torch.zeros(2)
    layer.register_buffer("scale", torch.ones(2))
    layer.to("meta")
    for moved in (layer.weight, layer.scale, layer.inner.weight):
        assert moved.is_meta
    for left in (layer.mean, layer.listed[0].weight):
        assert left.device.type == "cpu"
    assert "mean" not in layer.state_dict()


def test_on_meta_the_parameters_are_new_and_the_optimizer_has_the_old():
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer.to("meta")
    assert layer.weight is not optimizer.param_groups[0]["params"][0]
    docstring = " ".join(nn.Module.cuda.__doc__.split())
    assert "it should be called before constructing the optimizer" in docstring


# Idea 3


def test_whatever_comes_after_shares_the_device():
    model, loss = trained("meta", moved=True)
    assert loss.is_meta
    assert all(weight.grad.is_meta for weight in model.parameters())
    assert torch.randn_like(meta(2)).is_meta


def test_meta_forgives_what_torchs_own_stand_in_for_a_gpu_refuses():
    """FakeTensor has a device of its own for each tensor, and needs no GPU; under no_grad, since a
    graph of such tensors does.
    """
    nn.Embedding(2, 3, device="meta")(torch.tensor([0, 1])).sum().backward()
    with torch.no_grad(), FakeTensorMode():
        layer = nn.Embedding(2, 3, device="cuda")
        assert layer(torch.tensor([0, 1], device="cuda")).device.type == "cuda"
        assert refused("found at least two devices", lambda: layer(torch.tensor([0, 1])), Exception)


def test_others_show_up_only_in_backward():
    m = meta(2)
    m += torch.ones(2, requires_grad=True)
    late = "returned an invalid gradient"
    assert refused(late, m.sum().backward)
    layer = nn.Linear(2, 3, bias=False, device="meta")
    assert refused(late, layer(torch.ones(1, 2)).sum().backward)
    assert refused(MEETS, lambda: nn.Linear(2, 3, device="meta")(torch.ones(1, 2)))


def test_without_cuda_it_raises():
    start = inspect.getsource(torch.cuda._lazy_init)
    assert 'AssertionError("Torch not compiled with CUDA enabled")' in start
    if not torch.backends.cuda.is_built():
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            torch.ones(1).cuda()


def test_torch_says_that_synchronize_waits():
    waits = " ".join(torch.cuda.synchronize.__doc__.split())
    assert "Wait for all kernels in all streams on a CUDA device to complete" in waits


def test_through_data_the_dtype_changes_and_meta_is_out_of_reach():
    """On an H200 `.data = .cuda()` works, as `module.to("cuda")` does: only meta is refused."""
    t = torch.ones(2)
    t.data = t.data.to(torch.float64)
    assert t.dtype == torch.float64
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        t.data = meta(2)


def test_a_model_leaves_meta_only_empty():
    assert refused(NO_COPY, lambda: nn.Linear(2, 1, device="meta").to("cpu"), NotImplementedError)
    assert nn.Linear(2, 1, device="meta").to_empty(device="cpu").weight.device.type == "cpu"
    loss = F.mse_loss(meta(2), meta(2))
    assert refused("cannot be called on meta tensors", loss.item)


def test_the_example_of_a_batch_that_moves():
    batch = {"points": torch.ones(2, 2), "names": ["a", "b"]}
    moved = run(find("10.8").solution)(batch, "meta")
    assert str(moved) == "{'points': tensor(..., device='meta', size=(2, 2)), 'names': ['a', 'b']}"
    assert batch["points"].device.type == "cpu"
