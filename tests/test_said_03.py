"""What lesson 03, its exercises and the glossary say of leaves and kept gradients is run in plain
torch. Reads them.
"""

import warnings

import pytest
import torch
from said import said

from helpers.clinic.catalogue import book
from helpers.exercises.lessons.lesson_03 import GRADIENTS, LEAVES, MIDDLE, WEIGHT


def middle():
    """Return the lesson's leaf d, its logarithm t, and 5 * t: the gradient of the last with respect
    to t is 5.
    """
    d = torch.tensor(10.0, requires_grad=True)
    t = torch.log(d)
    return d, t, t * 5


def message(exercise, words):
    (found,) = [idea.message for idea in exercise.misconceptions if words in idea.message]
    return found


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_an_optimizer_takes_a_non_leaf_only_if_it_retains_and_leaves_the_leaf_behind(kind):
    said_of_it = message(WEIGHT, "still the result of a recorded operation")
    assert "by default it gets no `.grad` and an optimizer refuses it" in said_of_it
    assert "is taken and is still no leaf: a step leaves the leaf behind it as it was" in said_of_it
    leaf = torch.tensor([2.0, 3.0], requires_grad=True)
    weight = leaf * 0.1
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        kind([weight], lr=0.5)
    weight.retain_grad()
    optimizer = kind([weight], lr=0.5)
    (weight**2).sum().backward()
    before = weight.tolist()
    optimizer.step()
    assert before != weight.tolist()
    assert (weight.is_leaf, leaf.tolist()) == (False, [2.0, 3.0])


def test_a_parameter_is_a_leaf_whatever_its_values_were_computed_from():
    assert (
        "Has what `torch.nn.Parameter(...)` returns a `grad_fn`?"
        in dict(LEAVES.letters.about).values()
    )
    v = torch.ones(2, requires_grad=True)
    for values in (torch.ones(2) * 0.1, v * 0.1, v):
        parameter = torch.nn.Parameter(values)
        assert (parameter.is_leaf, parameter.grad_fn) == (True, None)


def test_a_tensor_that_retains_keeps_what_passes_in_each_later_walk():
    reason = said("03", "q5-because")
    assert "One request holds for every later walk that passes, and each adds to" in reason
    assert "A walk of `torch.autograd.grad` (lesson 05) adds to `t.grad`, too, if it pass" in reason
    (term,) = [term for term in book().terms if term.name == "`retain_grad()`"]
    assert "every later backward() to add the gradient that passes through a non-leaf" in term.says
    assert term.says.endswith("; a walk of `autograd.grad()` adds there too.")
    d, t, e = middle()
    e.backward(retain_graph=True)
    t.retain_grad()
    assert t.grad is None
    torch.autograd.grad(d * 2, d)
    assert t.grad is None, "this walk did not pass t"
    for walk, total in (
        (lambda: e.backward(retain_graph=True), 5.0),
        (lambda: e.backward(retain_graph=True), 10.0),
        (lambda: torch.autograd.grad(e, t, retain_graph=True), 15.0),
        (lambda: torch.autograd.grad(e, d), 20.0),
    ):
        walk()
        assert t.grad.item() == total


def test_to_begin_anew_the_gradient_is_set_to_none_and_the_request_stays():
    assert "To begin anew, set `t.grad = None`: the request stays." in said("03", "q5-because")
    assert "And with `t.grad = None` between the two calls? (3.)" in said("03", "q5-notes")
    d = torch.tensor(10.0, requires_grad=True)
    t = d + 1
    t.retain_grad()
    (5 * t).backward()
    t.grad = None
    (3 * t).backward()
    assert (t.grad.item(), d.grad.item()) == (3, 8)


def test_retains_grad_with_no_grad_has_three_reasons():
    assert "The same is true before any `backward()`, and after one that does not reach" in said(
        "03", "7087b96b"
    )
    for late, begin in ((True, 0), (False, None), (False, 1)):
        d, t, e = middle()
        if not late:
            t.retain_grad()
        if begin is not None:
            (e, d * 2)[begin].backward()
        if late:
            t.retain_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "And no warning came."
            assert (t.retains_grad, t.grad) == (True, None)


def test_the_request_may_stand_anywhere_before_backward():
    assert "between the line that makes the tensor and `backward()`." in said("03", "80de9bbb")
    for at in range(3):
        d = torch.tensor(10.0, requires_grad=True)
        t = torch.log(d)
        for line in range(3):
            if line == at:
                t.retain_grad()
            if line == 0:
                e = t * 5
        e.backward()
        assert t.grad.item() == 5


