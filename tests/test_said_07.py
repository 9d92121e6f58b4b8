"""What lesson 07 says of memory and of nodes beyond its own cells: it still stands there, and torch
bears it out.
"""

import gc
import os
import subprocess
import sys
import threading
import weakref
from itertools import pairwise

import numpy as np
import pytest
import torch
from said import said
from torch import nn
from torch.profiler import ProfilerActivity, profile

from helpers import labs, memory, snapshot
from helpers.exercises.exercise import find
from helpers.memory import bytes_in_use


class Mark:
    """Lie in a node's metadata: as long as this lives, the node does."""


def is_refused(call):
    """Tell whether a walk misses a freed saved tensor."""
    try:
        call()
    except RuntimeError as error:
        return "a second time" in str(error)
    return False


def twice(loss):
    """Call backward() twice; tell whether the second call was refused."""
    loss.backward()
    return is_refused(loss.backward)


# Idea 1


def test_the_flag_in_a_second_call_comes_too_late_and_adds_nothing():
    assert "it does not bring back what an earlier call freed" in said("07", "rg-05")
    assert "It would, if the *first* call had had the flag." in said("07", "rg-05")
    assert "A walk that gets through adds its gradient. This one did not get through." in said(
        "07", "rg-05"
    )
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    loss = (x**2).sum()
    loss.backward()
    assert is_refused(lambda: loss.backward(retain_graph=True))
    assert x.grad.tolist() == [2, 4, 6]
    loss = (x**2).sum()
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    assert x.grad.tolist() == [6, 12, 18]


def test_nodes_and_edges_stay():
    assert "its nodes and edges stay" in said("07", "rg-05")
    assert "Saved tensors, node by node; no node." in said("07", "rg-51")
    x = torch.ones(3, requires_grad=True)
    loss = (x**2).sum()
    loss.grad_fn.next_functions[0][0].metadata["mark"] = mark = Mark()
    alive = weakref.ref(mark)
    del mark
    loss.backward()
    gc.collect()
    square, _ = loss.grad_fn.next_functions[0]
    assert square.name() == "PowBackward0"
    assert alive() is square.metadata["mark"]
    assert square.next_functions[0][0].variable is x
    assert square._raw_saved_self.data is None


# Idea 2


def test_what_survives_a_second_call():
    assert (
        "**A second call fails where a node misses a saved tensor; that of `x + 2` had saved none.**"
        in said("07", "rg-12")
    )
    assert "and `x + 2` saved no tensor" in said("07", "rg-12")
    assert "the 2 was saved as a tensor, and `backward()` frees that" in said("07", "rg-12")
    assert "it ends when somebody inserts an `exp`" in said("07", "rg-12")
    assert "(Yes; no, it keeps the 2.)" in said("07", "rg-13")
    x = torch.tensor(3.0, requires_grad=True)
    kept = {
        name: [one.name for node in snapshot(loss).operations for one in node.saved]
        for name, loss in {"+": x + 2, "*": x * 2, "/": x / 2, "-": -x}.items()
    }
    assert kept == {"+": [], "*": ["other"], "/": ["other"], "-": []}
    assert (x * 2).grad_fn._saved_other == 2
    assert (x + 2).grad_fn._saved_alpha == 1  # it saved something, but no tensor
    refused = [twice(loss) for loss in (x + 2, -x, x * 2, x / 2, (x + 2).exp())]
    assert refused == [False, False, True, True, True]


def walked(loss):
    """Return the names of the nodes that a walk comes to, in order; it may be refused."""
    names = []
    for node in nodes_of(loss.grad_fn):
        node.register_prehook(lambda *_, node=node: names.append(node.name().split("::")[-1]))
    is_refused(loss.backward)
    return names


def nodes_of(node):
    yield node
    for child, _ in node.next_functions:
        if child is not None:
            yield from nodes_of(child)


def test_the_latest_operation_comes_first_and_a_leaf_at_once():
    assert (
        "**A walk takes the latest operation first, and a leaf as soon as its gradient is complete.**"
        in said("07", "q3-because")
    )
    assert "(`q`: it was made last, though it stands on the left.)" in said("07", "q3-notes")
    assert "# p = b.exp(), then q = a + 1, and step through q + p." in said("07", "q3-try")
    a, b = (torch.tensor(2.0, requires_grad=True) for _ in range(2))
    leaf = "AccumulateGrad"
    names = walked((a + 1) + b.exp())
    assert names == ["AddBackward0", "ExpBackward0", leaf, "AddBackward0", leaf]
    for is_swapped in (False, True):
        p = b.exp()
        q = a + 1
        assert walked(p + q if is_swapped else q + p) == [
            "AddBackward0",
            "AddBackward0",
            leaf,
            "ExpBackward0",
            leaf,
        ]


