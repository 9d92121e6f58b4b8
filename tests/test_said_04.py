"""What lesson 04 says in its prose and its exercises, run in plain torch."""

import gc
import json
import re
import weakref
from contextlib import suppress

import pytest
import torch
import torch.nn.functional as F
from said import NOTEBOOKS, said
from torch.autograd.graph import Node, get_gradient_edge, saved_tensors_hooks
from torch.multiprocessing.reductions import StorageWeakRef
from torchviz import make_dot

from autograd_graphs.recording.torch_formulas import formulas
from helpers import beside_torchviz, check, labs, snapshot
from helpers.clinic.catalogue import book
from helpers.exercises import exercise as registry

ENTRIES, LOOP, TWICE, WALK = registry.exercises("04")
INDEX, MASK = torch.tensor([0, 1]), torch.tensor([True, False, True])
OPERATIONS = {
    "five times": (lambda x: 5 * x, 2),
    "five plus": (lambda x: 5 + x, 2),
    "five minus": (lambda x: 5 - x, 1),
    "square": (lambda x: x**2, 1),
    "where": (lambda x: torch.where(MASK, x, torch.zeros(3)), 2),
    "masked_fill": (lambda x: x.masked_fill(MASK, 0.0), 1),
    "index": (lambda x: x[INDEX], 1),
    "gather": (lambda x: x.gather(0, INDEX), 1),
    "embedding": (lambda x: F.embedding(INDEX, x.reshape(3, 1)), 1),
    "nll_loss": (lambda x: F.nll_loss(x.reshape(1, 3), torch.tensor([2])), 1),
    "mse_loss": (lambda x: F.mse_loss(x, torch.zeros(3)), 2),
}


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_node_has_one_edge_for_each_differentiable_input(operation):
    text = said("04", "q4-because")
    assert (
        "**One entry for each input that the backward formula can differentiate, in order.**"
        in text
    )
    assert "Condition and index have no gradient." in text
    assert "(One each. Let them run both.)" in said("04", "q4-notes")  # gather, masked_fill
    run, count = OPERATIONS[operation]
    node = run(leaf(3)).grad_fn
    assert len(node.next_functions) == count == len(formulas(node.name()))


def test_no_text_of_04_1_counts_the_tensors_that_went_in():
    texts = [ENTRIES.right, *ENTRIES.hints, *(idea.message for idea in ENTRIES.misconceptions)]
    assert not [text for text in texts if re.search(r"every tensor|tensors that went", text)]
    assert "the inputs for which the formula of a product has a gradient" in ENTRIES.hints[0]
    assert set(formulas("MulBackward0")) == {"self", "other"}
    assert (
        "each input for which the backward formula has a gradient"
        in ENTRIES.misconceptions[0].message
    )


class Pick(torch.autograd.Function):
    """An operation of our own, given an index and a number too."""

    @staticmethod
    def forward(ctx, x, index, factor):
        return x[index] * factor

    @staticmethod
    def backward(ctx, grad):
        return grad, None, None


def test_a_node_of_an_operation_of_your_own_lists_every_tensor():
    assert "(The node of an operation of your own lists each argument that is a tensor.)" in said(
        "04", "q4-because"
    )
    (term,) = [term for term in book().terms if term.name == "`next_functions`"]
    assert term.says.endswith("an index or the mask of `where`, unless the operation is yours.")
    node = Pick.apply(leaf(3), INDEX, 2.0).grad_fn
    assert [child and child.name() for child, _ in node.next_functions] == [
        "torch::autograd::AccumulateGrad",
        None,
    ]
    assert len(Listed.apply(leaf(3), [leaf(3), leaf(3)]).grad_fn.next_functions) == 1


