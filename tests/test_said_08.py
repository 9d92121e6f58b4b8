"""What lesson 08 says in prose, notes, recap and exercise 08.4, run in torch.

Reads the notebook and the exercise.
"""

import json
import random
import warnings
from itertools import product
from unittest import mock

import pytest
import torch
from said import NOTEBOOKS, said
from torch import nn

from autograd_graphs.untrusted.plain import NotRead
from helpers import check
from helpers.exercises import exercise as registry


def leaf():
    return torch.tensor([1.0, 2.0], requires_grad=True)


def exercise(name):
    return next(each for each in registry.exercises(name[:2]) if each.id == name)


def source(cell):
    """Return the code of the cell of lesson 08 with this id."""
    (path,) = NOTEBOOKS.glob("08*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(one["source"]) for one in cells if one["id"] == cell)


def solved(name):
    """Return the `answer` that the exercise's solution defines."""
    namespace = {"torch": torch}
    exec(exercise(name).solution, namespace)
    return namespace["answer"]


def path_of(steps):
    """Return a path from a weight to a loss; each step cuts the graph, brings a new weight, or does
    neither.
    """
    path = {"w": leaf()}
    for name, step in steps.items():
        (before,) = list(path.values())[-1:]
        path[name] = {"cut": before.detach(), "weight": before * leaf(), "plain": before * 2}[step]
    return path | {"loss": path[name].sum()}


def test_the_walk_back_along_a_path_names_the_step_without_which_the_loss_had_a_graph():
    assert "a path: each tensor was made from the one before it" in said("08", "dng-49")
    assert "From each tensor go to what it was made from" in said("08", "dng-33")
    assert "Walk back to the first tensor that requires grad" in said("08", "dng-51")
    assert "what was made from it lost the graph" in exercise("08.4").right
    for chosen in product(("cut", "weight", "plain"), repeat=4):
        steps = dict(zip("abcd", chosen, strict=True))
        path = path_of(steps)
        lost = solved("08.4")(path)
        if path["loss"].requires_grad:
            assert lost is None, steps
            continue
        mended = steps | {name: "plain" for name in "abcd" if name > lost}
        assert not path_of(mended)["loss"].requires_grad, (
            f"{steps}: {lost} is named, and a later step was to blame"
        )
        assert path_of(mended | {lost: "plain"})["loss"].requires_grad, (
            f"{steps}: {lost} is not to blame"
        )


class Twice(torch.autograd.Function):
    """Return twice a tensor, and the places of its numbers in order, which have no gradient."""

    @staticmethod
    def forward(ctx, x):
        places = x.argsort().float()
        ctx.mark_non_differentiable(places)
        return x * 2, places

    @staticmethod
    def backward(ctx, grad, _):
        return grad * 2


def copied_into_zeros(t):
    """Return zeros into which half of `t` was written."""
    into = torch.zeros_like(t)
    into[:1] = t[:1]
    return into


def frozen():
    """Return a layer whose parameters were frozen before it is used."""
    return nn.Linear(2, 2).requires_grad_(False)


RECORDS = (
    lambda t: t * 2,
    lambda t: t[:],
    lambda t: t.view(2, 1).t().reshape(2),
    lambda t: t.clone().mul_(3),
    copied_into_zeros,
    lambda t: Twice.apply(t)[0],
    lambda t: t.sort().values,
    lambda t: torch.stack(t.unbind()),
    lambda t: nn.Dropout(0.5).eval()(t),
    lambda t: frozen()(t),
    lambda t: t.detach() + t,
)
CUTS = (
    torch.Tensor.detach,
    lambda t: t.data,
    lambda t: t.clone().detach_(),
    torch.no_grad()(lambda t: t[:] + 1),
    torch.no_grad()(copied_into_zeros),
    lambda t: Twice.apply(t)[1],
    lambda t: t.sort().indices.float(),
    lambda t: (t > 1).float(),
    lambda t: torch.tensor(t.tolist()),
    lambda t: torch.from_numpy(t.detach().numpy()),
    lambda t: torch.zeros_like(t),
)
WEIGHTS = (lambda t: t * leaf(), lambda t: nn.Linear(2, 2)(t), lambda t: nn.Parameter(t.detach()))


def test_the_walk_back_is_right_on_random_paths_of_views_edits_functions_and_modules():
    text = said("08", "dng-49")
    assert "A step into which another tensor goes that requires grad is recorded" in text
    chance, lost = random.Random(0), []
    for _ in range(500):
        t = leaf().detach().requires_grad_(chance.random() < 0.7)
        steps, truth = {"w": t}, None
        for name in "abcdef"[: chance.randint(1, 6)]:
            had = t.requires_grad
            t = chance.choice(chance.choice((RECORDS, RECORDS, CUTS, WEIGHTS)))(t)
            steps[name] = t
            if had and not t.requires_grad:
                truth = name
        steps["loss"] = t.sum()
        truth = None if t.requires_grad else truth
        if any(one.requires_grad for one in steps.values()):
            assert solved("08.4")(steps) == truth
            lost.append(truth)
    assert 100 < sum(one is not None for one in lost) < len(lost) - 100


def test_flags_cannot_tell_a_step_that_loses_a_weight_which_the_path_did_not_bring():
    w = leaf()
    p = w.detach()
    with torch.no_grad():
        lost_here = p * leaf()
    paths = [{"w": w, "p": p, "q": q, "loss": q.sum()} for q in (lost_here, p * 2)]
    flags = [[tensor.requires_grad for tensor in path.values()] for path in paths]
    assert flags[0] == flags[1]  # lost at q, lost at p
    assert [solved("08.4")(path) for path in paths] == ["p", "p"]


@pytest.mark.parametrize("block", [torch.no_grad, torch.inference_mode])
def test_a_view_made_while_recording_was_off_shows_the_flag_and_has_no_node(block):
    assert "no view was made while recording was off" in said("08", "dng-49")
    assert "here up to the first that requires grad, `p`" in said("08", "dng-33")
    text = said("08", "q8-notes")
    assert "it shows the flag of its base and has no node. The graph tells." in text
    w = leaf()
    h = w * 3
    with block():
        p = h[0]
    loss = p * 2
    assert (p.requires_grad, p.grad_fn, loss.requires_grad) == (True, None, True)
    assert [node for node, _ in loss.grad_fn.next_functions] == [None, None]
    loss.backward()
    assert w.grad is None
    assert solved("08.4")({"w": w, "h": h, "p": p, "loss": loss}) is None  # p lost it


def test_a_new_result_of_no_grad_has_no_grad_fn_and_an_old_one_keeps_its_own():
    assert "**`no_grad()` shows in a new result:" in said("08", "dng-06")
    assert "|A new result has no `grad_fn`.|" in said("08", "dng-51")
    assert "(`assert y.grad_fn is None`.)" in said("08", "dng-07")
    h = leaf() * 3
    eval_dropout = nn.Dropout().eval()
    with torch.no_grad():
        new = (
            h**2,
            h[0],
            h.view(2),
            h.detach(),
            h.clone(),
            h.unbind()[0],
            h.double(),
            Twice.apply(h)[0],
        )
        old = (h.float(), h.contiguous(), nn.Identity()(h), eval_dropout(h))
    assert [one.grad_fn for one in new] == [None] * len(new)
    assert all(one is not h for one in new)
    with torch.no_grad():
        h += 1
    assert all(one is h for one in old)
    assert h.grad_fn is not None


@pytest.mark.parametrize("edit", ["a weight", "a view", "detach_"])
def test_an_edit_of_a_later_line_deceives_the_walk_back(edit):
    assert "Nothing was edited in place" in said("08", "dng-49")
    w = leaf()
    h = w * 2
    p = h.detach()
    q = p * 3
    steps = {"w": w, "h": h, "p": p, "q": q, "loss": q.sum()}
    assert solved("08.4")(steps) == "p"
    if edit == "detach_":
        h.detach_()
    else:
        (p if edit == "a weight" else p[:1]).mul_(w[:1])
    assert solved("08.4")(steps) == ("h" if edit == "detach_" else "q")


def test_the_order_of_lines_cannot_tell_where_a_graph_was_lost():
    assert "follow what was made from what, not the lines" in said("08", "dng-33")
    assert "`target` would be accused" in said("08", "dng-38")
    w = leaf()
    h = w * 2
    first = {"w": w, "h": h, "target": torch.zeros(2), "p": h.detach()}
    other = {"w": w, "h": h, "target": h.detach(), "p": torch.zeros(2)}
    for lines in (first, other):
        lines["loss"] = (lines["p"] - lines["target"]).sum()
    flags = [[tensor.requires_grad for tensor in lines.values()] for lines in (first, other)]
    assert (
        flags[0] == flags[1]
    )  # lost at p, lost at target: no rule about flags in the order of lines tells them apart
    assert solved("08.4")(first) == "target"


def test_six_flags_find_the_place_on_a_path_of_forty():
    assert "a path of forty tensors" in said("08", "dng-38")
    assert "Six at most, if no other weight comes in" in said("08", "dng-38")
    asked = []
    for lost in range(1, 40):
        recorded, missing, flags = 0, 39, 0
        while missing - recorded > 1:
            middle, flags = (recorded + missing) // 2, flags + 1
            recorded, missing = (middle, missing) if middle < lost else (recorded, middle)
        assert missing == lost
        asked.append(flags)
    assert max(asked) == 6


@pytest.mark.parametrize("rounded", [0, 1])
def test_exercise_08_4_refuses_who_always_asks_the_middle(rounded, capsys):
    def halves(steps):
        names, recorded, missing = list(steps), 0, len(steps) - 1
        if steps["loss"].requires_grad:
            return None
        while missing - recorded > 1:
            middle = (recorded + missing + rounded) // 2
            if steps[names[middle]].requires_grad:
                recorded = middle
            else:
                missing = middle
        return names[missing]

    check("08.4", halves)
    said_to_it = " ".join(capsys.readouterr().out.split())
    assert "names the first place where a graph was lost" in said_to_it


def test_in_eval_dropout_returns_its_input_and_relu_computes():
    assert "In eval mode `Dropout` returns its input itself" in said("08", "dng-29")
    x, model = leaf(), nn.Sequential(nn.Dropout(0.5), nn.ReLU()).eval()
    assert nn.Dropout(0.5).eval()(x) is x
    assert model(x).grad_fn.name() == "ReluBackward0"
    with torch.no_grad():
        assert not model(x).requires_grad


def test_exercise_08_1_asks_a_layer_that_computes_in_eval():
    line = "nn.Sequential(nn.Dropout(0.5), nn.ReLU()).eval()(x)"
    assert f"e = {line}" in said("08", "dng-43")
    assert f"e = {line}" in exercise("08.1").solution.replace("torch.nn.", "nn.")
    assert "The products, the sum and the ReLU asked" in exercise("08.1").right
    x = leaf()
    e = eval(line, {"nn": nn, "x": x})
    assert e.grad_fn is not None
    assert e is not x


def test_inference_mode_false_records_inside_of_inference_mode_and_enable_grad_does_not():
    opens = "`inference_mode(False)` opens `inference_mode()`; `enable_grad()` opens `no_grad()`"
    assert opens in said("08", "dng-25")
    assert "it stayed on" in said("08", "dng-25")
    x = leaf()
    recorded = []
    for inner in (torch.enable_grad(), torch.set_grad_enabled(True), torch.inference_mode(False)):
        with torch.inference_mode(), inner:
            recorded.append((x * 2).requires_grad)
    assert recorded == [False, False, True]
    with torch.inference_mode(), torch.enable_grad():
        assert torch.is_grad_enabled()
        assert torch.is_inference_mode_enabled()
    with torch.no_grad(), torch.enable_grad():
        assert (x * 2).requires_grad


def test_inference_mode_false_opens_no_grad_too_for_it_sets_grad_mode_on():
    text = said("08", "dng-25")
    assert "switches inference mode off and grad mode on: it opens `no_grad()`, too" in text
    x = leaf()
    with torch.no_grad(), torch.inference_mode(False):
        assert torch.is_grad_enabled()
        assert (x * 2).requires_grad
    with torch.inference_mode():
        assert not torch.is_grad_enabled()
        with torch.no_grad(), torch.inference_mode(False):
            assert (x * 2).requires_grad


def test_the_pages_of_torch_say_what_the_lesson_quotes_and_a_run_differs():
    assert '"The result will never require gradient", says PyTorch\'s page on `detach()`' in said(
        "08", "q2-because"
    )
    assert "The result will never require gradient." in torch.Tensor.detach.__doc__
    assert leaf().detach().requires_grad_().requires_grad
    assert "So says PyTorch's page on `inference_mode` (2.13)" in said("08", "q4-because")
    page = " ".join(torch.inference_mode.__doc__.split())
    assert "cannot be used in computations recorded by autograd" in page
    with torch.inference_mode():
        made = torch.ones(2)
    assert (leaf() + made).requires_grad


def test_who_goes_back_to_the_blocks_after_the_traceback_sees_the_same(capsys):
    names = {"torch": torch}
    exec(source("dng-15"), names)
    exec(source("dng-24"), names)
    with pytest.raises(RuntimeError, match="does not require grad"):
        exec(source("dng-32"), names)
    capsys.readouterr()
    exec(source("dng-24"), names)
    assert capsys.readouterr().out == "False\nTrue\n"


def test_a_block_ends_a_plain_line_does_not_and_a_decorator_is_a_block():
    text = said("08", "dng-25")
    assert "The end of a block restores what was there before" in text
    assert "is a block around each call" in text
    lasts = "without `with` lasts until another call, or the end of a block around it"
    assert f"`set_grad_enabled(False)` {lasts}" in text
    assert "without the brackets: that works today, too" in said("08", "dng-26")
    x = leaf()
    for mode in (True, False):
        for block in (torch.no_grad(), torch.enable_grad(), torch.inference_mode()):
            with torch.set_grad_enabled(mode):
                with block:
                    pass
                assert torch.is_grad_enabled() == mode
    for decorator in (torch.no_grad(), torch.no_grad):
        double = decorator(lambda x: x * 2)
        assert [double(x).requires_grad, double(x).requires_grad] == [False, False]
        assert torch.is_grad_enabled()

    def leave_off():
        torch.set_grad_enabled(False)

    leave_off()
    try:
        assert not (x * 2).requires_grad
    finally:
        torch.set_grad_enabled(True)
    assert (x * 2).requires_grad
    with torch.enable_grad():
        leave_off()
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_x_grad_is_none_without_the_block_too():
    assert "it would be None without the block, too" in said("08", "dng-06")
    assert "delete the `with` above" in said("08", "q1-try")
    x = leaf()
    y = x**2
    assert y.grad_fn is not None
    assert x.grad is None
    assert "`y.backward()` would raise, and `z.backward()` would not" in said("08", "dng-06")
    with torch.no_grad():
        unrecorded = x[0] ** 2
    with pytest.raises(RuntimeError, match="does not require grad"):
        unrecorded.backward()
    (x[0] ** 2).backward()


def test_what_detach_shares_what_a_clone_does_not_and_what_the_product_saved():
    text = said("08", "q2-because")
    assert "A copy is `z.detach().clone()`" in text
    assert "this product saved the 3, not the numbers in `z`" in text
    x = leaf()
    z = x * 3
    d, copied = z.detach(), z.detach().clone()
    assert d.data_ptr() == z.data_ptr() != copied.data_ptr()
    assert d.is_leaf
    assert z.grad_fn._saved_other.item() == 3
    assert z.grad_fn._saved_self is None


def test_the_table_of_ways_what_each_works_on_and_whether_the_edit_is_counted():
    text = said("08", "dng-16")
    for row in (
        "| Way | You work on | `+= 1` counted? |",
        "| `no_grad()`, `inference_mode()` | `x` itself | yes |",
        "| `x.detach()` | a new tensor in its memory | yes |",
        "| `x.data` | a new tensor in its memory | **no** |",
    ):
        assert row in text
    for block in (torch.no_grad(), torch.inference_mode(), torch.set_grad_enabled(False)):
        x = leaf()
        with block:
            x += 1
        assert (x._version, x.tolist(), x.is_leaf) == (1, [2, 3], True)
    for way, version in ((torch.Tensor.detach, 1), (lambda x: x.data, 0)):
        x = leaf()
        other = way(x)
        other += 1
        assert other is not x
        assert (x._version, x.tolist()) == (version, [2, 3])


def test_a_fused_step_and_numpy_are_not_counted():
    assert "|Not through `.data` or `numpy()`.|" in said("08", "dng-51")
    versions = []
    for fused in (False, True):
        w = leaf()
        w.grad = torch.ones(2)
        torch.optim.SGD([w], lr=0.5, fused=fused).step()
        assert w.tolist() == [0.5, 1.5]
        versions.append(w._version)
    assert versions == [1, 0]  # so the table speaks of += 1
    w = leaf()
    w.detach().numpy()[0] = 5.0
    assert (w.tolist(), w._version) == ([5, 2], 0)


def test_without_eval_batch_norm_depends_on_the_batch_and_moves():
    text = said("08", "dng-30")
    assert "with dropout they are random; with batch norm they depend on the batch" in text
    assert "and its running statistics move" in text
    rows, norm, drop = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), nn.BatchNorm1d(2), nn.Dropout(0.5)
    with torch.no_grad():
        assert not norm(rows)[0].allclose(norm(torch.cat([rows, rows[1:]]))[0])
        assert norm(rows).equal(norm(rows))
        before = norm.running_mean.clone()
        norm(rows)
        assert not norm.running_mean.equal(before)
        assert len({drop(torch.ones(100)).sum().item() for _ in range(20)}) > 1


