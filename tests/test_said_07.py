"""What lesson 07 says of memory and of nodes beyond its own cells: it still stands there, and torch
bears it out.
"""

import gc
import weakref

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from said import said
from torch import nn

from helpers import labs, snapshot
from helpers.exercises.exercise import find
from helpers.exercises.programs import run
from helpers.memory import bytes_in_use
from helpers.predicting.questions import question


class Mark:
    """Lie in a node's metadata: as long as this lives, the node does."""


def is_refused(call):
    """Tell whether a backward misses a freed saved tensor."""
    try:
        call()
    except RuntimeError as error:
        return "a second time" in str(error)
    return False


def twice(loss):
    """Call backward() twice; tell whether the second call was refused."""
    loss.backward()
    return is_refused(loss.backward)


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def saved_names(loss):
    return [one.name for node in snapshot(loss).operations for one in node.saved]


def looped(retain=False, cut=False):
    """Run the case; return what it printed and how it failed."""
    w, h, printed = leaf(0.5), torch.tensor(0.5), []
    try:
        for x in (1.0, 2.0, 3.0):
            h = torch.tanh(w * h + x)
            loss = (h - 0.9) ** 2
            loss.backward(retain_graph=retain)
            with torch.no_grad():
                w -= w.grad
            w.grad = None
            printed.append((round(loss.item(), 4), round(w.item(), 4)))
            h = h.detach() if cut else h
    except RuntimeError as error:
        return printed, str(error)
    return printed, ""


# The case


def test_the_flag_leads_one_step_further_into_another_error_and_detach_to_the_end():
    assert "you get one step further, into a different error" in said("07", "case-then")
    plain, error = looped()
    assert (len(plain), "a second time" in error) == (1, True)
    flagged, error = looped(retain=True)
    assert (len(flagged), "modified by an inplace operation" in error) == (2, True)
    assert "the message suggests a flag" in said("07", "case-then").lower()
    assert "repair this loop with one line" in said("07", "case-then")
    mended, error = looped(cut=True)
    assert [loss for loss, _ in mended] == [0.0027, 0.0072, 0.0096]
    assert error == ""


# Idea 1


def test_what_the_nodes_of_the_first_graph_keep():
    assert "`h` is used twice, so two edges lead to its node." in said("07", "d1-because")
    assert "A product keeps the factors it needs, and here it needs both." in said(
        "07", "d1-because"
    )
    assert saved_names(leaf(3.0) * 2) == ["other"], "where the 2 wants no gradient, x is not kept"
    x = leaf(3.0)
    nodes = [node for node, _ in (x + x).grad_fn.next_functions]
    assert nodes[0] is nodes[1], "the edges come from use: a sum keeps nothing, and has two"
    assert "The slope of a sum is 1, so its node keeps nothing." in said("07", "d1-because")
    assert "`x` once, `h` twice. The two `h` share one storage, so six numbers are in memory" in (
        said("07", "d1-notes")
    )
    x = leaf(1.0, 2.0, 3.0)
    h = x**2
    graph = snapshot((h * h).sum())
    total, product, square = graph.operations
    assert [len(node.saved) for node in (total, product, square)] == [0, 2, 1]
    assert product.saved[0].storages == product.saved[1].storages
    assert graph.held.size + graph.held.leaf_size == 6 * 4
    assert "`x**1` keeps `x`, although its slope is 1" in said("07", "d1-because")
    assert saved_names(x**1) == ["self"]


def test_the_flag_in_a_second_call_comes_too_late_and_adds_nothing():
    assert "it cannot put back what an earlier call has taken down" in said("07", "q1-because")
    assert "It would, if the *first* call had carried the flag." in said("07", "q1-because")
    x = leaf(1.0, 2.0, 3.0)
    loss = (x**2).sum()
    loss.backward()
    assert is_refused(lambda: loss.backward(retain_graph=True))
    assert x.grad.tolist() == [2, 4, 6]
    loss = (x**2).sum()
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    assert x.grad.tolist() == [6, 12, 18]


def test_a_call_that_fails_half_way_may_have_filled_some_grads():
    text = said("07", "q1-because")
    assert "a call that fails half-way may already have filled some `.grad`s" in text
    assert "This one stopped before it reached `x`." in text
    w, bias = leaf(1.0, 2.0), leaf(0.0, 0.0)
    loss = (w.exp() + bias).sum()
    loss.backward()
    before = w.grad.clone()
    assert is_refused(loss.backward)
    assert bias.grad.tolist() == [2, 2]
    assert torch.equal(w.grad, before)
    x = leaf(1.0, 2.0, 3.0)
    h = x**2
    loss = (h * h).sum()
    loss.backward()
    assert is_refused(lambda: loss.backward(retain_graph=True))
    assert x.grad.tolist() == [4, 32, 108]


