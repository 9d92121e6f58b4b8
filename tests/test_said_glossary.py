"""What the glossary and the symptom index say and no lesson's `test_said_NN.py` shows, run in plain torch.

What the snippet of a cause shows, tests/test_clinic.py runs.
"""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from said import refusal, stands
from torch import nn
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from helpers import diagnose

says = partial(stands, "glossary")
EDITED = "at version 1; expected version 0"


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


def test_an_own_function_has_an_entry_for_each_input_that_is_a_tensor():
    says("next_functions", "an entry for each input that is a tensor")

    class Pick(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x, index: x[index])

    picked = Pick.apply(leaf(2.0, 3.0), torch.tensor([0]))
    assert [node is None for node, _ in picked.grad_fn.next_functions] == [False, True]
    assert len(Pick.apply(leaf(2.0, 3.0), 0).grad_fn.next_functions) == 1, "a number is no tensor"


def test_one_nan_spoils_its_own_weight_first():
    says("The loss becomes NaN", "nearly all that is computed from it is NaN")
    says("The loss becomes NaN", "makes that weight NaN, and soon all of them are")
    a, b = leaf(1.0), leaf(1.0)
    a.grad, b.grad = torch.tensor([torch.nan]), torch.ones(1)
    torch.optim.SGD([a, b], lr=0.1).step()
    assert (a.isnan().item(), b.isnan().item()) == (True, False)
    assert (a.nan_to_num().item(), (a**0).item()) == (0, 1)


def test_what_the_losses_of_classes_take():
    says("expected target dtype", "of dtype long or uint8. cross_entropy also takes floats")
    scores = torch.zeros(2, 3)
    for loss in (F.cross_entropy, F.nll_loss):
        assert loss(scores, torch.zeros(2, dtype=torch.uint8)).isfinite()
        for dtype in (torch.int32, torch.float32):
            assert "Long or Byte" in refusal(partial(loss, scores, torch.zeros(2, dtype=dtype)))
    assert F.cross_entropy(scores, torch.full((2, 3), 1 / 3)).isfinite()


def test_anomaly_mode_shows_the_line_only_if_it_was_on_in_the_forward():
    says("anomaly mode", "a warning shows its line if the mode was on in the forward, too")
    says("returned nan values", "If the mode was on in the forward, too, the traceback above")
    y = leaf(0.0).sqrt() * 0
    with (
        pytest.warns(UserWarning, match="No forward pass information available"),
        torch.autograd.set_detect_anomaly(True),
    ):
        assert "returned nan values" in refusal(y.sum().backward)


def test_a_batch_of_one_image_has_a_spread():
    says("Expected more than 1 value", "mean and spread of each channel, and one number has no")
    assert nn.BatchNorm2d(3)(torch.randn(1, 3, 4, 4)).isfinite().all()


def test_an_edit_of_a_part_of_a_view_gives_its_base_the_node():
    says("CopySlices", "If `h` is a view itself, its base gets it.")
    says("backward function", "Each recorded operation leaves one or more in the graph")
    base = leaf(1.0, 2.0, 3.0) * 1
    h = base[1:]
    h[0] = 5.0
    assert (h.grad_fn.name(), type(base.grad_fn).__name__) == ("AsStridedBackward0", "CopySlices")
    two = F.cross_entropy(torch.ones(1, 2, requires_grad=True), torch.tensor([0])).grad_fn
    assert [two.name(), two.next_functions[0][0].name()] == [
        "NllLossBackward0",
        "LogSoftmaxBackward0",
    ]


def test_a_hook_on_a_node_gets_two_tuples_and_a_prehook_one():
    says("has returned an incorrect number", "gets two tuples of gradients, and a prehook gets one")
    y, given = leaf(1.0) * leaf(2.0), []
    y.grad_fn.register_prehook(lambda *tuples: given.append([len(one) for one in tuples]))
    y.grad_fn.register_hook(lambda *tuples: given.append([len(one) for one in tuples]))
    y.sum().backward()
    assert given == [[1], [2, 1]]


def test_a_checkpoint_that_saves_more_or_something_else_says_nothing():
    says("A different number of tensors", "if it saves more, or takes another branch with the same")
    says("Recomputed values", "since nobody guards a list")
    x, runs = leaf(1.0), []

    def block(t):
        runs.append(1)
        return t.exp() if len(runs) == 1 else (3 * t).exp().sin()

    y = checkpoint(block, x, use_reentrant=False)
    y.backward()
    assert x.grad.item() == pytest.approx(20.0855, rel=1e-4)
    assert y.item() == pytest.approx(2.7183, rel=1e-4), "which is the right slope"