def test_of_a_leaf_backward_needs_no_grad_fn():
    assert "Without flag and `grad_fn` there is no node to begin at." in said("08", "dng-33")
    x = torch.tensor(2.0, requires_grad=True)
    x.backward()
    assert (x.grad_fn, x.grad.item()) == (None, 1)
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        torch.tensor(2.0).backward()


def test_the_innermost_block_decides_in_08_1_and_not_inside_of_inference_mode():
    assert "In this code the innermost block decides" in " ".join(exercise("08.1").hints)
    assert "inference_mode" not in exercise("08.1").solution
    with torch.inference_mode(), torch.enable_grad():
        assert not (leaf() * 2).requires_grad


@pytest.mark.parametrize("way", ["detach", "data"])
def test_backward_does_not_notice_an_edit_through_data(way):
    assert "it does not notice an edit through `.data`" in said("08", "dng-16")
    x = leaf()
    loss = (x**2).sum()
    (x.detach() if way == "detach" else x.data).add_(1)
    if way == "data":
        loss.backward()
        assert x.grad.tolist() == [4, 6]  # 2, 4 would be right
        return
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        loss.backward()


def test_which_tensors_of_inference_mode_are_ordinary_and_may_be_saved():
    text, notes = said("08", "q4-because"), said("08", "q4-notes")
    assert "a result of `no_grad()` may be saved, and `made` may not" in text
    assert "take `no_grad()`, or `clone()` them outside" in text
    assert "The refused edit was written all the same" in text
    assert "a view or a `detach()` of an ordinary tensor is ordinary" in notes
    x = leaf()
    with torch.inference_mode():
        made, inside = torch.ones(2), torch.ones(2).clone()
        view, detached = x[:1], x.detach()
    assert [t.is_inference() for t in (made, inside, view, detached)] == [True, True, False, False]
    assert (x * made.clone()).requires_grad
    with torch.no_grad():
        ordinary = x * 2
    assert (x * ordinary).requires_grad
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        x * made
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        made += 1
    assert made.tolist() == [2, 2]


