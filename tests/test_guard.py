"""Whatever a guarded function does, its caller goes on in the world that was there before."""

import gc
import random
import sys
import tracemalloc
import warnings

import numpy
import pytest
import torch

from autograd_graphs.guard import Failed, Heard, guarded


def exits(x):
    sys.exit(3)


def recurses(x):
    return recurses(x)


def prints(x):
    for line in range(20_000):
        print(f"{line:1000}")
        print(f"{line:1000}", file=sys.stderr)
    return x


def closes_the_output(x):
    sys.stdout.close()
    return x


class Speechless(Exception):
    """Be an error that fails to say what it is."""

    def __str__(self):
        return self.text


def fails_without_words(x):
    raise Speechless


def changes_everything(x):
    torch.set_grad_enabled(False)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.autograd.set_detect_anomaly(True)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(3)
    torch.autocast("cpu").__enter__()
    torch.autograd.graph.saved_tensors_hooks(torch.sin, torch.sin).__enter__()
    torch.nn.modules.module.register_module_forward_hook(lambda *_: 1 / 0)
    gc.disable()
    sys.setrecursionlimit(3_000)
    torch.manual_seed(7)
    random.seed(7)
    numpy.random.seed(7)
    warnings.simplefilter("error")
    torch.inference_mode().__enter__()
    x.add_(1)
    return "changed"


FUNCTIONS = {
    exits: Failed("SystemExit"),
    recurses: Failed("RecursionError"),
    fails_without_words: Failed("Speechless"),
    closes_the_output: None,
    prints: None,
    changes_everything: "changed",
    lambda: 1: Failed("TypeError"),
}


def states():
    """Return all that a function may leave changed."""
    return [
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_anomaly_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_num_threads(),
        torch.is_autocast_enabled("cpu"),
        torch._C._autograd._top_saved_tensors_default_hooks(True),
        dict(torch.nn.modules.module._global_forward_hooks),
        gc.isenabled(),
        torch.get_rng_state().tolist(),
        random.getstate(),
        numpy.random.get_state()[1].tolist(),
        list(warnings.filters),
        sys.stdout,
        sys.stderr,
        sys.getrecursionlimit(),
    ]


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_function_gives_a_value_or_a_failure_and_leaves_all_as_it_was(
    function, gradients, capsys
):
    x = torch.ones(2)
    with torch.set_grad_enabled(gradients):
        before = states()
        given = guarded(function, x)
        assert states() == before
    expected = FUNCTIONS[function]
    assert given is x if expected is None else given == expected
    assert capsys.readouterr() == ("", "")


def test_gradients_are_on_in_it_even_under_no_grad():
    leaf = torch.ones(1, requires_grad=True)
    for around in (torch.no_grad, torch.inference_mode):
        with around():
            assert guarded(lambda: (leaf * 2).requires_grad) is True


def test_an_interrupt_passes_and_all_is_put_back():
    def interrupted(x):
        changes_everything(x)
        raise KeyboardInterrupt

    before = states()
    with pytest.raises(KeyboardInterrupt):
        guarded(interrupted, torch.ones(2))
    assert states() == before


def test_what_it_prints_is_heard_in_part_and_counted_else_not_even_kept():
    heard = Heard(12)
    guarded(lambda: print("what a function says"), heard=heard)
    assert (heard.text, heard.count) == ("what a funct", 21)
    tracemalloc.start()
    try:
        guarded(prints, 1)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def gradient_of_a_layer():
    torch.manual_seed(0)
    layer = torch.nn.Linear(1, 1)
    (layer(torch.ones(1)) ** 2).backward()
    return layer.weight.grad.item()


def test_what_a_notebook_left_on_does_not_reach_it_and_stays():
    doubled = torch.autograd.graph.saved_tensors_hooks(lambda one: one, lambda one: one * 2)
    on_modules = torch.nn.modules.module.register_module_forward_hook(lambda *given: given[2] * 2)
    try:
        torch.set_default_device("meta")
        with doubled, torch.autocast("cpu"):
            before = states()
            seen = guarded(gradient_of_a_layer)
            assert states() == before
    finally:
        on_modules.remove()
        torch.set_default_device(None)
    assert seen == gradient_of_a_layer()
