"""What lesson 02 says of flags, grad mode and frozen layers is run in plain torch.

Reads the lesson.
"""

import copy

import pytest
import torch
from said import said
from torch import nn

from helpers import check
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


def asked():
    return torch.tensor([5.0, 6.0], requires_grad=True)


def test_a_later_operation_records_no_earlier_one():
    assert "computing `b` does not go back to change it" in said("02", "rg-05")
    assert "raising one afterwards does not record it" in said("02", "rg-29")
    x = torch.ones(2)
    before = x * 3
    x.requires_grad_()
    assert (before + x).requires_grad
    assert (before.requires_grad, before.grad_fn) == (False, None)


def test_zeros_like_does_not_require_grad():
    assert '`torch.zeros_like(z)`?" (False' in said("02", "rg-19")
    z = torch.tensor([[5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    zeros = torch.zeros_like(z)
    assert (zeros.shape, zeros.dtype, zeros.requires_grad) == (z.shape, z.dtype, False)


def test_under_no_grad_a_result_requires_grad_only_where_it_is_the_input_or_a_view_of_it():
    assert "each returned `z` itself, with its flag up" in said("02", "rg-22")
    assert "| under `no_grad()` | no, unless it is `z` itself or a view |" in said("02", "rg-50")
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
    assert all(result is z and result.requires_grad for result in same)
    assert all(view.requires_grad and view.grad_fn is None for view in views)
    assert not any(result.requires_grad for result in new)


def test_a_view_reads_the_flag_of_its_base_and_is_not_recorded_by_it():
    assert "it reads its flag from `z`: True, without a `grad_fn`" in said("02", "rg-22")
    assert "A view, such as `x[:1]`, would show the new flag" in said("02", "rg-29")
    assert "| the flag comes after the operation | no, unless it is a view |" in said("02", "rg-50")
    x = torch.ones(2)
    view, copy = x[:1], x * 3
    x.requires_grad_()
    assert (view.requires_grad, view.grad_fn, copy.requires_grad) == (True, None, False)
    x.requires_grad_(False)
    assert not view.requires_grad


def test_a_leaf_may_be_flagged_and_a_recorded_tensor_may_not_be_lowered():
    assert "that of `x`, and that of `before` too. `after` was recorded" in said("02", "rg-32")
    x = torch.ones(2)
    before = x * 3
    after = x.requires_grad_() * 3
    assert before.is_leaf
    assert before.requires_grad_().requires_grad
    assert not x.requires_grad_(False).requires_grad
    with pytest.raises(RuntimeError, match="leaf variables"):
        after.requires_grad_(False)


def test_the_flag_of_a_leaf_is_read_again_when_its_gradient_arrives():
    assert "leaves `x.grad` None: the flag of a leaf is read again" in said("02", "rg-33")
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
    assert "under plain SGD a zero gradient would keep a weight" in said("02", "rg-37")
    assert "weight decay shrinks the weight, and momentum or Adam's averages carry on" in said(
        "02", "rg-40"
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


def test_training_only_the_first_layer_still_records_every_operation_after_it():
    assert "no path gets shorter" in said("02", "rg-41")
    assert (
        "with twenty Linear layers and GELU about half of the nodes and of the saved bytes"
        in said("02", "rg-41")
    )
    names, nodes, saved = recorded(freeze=False)
    names_frozen, nodes_frozen, saved_frozen = recorded(freeze=True)
    assert names_frozen == names
    assert 0.4 < nodes_frozen / nodes < 0.6
    assert 0.4 < saved_frozen / saved < 0.6


def recorded(freeze):
    """Return the operations of 20 layers with GELU, how many nodes stand behind, and how many bytes
    they save.
    """
    model = nn.Sequential(*[layer for _ in range(20) for layer in (nn.Linear(64, 64), nn.GELU())])
    model[1:].requires_grad_(not freeze)
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    saved = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        todo, seen = [model(torch.ones(32, 64)).grad_fn], set()
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
