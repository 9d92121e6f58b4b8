"""What lesson 09 says of edits in place in prose, folds, notes and messages, run in plain torch."""

import inspect

import pytest
import torch
from said import refusal, said
from torch import nn

from helpers.exercises.exercise import exercises, find
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.programs import outcome
from helpers.predicting.questions import question

VERSIONS, _, MASKED, _, _, CASE = exercises("09")
EDITED = "modified by an inplace operation"


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


def back(result):
    return refusal(result.sum().backward)


@torch.no_grad()
def unrecorded(h):
    h += 1


def recorded(h):
    h += 1


def through_detach(h):
    h.detach().add_(1)


def through_data(h):
    h.data.add_(1)


def through_numpy(h):
    h.detach().numpy()[...] += 1


# The case


def classifier(*inplace):
    torch.manual_seed(0)
    first, second = inplace
    layers = [nn.Linear(2, 8), nn.ReLU(inplace=first), nn.Linear(8, 8)]
    layers += [nn.Tanh(), nn.Dropout(0.2, inplace=second), nn.Linear(8, 1)]
    return nn.Sequential(*layers)


def trained(*inplace):
    x, y = moons()
    loss = nn.functional.binary_cross_entropy_with_logits(classifier(*inplace)(x), y)
    return round(loss.item(), 4), refusal(loss.backward)


def test_one_word_repairs_the_case_and_it_is_that_of_the_dropout():
    then = said("09", "case-then")
    assert "The forward pass worked. Then backward refuses, and the message names a Tanh" in then
    assert "Two other layers do, and one of them is harmless." in then
    assert "repair this by changing one word" in then
    assert "which is output 0 of Tanh, is at version 1" in trained(True, True)[1]
    assert "output 0 of Tanh" in trained(False, True)[1], "the other word does not help"
    assert trained(True, False)[1] == ""
    assert trained(True, False)[0] == trained(True, True)[0], "the same forward pass"
    assert "wherever there is such a switch" in said("09", "case")
    for layer in classifier(True, True):
        has_switch = "inplace" in inspect.signature(type(layer)).parameters
        assert has_switch == getattr(layer, "inplace", False)
    assert "a layer writes its result over its input" in said("09", "case")
    h = torch.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(h).data_ptr() == h.data_ptr()
    assert h.tolist() == [0, 2]


# Idea 1


def test_an_edit_gets_a_node_and_the_earlier_node_keeps_its_edge():
    assert "it gets a node, and the edited tensor then belongs to that node" in said(
        "09", "d1-because"
    )
    assert "(`AddBackward0`, then `MulBackward0`.)" in said("09", "d1-notes")
    h = leaf() + 3
    y, made = h**2, h.grad_fn
    assert made.name() == "AddBackward0"
    h *= 5
    assert h.grad_fn.name() == "MulBackward0"
    assert h.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0] is made


def test_an_edit_of_a_view_is_recorded_by_copy_slices_and_one_under_no_grad_by_nothing():
    assert (
        "a write into a view, such as `h[:2] *= 5`, would get a node called **`CopySlices`**"
        in said("09", "d1-because")
    )
    assert "under `no_grad()` the edit gets no node, but it is counted" in said("09", "d1-because")
    h = leaf() + 3
    made = h.grad_fn
    unrecorded(h)
    assert (h.grad_fn, h._version) == (made, 1)
    h[:2] *= 5
    assert type(h.grad_fn).__name__ == "CopySlices"


def test_who_shares_the_counter_of_a():
    because = said("09", "q10-because")
    assert (
        "A view and `detach()` share the counter of `a`. `.data` and a clone have counters"
        in because
    )
    assert "a tensor made in `inference_mode()` has no counter at all" in because
    assert "goes with the tensor and not with its name" in VERSIONS.principle
    assert "does not always mean a shared counter" in VERSIONS.principle
    a = torch.zeros(3)
    for made, counted in ((a[:2], 1), (a.view(3), 1), (a.detach(), 1), (a.data, 0), (a.clone(), 0)):
        before = a._version
        made += 1
        assert a._version - before == counted
    assert a.data.data_ptr() == a.data_ptr() != a.clone().data_ptr()
    with torch.inference_mode():
        made = torch.ones(2)
    assert "do not track version counter" in refusal(lambda: made._version)


