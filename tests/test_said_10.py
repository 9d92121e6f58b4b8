"""What lesson 10 says, run in plain torch; meta stands for the GPU, as in the lesson.

What only a GPU can show is in tests/test_gpu.py. A row of SAID is a cell, words that stand in it, and a
check that fails if they are false.
"""

import inspect
import mmap
from pathlib import Path

import pytest
import torch
from said import said
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F

from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.questions import question

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


def it_stops_in_the_first_step_and_ends_when_the_data_are_moved():
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    assert refused(MEETS, lambda: trained("meta", given=model))
    assert all(weight.grad is None for weight in model.parameters())
    for device in ("meta", "cpu"):
        model, loss = trained(device, moved=True)
        assert loss.device.type == device
        assert all(weight.grad.device.type == device for weight in model.parameters())


def meta_keeps_shapes_dtypes_devices_and_bytes():
    x = torch.ones(3, 4, dtype=torch.float64, device="meta", requires_grad=True)
    assert ((x * 2).shape, x.dtype, x.nbytes) == ((3, 4), torch.float64, 96)
    assert (x * 2).grad_fn is not None
    assert torch.empty(2**17, 2**17, device="meta").nbytes == 64 * 2**30, "and takes no memory"


# Idea 1


def new_tensors_go_where_one_says_and_else_to_the_cpu():
    assert torch.get_default_device() == torch.device("cpu")
    with torch.device("meta"):
        assert torch.get_default_device() == torch.device("meta")
        assert torch.ones(2).is_meta
        assert torch.zeros(2).is_meta
        assert torch.ones(2, device="cpu").device.type == "cpu"
        assert (torch.ones(2, device="cpu") + 1).device.type == "cpu"
    assert (meta(2) + 1).is_meta


def some_ways_do_not_listen_to_the_block():
    array = torch.ones(2).numpy()
    with torch.device("meta"):
        assert torch.Tensor(2).device.type == "cpu"
        assert torch.from_numpy(array).device.type == "cpu"


def a_number_of_meta_is_none():
    assert refused("cannot be called on meta tensors", meta(2)[0].item)
    assert refused("cannot be called on meta tensors", meta(2).sum().item)


def a_tensor_has_to_be_kept_and_a_module_not():
    t, layer = torch.ones(2), nn.Linear(2, 1)
    t.to("meta"), layer.to("meta")
    assert t.device.type == "cpu"
    assert layer.weight.is_meta
    assert layer.to("meta") is layer


def which_one_is_expected_differs():
    c, m = torch.ones(2), meta(2)
    assert refused(f"device cpu {MEETS} meta", lambda: m + 0 - c)
    assert refused(f"device meta {MEETS} cpu", lambda: c - m)
    assert refused(f"device meta {MEETS} cpu", lambda: nn.BCEWithLogitsLoss()(m, c))


