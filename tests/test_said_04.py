"""What lesson 04 says beyond its own cells: it still stands there, and torch bears it out."""

import gc

import pytest
import torch
import torch.nn.functional as F
from said import said
from torch import nn
from torch.autograd.graph import Node, get_gradient_edge
from torch.multiprocessing.reductions import StorageWeakRef

from helpers import labs, snapshot
from helpers.exercises import exercise as registry
from helpers.moons import moons
from helpers.predicting.questions import question

LOOP, WALK, *_, CASE = registry.exercises("04")
INDEX = torch.tensor([0, 1])


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def entries(tensor):
    """Return the classes of the nodes that a tensor's node leads to, None for an empty entry."""
    return [node and type(node).__name__ for node, _ in tensor.grad_fn.next_functions]


def kept(tensor):
    """Return the names of what a tensor's own node has saved."""
    return [one.name for one in snapshot(tensor).nodes[0].saved]


# The sentences that torch is asked about: (cell, words, check)


def the_count_leads_nowhere_and_the_penalty_to_the_weight():
    points, moon = moons()
    model = nn.Linear(2, 2)
    misses = (model(points).argmax(1, keepdim=True) != moon).float().mean()
    loss = misses + (model.weight**2).sum()
    loss.backward()
    return misses.grad_fn is None and entries(loss) == [None, "SumBackward0"]


def one_line_repairs_it():
    model, points, moon = CASE.reader.cases[0]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        soft = F.cross_entropy(model(points), moon[:, 0].long())
        (soft + (model.weight**2).sum()).backward()
        optimizer.step()
    wrong = int((model(points).argmax(1, keepdim=True) != moon).sum())
    return 14 < wrong < 30 and model.bias.grad is not None


def a_constant_factor_has_an_entry_and_a_constant_exponent_has_none():
    x = leaf(1.0, 2.0, 3.0)
    return [len(entries(one)) for one in (x * 2, x**2, 2 - x, x.clamp(0, 1))] == [2, 1, 1, 1]


def the_order_is_torchs():
    x, w, b = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0)
    of = F.linear(x[None], w[None], b).grad_fn.next_functions[0][0]
    return entries(2 * x) == ["AccumulateGrad", None] and of.variable is b


def only_the_last_node_has_a_variable():
    h = leaf(2.0).exp()
    end = h.grad_fn.next_functions[0][0]
    return hasattr(end, "variable") and not hasattr(h.grad_fn, "variable")


def the_gradient_goes_to_the_tensor_and_knows_no_names():
    x = this = leaf(2.0)
    y = x * 2
    x = leaf(2.0)
    y.backward()
    return this.grad == 2 and x.grad is None


def the_number_of_an_entry_says_which_result_went_in():
    _, second, third = leaf(1.0, 2.0, 3.0)
    pairs = (second * third).grad_fn.next_functions
    plain = (leaf(1.0).exp() * leaf(1.0).sin()).grad_fn.next_functions
    return [nr for _, nr in pairs] == [1, 2] and [nr for _, nr in plain] == [0, 0]


def bools_and_what_follows_have_no_history():
    x, gate = leaf(1.0, 2.0), leaf(1.5)
    keep = x > gate
    alone = keep.float()
    return keep.dtype == torch.bool and not alone.requires_grad and (alone * x).requires_grad


def argmax_leaves_no_node():
    return leaf(1.0, 2.0).argmax().grad_fn is None


def round_and_floor_hand_on_zeros():
    found = []
    for operation in (torch.round, torch.floor):
        x = leaf(1.2, 2.7)
        operation(x).sum().backward()
        found += x.grad.tolist()
    return found == [0.0] * 4


def a_sigmoid_teaches_the_gate():
    x, gate = leaf(0.5, 2.0), leaf(1.5)
    (x * torch.sigmoid(x - gate)).sum().backward()
    return bool(gate.grad)


def keep_stays_if_the_gate_moves_a_bit():
    x = torch.tensor([0.5, 2.0, 3.0])
    return torch.equal(x > 1.5, x > 1.5001)


def calm(t):
    """The function of idea 3."""
    while t > 1:
        t = t / 2 if t > 3 else t - 1
    return t


def each_call_builds_another_graph():
    p = leaf(4.0)
    one, other = calm(p), calm(p)
    two = [len(snapshot(calm(leaf(n))).operations) for n in (4.0, 2.0)]
    return one.grad_fn is not other.grad_fn and two == [2, 1]


def the_gradient_of_p_is_a_half():
    p = leaf(4.0)
    calm(p).backward()
    return p.grad == 0.5


def a_layer_that_did_not_run_has_no_gradient():
    one, other = nn.Linear(1, 1), nn.Linear(1, 1)
    (one if leaf(1.0) > 0 else other)(torch.ones(1)).sum().backward()
    return one.weight.grad is not None and other.weight.grad is None


