"""What lesson 11 says of steps, run in plain torch. See tests/said.py."""

import pytest
import torch
from said import said
from torch import nn
from torch.nn.functional import mse_loss

from helpers import snapshot

FUSED = (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad)
SGD = torch.optim.SGD
EDITED, TWICE = "modified by an inplace operation", "a second time"


def scalar(value):
    return torch.tensor(value, requires_grad=True)


def step(kind, **options):
    """Make one step of a layer; return by how much the version of its weight ticked, and whether it
    moved.
    """
    layer = nn.Linear(2, 2, bias=False)
    optimizer = kind(layer.parameters(), lr=0.1, **options)

    def closure():
        optimizer.zero_grad()
        loss = (layer(torch.ones(1, 2)) ** 2).sum()
        loss.backward()
        return loss

    closure()
    version, before = layer.weight._version, layer.weight.detach().clone()
    optimizer.step(closure) if kind is torch.optim.LBFGS else optimizer.step()
    return layer.weight._version - version, not torch.equal(layer.weight, before)


def test_an_old_graph_stays_while_the_next_forward_builds_its_own():
    assert "Both nodes stay as long as `loss` does, even while the next forward" in said(
        "11", "loop-05"
    )
    assert "The old ones, and the new ones of `pred`. No leak: one old graph" in said(
        "11", "loop-06"
    )
    model, loss, counts = nn.Linear(10, 1), None, []
    for _ in range(3):
        pred = model(torch.ones(4, 10))
        names = [pred] if loss is None else [pred, loss]
        counts.append(len(snapshot(*names).operations))
        loss = mse_loss(pred, torch.ones(4, 1))
        loss.backward()
        assert len(snapshot(pred, loss).operations) == 3
    assert counts == [2, 5, 5]


def trained(order):
    """Return the weight after three rounds of the lines in this order."""
    w = scalar(0.0)
    optimizer = SGD([w], lr=0.1)
    for _ in range(3):
        loss = (w - 5) ** 2
        lines = {"zero": optimizer.zero_grad, "back": loss.backward, "step": optimizer.step}
        for name in order.split():
            lines[name]()
    return w.item()


def test_zero_grad_may_stand_last_but_not_in_between():
    assert '"May `zero_grad()` stand last, after `step()`?" (Yes; but not between' in said(
        "11", "loop-06"
    )
    assert trained("zero back step") == trained("back step zero") != 0
    assert trained("back zero step") == 0


def test_a_step_passes_over_what_has_no_gradient():
    told = said("11", "loop-06")
    assert "nothing: it passes over what has no gradient" in told
    used, unused = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    used.sum().backward()
    SGD([used, unused], lr=0.1, weight_decay=0.1).step()
    assert (used._version, unused._version) == (1, 0)


def test_one_more_step_uses_the_old_gradient_again():
    assert "(Before any `backward()`, or after `zero_grad()`, nothing" in said("11", "loop-06")
    assert "One more here uses the old −6 again: 7.)" in said("11", "loop-06")
    w, found = scalar(1.0), []
    optimizer = SGD([w], lr=0.5)
    for before in (None, ((w - 4) ** 2).backward, None, optimizer.zero_grad):
        if before:
            before()
        optimizer.step()
        found.append(w.item())
    assert found == [1, 4, 7, 7]


def test_the_walk_of_a_linear_layer_fills_two_gradients_and_moves_no_weight():
    assert "`w` is still [1, 1]" in said("11", "loop-10")
    notes = said("11", "loop-11")
    assert '"Which factor was not saved?" (`w`: a gradient for `samples`' in notes
    assert "`AddmmBackward0`, and a `TBackward0` before the weight" in notes
    w, b = torch.ones(2, requires_grad=True), torch.zeros(1, requires_grad=True)
    samples, targets = torch.tensor([[1.0, 2], [3, 4]]), torch.tensor([2.0, 5])
    out = torch.addmv(b, samples, w)
    assert isinstance(out.grad_fn._saved_mat, torch.Tensor)
    assert out.grad_fn._saved_vec is None
    mse_loss(out, targets).backward()
    assert (w.tolist(), w.grad.tolist(), b.grad.tolist()) == ([1, 1], [7, 10], [3])
    asking = samples.clone().requires_grad_()
    assert torch.addmv(b, asking, w).grad_fn._saved_vec.tolist() == [1, 1]
    names = [node.operation for node in snapshot(nn.Linear(2, 1)(samples)).operations]
    assert names == ["AddmmBackward0", "TBackward0"]


