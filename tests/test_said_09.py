"""What lesson 09 says of counted and silent edits in prose, notes and recap, run in torch.

Reads the notebook only.
"""

import contextlib
import inspect

import pytest
import torch
from said import said


def forward():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    return x, (x**2).sum()


FUSED = [
    one
    for one in vars(torch.optim).values()
    if inspect.isclass(one) and "fused" in inspect.signature(one).parameters
]


def test_four_optimizers_can_be_fused():
    assert {one.__name__ for one in FUSED} == {"SGD", "Adam", "AdamW", "Adagrad"}


@pytest.mark.parametrize("optimizer", FUSED, ids=lambda one: one.__name__)
def test_a_fused_step_ticks_no_counter_and_is_silent(optimizer):
    assert "nor for the step of an optimizer with `fused=True`" in said("09", "ipv-18")
    assert "an optimizer with `fused=True`" in said("09", "ipv-21")
    assert "with `fused=True` it ticks no counter, and nothing raises" in said("09", "ipv-38")
    assert "a step with `fused=True`: not counted" in said("09", "ipv-51")
    x, loss = forward()
    x.grad = torch.ones(3)
    optimizer([x], lr=0.5, fused=True).step()
    assert x.tolist() != [1.0, 2.0, 3.0]
    assert x._version == 0
    x.grad = None
    loss.backward()
    assert torch.equal(
        x.grad, 2 * x.detach()
    )  # of the new values: the gradient that was asked for is 2, 4, 6


def test_a_step_that_is_not_fused_is_counted_and_raises():
    assert "an optimizer's `step()` doing the same" in said("09", "ipv-38")
    x, loss = forward()
    x.grad = torch.ones(3)
    torch.optim.SGD([x], lr=0.5, fused=False).step()
    assert x._version == 1
    with pytest.raises(RuntimeError, match="at version 1; expected version 0"):
        loss.backward()


def test_not_every_version_begins_at_0_and_inference_tensors_have_none():
    assert "Each has a `_version`, which here begins at 0" in said("09", "ipv-03")
    assert "inference tensors (lesson 08) have no version at all" in said("09", "ipv-05")
    a = torch.tensor([1.0, 2.0, 3.0])
    assert [one._version for one in (a, a[:2], a.detach(), a.clone(), a.data)] == [0] * 5
    assert torch.nn.functional.one_hot(torch.tensor(1))._version == 2
    with torch.inference_mode():
        made = torch.ones(2)
    with pytest.raises(RuntimeError, match="do not track version counter"):
        made._version  # noqa: B018


def test_a_trailing_underscore_mostly_writes_and_most_writes_are_counted():
    assert "mostly a trailing `_`" in said("09", "ipv-05")
    assert "Most writes into the memory" in said("09", "ipv-51")
    ticks = ticks_of_what_needs_no_argument()
    assert len(ticks) > 60
    uncounted = {name for name, count in ticks.items() if count == 0}
    assert uncounted == {"detach_", "requires_grad_", "share_memory_"}
    assert {ticks[name] for name in ticks.keys() - uncounted} == {1}


def ticks_of_what_needs_no_argument():
    """Return {name: version after one call} for the methods of a tensor that end in one
    underscore, but for those that refuse to run without arguments.
    """
    ticks = {}
    with torch.random.fork_rng():  # some fill a tensor with random numbers
        for name in dir(torch.Tensor):
            if not name.endswith("_") or name.endswith("__"):
                continue
            tensor = torch.ones(2)
            with contextlib.suppress(TypeError, RuntimeError):
                getattr(tensor, name)()
                ticks[name] = tensor._version
    return ticks


@pytest.mark.parametrize("saved", [False, True])
def test_a_clone_may_be_edited_unless_a_node_saved_it(saved):
    assert "a clone of a leaf may be edited, unless a node saved it" in said("09", "ipv-28")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.clone()
    y = (h**2 if saved else h * 2).sum()
    h += 1
    if saved:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
    else:
        y.backward()
        assert x.grad.tolist() == [2.0, 2.0]
