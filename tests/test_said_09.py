"""What lesson 09 says of counted and silent edits in prose, notes and recap, run in torch.

Reads the notebook and the map of its lab.
"""

import contextlib
import inspect

import pytest
import torch
from lab_answers import walk
from said import said

EDITED = "modified by an inplace operation"


def leaf():
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def forward():
    x = leaf()
    return x, (x**2).sum()


def gradient(result, x):
    return torch.autograd.grad(result.sum(), x)[0].tolist()


FUSED = [
    one
    for one in vars(torch.optim).values()
    if inspect.isclass(one) and "fused" in inspect.signature(one).parameters
]


def test_not_every_version_begins_at_0_and_inference_tensors_have_none():
    assert "Each of the four has a **version counter**, `_version`, now at 0" in said(
        "09", "ipv-03"
    )
    a = torch.tensor([1.0, 2.0, 3.0])
    assert [one._version for one in (a, a[:2], a.detach(), a.clone(), a.data)] == [0] * 5
    assert torch.nn.functional.one_hot(torch.tensor(1))._version == 2
    with torch.inference_mode():
        made = torch.ones(2)
    with pytest.raises(RuntimeError, match="do not track version counter"):
        made._version  # noqa: B018


def test_the_counter_counts_writes_and_compares_no_numbers():
    assert "counts writes into memory, and compares no numbers" in said("09", "ipv-05")
    assert "between the edits `.data` showed 2, 3, 4, and yet its counter did not move" in said(
        "09", "ipv-05"
    )
    a = torch.tensor([1.0, 2.0, 3.0])
    ways = a[:2], a.detach(), a.data, a.clone()
    a += 1
    assert (ways[2].tolist(), ways[2]._version) == ([2.0, 3.0, 4.0], 0)
    a -= 1
    assert a.tolist() == [1.0, 2.0, 3.0]
    assert [way._version for way in ways] == [2, 2, 0, 0]
    assert [way.data_ptr() == a.data_ptr() for way in ways] == [True, True, True, False]


def test_an_assignment_to_an_element_ticks_once_and_an_augmented_one_twice():
    assert "two more, for Python edits the view and then assigns it back" in said("09", "ipv-06")
    assert "The name moves to a new tensor, at 0" in said("09", "ipv-06")
    a = torch.zeros(3)
    a[0] = 1.0
    assert a._version == 1
    a[0] += 1
    assert a._version == 3
    a = a + 1
    assert a._version == 0


def test_a_trailing_underscore_mostly_ticks_and_need_not_write():
    text = said("09", "ipv-05")
    assert "Most methods that end in `_` write in place, and tick" in text
    assert "`requires_grad_()` does neither" in text
    assert "`t_` and `squeeze_` tick and write no number; `detach_` does neither" in said(
        "09", "ipv-06"
    )
    assert "Most writes into the memory" in said("09", "ipv-51")
    ticks = ticks_of_what_needs_no_argument()
    assert len(ticks) > 60
    uncounted = {name for name, count in ticks.items() if count == 0}
    assert uncounted == {"detach_", "requires_grad_", "share_memory_"}
    assert {ticks[name] for name in ticks.keys() - uncounted} == {1}
    for name in ("t_", "squeeze_", "detach_", "requires_grad_"):
        tensor = torch.tensor([1.0, 2.0])
        getattr(tensor, name)()
        assert tensor.tolist() == [1.0, 2.0], name


def ticks_of_what_needs_no_argument():
    """Return {name: version after one call} for the methods of a tensor that end in one
    underscore, but for those that refuse to run without arguments.
    """
    ticks = {}
    with torch.random.fork_rng():  # some fill a tensor with random numbers
        for name in dir(torch.Tensor):
            if not name.endswith("_") or name.endswith("__"):
                continue
            tensor = torch.ones(2)
            with contextlib.suppress(TypeError, RuntimeError):
                getattr(tensor, name)()
                ticks[name] = tensor._version
    return ticks


