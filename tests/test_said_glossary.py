"""What the glossary and the symptom index say, run in plain torch. See tests/said.py."""

import pytest
import torch
from torch.nn import functional as F

from helpers import diagnose
from helpers.clinic.catalogue import book


def term(name):
    return next(one.says for one in book().terms if one.name == name)


def means(message):
    return next(one.means for one in book().symptoms if message in one.message)


def nodes(result):
    """Name what `next_functions` leads to; None for a constant."""
    return [node and type(node).__name__ for node, _ in result.grad_fn.next_functions]


LEAF = "AccumulateGrad"


def test_next_functions_has_no_entry_for_an_index_or_a_mask():
    assert (
        "one for each input that its backward formula can differentiate; none for an index or a mask"
        in term("`next_functions`")
    )
    table, x = torch.ones(4, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    index, mask = torch.tensor([0, 2]), torch.tensor([True, False, True])
    for result in (
        F.embedding(index, table),
        x[index],
        x.gather(0, index),
        x.masked_fill(mask, 0.0),
    ):
        assert nodes(result) == [LEAF]
    assert nodes(F.nll_loss(table, torch.zeros(4, dtype=torch.long))) == [LEAF]
    assert nodes(torch.where(mask, x, x * 2)) == [LEAF, "MulBackward0"], "three went in"


def test_a_constant_holds_a_place_only_where_the_formula_could_use_it():
    assert "its place in `next_functions`, if it has one, holds `(None, 0)`" in term("constant")
    x = torch.ones(3, requires_grad=True)
    assert nodes(x * torch.ones(3)) == nodes(5 * x) == nodes(5 + x) == [LEAF, None]
    assert (5 * x).grad_fn.next_functions[1] == (None, 0)
    assert len(x[torch.tensor([0])].grad_fn.next_functions) == 1, (
        "an index is a constant without a place"
    )


def test_no_grad_is_switched_off_by_enable_grad_inside():
    assert "until an `enable_grad()` inside; it changes no flag of a tensor" in term("`no_grad()`")
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        assert x.requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad


def test_inference_mode_takes_the_counter_of_new_memory_only():
    for text in (term("`inference_mode()`"), means("Inference tensors cannot be saved")):
        assert "in memory of its own, has no version counter, so no node may save it" in text
    w, plain = torch.ones(2, requires_grad=True), torch.ones(2)
    with torch.inference_mode():
        made, view = plain + 1, plain[:1]
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = made._version
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        w * made
    assert view._version == 0
    assert (w[:1] * view).requires_grad


def test_retain_grad_asks_every_later_backward_and_adds():
    assert "every later backward() to add the gradient that passes through a non-leaf" in term(
        "`retain_grad()`"
    )
    x = torch.tensor(2.0, requires_grad=True)
    t = x * 3
    t.retain_grad()
    y = t * t
    y.backward(retain_graph=True)
    y.backward()
    assert t.grad.item() == 2 * 12.0


def test_a_saved_tensor_may_be_neither_input_nor_result():
    assert "mostly an input or the result, sometimes indices or statistics" in term("saved tensor")
    x = torch.tensor([[1.0, 5.0], [3.0, 2.0]], requires_grad=True)
    assert x.max(dim=0).values.grad_fn._saved_indices.tolist() == [1, 0]
    normed = F.layer_norm(x, (2,))
    assert normed.grad_fn._saved_result1.flatten().tolist() == [3.0, 2.5], "the means"


def test_most_operations_and_not_all_need_one_device():
    assert "most operations need their inputs on one device" in term("device")
    on_cpu, on_meta = torch.ones(2), torch.ones(2, device="meta")
    with pytest.raises(RuntimeError, match="not on the expected device"):
        on_cpu + on_meta
    assert on_meta.copy_(on_cpu).device == on_meta[torch.tensor([0])].device == on_meta.device


def test_the_operation_that_complains_of_two_devices_moves_none_and_others_move_one():
    assert "this one moves none of them" in means("is not on the expected device")
    on_cpu, on_meta = torch.ones(2), torch.ones(2, device="meta")
    with pytest.raises(RuntimeError, match="not on the expected device"):
        on_cpu * on_meta
    assert (on_cpu.device.type, on_meta.device.type) == ("cpu", "meta")
    for moved in (
        on_meta.copy_(on_cpu),
        on_meta * torch.tensor(2.0),  # a number, with no dimension
        on_meta[torch.tensor([0, 1])],
    ):
        assert moved.device.type == "meta"


def test_the_counter_misses_data_and_fused_steps():
    assert "though not through `.data` or by a fused optimizer" in term("version counter")
    w = torch.tensor([2.0], requires_grad=True)
    w.data.add_(1)
    w.grad = torch.ones(1)
    torch.optim.SGD([w], lr=0.5, fused=True).step()
    assert (w.item(), w._version) == (2.5, 0)
    torch.optim.SGD([w], lr=0.5).step()
    assert (w.item(), w._version) == (2.0, 1)


def test_the_cut_stands_after_the_first_tensor_that_requires_grad():
    text = means("does not require grad and does not have a grad_fn")
    assert "until one has requires_grad True: the step that follows it cut the graph off" in text
    assert "If none has it, nothing asked for a gradient" in text
    w = torch.tensor([2.0], requires_grad=True)
    h = w * 2
    p = h.detach()
    loss = (p + torch.zeros(1)).sum()
    way_back = [loss, p, h, w]  # each was computed from the next
    first = next(at for at, one in enumerate(way_back) if one.requires_grad)
    assert way_back[first] is h, "the step that follows h is detach(), which made p"
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        loss.backward()


def test_a_gradient_is_none_again_after_zero_grad():
    assert "or none since zero_grad()" in means("has no attribute 'zero_'")
    assert "or zero_grad() took the gradient away" in means("'float' and 'NoneType'")
    layer = torch.nn.Linear(1, 1)
    layer(torch.ones(1, 1)).sum().backward()
    layer.zero_grad()
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'zero_'"):
        layer.weight.grad.zero_()
    with pytest.raises(TypeError, match="'float' and 'NoneType'"):
        0.5 * layer.weight.grad


def test_diagnose_knows_what_a_cuda_build_says_where_there_is_no_gpu(capsys):
    diagnose("RuntimeError: No CUDA GPUs are available")
    assert "finds no driver or no device" in " ".join(capsys.readouterr().out.split())
