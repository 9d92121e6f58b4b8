"""What runs a program must not be told from torch alone: hostile programs run bare and recorded,
and are compared.
"""

import gc
import warnings
import weakref

import pytest
import torch
from checked_film import check_film
from hostile_running import CASES, Loud

from autograd_graphs.playing.player import Player
from helpers import record, step_through

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.thorough,
]  # those of a program are compared; those of this file do not count
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def bare(world):
    """Go backward by torch alone."""
    roots = tuple(world.roots) if type(world.roots) is list else world.roots
    how = {name: value for name, value in world.how.items() if name != "gradient"}
    torch.autograd.backward(roots, world.how.get("gradient"), **how)


def recorded(world):
    return record(world.roots, **world.how)


def stepped(world):
    return step_through(world.roots, **world.how)


def run(world, go):
    """Return what `go` gives and the exception that it ends with, if any."""
    given = error = None
    try:
        with world.around():
            given = go(world)
    except BaseException as raised:
        error = raised
    return given, error


def outcome(case, go):
    """Run a fresh copy of a program and say all that can be told from outside."""
    told = []
    torch.manual_seed(0)
    torch.set_warn_always(True)  # else some warnings come once per process only
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            world = case.make(told)
            given, error = run(world, go)
            seen = {
                "warnings": [(one.category, str(one.message)) for one in caught],
                "hooks ran": list(told),
            }
    finally:
        torch.set_warn_always(False)
    cause = error.__context__ if case.plain and go is not bare else error
    seen |= {
        "error": None if cause is None else (type(cause), *map(worded, cause.args)),
        "tensors": [state(one) for one in world.tensors],
        "gradients": [state(one.grad) for one in world.tensors if one.is_leaf or one.retains_grad],
        "hooks": [len(one._backward_hooks or ()) for one in world.tensors],
        "modes": modes(),
    }
    return seen, given, error


def worded(argument):
    return argument if type(argument) in (str, int, float) else type(argument)


def modes():
    return [
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_anomaly_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.autograd.is_multithreading_enabled(),
        torch.get_default_dtype(),
        torch.get_rng_state().tolist(),
    ]


def state(tensor):
    """Tell a tensor to the last bit, as far as its kind has bits."""
    if tensor is None:
        return None
    with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
        told = [type(tensor), tensor.dtype, tensor.layout, tensor.requires_grad]
        told.append(None if tensor.is_inference() else tensor._version)
        if tensor.layout != torch.strided or tensor.is_nested:
            return [*told, str(tensor.detach())]
        told += [tensor.shape, tensor.stride()]
        valued = type(tensor) in (torch.Tensor, Loud) and not tensor.is_meta and tensor.numel()
        return told if not valued else [*told, bits(tensor)]


def bits(tensor):
    return tensor.detach().reshape(-1)[:1_000].contiguous().view(torch.uint8).tolist()


def trace_of(given, error):
    """Return the trace that came back, or that the exception carries, whatever its class says of
    it.
    """
    return given if error is None else BaseException.__dict__["__dict__"].__get__(error)["trace"]


@each_case
def test_recording_cannot_be_told_from_backward_alone(case):
    # from one line, as warnings of anomaly mode tell it
    (without, _, expected), (watched, given, error) = [outcome(case, go) for go in (bare, recorded)]
    assert (type(expected) if expected else None) is case.error
    assert case.says in str(without["error"])
    assert watched == without
    text = str(trace_of(given, error))
    assert case.gives in text
    assert len(text) < 2_000_000
    assert text.replace("\n", "").isprintable()


@each_case
def test_a_player_comes_of_it_or_the_same_error(case):
    given, error = outcome(case, stepped)[1:]
    assert (type(error) if error else None) is case.error
    assert error is not None or isinstance(given, Player)


@each_case
def test_the_film_of_it_says_what_its_steps_say(case):
    check_film(trace_of(*outcome(case, recorded)[1:]))


class Canary:
    """Live as long as the node that holds it."""


def left_alive(case, go):
    """Run a program, drop everything, and say which tensors and whether the graph are still there."""
    world, canary = case.make([]), Canary()
    root = world.roots[0] if type(world.roots) is list and world.roots else world.roots
    if isinstance(root, torch.Tensor) and root.grad_fn is not None:
        root.grad_fn.metadata["canary"] = canary
    for tensor in world.tensors:
        tensor.grad = None if tensor.is_leaf else tensor.grad
    alive = [weakref.ref(one) for one in (*world.tensors, canary)]
    run(world, go)
    del world, canary, root
    gc.collect()
    return [one() is not None for one in alive]


@pytest.fixture(scope="module")
def frozen():
    """Keep what was there before from being looked through each time that garbage is collected."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@each_case
@pytest.mark.usefixtures("frozen")
def test_a_recording_leaves_nothing_behind_that_backward_alone_would_not(case):
    assert left_alive(case, recorded) == left_alive(case, bare)