class Listed(torch.autograd.Function):
    """An operation of our own, given tensors in a list too: the list is the argument."""

    @staticmethod
    def forward(ctx, x, others):
        return x * others[0]

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def test_a_node_takes_a_gradient_for_each_result_of_its_operation():
    text = said("04", "cell-06")
    assert "a node for the way back: gradients for its results in, for its inputs out.**" in text
    assert "|A `Node`: gradients for results in, for inputs out.|" in said("04", "cell-50")
    node, one = leaf(3).unbind()[0].grad_fn, torch.tensor(1.0)
    with pytest.raises(TypeError, match="expected 3 arguments, got 1"):
        node(one)
    assert node(one, 2 * one, 3 * one).tolist() == [1, 2, 3]
    assert len((leaf(1) / leaf(1)).grad_fn(torch.ones(1))) == 2


NODES = {
    "DivBackward0": lambda: leaf(1) / 2,
    "SumBackward0": lambda: leaf(3).sum(),
    "CopySlices": lambda: sliced(leaf(3) * 1),
    "UnbindBackward0": lambda: leaf(3).unbind()[1],
    "NativeBatchNormBackward0": lambda: F.batch_norm(leaf(2, 3), None, None, training=True),
}


def sliced(tensor):
    tensor[0] = 5.0
    return tensor


@pytest.mark.parametrize("made", NODES)
def test_a_node_of_torch_has_no_forward_and_no_apply(made):
    assert "a node such as `DivBackward0` has no `apply`.**" in said("04", "q2-because")
    assert "has no `forward`: the division is over" in said("04", "cell-06")
    node = NODES[made]().grad_fn
    assert type(node).__name__ == made
    assert isinstance(node, Node)
    assert not isinstance(node, torch.autograd.Function)
    assert not hasattr(node, "apply")
    assert not hasattr(node, "forward")


def test_a_node_of_your_own_runs_backward_by_apply_and_is_not_callable():
    assert "On the node, `apply` runs `backward`: 10." in said("04", "q2-because")
    assert "(TypeError: it is not callable." in said("04", "q2-notes")
    node = Pick.apply(leaf(3), INDEX, 2.0).grad_fn
    assert [each if each is None else each.tolist() for each in node.apply(torch.ones(2))] == [
        [1, 1],
        None,
        None,
    ]
    assert not hasattr(node, "forward")
    with pytest.raises(TypeError, match="not callable"):
        node(torch.ones(2))


def test_the_answers_of_idea_1_are_what_torch_does():
    a, b = (torch.tensor(value, requires_grad=True) for value in (6.0, 2.0))
    node = (a / b).grad_fn
    assert [each.item() for each in node(torch.tensor(1.0))] == [1 / 2, -6 / 4]
    assert (type(node).__name__, repr(a / b)) == (
        "DivBackward0",
        "tensor(3., grad_fn=<DivBackward0>)",
    )


def test_what_a_node_computes_is_recorded_too_unless_no_grad_forbids_it():
    assert "without it what the node computes would be recorded too" in said("04", "cell-08")
    a, b = (torch.tensor(value, requires_grad=True) for value in (6.0, 2.0))
    node, one = (a / b).grad_fn, torch.tensor(1.0)
    assert all(result.grad_fn is not None for result in node(one))
    with torch.no_grad():
        assert all(result.grad_fn is None for result in node(one))


def test_a_number_written_first_has_the_second_entry():
    assert "that of `x` first: Python asks `x` to add the 5" in said("04", "q3-notes")
    for result in (5 + leaf(3), leaf(3) * 2):
        assert [node is None for node, _ in result.grad_fn.next_functions] == [False, True]


def test_a_path_ends_at_a_leaf_or_at_an_empty_entry():
    assert "|In `AccumulateGrad`, whose `.variable` is the leaf, or at an empty entry.|" in said(
        "04", "cell-50"
    )
    waiting, met, ends = [random_graph(0), (leaf(3) * 2).grad_fn], set(), set()
    while waiting:
        node = waiting.pop()
        entries = [] if node is None else [child for child, _ in node.next_functions]
        if not entries:
            ends.add(type(node).__name__)
        waiting += [] if node in met else entries
        met.add(node)
    assert ends == {"AccumulateGrad", "NoneType"}