def what_hands_back_its_input_leaves_no_node():
    x = leaf(1.0, 2.0)
    h = x.exp()
    same = (x.float(), x.contiguous(), F.dropout(x, training=False))
    return all(one is x for one in same) and h.float().grad_fn is h.grad_fn


def a_number_over_x_leaves_two_nodes():
    return [one.operation for one in snapshot(2 / leaf(2.0)).operations] == [
        "MulBackward0",
        "ReciprocalBackward0",
    ]


def what_the_nodes_of_q9_keep():
    x = leaf(2.0)
    return [kept(one) for one in (x.exp(), x.sin(), -x)] == [["result"], ["self"], []]


def relu_sqrt_and_floor():
    x = leaf(2.0)
    return [kept(one) for one in (x.relu(), x.sqrt(), x.floor())] == [["result"], ["result"], []]


def relu_and_sqrt_could_do_with_the_input():
    x = torch.tensor([0.25, 1.0, 4.0], requires_grad=True)
    (relu,) = torch.autograd.grad(x.relu().sum(), x)
    (root,) = torch.autograd.grad(x.sqrt().sum(), x)
    return torch.equal(relu, (x > 0).float()) and torch.allclose(root, x.pow(-0.5) / 2)


def some_keep_more_and_some_something_else():
    x = leaf(1.0, 2.0)
    return kept(x**1) == ["self"] and kept(x[INDEX]) == ["indices[0]"]


def sin_does_not_tell_the_sign_of_cos():
    x = torch.tensor([1.0, torch.pi - 1.0])
    return torch.allclose(x.sin()[0], x.sin()[1]) and (x.cos() > 0).tolist() == [True, False]


def held(tensor):
    return snapshot(tensor).held.size, snapshot(tensor).held.leaf_size


def ones():
    return torch.ones(1000, requires_grad=True)


def two_nodes_keep_one_tensor():
    result, (sine,) = ones().exp(), [ones()]
    y = result.sin()
    same = y.grad_fn._saved_self.data_ptr() == result.grad_fn._saved_result.data_ptr()
    return same and held(y) == (4000, 0) and held(sine.sin().exp()) == (4000, 4000)


def a_minus_between_makes_two():
    return held((-ones().exp()).sin()) == (8000, 0)


def a_tensor_without_a_name_stays_because_nodes_keep_it():
    h = ones().exp()
    memory, y = StorageWeakRef(h.untyped_storage()), h.sin()
    del h
    gc.collect()
    return y.grad_fn is not None and not memory.expired()


def the_layer_after_relu_keeps_what_relu_keeps():
    h = nn.Linear(3, 3)(torch.ones(2, 3)).relu()
    y = nn.Linear(3, 3)(h)
    return y.grad_fn._saved_mat1.data_ptr() == h.grad_fn._saved_result.data_ptr()


def a_leafs_node_leads_nowhere_and_every_other_one_on():
    for action in labs.explorer.world.actions:
        names = {"torch": torch, "leaf": lambda values: torch.tensor(values, requires_grad=True)}
        exec(action.code, names)
        for tensor in [one for one in names.values() if isinstance(one, torch.Tensor)]:
            node = get_gradient_edge(tensor).node
            if (node.next_functions == ()) != tensor.is_leaf:
                return False
    return True


SENTENCES = [
    (
        "case-then",
        "the bias has no gradient at all",
        the_count_leads_nowhere_and_the_penalty_to_the_weight,
    ),
    ("case-then", "you will repair this in one line", one_line_repairs_it),
    ("case-mend", "Keeping the weights small costs points.", one_line_repairs_it),
    (
        "cell-11",
        "A node has an entry for each input that could have a gradient",
        a_constant_factor_has_an_entry_and_a_constant_exponent_has_none,
    ),
    ("cell-11", "the order is torch's, not yours: `2 * x` lists `x` first", the_order_is_torchs),
    (
        "q3-notes",
        "Which result of that operation went in",
        the_number_of_an_entry_says_which_result_went_in,
    ),
    ("o1-because", "only `AccumulateGrad` has a `variable`", only_the_last_node_has_a_variable),
    (
        "cell-18",
        "To the old one: the node holds the tensor",
        the_gradient_goes_to_the_tensor_and_knows_no_names,
    ),
    (
        "f1-because",
        "What you compute from its result *alone* is a constant",
        bools_and_what_follows_have_no_history,
    ),
    ("f1-because", "The sigmoid asks the same question softly", a_sigmoid_teaches_the_gate),
    (
        "f1-because",
        "`round` and `floor` do leave a node, but it hands on zeros",
        round_and_floor_hand_on_zeros,
    ),
    ("f1-notes", "`keep` stays as it is, nearly always", keep_stays_if_the_gate_moves_a_bit),
    ("cell-50", "A comparison or an `argmax` leaves no node", argmax_leaves_no_node),
    ("cell-29", "The next call builds another graph", each_call_builds_another_graph),
    (
        "cell-29",
        "or none, such as `t.float()` on floats",
        what_hands_back_its_input_leaves_no_node,
    ),
    ("cell-29", "may leave two nodes, such as `2 / x`", a_number_over_x_leaves_two_nodes),
    ("cell-31", "What would `p.grad` be? (A half", the_gradient_of_p_is_a_half),
    ("cell-31", "It did not run, so no path leads to it", a_layer_that_did_not_run_has_no_gradient),
    ("cell-34", "A node keeps whatever it needs", what_the_nodes_of_q9_keep),
    (
        "cell-34",
        "such as `x**1`, and some keep something else",
        some_keep_more_and_some_something_else,
    ),
    ("cell-34", "From sin(x) alone you cannot tell", sin_does_not_tell_the_sign_of_cos),
    ("cell-40", "Both keep the result", relu_sqrt_and_floor),
    ("cell-40", "both could have kept the input instead", relu_and_sqrt_could_do_with_the_input),
    ("cell-40", "Nothing: its slope is 0", round_and_floor_hand_on_zeros),
    (
        "q11-because",
        "Two nodes can keep the same tensor, and its memory counts once",
        two_nodes_keep_one_tensor,
    ),
    (
        "q11-because",
        "No name leads to the tensor in between",
        a_tensor_without_a_name_stays_because_nodes_keep_it,
    ),
    ("q11-because", "the next layer needs it anyway", the_layer_after_relu_keeps_what_relu_keeps),
    ("q11-because", "put a minus between the two", a_minus_between_makes_two),
    (
        "q11-notes",
        "now `sin` keeps the leaf, and `exp` keeps `y` itself",
        two_nodes_keep_one_tensor,
    ),
    (
        "cell-54",
        "(Only the `AccumulateGrad` nodes.)",
        a_leafs_node_leads_nowhere_and_every_other_one_on,
    ),
]