@pytest.mark.parametrize(
    ("operation", "breaks"),
    [
        (lambda x: x * 2, False),
        (lambda x: x**2, False),
        (torch.sin, False),
        (torch.exp, True),
        (torch.sigmoid, True),
    ],
)
def test_an_edit_of_a_result_breaks_backward_where_the_result_was_saved(operation, breaks):
    assert "the product saved the 2, the square its input, `exp` its result" in said("09", "ipv-09")
    assert "sin saves its input: yes; sigmoid its result: no" in said("09", "ipv-14")
    x = leaf()
    right = gradient(operation(x), x)
    y = operation(x)
    made = y.grad_fn
    y += 1
    assert type(y.grad_fn).__name__ == "AddBackward0", "the addition was recorded"
    assert y.grad_fn.next_functions[0][0] is made
    if breaks:
        with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
            gradient(y, x)
    else:
        assert gradient(y, x) == right


def test_a_new_tensor_leaves_the_saved_one_alone():
    assert "`y = y + 1` makes a new tensor and leaves the saved one alone" in said("09", "ipv-09")
    x = leaf()
    y = x.exp()
    y = y + 1
    assert gradient(y, x) == x.exp().tolist()


@pytest.mark.parametrize("operation", [torch.exp, torch.sigmoid, torch.tanh, torch.sqrt])
def test_a_saved_result_mostly_goes_by_its_maker(operation):
    assert "A saved *result* mostly goes by its maker" in said("09", "ipv-11")
    assert "Mostly a saved result's maker, a saved input's last recorded writer" in said(
        "09", "ipv-51"
    )
    x = leaf()
    y = operation(x)
    y += 1
    maker = operation.__name__.capitalize()
    with pytest.raises(RuntimeError, match=f"which is output 0 of {maker}, is at version 1"):
        y.sum().backward()


def test_a_result_that_was_written_into_a_view_goes_by_another_name():
    h = leaf() * 3
    view = h[:2]
    view.exp_()
    h += 1
    with pytest.raises(RuntimeError, match="which is output 0 of AsStrided"):
        h.sum().backward()


def recorded(h):
    h += 1


@torch.no_grad()
def unrecorded(h):
    h += 1


def through_detach(h):
    h.detach().add_(1)


@pytest.mark.parametrize(
    ("save", "edit", "name"),
    [
        (lambda h: h, recorded, "Add"),
        (lambda h: h, torch.Tensor.exp_, "Exp"),
        (lambda h: h, unrecorded, "Mul"),
        (lambda h: h, through_detach, "Mul"),
        (lambda h: h[:2], recorded, "AsStrided"),
        (lambda h: h[:2], unrecorded, "AsStrided"),
        (lambda h: h.T, recorded, "AsStrided"),
    ],
)
@pytest.mark.filterwarnings("ignore:The use of `x.T` on tensors of dimension")
def test_a_saved_input_goes_by_its_last_recorded_writer_and_a_view_by_another_name(
    save, edit, name
):
    text = said("09", "ipv-11")
    assert "names the saved input by its last recorded writer, not by the node" in text
    assert "after an unrecorded one it is Mul" in text
    assert "a saved slice, or the weight of `nn.Linear`, by AsStrided" in text
    h = leaf() * 3
    y = save(h) ** 2
    edit(h)
    with pytest.raises(RuntimeError, match=f"which is output 0 of {name}, is at version 1"):
        y.sum().backward()


def test_a_counted_edit_after_a_recorded_one_moves_the_version_and_not_the_name():
    text = said("09", "q3-notes")
    assert "Add, at version 2: the second edit was counted, not recorded" in text
    assert '`h.sqrt_()` in place of `h += 1`?" (Sqrt.)' in text
    h = leaf() * 3
    y = h**2
    recorded(h)
    unrecorded(h)
    with pytest.raises(RuntimeError, match="output 0 of Add, is at version 2; expected version 0"):
        y.sum().backward()
    h = leaf() * 3
    y = h**2
    h.sqrt_()
    with pytest.raises(RuntimeError, match="output 0 of Sqrt, is at version 1; expected version 0"):
        y.sum().backward()