def test_a_cell_that_walks_backward_may_be_run_again():
    names = {"torch": torch, "attempt": lambda: suppress(RuntimeError), "show": lambda *_: None}
    names |= {
        "get_gradient_edge": get_gradient_edge,
        "snapshot": snapshot,
        "print": lambda *_: None,
    }
    for cell, held in (("cell-20", "M"), ("cell-38", "x")):
        came = []
        for _ in range(2):
            exec(code(cell), names)
            came.append(names[held].grad)
        assert torch.equal(*came), cell


def test_the_node_of_x_holds_x_also_for_who_comes_back_from_idea_6():
    names = {"torch": torch, "print": lambda *_: None, "show": lambda *_: None}
    names |= {"get_gradient_edge": get_gradient_edge, "snapshot": snapshot}
    for cell in ("cell-10", "cell-33"):
        exec(code(cell), names)
    *lines, last = code("cell-16").splitlines()
    exec("\n".join(lines), names)
    assert eval(last, names) == (True, True)


def code(cell):
    (path,) = NOTEBOOKS.glob("04*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(one["source"]) for one in cells if one["id"] == cell)


def test_input_nr_counts_the_results_of_the_operation_behind():
    assert "says *which result* of the operation behind was used" in said("04", "q4-because")
    first, second, third = leaf(3)
    node = (second * third).grad_fn
    assert {child for child, _ in node.next_functions} == {first.grad_fn}
    assert [number for _, number in node.next_functions] == [1, 2]
    values = leaf(3).max(0).values
    assert (values.output_nr, values.sin().grad_fn.next_functions[0][1]) == (0, 0)


def test_an_accumulate_grad_leads_nowhere():
    assert "its `next_functions` is an empty tuple" in said("04", "q5-because")
    assert "(Every `AccumulateGrad`, no other.)" in said("04", "cell-54")
    assert get_gradient_edge(leaf(1)).node.next_functions == ()
    for action in labs.explorer.world.actions:
        names = {"torch": torch, "leaf": lambda values: torch.tensor(values, requires_grad=True)}
        exec(action.code, names)
        for tensor in [one for one in names.values() if isinstance(one, torch.Tensor)]:
            node = get_gradient_edge(tensor).node
            assert (node.next_functions == ()) == tensor.is_leaf


def test_get_gradient_edge_is_for_what_requires_grad():
    assert "`get_gradient_edge(t)` gives the `node` and the `output_nr` of a `t` that" in (
        said("04", "q6-because")
    )
    assert get_gradient_edge(leaf(3))._fields[:2] == ("node", "output_nr")  # a third one follows
    x = leaf(3)
    second = x.unbind()[1]
    assert tuple(get_gradient_edge(second))[:2] == (second.grad_fn, 1)
    assert get_gradient_edge(x).node.variable is x
    with pytest.raises(RuntimeError):
        get_gradient_edge(torch.ones(3))


def test_a_gradient_finds_its_leaf_without_a_name():
    assert "give the name `x` to another tensor, and the gradient still comes to this one" in (
        said("04", "q6-because")
    )
    assert "the name there is our addition" in said("04", "cell-18")
    x = this = leaf(3)
    y = x * 2
    assert "leaf called" in str(show_under_another_name(y, this))
    x = leaf(3)
    y.sum().backward()
    assert (this.grad.tolist(), x.grad) == ([2, 2, 2], None)
    end = y.grad_fn.next_functions[0][0]
    assert end.variable is this


def show_under_another_name(result, called):
    """Return the text of the picture, made where the leaf has the name `called` alone."""
    assert called.is_leaf
    return snapshot(result)


def test_a_number_in_a_product_becomes_a_tensor():
    node = (leaf(3) * 2).grad_fn
    assert (node._saved_self, node._saved_other.item()) == (None, 2)
    assert "torch makes a tensor of the 2, and wants no gradient for it" in said("04", "cell-11")


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "stays"), [(lambda x: x * 2, False), (torch.exp, True)])
def test_a_graph_keeps_the_memory_of_a_tensor_if_a_node_saved_it(operation, stays):
    assert "(It can go, unless a node saved it, idea 6, or a view shares it.)" in said(
        "04", "cell-18"
    )
    y = operation(leaf(3))
    z, memory = y.sum(), StorageWeakRef(y.untyped_storage())
    del y
    gc.collect()
    assert z.grad_fn is not None
    assert memory.expired() != stays
    y = operation(leaf(3))
    view, memory = y[:1], StorageWeakRef(y.untyped_storage())
    del y
    gc.collect()
    assert view.shape == (1,)
    assert not memory.expired()