def test_a_view_whose_base_was_edited_gets_a_new_node():
    assert "A view whose base was edited gets a new node when it is used." in said("07", "q3-notes")
    orders = []
    for edited in (False, True):
        a, b = (torch.tensor([2.0], requires_grad=True) for _ in range(2))
        base = a * 1
        view = base[:]
        if edited:
            base.mul_(2)
        late = b.exp()
        orders.append(walked(((view + 0) * late).sum()))
    order, after_an_edit = orders
    assert order.index("SliceBackward0") > order.index("ExpBackward0")
    assert after_an_edit.index("AsStridedBackward0") < after_an_edit.index("ExpBackward0")


def test_the_latest_operation_is_the_latest_of_its_thread():
    assert "each counts its operations for itself" in said("07", "q3-notes")
    a, b = (torch.tensor(2.0, requires_grad=True) for _ in range(2))
    made = [a + 1]
    elsewhere = threading.Thread(target=lambda: made.append(b.exp()))
    elsewhere.start()
    elsewhere.join()
    names = walked(made[0] + made[1])
    leaf = "AccumulateGrad"
    assert names == ["AddBackward0", "AddBackward0", leaf, "ExpBackward0", leaf]


def test_a_walk_that_fails_at_exp_brings_nothing_to_a():
    assert "would raise before `a` gets anything" in said("07", "q3-because")
    for swapped, wanted in ((False, 1), (True, 2)):
        a, b = (torch.tensor(2.0, requires_grad=True) for _ in range(2))
        loss = b.exp() + (a + 1) if swapped else (a + 1) + b.exp()
        loss.backward()
        assert is_refused(loss.backward)
        assert a.grad == wanted
        assert b.grad == b.exp()


# Idea 3


def allocations(run):
    """Return the bytes that `run()` took (above 0) and gave back (below 0), in order, by torch's
    own count.
    """
    gc.collect()  # else what other tests left would be given back meanwhile
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run()
    events = [one for one in seen.profiler.kineto_results.events() if one.name() == "[memory]"]
    return [one.nbytes() for one in sorted(events, key=lambda one: one.start_ns())]


def peaks(forward, **how):
    """Return the most bytes that were in use at once: in the forward, and in the backward after it."""
    made, now, found = [], 0, []
    for stage in (lambda: made.append(forward()), lambda: made[0].backward(**how)):
        most = now
        for change in allocations(stage):
            now += change
            most = max(most, now)
        found.append(most)
    return found


def chain():
    """Do the forward of the second question of idea 3."""
    h = torch.ones(1000, requires_grad=True)
    for _ in range(4):
        h = h.sigmoid()
    return h.sum()


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"retain_graph": True}])
def test_bytes_in_use_counts_as_the_profiler_does(how):
    rows, net = torch.ones(4, 200), nn.Sequential(*(nn.Linear(200, 200) for _ in range(3)))
    for forward in (chain, lambda: net(rows).sum()):
        net.zero_grad()
        counted = [max(part) for part in bytes_in_use(forward, **how)]
        net.zero_grad()
        assert counted == peaks(forward, **how)


START, ARRAY = torch.ones(1000, requires_grad=True), np.ones(1000, dtype=np.float32)
ODD = {
    "a view": lambda: START.view(10, 100).t().sum(),
    "a part of what was made": lambda: START.exp()[:1].sum(),
    "parts of one storage": lambda: torch.cat(START.exp().split(100)).sum(),
    "a tensor made of a list": lambda: (START * torch.tensor([1.0] * 1000)).sum(),
    "a tensor made of an array": lambda: (START * torch.from_numpy(ARRAY)).sum(),
    "a detached view": lambda: (START * START.detach()).sum(),
    "expanded": lambda: START.expand(5, 1000).exp().sum(),
    "another dtype": lambda: START.double().sum(),
}