@pytest.mark.parametrize("shape", [(4, 2), (3, 4, 2)])
def test_the_weight_of_a_linear_layer_was_saved_transposed_and_goes_by_the_name_of_a_view(shape):
    assert "a saved slice, or the weight of `nn.Linear`, by AsStrided" in said("09", "ipv-11")
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    loss = model(torch.ones(shape)).sum()
    loss.backward(retain_graph=True)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    with pytest.raises(RuntimeError, match=r"\[3, 1\]\], which is output 0 of AsStrided, is at"):
        loss.backward()


@pytest.mark.parametrize("edit", [recorded, unrecorded])
def test_a_saved_row_of_unbind_has_another_error_so_the_text_speaks_of_slices(edit):
    h = leaf() * 3
    y = next(iter(h)) ** 2
    edit(h)
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and its base"):
        y.backward()


def test_a_saved_leaf_has_no_name_in_the_message():
    assert "a saved leaf has no name" in said("09", "ipv-11")
    x, loss = forward()
    x.detach().add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[3\]\] is at version 1") as found:
        loss.backward()
    assert "output 0 of" not in str(found.value)


def test_anomaly_mode_names_the_node_in_need_and_the_message_does_not():
    assert "only a warning of anomaly mode names it: `PowBackward0`" in said("09", "ipv-11")
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        h = leaf() * 3
        y = h**2
        h += 1
        with (
            pytest.warns(UserWarning, match="Error detected in PowBackward0"),
            pytest.raises(RuntimeError, match=EDITED) as found,
        ):
            y.sum().backward()
    assert "Pow" not in str(found.value)
    h = leaf() * 3
    y = h**2
    h += 1
    with pytest.raises(RuntimeError, match="Hint: enable anomaly detection") as found:
        y.sum().backward()
    assert "Pow" not in str(found.value)


@pytest.mark.parametrize("edit", [through_detach, unrecorded])
def test_an_edit_that_is_not_recorded_is_counted_all_the_same(edit):
    assert "an edit through `detach()` or under `no_grad` is not recorded, but *counted*" in said(
        "09", "ipv-18"
    )
    x, loss = forward()
    edit(x)
    assert (x.is_leaf, x.grad_fn, x._version) == (True, None, 1)
    with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
        loss.backward()


def test_an_edit_off_the_record_of_what_no_node_saved_is_missing_from_the_graph():
    assert "2, and no error: nothing had saved `y`, and the graph lacks the 5" in said(
        "09", "ipv-21"
    )
    w = torch.ones(1, requires_grad=True)
    y = w * 2
    with torch.no_grad():
        y *= 5
    assert (y.item(), gradient(y, w)) == (10.0, [2.0])


def to_data(x):
    x.data.add_(1)


def through_numpy(x):
    x.detach().numpy()[:] += 1


@pytest.mark.parametrize("edit", [to_data, through_numpy])
def test_an_edit_that_is_not_counted_leaves_a_wrong_gradient(edit):
    assert "is not counted: no error, and a gradient of the wrong numbers" in said("09", "ipv-18")
    assert "A common belief says: no error, so the gradient is right. Not here" in said(
        "09", "ipv-18"
    )
    assert "NumPy writes into that memory, too, and ticks no counter" in said("09", "ipv-20")
    assert "Not counted: by `.data`, `.numpy()`, a fused step, …" in said("09", "ipv-51")
    x, loss = forward()
    edit(x)
    assert x._version == 0
    loss.backward()
    assert x.grad.tolist() == [4.0, 6.0, 8.0]


def test_a_copy_kept_by_the_square_would_have_given_the_right_gradients_both_times():
    assert "- (c) 2, 4, 6, and then 4, 6, 8" in said("09", "ipv-15")
    assert "(c) These would be the right gradients" in said("09", "ipv-18")
    w, right = leaf(), []
    for way in (w.data, w.detach()):
        right.append(gradient(w**2, w))
        way.add_(1)
    assert right == [[2.0, 4.0, 6.0], [4.0, 6.0, 8.0]]