def test_each_path_to_a_leaf_brings_a_gradient_and_their_sum_arrives_once():
    assert "each brings a gradient equal to `M`" in said("04", "cell-19")
    matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for left, right in ((matrix, matrix.detach()), (matrix.detach(), matrix)):
        (gradient,) = torch.autograd.grad(torch.trace(left @ right.T), matrix)
        assert torch.equal(gradient, matrix)


def test_a_leaf_used_twice_has_its_node_run_once_with_the_sum():
    assert (
        "**The two gradients were added before the node ran: it ran once, with the sum.**"
        in said("04", "cell-21")
    )
    assert "|`M`, used twice?|One node: it ran once, with the sum of both gradients.|" in said(
        "04", "cell-50"
    )
    matrix, arrived = leaf(2, 2), []
    loss = torch.trace(matrix @ matrix.T)
    end = loss.grad_fn.next_functions[0][0].next_functions[0][0]
    end.register_prehook(lambda gradients: arrived.append(gradients[0].clone()))
    loss.backward()
    assert len(arrived) == 1
    assert torch.equal(arrived[0], 2 * matrix)


class Kept:
    """Hold a saved tensor, so that a test can see when torch lets it go."""

    def __init__(self, tensor):
        self.tensor = tensor


@pytest.mark.slow
@pytest.mark.parametrize("way", ["backward", "the graph goes"])
def test_saved_tensors_take_memory_until_backward_frees_them_or_the_graph_goes(way):
    assert "they take memory until backward frees them, or the graph itself goes" in said(
        "04", "cell-34"
    )
    kept = []

    def pack(tensor):
        holder = Kept(tensor)
        kept.append(weakref.ref(holder))
        return holder

    with saved_tensors_hooks(pack, lambda holder: holder.tensor):
        output = (leaf(3) ** 2).sum()
    gc.collect()
    assert [ref() is not None for ref in kept] == [True]
    if way == "backward":
        output.backward()
    else:
        del output
    gc.collect()
    assert [ref() is not None for ref in kept] == [False]


def test_a_node_may_keep_more_than_this_run_needs_so_the_lesson_does_not_say_nothing_else():
    assert "**A node keeps what its formula needs: `exp`" in said("04", "cell-34")
    assert "nothing else" not in said("04", "cell-34")
    node = (leaf(3) ** torch.tensor(2.0)).grad_fn
    assert node.next_functions[1] == (None, 0)
    assert node._saved_result is not None  # only the exponent's gradient would need it


def test_the_recap_does_not_say_that_a_node_keeps_one_tensor_at_most():
    assert "|What does a node keep?|What its formula needs.|" in said("04", "cell-50")
    node = leaf(3).prod().grad_fn
    assert node._saved_self is not None
    assert node._saved_result is not None


def kept_with(activation):
    """Return how many tensors two layers with `activation` between them keep, counted by their
    memory.
    """
    storages, first, second = set(), torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    with saved_tensors_hooks(
        lambda t: storages.add(t.untyped_storage().data_ptr()) or t, lambda t: t
    ):
        output = second(activation(first(torch.ones(2, 3))))
    assert output.requires_grad
    return len(storages)


def test_sin_keeps_one_tensor_more_than_relu():
    assert "(sin: it keeps its own input besides." in said("04", "cell-40")
    assert kept_with(torch.sin) == kept_with(torch.relu) + 1


