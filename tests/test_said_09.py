"""What lesson 09 says of edits in place in prose, folds, notes and messages, run in plain torch."""

import inspect
from functools import partial

import pytest
import torch
from said import refusal, stands
from torch import nn

from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.programs import outcome
from helpers.predicting.questions import question

says = partial(stands, "09")
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
    says("case-then", "and the message names a Tanh", "and one of them is harmless.")
    says("case-then", "repair this by changing one word")
    says("case", "wherever there is such a switch", "a layer writes its result over its input")
    assert "output 0 of Tanh" in trained(False, True)[1], "the other word does not help"
    assert trained(True, False)[1] == ""
    assert trained(True, False)[0] == trained(True, True)[0], "the same forward pass"
    for layer in classifier(True, True):
        has_switch = "inplace" in inspect.signature(type(layer)).parameters
        assert has_switch == getattr(layer, "inplace", False)


# Idea 1


def test_an_edit_gets_a_node_that_of_a_view_copy_slices_and_one_under_no_grad_none():
    says("d1-because", "it gets a node, and the edited tensor then belongs to that node")
    says("d1-because", "would get a node called **`CopySlices`**")
    says("d1-because", "under `no_grad()` the edit gets no node, but it is counted")
    says("d1-notes", "(`AddBackward0`, then `MulBackward0`.)")
    says("CopySlices", "and the edit is recorded, then `h` gets a node")
    says("grad_fn", "made the tensor, or wrote into it last.", "*Where it stops:* a view")
    h = leaf() + 3
    made = h.grad_fn
    unrecorded(h)
    assert (h.grad_fn, h._version) == (made, 1)
    view = h[:2]
    h *= 5
    assert h.grad_fn.name() == "MulBackward0"
    assert view.grad_fn.name() == "AsStridedBackward0"
    h[:2] *= 5
    assert type(h.grad_fn).__name__ == "CopySlices"


def test_who_shares_the_counter_of_a():
    says("q10-because", "share the counter of `a`. `.data` and a clone have counters")
    says("q10-because", "a new tensor made in `inference_mode()` has no counter at all")
    says("q10-notes", "(By two: Python edits the view, then assigns it back.)")
    says("q10-notes", "The name moves to a new tensor, whose counter is at 0.")
    says("09.1", "goes with the tensor and not with its name")
    says("09.1", "does not always mean a shared counter", "shares the memory alone")
    says("detach()", "with the same version counter and without a graph")
    a = torch.zeros(3)
    for made, counted in ((a[:2], 1), (a.view(3), 1), (a.detach(), 1), (a.data, 0), (a.clone(), 0)):
        before = a._version
        made += 1
        assert a._version - before == counted
    assert a.data.data_ptr() == a.data_ptr() != a.clone().data_ptr()
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
    says("q11-because", "overwrites a tensor that a node has saved and still needs")
    says("q11-because", "saved its input, and *Linear* its input and its weight.")
    says("q11-notes", "The node of a ReLU saved its result.", "(Yes, it saved its input.)")
    says("09.5", "`nn.Tanh` and `nn.Sigmoid` save their results", "before it has saved its result")
    kinds = nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.Softplus(), nn.Linear(2, 2), nn.BatchNorm1d(2)
    saved = [saved_by(layer) for layer in kinds]
    assert saved[:3] == [{"result"}] * 3
    assert saved[3:5] == [{"input"}, {"input", "weight"}]
    assert "input" in saved[5]
    for layer in kinds:
        h = layer(torch.ones(4, 2, requires_grad=True))
        assert (EDITED in back(nn.ReLU(inplace=True)(h))) == ("result" in saved_by(layer))


def test_nothing_raises_at_a_node_that_backward_never_comes_to():
    says("q11-because", "if backward never reaches that node, nothing raises")
    says("ipv-51", "It breaks backward if a node still needs what it overwrites.")
    x = leaf()
    edited, other = x.exp(), x * 2
    edited += 1
    assert back(other) == ""
    assert EDITED in back(edited)


def test_the_message_of_three_edits_is_read_as_the_lesson_reads_it():
    says("f1-because", "| `output 0 of Add` | the last recorded write was an addition |")
    says("f1-because", "| `at version 2` | two writes until now |")
    says("f1-because", "| `expected version 1` | one write before it was saved |")
    says("f1-because", "a saved *result* is named after the operation that made it")
    says("f1-because", "For a saved leaf there is no `output 0 of`.")
    symptom = question("09.f1").shown["symptom"]
    assert "[torch.FloatTensor [3]], which is output 0 of Add, is at version 2; expected" in symptom
    for operation in (torch.exp, torch.sqrt):
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
    says("f1-because", "the last recorded write")
    says("has been modified", "or else of the operation that made the tensor")
    says("has been modified", "backward() notices it when it reads the tensor")
    says("The gradient is wrong", "Both are counted, so backward() notices if a node saved")
    says("version counter", "it compares the count with the one at saving")
    h = leaf() * 3
    y = h**2
    edit(h)
    assert f"which is output 0 of {name}, is at version 1; expected version 0" in back(y)


def test_only_anomaly_mode_names_the_node_in_need():
    says("f1-because", "the message does not say which node needs the tensor")
    says("f1-notes", "a warning says `PowBackward0`")
    says("has been modified", "It does not tell you which operation saved it")
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        h = leaf() * 3
        y = h**2
        h += 1
        with pytest.warns(UserWarning, match="Error detected in PowBackward0"):
            assert "Pow" not in back(y)