def test_a_check_needs_a_clone_from_before_the_edit():
    assert "values that were copied, with `clone()`, before the edit" in said("09", "ipv-20")
    assert "A fresh forward, from a clone taken before" in said("09", "ipv-51")
    x, loss = forward()
    held, copied = x.detach(), x.detach().clone()
    through_numpy(x)
    after = x.detach().clone()
    loss.backward()
    agrees = []
    for values in (held, copied, after):
        fresh = values.clone().requires_grad_()
        agrees.append(gradient(fresh**2, fresh) == x.grad.tolist())
    assert agrees == [True, False, True]


def test_a_recorded_edit_of_a_leaf_is_refused_at_once_and_of_what_requires_no_grad_is_not():
    assert "torch refuses it, through a view as well" in said("09", "ipv-24")
    assert "Refused; `no_grad`, or edit a clone" in said("09", "ipv-51")
    w = torch.tensor([1.0], requires_grad=True)
    for edit in (recorded, lambda w: w[:].add_(1), lambda w: w.view(1).add_(1)):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad is being used"):
            edit(w)
    assert (w.item(), w._version) == (1.0, 0)
    assert "A leaf that does not require grad may be edited" in said("09", "ipv-24")
    assert "`w += 1` on a leaf that requires grad?" in said("09", "ipv-51")
    free = torch.ones(1)
    recorded(free)
    assert (free.item(), free.is_leaf) == (2.0, True)


def test_an_edit_under_no_grad_leaves_a_leaf_and_harms_what_had_saved_it():
    assert "`w` is 2, and still a leaf. `y` was in no danger" in said("09", "ipv-24")
    assert "for `*` now saved `w`" in said("09", "ipv-25")
    w = torch.tensor([1.0], requires_grad=True)
    safe, saved = w * 2, w * w
    unrecorded(w)
    assert (w.item(), w.is_leaf) == (2.0, True)
    assert gradient(safe, w) == [2.0]
    with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
        gradient(saved, w)


@pytest.mark.parametrize("saved", [False, True])
def test_torch_takes_the_edit_of_a_clone_and_backward_raises_where_a_node_saved_it(saved):
    text = said("09", "ipv-30")
    assert "`h` is no leaf: torch takes the edit" in text
    assert torch.ones(2).clone().is_leaf, "so the sentence is of `h`, not of every clone"
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.clone()
    assert not h.is_leaf
    y = (h**2 if saved else h * 2).sum()
    h += 1
    if saved:
        with pytest.raises(RuntimeError, match=EDITED):
            y.backward()
    else:
        y.backward()
        assert x.grad.tolist() == [2.0, 2.0]


def test_an_edit_through_one_view_is_recorded_by_copy_slices_with_the_right_gradient():
    assert "the node **`CopySlices`** records it" in said("09", "ipv-30")
    x = torch.ones(2, 2, requires_grad=True)
    h = x.clone()
    h[0].mul_(10)
    assert type(h.grad_fn).__name__ == "CopySlices"
    assert gradient(h, x) == [[10.0, 10.0], [1.0, 1.0]]


@pytest.mark.parametrize("views", [iter, torch.unbind, lambda h: h.split(1), lambda h: h.chunk(2)])
def test_a_recorded_edit_of_one_of_several_views_is_refused(views):
    assert "a recorded edit of one of them is refused" in said("09", "ipv-30")
    assert "Refused; `h[i]`, `range(len(h))`, or `torch.stack`" in said("09", "ipv-51")
    h = torch.ones(2, 2, requires_grad=True).clone()
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        next(iter(views(h))).mul_(10)
    assert h.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_rows_may_be_edited_by_index_or_stacked_and_a_list_of_indices_copies():
    assert "Write `h[i]` for `i` in `range(len(h))`, or `torch.stack` new rows" in said(
        "09", "ipv-30"
    )
    assert "indexing by a list copies. Nothing raises and nothing changes" in said(
        "09", "rows-notes"
    )
    x = torch.ones(2, 2, requires_grad=True)
    h = x.clone()
    for i in range(len(h)):
        h[i] = h[i] * 10
    stacked = torch.stack([row * 10 for row in x])
    assert h.equal(stacked)
    assert gradient(h, x) == gradient(stacked, x) == [[10.0, 10.0], [10.0, 10.0]]
    before = h.tolist()
    h[[0]].mul_(10)
    assert h.tolist() == before
    assert "But `h[[0]] *= 10` is one" in said("09", "rows-notes")
    h = x.clone()
    h[[0]] *= 10
    assert h.tolist() == gradient(h, x) == [[10.0, 10.0], [1.0, 1.0]]


