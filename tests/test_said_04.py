"""What lesson 04 claims beyond its own cells, run in torch."""

import gc

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.graph import Node, get_gradient_edge
from torch.multiprocessing.reductions import StorageWeakRef

from helpers import labs, snapshot
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons

WALK, CASE = registry.find("04.4"), registry.find("04.5")


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def entries(tensor):
    """Return the classes of the nodes that a tensor's node leads to, None for an empty entry."""
    return [node and type(node).__name__ for node, _ in tensor.grad_fn.next_functions]


def kept(tensor):
    """Return the names of what a tensor's own node has saved."""
    return [one.name for one in snapshot(tensor).nodes[0].saved]


# The case


def test_the_count_leads_nowhere_and_the_penalty_to_the_weight():
    points, moon = moons()
    model = nn.Linear(2, 2)
    misses = (model(points).argmax(1, keepdim=True) != moon).float().mean()
    assert misses.grad_fn is None
    assert entries(misses + (model.weight**2).sum()) == [None, "SumBackward0"]


def test_one_line_repairs_it():
    model, points, moon = CASE.reader.cases[0]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        soft = F.cross_entropy(model(points), moon[:, 0].long())
        (soft + (model.weight**2).sum()).backward()
        optimizer.step()
    wrong = int((model(points).argmax(1, keepdim=True) != moon).sum())
    assert 14 < wrong < 30
    assert model.bias.grad is not None


# Idea 1


def test_a_node_has_an_entry_for_each_input_that_its_operation_has_a_slope_for():
    x = leaf(1.0, 2.0, 3.0)
    index, mask = torch.tensor([0, 2]), torch.tensor([True, False, True])
    one_entry = x**2, 2 - x, x.clamp(0, 1), x[index], x[mask], x.masked_fill(mask, 0.0)
    for one in (*one_entry, F.embedding(index, x[:, None])):
        assert len(entries(one)) == 1
    for one in (x * 2, 5 + x, x * torch.ones(3), x * mask, x * torch.arange(3)):
        assert entries(one) == ["AccumulateGrad", None]
    weighted = F.binary_cross_entropy(x.sigmoid(), torch.ones(3), weight=torch.ones(3))
    assert entries(weighted) == ["SigmoidBackward0", None], (
        "no slope for the weight, though it is floats"
    )
    assert entries(torch.where(mask, x, x * 2)) == ["AccumulateGrad", "MulBackward0"]
    x, w, b = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0)
    of = F.linear(x[None], w[None], b).grad_fn.next_functions[0][0]
    assert of.variable is b


def test_the_number_of_an_entry_says_which_result_went_in():
    _, second, third = leaf(1.0, 2.0, 3.0)
    assert [number for _, number in (second * third).grad_fn.next_functions] == [1, 2]


def test_only_the_last_node_has_a_variable_to_which_it_adds():
    x = this = leaf(2.0)
    h = x.exp()
    end = h.grad_fn.next_functions[0][0]
    assert isinstance(end, Node)
    assert end.variable is this
    assert not hasattr(h.grad_fn, "variable")
    x = leaf(2.0)
    h.backward()
    assert (this.grad, x.grad) == (h, None)
    end(torch.tensor(1.0))
    assert this.grad == h + 1


# Idea 2


def test_bools_have_no_history_and_a_sigmoid_teaches_the_gate():
    x, gate = leaf(0.5, 2.0), leaf(1.5)
    keep = x > gate
    assert not keep.float().requires_grad
    assert (keep * x).requires_grad
    assert x.argmax().grad_fn is None
    assert torch.equal(keep, x > gate + 1e-4)
    (x * torch.sigmoid(x - gate)).sum().backward()
    assert gate.grad
    for operation in (torch.round, torch.floor):
        x = leaf(1.2, 2.7)
        operation(x).sum().backward()
        assert x.grad.tolist() == [0, 0]


# Idea 3


def calm(t):
    """The function of idea 3."""
    while t > 1:
        t = t / 2 if t > 3 else t - 1
    return t


def test_each_call_builds_another_graph_of_what_ran():
    p = leaf(4.0)
    one, other = calm(p), calm(p)
    assert one.grad_fn is not other.grad_fn
    assert [len(snapshot(calm(leaf(n))).operations) for n in (4.0, 2.0)] == [2, 1]
    one.backward()
    assert p.grad == 0.5
    ran, idle = nn.Linear(1, 1), nn.Linear(1, 1)
    (ran if leaf(1.0) > 0 else idle)(torch.ones(1)).sum().backward()
    assert ran.weight.grad is not None
    assert idle.weight.grad is None


