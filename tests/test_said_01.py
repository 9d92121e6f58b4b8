"""What the text of lesson 01 and its messages claim beyond its own cells, run in torch."""

import re
import warnings
from functools import partial

import pytest
import torch
from said import source, stands
from torch.autograd import Variable

from helpers import show
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons

says = partial(stands, "01")


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
    says("case-then", "the program runs to its end and gets 86 points right")
    says("case-then", "None of them raises an error", "`tensor.item()`, so for us `loss.item()`")
    code = source("01", "case-run")
    names = {"torch": torch, "Variable": Variable, "moons": moons, "print": lambda *words: None}
    with pytest.raises(IndexError, match=r"invalid index of a 0-dim .*Use `tensor.item\(\)`"):
        exec(code, names)
    mended = code.replace("loss.data[0]", "loss.item()")
    assert silenced(mended, names) == 86
    assert all(word in mended for word in ("Variable(", ".data", "volatile"))
    says("case", "`mm` is the product that we write as `@`")
    points, w = moons()[0], torch.ones(2, 1)
    assert torch.equal(points.mm(w), points @ w)


# Idea 1


def test_every_tensor_counts_as_a_variable_and_variable_returns_a_new_plain_tensor():
    says("v2t-07", "calling it gives you a new, plain tensor")
    says("v2t-50", "gives you a new, plain tensor on the same memory.")
    for tensor in (torch.tensor([True]), leaf(1.0), leaf(1.0) * 2, torch.nn.Parameter(leaf(1.0))):
        assert isinstance(tensor, Variable)
        made = Variable(tensor)
        assert type(made) is torch.Tensor
        assert made is not tensor
        assert (made.requires_grad, made.grad_fn) == (False, None)
        assert made.data_ptr() == tensor.data_ptr()


def test_variable_takes_tensors_only_and_its_metaclass_answers_for_it():
    says("v2t-07", "Give it a list, and it raises a TypeError", "only asks whether `t` is a tensor")
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1.0])
    assert not any(isinstance(other, Variable) for other in (1.0, [1.0], None))
    says("v2t-08", "the class has a metaclass, and it answers instead")
    assert "__instancecheck__" in vars(type(Variable))


# Idea 2


def test_a_wrapped_tensor_is_cut_off_and_the_picture_lacks_its_leaf():
    says("f1-because", "The result itself keeps its card.**", "around the weight itself cuts `u`")
    says("Variable", "returns a plain tensor that is cut off from the graph")
    u, v = leaf(3.0), leaf(2.0)
    p = u**2
    (Variable(p) * v).backward()
    assert p.grad_fn is not None
    assert (u.grad, v.grad) == (None, 9)
    says("f1-notes", "(You would get the error of lesson 00.)", "which leaf is missing?")
    with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad"):
        Variable(p).backward()
    for loss in (Variable(u) * v, Variable(u * 5) * v):
        assert "leaf v" in show(loss).text
        assert "leaf u" not in show(loss).text
    assert "leaf u" in show(u * v).text


# Idea 3


def test_a_clone_protects_the_start():
    says("q10-because", "`.data` and `Variable(…)` return new tensors on the same memory.")
    says("q10-notes", "(With `start.clone()`.)")
    start = torch.tensor(3.0)
    w = Variable(start.clone(), requires_grad=True)
    w.data -= 1
    assert (start.item(), w.item()) == (3, 2)


def test_a_recorded_update_leaves_nothing_in_grad_and_teaches_the_step_size():
    says("e1-because", "and `w` stays the leaf that it was")
    says("e1-because", "The next `backward()` then leaves nothing in `w.grad`.")
    w = leaf(1.0, 2.0)
    w.grad = torch.ones(2)
    with torch.no_grad():
        w -= w.grad
    assert (w.tolist(), w.requires_grad, w.is_leaf, w.grad_fn) == ([0.0, 1.0], True, True, None)
    w = w - w.grad
    w.sum().backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert w.grad is None
    says("e1-because", "learn the step size itself, the update has to be recorded")
    w, rate = leaf(3.0), leaf(0.1)
    (slope,) = torch.autograd.grad(w**2, w)
    ((w - rate * slope) ** 2).backward()
    assert round(rate.grad.item(), 3) == -28.8  # 2 · 2.4 · (-6)


# Idea 4


def test_volatile_raises_next_to_a_flag_and_where_warnings_are_errors():
    says("d1-because", "next to `requires_grad=True`, the word `volatile` raises a ValueError")
    with (
        pytest.warns(UserWarning, match="volatile was removed"),
        pytest.raises(ValueError, match="can't be volatile"),
    ):
        Variable(leaf(1.0), volatile=True, requires_grad=True)
    says("d1-notes", "`python -W error`")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="volatile"):
            Variable(torch.tensor(2.0), volatile=True)


def test_the_port_does_what_the_old_step_does_and_each_mistake_does_what_the_notes_say():
    says("o1", "A step takes `w` from 3 to 2.4.")
    says("o1-because", "asks for no gradient: the next `backward()` finds no graph")
    says("o1-notes", "(The first: the next step raises. The second runs, and trains badly.)")
    old = ("w.data -= 0.1 * w.grad.data", "w.grad.data.zero_()")
    says("o1-because", *old)
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
    says("v2t-46", "(If the call raises, `x.grad` stays None.")
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
    says("01.5", "That is what `volatile` was for.")


def test_the_example_of_a_finder_of_old_names():
    says("x8", 'outdated(source) # [(1, "Variable"), (2, ".data")]')
    outdated = run(registry.find("01.8").solution)
    source = "x = Variable(t)\nprint(x.data[0])  # a Variable"
    assert outdated(source) == [(1, "Variable"), (2, ".data")]