@pytest.mark.slow
@pytest.mark.parametrize("forward", ODD.values(), ids=ODD.keys())
def test_bytes_in_use_counts_a_storage_once_and_where_it_was_made(forward):
    START.grad = None
    wanted = peaks(forward)
    for _ in range(2):
        START.grad = None
        assert [max(part) for part in bytes_in_use(forward)] == wanted


@pytest.mark.slow
def test_gradients_that_meet_at_a_node_count_too_much():
    assert "the peak comes out higher there" in " ".join(memory.__doc__.split())

    def halves():
        h = START.exp()
        return (h[:500] * h[500:]).sum()

    START.grad = None
    counted = [max(part) for part in bytes_in_use(halves)]
    START.grad = None
    there, back = peaks(halves)
    assert counted[0] == there
    assert counted[1] > back


def test_gradients_come_on_top_of_what_was_saved():
    assert "each weight gets a `.grad` of its own size" in said("07", "q4-because")
    assert "The `.grad`s stay, and the loss: the third number." in said("07", "q4-because")
    assert "here they weigh more" in said("07", "q4-because")
    assert "Each output gets a gradient of its size." in said("07", "q4-because")
    assert "The weights, there before, count 0." in said("07", "q4")
    assert "200 · 200 + 200, times 4 bytes" in said("07", "q4-notes")
    net = nn.Sequential(*(nn.Linear(200, 200) for _ in range(3)))
    arrived, outputs = [], [net[0](torch.ones(4, 200))]
    for layer in net[1:]:
        outputs.append(layer(outputs[-1]))
    for output in outputs:
        output.register_hook(lambda grad: arrived.append(grad.nbytes))
    outputs[-1].sum().backward()
    assert arrived == [output.nbytes for output in outputs] == [4 * 200 * 4] * 3
    net.zero_grad()
    there, back = bytes_in_use(lambda: net(torch.ones(4, 200)).sum())
    weights = list(net.parameters())
    assert [one.grad.nbytes for one in weights] == [one.nbytes for one in weights]
    assert sum(one.nbytes for one in weights) == 3 * (200 * 200 + 200) * 4
    assert back[-1] == sum(one.nbytes for one in weights) + 4
    assert max(back) > 10 * max(there)


@pytest.mark.slow
def test_with_4000_rows_the_peak_is_in_backward_still():
    text = said("07", "q4-notes")
    assert "the forward comes near. torch's profiler also counts what an operation makes" in text
    assert "has the forward at four fifths of the backward" in text
    assert "By both counts backward has the peak." in text
    net = nn.Sequential(*(nn.Linear(200, 200) for _ in range(3)))
    forward = lambda: net(torch.ones(4000, 200)).sum()  # noqa: E731
    counted = [max(part) for part in bytes_in_use(forward)]
    net.zero_grad()
    by_torch = peaks(forward)
    assert 0.95 < counted[0] / counted[1] < 1
    assert 0.77 < by_torch[0] / by_torch[1] < 0.83


def test_saved_tensors_are_freed_one_by_one_and_kept_with_the_flag():
    text = said("07", "rg-17")
    assert "about 20000 bytes, and 24000 with the flag" in text
    assert "In the end `x.grad` is left, 4000 bytes; with the flag 16000 more" in text
    assert "(Here it does: no saved tensor is given back meanwhile." in said("07", "rg-18")
    x = torch.ones(1000, requires_grad=True)

    def forward():
        return x.sigmoid().sigmoid().sigmoid().sigmoid().sum()

    _, plain = bytes_in_use(forward)
    x.grad = None
    _, kept = bytes_in_use(forward, retain_graph=True)
    rounded = [round(number, -3) for number in (max(plain), max(kept), plain[-1], kept[-1])]
    assert rounded == [20000, 24000, 4000, 20000]
    assert kept[-1] - plain[-1] == 16000
    assert any(later < now for now, later in pairwise(kept))  # gradients do come and go


class Keeper(torch.autograd.Function):
    """Return the square; keep the input as a saved tensor, or as an attribute that no walk frees."""

    @staticmethod
    def forward(ctx, x, is_saved):
        ctx.is_saved, ctx.x = is_saved, None if is_saved else x
        if is_saved:
            ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors if ctx.is_saved else (ctx.x,)
        return 2 * x * grad, None


@pytest.mark.parametrize("is_saved", [True, False])
def test_a_node_frees_its_saved_tensors_and_not_what_else_it_keeps(is_saved):
    assert "**Each node frees its saved tensors when it is done;" in said("07", "rg-17")
    loss = Keeper.apply(torch.ones(3, requires_grad=True), is_saved).sum()
    loss.backward()
    assert is_refused(loss.backward) is is_saved


