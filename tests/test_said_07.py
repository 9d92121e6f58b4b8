"""What lesson 07 claims of memory and of nodes beyond its own cells, run in torch."""

import gc
import weakref
from functools import partial

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
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
    plain, error = looped()
    assert (len(plain), "a second time" in error) == (1, True)
    flagged, error = looped(retain=True)
    assert (len(flagged), "modified by an inplace operation" in error) == (2, True)
    mended, error = looped(cut=True)
    assert [loss for loss, _ in mended] == [0.0027, 0.0072, 0.0096]
    assert error == ""


# Idea 1


def test_what_the_nodes_of_the_first_graph_keep():
    assert saved_names(leaf(3.0) * 2) == ["other"], "where the 2 wants no gradient, x is not kept"
    x = leaf(1.0, 2.0, 3.0)
    h = x**2
    graph = snapshot((h * h).sum())
    product = graph.operations[1]
    assert product.saved[0].storages == product.saved[1].storages
    assert graph.held.size + graph.held.leaf_size == 6 * 4


def test_the_flag_in_the_first_call_would_have_helped():
    x = leaf(1.0, 2.0, 3.0)
    loss = (x**2).sum()
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    loss.backward()
    assert x.grad.tolist() == [6, 12, 18]
    assert is_refused(lambda: loss.backward(retain_graph=True)), "it cannot put back what is gone"


def test_a_call_that_fails_half_way_may_have_filled_some_grads():
    w, bias = leaf(1.0, 2.0), leaf(0.0, 0.0)
    loss = (w.exp() + bias).sum()
    loss.backward()
    before = w.grad.clone()
    assert is_refused(loss.backward)
    assert bias.grad.tolist() == [2, 2]
    assert torch.equal(w.grad, before)


def test_nodes_stay_until_nothing_leads_to_them():
    x = leaf(1.0)
    loss = (x**2).sum()
    loss.grad_fn.next_functions[0][0].metadata["mark"] = mark = Mark()
    alive = weakref.ref(mark)
    del mark
    torch.autograd.grad(loss, x)
    square = loss.grad_fn.next_functions[0][0]
    assert is_refused(partial(getattr, square, "_saved_self"))
    del square
    gc.collect()
    assert alive() is not None
    del loss
    gc.collect()
    assert alive() is None


def hooked(names_itself):
    """Return a result with a hook that names it, or that does not."""
    y = leaf(1.0, 2.0) * 2
    y.register_hook((lambda g: print(y.shape)) if names_itself else (lambda g: None))
    return y


@pytest.mark.parametrize("names_itself", [True, False])
def test_a_hook_that_names_its_own_tensor_keeps_the_graph(names_itself):
    y = hooked(names_itself)
    y.grad_fn.metadata["mark"] = mark = Mark()
    alive = weakref.ref(mark)
    y.sum().backward()
    del mark, y
    gc.collect()
    assert (alive() is not None) == names_itself


# Idea 2


def test_what_survives_a_second_call():
    x = leaf(3.0)
    fine = [x + 1, x - 4, -x, x.sum(), x + x]
    assert [twice(loss) for loss in fine] == [False] * 5
    assert [twice(loss) for loss in (x / 2, x * 2, x.exp(), (x + 1).exp())] == [True] * 4


class Forgetful(torch.autograd.Function):
    """Save a tensor, and never ask for it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad


@pytest.mark.slow
def test_an_own_function_and_compiled_code_follow_other_rules():
    assert not twice(Forgetful.apply(leaf(3.0)))
    compiled = torch.compile(lambda x: (x + 1).sum(), backend="aot_eager")
    assert not twice((leaf(3.0) + 1).sum())
    loss = compiled(leaf(1.0, 2.0))
    loss.backward()
    with pytest.raises(RuntimeError):
        loss.backward()


# Idea 3


def test_the_flag_keeps_all_four_results():
    four = nn.Sequential(*[nn.Sigmoid()] * 4)
    ends = {}
    for keep in (False, True):
        x = torch.ones(1000, requires_grad=True)
        _, back = bytes_in_use(lambda x=x: four(x).sum(), retain_graph=keep)
        ends[keep] = back
    assert question("07.q11").right == (ends[True][-1] - ends[False][-1],)
    assert ends[False][-1] == 4_000 + 4, "`x.grad` and the loss"
    assert ends[True][-1] == 20_000 + 4, "and four results"


def test_create_graph_records_the_backward_and_the_flag_does_not():
    x = leaf(3.0)
    (slope,) = torch.autograd.grad(x**3, x, retain_graph=True)
    assert slope.grad_fn is None
    (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    assert torch.autograd.grad(slope, x)[0] == 18


def test_two_losses_on_a_trunk():
    w = leaf(2.0)
    h = w**2
    (h * 3).backward(retain_graph=True)
    (h * 5).backward()
    assert w.grad == 32, "not apart"
    apart, w.grad, h = [], None, w**2
    for loss, keep in ((h * 3, True), (h * 5, False)):
        loss.backward(retain_graph=keep)
        apart.append(w.grad)
        w.grad = None
    assert apart == [12, 20]
    w.grad, h = None, w**2
    (h * 3 + 0.5 * (h * 5)).backward()
    assert w.grad == 12 + 10


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
    kept = snapshot(total_of(lambda loss: loss))
    states = [one.state for node in kept.operations for one in node.saved]
    assert states == ["freed"] * 3
    assert isinstance(total_of(lambda loss: loss.item()), float)
    assert total_of(lambda loss: loss.detach()).grad_fn is None
    kept = snapshot(total_of(lambda loss: loss, backward=False))
    assert [one.state for node in kept.operations for one in node.saved] == ["held"] * 3
    with torch.no_grad():
        assert total_of(lambda loss: loss, backward=False).grad_fn is None


def test_out_keeps_the_graph_of_a_loss_that_a_cell_ends_on():
    shell = InteractiveShell()
    shell.run_cell("import torch; w = torch.ones(3, requires_grad=True)", store_history=True)
    shell.run_cell("loss = w.exp().sum()\nloss", store_history=True)
    shell.run_cell("loss = None", store_history=True)
    assert any(torch.is_tensor(out) and out.grad_fn for out in shell.user_ns["Out"].values())


# The lab and the exercises


def test_the_lab_counts_without_accumulate_grad_and_builds_what_was_drawn():
    state = labs.lifecycle.map().states[labs.lifecycle.map().walk(("forward",)).to]
    assert state.fact("nodes alive") == "3"
    drawn = {node.operation for node in state.graph.operations}
    assert drawn == {"SumBackward0", "MulBackward0", "PowBackward0"}
    assert state.fact("bytes they hold") == "24"


def test_backward_returns_none_and_a_loss_is_no_leaf():
    loss = leaf(2.0) ** 2
    assert loss.backward() is None
    assert not loss.is_leaf


def test_the_example_of_the_memory_meter():
    model = nn.Sequential(nn.Linear(64, 64), nn.Tanh())
    x = torch.ones(1000, 64)
    _, held = run(find("07.8").solution)(lambda: model(x).sum(), model)
    assert held == 512000


def test_a_node_that_keeps_its_own_result_itself_forms_a_circle():
    for pack, is_left in ((lambda t: t, True), (torch.Tensor.detach, False)):
        for backward in (False, True):
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                result = leaf(1.0, 2.0).exp()
            if backward:
                result.sum().backward()
            alive = weakref.ref(result)
            del result
            gc.collect()
            assert (alive() is not None) is (is_left and not backward)