def test_what_a_missing_node_stands_for_is_an_input():
    assert "|Why `(None, 0)`?|That input wants no gradient, or was left out.|" in said(
        "04", "cell-50"
    )
    kernel = leaf(1, 1, 1)
    without_bias = F.conv1d(torch.ones(1, 1, 3), kernel).grad_fn.next_functions
    assert [node and node.variable is kernel for node, _ in without_bias] == [None, True, None]
    with_bias = F.conv1d(torch.ones(1, 1, 3), kernel, leaf(1)).grad_fn.next_functions
    assert [node is None for node, _ in with_bias] == [True, False, False]
    without_weights = F.layer_norm(
        leaf(3), (3,)
    ).grad_fn  # no tensor was given for two of its inputs
    assert [node is None for node, _ in without_weights.next_functions] == [False, True, True]


def test_what_a_few_formulas_use():
    text = said("04", "cell-36")
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    assert "`relu`: where its result is zero, no gradient passes." in text
    assert torch.autograd.grad(x.relu().sum(), x)[0].tolist() == [0, 0, 1]
    assert "`floor` is flat, its gradient zero." in text
    assert torch.autograd.grad(x.floor().sum(), x)[0].tolist() == [0, 0, 0]
    assert "`prod` uses input and result." in text
    assert set(re.findall(r"self|result", formulas("ProdBackward0")["self"])) == {"self", "result"}
    assert "`where` its condition, `max` along a dimension its indices" in text
    assert torch.where(x > 0, x, 0.0).grad_fn._saved_condition.tolist() == [False, False, True]
    assert x.max(0).values.grad_fn._saved_indices == 2


@pytest.mark.parametrize("name", ["relu", "sqrt"])
def test_two_derivatives_can_be_had_from_either_side(name):
    assert "both derivatives can be had from either side, torch chose the result" in said(
        "04", "cell-40"
    )
    x = torch.tensor([0.25, 1.0, 4.0], requires_grad=True)
    result = getattr(torch, name)(x)
    (gradient,) = torch.autograd.grad(result.sum(), x, retain_graph=True)
    sides = {
        "relu": [(x > 0).float(), (result > 0).float()],
        "sqrt": [x.pow(-0.5) / 2, 1 / (2 * result)],
    }
    assert all(torch.allclose(gradient, side) for side in sides[name])
    assert result.grad_fn._saved_result is not None
    assert not hasattr(result.grad_fn, "_saved_self")


def calm(t):
    """The function of idea 5."""
    while t > 1:
        t = t / 2 if t > 3 else t - 1
    return t


def test_what_ran_is_in_the_graph_and_the_next_call_makes_a_new_one():
    assert "**What ran is in the graph, operation by operation; the next call makes a new" in said(
        "04", "cell-29"
    )
    p = torch.tensor(4.0, requires_grad=True)
    one, other = calm(p), calm(p)
    assert [one.grad_fn.name(), one.grad_fn.next_functions[0][0].name()] == [
        "SubBackward0",
        "DivBackward0",
    ]
    assert one.grad_fn is not other.grad_fn
    assert "`t > 1` gave a bool, which has no gradient" in said("04", "cell-29")
    assert ((p > 1).dtype, (p > 1).grad_fn) == (torch.bool, None)
    assert "What is `p.grad` after a `backward()`? (A half:" in said("04", "cell-31")
    one.backward()
    assert p.grad == 1 / 2


def test_the_two_graphs_of_a_loop_have_two_operation_nodes_and_one():
    assert "- (a) two operation nodes for 4, one for 2" in said("04", "cell-27")
    graphs = [snapshot(calm(torch.tensor(n, requires_grad=True))) for n in (4.0, 2.0)]
    assert [len(graph.operations) for graph in graphs] == [2, 1]
    assert [len(graph.nodes) for graph in graphs] == [3, 2]