def test_each_sigmoid_frees_its_result_on_the_way():
    assert "is freed although `loss` still leads to it" in said("07", "rg-17")
    h, nodes, held = torch.ones(1000, requires_grad=True), [], []
    for _ in range(4):
        h = h.sigmoid()
        nodes.append(h.grad_fn)
        h.grad_fn.register_prehook(
            lambda *_: held.append(sum(one._raw_saved_result.data is not None for one in nodes))
        )
    loss = h.sum()
    loss.backward()
    assert held == [4, 3, 2, 1]
    assert all(one._raw_saved_result.data is None for one in nodes)
    assert loss.grad_fn is not None


@pytest.mark.slow
def test_what_was_kept_goes_with_a_later_call_or_with_the_names():
    assert "until a later call frees them or no name leads there" in said("07", "rg-17")
    w = torch.ones(3, requires_grad=True)
    for end in ("call", "names"):
        loss = w.exp()
        result = weakref.ref(loss.grad_fn._saved_result.untyped_storage())
        loss = loss.sum()
        loss.backward(retain_graph=True)
        assert result() is not None
        if end == "call":
            loss.backward()
        else:
            del loss
        gc.collect()
        assert result() is None


def next_forward(**how):
    """Return the most bytes in use in a second forward, while `loss` still names what the first one
    made.
    """
    held = []

    def two_steps():
        loss = chain()
        loss.backward(**how)
        held.append(loss)
        return chain()

    there, _ = bytes_in_use(two_steps)
    return max(there)


def test_the_next_forward_comes_on_top_of_what_was_retained():
    assert "If `loss` still names that graph, the next forward comes on top." in said("07", "rg-18")
    assert next_forward(retain_graph=True) >= next_forward() + 4000


# Idea 4


def test_the_sum_needs_one_walk_and_no_flag():
    assert "the first must keep what it saved. Their sum walks it once." in said("07", "rg-21")
    assert "Both ways give 32." in said("07", "rg-21")
    w, walks = torch.tensor(2.0, requires_grad=True), []
    h = w**2
    h.grad_fn.register_hook(lambda *_: walks.append(1))
    (h * 3 + h * 5).backward()
    assert (w.grad.item(), len(walks)) == (32, 1)


def test_a_trunk_that_saved_nothing_needs_no_flag():
    w = torch.tensor(2.0, requires_grad=True)
    for trunk, is_kept in ((w**2, True), (w + 1, False)):
        (trunk * 3).backward()
        assert is_refused((trunk * 5).backward) is is_kept


def test_two_losses_have_a_node_each_and_the_trunk_one():
    assert "both lead to the one node of `w**2`" in said("07", "rg-21")
    h = torch.tensor(2.0, requires_grad=True) ** 2
    one, other = h * 3, h * 5
    assert one.grad_fn is not other.grad_fn
    assert one.grad_fn.next_functions[0][0] is other.grad_fn.next_functions[0][0]


def test_a_line_before_the_loop_fails_in_step_2_and_inside_it_does_not():
    assert "each step's `loss` is new, but leads to the old node" in said("07", "rg-21")
    assert "Move that line into the loop." in said("07", "rg-21")
    w = torch.tensor(2.0, requires_grad=True)
    h = w.exp()
    assert [is_refused((h**2).backward) for _ in range(3)] == [False, True, True]
    assert [is_refused((w.exp() ** 2).backward) for _ in range(3)] == [False, False, False]


def test_rows_of_a_jacobian_come_with_the_flag():
    assert "the rows of a Jacobian (lesson 05)" in said("07", "rg-21")
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = torch.stack([x.prod(), x.sum()])
    rows = [torch.autograd.grad(y, x, v, retain_graph=True)[0].tolist() for v in torch.eye(2)]
    assert rows == [[3, 2], [1, 1]]


def test_create_graph_keeps_what_was_saved_unless_told_otherwise():
    assert "(It keeps what was saved, unless told otherwise.)" in said("07", "q7-notes")
    assert "Both keep what `x**3` saved." in said("07", "rg-25")
    x = torch.tensor(3.0, requires_grad=True)
    for how, freed in (
        ({"retain_graph": True}, False),
        ({"create_graph": True}, False),
        ({"create_graph": True, "retain_graph": False}, True),
    ):
        cube = x**3
        torch.autograd.grad(cube, x, **how)
        assert (cube.grad_fn._raw_saved_self.data is None) is freed