def torchs_library_has_these_words_for_a_gpu():
    library = Path(torch.__file__).parent / "lib"
    if not (library / "libtorch_cpu.so").exists():
        pytest.skip("a library of another name")
    with (
        open(library / "libtorch_cpu.so", "rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as words,
    ):
        assert words.find(b"Expected all tensors to be on the same device, but found") >= 0


def in_arithmetic_a_number_of_the_cpu_counts_as_a_number():
    m, n = meta(2), torch.tensor(3.0)
    for operation in (torch.add, torch.sub, torch.mul, torch.div):
        assert operation(n, m).is_meta
        assert operation(m, n).is_meta
        for one, other in ((m, torch.ones(2)), (torch.ones(2), m), (torch.ones(2), meta())):
            with pytest.raises(RuntimeError, match=MEETS):
                operation(one, other)
    with torch.no_grad(), FakeTensorMode():
        assert (torch.tensor(3.0) * torch.ones(2, device="cuda")).device.type == "cuda"


def so_it_does_in_comparisons_and_where_and_a_stack_refuses_it():
    m, n = meta(2), torch.tensor(3.0)
    assert all(made.is_meta for made in (m < n, m == n, torch.where(m > 0, n, m)))
    assert refused(MEETS, lambda: torch.stack([n, m[0]]))
    n, m = n.requires_grad_(), m.requires_grad_()
    assert refused(NO_COPY, (n * m).sum().backward, NotImplementedError)


def each_line_of_the_program_was_tried():
    told = question("10.f1").told
    assert told["cause"] == 4
    tells = told["tells"]
    assert [number for number, text in enumerate(tells, 1) if "no error comes" in text] == [1, 7]
    assert "on the expected device cpu" in tells[2]
    assert torch.zeros_like(meta(2)).is_meta


# Idea 2


def no_gradient_comes_back_from_meta_and_the_other_is_there():
    near = torch.tensor([2.0, 3.0], requires_grad=True)
    far = meta(2).requires_grad_()
    loss = near.to("meta") @ far
    assert refused(NO_COPY, loss.backward, NotImplementedError)
    assert near.grad is None
    assert far.grad.is_meta


def a_gradient_must_be_on_the_device_of_its_leaf():
    def by_hand():
        meta(2).requires_grad_().grad = torch.ones(2)

    assert refused("device type 'cpu' to a tensor with device type 'meta'", by_hand)


def a_gradient_comes_back_to_its_leaf():
    w = torch.ones(2, requires_grad=True)
    (w.to(torch.float64) ** 2).sum().backward()
    assert w.grad.dtype == torch.float32
    for place in ("meta", torch.float64):
        moved = w.to(place)
        assert "ToCopyBackward0" in str(moved.grad_fn)
        assert (moved.is_leaf, w.is_leaf, w.dtype) == (False, True, torch.float32)
    assert w.to("cpu") is w, "if something has to move"


def asked_last_it_is_a_leaf():
    assert all(
        torch.ones(2).to(place).requires_grad_().is_leaf for place in ("cpu", "meta", torch.float64)
    )


def a_module_moves_what_it_has_registered():
    layer = nn.Linear(2, 1)
    layer.inner, layer.listed, layer.mean = nn.Linear(2, 2), [nn.Linear(2, 2)], torch.zeros(2)
    layer.register_buffer("scale", torch.ones(2))
    layer.to("meta")
    for moved in (layer.weight, layer.scale, layer.inner.weight):
        assert moved.is_meta
    assert all(weight.is_leaf for weight in layer.parameters())
    for left in (layer.mean, layer.listed[0].weight):
        assert left.device.type == "cpu"
    assert list(layer.state_dict())[:3] == ["weight", "bias", "scale"]
    assert "mean" not in layer.state_dict()


def on_meta_the_parameters_are_new_and_the_optimizer_has_the_old():
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer.to("meta")
    assert layer.weight is not optimizer.param_groups[0]["params"][0]
    docstring = " ".join(nn.Module.cuda.__doc__.split())
    assert "it should be called before constructing the optimizer" in docstring


# Idea 3


def whatever_comes_after_shares_the_device():
    model, loss = trained("meta", moved=True)
    assert loss.is_meta
    assert all(weight.grad.is_meta for weight in model.parameters())


def each_order_was_run():
    told = question("10.o2").told
    assert len(told["of"]) == 325
    good = {letters for letters, nr in told["of"].items() if told["outcomes"][nr]["isGood"]}
    assert {"abcd", "eabcd"} <= good
    assert all(letters.replace("e", "") == "abcd" for letters in good)
    assert torch.randn_like(meta(2)).is_meta
    assert torch.randn(4, 2).device.type == "cpu"


def meta_forgives_what_torchs_own_stand_in_for_a_gpu_refuses():
    """FakeTensor has a device of its own for each tensor, and needs no GPU; under no_grad, since a
    graph of such tensors does.
    """
    nn.Embedding(2, 3, device="meta")(torch.tensor([0, 1])).sum().backward()
    with torch.no_grad(), FakeTensorMode():
        layer = nn.Embedding(2, 3, device="cuda")
        assert layer(torch.tensor([0, 1], device="cuda")).device.type == "cuda"
        assert refused("found at least two devices", lambda: layer(torch.tensor([0, 1])), Exception)


def others_show_up_only_in_backward():
    m = meta(2)
    m += torch.ones(2, requires_grad=True)
    late = "returned an invalid gradient"
    assert refused(late, m.sum().backward)
    for layer, data in (
        (nn.Linear(2, 3, bias=False, device="meta"), torch.ones(1, 2)),
        (nn.Conv1d(1, 1, 1, device="meta"), torch.ones(1, 1, 4)),
    ):
        assert refused(late, layer(data).sum().backward)
    assert refused(MEETS, lambda: nn.Linear(2, 3, device="meta")(torch.ones(1, 2)))


def without_cuda_it_raises():
    start = inspect.getsource(torch.cuda._lazy_init)
    assert 'AssertionError("Torch not compiled with CUDA enabled")' in start
    if not torch.backends.cuda.is_built():
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            torch.ones(1).cuda()


def torch_says_that_synchronize_waits():
    waits = " ".join(torch.cuda.synchronize.__doc__.split())
    assert "Wait for all kernels in all streams on a CUDA device to complete" in waits


# A cell or an exercise, words in it, and the check that bears them out.
SAID = [
    ("case-then", "The dry run stopped in its first step.", it_stops_in_the_first_step_and_ends_when_the_data_are_moved),
    ("10.5", "`device = next(model.parameters()).device`", it_stops_in_the_first_step_and_ends_when_the_data_are_moved),
    ("case", "a device that keeps shapes and no numbers", meta_keeps_shapes_dtypes_devices_and_bytes),
    ("case-notes", "Shapes, dtypes, devices, the graph, and how many bytes it would hold.", meta_keeps_shapes_dtypes_devices_and_bytes),
    ("gpu-05", "**A new tensor goes where you say. A result lives where its inputs live.**", new_tensors_go_where_one_says_and_else_to_the_cpu),
    ("gpu-05", "If you say nothing, it is the CPU", new_tensors_go_where_one_says_and_else_to_the_cpu),
    ("gpu-05", "`torch.Tensor(2)` and `torch.from_numpy(array)` stay on the CPU.", some_ways_do_not_listen_to_the_block),
    ("gpu-06", "What does `b[0].item()` do? (It raises: there is no number.)", a_number_of_meta_is_none),
    ("o2-notes", "`loss.item()` raises, so a log has to wait", a_number_of_meta_is_none),
    ("10.5", "On meta the loss has no number", a_number_of_meta_is_none),
    ("f1-because", "**A tensor's `.to()` returns a tensor, and you have to keep it", a_tensor_has_to_be_kept_and_a_module_not),
    ("10.4", "A tensor's `.to()` returns another tensor", a_tensor_has_to_be_kept_and_a_module_not),
    ("f1-notes", "in `moon - guess`? (The CPU.)", which_one_is_expected_differs),
    ("f1-because", "On a GPU the message is *Expected all tensors to be on the same device*", torchs_library_has_these_words_for_a_gpu),
    ("f1-notes", "(It raises: the exception is for numbers on the CPU.)", in_arithmetic_a_number_of_the_cpu_counts_as_a_number),
    ("10.1", "CPU tensors without dimensions", in_arithmetic_a_number_of_the_cpu_counts_as_a_number),
    ("f1", "Which line does not do what it was written for?", each_line_of_the_program_was_tried),
    ("e1-notes", "(No: torch refuses a gradient of another device.)", a_gradient_must_be_on_the_device_of_its_leaf),
    ("10.4", "A move before the flag is not recorded.", asked_last_it_is_a_leaf),
    ("10.4", "a recorded `.to()` gives a result, and the leaf stays behind", a_gradient_comes_back_to_its_leaf),
    ("10.4", "`.requires_grad_()` last", asked_last_it_is_a_leaf),
    ("q12-notes", "on meta, the parameters are new objects afterwards", on_meta_the_parameters_are_new_and_the_optimizer_has_the_old),
    ("o2-because", "so do the output, the loss and the gradients", whatever_comes_after_shares_the_device),
    ("o2-notes", "(It raises. It does not fall back to the CPU.)", without_cuda_it_raises),
    ("q11-because", "`torch.cuda.synchronize()` waits until it has", torch_says_that_synchronize_waits),
    ("case-then", "it should run wherever the model lives", it_stops_in_the_first_step_and_ends_when_the_data_are_moved),
    ("f1-because", "Here *expected* is the device of `guess + noise`.", which_one_is_expected_differs),
    ("f1-because", "other operations expect another tensor's device", which_one_is_expected_differs),
    ("f1-then", "In arithmetic, comparisons and `where`, such a tensor counts as a plain number.", in_arithmetic_a_number_of_the_cpu_counts_as_a_number),
    ("10.1", "a CPU tensor without dimensions counts as a plain number", in_arithmetic_a_number_of_the_cpu_counts_as_a_number),
    ("f1-then", "`torch.stack` refuses it.", so_it_does_in_comparisons_and_where_and_a_stack_refuses_it),
    ("e1-notes", "(It raises, too: the gradient of `n` is on meta.)", so_it_does_in_comparisons_and_where_and_a_stack_refuses_it),
    ("e1", "Now `loss.backward()` fills `far.grad`, and raises.", no_gradient_comes_back_from_meta_and_the_other_is_there),
    ("e1-because", "meta has no numbers to copy", no_gradient_comes_back_from_meta_and_the_other_is_there),
    ("e1-because", "it leaves a card: *ToCopy*", a_gradient_comes_back_to_its_leaf),
    ("q12-because", "**A module moves what it has registered: its parameters, its buffers and the modules in it.**", a_module_moves_what_it_has_registered),
    ("q12-because", "The layers in it stay behind, too.", a_module_moves_what_it_has_registered),
    ("q12-because", "`layer.to(\"meta\")` may stand alone in a line", a_tensor_has_to_be_kept_and_a_module_not),
    ("o2-because", "`randn_like(points)` goes where `points` is *at that moment*.", each_order_was_run),
    ("o2-because", "CPU indices for `nn.Embedding` pass without an error, and a GPU refuses them.", meta_forgives_what_torchs_own_stand_in_for_a_gpu_refuses),
    ("o2-because", "Others show up only in `backward()`.", others_show_up_only_in_backward),
    ("o2-notes", "(CPU data in a linear layer without a bias, for example.)", others_show_up_only_in_backward),
    ("gpu-50", "If a dry run on meta raises nothing, that proves little.", others_show_up_only_in_backward),
]  # fmt: skip


def told(where):
    """Return the text of a cell, or all that an exercise says."""
    if "." not in where:
        return said("10", where)
    one = find(where)
    return " ".join(
        [one.right, one.principle, *one.hints, *(idea.message for idea in one.misconceptions)]
    )


@pytest.mark.parametrize(("where", "words", "holds"), SAID)
def test_it_still_stands_there_and_torch_bears_it_out(where, words, holds):
    assert words in told(where)
    holds()


def test_through_data_the_dtype_changes_and_the_kind_of_device_does_not():
    assert "Through `.data` you can change the dtype, and not the kind of device." in told("10.4")
    t = torch.ones(2)
    t.data = t.data.to(torch.float64)
    assert t.dtype == torch.float64
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        t.data = meta(2)


def test_a_model_leaves_meta_only_empty():
    assert "there are no numbers to copy" in told("10.5")
    assert "its numbers are whatever was in memory" in told("10.5")
    assert refused(NO_COPY, lambda: nn.Linear(2, 1, device="meta").to("cpu"), NotImplementedError)
    assert nn.Linear(2, 1, device="meta").to_empty(device="cpu").weight.device.type == "cpu"
    loss = F.mse_loss(meta(2), meta(2))
    assert refused("cannot be called on meta tensors", loss.item)


def test_the_example_of_a_batch_that_moves():
    batch = {"points": torch.ones(2, 2), "names": ["a", "b"]}
    moved = run(find("10.8").solution)(batch, "meta")
    assert str(moved) == "{'points': tensor(..., device='meta', size=(2, 2)), 'names': ['a', 'b']}"
    assert str(moved) in said("10", "x8")
    assert batch["points"].device.type == "cpu"