def test_numpy_refuses_while_grad_mode_is_on():
    assert "`numpy()` is refused while grad mode is on" in said("08", "dng-37")
    x = leaf()
    with pytest.raises(RuntimeError, match=r"Can't call numpy.*Use tensor.detach\(\).numpy\(\)"):
        x.numpy()
    with torch.no_grad():
        x.numpy()[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    x.detach().numpy()[0] = 7.0
    assert (x.tolist(), x._version) == ([7.0, 2.0], 0)


def test_the_other_ways_out_give_something_without_a_graph():
    text = said("08", "dng-37")
    assert "an integer tensor, without a graph" in text
    assert "a float: `'float' object has no attribute 'backward'`" in text
    once = "copies, and one warning in a process, shared with `float()`"
    assert f"{once}; `torch.stack` keeps the graph" in text
    assert "but `item()` says nothing." in text
    h = leaf() + 2
    assert h.argmax().dtype == torch.int64
    assert not h.argmax().requires_grad
    with pytest.raises(AttributeError, match="'float' object has no attribute 'backward'"):
        h.sum().item().backward()
    assert torch.stack([h[0], h[1]]).requires_grad
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True"):
            rebuilt = torch.tensor([h[0], h[1]])
    finally:
        torch.set_warn_always(False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            torch.tensor([h[0], h[1]])
        float(h[0])
    assert len(caught) <= 1
    assert not rebuilt.requires_grad
    assert rebuilt.data_ptr() != h.data_ptr()


def _lost_on_one_path(take):
    v = torch.tensor(2.0, requires_grad=True)
    h = v * 5
    loss = h * 3 + take(h)
    loss.backward()
    return v, h, loss


def test_a_path_that_is_lost_without_an_error_shows_in_the_graph_alone():
    text, notes = said("08", "q8-because"), said("08", "q8-notes")
    assert "all flags are on" in text
    assert "One edge of `AddBackward0` is `(None, 0)`" in text
    assert "Drop the `.item()`, and run again: now both slopes arrive" in notes
    v, h, loss = _lost_on_one_path(torch.Tensor.item)
    assert all(t.requires_grad for t in (v, h, loss))
    assert v.grad == 15
    assert [node is None for node, _ in loss.grad_fn.next_functions] == [False, True]
    whole, _, same = _lost_on_one_path(lambda h: h)
    assert whole.grad == 20
    assert same == loss
    assert all(node is not None for node, _ in same.grad_fn.next_functions)
    slope = [t.item() * 5 * 3 + t.item() * 5 for t in (v.detach() + 1, v.detach())]
    assert slope[0] - slope[1] == 20


def test_some_numbers_that_were_lost_leave_no_edge():
    assert "Some numbers leave no edge, as in `h.item() - h * 3`" in said("08", "q8-because")
    assert "also where the number leaves no edge" in said("08", "q8-notes")
    v = torch.tensor(2.0, requires_grad=True)

    def loss_of(v):
        h = v * 5
        return h.item() - h * 3

    loss = loss_of(v)
    assert all(node is not None for node, _ in loss.grad_fn.next_functions)
    loss.backward()
    with torch.no_grad():
        slope = loss_of(v + 1) - loss_of(v)
    assert (v.grad, slope) == (-15, -10)


def test_a_product_saves_the_factors_that_it_needs():
    text = said("08", "q4-because")
    assert "`x * made` would save `made`; `x + made` saves no tensor" in text
    assert "But the sum saves no tensor" in text
    x, w = torch.ones(2), leaf()
    node = (w * x).grad_fn
    assert node._saved_self is None  # for a gradient of x, which nobody asked for
    assert node._saved_other.equal(x)
    assert not [name for name in dir((w + x).grad_fn) if name == "_saved_other"]


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("frozen", [True, False])
def test_a_fast_path_may_ask_both_switches(batch_first, frozen):
    assert "in eval mode, when grad mode is off or no parameter of it" in said("08", "dng-30")
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=batch_first).requires_grad_(not frozen)
    fast = torch._transformer_encoder_layer_fwd
    for training, mode in product((True, False), repeat=2):
        layer.train(training)
        with (
            mock.patch.object(torch, fast.__name__, wraps=fast) as called,
            torch.set_grad_enabled(mode),
        ):
            layer(torch.ones(1, 3, 4))
        assert called.called == (batch_first and not training and (frozen or not mode))


def test_exercise_08_3_asks_for_a_model_in_one_mode_for_its_solution_sets_one():
    assert "all of it in `train()` or all of it in `eval()`" in said("08", "dng-47")
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2).eval())
    solved("08.3")(model, torch.ones(3, 2))
    assert [layer.training for layer in model] == [True, True]  # it was frozen


