"""What lesson 03, its exercises and the glossary say of leaves and kept gradients, run in plain torch."""

import warnings

import pytest
import torch
from said import said
from torch import nn

from helpers.clinic.catalogue import book
from helpers.exercises.exercise import find
from helpers.exercises.lessons.lesson_03 import CASE, GRADIENTS, LEAVES, MIDDLE
from helpers.exercises.programs import run
from helpers.moons import moons


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


def quietly(tensor):
    """Return `.grad` without the warning that a non-leaf gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.grad


def middle():
    """Return the lesson's leaf d, its logarithm t, and 5 * t."""
    d = torch.tensor(10.0, requires_grad=True)
    t = torch.log(d)
    return d, t, t * 5


def trained(w, skips=True):
    """Run the case with this weight; return how many points it gets right."""
    points, moon = moons()
    b = torch.zeros(1, requires_grad=True)
    for _ in range(100):
        guess = torch.sigmoid(points @ w + b)
        ((guess - moon) ** 2).mean().backward()
        with torch.no_grad():
            for each in (w, b):
                grad = quietly(each)
                if grad is not None or not skips:
                    each -= grad
                    each.grad = None
    return int((guess.round() == moon).sum())


def the_case():
    w = leaf(0.5, 0.5).reshape(2, 1)
    assert trained(w) == 45
    assert w.tolist() == [[0.5], [0.5]]
    assert trained(torch.tensor([0.5, 0.5]).reshape(2, 1).requires_grad_()) == 87
    with pytest.raises(TypeError, match="NoneType"):  # the note: without the `if`
        trained(leaf(0.5, 0.5).reshape(2, 1), skips=False)


def an_optimizer_skips_none():
    w, other = leaf(1.0), leaf(1.0)
    for kind in (torch.optim.SGD, torch.optim.Adam):
        other.grad = torch.ones(1)
        kind([w, other], lr=0.5, weight_decay=0.1).step()
    assert w.item() == 1
    assert other.item() != 1


def retain_grad_in_the_case():
    for change, moves in ((lambda x: x.reshape(2, 1), True), (lambda x: x[:, None].clone(), False)):
        start = leaf(0.5, 0.5)
        w = change(start)
        w.retain_grad()
        assert trained(w) == 87
        assert (start.tolist() == w.flatten().tolist()) == moves
        assert (start.tolist() == [0.5, 0.5]) != moves


def unrecorded_is_leaf():
    w = leaf(2.0, 3.0)
    with torch.no_grad():
        unrecorded = [w * 0.5, w[:1], w.to("meta")]
    with torch.inference_mode():
        unrecorded.append(w * 0.5)
    cut = (w * 3).detach_()
    results = [w * 3, w[:1], w.double(), *torch.sort(w), w > 0, w.long(), w.detach(), cut]
    made = [w, *unrecorded, *results, torch.ones(3), w.reshape(2, 1)]
    assert {(x.is_leaf, x.grad_fn is None) for x in made} == {(True, True), (False, False)}
    assert torch.ones(3).is_leaf
    assert not w.reshape(2, 1).is_leaf
    (term,) = [term for term in book().terms if term.name == "`is_leaf`"]
    assert term.says == "`t.is_leaf` is True if `t` has no `grad_fn`."


def a_leaf_becomes_a_non_leaf():
    p = leaf(2.0, 3.0) * 0.1
    with torch.no_grad():
        q = leaf(2.0, 3.0) * 0.1
    assert q.is_leaf
    q += p
    assert not q.is_leaf


def a_scaled_weight_leaves_its_gradient_behind():
    start = leaf(2.0, 3.0)
    w = torch.tensor(0.1) * start
    (w**2 + w).sum().backward()
    assert quietly(w) is None
    assert start.grad.tolist() == pytest.approx([0.14, 0.16])