def test_backward_frees_saved_tensors_and_leaves_nodes_and_edges():
    assert "frees *saved tensors* of nodes that ran; all nodes and edges stay" in (
        said("04", "cell-39")
    )
    assert "|What does `backward()` free?|Saved tensors of nodes that ran; no nodes.|" in said(
        "04", "cell-50"
    )
    x = torch.tensor(2.0, requires_grad=True)
    grow = x.exp().sin()
    sine, edges = grow.grad_fn, grow.grad_fn.next_functions
    grow.backward()
    assert (grow.grad_fn, sine.next_functions) == (sine, edges)
    for node, slot in ((sine, "_saved_self"), (edges[0][0], "_saved_result")):
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            getattr(node, slot)
    x, other = leaf(1), leaf(1)
    grow, beside = x.exp(), other.exp()
    (grow + beside).backward(inputs=[x])  # the node of `beside` does not run
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        grow.grad_fn._saved_result  # noqa: B018
    assert beside.grad_fn._saved_result is not None


def test_a_call_that_raises_adds_nothing():
    assert "(Those that printed no error; the last one added nothing.)" in said("04", "q10-notes")
    x = torch.tensor(2.0, requires_grad=True)
    grow, flip = x.exp(), -x
    for backward in (flip.backward, grow.backward, flip.backward):
        backward()
    came = x.grad.item()
    with pytest.raises(RuntimeError, match="a second time"):
        grow.backward()
    assert x.grad.item() == came == pytest.approx(2.718281828459045**2 - 2)


def test_sin_does_not_tell_the_sign_of_cos():
    assert "sin(x) does not tell the sign of cos(x)" in said("04", "cell-34")
    x = torch.tensor([1.0, torch.pi - 1.0])
    assert torch.allclose(x.sin()[0], x.sin()[1])
    assert (x.cos() > 0).tolist() == [True, False]


@pytest.mark.filterwarnings("ignore:distutils Version classes")  # torchviz asks for them
def test_torchviz_counts_tensors_too_and_names_boxes_by_id():
    assert "(The tensors: the leaf and the result.)" in said("04", "cell-26")
    assert "it names its boxes by `id()`" in said("04", "cell-26")
    matrix = leaf(2, 2)
    assert beside_torchviz(torch.trace(matrix @ matrix.T)).text.startswith("torchviz (left): 6 box")
    kept = [torch.trace(matrix @ matrix.T) for _ in range(2)]
    assert len({make_dot(loss).source for loss in kept}) == 2
    assert len({str(snapshot(loss)) for loss in kept}) == 1


def test_no_belief_of_others_is_told_without_its_source():
    """In no lesson: "often said" and "a lecture" name nobody whom a student could look up."""
    course = NOTEBOOKS.parent / "helpers"
    files = [
        *NOTEBOOKS.glob("*.ipynb"),
        *course.glob("exercises/lessons/*.py"),
        *course.glob("clinic/*.toml"),
    ]
    assert len(files) > 25
    unnamed = re.compile(
        r"often said|is said to|a lecture|notes on |notes have|from the web"
        r"|many (?:texts|notes|tutorials|pages)",
        re.IGNORECASE,
    )
    assert {
        file.name: found
        for file in files
        if (found := unnamed.findall(file.read_text(encoding="utf-8")))
    } == {}
    (path,) = NOTEBOOKS.glob("04*.ipynb")
    lesson = path.read_text(encoding="utf-8")
    assert "PyTorch's notes (*Autograd mechanics*, 2026)" in lesson
    assert "nearly all" not in lesson  # a graph takes memory besides its saved tensors


def run(code):
    namespace = {"torch": torch}
    exec(code, namespace)
    return namespace["answer"]


def verdict_of(name, code, capsys):
    check(name, run(code))
    return " ".join(capsys.readouterr().out.split())


def chain(length):
    x = y = leaf(1)
    for _ in range(length):
        y = -y
    return x, y.sum()