def test_exercise_08_1_takes_letters_apart_and_refuses_other_words():
    read = exercise("08.1").reader.read
    assert read("bdef") == read(["b", "d", "e", "f"]) == {"b", "d", "e", "f"}
    assert read("none") == set()
    with pytest.raises(NotRead):
        read("all")


def test_the_principle_of_08_2_what_made_a_detached_tensor_does_not_count():
    assert "its number counts, what made it does not" in exercise("08.2").principle
    x = leaf()
    (x.exp().detach() * x).sum().backward()
    assert x.grad.allclose(x.exp())


def test_the_principle_of_08_3_neither_switch_sets_the_other():
    assert "neither sets the other" in exercise("08.3").principle
    model = nn.Linear(2, 2)
    for training in (True, False):
        for mode in (True, False):
            with torch.set_grad_enabled(mode):
                model.train(training)
                assert torch.is_grad_enabled() == mode
            assert model.training == training


def test_exercise_08_3_says_what_reaches_dropout_and_what_a_batchnorm_moves():
    texts = " ".join(idea.message for idea in exercise("08.3").misconceptions)
    assert "the flag of the outer module alone, grad mode and `detach()` do not reach it" in texts
    assert "Calling `eval()` sets that in each module inside" in texts
    assert "it moves them at each call in train mode" in texts
    drop, norm = nn.Dropout(0.5), nn.BatchNorm1d(2)
    outer = nn.Sequential(nn.Sequential(drop))
    outer.training = False
    with torch.no_grad():
        assert (outer(torch.ones(1000)).detach() == 0).any()
        outer.eval()
        assert not drop.training
        assert (outer(torch.ones(1000)) == 1).all()
        norm(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert norm.running_mean.tolist() != [0, 0]
    moved = norm.running_mean.clone()
    norm.eval()(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert norm.running_mean.equal(moved)


def test_exercise_08_3_says_when_an_inference_tensor_is_refused():
    texts = " ".join(idea.message for idea in exercise("08.3").misconceptions)
    assert "multiplies it by something that requires grad would raise" in texts
    assert "Another block records nothing either, and makes ordinary tensors" in texts
    with torch.inference_mode():
        result = torch.ones(2)
    result * torch.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        result * leaf()
    with torch.no_grad():
        ordinary = leaf() * 2
    assert not ordinary.is_inference()
    assert (ordinary * leaf()).requires_grad


def test_the_principle_of_08_4_is_what_the_flags_of_a_path_show():
    ended = "went in, and one that does not came out, a graph ended"
    assert ended in exercise("08.4").principle
    assert "only the flags of weights were set by hand, before they were used" in said(
        "08", "dng-49"
    )
    w = leaf()
    inside, outside = w * 2, (w * 2).detach()
    assert inside.grad_fn.next_functions[0][0] is not None
    assert outside.grad_fn is None
    late = w.detach() * 2  # without the sentence above, a late flag would deceive
    loss = late.sum()
    late.requires_grad_()
    assert solved("08.4")({"w": w, "late": late, "loss": loss}) == "loss"
