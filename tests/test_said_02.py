"""What lesson 02 says of flags, grad mode and frozen layers is run in plain torch.

Reads the lesson.
"""

import copy

import pytest
import torch
from lab_answers import LABS
from said import message, said
from torch import nn

from helpers.clinic.catalogue import book
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.exercises.verdict import judge
from helpers.moons import moons
from helpers.predicting.programs import outcome
from helpers.predicting.questions import question


def means(message):
    return next(one.means for one in book().symptoms if message in one.message)


def asked():
    return torch.tensor([5.0, 6.0], requires_grad=True)


def test_a_later_operation_records_no_earlier_one():
    assert "Raising a flag later records nothing.**" in said("02", "f1-because")
    x = torch.ones(2)
    before = x * 3
    x.requires_grad_()
    assert (before + x).requires_grad
    assert (before.requires_grad, before.grad_fn) == (False, None)


def test_zeros_like_does_not_require_grad():
    assert "`zeros_like` copies only the shape and the dtype." in said("02", "rg-18")
    z = torch.tensor([[5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    zeros = torch.zeros_like(z)
    assert (zeros.shape, zeros.dtype, zeros.requires_grad) == (z.shape, z.dtype, False)


def test_under_no_grad_what_is_computed_is_plain_and_what_you_make_is_what_you_ask_for():
    text = said("02", "rg-25")
    assert "**`no_grad()` stops the recording, but it doesn't change any flag.**" in text
    assert "an `nn.Parameter` that you make inside the block requires grad all the same" in text
    z = asked()
    with torch.no_grad():
        new = [z.double(), z.clone(), z * 2, z.relu(), *z.sort(), torch.stack([z, z])]
        made = [torch.ones(2, requires_grad=True), nn.Parameter(torch.ones(2)), torch.ones(2)]
        views = [z.view(2), z[:1]]
    assert z.requires_grad
    assert not any(result.requires_grad for result in new)
    assert [tensor.requires_grad for tensor in made] == [True, True, False]
    assert [view.requires_grad for view in views] == [True, True]


def test_what_shares_memory_and_is_detached_never_shows_the_flag():
    assert (
        "`x.detach()` (lesson 08) and `x.data` share the memory of `x` too, but they never show its flag"
        in said("02", "e1-because")
    )
    x = torch.ones(2)
    for when in ("before", "after"):
        made = [x.detach(), x.data]
        x.requires_grad_()
        assert not any(one.requires_grad for one in made), when
        assert all(one.data_ptr() == x.data_ptr() for one in made)


def test_a_view_reads_the_flag_of_its_base_and_is_not_recorded_by_it():
    assert "**A view shows the flag of its base." in said("02", "e1-because")
    assert "(No error, and it still reads True: you see the flag of `x`.)" in said("02", "e1-notes")
    assert "(Then it is recorded, and `x.grad` is `[2., 0.]`.)" in said("02", "e1-notes")
    x = torch.ones(2)
    view = x[:1]
    x.requires_grad_()
    assert (view.requires_grad, view.grad_fn) == (True, None)
    assert view.requires_grad_(False).requires_grad
    (view * 2).sum().backward()
    assert x.grad is None
    (x[:1] * 2).sum().backward()
    assert x.grad.tolist() == [2, 0]


def test_a_leaf_may_be_flagged_and_a_recorded_tensor_may_not_be_lowered():
    assert "says how it was made" in means("flags of leaf variables")
    x = torch.ones(2)
    before = x * 3
    after = x.requires_grad_() * 3
    assert before.is_leaf
    assert before.requires_grad_().requires_grad
    assert not x.requires_grad_(False).requires_grad
    with pytest.raises(RuntimeError, match="leaf variables"):
        after.requires_grad_(False)


def test_02_2_none_of_these_sets_the_flag():
    text = message("02.2", "None of these sets the flag")
    for words in (
        "a cast",
        "a comparison",
        "a misspelt attribute",
        "`detach()`",
        "under `no_grad`",
    ):
        assert words in text
    x = torch.tensor([1, 2]).float()
    x.required_grad = True
    with torch.no_grad():
        total = x + asked()
    assert not any(t.requires_grad for t in (x, asked().detach(), total))


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.int8, torch.bool]
)
def test_02_2_the_flag_goes_up_only_where_a_dtype_can_have_a_gradient(dtype):
    assert "only on a tensor whose dtype can have a gradient" in message("02.2", "goes up")
    can = dtype.is_floating_point or dtype.is_complex
    x = torch.ones(2).to(dtype)
    if can:
        assert x.requires_grad_().requires_grad
        return
    with pytest.raises(RuntimeError, match="can require gradients"):
        x.requires_grad_()


def test_02_2_the_solution_keeps_a_large_count():
    exercise = registry.find("02.2")
    assert "`counts.double()` makes a tensor of floats" in exercise.hints[1]
    assert "exact up to 2**53" in exercise.solution
    space = {"torch": torch}
    exec(exercise.solution, space)
    large = torch.tensor([2**24 + 1])
    assert space["answer"](large).tolist() == [2**24 + 1]
    assert large.float().tolist() != [2**24 + 1]
    for cast in (torch.Tensor.float, torch.Tensor.double):  # no case is so large: both are right
        assert (
            judge(exercise, lambda counts, cast=cast: cast(counts).requires_grad_()).kind == "right"
        )


def test_02_4_a_layer_may_hold_no_parameter_some_or_other_layers():
    assert "a layer may hold no parameter, some, or other layers" in message("02.4", "may hold")
    assert "a ReLU has neither, and the bias of a Linear may be None" in message("02.4", "neither")
    assert not list(nn.ReLU().parameters())
    assert not hasattr(nn.ReLU(), "weight")
    assert nn.Linear(1, 1, bias=False).bias is None
    assert len(list(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)).parameters())) == 4
    assert all(list(kind(3).parameters()) for kind in (nn.LayerNorm, nn.BatchNorm1d))