@pytest.mark.parametrize("rows", [enumerate, lambda h: enumerate(h.unbind())])
def test_after_a_write_the_rows_of_the_loop_are_refused(rows):
    assert "after a write into `h` torch computes with no row of the loop" in said(
        "09", "rows-notes"
    )
    h = torch.ones(3, 2, requires_grad=True).clone()
    (i, first), (_, second), _ = rows(h)
    h[i] = first * 10
    with pytest.raises(RuntimeError, match="Output 1 of Unbind is a view and its base or another"):
        second * 10


def test_rows_of_a_loop_are_no_copies():
    assert "A row from the loop is no copy: it is a view" in said("09", "ipv-30")
    h = torch.ones(2, 2, requires_grad=True).clone()
    assert [row.data_ptr() for row in h] == [h[0].data_ptr(), h[1].data_ptr()]


def test_the_loop_over_rows_runs_under_no_grad_and_off_the_record():
    assert "the gradient to the leaf lacks the 10" in said("09", "rows-notes")
    x = torch.ones(2, 2, requires_grad=True)
    h = x.clone()
    with torch.no_grad():
        for row in h:
            row.mul_(10)
    assert h.tolist() == [[10.0, 10.0], [10.0, 10.0]]
    assert gradient(h, x) == [[1.0, 1.0], [1.0, 1.0]]


def test_four_optimizers_can_be_fused():
    assert "In torch 2.13 that holds for SGD, Adam, AdamW and Adagrad" in said("09", "ipv-35")
    assert {one.__name__ for one in FUSED} == {"SGD", "Adam", "AdamW", "Adagrad"}


@pytest.mark.parametrize("optimizer", FUSED, ids=lambda one: one.__name__)
def test_a_fused_step_ticks_no_counter_and_is_silent(optimizer):
    assert "a fused step is not: no error, and a wrong gradient" in said("09", "ipv-35")
    x, loss = forward()
    x.grad = torch.ones(3)
    optimizer([x], lr=0.5, fused=True).step()
    assert x.tolist() != [1.0, 2.0, 3.0]
    assert x._version == 0
    x.grad = None
    loss.backward()
    assert torch.equal(
        x.grad, 2 * x.detach()
    )  # of the new values: the gradient that was asked for is 2, 4, 6


PLAIN = [
    one
    for one in vars(torch.optim).values()
    if inspect.isclass(one) and issubclass(one, torch.optim.Optimizer)
    if one not in (torch.optim.Optimizer, torch.optim.SparseAdam, torch.optim.Muon)
]  # the last two take gradients and weights of other kinds


@pytest.mark.parametrize("optimizer", PLAIN, ids=lambda one: one.__name__)
def test_a_step_that_is_not_fused_is_counted_and_raises(optimizer):
    assert "A plain step is counted" in said("09", "ipv-35")
    x, loss = forward()
    x.grad = torch.ones(3)
    optimizer([x], lr=0.5).step(lambda: x.sum())
    assert x._version > 0
    with pytest.raises(RuntimeError, match=r"at version \d+; expected version 0"):
        loss.backward()


@pytest.mark.parametrize("fused", [False, True])
def test_backward_before_the_step_or_a_forward_pass_after_it_is_right(fused):
    assert "call every `backward()` that needs the weights before the step" in said("09", "ipv-35")
    assert "After every `backward()` that needs them" in said("09", "ipv-51")
    w, loss = forward()
    loss.backward()
    assert w.grad.tolist() == [2.0, 4.0, 6.0]
    w.grad = -torch.ones(3)
    torch.optim.SGD([w], lr=1.0, fused=fused).step()
    assert w.tolist() == [2.0, 3.0, 4.0]
    assert gradient(w**2, w) == [4.0, 6.0, 8.0]