def test_a_walk_that_calls_itself_is_stopped_by_python_and_a_list_is_not():
    assert "usual limit, 1,000 calls deep, stops it with a RecursionError" in WALK.hints[-1]
    _, output = chain(1000)
    with pytest.raises(RecursionError):
        run(PLAIN + ENDS)(output.grad_fn)
    for walk in (WALK.truth(), run(WALK.solution)):
        assert len(walk(output.grad_fn)) == 1002


def test_no_hint_of_04_4_forbids_ids_of_nodes():
    assert not [hint for hint in WALK.hints if "id()" in hint]
    for seed in range(20):
        node = random_graph(seed)
        assert count(node, id) == count(node, lambda each: each)


def random_graph(seed):
    random = torch.Generator().manual_seed(seed)
    made = [leaf(3)]
    for _ in range(30):
        left, right = (made[int(at)] for at in torch.randint(len(made), (2,), generator=random))
        made += [left * right, left.sin()]
    return sum(each.sum() for each in made).grad_fn


def count(node, key):
    """Return how many nodes a walk meets that tells them apart by `key` and holds none of them."""
    met, waiting = set(), [node]
    while waiting:
        node = waiting.pop()
        if node is not None and key(node) not in met:
            met.add(key(node))
            waiting += [child for child, _ in node.next_functions]
    return len(met)


VISIT = """
def visit(node, depth, lines, met):
    name = "None" if node is None else CLASS
    lines.append("  " * depth + name + (AGAIN if node in met else ""))
    if node is None or node in met:
        return lines
    met.add(node)
    for child, _ in node.next_functions:
        visit(child, depth + 1, lines, met)
    return lines
"""
PLAIN = VISIT.replace("CLASS", "type(node).__name__").replace("AGAIN", '" (again)"')
KEEPS = {
    "a set as a default": PLAIN
    + "def answer(node, met=set()):\n    return visit(node, 0, [], met)",
    "a list as a default": PLAIN
    + "def answer(node, lines=[]):\n    return visit(node, 0, lines, set())",
    "a set outside": PLAIN + "MET = set()\ndef answer(node):\n    return visit(node, 0, [], MET)",
    "both outside": PLAIN + "L, M = [], set()\ndef answer(node):\n    return visit(node, 0, L, M)",
    "on the function": PLAIN
    + "def answer(node):\n    return visit(node, 0, [], answer.met)\nanswer.met = set()",
    "nothing for a node of before": PLAIN
    + "MET = set()\ndef answer(node):\n    known = node in MET\n    MET.add(node)\n"
    "    return None if known else visit(node, 0, [], set())",
}


@pytest.mark.parametrize("answer", KEEPS)
def test_an_answer_that_keeps_something_between_calls_is_refused(answer, capsys):
    assert verdict_of("04.4", KEEPS[answer], capsys) == f"04.4 ✗ {WALK.misconceptions[0].message}"


ENDS = "def answer(node):\n    return visit(node, 0, [], set())"
RIGHT = {
    "plain": PLAIN + ENDS,
    "one text": PLAIN + 'def answer(node):\n    return "\\n".join(visit(node, 0, [], set()))',
    "a generator": PLAIN + "def answer(node):\n    yield from visit(node, 0, [], set())",
    "torch's own names": VISIT.replace("CLASS", "node.name()").replace("AGAIN", '" (again)"')
    + ENDS,
    "no space": PLAIN.replace(" (again)", "(again)") + ENDS,
    "a capital": PLAIN.replace(" (again)", " (Again)") + ENDS,
    "ids": PLAIN.replace("in met", "and id(node) in met").replace("add(node)", "add(id(node))")
    + ENDS,
    "a default that is not kept": PLAIN
    + "def answer(node, met=None):\n    return visit(node, 0, [], set(met or ()))",
}


@pytest.mark.parametrize("answer", RIGHT)
def test_a_right_walk_passes_in_any_spelling_and_each_time(answer, capsys):
    code = run(RIGHT[answer])
    for _ in range(2):
        check("04.4", code)
        assert capsys.readouterr().out.startswith("04.4 ✓")