def test_02_4_freezing_by_other_means_is_refused():
    def swapped(model):
        for at in range(len(model) - 1):
            model[at] = copy.deepcopy(model[at]).requires_grad_(False)

    verdict = judge(registry.find("02.4"), swapped)
    assert "The model is no longer the one that came in" in verdict.text


def test_what_is_computed_without_the_flag_gets_it_from_no_later_one_except_by_a_write():
    assert "**An operation reads the flags of its inputs when it runs." in said("02", "f1-because")
    x = torch.ones(2)
    view = x[:1]
    x.requires_grad_()
    (view * 2).sum().backward()
    assert x.grad is None
    moved = torch.ones(2).requires_grad_()
    assert (moved * 3).requires_grad, "the call, up by one"
    x, w = torch.ones(2), torch.ones(2, requires_grad=True)
    view = x[:2]
    x.mul_(w)  # a recorded write: so no text says that a view cannot be recorded later
    assert view.grad_fn is not None
    assert view.requires_grad


def test_an_input_that_requires_grad_is_needed_and_not_enough():
    assert "**One input that requires grad is enough.**" in said("02", "d1-because")
    assert "**The operation decides, too: some results are never recorded.**" in said("02", "rg-18")
    assert "(False: they are integers.)" in said("02", "rg-19")
    x, z = torch.tensor([5.0, 6.0]), asked()
    made = [lambda t: t * 2, torch.round, torch.exp, lambda t: t[:1], torch.Tensor.clone, torch.sum]
    assert not any(make(x).requires_grad for make in made)
    assert all(make(z).requires_grad for make in made)
    assert (z.sort().values.requires_grad, z.sort().indices.requires_grad) == (True, False)
    assert not (z.argmax() != 0).float().requires_grad, "a count of wrong answers"
    assert not z.new_zeros(2).requires_grad


def test_true_promises_no_useful_slope():
    text = said("02", "rg-18")
    assert "the flag promises no useful slope. `round` hands on zeros, and `z // 2` has no" in text
    assert "(True, and that the derivative is not implemented.)" in said("02", "rg-19")
    floored = asked() // 2
    assert floored.requires_grad
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        floored.sum().backward()


def test_what_was_computed_in_the_block_is_a_constant_after_it():
    assert "`d` used it as a constant" in said("02", "rg-25")
    z = asked()
    with torch.no_grad():
        c = z * 2
    (c * z).sum().backward()
    assert z.grad.tolist() == c.tolist() == [10.0, 12.0]
    assert "By calculus this is right: it is `4 * z`" in said("02", "rg-25")
    z.grad = None
    (2 * z**2).sum().backward()
    assert z.grad.tolist() == [20.0, 24.0]


def test_round_is_recorded_with_a_gradient_of_zeros():
    assert "But zero is a slope, too." in said("02", "rg-18")
    assert "(Zeros, and no error.)" in said("02", "rg-19")
    z = asked()
    z.round().sum().backward()
    assert z.grad.tolist() == [0.0, 0.0]


def test_a_tensor_takes_an_attribute_of_any_name():
    assert "is just an attribute that nobody reads. So is a misspelt flag on a tensor." in said(
        "02", "rg-50"
    )
    text = means("x.required_grad = True was accepted")
    assert "hang a new attribute on a tensor, and autograd never reads this one" in text
    x = torch.ones(2)
    for name in ("required_grad", "requires_gradient", "anything"):
        setattr(x, name, True)
    assert not (x * 3).requires_grad
    assert (x * 3).grad_fn is None
    assert (asked() * 3).requires_grad


