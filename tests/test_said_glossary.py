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
        "one for each input that its backward formula can differentiate; none for an index or the"
        " mask of `where`" in term("`next_functions`")
    )
    table, x = torch.ones(4, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    index, mask = torch.tensor([0, 2]), torch.tensor([True, False, True])
    for result in (
        F.embedding(index, table),
        x[index],
        x[mask],
        x.gather(0, index),
        x.masked_fill(mask, 0.0),
    ):
        assert nodes(result) == [LEAF]
    assert nodes(F.nll_loss(table, torch.zeros(4, dtype=torch.long))) == [LEAF]
    assert nodes(torch.where(mask, x, x * 2)) == [LEAF, "MulBackward0"], "three went in"
    assert nodes(x * mask) == [LEAF, None], "a mask that is multiplied has a place"


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
    assert "but not, for example, those through `.data`, NumPy or a fused optimizer" in term(
        "version counter"
    )
    w = torch.tensor([2.0], requires_grad=True)
    w.data.add_(2)
    w.detach().numpy()[:] -= 1
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
    text = " ".join(capsys.readouterr().out.split())
    assert "and sees no GPU: there is none, or it is hidden from this process" in text


def test_a_path_ends_at_a_leaf_in_the_node_that_holds_it():
    assert "it holds that leaf and adds what arrives to its `.grad`" in term("`AccumulateGrad`")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    ((node, _), _) = (x * 3).grad_fn.next_functions
    assert type(node).__name__ == LEAF
    assert node.variable is x
    node(torch.ones(2))
    node(torch.ones(2))
    assert x.grad.tolist() == [2.0, 2.0]


def test_gradients_of_paths_are_added_on_the_way_and_those_of_calls_in_grad():
    text = (
        "within one call those that come over several paths, and in `.grad` those of several calls"
    )
    assert text in term("accumulation")
    x, arrived = torch.tensor(3.0, requires_grad=True), []
    x.register_hook(lambda grad: arrived.append(grad.item()))
    for _ in range(2):
        (x * 2 + x * 5).backward()
    assert arrived == [7.0, 7.0]
    assert x.grad.item() == 14.0


def test_backward_adds_to_leaves_that_require_grad_and_to_no_others():
    text = term("`backward()`")
    assert "to the leaves that require grad, or to what `inputs=` names, and adds to" in text
    x, c = torch.tensor(3.0, requires_grad=True), torch.tensor(2.0)
    for _ in range(2):
        (x * c).backward()
    assert (x.grad.item(), c.grad, c.is_leaf) == (4.0, None, True)


def test_a_recorded_edit_of_a_view_and_no_other_makes_copy_slices():
    assert "a recorded in-place edit of a view" in term("`CopySlices`")
    y = torch.ones(3, requires_grad=True) * 2
    with torch.no_grad():
        y[0] = 5.0
    assert type(y.grad_fn).__name__ == "MulBackward0"
    y[0] = 5.0
    assert type(y.grad_fn).__name__ == "CopySlices"


def test_a_grad_fn_is_of_the_operation_and_a_leaf_has_none():
    text = term("`grad_fn`")
    assert "made a tensor or, but for views, wrote into it last; `None` for a leaf" in text
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert type(y.grad_fn).__name__ == "MulBackward0"
    y += 1
    assert type(y.grad_fn).__name__ == "AddBackward0"
    view = y[:1]
    assert type(view.grad_fn).__name__ == "SliceBackward0"
    for edited in (y, view):
        edited += 1
        assert type(view.grad_fn).__name__ == "AsStridedBackward0"
    assert all(leaf.grad_fn is None and leaf.is_leaf for leaf in (x, x.detach(), torch.ones(1)))


def test_a_result_without_a_gradient_is_a_leaf_and_lacks_the_flag():
    assert "a floating-point result of a recorded operation has it too" in term("`requires_grad`")
    assert "or one gave it as a result without a gradient, such as an index" in term("leaf")
    assert "such as floating-point results of recorded operations" in term("non-leaf")
    result = (torch.ones(2, requires_grad=True) * 1).max(0)
    assert type(result.values.grad_fn).__name__ == "MaxBackward0"
    assert (result.values.requires_grad, result.values.is_leaf) == (True, False)
    assert (result.indices.requires_grad, result.indices.is_leaf) == (False, True)
    assert result.indices.grad_fn is None


def test_on_the_meta_device_too_a_leaf_becomes_a_non_leaf_where_the_move_is_recorded():
    assert "recorded `.to('meta')` of a leaf that requires grad gives a non-leaf" in term(
        "meta device"
    )
    assert torch.ones(2).to("meta").is_leaf
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert x.to("meta").is_leaf
    moved = x.to("meta")
    assert (x.is_leaf, moved.is_leaf, moved.shape) == (True, False, x.shape)
    with pytest.raises(NotImplementedError, match="no data"):
        moved.detach().to("cpu")


def test_nodes_have_one_class_and_tensors_are_not_of_it():
    assert "`torch.autograd.graph.Node`; tensors are not nodes" in term("`Node`")
    x = torch.ones(2, requires_grad=True)
    y = (x * 3).sum()
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert isinstance(y.grad_fn.next_functions[0][0], torch.autograd.graph.Node)
    assert not isinstance(y, torch.autograd.graph.Node)


def test_a_non_leaf_gets_a_gradient_if_it_retains_it_or_is_asked_for():
    assert "unless it retains its gradient or is one of `inputs=`" in term("non-leaf")
    x = torch.tensor(2.0, requires_grad=True)
    plain, retains, asked = x * 3, x * 3, x * 3
    retains.retain_grad()
    (plain * retains).backward()
    asked.square().backward(inputs=[asked])
    assert plain.grad_fn.next_functions[0][0].variable is x
    assert (retains.grad.item(), asked.grad.item()) == (6.0, 12.0)
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert plain.grad is None


def test_only_a_recorded_operation_hands_the_flag_on():
    assert "result of a recorded operation has it too" in term("`requires_grad`")
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    assert (x * 2).requires_grad
    with torch.no_grad():
        assert not (x * 2).requires_grad
    assert not (x > 2).requires_grad


def test_a_tensor_has_a_backward_function_where_an_operation_was_recorded():
    assert "where an operation was recorded, the backward function of it" in term("tensor")
    ones = torch.ones(2)
    assert (ones * 2).grad_fn is None
    assert (ones.requires_grad_() * 2).grad_fn is not None


def test_a_step_uses_up_saved_tensors_and_leaves_nodes():
    assert "backward uses up its saved tensors" in term("training step")
    assert "let go; nodes and edges stay" in term("freed")
    w = torch.tensor(2.0, requires_grad=True)
    loss = w.exp()
    node = loss.grad_fn
    loss.backward()
    assert nodes(loss) == [LEAF]
    with pytest.raises(RuntimeError, match="already been freed"):
        _ = node._saved_result


def test_variable_returns_a_plain_tensor_cut_off_from_its_graph():
    assert "returns a plain tensor, cut off from its graph" in term("`Variable`")
    y = torch.tensor(2.0, requires_grad=True) * 3
    wrapped = torch.autograd.Variable(y)
    assert type(wrapped) is torch.Tensor
    assert (wrapped.grad_fn, wrapped.requires_grad, y.requires_grad) == (None, False, True)


def test_zero_grad_leaves_none_by_default_and_zeros_where_asked():
    assert "by default `.grad` is `None` after it" in term("`zero_grad()`")
    layer = torch.nn.Linear(1, 1, bias=False)
    for options, left in (({}, None), ({"set_to_none": False}, 0.0)):
        layer(torch.ones(1, 1)).sum().backward()
        layer.zero_grad(**options)
        assert (layer.weight.grad if left is None else layer.weight.grad.item()) == left


def test_gradients_have_shapes_of_what_they_are_for():
    assert "it has the shape of that tensor" in term("gradient")
    assert "it has the shape of the output" in term("`gradient=v`")
    x = torch.ones(2, 3, requires_grad=True)
    y = x.sum(dim=1)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        y.backward(torch.ones(3))
    y.backward(torch.ones(2))
    assert x.grad.shape == x.shape


def test_a_vector_jacobian_product_is_a_combination_of_the_rows():
    assert "backward() gives one combination of its rows" in term("Jacobian")
    assert "the gradient that arrives, times the table of its derivatives" in term(
        "vector-Jacobian product"
    )
    x, v = torch.tensor([2.0, 3.0], requires_grad=True), torch.tensor([5.0, 7.0, 1.0])

    def outputs(x):
        return torch.stack([x[0] * x[1], x[0] ** 2, x[1] * 4])

    table = torch.autograd.functional.jacobian(outputs, x.detach())
    assert table.shape == (3, 2)
    outputs(x).backward(v)
    assert x.grad.tolist() == (v @ table).tolist()


def test_a_leaf_has_no_grad_fn_and_detach_shares_memory_and_counter():
    assert "without a `grad_fn`" in term("leaf")
    assert "True where a tensor has no `grad_fn`" in term("`is_leaf`")
    assert "on the same memory, with the same version counter and without a graph" in term(
        "`detach()`"
    )
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 3
    cut = y.detach()
    assert [(t.is_leaf, t.grad_fn is None) for t in (x, y, cut)] == [
        (True, True),
        (False, False),
        (True, True),
    ]
    cut[0] = 1.0
    assert (y[0].item(), y._version, cut._version) == (1.0, 1, 1)


def test_an_edge_names_a_node_and_which_of_its_results_went_in():
    assert "from a result back to one of its inputs" in term("edge")
    assert "which of the results of that node went in" in term("`input_nr`")
    x = torch.ones(2, 3, requires_grad=True) * 2
    _, second = x.unbind()
    ((node, input_nr),) = (second * 2).grad_fn.next_functions[:1]
    assert (type(node).__name__, input_nr) == ("UnbindBackward0", 1)


def test_the_graph_is_what_ran():
    assert "the next call builds another one" in term("define-by-run")

    def run(x):
        return x * 2 if x > 0 else x + 1

    ran = [run(torch.tensor(at, requires_grad=True)).grad_fn for at in (1.0, -1.0, 1.0)]
    assert [type(node).__name__ for node in ran] == ["MulBackward0", "AddBackward0", "MulBackward0"]
    assert ran[0] is not ran[2]


def test_create_graph_lets_a_gradient_be_differentiated_and_retain_graph_does_not():
    assert "so that a gradient can be differentiated once more" in term("`create_graph`")
    assert "for another backward() over the same values" in term("`retain_graph`")
    x = torch.tensor(3.0, requires_grad=True)
    y = x**3
    (kept,) = torch.autograd.grad(y, x, retain_graph=True)
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (kept.requires_grad, first.item(), second.item()) == (False, 27.0, 18.0)


def test_an_edit_of_a_view_shows_in_both():
    assert "or of a part of it; an edit of what they share shows in both" in term("view")
    base = torch.zeros(3)
    view = base[1:]
    view[0], base[2] = 5.0, 7.0
    base[0] = 1.0
    assert (base.tolist(), view.tolist()) == ([1.0, 5.0, 7.0], [5.0, 7.0])


def test_backward_compares_versions_of_saved_tensors_and_of_no_others():
    assert "backward compares it with the count at saving" in term("version counter")
    text = means("The gradient is wrong after an edit, and no error came")
    assert "or the version counter did not count it, or nothing compared the versions" in text
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    saved = (x**2).sum()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        kept = (x**2).sum()
    x.detach().add_(1)
    with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
        saved.backward()
    kept.backward()
    assert (x.grad.tolist(), x._version) == ([6.0, 8.0], 1)


def test_an_edit_that_backward_does_not_need_breaks_nothing():
    text = means("An in-place edit of a tensor in the graph raises nothing")
    assert "where backward needs what was edited, and here it does not" in text
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    y += 1
    y.sum().backward()
    assert x.grad.tolist() == [3.0]


def test_a_leaf_is_edited_through_its_views_too():
    text = means("a view of a leaf Variable that requires grad")
    assert "on the leaf's memory: to write into it is to edit the leaf" in text
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        w[0] = 5.0
    with torch.no_grad():
        w[0] = 5.0
    assert w.tolist() == [5.0, 3.0]


def test_one_of_several_views_may_be_edited_where_nothing_is_recorded():
    text = means("is a view and is being modified inplace")
    assert "a recorded edit of one of them is refused" in text
    plain = torch.ones(2, 1)
    plain.unbind()[0].mul_(2)
    assert plain.tolist() == [[2.0], [1.0]], "nothing is recorded here"
    x = torch.ones(2, 1, requires_grad=True) * 5
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        x.unbind()[0].add_(1)
    with torch.no_grad():
        x.unbind()[0].add_(1)
    assert x.tolist() == [[6.0], [5.0]]


def causes(message):
    """Return what is said of the causes of a symptom and what to try, as one text."""
    symptom = next(one for one in book().symptoms if message in one.message)
    return " ".join(f"{cause.what}. {cause.remedy}." for cause in symptom.causes)


@pytest.mark.parametrize("is_leaf", [True, False])
def test_rows_are_edited_by_number_and_those_of_a_leaf_under_no_grad(is_leaf):
    text = causes("is a view and is being modified inplace")
    assert "for i in range(len(x)): x[i] += 1, on a leaf under torch.no_grad()" in text
    x = torch.ones(2, 1, requires_grad=True)
    if is_leaf:
        with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
            x[0] += 1
    else:
        x = x * 1
    with torch.set_grad_enabled(not is_leaf):
        for i in range(len(x)):
            x[i] += 1
    assert (x.tolist(), x.is_leaf) == ([[2.0], [2.0]], is_leaf)


@pytest.mark.parametrize("is_on", [True, False])
def test_after_an_edit_of_what_rows_share_nothing_more_is_recorded_with_them(is_on):
    text = means("is a view and its base or another view of its base")
    assert "after an edit of what they share torch records nothing more with them" in text
    x = torch.ones(2, 1, requires_grad=True) * 5
    rows = list(x)
    with torch.set_grad_enabled(is_on):
        x[0] = 1.0
    for one in (torch.sum, torch.clone, torch.exp):
        with pytest.raises(RuntimeError, match="its base or another view of its base"):
            one(rows[1])
    with torch.no_grad():
        assert rows[1].clone().item() == 5.0


def test_a_saved_tensor_is_read_whether_it_is_needed_or_not():
    assert "On its way backward() reads a saved tensor, which has been edited in place" in means(
        "has been modified by an inplace operation"
    )
    a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    y = a * b
    a.detach().add_(1)
    with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
        torch.autograd.grad(y, a)  # it is b


def test_the_message_names_a_recorded_edit_or_the_maker_and_a_weight_by_its_view():
    text = causes("has been modified by an inplace operation")
    assert "names a recorded edit, or else what made the tensor, not the operation" in text
    assert "the weight of nn.Linear goes by AsStrided in the message" in text
    w = torch.ones(1, requires_grad=True)
    for is_recorded, name in ((True, "Add"), (False, "Mul")):
        x = w * 2
        y = x**2
        with torch.set_grad_enabled(is_recorded):
            x += 1
        with pytest.raises(RuntimeError, match=f"output 0 of {name}, is at"):
            y.backward()
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    loss = model(torch.ones(4, 2)).sum()
    loss.backward(retain_graph=True)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    with pytest.raises(RuntimeError, match="output 0 of AsStrided, is at version"):
        loss.backward()


def test_an_edit_off_the_record_is_noticed_where_a_node_saved_the_tensor():
    text = causes("The gradient is wrong after an edit, and no error came")
    assert "or through detach(): both are noticed, where a node saved the tensor" in text
    assert "under no_grad(), or through detach() or .data: the graph knows nothing" in text
    x = torch.ones(1, requires_grad=True)

    def under_no_grad(y):
        with torch.no_grad():
            y *= 5

    for edit, is_noticed in (
        (under_no_grad, True),
        (lambda y: y.detach().mul_(5), True),
        (lambda y: y.data.mul_(5), False),
    ):
        y = x * 2
        edit(y)
        assert (y.item(), torch.autograd.grad(y, x)[0].item()) == (10.0, 2.0)
        y = x * 2
        z = y**2
        edit(y)
        if is_noticed:
            with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
                z.backward()
        else:
            assert torch.autograd.grad(z, x)[0].item() != 8.0
    y = x * 2
    y = y * 5
    assert torch.autograd.grad(y, x)[0].item() == 10.0


def test_numpy_ticks_no_counter_and_neither_does_batch_norm():
    text = causes("The gradient is wrong after an edit, and no error came")
    assert "or through NumPy, which ticks none" in text
    assert "that edits its running statistics, uncounted" in text
    x = torch.ones(1, requires_grad=True)
    y = x**2
    x.detach().numpy()[:] += 1
    assert (x.item(), x._version, torch.autograd.grad(y, x)[0].item()) == (2.0, 0, 4.0)
    norm = torch.nn.BatchNorm1d(1)
    before = norm.running_var._version, norm.running_var.item()
    norm(torch.tensor([[2.0], [5.0]]))
    assert norm.running_var._version == before[0]
    assert norm.running_var.item() != before[1]


def test_the_product_with_a_number_saves_no_tensor_of_yours_and_with_a_tensor_it_does():
    text = causes("An in-place edit of a tensor in the graph raises nothing")
    assert "the product with a number saves no tensor of yours" in text
    for factor in (3, torch.tensor([3.0])):
        x = torch.ones(1, requires_grad=True) * 1
        y = x * factor
        x += 1
        y.backward()
        if isinstance(factor, torch.Tensor):
            y = x * factor
            factor += 1
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.backward()


def test_a_sum_with_a_constant_saves_nothing_and_a_product_does():
    text = causes("A second backward() runs without an error")
    assert "sums, and adding a constant, save no tensor" in text
    x = torch.ones(2, requires_grad=True)
    for add in (x + x, x + torch.ones(2), x - 3):
        loss = add.sum()
        loss.backward()
        loss.backward()
    loss = (x * 2).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


def test_where_no_path_leads_to_a_weight_grad_raises():
    text = causes("A weight does not learn, and its .grad stays None")
    assert "torch.autograd.grad(loss, w) in place of backward(): it raises" in text
    assert "or no path leads from the loss to this weight" in means("A weight does not learn")
    w, v = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    for loss in (v * 2, w.detach() * v):
        with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
            torch.autograd.grad(loss, w)


def test_a_misspelt_keyword_gets_another_message_from_the_factories_of_numbers(capsys):
    for make in (torch.randn, torch.rand, torch.arange):
        with pytest.raises(TypeError, match=r"got \(int, required_grad=bool\)") as found:
            make(3, required_grad=True)
        diagnose(found.value)
        assert "The name has an s" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "subtract",
    [lambda w: w.grad * 0.5, lambda w: w - w.grad, lambda w: w.grad * w, lambda w: 0.5 * w.grad],
)
def test_every_order_of_a_missing_gradient_leads_to_one_entry(subtract, capsys):
    with pytest.raises(TypeError, match="NoneType") as found:
        subtract(torch.ones(1, requires_grad=True))
    diagnose(found.value)
    assert "Something is None here" in " ".join(capsys.readouterr().out.split())