def test_an_edit_outside_no_grad_is_an_error_on_a_leaf_alone():
    reason = said("03", "aedec362")
    assert "Under `no_grad` even a leaf that requires grad may be edited in place." in reason
    assert "This non-leaf may be edited outside the block, too." in reason
    leaf = torch.tensor([2.0, 3.0], requires_grad=True)
    scaled = leaf * 0.1
    scaled -= 0.5
    with torch.no_grad():
        leaf -= 0.5
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf -= 0.5


def test_the_warning_of_a_non_leaf_comes_once_a_line():
    assert "Python shows a warning once a line, unless it is told otherwise." in said(
        "03", "5aaeb6ff"
    )
    _, t, _ = middle()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            assert t.grad is None
        assert t.grad is None
    assert len(caught) == 2


def test_a_leaf_that_no_backward_reached_has_no_gradient():
    assert "after `requires_grad=True`; then, whether `backward()` reached it.|5, 6|" in said(
        "03", "c7a11b63"
    )
    reached, unreached = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (reached * 3).sum().backward()
    assert reached.grad.tolist() == [3.0, 3.0]
    assert unreached.grad is None


def test_the_principle_of_03_2_names_who_gets_a_gradient():
    assert "the leaves that it reaches and that require grad" in GRADIENTS.principle
    a, b, c, unreached = (torch.ones(2, requires_grad=flag) for flag in (True, False, True, True))
    kept, dropped = a * b, a * c
    kept.retain_grad()
    (kept + dropped).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [tensor.grad is not None for tensor in (a, c, kept, b, unreached, dropped)]
    assert found == [True, True, True, False, False, False]


def test_the_principle_of_03_3_holds_for_products():
    assert "a product with a tensor that requires grad is recorded, unless gradients are off" in (
        WEIGHT.principle
    )
    w = torch.ones(2, requires_grad=True)
    for run in (lambda: w * 0.1, lambda: w * 1, lambda: torch.ones(2) * w, lambda: w @ w):
        assert not run().is_leaf
        with torch.no_grad():
            assert run().is_leaf
    assert (+w) is w, "so the principle does not speak of all arithmetic"


def test_what_the_messages_of_03_3_and_03_4_say_of_errors_and_of_none():
    assert "Python multiplies no list by a float" in message(WEIGHT, "multiplies no list")
    with pytest.raises(TypeError, match="can't multiply sequence by non-int"):
        print([1.0] * 0.1)
    assert "`backward()` itself returns None" in message(MIDDLE, "retained it, but")
    _, t, e = middle()
    t.retain_grad()
    assert e.backward() is None
    assert t.grad.item() == 5


def test_the_principle_of_03_4_holds_for_every_way_to_ask():
    assert "kept or returned only if somebody asked before" in MIDDLE.principle
    _, t, e = middle()
    e.backward(retain_graph=True)
    t.retain_grad()
    assert t.grad is None
    assert torch.autograd.grad(e, t)[0].item() == 5


def test_a_leaf_is_a_tensor_without_a_grad_fn():
    assert "**A leaf is a tensor without a `grad_fn`.**" in said("03", "44d220ab")
    assert "|Is it a leaf?|Yes, if its `grad_fn` is `None`.|1|" in said("03", "c7a11b63")
    (term,) = [term for term in book().terms if term.name == "`is_leaf`"]
    assert term.says == "True where a tensor has no `grad_fn`."
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    with torch.no_grad():
        unrecorded = [w * 0.5, w[:1], w.to("meta")]
    with torch.inference_mode():
        unrecorded.append(w * 0.5)
    cut = (w * 3).detach_()
    results = [w * 3, w[:1], w.double(), *torch.sort(w), w > 0, w.long(), w.detach(), cut]
    seen = {(x.is_leaf, x.grad_fn is None) for x in (w, *unrecorded, *results)}
    assert seen == {(True, True), (False, False)}


def test_a_computed_leaf_takes_the_flag_and_does_not_always_stay_a_leaf():
    assert "So its flag is still yours to raise, as in lesson 02." in said("03", "44d220ab")
    assert "`q += p` is recorded, and gives `q` a `grad_fn`" in said("03", "3a3e5fec")
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0)
    p, q, other = a * b, b * 5, b * 5
    assert other.requires_grad_().is_leaf
    assert q.is_leaf
    q += p
    assert not q.is_leaf
    assert not (b.requires_grad_() * 5).is_leaf  # "Let `b` require grad."


def test_three_lines_of_03_1_are_recorded():
    assert "only three of these lines were recorded" in LEAVES.right
    w = torch.ones(2, requires_grad=True)
    s = torch.nn.Parameter(torch.ones(2) * 0.1)
    made = [w, w + 0, w.detach(), w.detach() * 3, s, s * 2, w[:1], w > 0]
    assert sum(x.grad_fn is not None for x in made) == 3
    assert [x.requires_grad for x in made if x.grad_fn is not None] == [True] * 3