def test_a_step_keeps_the_tensor_and_its_leaf():
    assert "writes into the same tensor with recording switched off" in said("11", "loop-15")
    assert "plain SGD's write was counted, and not recorded" in said("11", "loop-15")
    assert '`optimizer.param_groups[0]["params"][0] is w`' in said("11", "loop-18")
    w, seen = scalar(1.0), []
    optimizer = SGD([w], lr=0.1)
    inside = optimizer._init_group
    optimizer._init_group = lambda *given: seen.append(torch.is_grad_enabled()) or inside(*given)
    w.backward()
    optimizer.step()
    assert optimizer.param_groups[0]["params"][0] is w
    assert (w.is_leaf, w.grad_fn, w._version) == (True, None, 1)
    assert (seen, torch.is_grad_enabled()) == ([False], True)


def test_a_differentiable_step_writes_into_weights_that_are_no_leaves():
    assert "(For learning *through* a step, with weights that are no leaves.)" in said(
        "11", "loop-18"
    )
    start = scalar(2.0)
    w = start * 1
    w.retain_grad()
    (w**2).backward(retain_graph=True)
    optimizer = SGD([w], lr=0.1, differentiable=True)
    optimizer.step()
    (through,) = torch.autograd.grad(w, start)
    assert through == 1


@pytest.mark.parametrize("kind", FUSED)
def test_a_fused_step_moves_the_weight_and_ticks_nothing(kind):
    assert (
        "`fused=True`, which SGD, Adam, AdamW and Adagrad accept, moves weights and ticks nothing"
        in said("11", "loop-17")
    )
    assert "not counted if fused" in said("11", "loop-53")
    assert step(kind, fused=True) == (0, True)
    assert step(kind)[0] > 0


def test_only_those_four_take_fused():
    assert "which SGD, Adam, AdamW and Adagrad accept" in said("11", "loop-17")
    kinds = [one for one in vars(torch.optim).values() if isinstance(one, type)]
    takers = {
        one
        for one in kinds
        if issubclass(one, torch.optim.Optimizer) and "fused" in one.__init__.__annotations__
    }
    assert takers == set(FUSED)


def test_optimizers_tick_a_weight_in_their_own_ways():
    told = said("11", "loop-17")
    assert "here SGD ticks once a step, AdamW twice, a fused step never" in told
    assert "AdamW first shrinks the weight, by its `weight_decay`, then takes its step" in told
    assert '"AdamW with `weight_decay=0`?" (Once a step.)' in said("11", "q4-notes")
    assert '"And LBFGS?" (Many times in one call.)' in said("11", "q4-notes")
    assert step(SGD) == (1, True)
    assert step(torch.optim.AdamW) == (2, True)
    assert step(torch.optim.AdamW, weight_decay=0) == (1, True)
    assert step(torch.optim.LBFGS)[0] > 2


