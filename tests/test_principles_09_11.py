"""What check asks to think of in lessons 09, 10 and 11, run in plain torch."""

import pytest
import torch

from helpers.exercises.exercise import find


def principle(name: str) -> str:
    return find(name).principle


def messages(name: str) -> str:
    return " ".join(idea.message for idea in find(name).misconceptions)


def saved(node: object) -> list[str]:
    return [name for name in dir(node) if name.startswith("_saved_")]


def test_09_1_a_counter_goes_with_the_tensor_and_memory_does_not_settle_it():
    assert "goes with the tensor and not with its name" in principle("09.1")
    assert "does not always mean a shared counter" in principle("09.1")
    a = torch.zeros(2)
    a += 1
    old, a = a, a + 1
    assert (old._version, a._version) == (1, 0)
    view, data = old[:1], old.data
    data += 1
    assert data.data_ptr() == view.data_ptr() == old.data_ptr()
    assert (old._version, view._version, data._version) == (1, 1, 1)


def test_09_3_a_recorded_edit_changes_the_gradient_and_a_leaf_takes_none():
    assert "a leaf that requires grad takes no such edit" in principle("09.3")
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="in-place operation"):
        x[x < 0] = 0.0
    recorded, unrecorded = x.clone(), x.clone()
    recorded[recorded < 0] = 0.0
    unrecorded.data[unrecorded < 0] = 0.0
    assert recorded.equal(unrecorded)
    gradients = [torch.autograd.grad(y.sum(), x)[0].tolist() for y in (recorded, unrecorded)]
    assert gradients == [[1, 0], [1, 1]]


def test_09_5_an_edit_does_harm_behind_a_layer_that_saved_its_result():
    assert "where the layer before it has saved its result" in principle("09.5")
    layers = torch.nn.Tanh(), torch.nn.Sigmoid(), torch.nn.ReLU(), torch.nn.Linear(2, 2)
    have_saved = [is_edit_refused(layer)[0] for layer in layers]
    assert have_saved == [True, True, True, False]
    assert [is_edit_refused(layer)[1] for layer in layers] == have_saved


def is_edit_refused(layer):
    """Tell whether the node of a layer saved its result, and whether an edit of it breaks backward."""
    h = layer(torch.ones(2, 2, requires_grad=True))
    has_saved = "_saved_result" in saved(h.grad_fn)
    h.relu_()
    try:
        h.sum().backward()
    except RuntimeError as error:
        return has_saved, "modified by an inplace" in str(error)
    return has_saved, False


def test_10_4_a_recorded_move_gives_a_result_and_leaves_the_leaf_where_it_was():
    assert "a recorded `.to()` gives a result, and the leaf stays behind" in principle("10.4")
    made = torch.ones(2, requires_grad=True)
    for place in ("meta", torch.float64):
        moved = made.to(place)
        assert moved.grad_fn is not None
        assert not moved.is_leaf
        assert made.is_leaf
        assert (made.device.type, made.dtype) == ("cpu", torch.float32)
    assert made.to("cpu") is made, "if something has to move"


def test_11_1_a_version_counts_every_writer_and_a_gradient_is_another_tensor():
    assert "plain SGD's among them, and `.grad` is another tensor" in principle("11.1")
    layer = torch.nn.Linear(2, 1)
    before = layer.weight._version
    layer(torch.ones(1, 2)).sum().backward()
    assert layer.weight._version == before
    assert layer.weight.grad is not layer.weight
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    with torch.no_grad():
        layer.weight.clamp_(-1, 1)
    assert layer.weight._version == before + 2


def test_11_2_a_grad_takes_what_comes_until_it_is_let_go_of():
    assert "takes what comes until somebody lets go of it" in principle("11.2")
    x = torch.ones((), requires_grad=True)
    for expected in (2, 4):
        (2 * x).backward()
        assert x.grad == expected
    x.grad = None
    (2 * x).backward()
    assert x.grad == 2


def test_11_3_clamp_makes_a_new_tensor_and_a_second_walk_no_new_prediction():
    assert "`clamp` without the `_` makes a new tensor" in messages("11.3")
    assert "Going back again computes no new prediction" in messages("11.3")
    assert "On a tensor, `*=` makes nothing new: it edits, like `mul_`" in messages("11.3")
    edited = held = torch.ones(2)
    edited *= 100
    assert edited is held
    assert held._version == 1
    layer = torch.nn.Linear(2, 1, bias=False)
    torch.nn.init.constant_(layer.weight, 3.0)
    assert layer.weight.clamp(-1, 1) is not layer.weight
    assert layer.weight.tolist() == [[3, 3]]
    pred = layer(torch.ones(1, 2))
    for _ in range(2):
        (gradient,) = torch.autograd.grad((pred**2).sum(), layer.weight, retain_graph=True)
        assert (pred.item(), gradient.tolist()) == (6, [[12, 12]])
        layer.weight.data.zero_()