# Idea 5


def carried(steps, cut=False, **how):
    """Return how many nodes, with and without AccumulateGrad, a walk from the state has in each step."""
    w, h, found = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0), []
    for x in range(1, steps + 1):
        h = torch.tanh(w * h + x)
        graph = snapshot(h)
        found.append((len(graph.nodes), len(graph.operations)))
        h.backward(**how)
        h = h.detach() if cut else h
    return found


def test_the_state_carries_its_history_along():
    assert "each walk is one step" in said("07", "rg-32")
    assert "(It would run, and each walk would be longer than the last.)" in said("07", "rg-33")
    assert carried(4, retain_graph=True) == [(4, 3), (7, 6), (10, 9), (13, 12)]
    assert carried(4, cut=True) == [(4, 3)] * 4


def test_the_first_product_saved_no_w_and_the_second_did():
    assert "The `h` of the start requires no grad, so the first product saved no `w`." in said(
        "07", "rg-33"
    )
    w, h = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0)
    products = []
    for x in (1.0, 2.0):
        products.append(w * h)
        h = torch.tanh(products[-1] + x)
    first, second = (product.grad_fn._saved_self for product in products)
    assert first is None
    assert second is w


def test_the_cut_changes_the_gradient_and_the_sum_of_losses_sees_all_steps():
    assert "The cut changes the gradient: no step sees those before it." in said("07", "rg-32")

    def gradient(cut):
        w, h, losses = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0), []
        for x in (0.1, 0.2, 0.3):
            h = torch.tanh(w * (h.detach() if cut else h) + x)
            losses.append(h)
        sum(losses).backward()
        return w.grad

    assert gradient(cut=False) > gradient(cut=True) > 0


# Idea 6


def three_steps(train, read):
    w, total, marks = torch.ones(3, requires_grad=True), 0.0, []
    for _ in range(3):
        loss = w.exp().sum()
        for node in (loss.grad_fn, loss.grad_fn.next_functions[0][0]):
            node.metadata["mark"] = mark = Mark()
            marks.append(weakref.ref(mark))
        if train:
            loss.backward()
        total += read(loss)
    del loss, node, mark
    gc.collect()
    graph = snapshot(torch.as_tensor(total))
    held = sum(one.state == "held" for node in graph.nodes for one in node.saved)
    return sum(mark() is not None for mark in marks), held


@pytest.mark.slow
def test_total_keeps_all_nodes_and_in_an_evaluation_what_they_saved():
    assert "`total` leads to those of every step" in said("07", "rg-37")
    assert "leaks what was saved, too" in said("07", "rg-37")
    assert "`total += loss.item()` takes the number alone" in said("07", "rg-37")
    assert three_steps(train=True, read=lambda loss: loss) == (6, 0)
    assert three_steps(train=False, read=lambda loss: loss) == (6, 3)
    for read in (torch.Tensor.item, torch.Tensor.detach):
        assert three_steps(train=False, read=read) == (0, 0)


@pytest.mark.slow
def test_nodes_live_as_long_as_something_leads_to_them():
    assert "**Nodes live as long as something leads to them," in said("07", "rg-37")
    w = torch.ones(3, requires_grad=True)
    leads = (lambda loss: loss, lambda loss: loss.grad_fn, lambda loss: (loss * 2).grad_fn)
    for lead in leads:
        loss = w.exp().sum()
        loss.grad_fn.next_functions[0][0].metadata["mark"] = mark = Mark()
        alive, led = weakref.ref(mark), lead(loss)
        del loss, mark
        gc.collect()
        assert alive() is not None
        del led
        gc.collect()
        assert alive() is None


OUT = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
run = lambda code: shell.run_cell(code, store_history=True)
run("import torch; x = torch.ones(2, requires_grad=True)")
kept = lambda: [torch.is_tensor(value) for value in shell.user_ns["Out"].values()]
import torch
for code in ("x.sum().item()", "x.exp().sum();", "x.exp().sum()", "%reset -f out"):
    run(code)
    print(kept().count(True), end=" ")