def the_flag_does_not_matter_for_is_leaf():
    plain, flagged = torch.ones(2), leaf(1.0, 1.0)
    assert plain.is_leaf
    assert flagged.is_leaf
    (plain * flagged).sum().backward()
    q = plain * 5
    assert q.is_leaf
    assert q.requires_grad_().is_leaf
    assert not (torch.ones(2).requires_grad_() * 5).is_leaf


CHANGES = (lambda x: x * 0.1, lambda x: x.double(), lambda x: x.to("meta"), lambda x: x[:, None])


def what_comes_after_the_flag_is_recorded():
    for change in CHANGES:
        assert not change(leaf(2.0, 3.0)).is_leaf
        assert change(torch.tensor([2.0, 3.0])).requires_grad_().is_leaf
    x = leaf(2.0, 3.0)
    assert x.to("cpu") is x
    assert not x.to("meta").is_leaf  # stands for a GPU here
    with torch.no_grad():
        x.mul_(2)
        nn.init.normal_(x)
    assert x.is_leaf
    assert torch.tensor([2.0], dtype=torch.float64, device="meta", requires_grad=True).is_leaf


def a_module_keeps_its_leaves():
    for where in ("meta", torch.float64, "cpu"):
        module = nn.Linear(2, 1).to(where)
        assert all(one.is_leaf and one.requires_grad for one in module.parameters())


def who_keeps_a_gradient():
    a, b, c, unreached = (torch.ones(2, requires_grad=flag) for flag in (True, False, True, True))
    kept, dropped = a * b, a * c
    kept.retain_grad()
    assert a.grad is None, "before backward"
    (kept + dropped).sum().backward()
    found = [quietly(one) is not None for one in (a, c, kept, b, unreached, dropped)]
    assert found == [True, True, True, False, False, False]


def the_numbers_in_between():
    a, b, c, d = (torch.tensor(x, requires_grad=True) for x in (2.0, 3.0, 5.0, 10.0))
    t = torch.log(d)
    t.retain_grad()
    (a * b + t * c).backward()
    assert (t.grad.item(), d.grad.item(), a.grad.item(), b.grad.item()) == (5, 0.5, 3, 2)
    assert c.grad.item() == pytest.approx(t.item()) == pytest.approx(2.303, abs=1e-3)


def the_warning_has_two_remedies():
    _, t, _ = middle()
    with pytest.warns(UserWarning, match="not a leaf Tensor") as caught:
        assert t.grad is None
    text = str(caught[0].message)
    assert "use .retain_grad() on the non-leaf Tensor" in text
    assert "make sure you access the leaf Tensor instead" in text


def what_passes_later_is_kept():
    d, t, e = middle()
    e.backward(retain_graph=True)
    t.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the note: no warning comes
        assert t.grad is None
    torch.autograd.grad(d * 2, d)
    assert t.grad is None, "this backward did not pass t"
    for back, total in (
        (lambda: e.backward(retain_graph=True), 5.0),
        (lambda: e.backward(retain_graph=True), 10.0),
        (lambda: torch.autograd.grad(e, t, retain_graph=True), 15.0),
        (lambda: torch.autograd.grad(e, d, retain_graph=True), 20.0),
    ):
        back()
        assert t.grad.item() == total
    t.grad = None
    e.backward()
    assert t.grad.item() == 5, "the request stays"
    (term,) = [term for term in book().terms if term.name == "`retain_grad()`"]
    assert "each later `backward()` adds the gradient that passes through `t`" in term.says
    assert term.says.endswith("`autograd.grad()` adds there, too.")


def a_leaf_need_not_ask():
    d = torch.tensor(10.0, requires_grad=True)
    d.retain_grad()
    (5 * d).backward()
    assert d.grad.item() == 5
    assert not d.retains_grad


