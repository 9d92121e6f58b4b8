"""What lesson 02 says of flags, grad mode and frozen layers is run in plain torch.

Reads the lesson.
"""

import copy
import json

import pytest
import torch
from lab_answers import LABS
from said import NOTEBOOKS, said
from torch import nn

from helpers import check
from helpers.clinic.catalogue import book
from helpers.exercises import exercise as registry
from helpers.exercises.verdict import judge

CAUGHT = [
    ("model[0].requires_grad_(False)", "You froze the first layer alone."),
    ("next(m for m in model if isinstance(m, nn.Linear)).requires_grad_(False)", "You froze the first layer alone."),
    ("[p.requires_grad_(False) for p in list(model.parameters())[:-2]]", "You left the last two parameters free"),
    ("[m.requires_grad_(False) for m in model[:-1] if isinstance(m, nn.Linear)]", "the Linear layers that the model holds itself"),
    ("[(m.weight.requires_grad_(False), m.bias.requires_grad_(False)) for m in model[:-1] if isinstance(m, nn.Linear)]",
     "Not every layer has a weight and a bias"),
    ("[p.requires_grad_(False) for n, p in model[:-1].named_parameters() if 'weight' in n]", "You froze what is called a weight"),
    ("[m.requires_grad_(False) for m in list(model.modules())[1:-1]]", "1 went wrong"),
]  # fmt: skip
RIGHT = [
    "model[:-1].requires_grad_(False)",
    "[p.requires_grad_(n.startswith(f'{len(model) - 1}.')) for n, p in model.named_parameters()]",
    "(model.requires_grad_(False), model[-1].requires_grad_(True))",
    "[model.__setitem__(i, model[i].requires_grad_(False)) for i in range(len(model) - 1)]",
]


def means(message):
    return next(one.means for one in book().symptoms if message in one.message)


def asked():
    return torch.tensor([5.0, 6.0], requires_grad=True)


def test_a_later_operation_records_no_earlier_one():
    assert "computing `b` does not go back to change it" in said("02", "rg-05")
    assert "Raising one afterwards does not record it" in said("02", "rg-29")
    x = torch.ones(2)
    before = x * 3
    x.requires_grad_()
    assert (before + x).requires_grad
    assert (before.requires_grad, before.grad_fn) == (False, None)