"""


@pytest.mark.slow
def test_out_keeps_a_tensor_that_a_cell_ends_on(tmp_path):
    assert "the value shown is in `Out[]`, and with it the graph" in said("07", "rg-37")
    assert "(End the cell on `loss.item()`, or on a semicolon; `%reset -f out` empties it.)" in (
        said("07", "rg-38")
    )
    answer = subprocess.run(
        [sys.executable, "-c", OUT],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "IPYTHONDIR": str(tmp_path)},
    )
    assert answer.stdout.split()[-1] == "0"
    counts = [word for word in answer.stdout.split() if word in "01"]
    assert counts == ["0", "0", "1", "0"]


# Lab


def test_the_lab_counts_without_accumulate_grad_and_says_so():
    assert "Nodes are counted without `AccumulateGrad`." in said("07", "rg-39")
    assert "Nodes are counted without AccumulateGrad." in labs.lifecycle.alt
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = x**2
    graph = snapshot((h * h).sum())
    built = labs.lifecycle.state("built")
    assert int(built.fact("nodes alive")) == len(graph.operations) == len(graph.nodes) - 1


def test_key_1_of_the_lab_empties_the_gradient_and_runs_the_forward():
    assert "Key 1 empties `x.grad` and runs the forward" in said("07", "rg-39")
    known = labs.lifecycle.map()
    after = known.states[known.walk(("forward", "backward", "forward")).to]
    assert after.box("x.grad").why == "None"
    assert after.fact("nodes alive") == "3"


@pytest.mark.slow
def test_what_has_a_name_gives_no_byte_back():
    assert "key 2 gives none of them back" in said("07", "rg-42")
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = x**2
    loss = (h * h).sum()
    there = weakref.ref(h.untyped_storage())
    named = [x.data_ptr(), h.data_ptr()]
    kept = (h.grad_fn._saved_self, loss.grad_fn.next_functions[0][0]._saved_other)
    assert [one.data_ptr() for one in kept] == named
    del kept
    loss.backward()
    gc.collect()
    assert there() is not None


def test_the_lab_adds_the_same_gradient_twice():
    assert "the gradient comes twice" in said("07", "rg-41")
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = x**2
    loss = (h * h).sum()
    loss.backward(retain_graph=True)
    once = x.grad.clone()
    loss.backward()
    assert x.grad.equal(2 * once)


# Exercises


def test_the_principle_of_07_1_what_was_added_stays_when_the_walk_raises():
    assert "stays there, also when the walk raises at a later node" in find("07.1").principle
    a, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    square = a * a
    square.backward()
    loss = square + b * 2
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()
    assert b.grad == 2
    assert a.grad == 4


def test_the_principle_of_07_3_detach_hands_on_the_value_without_the_history():
    assert "`detach()` hands on the value without it" in find("07.3").principle
    w = torch.tensor(2.0, requires_grad=True)
    h = w.exp()
    (w * h.detach()).backward()
    assert w.grad == h
    assert h.detach().grad_fn is None


def test_the_principle_of_07_4_a_walk_frees_unless_the_graph_is_retained():
    assert "unless the graph is retained" in find("07.4").principle
    for how, is_freed in (
        ({}, True),
        ({"retain_graph": True}, False),
        ({"create_graph": True}, False),
    ):
        w = torch.tensor(2.0, requires_grad=True)
        h = w.exp()
        torch.autograd.grad(h, w, **how)
        if is_freed:
            with pytest.raises(RuntimeError, match="a second time"):
                torch.autograd.grad(h, w)
        else:
            torch.autograd.grad(h, w)


def test_the_solution_of_07_4_is_right_where_a_loss_stands_twice():
    namespace = {"torch": torch}
    exec(find("07.4").solution, namespace)
    w = torch.tensor(2.0, requires_grad=True)
    h = w.exp()
    loss = h * 3
    assert namespace["answer"]([loss, h * 5, loss], w) == [h * 3, h * 5, h * 3]
    assert is_refused((h * 7).backward)


def test_exercise_07_4_says_what_a_loss_keeps_and_backward_returns():
    texts = " ".join(idea.message for idea in find("07.4").misconceptions)
    assert "A loss that is no leaf keeps no `.grad`, and `backward()` returns nothing" in texts
    assert "gives one gradient for each input, in a tuple" in texts
    w = torch.tensor(2.0, requires_grad=True)
    loss = w.exp()
    assert loss.backward(retain_graph=True) is None
    with pytest.warns(UserWarning, match="not a leaf"):
        assert loss.grad is None
    assert isinstance(torch.autograd.grad(loss, w), tuple)