@pytest.mark.parametrize(
    ("kind", "fused", "version"),
    [(SGD, False, 101), (SGD, True, 1), (torch.optim.AdamW, False, 201)],
)
def test_100_iterations_learn_to_add_with_each(kind, fused, version):
    assert "all three losses fell, and each weight is nearly 1" in said("11", "loop-17")
    torch.manual_seed(0)
    x, model = torch.randn(100, 10), nn.Linear(10, 1)
    optimizer, found = kind(model.parameters(), lr=0.1, fused=fused), []
    for _ in range(100):
        loss = mse_loss(model(x).squeeze(), x.sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    assert found[0] > 5 > 0.01 > found[-1]
    assert model.weight._version == version
    assert torch.allclose(model.weight, torch.ones(10), atol=0.1)


def test_a_new_weight_is_at_version_1_and_loading_writes_once_more():
    assert "The weight of a new `nn.Linear` is at version 1" in said("11", "q4")
    assert "loading a state writes once more, unless `assign=True`" in said("11", "q4-notes")
    layer = nn.Linear(10, 1)
    assert layer.weight._version == 1
    layer.load_state_dict(nn.Linear(10, 1).state_dict())
    assert layer.weight._version == 2
    layer.load_state_dict(nn.Linear(10, 1).state_dict(), assign=True)
    assert layer.weight._version == 1


def test_a_weight_may_stand_still_because_the_step_is_too_small_for_its_dtype():
    assert "is the step too small for the dtype?)" in said("11", "q4-notes")
    w = torch.tensor(100.0, dtype=torch.bfloat16, requires_grad=True)
    w.backward()
    SGD([w], lr=0.01).step()
    assert (w.item(), w.grad.item()) == (100, 1)


@pytest.mark.parametrize("options", [{}, {"fused": True}], ids=["plain", "fused"])
def test_the_weights_tell_whether_an_optimizer_holds_them(options):
    assert "compare its *numbers*" in said("11", "loop-17")
    assert "(The numbers of a weight before and after a step. If they stand still" in said(
        "11", "q4-notes"
    )
    assert "do the weights move?" in said("11", "loop-54")
    held, other = nn.Linear(1, 1), nn.Linear(1, 1)
    before = held.weight.item(), other.weight.item()
    optimizer = SGD(held.parameters(), lr=0.1, **options)
    (held(torch.ones(1, 1)) + other(torch.ones(1, 1))).sum().backward()
    optimizer.step()
    assert (held.weight.item() != before[0], other.weight.item() != before[1]) == (True, False)


def two_layers():
    torch.manual_seed(0)
    layer, head = nn.Linear(2, 2), nn.Linear(2, 1)
    return layer, head, SGD([*layer.parameters(), *head.parameters()], lr=0.1)


def test_of_the_weights_only_the_transposed_one_of_the_head_was_saved():
    told = said("11", "loop-30")
    assert "whose transposed view was saved for the way to `layer`" in told
    assert "`layer.weight` was written into, but only a gradient for the input would need" in told
    layer, head, optimizer = two_layers()
    versions = layer.weight._version, head.weight._version
    out = head(layer(torch.ones(1, 2)))
    out.sum().backward(retain_graph=True)
    optimizer.step()
    assert (layer.weight._version, head.weight._version) == (versions[0] + 1, versions[1] + 1)
    saved = [one for node in snapshot(out).nodes for one in node.saved]
    assert [one.tensor.shape for one in saved if one.state == "modified"] == [(2, 1)]
    with pytest.raises(RuntimeError, match=r"\[2, 1\].*AsStrided, is at version 2; expected"):
        (out**2).sum().backward()


def test_both_backwards_first_or_a_new_forward_runs():
    assert "So call both `backward()` first, or run a new forward after the step" in said(
        "11", "loop-30"
    )
    layer, head, optimizer = two_layers()
    out = head(layer(torch.ones(1, 2)))
    out.sum().backward(retain_graph=True)
    (out**2).sum().backward()
    optimizer.step()
    (head(layer(torch.ones(1, 2))) ** 2).sum().backward()


def test_one_layer_alone_raises_nothing_and_is_right_for_the_old_weights():
    assert "(No, as `x` requires no grad: then no node has saved a weight." in said("11", "loop-33")
    assert "the gradient is then right for the old weights" in said("11", "loop-33")
    layer, x = nn.Linear(2, 1), torch.ones(1, 2)
    optimizer = SGD(layer.parameters(), lr=0.1)
    (old,) = torch.autograd.grad((layer(x) ** 2).sum(), layer.weight)
    out = layer(x)
    out.sum().backward(retain_graph=True)
    optimizer.step()
    (after,) = torch.autograd.grad((out**2).sum(), layer.weight)
    assert torch.equal(after, old)
    out = layer(x.requires_grad_())
    out.sum().backward(retain_graph=True)
    optimizer.step()
    with pytest.raises(RuntimeError, match=EDITED):
        (out**2).sum().backward()


@pytest.mark.parametrize(("cut", "keep"), [(True, False), (False, False), (False, True)])
def test_a_state_that_is_carried_over_a_step_needs_a_cut(cut, keep):
    assert "A state carried over a step needs `h.detach()`, too" in said("11", "loop-30")
    assert '|"a second time"|what is older than the round|3, 5|' in said("11", "loop-54")
    rnn, h = nn.RNN(2, 3), None
    optimizer, done = SGD(rnn.parameters(), lr=0.1), []

    def loop(h):
        for number in (1, 2, 3):
            out, h = rnn(torch.ones(4, 1, 2), h)
            out.sum().backward(retain_graph=keep)
            optimizer.step()
            h = h.detach() if cut else h
            done.append(number)

    if cut:
        loop(h)
        assert done == [1, 2, 3]
    else:
        with pytest.raises(RuntimeError, match=EDITED if keep else TWICE):
            loop(h)
        assert done == [1]


def second_gradient(**options):
    """Return the gradient of out**2 at w, asked before a step, after it, and of a fresh forward."""
    w, v = scalar(2.0), scalar(3.0)
    out = w * v
    (before,) = torch.autograd.grad(out**2, w, retain_graph=True)
    out.backward(retain_graph=True)
    SGD([w, v], lr=0.5, **options).step()
    assert (w.item(), v.item(), out.item()) == (0.5, 2, 6)
    (after,) = torch.autograd.grad(out**2, w)
    (fresh,) = torch.autograd.grad((w * v) ** 2, w)
    return before.item(), after.item(), fresh.item(), v._version


def test_with_a_fused_step_the_second_backward_mixes_old_and_new_in_silence():
    assert "a step with `lr=0.5` and `fused=True` leaves 0.5 in `w` and 2 in `v`" in said(
        "11", "q6"
    )
    assert "It was 36 before the step" in said("11", "q6")
    assert "neither the old gradient nor the new: 2 · 6 · 2, the old `out`" in said(
        "11", "q6-because"
    )
    assert "after a plain step this raises" in said("11", "q6-because")
    assert "(The gradient of a fresh forward: it is 4, and 24 is not.)" in said("11", "q6-notes")
    assert second_gradient(fused=True) == (36, 24, 4, 0)
    with pytest.raises(RuntimeError, match=EDITED):
        second_gradient()


def test_layers_after_a_fused_step_mix_old_and_new_weights_too():
    """Hold the numbers of the errata: 0.0161 at the old weights, 0.0421 at the new ones."""

    def of_weight(out):
        return torch.autograd.grad((out**2).sum(), layer.weight, retain_graph=True)[0][0, 0].item()

    layer, head, _ = two_layers()
    optimizer = SGD([*layer.parameters(), *head.parameters()], lr=0.1, fused=True)
    out = head(layer(torch.ones(1, 2)))
    old = of_weight(out)
    out.sum().backward(retain_graph=True)
    optimizer.step()
    found = of_weight(out), old, of_weight(head(layer(torch.ones(1, 2))))
    assert found == pytest.approx((0.0278, 0.0161, 0.0421), abs=1e-4)


def test_an_optimizer_takes_leaves_and_what_retains_its_gradient():
    assert "It refuses results that keep no `.grad`" in said("11", "loop-26")
    product = torch.ones(2, requires_grad=True) * 0.1
    with pytest.raises(ValueError, match="non-leaf"):
        SGD([product], lr=0.1)
    product.retain_grad()
    SGD([product], lr=0.1)
    assert "(Frozen from the start, it is accepted; it gets no `.grad`, and stands still.)" in said(
        "11", "loop-27"
    )
    frozen, trained = torch.ones(2), torch.ones(2, requires_grad=True)
    optimizer = SGD([frozen, trained], lr=0.1)
    (frozen * trained).sum().backward()
    optimizer.step()
    assert (frozen.grad, frozen.tolist(), trained.tolist()) == (
        None,
        [1, 1],
        pytest.approx([0.9] * 2),
    )
    SGD([(torch.ones(2) * 0.1).requires_grad_()], lr=0.1)


def names_of(layers):
    net = nn.Module()
    net.layers = layers
    return [name for name, _ in net.named_parameters()]


def test_a_module_lists_what_it_finds_in_module_lists_and_dicts():
    told = said("11", "loop-26")
    assert "A **parameter** is an `nn.Parameter` that a module lists" in told
    net = nn.Module()
    net.plain, net.listed = torch.ones(2, requires_grad=True), nn.Parameter(torch.ones(2))
    assert [name for name, _ in net.named_parameters()] == ["listed"]
    assert "The module looks into an `nn.ModuleList`, not into a plain list" in told
    assert "(No; `nn.ModuleDict` does.)" in said("11", "loop-27")
    layer = nn.Linear(2, 2)
    assert names_of([layer]) == names_of({"a": layer}) == []
    assert len(names_of(nn.ModuleList([layer]))) == len(names_of(nn.ModuleDict({"a": layer}))) == 2


def test_with_a_head_nothing_raises_and_the_list_is_not_trained():
    assert "with `net.head` nothing raises, and the list is not trained" in said("11", "loop-26")
    net = nn.Module()
    net.layers, net.head = [nn.Linear(2, 2)], nn.Linear(2, 1)
    before = net.layers[0].weight.tolist(), net.head.weight.tolist()
    optimizer = SGD(net.parameters(), lr=0.1)
    net.head(net.layers[0](torch.ones(1, 2))).sum().backward()
    optimizer.step()
    assert net.layers[0].weight.tolist() == before[0]
    assert net.head.weight.tolist() != before[1]


def test_an_optimizer_holds_tensors_and_no_names():
    assert "(The old tensor: it holds tensors, not names.)" in said("11", "loop-27")
    assert "(No error: it goes on holding the old head's tensors.)" in said("11", "loop-27")
    w = old = scalar(1.0)
    optimizer = SGD([w], lr=0.1)
    w = w - 0.1
    assert optimizer.param_groups[0]["params"] == [old]
    net = nn.Sequential(nn.Linear(1, 1))
    optimizer = SGD(net.parameters(), lr=0.1)
    net[0] = nn.Linear(1, 1)
    before = net[0].weight.item()
    net(torch.ones(1, 1)).sum().backward()
    optimizer.step()
    assert net[0].weight.item() == before


def losses(scale_of, rounds=3, inside=False, **options):
    """Return the losses of a loop with a line above it, or inside, the gradients and the weight."""
    w = scalar(0.0)
    optimizer, scale = SGD([w], lr=0.1), scale_of(w)
    found, gradients = [], []
    for _ in range(rounds):
        scale = scale_of(w) if inside else scale
        loss = (scale - 3) ** 2
        optimizer.zero_grad()
        loss.backward(**options)
        optimizer.step()
        found.append(loss.item())
        gradients.append(w.grad.item())
    return found, gradients, w.item()


def test_a_line_above_the_loop_is_computed_once():
    told = said("11", "q8-because")
    assert "`w` moves three times, by the same gradient, and the loss stands still" in told
    assert "Move the line into the loop" in told
    losses(torch.exp, rounds=1)
    with pytest.raises(RuntimeError, match=TWICE):
        losses(torch.exp, rounds=2)
    found, gradients, w = losses(torch.exp, retain_graph=True)
    assert (found, gradients) == ([4, 4, 4], [-4, -4, -4])
    assert w == pytest.approx(1.2)
    first, second, third = losses(torch.exp, inside=True)[0]
    assert first > second > third


def test_a_line_above_the_loop_that_saves_nothing_is_silent():
    assert "(No: that node saves nothing. The loss stands still at once, in silence.)" in said(
        "11", "q8-notes"
    )
    assert losses(lambda w: w + 1)[0] == [4, 4, 4]


def test_what_the_old_part_saved_decides_whether_a_step_disturbs_it():
    assert "`exp` saved its result, not `w`" in said("11", "q8-because")
    assert "(Round 2 raises the error of idea 3: `w` itself was saved" in said("11", "q8-notes")
    w = scalar(1.0)
    scale = w.exp()
    assert scale.grad_fn._saved_result.data_ptr() == scale.data_ptr()
    losses(lambda w: w * w, rounds=1, retain_graph=True)
    with pytest.raises(RuntimeError, match=EDITED):
        losses(lambda w: w * w, rounds=2, retain_graph=True)


def test_without_the_flag_the_second_loss_names_no_tensor():
    assert "Then `backward(retain_graph=True)` on one loss, `step()`" in said("11", "loop-28")
    layer, head, optimizer = two_layers()
    out = head(layer(torch.ones(1, 2)))
    out.sum().backward()
    optimizer.step()
    with pytest.raises(RuntimeError, match=TWICE):
        (out**2).sum().backward()


def test_three_of_the_four_questions_raise_nothing():
    assert "lose or add a gradient, and not one of those raises an error" in said(
        "11", "quiz-1-because"
    )
    torch.ones(2).required_grad = True
    (torch.ones(2, requires_grad=True) * 0.1).sum().backward()
    x = torch.tensor(3.0, requires_grad=True)
    for _ in range(3):
        (x * 2).backward()
    assert x.grad == 6
