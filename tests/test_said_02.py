"""What lesson 02 claims of flags, grad mode and frozen layers beyond its own cells, run in torch."""

import pytest
import torch
from lab_answers import LABS
from torch import nn

from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons


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
    x, z = torch.tensor([5.0, 6.0]), asked()
    for make in (lambda t: t * 2, torch.round, lambda t: t[:1], torch.clone, torch.sum):
        assert flags(make(x), make(z)) == [False, True]
    assert flags(*z.sort()) == [True, False]
    assert flags(z > 5, z.long(), z.argmax(), z.detach(), torch.zeros_like(z)) == [False] * 5
    assert torch.zeros_like(torch.ones(2, device="meta")).is_meta, "more than shape and dtype"
    with pytest.raises(RuntimeError, match="can require gradients"):
        z.argmax().requires_grad_()


def test_true_promises_no_useful_slope():
    z = asked()
    z.round().sum().backward()
    assert z.grad.tolist() == [0.0, 0.0]
    floored = z // 2
    assert floored.requires_grad
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        floored.sum().backward()


def test_a_late_flag_records_nothing_and_shows_on_a_view_alone():
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
    x = torch.ones(2)
    after = x.requires_grad_() * 3
    assert not x.requires_grad_(False).requires_grad
    with pytest.raises(RuntimeError, match="leaf variables"):
        after.requires_grad_(False)


# Idea 3: grad mode


def test_under_no_grad_what_is_computed_is_plain_and_what_you_make_is_what_you_ask_for():
    z = asked()
    with torch.no_grad():
        new = [z.double(), z.clone(), z * 2, z.relu(), *z.sort(), torch.stack([z, z])]
        made = [torch.ones(2, requires_grad=True), nn.Parameter(torch.ones(2)), torch.ones(2)]
        with torch.enable_grad():
            assert (z * 2).requires_grad
    assert z.requires_grad
    assert not any(flags(*new))
    assert flags(*made) == [True, True, False]
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
    z = asked()
    (2 * z**2).sum().backward()
    assert z.grad.tolist() == [20.0, 24.0]


# Idea 4: frozen layers


def test_a_frozen_front_part_adds_no_node_and_saves_nothing():
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
    layer = nn.Linear(1, 1)
    layer.requires_grad = False
    assert flags(*layer.parameters()) == [True, True]
    layer.requires_grad_(False)
    assert flags(*layer.parameters()) == [False, False]
    x = torch.ones(2)
    x.required_grad = True
    assert not (x * 3).requires_grad


def test_what_stands_after_a_free_layer_is_recorded_though_it_is_frozen():
    free, frozen = nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)
    x = torch.ones(1, 1)
    assert frozen(x).grad_fn is None
    with pytest.raises(RuntimeError, match="does not require grad"):
        frozen(x).backward()
    frozen(free(x)).backward()
    assert free.weight.grad is not None
    assert frozen.weight.grad is None


def test_the_cards_of_the_last_layer():
    layer = nn.Linear(8, 1)
    turned = layer(torch.ones(4, 8)).grad_fn.next_functions[2][0]
    assert turned.name() == "TBackward0"
    assert turned.next_functions[0][0].variable is layer.weight


def test_freezing_leaves_statistics_and_old_gradients_to_you():
    norm, x = nn.BatchNorm1d(2).requires_grad_(False), torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    norm(x)
    moved = norm.running_mean.clone()
    assert moved.tolist() != [0, 0]
    norm.eval()(x)
    assert torch.equal(norm.running_mean, moved)
    assert flags(*nn.BatchNorm1d(2).eval().parameters()) == [True, True]
    for kind in (torch.optim.SGD, torch.optim.Adam):
        weight = nn.Parameter(torch.ones(1))
        weight.grad = torch.ones(1)
        kind([weight.requires_grad_(False)], lr=0.1).step()
        assert weight.item() != 1


# The lab and the exercises


def test_in_no_state_of_the_lab_is_anything_recorded_while_grad_mode_is_off():
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
    assert not list(nn.ReLU().parameters())
    assert nn.Linear(1, 1, bias=False).bias is None
    assert len(list(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)).parameters())) == 4


def test_the_example_of_freezing_a_part_of_a_model():
    freeze = run(registry.find("02.6").solution)
    model = nn.ModuleDict({"layer4": nn.Sequential(nn.Linear(1, 1)), "layer40": nn.Linear(1, 1)})
    assert freeze(model, "layer4") == ["layer4.0.weight", "layer4.0.bias"]
