"""What lesson 01 claims beyond its own cells, run in torch."""

import re
import warnings

import pytest
import torch
from said import source
from torch.autograd import Variable

from helpers import show
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def silenced(code, names):
    """Run code without warnings; return what its last line gives."""
    *lines, last = code.split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile("\n".join(lines), "cell", "exec"), names)
        return eval(last, names)


def test_the_case_stops_at_its_log_and_one_change_takes_it_to_86_with_a_warning_alone():
    code = source("01", "case-run")
    names = {"torch": torch, "Variable": Variable, "moons": moons, "print": lambda *words: None}
    with pytest.raises(IndexError, match=r"invalid index of a 0-dim .*Use `tensor.item\(\)`"):
        exec(code, names)
    mended = code.replace("loss.data[0]", "loss.item()")
    assert silenced(mended, names) == 86
    assert all(word in mended for word in ("Variable(", ".data", "volatile"))
    points, w = moons()[0], torch.ones(2, 1)
    assert torch.equal(points.mm(w), points @ w)


# Idea 1


def test_every_tensor_counts_as_a_variable_and_variable_returns_a_new_plain_tensor():
    for tensor in (torch.tensor([True]), leaf(1.0), leaf(1.0) * 2, torch.nn.Parameter(leaf(1.0))):
        assert isinstance(tensor, Variable)
        made = Variable(tensor)
        assert type(made) is torch.Tensor
        assert made is not tensor
        assert (made.requires_grad, made.grad_fn) == (False, None)
        assert made.data_ptr() == tensor.data_ptr()


def test_variable_takes_tensors_only_and_its_metaclass_answers_for_it():
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1.0])
    assert not any(isinstance(other, Variable) for other in (1.0, [1.0], None))
    assert "__instancecheck__" in vars(type(Variable))


# Idea 2


def test_a_wrapped_tensor_is_cut_off_and_the_picture_lacks_its_leaf():
    u, v = leaf(3.0), leaf(2.0)
    p = u**2
    (Variable(p) * v).backward()
    assert p.grad_fn is not None
    assert (u.grad, v.grad) == (None, 9)
    with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad"):
        Variable(p).backward()
    for loss in (Variable(u) * v, Variable(u * 5) * v):
        assert "leaf v" in show(loss).text
        assert "leaf u" not in show(loss).text
    assert "leaf u" in show(u * v).text


# Idea 3


def test_a_clone_protects_the_start():
    start = torch.tensor(3.0)
    w = Variable(start.clone(), requires_grad=True)
    w.data -= 1
    assert (start.item(), w.item()) == (3, 2)


def test_a_recorded_update_leaves_nothing_in_grad_and_teaches_the_step_size():
    w = leaf(1.0, 2.0)
    w.grad = torch.ones(2)
    with torch.no_grad():
        w -= w.grad
    assert (w.tolist(), w.requires_grad, w.is_leaf, w.grad_fn) == ([0.0, 1.0], True, True, None)
    w = w - w.grad
    w.sum().backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert w.grad is None
    w, rate = leaf(3.0), leaf(0.1)
    (slope,) = torch.autograd.grad(w**2, w)
    ((w - rate * slope) ** 2).backward()
    assert round(rate.grad.item(), 3) == -28.8  # 2 · 2.4 · (-6)


# Idea 4


def test_volatile_raises_next_to_a_flag_and_where_warnings_are_errors():
    with (
        pytest.warns(UserWarning, match="volatile was removed"),
        pytest.raises(ValueError, match="can't be volatile"),
    ):
        Variable(leaf(1.0), volatile=True, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="volatile"):
            Variable(torch.tensor(2.0), volatile=True)


def test_the_port_does_what_the_old_step_does_and_each_mistake_does_what_the_notes_say():
    old = ("w.data -= 0.1 * w.grad.data", "w.grad.data.zero_()")
    names = {"w": leaf(3.0)}
    exec("\n".join(["(w * w).backward()", *old]), names)
    w = names["w"]
    assert (round(w.item(), 4), w.grad.item(), w.requires_grad) == (2.4, 0, True)
    new = Variable(w - 1)
    with pytest.raises(RuntimeError, match="does not require grad"):
        (new * new).backward()
    w = leaf(3.0)
    (w * w).backward()
    (w * w).backward()
    assert w.grad == 12, "the second step goes twice as far"


# Exercises


RESULTS = {
    "a": lambda x, z: z.data * 3,
    "b": lambda x, z: z * z.data,
    "c": lambda x, z: Variable(z) + z,
    "d": lambda x, z: Variable(z, requires_grad=True) * 3,
    "e": lambda x, z: Variable(x.data) + z,
    "f": lambda x, z: z.detach() * Variable(x),
}


def has_gradient(name):
    x = leaf(1.0, 2.0, 3.0)
    try:
        RESULTS[name](x, x * 2).sum().backward()
    except RuntimeError:
        return "raises", x.grad is not None
    return "runs", x.grad is not None


def test_01_4_what_runs_and_what_reaches_x():
    found = {name: has_gradient(name) for name in RESULTS}
    raises, runs = ("raises", False), ("runs", True)
    wanted = {"a": raises, "b": runs, "c": runs, "d": ("runs", False), "e": runs, "f": raises}
    assert found == wanted
    assert list(registry.find("01.4").truth()) == ["b", "c", "e"]


def test_01_5_the_old_program_gives_today_what_the_port_gives_but_for_its_log_and_its_graph():
    old = re.search(r"```python\n(.+?)```", source("01", "x5"), re.DOTALL)[1]
    names = {"torch": torch, "Variable": Variable}
    exec(old.replace("loss.data[0]", "loss.item()"), names)
    exec(registry.find("01.5").solution, names)
    found = {}
    for name in ("old", "answer"):
        w = torch.zeros(2, 1, requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            losses, guesses = names[name](w, *moons())
        found[name] = losses, guesses.tolist(), w.tolist()
        assert guesses.requires_grad == (name == "old")
    assert found["old"] == found["answer"]


def test_the_example_of_a_finder_of_old_names():
    outdated = run(registry.find("01.8").solution)
    source = "x = Variable(t)\nprint(x.data[0])  # a Variable"
    assert outdated(source) == [(1, "Variable"), (2, ".data")]
