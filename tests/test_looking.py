"""Looking changes nothing: random programs run with and without a look must agree bit for bit."""

import gc
import subprocess
import sys
import warnings
import weakref

import pytest
import torch
from hypothesis import given, settings
from programs import RAN, bits, kept_gradients, often, programs
from torch.autograd.graph import get_gradient_edge
from torch.utils.checkpoint import checkpoint

from helpers import show, snapshot


def look_hard(pool):
    """Look at everything at once, and at the latest tensor as a picture.

    A view whose base was edited is left out: whoever asks for its graph, torch included, rewrites
    its history.
    """
    fresh = [tensor for tensor in pool if not (tensor._is_view() and tensor._version)]
    snapshot(*fresh)
    show(fresh[-1])


def structure(tensor):
    """Return the graph behind a tensor by torch's own words."""
    order, stack, seen = [], [tensor.grad_fn], {}
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen[node] = len(seen)
        order.append(
            (type(node).__name__, [(k and type(k).__name__, nr) for k, nr in node.next_functions])
        )
        stack += [k for k, _ in node.next_functions]
    return order


def outcome(program, look):
    """Run a program and its backward, looking on the way; return all that can be told from outside."""
    calls = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pool = program.run(look)
        leaves = [leaf for leaf in pool[:3] if leaf.requires_grad]
        handles = [leaf.register_hook(lambda grad: calls.append(grad.clone())) for leaf in leaves]
        look(pool)
        error = backward(pool[-1])
        look(pool)
    for handle in handles:
        handle.remove()
    return {
        "gradients": kept_gradients(pool),
        "values": [bits(tensor) for tensor in pool],
        "versions": [tensor._version for tensor in pool],
        "flags": [(tensor.requires_grad, tensor.is_leaf, tensor.retains_grad) for tensor in pool],
        "rng": torch.get_rng_state().tolist(),
        "hooks": [bits(call) for call in calls],
        "ran": list(RAN),
        "warnings": [str(one.message) for one in caught],
        "error": error,
        "structure": structure(pool[-1]),
        "sequence": sequence_numbers(pool),
    }


def backward(tensor):
    try:
        tensor.sum().backward()
    except RuntimeError as error:
        return str(error)


def sequence_numbers(pool):
    """Return the order in which the engine would take the nodes: their numbers as ranks."""
    numbers = [tensor.grad_fn._sequence_nr() for tensor in pool if tensor.grad_fn is not None]
    return sorted(range(len(numbers)), key=numbers.__getitem__)


@pytest.mark.slow
@given(programs())
@often
def test_looking_changes_nothing(program):
    assert outcome(program, look_hard) == outcome(program, lambda pool: None)


@pytest.fixture(scope="module")
def checkpointed():
    """Checkpoint once: a process's first time ties tensors into circles, whether looked at or not."""
    x = torch.ones(2, requires_grad=True)
    checkpoint(torch.sin, x, use_reentrant=False).sum().backward()


@pytest.mark.thorough
@pytest.mark.usefixtures("checkpointed")
@given(programs())
@often
def test_nothing_is_kept_after_a_look(program):
    """Torch itself keeps a saved tensor after a backward that raised: what counts is that looking
    keeps no more.
    """
    assert kept(program, look_hard) == kept(program, lambda pool: None)


CYCLIC = (
    "checkpoints",
)  # torch itself ties these into circles of Python objects, which wait for the collector


def kept(program, look):
    """Return for each tensor of a run, and for the last node, whether it outlives its last name."""
    gc.disable()
    gc.freeze()  # what is there already is no garbage, and need not be searched
    try:
        pool = program.run(look)
        raised = backward(pool[-1])
        look(pool)
        alive = [weakref.ref(tensor) for tensor in pool]
        canary = Canary()
        if pool[-1].grad_fn is not None:
            pool[-1].grad_fn.metadata["canary"] = canary
        alive.append(weakref.ref(canary))
        del pool, canary
        found = [one() is not None for one in alive]
        if any(family in CYCLIC for family, *_ in program.steps):
            gc.collect()
        assert raised or not any(one() is not None for one in alive)
        return found
    finally:
        gc.unfreeze()
        gc.enable()


class Canary:
    """Live as long as the node that holds it."""


def wiring(tensor):
    """Return operations and edges breadth first by torch's own words, read without our package."""
    nodes, edges = [get_gradient_edge(tensor).node], []
    for source, node in enumerate(nodes):  # the list grows as we go
        for position, (child, input_nr) in enumerate(node.next_functions):
            if child is not None and child not in nodes:
                nodes.append(child)
            edges.append(
                (source, position, None if child is None else nodes.index(child), input_nr)
            )
    return [type(node).__name__ for node in nodes], edges


@pytest.mark.slow
@given(programs())
@often
def test_the_wiring_of_a_snapshot_is_that_of_next_functions(program):
    for tensor in program.run():
        if tensor.requires_grad:
            graph, (operations, edges) = snapshot(tensor), wiring(tensor)
            assert [node.operation for node in graph.nodes] == operations
            assert [
                (edge.source, edge.position, edge.target, edge.input_nr) for edge in graph.edges
            ] == edges
            assert graph.roots[0].output_nr == tensor.output_nr


@pytest.mark.slow
@given(programs())
@settings(often, max_examples=often.max_examples // 5)
def test_equal_programs_give_equal_text_and_equal_bytes(program):
    one, other = (show(program.run()[-1]) for _ in range(2))
    assert one.text == other.text
    assert one.svg == other.svg


def saved_view_of_an_edited_tensor(keep):
    """Save a row of a tensor, held by the learner or by the graph alone, and edit the tensor."""
    base = torch.ones(2, 2, requires_grad=True) * 1
    row = base[0]
    loss = row * row
    if not keep:
        del row
    base.mul_(3)
    return (loss, row) if keep else (loss, None)


def test_a_saved_view_that_the_learner_holds_is_not_unpacked():
    loss, row = saved_view_of_an_edited_tensor(keep=True)
    number = torch._C._autograd._get_sequence_nr()
    text = str(snapshot(loss))
    assert torch._C._autograd._get_sequence_nr() == number
    assert "◇ self = row (view of an edited tensor, now v1)" in text
    assert row.grad_fn is not None


@pytest.mark.slow
def test_the_course_can_be_imported_in_inference_mode():
    program = "import torch\nwith torch.inference_mode():\n    import helpers\n"
    program += "x = torch.ones(2, requires_grad=True)\nprint(helpers.show(x.exp().sum()).text)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")
    assert "ExpBackward0" in said.stdout


COLLECTS_MEANWHILE = """
import gc, threading
from autograd_graphs.looking.torch_private import backward_elsewhere
for more in range(60):
    gc.disable()
    ring = [threading.local()]
    ring.append(ring)
    del ring
    gc.set_threshold(gc.get_count()[0] + more)
    gc.enable()
    backward_elsewhere()
    assert gc.isenabled()
gc.disable()
backward_elsewhere()
assert not gc.isenabled()
print("done")
"""


@pytest.mark.thorough
def test_no_collection_runs_while_python_holds_its_lock():
    """A look at the frames of other threads beside a garbage collection can wait for ever."""
    run = [sys.executable, "-c", COLLECTS_MEANWHILE]
    assert subprocess.run(run, capture_output=True, text=True, timeout=120).stdout == "done\n"
