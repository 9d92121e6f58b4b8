"""What lesson 07 says of memory and of nodes beyond its own cells: it still stands there, and torch
bears it out.
"""

import gc
import weakref

import pytest
import torch
from said import said
from torch import nn
from torch.profiler import ProfilerActivity, profile

from helpers import labs, snapshot
from helpers.exercises.exercise import find


class Mark:
    """Lie in a node's metadata: as long as this lives, the node does."""


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
    """Do the forward of idea 3."""
    h = torch.ones(1000, requires_grad=True)
    for _ in range(4):
        h = h.sigmoid()
    return h.sum()


def saved_bytes():
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda one: kept.append(one.nbytes) or one, lambda one: one
    ):
        chain()
    return sum(kept)


def test_saved_bytes_are_not_the_peak_which_comes_in_backward():
    assert "The curves count saved tensors, not all memory." in said("07", "rg-17")
    assert "this chain needs most memory in backward" in said("07", "rg-17")
    assert "for _ in range(4): h = h.sigmoid()" in said("07", "rg-15")
    forward, backward = peaks(chain)
    assert saved_bytes() == 16000
    assert saved_bytes() < forward < backward


def test_retain_graph_raises_the_peak_of_the_chain():
    assert "and more of it with `retain_graph=True`" in said("07", "rg-17")
    assert "(Here it does: nothing is given back meanwhile" in said("07", "rg-18")
    assert peaks(chain, retain_graph=True)[1] > peaks(chain)[1]


def test_weights_get_gradients_as_large_as_themselves():
    assert "(No: in backward the gradients come on top of what is still held." in said(
        "07", "rg-18"
    )
    assert "Each weight gets a gradient as large as itself" in said("07", "rg-18")
    layers = nn.Sequential(*(nn.Linear(200, 200) for _ in range(3)))
    forward, backward = peaks(lambda: layers(torch.ones(4, 200)).sum())
    weights = list(layers.parameters())
    assert [one.grad.nbytes for one in weights] == [one.nbytes for one in weights]
    assert backward > sum(one.nbytes for one in weights) > 10 * forward


def next_forward(**how):
    """Return the most bytes in use in a second forward, while `loss` still names what the first one
    made.
    """

    def two_steps():
        loss = chain()
        loss.backward(**how)
        return loss, chain()

    return max(
        sum(changes[:end]) for changes in [allocations(two_steps)] for end in range(len(changes))
    )


def test_the_next_forward_stands_on_what_was_retained():
    assert "and the next forward is built on top" in said("07", "rg-18")
    assert next_forward(retain_graph=True) >= next_forward() + 4000


def two_steps():
    """Do what idea 5 does: two losses on one `h`; one step of backward between them."""
    w = torch.tensor(2.0, requires_grad=True)
    h = w.exp()
    mark = Mark()
    h.grad_fn.metadata["mark"] = mark
    first = h**2
    first.backward()
    return first, h**2, weakref.ref(mark)


def test_the_first_step_frees_what_the_node_of_h_saved_and_not_the_node():
    assert "(c) it raises: the first step freed what the node of `h` saved" in said("07", "rg-27")
    assert "That node stays; what it saved was freed." in said("07", "rg-29")
    assert "below, ExpBackward0's result is freed" in said("07", "rg-28")
    _, second, mark = two_steps()
    gc.collect()
    below = second.grad_fn.next_functions[0][0]
    assert mark() is not None
    assert below.metadata["mark"] is mark()
    assert [(one.name, one.state) for one in snapshot(second).operations[1].saved] == [
        ("result", "freed")
    ]
    with pytest.raises(RuntimeError, match="a second time"):
        second.backward()


def test_the_new_step_holds_what_it_saved():
    assert "(b) it raises: the first step freed what this `h**2` saved" in said("07", "rg-27")
    first, second, _ = two_steps()
    assert first.grad_fn._raw_saved_self.data is None
    assert second.grad_fn._saved_self.item() == pytest.approx(2.718281828**2)


def carried(steps, cut=False):
    """Return how many nodes, with and without AccumulateGrad, are behind the state in each step."""
    w, h, found = torch.tensor(0.5, requires_grad=True), torch.tensor(0.0), []
    for x in range(1, steps + 1):
        h = torch.tanh(w * h + x)
        graph = snapshot(h)
        found.append((len(graph.nodes), len(graph.operations)))
        h = h.detach() if cut else h
    return found


def test_nodes_are_counted_without_accumulate_grad_in_idea_5():
    assert (
        "`AccumulateGrad` not among them: in this lesson we count the nodes that operations made"
        in said("07", "rg-32")
    )
    assert "And the walk grew: 3, 6, 9 nodes." in said("07", "rg-32")
    assert "3 nodes in every step" in said("07", "rg-32")
    assert carried(4) == [(4, 3), (7, 6), (10, 9), (13, 12)]
    assert carried(4, cut=True) == [(4, 3)] * 4


def test_idea_6_counts_two_nodes_for_each_graph():
    assert "through it all 8 nodes of the four graphs are reached" in said("07", "rg-37")
    w, total, graphs = torch.ones(3, requires_grad=True), 0.0, []
    for _ in range(4):
        loss = w.exp().sum()
        graphs.append([node.operation for node in snapshot(loss).operations])
        loss.backward()
        total += loss
    assert graphs == [["SumBackward0", "ExpBackward0"]] * 4
    reached = [node.operation for node in snapshot(total).nodes]
    assert reached.count("SumBackward0") + reached.count("ExpBackward0") == 8
    assert reached.count("AccumulateGrad") == 1


def test_the_lab_counts_without_accumulate_grad_and_says_so():
    assert "nodes alive (as in idea 5, without `AccumulateGrad`)" in said("07", "rg-39")
    assert "Nodes are counted without AccumulateGrad." in labs.lifecycle.alt
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = x**2
    graph = snapshot((h * h).sum())
    built = labs.lifecycle.state("built")
    assert int(built.fact("nodes alive")) == len(graph.operations) == len(graph.nodes) - 1


def test_the_sum_needs_one_walk_and_no_flag():
    assert "the sum needs one walk and no flag" in said("07", "rg-21")
    w, walks = torch.tensor(2.0, requires_grad=True), []
    h = w**2
    h.grad_fn.register_hook(lambda *_: walks.append(1))
    (h * 3 + h * 5).backward()
    assert (w.grad.item(), len(walks)) == (32, 1)


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