def room_of_gradients():
    layer = nn.Sequential(nn.Linear(2, 8), nn.Tanh())
    points, sizes = torch.ones(100, 2), []
    for part in layer:
        points = part(points)
        points.retain_grad()
        sizes.append(points)
    points.sum().backward()
    assert sum(one.grad.numel() for one in sizes) == 1600 == 2 * 100 * 8
    assert [one.grad.shape for one in sizes] == [one.shape for one in sizes]
    assert sum(one.numel() for one in layer.parameters()) == 24
    assert 2 * 8 + 8 == 24


def a_request_after_a_cast():
    start = leaf(20.0, 30.0)
    w = start.to(torch.float64)
    (w * w).sum().backward()
    w.retain_grad()
    (w * w).sum().backward()
    assert (w.grad.tolist(), start.grad.tolist()) == ([40, 60], [80, 120])
    assert not w.is_leaf, "a filled .grad does not make a leaf"


SAID = [  # the cell, its words, what shows that they are true
    ("case-then", "Only 45 points are right, and `w` is what we typed in", the_case),
    ("case-then", "and 87 points will be right", the_case),
    ("case-notes", "they skip a weight whose `.grad` is None", an_optimizer_skips_none),
    ("case-notes", "(A `TypeError`: `w.grad` is None.)", the_case),
    ("d1-because", "that is where it arrived", a_scaled_weight_leaves_its_gradient_behind),
    ("d1-because", "a step that writes into `w` moves both", retain_grad_in_the_case),
    ("d1-notes", "(`reshape`. It computes nothing, and it is recorded all", unrecorded_is_leaf),
    ("44d220ab", "**A leaf is a tensor that no recorded operation made.**", unrecorded_is_leaf),
    ("44d220ab", "`q` has no `grad_fn`, and it is a leaf.", unrecorded_is_leaf),
    ("44d220ab", "After `q += p`, `q` is a non-leaf.", a_leaf_becomes_a_non_leaf),
    ("44d220ab", "For `is_leaf`, the flag doesn't matter", the_flag_does_not_matter_for_is_leaf),
    ("3a3e5fec", "May you still raise the flag of `q`?", the_flag_does_not_matter_for_is_leaf),
    ("f1-because", "write into a leaf under `torch.no_g", what_comes_after_the_flag_is_recorded),
    ("f1-notes", "`module.to` keeps its parameters leaves", a_module_keeps_its_leaves),
    ("f1-notes", "ask for dtype and device where the", what_comes_after_the_flag_is_recorded),
    ("q10-because", "**A leaf keeps its gradient. A result in between", who_keeps_a_gradient),
    ("q10-because", "only if it requires grad and backward reaches it", who_keeps_a_gradient),
    ("q10-because", "It arrives at `c`, not at `t`.", the_numbers_in_between),
    ("q10-notes", "(None, not 0: nobody had computed it.)", who_keeps_a_gradient),
    ("q10-notes", "it names two remedies", the_warning_has_two_remedies),
    ("o1-because", "keeps what passes later, and brings nothing back", what_passes_later_is_kept),
    ("o1-because", "`d` is a leaf, and keeps both without a call", a_leaf_need_not_ask),
    ("o1-because", "set `t.grad = None`. Your request stays.", what_passes_later_is_kept),
    ("o1-notes", "and no warning comes", what_passes_later_is_kept),
    ("o1-notes", "(Yes, if it passes `t`.)", what_passes_later_is_kept),
    ("e1-because", "A gradient is as large as its tensor.", room_of_gradients),
    ("e1-because", "with 1,600 numbers, and the weights have 24", room_of_gradients),
    ("e1-notes", "After `clone()` the leaf would stay", retain_grad_in_the_case),
    ("4c1ab323", "A filled `.grad` does not make a leaf", a_request_after_a_cast),
    ("4c1ab333", "hold `[40, 60]` and the leaf behind it `[80, 120]`", a_request_after_a_cast),
    ("c7a11b63", "Its `grad_fn` is None.", unrecorded_is_leaf),
    ("c7a11b63", "keeps the gradient that reaches it", who_keeps_a_gradient),
    ("c7a11b63", "with `retain_grad()`, before backward", what_passes_later_is_kept),
    ("c7a11b63", "and raise its flag last", what_comes_after_the_flag_is_recorded),
]