def test_nodes_stay_until_nothing_leads_to_them():
    assert "The nodes themselves stay.**" in said("07", "q1-because")
    assert "**A graph lives as long as something leads to it" in said("07", "e1-because")
    assert "Or the last name that leads to the graph disappears." in said("07", "q11-notes")
    x = leaf(1.0)
    loss = (x**2).sum()
    loss.grad_fn.next_functions[0][0].metadata["mark"] = mark = Mark()
    alive = weakref.ref(mark)
    del mark
    loss.backward()
    gc.collect()
    assert alive() is not None
    del loss
    gc.collect()
    assert alive() is None


# Idea 2


def test_what_survives_a_second_call():
    assert "Would `x / 2` survive a second call? (No, it keeps the 2.)" in said("07", "f1-notes")
    assert "Would `-x`? (Yes.) And `x.exp()`? (No, it keeps its result.)" in said("07", "f1-notes")
    assert "Adding, subtracting, negating and summing need no saved numbers" in (
        said("07", "f1-because")
    )
    assert "insert one `exp`, and the second call fails" in said("07", "f1-because")
    assert twice((leaf(3.0) + 1).exp().sum())
    assert not twice((leaf(3.0) + 1).sum())
    x = leaf(3.0)
    fine = [x + 1, x - 4, -x, x.sum(), x + x]
    assert [twice(loss) for loss in fine] == [False] * 5
    assert [twice(loss) for loss in (x / 2, x * 2, x.exp())] == [True] * 3
    assert saved_names(x.exp()) == ["result"]