def test_an_augmented_write_into_an_element_counts_twice():
    assert "(By two: Python edits the view, then assigns it back.)" in said("09", "q10-notes")
    assert "The name moves to a new tensor, whose counter is at 0." in said("09", "q10-notes")
    a = torch.zeros(3)
    a[0] += 1
    assert a._version == 2
    assert (a + 1)._version == 0


# Idea 2


def saved_by(layer):
    """Return which of input, weight and result the node of a layer saved, by their memory."""
    x = torch.ones(4, 2, requires_grad=True)
    result = layer(x)
    node = result.grad_fn
    names = [name for name in dir(node) if name.startswith("_saved_")]
    kept = {one.data_ptr() for name in names if torch.is_tensor(one := getattr(node, name))}
    known = {"input": x, "result": result} | dict(layer.named_parameters())
    return {name for name, one in known.items() if one.data_ptr() in kept}


def test_an_edit_breaks_backward_where_the_result_was_saved():
    because, notes = said("09", "q11-because"), said("09", "q11-notes")
    assert (
        "An edit does harm if it overwrites a tensor that a node has saved and still needs"
        in because
    )
    assert "*Softplus* saved its input, and *Linear* its input and its weight." in because
    assert "The node of a ReLU saved its result." in notes
    assert "And behind a `BatchNorm1d`? (Yes, it saved its input.)" in notes
    assert "where the layer before it has saved its result" in CASE.principle
    assert saved_by(nn.Linear(2, 2)) == {"input", "weight"}
    assert saved_by(nn.Softplus()) == {"input"}
    assert saved_by(nn.Sigmoid()) == saved_by(nn.ReLU()) == {"result"}
    assert "input" in saved_by(nn.BatchNorm1d(2))
    for layer in (nn.Linear(2, 2), nn.Softplus(), nn.Sigmoid(), nn.ReLU(), nn.BatchNorm1d(2)):
        h = layer(torch.ones(4, 2, requires_grad=True))
        assert (EDITED in back(nn.ReLU(inplace=True)(h))) == ("result" in saved_by(layer))


def test_nothing_raises_at_a_node_that_backward_never_comes_to():
    assert "if backward never reaches that node, nothing raises" in said("09", "q11-because")
    assert "It breaks backward if a node still needs what it overwrites." in said("09", "ipv-51")
    x = leaf()
    edited, other = x.exp(), x * 2
    edited += 1
    assert back(other) == ""
    assert EDITED in back(edited)


def test_the_message_of_three_edits_is_read_as_the_lesson_reads_it():
    because = said("09", "f1-because")
    for words in (
        "| `output 0 of Add` | the last recorded write was an addition |",
        "| `at version 2` | two writes until now |",
        "| `expected version 1` | one write before it was saved |",
        "a saved *result* is named after the operation that made it",
        "For a saved leaf there is no `output 0 of`.",
    ):
        assert words in because
    symptom = question("09.f1").shown["symptom"]
    assert "[torch.FloatTensor [3]], which is output 0 of Add, is at version 2; expected" in symptom
    for operation in (torch.exp, torch.sigmoid, torch.tanh, torch.sqrt):
        y = operation(leaf())
        y += 1
        assert f"output 0 of {operation.__name__.capitalize()}, is at version 1" in back(y)
    x = leaf()
    y = x**2
    unrecorded(x)
    assert "[torch.FloatTensor [3]] is at version 1" in (told := back(y))
    assert "output 0 of" not in told