@pytest.mark.parametrize(("cell", "words", "holds"), SENTENCES)
def test_a_sentence_stands_there_and_torch_bears_it_out(cell, words, holds):
    assert words in said("04", cell)
    assert holds()


# What the rounds and the exercises know


def test_every_order_was_run_and_only_the_walk_from_the_loss_gets_there():
    told = question("04.o1").told
    good = {letters for letters, nr in told["of"].items() if told["outcomes"][nr]["isGood"]}
    assert good == {"acbd", "acbde", "eacbd"}


def test_no_try_but_the_mending_gives_the_gate_a_gradient():
    tells = question("04.f1").told["tells"]
    tried = [text for text in tells if "it prints" in text]
    assert len(tried) == 3
    assert all("None" in text for text in tried)
    assert leaf(1.0, 2.0).clone().grad_fn is not None, "a copy is no leaf"


@pytest.mark.parametrize("x", [2, 3])
def test_the_principle_of_04_2_counts_what_ran(x):
    assert "a node for each multiplication, as often as its line ran" in LOOP.principle
    start = y = leaf(float(x))
    rounds = 0
    while y < 100:
        y, rounds = y * start, rounds + 1
    assert [one.operation for one in snapshot(y).operations] == ["MulBackward0"] * rounds


def run(code):
    namespace = {"torch": torch}
    exec(code, namespace)
    return namespace["answer"]


def chain(length):
    y = leaf(1.0)
    for _ in range(length):
        y = -y
    return y


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
    assert "usual limit, 1,000 calls deep, stops it with a RecursionError" in WALK.hints[-1]
    with pytest.raises(RecursionError):
        run(CALLS_ITSELF)(chain(1000).grad_fn)
    assert len(run(WALK.solution)(chain(1000).grad_fn)) == 1001


def test_what_04_4_and_04_5_say_of_nodes_and_of_flags():
    assert "You can reach the same node on several paths" in " ".join(WALK.principle.split())
    x = leaf(1.0)
    wanted = "\n".join(run(WALK.solution)((x * x * 2).grad_fn))
    assert " ".join(wanted.split()) in said("04", "cell-47")
    middle = leaf(1.0).exp()
    (sine, _), (shared, _) = (middle.sin() * middle).grad_fn.next_functions
    assert isinstance(shared, Node)
    assert sine.next_functions[0][0] is shared
    assert "A flag on the result makes a new leaf" in " ".join(
        one.message for one in CASE.misconceptions
    )
    misses = (leaf(1.0, 2.0) > 1).float().mean().requires_grad_()
    assert misses.is_leaf
    assert "`argmax` and `!=` leave no node" in CASE.principle
    assert (leaf(1.0) != 2).grad_fn is None


def test_the_example_of_parameters_out_of_reach():
    assert 'unreached(model, loss) # ["head.weight", "head.bias"]' in said("04", "x8")
    unreached = run(registry.find("04.8").solution)
    model = nn.ModuleDict({"trunk": nn.Linear(1, 1), "head": nn.Linear(1, 1)})
    loss = model.trunk(torch.ones(1, 1)).sum()
    assert unreached(model, loss) == ["head.weight", "head.bias"]
    loss.backward()
