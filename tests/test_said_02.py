"""What lesson 02 says of flags, grad mode and frozen layers beyond its own cells, run in plain torch."""

from functools import partial

import pytest
import torch
from lab_answers import LABS
from said import stands
from torch import nn

from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons

says = partial(stands, "02")


def asked():
    return torch.tensor([5.0, 6.0], requires_grad=True)


def flags(*tensors):
    return [one.requires_grad for one in tensors]


def test_the_moons_are_the_same_at_each_call_and_leave_random_numbers_alone():
    state = torch.random.get_rng_state()
    (x, y), (again, _) = moons(), moons()
    assert torch.equal(x, again)
    assert (x.shape, y.shape, sorted(set(y.flatten().tolist()))) == ((100, 2), (100, 1), [0.0, 1.0])
    assert torch.equal(torch.random.get_rng_state(), state)


# Ideas 1 and 2: what is recorded


def test_an_input_that_requires_grad_is_needed_and_not_enough():
    says("d1-because", "**One input that requires grad is enough.**")
    says("rg-18", "some results are never recorded.**", "copies neither values nor history.")
    says("rg-19", "(False: they are integers.)")
    says("rg-50", "Comparisons, integers and `detach()` drop the flag.")
    says("02.1", "an index and the result of `detach()` are plain", "and `detach()` never does")
    says("requires_grad", "results of recorded operations have the flag, too")
    says("leaf", "a recorded operation can return a leaf beside its result")
    x, z = torch.tensor([5.0, 6.0]), asked()
    for make in (lambda t: t * 2, torch.round, lambda t: t[:1], torch.clone, torch.sum):
        assert flags(make(x), make(z)) == [False, True]
    assert flags(*z.sort()) == [True, False]
    assert flags(z > 5, z.long(), z.argmax(), z.detach(), torch.zeros_like(z)) == [False] * 5
    assert torch.zeros_like(torch.ones(2, device="meta")).is_meta, "more than shape and dtype"
    with pytest.raises(RuntimeError, match="can require gradients"):
        z.argmax().requires_grad_()


def test_true_promises_no_useful_slope():
    says("rg-18", "`round` hands on zeros, and `z // 2` has no", "But zero is a slope, too.")
    says("rg-19", "(True, and that the derivative is not implemented.)", "(Zeros, and no error.)")
    z = asked()
    z.round().sum().backward()
    assert z.grad.tolist() == [0.0, 0.0]
    floored = z // 2
    assert floored.requires_grad
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        floored.sum().backward()


def test_a_late_flag_records_nothing_and_shows_on_a_view_alone():
    says("f1-because", "reads the flags of its inputs when it runs", "records nothing.**")
    says("f1-because", "a view made earlier does show the new flag")
    says("e1-because", "**A view also shows the flag of its base.", "but they never show its flag")
    says("e1-notes", "(No error, and it still reads True: you see the flag of `x`.)")
    says("e1-notes", "(Then it is recorded, and `x.grad` is `[2., 0.]`.)")
    says("A tensor shows requires_grad=True", "A view also shows the flag of its base, even")
    x = torch.ones(2)
    view, result, cut, data = x[:1], x * 2, x.detach(), x.data
    x.requires_grad_()
    assert flags(view, result, cut, data, x.detach(), x.data) == [True] + [False] * 5
    assert result.grad_fn is None
    assert (result + x).requires_grad
    assert view.requires_grad_(False).requires_grad
    (view * 2).sum().backward()
    assert x.grad is None
    plain = torch.ones(2)
    own = plain[:1].requires_grad_()
    assert flags(own, plain) == [True, False], "a view may have a flag of its own"
    (x[:1] * 2).sum().backward()
    assert x.grad.tolist() == [2, 0]


def test_a_leaf_may_be_flagged_and_a_recorded_tensor_may_not_be_lowered():
    says("flags of leaf variables", "says how it was made")
    x = torch.ones(2)
    after = x.requires_grad_() * 3
    assert not x.requires_grad_(False).requires_grad
    with pytest.raises(RuntimeError, match="leaf variables"):
        after.requires_grad_(False)


# Idea 3: grad mode


def test_under_no_grad_what_is_computed_is_plain_and_what_you_make_is_what_you_ask_for():
    says("rg-25", "but it doesn't change any flag.**")
    says("rg-25", "that you make inside the block requires grad all the same")
    says("no_grad()", "takes no flag down. An `enable_grad()` inside switches it on again")
    says("grad mode", "Operations look at it before they record")
    z = asked()
    with torch.no_grad():
        new = [z.double(), z.clone(), z * 2, z.relu(), *z.sort(), torch.stack([z, z])]
        made = [torch.ones(2, requires_grad=True), nn.Parameter(torch.ones(2)), torch.ones(2)]
        with torch.enable_grad():
            assert (z * 2).requires_grad
    assert z.requires_grad
    assert not any(flags(*new))
    assert flags(*made) == [True, True, False]
    says("rg-50", "- A new result that you compute under `no_grad()` is a constant afterwards.")
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 2
    with torch.no_grad():
        y *= 5  # no new result: it stays where it is in the graph
        view = z[:1]
    y.backward()
    assert (y.item(), x.grad.item()) == (30, 2)
    assert view.requires_grad, "a view shows the flag of its base"
    assert view.grad_fn is None


def test_by_calculus_the_slope_would_be_another():
    says("rg-25", "By calculus this is right: it is `4 * z`")
    z = asked()
    (2 * z**2).sum().backward()
    assert z.grad.tolist() == [20.0, 24.0]


# Idea 4: frozen layers