def test_a_view_under_no_grad_shows_the_flag_of_its_base_and_keeps_no_gradient():
    reason = said("03", "q7-because")
    assert "`part` shows the flag of `w`, as in lesson 02; its own flag was never raised" in reason
    assert "without an error." in said("03", "q7")
    assert "The walk ended at the product." in reason
    assert "Its own is down, so no way leads from the product to `part`." in reason
    assert "Outside the block `w[:1]` is recorded: a non-leaf, through which `w` gets" in reason
    notes = said("03", "q7-notes")
    assert (
        "(The line with `backward()`, run again, fills `part.grad`; `w` still gets nothing.)"
        in notes
    )
    assert "(`part.grad_fn is None`.)" in notes
    w = torch.tensor([2.0, 3.0])
    with torch.no_grad():
        part = w[:1]
    for flag in (False, True, False, True):
        w.requires_grad_(flag)
        assert part.requires_grad == flag
    product = part * 3
    assert [node for node, _ in product.grad_fn.next_functions] == [None, None]
    product.sum().backward()
    assert (part.is_leaf, part.grad_fn, part.grad, w.grad) == (True, None, None, None)
    part.requires_grad_()
    total = product.sum()  # of the old product: no way leads from it to part
    total.backward()
    assert part.grad is None
    (part * 3).sum().backward()
    assert (part.grad.tolist(), w.grad) == ([3.0], None)
    recorded = w[:1]
    (recorded * 3).sum().backward()
    assert (recorded.is_leaf, w.grad.tolist()) == (False, [3.0, 0.0])


def test_only_the_gradient_of_a_changes_with_b():
    assert "if `b` becomes 4? (Only that of `a`.)" in said("03", "c8427f36")
    found = []
    for value in (3.0, 4.0):
        a, b, c, d = (torch.tensor(x, requires_grad=True) for x in (2.0, value, 5.0, 10.0))
        (a * b + c * torch.log(d)).backward()
        found.append([x.grad.item() for x in (a, b, c, d)])
    assert [old != new for old, new in zip(*found, strict=True)] == [True, False, False, False]


def test_the_warning_names_two_remedies():
    reason = said("03", "1c365404")
    assert "Read the warning to its end: it names two remedies." in reason
    assert "The attribute is there, also on a non-leaf." in reason
    _, t, _ = middle()
    with pytest.warns(UserWarning, match="not a leaf Tensor") as caught:
        assert t.grad is None
    text = str(caught[0].message)
    assert "use .retain_grad() on the non-leaf Tensor" in text
    assert "make sure you access the leaf Tensor instead" in text


def test_a_kept_gradient_takes_up_memory():
    assert "One kept for each tensor in between would take up more memory." in said(
        "03", "1c365404"
    )
    x = torch.ones(1000, requires_grad=True)
    t = x.exp()
    t.retain_grad()
    t.square().sum().backward()
    assert t.grad.untyped_storage().nbytes() == t.untyped_storage().nbytes()
    assert t.grad.data_ptr() != x.grad.data_ptr()


def test_z_gets_a_gradient_once_it_is_used_and_e_once_it_is_asked():
    notes = said("03", "f758932c")
    assert "(Use it: `e = a * b + t + z`.)" in notes
    assert "which number it would be: 1.)" in notes
    a, d, z = (torch.tensor(x, requires_grad=True) for x in (2.0, 10.0, 7.0))
    e = a * 3.0 + torch.log(d) + z
    e.retain_grad()
    e.backward()
    assert (z.grad.item(), e.grad.item()) == (1, 1)


def test_the_check_in_line_2_finds_a_weight_that_was_scaled_too_late():
    reason = said("03", "aedec362")
    assert "`assert w.is_leaf` in line 2 would have found it." in reason
    assert "`requires_grad_()` comes last" in reason
    assert "(No: a leaf, but without the flag.)" in said("03", "q8-notes")
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    assert not (w * 0.1).is_leaf
    assert (torch.tensor([2.0, 3.0]) * 0.1).requires_grad_().is_leaf
    with torch.no_grad():
        w = w * 0.1
    assert (w.is_leaf, w.requires_grad) == (True, False)


def test_a_leaf_would_have_come_to_zero_by_the_step():
    assert "With a leaf it would be so: half of 2 · `w` is `w`." in said("03", "aedec362")
    w = (torch.tensor([2.0, 3.0]) * 0.1).requires_grad_()
    (w**2).sum().backward()
    assert torch.equal(w.grad, 2 * w)
    with torch.no_grad():
        w -= 0.5 * w.grad
    assert w.tolist() == [0.0, 0.0]