def test_a_frozen_front_part_adds_no_node_and_saves_nothing():
    assert "**A frozen layer with plain input is not recorded.**" in said("02", "rg-36")
    assert "The *method* visits every parameter." in said("02", "rg-36")
    model = nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.Linear(3, 3), nn.GELU(), nn.Linear(3, 1))
    front, last = model[:-1].requires_grad_(False), model[-1]
    assert not any(parameter.requires_grad for parameter in front.parameters())
    x, saved = torch.ones(2, 3), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        h = front(x)
        assert (h.grad_fn, saved) == (None, [])
        last(h)
    assert saved
    assert front(x.requires_grad_()).grad_fn is not None


def test_the_last_layer_saved_what_the_tanh_put_out():
    assert "its output went in as a constant, which the last layer saved" in said("02", "q11-notes")
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    model[0].requires_grad_(False)
    x = torch.ones(4, 2)
    assert torch.equal(model(x).grad_fn._saved_mat1, model[:2](x))


def test_a_flag_on_a_module_freezes_nothing_and_the_method_does():
    assert "we only gave the module a new attribute, and nobody reads it" in said("02", "rg-36")
    layer = nn.Linear(1, 1)
    layer.requires_grad = False
    assert all(parameter.requires_grad for parameter in layer.parameters())
    assert layer(torch.ones(1, 1)).requires_grad
    layer.requires_grad_(False)
    assert not layer(torch.ones(1, 1)).requires_grad


def test_the_moons_are_the_same_at_each_call_and_leave_random_numbers_alone():
    state = torch.random.get_rng_state()
    (x, y), (again, _) = moons(), moons()
    assert torch.equal(x, again)
    assert (x.shape, y.shape, sorted(set(y.flatten().tolist()))) == ((100, 2), (100, 1), [0.0, 1.0])
    assert torch.equal(torch.random.get_rng_state(), state)


def test_the_program_was_mended_by_two_lines():
    told = question("02.f1").told
    assert outcome("\n".join(question("02.f1").shown["lines"])).printed == ("tensor([3., 8.])",)
    assert "it prints tensor([ 6., 16.]), and no error comes." in told["tells"][1]


def test_eval_changes_no_flag():
    assert "Does `model.eval()` freeze anything? (No flag changes.)" in said("02", "q11-notes")
    assert "`eval()`, for one, changes none" in message("02.4", "`eval()`")
    model = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1), nn.Dropout()).eval()
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_in_the_lab_nothing_is_recorded_with_grad_mode_off():
    assert "(Anywhere with grad mode off; find another.)" in said("02", "rg-54")
    assert "in which `a` is recorded? (None.)" in said("02", "rg-54")
    states = LABS["02"].map().states
    off = [state for state in states if state.fact("grad mode") == "off"]
    assert off
    for state in off:
        assert state.value("a", "requires_grad") == state.value("b", "requires_grad") == "False"
    up = [
        {name: state.value(name, "requires_grad") == "True" for name in "xyzab"}
        for state in states
        if state not in off
    ]
    both = {"x": True, "y": True, "z": True, "a": True, "b": True}
    assert both in up
    assert both | {"y": False} in up, "another: y, when x is up"


def test_02_1_an_index_and_what_detach_returns_are_plain():
    exercise = registry.find("02.1")
    assert "an index and the result of `detach()` are plain" in exercise.right
    assert "an index may not, and `detach()` never does" in exercise.hints[1]
    assert "Comparisons, integers and `detach()` drop the flag." in said("02", "rg-50")
    assert not (asked() > 5).requires_grad
    z = asked()
    for tensor in (z, z * 2, z[:1], torch.ones(2)):
        assert not tensor.detach().requires_grad
        assert not tensor.argmax().requires_grad
        with pytest.raises(RuntimeError, match="can require gradients"):
            tensor.argmax().requires_grad_()


def test_02_2_only_a_tensor_has_a_flag_and_a_cast_to_integers_gives_it_up():
    assert "a list or a number of Python's has none" in message("02.2", "Only a tensor")
    assert "A cast back to an integer dtype gives a flag up" in message("02.2", "gives a flag up")
    assert not any(hasattr(one, "requires_grad") for one in ([1.0], 1.0, asked().requires_grad))
    for dtype in (torch.int8, torch.int32, torch.int64, torch.bool):
        assert not asked().to(dtype).requires_grad