def test_a_call_may_leave_no_node_or_two():
    h = leaf(1.0, 2.0).exp()
    assert all(one is h for one in (h.float(), h.contiguous(), F.dropout(h, training=False)))
    names = [one.operation for one in snapshot(2 / leaf(2.0)).operations]
    assert names == ["MulBackward0", "ReciprocalBackward0"]


@pytest.mark.slow
def test_loops_and_branches_of_python_are_not_in_the_graph_and_one_of_torch_is():
    chosen = torch.cond(leaf(2.0) > 1, lambda t: t * 3, lambda t: t * 5, (leaf(2.0),))
    assert type(chosen.grad_fn).__name__ == "CondAutogradOpBackward"


# Idea 4


def test_what_nodes_keep():
    x = leaf(0.25, 4.0)
    results = x.exp(), x.sin(), -x, x.relu(), x.sqrt(), x.floor(), x**1, x[torch.tensor([0, 1])]
    found = [["result"], ["self"], [], ["result"], ["result"], [], ["self"], ["indices[0]"]]
    assert [kept(one) for one in results] == found
    assert torch.equal(torch.autograd.grad(x.relu().sum(), x)[0], (x > 0).float())
    assert torch.allclose(torch.autograd.grad(x.sqrt().sum(), x)[0], x.pow(-0.5) / 2)
    x = torch.tensor([1.0, torch.pi - 1.0])
    assert torch.allclose(x.sin()[0], x.sin()[1])
    assert (x.cos() > 0).tolist() == [True, False]
    x = torch.tensor([[1.0, 5.0], [3.0, 2.0]], requires_grad=True)
    assert F.layer_norm(x, (2,)).grad_fn._saved_result1.flatten().tolist() == [3.0, 2.5]


def held(tensor):
    return snapshot(tensor).held.size, snapshot(tensor).held.leaf_size


def test_two_nodes_keep_one_tensor_and_a_minus_between_makes_two():
    x = torch.ones(1000, requires_grad=True)
    assert held(x.exp().sin()) == (4000, 0)
    assert held(x.sin().exp()) == (4000, 4000)
    assert held((-x.exp()).sin()) == (8000, 0)
    h = nn.Linear(3, 3)(torch.ones(2, 3)).relu()
    y = nn.Linear(3, 3)(h)
    assert y.grad_fn._saved_mat1.data_ptr() == h.grad_fn._saved_result.data_ptr()


def test_a_tensor_without_a_name_stays_because_nodes_keep_it():
    h = torch.ones(1000, requires_grad=True).exp()
    memory, y = StorageWeakRef(h.untyped_storage()), h.sin()
    del h
    gc.collect()
    assert y.grad_fn is not None
    assert not memory.expired()


# The lab and the exercises


def test_in_the_lab_a_leafs_node_leads_nowhere_and_every_other_one_on():
    for action in labs.explorer.world.actions:
        names = {"torch": torch, "leaf": lambda values: torch.tensor(values, requires_grad=True)}
        exec(action.code, names)
        for tensor in [one for one in names.values() if isinstance(one, torch.Tensor)]:
            node = get_gradient_edge(tensor).node
            assert (node.next_functions == ()) == tensor.is_leaf


CALLS_ITSELF = """
def answer(node):
    lines = []
    def visit(node, depth):
        lines.append("  " * depth + type(node).__name__)
        for child, _ in node.next_functions:
            visit(child, depth + 1)
    visit(node, 0)
    return lines
"""


def test_a_walk_that_calls_itself_is_stopped_by_python_and_a_list_is_not():
    chain = leaf(1.0)
    for _ in range(1000):
        chain = -chain
    with pytest.raises(RecursionError):
        run(CALLS_ITSELF)(chain.grad_fn)
    assert len(run(WALK.solution)(chain.grad_fn)) == 1001


def test_a_node_is_met_again_on_another_path_and_a_flag_on_a_result_makes_a_leaf():
    x = leaf(1.0)
    assert run(WALK.solution)((x * x * 2).grad_fn) == [
        "MulBackward0",
        "  MulBackward0",
        "    AccumulateGrad",
        "    AccumulateGrad (again)",
        "  None",
    ]
    middle = leaf(1.0).exp()
    (sine, _), (shared, _) = (middle.sin() * middle).grad_fn.next_functions
    assert sine.next_functions[0][0] is shared
    assert (leaf(1.0, 2.0) != 1).float().mean().requires_grad_().is_leaf