def test_a_late_move_does_no_harm_where_there_is_nothing_to_move():
    reason = said("03", "84641055")
    assert "so a `.to(device)` after `requires_grad=True` does no harm on a CPU, and" in reason
    assert "and makes a non-leaf on a GPU" in reason
    assert "ask for device and dtype in the line that makes the leaf" in reason
    for device, is_leaf in (("cpu", True), ("meta", False)):  # meta stands for a GPU here
        assert torch.ones(2, requires_grad=True).to(device).is_leaf == is_leaf
        early = torch.ones(2, device=device, dtype=torch.float64, requires_grad=True)
        assert early.is_leaf


def test_a_later_walk_is_kept_and_an_earlier_one_is_not_brought_back():
    reason = said("03", "7087b96b")
    assert "`retain_grad()` works for later walks; it brings back no gradient that has go" in reason
    d, t, e = middle()
    e.backward(retain_graph=True)
    t.retain_grad()
    assert t.grad is None
    e.backward()
    assert (t.grad.item(), d.grad.item()) == (5, 1)  # d has both walks: twice 5 / 10


def test_the_recap_names_the_leaves_that_hold_none():
    assert (
        "|Which leaf has none after a plain `backward()`?|One with its flag down, or not reached.|5|"
        in said("03", "c7a11b63")
    )
    a, plain, unreached = (torch.ones(2, requires_grad=flag) for flag in (True, False, True))
    (a * plain).sum().backward()
    assert [leaf.grad is None for leaf in (a, plain, unreached)] == [False, True, True]


def test_moves_and_casts_under_no_grad_and_of_a_module():
    notes = said("03", "9cfbef23")
    assert "`module.to` keeps its parameters leaves." in notes
    assert '`x.to("meta")` under `no_grad`? (A leaf, and it requires no grad.)' in notes
    reason = said("03", "84641055")
    assert "`x.detach()` is not recorded" in reason
    assert "it makes another tensor: the gradient has to be cast back, so the cast is" in reason
    for where in ("meta", torch.float64, "cpu"):
        module = torch.nn.Linear(2, 1).to(where)
        assert all(one.is_leaf and one.requires_grad for one in module.parameters())
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    with torch.no_grad():
        for moved in (x.to("meta"), x.double()):
            assert (moved.is_leaf, moved.requires_grad) == (True, False)
        assert x.to("cpu") is x
    cast = x.double()
    assert (cast.device, cast.is_leaf) == (x.device, False)
    (back,) = torch.autograd.grad(cast.sum(), x)
    assert back.dtype == torch.float32
    x.detach().requires_grad_().sum().backward()
    assert x.grad is None
    (x.detach() * x).sum().backward()
    assert x.detach().grad is None


def test_a_non_leaf_has_no_gradient_unless_it_was_asked_for():
    recap = said("03", "c7a11b63")
    assert "|What is in `.grad` before the first `backward()`?|`None`, not zeros.|2|" in recap
    assert "|And after it, in a non-leaf?|`None`, unless it was asked for.|3|" in recap
    for ask in ("not", "retain", "inputs"):
        d, t, e = middle()
        assert d.grad is None
        if ask == "retain":
            t.retain_grad()
        e.backward(inputs=[t] if ask == "inputs" else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert (t.grad is None) == (ask == "not")


def test_a_request_after_a_cast_keeps_only_what_comes_later():
    notes = said("03", "4c1ab333")
    assert "Why does `w` hold `[40, 60]` and the leaf behind it `[80, 120]`?" in notes
    leaf = torch.tensor([20.0, 30.0], requires_grad=True)
    w = leaf.to(torch.float64)
    (w * w).sum().backward()
    w.retain_grad()
    (w * w).sum().backward()
    assert (w.grad.tolist(), leaf.grad.tolist()) == ([40, 60], [80, 120])


def test_03_3_a_tenth_in_float64_is_exact_only_where_float32_was_never_between():
    assert "Create it in float64 with `dtype=`, scale it, then" in WEIGHT.hints[1]
    values = [0.5, -7.25, 0.7]
    right = [value * 0.1 for value in values]
    assert (torch.tensor(values, dtype=torch.float64) * 0.1).tolist() == right
    assert (torch.tensor(values).double() * 0.1).tolist() != right


def test_an_optimizer_refuses_a_non_leaf_only_by_default():
    weight = torch.ones(2, requires_grad=True) * 0.1
    torch.optim.SGD([weight], lr=0.5, differentiable=True)