def test_an_early_update_breaks_backward_only_where_the_weight_was_saved():
    assert "`w2` alone: it was saved for the way to `w1`" in said("09", "ipv-38")
    for edited, breaks in ((0, False), (1, True)):
        weights = [torch.tensor(value, requires_grad=True) for value in (2.0, 5.0)]
        out = weights[1] * (weights[0] * 3)
        unrecorded(weights[edited])
        if breaks:
            with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
                out.backward()
        else:
            out.backward()
            assert [w.grad.item() for w in weights] == [15.0, 6.0]


def test_retain_graph_keeps_no_old_weights_and_detach_cuts_the_state():
    assert "`retain_graph=True` is no help: it keeps the graph, not the old weights" in said(
        "09", "ipv-35"
    )
    w, h = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0)
    for _ in range(2):
        h = w * h
        h.backward(retain_graph=True)
        with torch.no_grad():
            w -= 0.5
    h = w * h
    with pytest.raises(RuntimeError, match="at version 2; expected version 1"):
        h.backward(retain_graph=True)
    (w * h.detach()).backward()


class Kept(torch.autograd.Function):
    """The square, with its input kept on `ctx`; `KEEP` says how."""

    KEEP = staticmethod(lambda x: x)

    @staticmethod
    def forward(ctx, x):
        ctx.x = Kept.KEEP(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad


class Saved(torch.autograd.Function):
    """The square, with its input saved."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


def by_hooks(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        return x**2


def on_the_cpu(x):
    with torch.autograd.graph.save_on_cpu():
        return x**2


@pytest.mark.parametrize("square", [by_hooks, on_the_cpu, Kept.apply])
def test_an_edit_that_nobody_compares_is_silent(square):
    text = said("09", "q9-because")
    assert "The edit was counted, but nobody compared: what a hook keeps is not checked" in text
    assert "In an operation of your own `ctx.x = x` is not checked either" in text
    assert "without `pin_memory`, of a tensor that is on the CPU already it keeps that" in said(
        "09", "q9-notes"
    )
    assert "Not compared: a hook, `ctx.x`" in said("09", "ipv-51")
    x = leaf()
    y = square(x)
    through_detach(x)
    assert x._version == 1
    assert gradient(y, x) == [4.0, 6.0, 8.0]


def test_a_result_that_a_hook_keeps_is_not_checked_either():
    x = leaf()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp()
    through_detach(y)
    assert gradient(y, x) == y.tolist() != x.exp().tolist()


def test_what_save_for_backward_keeps_is_checked():
    assert "with `ctx.save_for_backward(x)` this edit raises the error of idea 2" in said(
        "09", "q9-because"
    )
    x = leaf()
    y = Saved.apply(x)
    through_detach(x)
    with pytest.raises(RuntimeError, match=f"{EDITED}.* at version 1; expected version 0"):
        y.sum().backward()


def squared_by_a_copy_in_pack(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        return x**2


@pytest.mark.parametrize("square", [squared_by_a_copy_in_pack, Kept.apply])
def test_a_clone_in_pack_or_on_ctx_keeps_the_old_numbers(square, monkeypatch):
    assert "`lambda t: t.clone()`: 2, 4, 6, for one more copy in memory" in said("09", "q9-notes")
    assert "`ctx.x = x.clone()` in an operation of one's own?\" (2, 4, 6.)" in said(
        "09", "q9-notes"
    )
    monkeypatch.setattr(Kept, "KEEP", staticmethod(torch.clone))
    x = leaf()
    y = square(x)
    through_detach(x)
    assert gradient(y, x) == [2.0, 4.0, 6.0]


def test_in_the_lab_an_edit_after_backward_leaves_the_gradient_right():
    assert "(What was saved has been used and freed.)" in said("09", "ipv-42")
    for key in "2345678":
        assert walk("09", f"9 {key}")[0].title == "x.grad is right"


def test_in_the_lab_right_numbers_are_refused_and_wrong_ones_pass():
    assert "it can refuse right ones and pass wrong ones" in said("09", "ipv-41")
    assert EDITED in walk("09", "2 3 9")[1]
    state, error = walk("09", "5 9")
    assert (state.title, error) == ("x.grad is wrong", "")