@pytest.mark.parametrize(
    ("edit", "name"),
    [(recorded, "Add"), (torch.Tensor.sqrt_, "Sqrt"), (unrecorded, "Mul"), (through_detach, "Mul")],
)
def test_a_saved_input_goes_by_the_last_recorded_write(edit, name):
    assert "the last recorded write" in said("09", "f1-because")
    h = leaf() * 3
    y = h**2
    edit(h)
    assert f"which is output 0 of {name}, is at version 1; expected version 0" in back(y)


def test_only_anomaly_mode_names_the_node_in_need():
    assert "the message does not say which node needs the tensor" in said("09", "f1-because")
    assert "a warning says `PowBackward0`" in said("09", "f1-notes")
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        h = leaf() * 3
        y = h**2
        h += 1
        with pytest.warns(UserWarning, match="Error detected in PowBackward0"):
            assert "Pow" not in back(y)


def test_rows_of_a_loop_may_not_be_edited_and_rows_by_index_may():
    assert "(Another error, at once: several views came from one operation. Write `a[i]`.)" in said(
        "09", "f1-notes"
    )
    a = leaf() * 3
    row = next(iter(a))
    assert "is a view and is being modified inplace" in refusal(lambda: row.add_(1))
    a[0].add_(1)
    assert back(a) == ""


def test_the_lines_of_the_program_do_what_is_told_of_them():
    told = question("09.f1").told
    assert "this product saved the 2, and not `a`" in told["tells"][1]
    assert "The product saved the 3, and the sum saves nothing." in told["tells"][6]
    for factor in (2, 3):
        assert torch.equal((leaf() * factor).grad_fn._saved_other, torch.tensor(float(factor)))
    assert not [name for name in dir(leaf().sum().grad_fn) if name == "_saved_self"]
    lines = question("09.f1").shown["lines"]
    for at in (2, 4, 5):
        program = [line for number, line in enumerate(lines) if number != at]
        assert (EDITED in outcome("\n".join(program)).words) == (at != 5), "line 6 does the harm"
    assert "as often as you like before somebody saves it" in told["reasonTells"]["c"]
    a = leaf() * 2
    for _ in range(3):
        a += 1
    assert back(a**2) == ""


# Idea 3


@pytest.mark.parametrize("edit", [through_data, through_numpy])
def test_a_write_that_nobody_counts_brings_a_wrong_gradient_and_no_error(edit):
    assert "It does not notice a write that the counter missed." in said("09", "q13-because")
    assert "a write through `.data` or NumPy does not move the counter" in said("09", "ipv-51")
    assert "Both squares saved `x` itself and no copy" in said("09", "q13-because")
    x = leaf(3.0)
    before = x.detach().clone().requires_grad_()
    y = x**2
    assert y.grad_fn._saved_self.data_ptr() == x.data_ptr()
    edit(x)
    assert (x._version, back(y)) == (0, "")
    assert x.grad.item() == 8, "2 · 4"
    assert "keep a copy, `x.detach().clone()`, run the program on the copy" in said(
        "09", "q13-because"
    )
    assert torch.autograd.grad(before**2, before)[0].item() == 6


def test_without_a_saved_x_the_gradient_stays_right_and_a_write_through_detach_is_counted():
    x = leaf(3.0)
    y = x**2
    through_detach(x)
    assert EDITED in back(y)
    assert "if the node saved nothing, or a copy, the gradient stays right" in said(
        "09", "q13-because"
    )
    for program, slope in ((lambda x: x + 1, 1), (lambda x: x.clone() ** 2, 6)):
        x = leaf(3.0)
        y = program(x)
        through_data(x)
        assert (back(y), x.grad.item()) == ("", slope)


# Idea 4