NAMED = {
    "ends in `(again)`": PLAIN.replace(" (again)", " again") + ENDS,
    "the entries of the first node": "def answer(node):\n    return [type(c).__name__ for c, _ in node.next_functions]",
    "their indents are not": PLAIN.replace("depth + 1", "1") + ENDS,
    "counted None": PLAIN.replace("if node is None or node in met", "if node in met").replace(
        "in node.next_functions", "in node.next_functions if node else ()"
    )
    + ENDS,
    "the last entry of each node first": PLAIN.replace(
        "in node.next_functions", "in reversed(node.next_functions)"
    )
    + ENDS,
}


@pytest.mark.parametrize("words", NAMED)
def test_the_mistake_that_was_made_is_named(words, capsys):
    assert words in verdict_of("04.4", NAMED[words], capsys)


def test_a_walk_that_stops_before_the_end_of_a_long_path_is_refused(capsys):
    shallow = PLAIN.replace(
        "node is None or node in met", "node is None or node in met or depth > 9"
    )
    assert "1 went wrong" in verdict_of("04.4", shallow + ENDS, capsys)


NOT_THESE = {
    "a call that returns nothing": "def answer(node):\n    lines = [str(node)]\n    for c, _ in node.next_functions:\n"
    "        lines += print(c)\n    return lines",
    "the result of append": "def answer(node):\n    return [].append(1).append(2)",
    "another word for None": PLAIN.replace('"None" if', '"empty" if') + ENDS,
}


@pytest.mark.parametrize("answer", NOT_THESE)
def test_no_mistake_is_named_that_was_not_made(answer, capsys):
    assert "04.4 ✗ I ran the function answer on 6 cases" in verdict_of(
        "04.4", NOT_THESE[answer], capsys
    )


def test_the_principle_of_04_1_holds_the_order_of_the_inputs():
    assert "the entries keep the order of the inputs" in ENTRIES.principle
    assert "formula can differentiate, in order.**" in said("04", "q4-because")
    x, w = leaf(1), leaf(1)
    for left, right in ((x, w), (w, x)):
        nodes = [node for node, _ in (left.exp() * right).grad_fn.next_functions]
        assert (nodes[0].name(), nodes[1].variable) == ("ExpBackward0", right)


@pytest.mark.parametrize("rounds", [1, 3, 7])
def test_the_principle_of_04_2_counts_what_ran(rounds):
    assert "one node for each multiplication, as often as its line ran" in LOOP.principle
    x = y = leaf(1)
    for _ in range(rounds):
        y = y * x
    node, found = y.grad_fn, 0
    while node.name() == "MulBackward0":
        node, found = node.next_functions[0][0], found + 1
    assert found == rounds


def test_who_can_go_twice_in_04_3_saved_no_tensor():
    assert "These nodes saved no tensor" in TWICE.right
    for name, operation in {
        "n": lambda x: x.relu(),
        "o": lambda x: x.sigmoid(),
        "p": lambda x: x + 1,
        "q": lambda x: x * x,
        "r": lambda x: -x,
        "s": lambda x: x.exp(),
        "t": lambda x: x.sqrt(),
        "u": lambda x: x.tanh(),
    }.items():
        with saved_tensors_hooks(refuse, refuse):
            try:
                operation(torch.tensor(2.0, requires_grad=True))
                saved = False
            except NotImplementedError:
                saved = True
        assert saved == (name not in TWICE.truth()), name


def refuse(kept):
    raise NotImplementedError


def test_the_principle_of_04_4_meets_a_node_on_two_paths_and_an_empty_entry():
    assert "the same node can be reached on several paths" in WALK.principle
    middle = leaf(1).exp()
    (sine, _), (shared, _) = (middle.sin() * middle).grad_fn.next_functions
    assert sine.next_functions[0][0] is shared
    assert (leaf(1) * 2).grad_fn.next_functions[1] == (None, 0)