def test_zeros_like_does_not_require_grad():
    assert "`zeros_like` takes shape and dtype from `z`, and none of its numbers" in said(
        "02", "rg-18"
    )
    z = torch.tensor([[5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    zeros = torch.zeros_like(z)
    assert (zeros.shape, zeros.dtype, zeros.requires_grad) == (z.shape, z.dtype, False)


def test_under_no_grad_a_result_requires_grad_only_where_it_is_the_input_or_a_view_of_it():
    assert "And `z.float()` had nothing to do: it returned `z` itself" in said("02", "rg-22")
    assert '`z.contiguous()`?" (`z` again: nothing to do.)' in said("02", "q4-notes")
    assert "(`z` again, written in place.)" in said("02", "q4-notes")
    assert "(For what an operation computed anew." in said("02", "q4-notes")
    assert "what you make yourself has the flag that you ask for" in said("02", "q4-notes")
    assert "Another device, another tensor: False." in said("02", "q4-notes")
    assert "New results are plain. `z` itself and slices of it show its flag." in said(
        "02", "rg-50"
    )
    assert "`z` itself and views such as `z[:1]` show the flag of `z`" in said("02", "q4-notes")
    z = asked()
    with torch.no_grad():
        same = [z.float(), z.cpu(), z.to("cpu"), z.contiguous(), nn.Dropout().eval()(z), z.mul_(1)]
        views = [z.view(2), z[:1], z.t(), z.expand(3, 2), *z.split(1)]
        new = [
            z.double(),
            z.clone(),
            z * 2,
            z.relu(),
            z.to("meta"),
            z.detach(),
            *z.sort(),
            torch.stack([z, z]),
        ]
        made = [torch.ones(2, requires_grad=True), nn.Parameter(torch.ones(2)), torch.ones(2)]
    assert all(result is z and result.requires_grad for result in same)
    assert all(view.requires_grad and view.grad_fn is None for view in views)
    assert not any(result.requires_grad for result in new)
    with torch.no_grad():
        assert not z.view(torch.int32).requires_grad, "a view of another dtype"
    assert [tensor.requires_grad for tensor in made] == [True, True, False]


def test_a_view_reads_the_flag_of_its_base_and_is_not_recorded_by_it():
    assert "a window on `z`, which shows the flag of `z`" in said("02", "rg-22")
    assert "The next cell says that it shows the flag of `x`" in said("02", "rg-29")
    x = torch.ones(2)
    view, copy = x[:1], x * 3
    x.requires_grad_()
    assert (view.requires_grad, view.grad_fn, copy.requires_grad) == (True, None, False)
    assert "`view.requires_grad` is still True: it is the flag of `x` that you read" in said(
        "02", "q6-notes"
    )
    assert view.requires_grad_(False).requires_grad
    x.requires_grad_(False)
    assert not view.requires_grad


def test_a_leaf_may_be_flagged_and_a_recorded_tensor_may_not_be_lowered():
    assert "A tensor without a `grad_fn` is a **leaf**: `x`, and `before` too" in said(
        "02", "rg-32"
    )
    for text in (means("flags of leaf variables"), said("02", "rg-32")):
        assert "says how it was made" in text
    x = torch.ones(2)
    before = x * 3
    after = x.requires_grad_() * 3
    assert before.is_leaf
    assert before.requires_grad_().requires_grad
    assert not x.requires_grad_(False).requires_grad
    with pytest.raises(RuntimeError, match="leaf variables"):
        after.requires_grad_(False)


def test_the_flag_of_a_leaf_is_read_again_when_its_gradient_arrives():
    assert "the flag of a leaf, now down, is read again when its gradient arrives" in said(
        "02", "rg-32"
    )
    x = asked()
    after = x * 3
    x.requires_grad_(False)
    assert after.requires_grad
    after.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("kind", "settings", "moves"),
    [
        (torch.optim.SGD, {}, False),
        (torch.optim.SGD, {"weight_decay": 1.0}, True),
        (torch.optim.SGD, {"momentum": 0.9}, True),
        (torch.optim.Adam, {}, True),
    ],
)
def test_a_zero_gradient_may_move_a_weight_and_none_does_not(kind, settings, moves):
    assert "without a gradient it is skipped, with 0 it moves" in said("02", "rg-40")
    assert "With plain SGD yes; with momentum or Adam an earlier gradient carries on" in said(
        "02", "rg-41"
    )
    assert stepped(torch.zeros(1), kind, settings) is moves
    assert stepped(None, kind, settings) is False


def stepped(gradient, kind, settings):
    """Tell whether a step with `gradient` moves a weight of 5 that had one step with the gradient 1
    before.
    """
    weight = torch.tensor([5.0], requires_grad=True)
    optimizer = kind([weight], lr=0.1, **settings)
    weight.grad = torch.ones(1)
    optimizer.step()
    first, weight.grad = weight.item(), gradient
    optimizer.step()
    return weight.item() != first


@pytest.mark.slow
def test_training_only_the_first_layer_still_records_every_operation_after_it():
    assert "no path gets shorter" in said("02", "rg-41")
    text = said("02", "rg-41")
    assert "of twenty Linear layers with GELU over half of the nodes, leaves counted" in text
    assert "and in a large batch nearly half of the saved bytes" in text
    names, nodes, saved = recorded(freeze=False, batch=512)
    names_frozen, nodes_frozen, saved_frozen = recorded(freeze=True, batch=512)
    assert names_frozen == names
    assert nodes_frozen / nodes < 0.5
    assert 0.5 < saved_frozen / saved < 0.6
    few = [recorded(freeze, batch=8)[2] for freeze in (True, False)]
    assert few[0] / few[1] > 0.85, "in a small batch the saved weights outweigh the rest"


def recorded(freeze, batch):
    """Return the operations of 20 layers with GELU, how many nodes stand behind, and how many bytes
    they save.
    """
    model = nn.Sequential(*[layer for _ in range(20) for layer in (nn.Linear(64, 64), nn.GELU())])
    model[1:].requires_grad_(not freeze)
    saved = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        todo, seen = [model(torch.ones(batch, 64)).grad_fn], set()
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [after for after, _ in node.next_functions]
    operations = [
        node.name() for node in seen if node.name() in ("AddmmBackward0", "GeluBackward0")
    ]
    return sorted(operations), len(seen), sum(saved.values())


@pytest.mark.parametrize(("line", "words"), CAUGHT)
def test_freezing_other_than_all_but_the_last_is_refused(line, words, unfolded, capsys):
    check("02.4", eval(f"lambda model: {line}", {"nn": nn}))
    told = capsys.readouterr().out
    assert told.startswith("02.4 ✗ ")
    assert words in told


@pytest.mark.parametrize("line", RIGHT)
def test_freezing_all_but_the_last_is_accepted_in_any_style(line, capsys):
    check("02.4", eval(f"lambda model: {line}"))
    assert capsys.readouterr().out.startswith("02.4 ✓ ")


def message(id, words):
    """Return the one message or principle of an exercise that holds these words."""
    exercise = registry.find(id)
    texts = [exercise.principle, *(idea.message for idea in exercise.misconceptions)]
    (text,) = [text for text in texts if words in text]
    return text


def test_02_2_no_flag_comes_of_these():
    text = message("02.2", "No flag comes of")
    for words in (
        "a new dtype",
        "an attribute of another spelling",
        "`detach()`",
        "a sum under `no_grad`",
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
    assert "floats that hold large counts exactly, too" in exercise.solution
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
    assert "An operation reads the flags of its inputs when it runs" in said("02", "rg-29")
    assert "without a `grad_fn`, no way leads from it to `x`" in said("02", "rg-29")
    assert 'what is in `x.grad`?" Type it: None, and no error' in said("02", "q6-notes")
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
    assert "**An input that requires grad is needed, but it is not enough.**" in said("02", "rg-18")
    assert "`z > 5` gives bools and `z.long()` integers: neither was recorded." in said(
        "02", "rg-18"
    )
    assert "`sort` decides for each of its two results" in said("02", "rg-19")
    x, z = torch.tensor([5.0, 6.0]), asked()
    made = [lambda t: t * 2, torch.round, torch.exp, lambda t: t[:1], torch.Tensor.clone, torch.sum]
    assert not any(make(x).requires_grad for make in made)
    assert all(make(z).requires_grad for make in made)
    assert (z.sort().values.requires_grad, z.sort().indices.requires_grad) == (True, False)
    assert not (z.argmax() != 0).float().requires_grad, "a count of wrong answers"
    assert not z.new_zeros(2).requires_grad


def test_true_promises_no_derivative():
    text = said("02", "rg-19")
    assert "(No: `z // 2` shows True, and its `backward()` says that the derivative *is not" in text
    floored = asked() // 2
    assert floored.requires_grad
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        floored.sum().backward()


def test_of_the_six_results_those_with_a_grad_fn_were_recorded_and_four_hold_floats():
    text = said("02", "rg-18")
    assert "where it matters, ask the result for its `grad_fn`" in text
    assert "`z` went into all six, and four refute that, two of them floats." in text
    z = asked()
    six = [z > 5, z.long(), z.round(), z.sort().values, z.detach(), torch.zeros_like(z)]
    plain = [one for one in six if not one.requires_grad]
    assert [one.grad_fn is None for one in six] == [not one.requires_grad for one in six]
    assert (len(plain), sum(one.is_floating_point() for one in plain)) == (4, 2)
    assert sum(one.is_floating_point() for one in six) == 4, "the four of option (c)"


def test_the_detector_of_a_constant_finds_a_view_that_was_made_in_the_block():
    text = said("02", "rg-25")
    assert "The detector is `assert c.grad_fn is not None`." in text
    assert "(A view made in the block would pass `assert c.requires_grad`, and is a const" in text
    z = asked()
    with torch.no_grad():
        product, view = z * 2, z[:]
    assert (product.requires_grad, view.requires_grad) == (False, True)
    assert (product.grad_fn, view.grad_fn) == (None, None)
    (view * z).sum().backward()
    assert z.grad.tolist() == [5.0, 6.0]  # as a constant; recorded it would be [10., 12.]
    assert (z * 2).grad_fn is not None
    assert z[:].grad_fn is not None


def test_round_is_recorded_with_a_gradient_of_zeros():
    assert "zero is a derivative, too: `z.round()` was recorded" in said("02", "rg-18")
    assert "all zeros, and no error" in said("02", "rg-19")
    z = asked()
    z.round().sum().backward()
    assert z.grad.tolist() == [0.0, 0.0]


def test_a_tensor_takes_an_attribute_of_any_name():
    assert "Python hangs a new attribute of any name on a tensor" in said("02", "rg-14")
    text = means("x.required_grad = True was accepted")
    assert "hang a new attribute on a tensor, and autograd never reads this one" in text
    x = torch.ones(2)
    for name in ("required_grad", "requires_gradient", "anything"):
        setattr(x, name, True)
    assert not (x * 3).requires_grad
    assert (x * 3).grad_fn is None
    assert "Here `assert (x * 3).requires_grad` would have told." in said("02", "rg-14")
    assert (asked() * 3).requires_grad


def test_a_plain_weight_among_others_raises_nothing():
    assert "`backward()` does not even fail: that weight just does not learn" in said("02", "rg-15")
    assert "one float makes all of them floats" in said("02", "rg-15")
    w, plain = asked(), torch.tensor([2.0, 3.0])
    (w * plain).sum().backward()
    assert w.grad is not None
    assert plain.grad is None
    assert torch.tensor([1, 2, 3.0], requires_grad=True).dtype == torch.float32


def test_a_recorded_result_keeps_its_flag_and_may_be_asked_for_it_again():
    assert "it is so already, and torch lets it pass" in said("02", "rg-33")
    assert "the assignment `after.requires_grad = True` raises" in said("02", "rg-33")
    after = asked() * 3
    assert after.requires_grad_(True) is after
    with pytest.raises(RuntimeError, match="leaf variables"):
        after.requires_grad = True


def test_a_leaf_is_a_tensor_without_a_grad_fn():
    assert "A tensor without a `grad_fn` is a **leaf**" in said("02", "rg-32")
    z = asked()
    with torch.no_grad():
        unrecorded = [z * 2, z[:1], z.float(), torch.ones(2, requires_grad=True)]
    plain = torch.ones(2)
    recorded = [z * 2, z[:1], z.double(), z.clone()]
    for tensor in (z, plain, plain * 3, plain[:1], z.detach(), z > 5, *unrecorded, *recorded):
        assert tensor.is_leaf == (tensor.grad_fn is None)
    assert not any(tensor.is_leaf for tensor in recorded)


def test_a_frozen_front_part_adds_no_node_and_saves_nothing():
    assert "A frozen front part adds no node, and saves nothing of its own" in said("02", "rg-36")
    assert "Then the first product is recorded" in said("02", "q8-notes")
    assert "`requires_grad_` of a module visits them all" in said("02", "rg-36")
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


def test_the_card_of_the_second_product_saved_the_first_result():
    assert "the card has saved the first result, 2 times 3, as `self`" in said("02", "q8-notes")
    two = [nn.Linear(1, 1, bias=False) for _ in range(2)]
    nn.init.constant_(two[0].weight, 2.0)
    two[0].requires_grad_(False)
    y = nn.Sequential(*two)(torch.tensor([[3.0]]))
    assert y.grad_fn._saved_self.item() == 2 * 3


def test_eval_changes_no_flag():
    text = said("02", "q8-notes")
    assert 'Does `model.eval()` freeze anything?" (No flag changes.' in text
    assert "But it stops the running statistics of a BatchNorm, which flags alone do not.)" in text
    assert "`eval()`, for one, changes none" in message("02.4", "`eval()`")
    model = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1), nn.Dropout()).eval()
    assert all(parameter.requires_grad for parameter in model.parameters())
    frozen = nn.BatchNorm1d(1).requires_grad_(False)
    x = torch.tensor([[1.0], [3.0]])
    frozen(x)
    moved = frozen.running_mean.item()
    frozen.eval()(x)
    assert moved != 0
    assert frozen.running_mean.item() == moved


def test_in_the_lab_nothing_is_recorded_with_grad_mode_off():
    assert "(Anywhere with grad mode off; find another.)" in said("02", "rg-54")
    assert 'in which `a` is recorded?" (None.)' in said("02", "rg-54")
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
    z = asked()
    for tensor in (z, z * 2, z[:1], torch.ones(2)):
        assert not tensor.detach().requires_grad
        assert not tensor.argmax().requires_grad
        with pytest.raises(RuntimeError, match="can require gradients"):
            tensor.argmax().requires_grad_()


def test_02_2_only_a_tensor_has_a_flag_and_a_cast_to_integers_gives_it_up():
    assert "a list or a number of Python's has none" in message("02.2", "Only a tensor")
    assert "a cast back to an integer dtype gives a flag up" in message("02.2", "gives a flag up")
    assert not any(hasattr(one, "requires_grad") for one in ([1.0], 1.0, asked().requires_grad))
    for dtype in (torch.int8, torch.int32, torch.int64, torch.bool):
        assert not asked().to(dtype).requires_grad


def test_02_3_after_a_free_layer_a_frozen_one_is_recorded():
    assert "After a free layer a frozen one is on the record" in registry.find("02.3").right
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


@pytest.mark.parametrize("cells", [("rg-21", "rg-24"), ("rg-35", "rg-38"), ("rg-28", "q7-more")])
def test_a_cell_that_walks_backward_may_be_run_again(cells):
    names = {"torch": torch, "nn": nn, "show": lambda tensor: None}
    for cell in cells:
        if cell == "q7-more":
            exec("x.requires_grad_(False)", names)  # as the cell between does, before it raises
        exec(code(cell), names)
    first = gradients(names)
    exec(code(cells[-1]), names)
    assert gradients(names) == first


def code(cell):
    (path,) = NOTEBOOKS.glob("02*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(one["source"]) for one in cells if one["id"] == cell)


def gradients(names):
    """Return the gradients that leaves hold among these names, and in a model among them."""
    model = names.get("model", nn.Module())
    held = [one for one in names.values() if isinstance(one, torch.Tensor) and one.is_leaf]
    return [None if one.grad is None else one.grad.tolist() for one in (*held, *model.parameters())]


def test_detach_returns_the_same_memory_without_a_record():
    assert "the same numbers in the same memory, without a record" in said("02", "rg-32")
    after = asked() * 3
    apart = after.detach()
    assert apart.data_ptr() == after.data_ptr()
    assert (apart.grad_fn, apart.requires_grad) == (None, False)


def test_in_the_lab_keys_5_to_7_choose_the_second_line():
    assert "5 to 7 choose the second line" in said("02", "rg-51")
    chosen = [action.code.startswith("b = ") for action in LABS["02"].world.actions]
    assert chosen == [False] * 4 + [True] * 3


def test_what_stands_after_a_free_layer_is_recorded_though_it_is_frozen():
    assert "That held for the frozen layer in front" in said("02", "rg-40")
    assert "Here the first weight asks, so both products were" in said("02", "rg-40")
    front, last = (nn.Linear(1, 1, bias=False) for _ in range(2))
    x = torch.tensor([[3.0]])
    assert front.requires_grad_(False)(x).grad_fn is None
    front.requires_grad_(True)
    last.requires_grad_(False)
    y = last(front(x))
    assert "MmBackward0" in y.grad_fn.name()
    assert any(after and "MmBackward0" in after.name() for after, _ in y.grad_fn.next_functions)