def test_a_step_moves_the_weights_and_is_counted():
    because = said("09", "o1-because")
    assert "`step()` edits `w` in place, and torch counts that write." in because
    assert (
        "A `two` from before the step saved `w` itself. Its numbers have changed since" in because
    )
    assert "(No. It keeps the graph, and not the old numbers.)" in said("09", "o1-notes")
    w = leaf(2.0)
    two, plain = w**3, w * 3
    (w**2).sum().backward()
    assert "First make one step of SGD on `w**2`; `w` becomes 1." in said("09", "o1")
    assert w.grad.item() == 4
    torch.optim.SGD([w], lr=0.25).step()
    assert (w.item(), w._version) == (1, 1)
    assert "such as that of `w * 3`, still goes back" in because
    assert EDITED in refusal(lambda: two.backward(torch.ones(1), retain_graph=True))
    assert back(w**3) == ""
    assert w.grad.item() == 7
    assert back(plain) == ""


def test_a_leaf_refuses_a_recorded_edit_through_a_view_as_well():
    assert "A step may edit a leaf because the optimizer does it under `no_grad()`." in said(
        "09", "o1-because"
    )
    assert "Recorded, it would give `w` a `grad_fn`" in said("09", "o1-notes")
    assert "(Refused, too: it writes into a view of the leaf.)" in said("09", "o1-notes")
    w = leaf()
    assert "a leaf Variable that requires grad" in refusal(lambda: recorded(w))
    assert "a view of a leaf Variable" in refusal(lambda: w.__setitem__(0, 5.0))
    unrecorded(w)
    assert (w.is_leaf, w._version) == (True, 1)
    w.grad = torch.ones(3)
    torch.optim.SGD([w], lr=0.1).step()
    assert (w.is_leaf, w.grad_fn, w._version) == (True, None, 2)


# Exercises


def test_the_texts_of_the_exercises_hold():
    assert "`.data` shares the memory alone, a copy shares neither" in VERSIONS.hints[1]
    assert "`nn.ReLU`, `nn.Tanh` and `nn.Sigmoid` save their results" in CASE.hints[1]
    for layer in (nn.ReLU(), nn.Tanh(), nn.Sigmoid()):
        assert "result" in saved_by(layer)
    assert saved_by(nn.Linear(2, 2)) == {"input", "weight"}
    messages = [one.message for one in MASKED.misconceptions]
    assert "None of them makes a copy." in messages[1]
    x = torch.tensor([1.0])
    alike = x.detach(), x.data, x.detach().numpy()
    alike[2][0] = 5.0
    assert [float(one[0]) for one in alike] == [5.0] * 3
    assert "Which of `detach()`, `.data` and `clone()` makes one?" in MASKED.hints[0]
    assert leaf().clone().grad_fn is not None
    assert "That switches the dropout off" in CASE.misconceptions[0].message
    assert torch.equal(nn.Dropout(0.2).eval()(x), x)


def test_a_recorded_edit_changes_the_gradient_and_a_leaf_takes_none():
    assert "a leaf that requires grad takes no such edit" in MASKED.principle
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    assert "in-place operation" in refusal(lambda: x.masked_fill_(x < 0, 0.0))
    for write, gradient in ((lambda h: h, [1, 0]), (torch.Tensor.detach, [1, 1])):
        h = x.clone()
        write(h)[x < 0] = 0.0
        assert torch.autograd.grad(h.sum(), x)[0].tolist() == gradient


def test_the_example_of_the_guard_and_what_it_says_of_batch_norm():
    guard = run(find("09.7").solution)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert "# {'0.weight': 'uncounted'}" in said("09", "x7")
    assert guard(model, lambda: model[0].weight.data.mul_(2)) == {"0.weight": "uncounted"}
    assert (
        "A BatchNorm writes its statistics into buffers." in find("09.7").misconceptions[4].message
    )
    assert set(guard(model, lambda: model(torch.ones(3, 2)))) == {
        "1.running_mean",
        "1.running_var",
        "1.num_batches_tracked",
    }
    assert guard(model.eval(), lambda: model(torch.ones(3, 2))) == {}