def test_a_frozen_front_part_adds_no_node_and_saves_nothing():
    says("rg-36", "**A frozen layer with plain input is not recorded.**")
    says("q11-notes", "its output went in as a constant, which the last layer saved")
    model = nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.Linear(3, 3), nn.GELU(), nn.Linear(3, 1))
    front, last = model[:-1].requires_grad_(False), model[-1]
    x, saved = torch.ones(2, 3), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        h = front(x)
        assert (h.grad_fn, saved) == (None, [])
        last(h)
    assert any(one is h for one in saved)
    assert front(x.requires_grad_()).grad_fn is not None


def test_a_flag_on_a_module_freezes_nothing_and_the_method_does():
    says("rg-36", "and nobody reads it", "The *method* visits every parameter.")
    says("rg-50", "So is a misspelt flag on a tensor.")
    says("parameter", "It requires grad, unless you froze it")
    says("x.required_grad = True was accepted", "and autograd never reads this one")
    layer = nn.Linear(1, 1)
    layer.requires_grad = False
    assert flags(*layer.parameters()) == [True, True]
    layer.requires_grad_(False)
    assert flags(*layer.parameters()) == [False, False]
    x = torch.ones(2)
    x.required_grad = True
    assert not (x * 3).requires_grad


def test_what_stands_after_a_free_layer_is_recorded_though_it_is_frozen():
    says("rg-36", "a frozen layer is recorded and hands gradients on")
    says("q11-notes", "(Those of the first: the frozen layer hands the gradient on.)")
    says("02.3", "After a free layer a frozen one is recorded")
    says("02.4", "nothing is left that requires grad, and `backward()` would")
    free, frozen = nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)
    x = torch.ones(1, 1)
    assert frozen(x).grad_fn is None
    with pytest.raises(RuntimeError, match="does not require grad"):
        frozen(x).backward()
    frozen(free(x)).backward()
    assert free.weight.grad is not None
    assert frozen.weight.grad is None


def test_the_cards_of_the_last_layer():
    says("rg-36", "*Addmm* is the last layer, and *T* turns its weight matrix round.")
    layer = nn.Linear(8, 1)
    turned = layer(torch.ones(4, 8)).grad_fn.next_functions[2][0]
    assert turned.name() == "TBackward0"
    assert turned.next_functions[0][0].variable is layer.weight


def test_freezing_leaves_statistics_and_old_gradients_to_you():
    says("rg-50", "still updates its running statistics; `eval()` stops that")
    says("rg-50", "And clear old gradients when you freeze.")
    says("q11-notes", "Does `model.eval()` freeze anything? (No flag changes.)")
    norm, x = nn.BatchNorm1d(2).requires_grad_(False), torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    norm(x)
    moved = norm.running_mean.clone()
    assert moved.tolist() != [0, 0]
    norm.eval()(x)
    assert torch.equal(norm.running_mean, moved)
    assert flags(*nn.BatchNorm1d(2).eval().parameters()) == [True, True]
    says("02.4", "unless an old `.grad` still lies there", "`eval()`, for one, changes none")
    for kind in (torch.optim.SGD, torch.optim.Adam):
        weight = nn.Parameter(torch.ones(1))
        weight.grad = torch.ones(1)
        kind([weight.requires_grad_(False)], lr=0.1).step()
        assert weight.item() != 1


# The lab and the exercises


def test_what_the_fold_of_the_lab_says_of_every_state():
    says("rg-54", "(Anywhere with grad mode off; find another.)")
    says("rg-54", "in which `a` is recorded? (None.)")
    says("rg-51", "Keys 5 to 7 choose the second line")
    chosen = [action.code.startswith("b = ") for action in LABS["02"].world.actions]
    assert chosen == [False] * 4 + [True] * 3
    up, off = [], []
    for state in LABS["02"].map().states:
        found = {name for name in "xyzab" if state.value(name, "requires_grad") == "True"}
        (off if state.fact("grad mode") == "off" else up).append(found)
    assert off
    assert not any(found & {"a", "b"} for found in off)
    assert set("xyzab") in up
    assert set("xzab") in up, "another: y, when x is up"


def test_02_2_only_some_dtypes_have_a_flag_and_the_solution_keeps_a_large_count():
    says("02.2", "only on a tensor whose dtype can have a gradient")
    says("02.2", "a list or a number of Python's has none", "integer dtype gives a flag up")
    says("02.2", "`counts.double()` makes a tensor of floats", "exact up to 2**53")
    for dtype in (torch.bfloat16, torch.complex64):
        assert torch.ones(2).to(dtype).requires_grad_().requires_grad
    for dtype in (torch.int8, torch.bool):
        assert not asked().to(dtype).requires_grad
        with pytest.raises(RuntimeError, match="can require gradients"):
            torch.ones(2).to(dtype).requires_grad_()
    space = {"torch": torch}
    exec(registry.find("02.2").solution, space)
    large = torch.tensor([2**24 + 1])
    assert space["answer"](large).tolist() == [2**24 + 1]
    assert large.float().tolist() != [2**24 + 1]


def test_02_4_a_layer_may_hold_no_parameter_some_or_other_layers():
    says("02.4", "a layer may hold no parameter, some, or other layers")
    says("02.4", "a ReLU has neither, and the bias of a Linear may be None")
    assert not list(nn.ReLU().parameters())
    assert nn.Linear(1, 1, bias=False).bias is None
    assert len(list(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)).parameters())) == 4


def test_the_example_of_freezing_a_part_of_a_model():
    says("x6", '["layer4.0.weight", "layer4.0.bias", …]')
    freeze = run(registry.find("02.6").solution)
    model = nn.ModuleDict({"layer4": nn.Sequential(nn.Linear(1, 1)), "layer40": nn.Linear(1, 1)})
    assert freeze(model, "layer4") == ["layer4.0.weight", "layer4.0.bias"]