class Forgetful(torch.autograd.Function):
    """Save a tensor, and never ask for it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad


def test_an_own_function_and_compiled_code_follow_other_rules():
    assert "a compiled function, or a `Function` that you wrote, follows other rules" in said(
        "07", "f1-because"
    )
    assert not twice(Forgetful.apply(leaf(3.0)))
    compiled = torch.compile(lambda x: (x + 1).sum(), backend="aot_eager")
    assert not twice((leaf(3.0) + 1).sum())
    loss = compiled(leaf(1.0, 2.0))
    loss.backward()
    with pytest.raises(RuntimeError):
        loss.backward()


def test_every_line_of_the_program_was_tried():
    told = question("07.f1").told
    assert told["notes"][1:6] == [
        f"{name}Backward0" for name in ("Add", "Sub", "Mul", "Neg", "Sum")
    ]
    same = [number for number, text in enumerate(told["tells"], 1) if "the same error" in text]
    assert same == [2, 3, 5]
    assert [number for number, text in enumerate(told["tells"], 1) if "no error" in text] == [4, 7]


# Idea 3


def test_the_flag_keeps_all_four_results():
    four = nn.Sequential(*[nn.Sigmoid()] * 4)
    ends = {}
    for keep in (False, True):
        x = torch.ones(1000, requires_grad=True)
        _, back = bytes_in_use(lambda x=x: four(x).sum(), retain_graph=keep)
        ends[keep] = back
    assert "each node frees its tensors when it has finished, so the curve falls" in said(
        "07", "q11-because"
    )
    loss = 4
    assert question("07.q11").right == (ends[True][-1] - ends[False][-1],)
    assert ends[False][-1] == 4_000 + loss, "`x.grad` and the loss"
    assert "About 4,000 bytes are left in both cases: they are `x.grad`." in said(
        "07", "q11-because"
    )
    steps = [after - before for before, after in zip(ends[False], ends[False][1:], strict=False)]
    assert sum(step < 0 for step in steps) >= 4, "it comes down in steps"


def test_create_graph_records_the_backward_and_the_flag_does_not():
    assert "the flag keeps the graph and records nothing new" in said("07", "q11-because")
    x = leaf(3.0)
    (slope,) = torch.autograd.grad(x**3, x, retain_graph=True)
    assert slope.grad_fn is None
    (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    assert torch.autograd.grad(slope, x)[0] == 18


def test_two_losses_on_a_trunk():
    assert "call `backward()` twice, and give the first call the flag" in said("07", "o1-because")
    assert "(`one + 0.5 * two`, and still one call.)" in said("07", "o1-notes")
    w = leaf(2.0)
    h = w**2
    one, two = h * 3, h * 5
    one.backward(retain_graph=True)
    two.backward()
    assert w.grad == 32
    w.grad, h = None, w**2
    (h * 3 + 0.5 * (h * 5)).backward()
    assert w.grad == 12 + 10


def test_each_order_was_run_and_only_one_does_it():
    told = question("07.o1").told
    good = [letters for letters, number in told["of"].items() if told["outcomes"][number]["isGood"]]
    assert good == ["abd"]
    assert len(told["of"]) == 325
    refused = [one for one in told["outcomes"] if "a second time" in " ".join(one["facts"])]
    assert all("freed" in one["says"] for one in refused)


# Idea 4


def total_of(read, backward=True):
    w, total = torch.ones(3, requires_grad=True), 0.0
    for _ in range(3):
        loss = w.exp().sum()
        if backward:
            loss.backward()
        total += read(loss)
    return total


def test_the_total_leads_to_each_step_and_a_number_to_none():
    assert "`total += loss.item()` adds the number and leaves the history behind" in said(
        "07", "e1-because"
    )
    kept = snapshot(total_of(lambda loss: loss))
    states = [one.state for node in kept.operations for one in node.saved]
    assert states == ["freed"] * 3
    assert isinstance(total_of(lambda loss: loss.item()), float)
    assert total_of(lambda loss: loss.detach()).grad_fn is None
    assert "never calls it, so it keeps the saved tensors as well. `no_grad()` prevents that" in (
        said("07", "e1-because")
    )
    kept = snapshot(total_of(lambda loss: loss, backward=False))
    assert [one.state for node in kept.operations for one in node.saved] == ["held"] * 3
    with torch.no_grad():
        assert total_of(lambda loss: loss, backward=False).grad_fn is None
    assert "the memory of such a loop grows with every step" in said("07", "e1-because")


def test_the_case_is_repaired_by_detach_and_the_exercise_says_what_max_returns():
    assert "`detach()`, which repairs the case, and its relatives" in said("07", "rg-51")
    assert "Python's `max` returns one of its two arguments." in said("07", "rg-45")
    loss = leaf(2.0).exp()
    assert max(0.0, loss) is loss


def test_out_keeps_the_graph_of_a_loss_that_a_cell_ends_on():
    assert "In a notebook, `Out[]`" in said("07", "e1-notes")
    shell = InteractiveShell()
    shell.run_cell("import torch; w = torch.ones(3, requires_grad=True)", store_history=True)
    shell.run_cell("loss = w.exp().sum()\nloss", store_history=True)
    shell.run_cell("loss = None", store_history=True)
    assert any(torch.is_tensor(out) and out.grad_fn for out in shell.user_ns["Out"].values())


# The lab and the exercises


def test_the_lab_counts_without_accumulate_grad_and_builds_what_was_drawn():
    assert "`AccumulateGrad` is not counted as a node" in said("07", "rg-39")
    state = labs.lifecycle.map().states[labs.lifecycle.map().walk(("forward",)).to]
    assert state.fact("nodes alive") == "3"
    drawn = {node.operation for node in state.graph.operations}
    assert drawn == {"SumBackward0", "MulBackward0", "PowBackward0"}
    assert "24 bytes in all? (`h` was saved twice" in said("07", "rg-42")
    assert state.fact("bytes they hold") == "24"


def test_what_the_exercises_say_of_backward_and_detach():
    assert "leaves the history" in find("07.5").principle
    h = (leaf(2.0) * 3).detach()
    assert (h.item(), h.grad_fn) == (6, None)
    assert "unless you retain the graph" in find("07.4").principle
    assert "Losses keep no `.grad`, because they are not leaves" in " ".join(
        one.message for one in find("07.4").misconceptions
    )
    loss = leaf(2.0) ** 2
    assert loss.backward() is None
    assert not loss.is_leaf


def test_the_example_of_the_memory_meter():
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh())
    x = torch.ones(1000, 64)
    _, held = run(find("07.8").solution)(lambda: model(x).sum(), model)
    assert held == 512000
    assert "512000: x, and the result of Tanh" in said("07", "x8")


def test_a_node_that_keeps_its_own_result_itself_forms_a_circle():
    assert "keeps its own result itself, they form a circle" in find("07.8").hints[0]
    for pack, is_left in ((lambda t: t, True), (torch.Tensor.detach, False)):
        for backward in (False, True):
            gc.collect()
            gc.disable()
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                result = leaf(1.0, 2.0).exp()
            if backward:
                result.sum().backward()
            alive = weakref.ref(result)
            del result
            assert (alive() is not None) is (is_left and not backward)
            gc.enable()