def test_rows_of_a_loop_may_not_be_edited_and_rows_by_index_may():
    says("f1-notes", "(Another error, at once: several views came from one operation.")
    says("is a view and is being", "refuses a recorded edit of one of them")
    says("is a view and is being", "write for i in range(len(x)): x[i] += 1")
    a = leaf() * 3
    row = next(iter(a))
    assert "is a view and is being modified inplace" in refusal(lambda: row.add_(1))
    a[0].add_(1)
    assert back(a) == ""


def test_of_the_program_line_6_does_the_harm():
    says("09.f1", "this product saved the 2, and not `a`", "as often as you like before somebody")
    says("An in-place edit of a tensor", "A product with a number saves no tensor of yours")
    assert torch.equal((leaf() * 2).grad_fn._saved_other, torch.tensor(2.0))
    lines = question("09.f1").shown["lines"]
    for at in (2, 4, 5):
        program = [line for number, line in enumerate(lines) if number != at]
        assert (EDITED in outcome("\n".join(program)).printout) == (at != 5)
    a = leaf() * 2
    for _ in range(3):
        a += 1
    assert back(a**2) == ""


# Idea 3


@pytest.mark.parametrize("edit", [through_data, through_numpy])
def test_a_write_that_nobody_counts_brings_a_wrong_gradient_and_no_error(edit):
    says("q13-because", "It does not notice a write that the counter missed.")
    says("q13-because", "Compute the loss anew from the copy, without the edit")
    says("q13-because", "if the node saved nothing, or a copy, the gradient stays right")
    says("ipv-51", "a write through `.data` or NumPy does not move the counter")
    says("version counter", "edits through `.data`, through NumPy or by a fused optimizer are not")
    says("The gradient is wrong", "or through NumPy, which counts nothing")
    for program, slope in ((torch.square, 8), (lambda x: x + 1, 1), (lambda x: x.clone() ** 2, 6)):
        x = leaf(3.0)
        y = program(x)
        edit(x)
        assert (x._version, back(y), x.grad.item()) == (0, "", slope)
    x, found = leaf(3.0), []
    copy = x.detach().clone().requires_grad_()
    for one in (x, copy):  # the whole program, edit and all, tells nothing
        y = one**2
        edit(one)
        back(y)
        found.append(one.grad.item())
    anew = leaf(3.0)
    (anew**2).backward()
    assert (*found, anew.grad.item()) == (8, 8, 6)


# Idea 4


def test_a_step_moves_the_weights_and_is_counted():
    says("o1-because", "edits `w` in place, and torch counts that write.")
    says("o1-because", "saved `w` itself. Its numbers have changed since")
    says("o1-because", "such as that of `w * 3`, still goes back")
    says("o1-notes", "(No. It keeps the graph, and not the old numbers.)")
    says("has been modified", "The message calls the weight of nn.Linear AsStrided")
    w, layer = leaf(2.0), nn.Linear(1, 1)
    two, plain, deep = w**3, w * 3, nn.Sequential(nn.Linear(1, 1), layer)(torch.ones(1, 1))
    (w**2).sum().backward()
    deep.sum().backward(retain_graph=True)
    torch.optim.SGD([w, *layer.parameters()], lr=0.25).step()
    assert w._version == 1
    assert EDITED in refusal(lambda: two.backward(torch.ones(1), retain_graph=True))
    assert "output 0 of AsStrided, is at version" in back(deep)
    assert back(plain) == ""


def test_a_leaf_refuses_a_recorded_edit_through_a_view_as_well():
    says("o1-because", "A step may edit a leaf because the optimizer does it under `no_grad()`.")
    says("o1-notes", "Recorded, it would give `w` a `grad_fn`")
    says("o1-notes", "(Refused, too: it writes into a view of the leaf.)")
    says("09.3", "a leaf that requires grad takes no such edit")
    says("a view of a leaf", "A view has no memory of its own, so you would edit the leaf")
    w = leaf()
    assert "a leaf Variable that requires grad" in refusal(lambda: recorded(w))
    assert "a view of a leaf Variable" in refusal(lambda: w.__setitem__(0, 5.0))
    unrecorded(w)
    assert (w.is_leaf, w._version) == (True, 1)


# Exercises


def test_the_texts_of_the_exercises_hold():
    says("09.3", "None of them makes a copy.", "Which of `detach()`, `.data` and `clone()` makes")
    x = torch.tensor([1.0])
    alike = x.detach(), x.data, x.detach().numpy()
    alike[2][0] = 5.0
    assert [float(one[0]) for one in alike] == [5.0] * 3
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    for write, gradient in ((lambda h: h, [1, 0]), (torch.Tensor.detach, [1, 1])):
        h = x.clone()
        write(h)[x < 0] = 0.0
        assert torch.autograd.grad(h.sum(), x)[0].tolist() == gradient


def test_the_example_of_the_guard_and_what_it_says_of_batch_norm():
    says("x7", "# {'0.weight': 'uncounted'}")
    says("09.7", "A BatchNorm writes its statistics into buffers.")
    guard = run(find("09.7").solution)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert guard(model, lambda: model[0].weight.data.mul_(2)) == {"0.weight": "uncounted"}
    assert "1.running_mean" in guard(model, lambda: model(torch.ones(3, 2)))
    assert guard(model.eval(), lambda: model(torch.ones(3, 2))) == {}