def test_behind_hooks_on_saved_tensors_nobody_compares_versions():
    says(
        "The gradient is wrong", "or the version counter missed it, or nobody compared the versions"
    )
    says("The gradient is wrong", "Where it stops: inside save_on_cpu() nobody compares")
    x = leaf(2.0, 3.0)
    saved = (x**2).sum()
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        kept = (x**2).sum()
    with save_on_cpu():
        moved = (x**2).sum()
    x.detach().add_(1)
    assert EDITED in refusal(saved.backward)
    for loss in (kept, moved):
        assert torch.autograd.grad(loss, x)[0].tolist() == [6.0, 8.0]


def test_a_graph_knows_nothing_of_an_edit_that_it_did_not_record():
    says(
        "The gradient is wrong",
        "Both are counted, so backward() notices if a node saved the tensor",
    )
    x = leaf(1.0)
    y = x * 2
    with torch.no_grad():
        y *= 5
    assert (y.item(), torch.autograd.grad(y, x)[0].item()) == (10, 2)
    a, b = leaf(1.0), leaf(1.0)
    product = a * b
    a.detach().add_(1)
    assert EDITED in refusal(lambda: torch.autograd.grad(product, a)), "and its slope is b"


def test_the_pieces_of_a_tensor():
    says("is a view and is being", "refuses a recorded edit of one of them")
    says("is a view and is being", "you may edit the pieces of tensor_split, hsplit and vsplit")
    x = torch.ones(2, 1, requires_grad=True) * 5
    for several in (x.unbind, lambda: x.split(1), lambda: x.chunk(2)):
        piece = several()[0]
        assert "is a view and is being modified inplace" in refusal(lambda p=piece: p.add_(1))
    with torch.no_grad():
        x.unbind()[0].add_(1)
    for one in (x.tensor_split(2), x.vsplit(2), x.hsplit(1)):
        one[0].add_(1)
    assert x.tolist() == [[9.0], [6.0]]


def test_a_loop_over_the_index_edits_a_leaf_under_no_grad_alone():
    says("is a view and is being", "write for i in range(len(x)): x[i] += 1")
    says("is a view and is being", "If x is a leaf that requires grad, do it under torch.no_grad()")
    x = torch.ones(2, 1, requires_grad=True)
    assert "a view of a leaf Variable" in refusal(lambda: x[0].add_(1))
    y = x * 1
    for one, mode in ((x, False), (y, True)):
        with torch.set_grad_enabled(mode):
            for i in range(len(one)):
                one[i] += 1
        assert one.tolist() == [[2.0], [2.0]]


def test_views_of_several_are_of_no_use_once_the_base_was_written_to():
    says("is a view and its base", "Torch records nothing more with these views")
    for is_on in (True, False):
        x = torch.ones(2, 1, requires_grad=True) * 5
        rows = list(x)
        with torch.set_grad_enabled(is_on):
            x[0] = 1.0
        assert "its base or another view of its base" in refusal(rows[1].clone)
        with torch.no_grad():
            assert rows[1].clone().item() == 5.0


def test_no_gradient_can_be_kept_of_what_was_computed_under_no_grad():
    says("can't retain_grad on Tensor", "or on a result that you computed under no_grad()")
    with torch.no_grad():
        y = leaf(1.0) * 2
    assert "can't retain_grad" in refusal(y.retain_grad)


def told(given, capsys):
    diagnose(given)
    return " ".join(capsys.readouterr().out.split())


def test_diagnose_knows_what_a_cuda_build_says_where_there_is_no_gpu(capsys):
    text = told("RuntimeError: No CUDA GPUs are available", capsys)
    assert "and it sees no GPU. There is none, or it is hidden from this process" in text


def test_a_misspelt_keyword_gets_another_message_from_the_factories_of_numbers(capsys):
    with pytest.raises(TypeError, match=r"got \(int, required_grad=bool\)") as found:
        torch.randn(3, required_grad=True)
    assert "The name has an s" in told(found.value, capsys)


@pytest.mark.parametrize(
    "subtract",
    [lambda w: w.grad * 0.5, lambda w: w - w.grad, lambda w: w.grad * w, lambda w: 0.5 * w.grad],
)
def test_every_order_of_a_missing_gradient_leads_to_one_entry(subtract, capsys):
    with pytest.raises(TypeError, match="NoneType") as found:
        subtract(torch.ones(1, requires_grad=True))
    assert "Something is None here" in told(found.value, capsys)