def test_retain_grad_is_refused_under_no_grad_too():
    assert "and none of those under no_grad()" in causes("can't retain_grad on Tensor")
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        y = x * 2
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        y.retain_grad()


def test_an_optimizer_reads_no_gradient_of_a_computed_tensor_unless_it_retains_one():
    text = means("can't optimize a non-leaf Tensor")
    assert "leaves none in a computed tensor, unless it retains its gradient" in text
    w = torch.ones(1, requires_grad=True) * 2
    w.retain_grad()
    w.backward()
    assert w.grad.item() == 1.0
    torch.optim.SGD([w], lr=0.5).step()
    assert w.item() == 1.5
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([w * 2])


def test_an_in_place_operation_mostly_changes_numbers():
    assert "changes the tensor it is given, mostly its numbers" in term("in-place operation")
    x = torch.ones(2)
    assert x.add_(1) is x
    assert x.unsqueeze_(0) is x
    assert (x.tolist(), x._version) == ([[2.0, 2.0]], 2)


def test_an_optimizer_updates_in_place_and_outside_the_graph():
    assert "updates weights in place from their `.grad`, outside the graph" in term("optimizer")
    w = torch.tensor([2.0], requires_grad=True)
    place = w.data_ptr()
    (w * 3).sum().backward()
    torch.optim.SGD([w], lr=0.5).step()
    assert (w.item(), w.data_ptr() == place, w.grad_fn) == (0.5, True, None)


def test_a_parameter_requires_grad_unless_it_is_frozen():
    assert "it requires grad unless it is frozen" in term("parameter")
    layer = torch.nn.Linear(2, 1)
    assert all(one.requires_grad for one in layer.parameters())
    layer.requires_grad_(False)
    assert not any(one.requires_grad for one in layer.parameters())
    assert len(list(layer.parameters())) == 2


def test_grad_mode_is_asked_by_operations():
    assert "that operations ask before they record" in term("grad mode")
    x = torch.ones(2, requires_grad=True)
    for is_on in (True, False):
        with torch.set_grad_enabled(is_on):
            assert (torch.is_grad_enabled(), (x * 2).requires_grad) == (is_on, is_on)