@pytest.mark.parametrize(
    ("cell", "words", "shows"), SAID, ids=[f"{one[0]}-{i}" for i, one in enumerate(SAID)]
)
def test_the_lesson_says_what_torch_does(cell, words, shows):
    assert words in said("03", cell)
    shows()


def message(exercise, words):
    (found,) = [idea.message for idea in exercise.misconceptions if words in idea.message]
    return found


def test_03_1_three_of_the_lines_are_recorded_and_their_results_have_a_grad_fn():
    assert "The others are results of operations that were recorded" in LEAVES.right
    assert "In these lines, if it was, its result has a `grad_fn`." in LEAVES.hints[0]
    w = leaf(1.0, 1.0)
    s = nn.Parameter(torch.ones(2) * 0.1)
    made = [w, w + 0, w.detach(), w.detach() * 3, s, s * 2, w[:1], w > 0]
    assert [one.grad_fn is not None for one in made] == [0, 1, 0, 0, 0, 1, 1, 0]
    assert w.sort().indices.is_leaf, "and so the hint speaks of these lines alone"
    assert "a parameter is a new tensor" in LEAVES.hints[1]
    for values in (torch.ones(2) * 0.1, leaf(1.0) * 0.1, leaf(1.0)):
        assert nn.Parameter(values).is_leaf
        assert nn.Parameter(values) is not values


def test_03_2_says_who_keeps_a_gradient():
    assert "a leaf that requires grad keeps the gradient that reaches it" in GRADIENTS.principle
    who_keeps_a_gradient()
    own = " ".join(GRADIENTS.quantities.own)
    assert "torch computes it only for what requires grad" in own
    assert "By default a non-leaf keeps none" in own


def test_03_4_says_what_comes_back_and_when():
    assert "kept or returned only if somebody asked before" in MIDDLE.principle
    _, t, e = middle()
    e.backward(retain_graph=True)
    t.retain_grad()
    assert t.grad is None
    assert torch.autograd.grad(e, t, retain_graph=True)[0].item() == 5
    assert "`backward()` itself returns None" in message(MIDDLE, "kept its gradient, but")
    assert e.backward() is None


def test_03_5_says_of_a_non_leaf_that_the_leaf_behind_it_gets_the_gradient():
    said_of_it = message(CASE, "result of a recorded operation")
    assert (
        "the gradient is for the leaf behind it. `retain_grad()` does not change that" in said_of_it
    )
    for asks in (False, True):
        start = leaf(0.5, 0.5)
        w = start.reshape(-1, 1)
        if asks:
            w.retain_grad()
        (w**2).sum().backward()
        assert start.grad.tolist() == [1, 1]
        assert not w.is_leaf
    assert "what you do to a weight after its flag went up is recorded" in CASE.principle
    what_comes_after_the_flag_is_recorded()


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_an_optimizer_takes_a_non_leaf_only_if_it_retains_or_the_step_is_recorded(kind):
    weight = leaf(2.0, 3.0) * 0.1
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        kind([weight], lr=0.5)
    kind([weight], lr=0.5, differentiable=True)
    weight.retain_grad()
    kind([weight], lr=0.5)


def test_the_example_of_reasons_for_a_missing_gradient():
    assert '{"0.weight": "flag down", "head.bias": "not reached"}' in said("03", "x7")
    why_no_grad = run(find("03.7").solution)
    model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    model.add_module("head", nn.Linear(1, 1))
    model[0].weight.requires_grad_(False)
    model[1](model[0](torch.ones(1, 1))).sum().backward()
    reasons = {"0.weight": "flag down", "head.weight": "not reached", "head.bias": "not reached"}
    assert why_no_grad(dict(model.named_parameters())) == reasons