def test_02_3_after_a_free_layer_a_frozen_one_is_recorded():
    assert "After a free layer a frozen one is recorded" in registry.find("02.3").right
    free, frozen = nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)
    x = torch.ones(1, 1)
    assert frozen(x).grad_fn is None
    frozen(free(x)).backward()
    assert free.weight.grad is not None
    with torch.no_grad():
        assert frozen(free(x)).grad_fn is None


def test_02_4_with_nothing_left_that_requires_grad_backward_raises():
    text = message("02.4", "You froze the whole model")
    assert "With a plain input nothing is left that requires grad, and `backward()` would" in text
    with pytest.raises(RuntimeError, match="does not require grad"):
        nn.Linear(1, 1).requires_grad_(False)(torch.ones(1, 1)).backward()
    x = torch.ones(1, 1, requires_grad=True)
    nn.Linear(1, 1).requires_grad_(False)(x).backward()
    assert x.grad is not None


def test_in_the_lab_keys_5_to_7_choose_the_second_line():
    assert "Keys 5 to 7 choose the second line" in said("02", "rg-51")
    chosen = [action.code.startswith("b = ") for action in LABS["02"].world.actions]
    assert chosen == [False] * 4 + [True] * 3


def test_what_stands_after_a_free_layer_is_recorded_though_it_is_frozen():
    assert (
        "or a layer before it is not frozen, a frozen layer is recorded and hands gradients on"
        in (said("02", "rg-36"))
    )
    assert "(Those of the first: the frozen layer hands the gradient on.)" in said(
        "02", "q11-notes"
    )
    front, last = (nn.Linear(1, 1, bias=False) for _ in range(2))
    x = torch.tensor([[3.0]])
    assert front.requires_grad_(False)(x).grad_fn is None
    front.requires_grad_(True)
    last.requires_grad_(False)
    y = last(front(x))
    assert "MmBackward0" in y.grad_fn.name()
    assert any(after and "MmBackward0" in after.name() for after, _ in y.grad_fn.next_functions)


def test_freezing_leaves_statistics_and_old_gradients_to_you():
    text = said("02", "rg-50")
    assert "a frozen BatchNorm still updates its running statistics; `eval()` stops that" in text
    assert "And clear old gradients when you freeze." in text
    norm, x = nn.BatchNorm1d(2).requires_grad_(False), torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    norm(x)
    moved = norm.running_mean.clone()
    assert moved.tolist() != [0, 0]
    norm.eval()(x)
    assert torch.equal(norm.running_mean, moved)
    assert "unless an old `.grad` still lies there" in registry.find("02.4").right
    for kind in (torch.optim.SGD, torch.optim.Adam):
        weight = nn.Parameter(torch.ones(1))
        weight.grad = torch.ones(1)
        optimizer = kind([weight.requires_grad_(False)], lr=0.1)
        optimizer.step()
        after = weight.item()
        assert after != 1
        weight.grad = None
        optimizer.step()
        assert weight.item() == after


def test_a_late_flag_shows_on_a_view_made_earlier_and_not_on_a_result():
    assert "a view made earlier does show the new flag" in said("02", "f1-because")
    x = torch.ones(2)
    view, result = x[:1], x * 2
    x.requires_grad_()
    assert (view.requires_grad, result.requires_grad) == (True, False)


def test_addmm_is_the_last_layer_and_t_turns_its_weight():
    assert "*Addmm* is the last layer, and *T* turns its weight matrix round." in said(
        "02", "rg-36"
    )
    layer = nn.Linear(8, 1)
    node = layer(torch.ones(4, 8)).grad_fn
    turned = node.next_functions[2][0]
    assert (node.name(), turned.name()) == ("AddmmBackward0", "TBackward0")
    assert turned.next_functions[0][0].variable is layer.weight


def test_the_example_of_freezing_a_part_of_a_model():
    assert '["layer4.0.weight", "layer4.0.bias", …]' in said("02", "x6")
    freeze = run(registry.find("02.6").solution)
    model = nn.ModuleDict({"layer4": nn.Sequential(nn.Linear(1, 1)), "layer40": nn.Linear(1, 1)})
    assert freeze(model, "layer4") == ["layer4.0.weight", "layer4.0.bias"]
    assert freeze(model, "layer4") == []
    assert model.layer40.weight.requires_grad
    with pytest.raises(AttributeError):
        freeze(model, "layr4")
    assert "An old `.grad` is not as it should be" in " ".join(registry.find("02.6").known)
    old = nn.Linear(1, 1)
    old(torch.ones(1, 1)).sum().backward()
    before = old.requires_grad_(False).weight.item()
    torch.optim.SGD(old.parameters(), lr=1.0).step()
    assert old.weight.item() == pytest.approx(before - 1)
