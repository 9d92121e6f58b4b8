"""What the text of lesson 01 and its messages claim, run in torch.

Reads notebooks/ and the exercises only.
"""

import re
import warnings

import pytest
import torch
from said import NOTEBOOKS, message, said, source
from torch.autograd import Variable

from helpers import show, snapshot
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.exercises.verdict import judge
from helpers.moons import moons
from helpers.predicting.programs import outcome
from helpers.predicting.questions import question


def leaf(*values):
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


def silenced(code, names):
    """Run code without warnings; return what its last line gives."""
    *lines, last = code.split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile("\n".join(lines), "cell", "exec"), names)
        return eval(last, names)


# The case


def test_the_case_stops_at_its_log_and_one_change_takes_it_to_86_with_a_warning_alone():
    text, code = said("01", "case-then"), source("01", "case-run")
    assert "the program runs to its end and gets 86 points right" in text
    names = {"torch": torch, "Variable": Variable, "moons": moons, "print": lambda *words: None}
    with pytest.raises(
        IndexError, match=r"invalid index of a 0-dim .*Use `tensor.item\(\)`"
    ) as found:
        exec(compile(code, "cell", "exec"), names)
    at = [entry.lineno for entry in found.traceback if str(entry.path).endswith("cell")]
    assert code.split("\n")[at[0]].strip() == "print(loss.data[0])"
    mended = code.replace("loss.data[0]", "loss.item()")
    assert silenced(mended, names) == 86
    assert "Three old words are left: `Variable`, `.data` and `volatile`." in text
    assert "None of them raises an error" in text
    assert "`tensor.item()`, so for us `loss.item()`" in text
    assert all(word in mended for word in ("Variable(", ".data", "volatile"))


def test_mm_is_the_product_that_we_write_as_an_at():
    assert "`mm` is the product that we write as `@`" in said("01", "case")
    points, w = moons()[0], torch.ones(2, 1)
    assert torch.equal(points.mm(w), points @ w)
    assert "Today a loss has no dimension to index" in said("01", "case-then")
    assert ((points @ w) ** 2).mean().dim() == 0


# Idea 1


EVERY_TENSOR = {
    "plain": torch.ones(2),
    "integers": torch.tensor([1, 2]),
    "bools": torch.tensor([True]),
    "leaf": leaf(1.0, 2.0),
    "computed": leaf(1.0, 2.0) * 2,
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "sparse": torch.eye(2).to_sparse(),
    "meta": torch.ones(2, device="meta"),
}


@pytest.mark.parametrize("tensor", EVERY_TENSOR.values(), ids=list(EVERY_TENSOR))
def test_every_tensor_counts_as_a_variable_and_variable_returns_a_new_plain_tensor(tensor):
    assert "calling it gives you a new, plain tensor" in said("01", "v2t-07")
    assert "gives you a new, plain tensor on the same memory." in said("01", "v2t-50")
    assert isinstance(tensor, Variable)
    made = Variable(tensor)
    assert type(made) is torch.Tensor
    assert made is not tensor
    assert (made.requires_grad, made.grad_fn) == (False, None)
    if not tensor.is_sparse:
        assert made.data_ptr() == tensor.data_ptr()


def test_variable_takes_tensors_only_and_its_metaclass_answers_for_it():
    assert "Give it a list, and it raises a TypeError" in said("01", "v2t-07")
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1.0])
    assert "`isinstance(t, Variable)` only asks whether `t` is a tensor" in said("01", "v2t-07")
    assert not any(isinstance(other, Variable) for other in (1.0, [1.0], None))
    assert "the class has a metaclass, and it answers instead" in said("01", "v2t-08")
    assert "__instancecheck__" in vars(type(Variable))


def test_the_timeline_has_one_class_from_april_2018_on():
    assert "at April 2018: there the box disappears" in said("01", "v2t-03")
    figure = (NOTEBOOKS.parent / "figs/timeline.svg").read_text(encoding="utf-8")
    assert "April 2018" in figure


# Idea 2


def test_of_the_wrappers_in_the_program_one_alone_does_harm():
    assert "so the wrapper of `x` cuts nothing off" in said("01", "f1-because")
    program = "\n".join(question("01.f1").shown["lines"])
    assert outcome(program).words == "None\n(no error)"
    todays = {
        "Variable(torch.tensor([1.0, 2.0]))": "torch.tensor([1.0, 2.0])",
        "Variable(torch.tensor(0.5), req": "torch.tensor(0.5, req",
    }
    for old, new in todays.items():
        assert old in program
        assert outcome(program.replace(old, new)).words == "None\n(no error)"
    today = program.replace("Variable(torch.tanh(x * u))", "torch.tanh(x * u)")
    assert outcome(today).words.startswith("tensor(")


def test_a_wrapped_result_is_cut_off_and_the_result_is_not():
    assert "returns a new tensor without a card. The result itself keeps its card.**" in said(
        "01", "f1-because"
    )
    assert "a tensor without a card" in said("01", "v2t-50")
    u, v = leaf(3.0), leaf(2.0)
    p = u**2
    assert Variable(p).grad_fn is None
    assert p.grad_fn is not None
    (Variable(p) * v).backward()
    assert (u.grad, v.grad) == (None, 9)
    assert "(You would get the error of lesson 00.)" in said("01", "f1-notes")
    with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require grad"):
        Variable(p).backward()


def test_a_wrapped_leaf_is_cut_off_too_and_the_picture_lacks_it():
    text = said("01", "f1-notes")
    assert "`Variable(u)` around the weight itself cuts `u` off, too." in said("01", "f1-because")
    u, v = leaf(3.0), leaf(2.0)
    assert not Variable(u).requires_grad
    assert "Draw the loss: which leaf is missing?" in text
    for loss in (Variable(u) * v, Variable(u * 5) * v):
        assert "leaf v" in show(loss).text
        assert "leaf u" not in show(loss).text
    assert "leaf u" in show(u * v).text


# Idea 3


def test_data_and_variable_share_the_memory_and_the_flag_stays():
    text = said("01", "q10-because")
    assert "**`.data` and `Variable(…)` return new tensors on the same memory.**" in text
    assert "Only `w` asks for a gradient, and it still does." in text
    start = torch.tensor(3.0)
    w = Variable(start, requires_grad=True)
    d = w.data
    assert d.data_ptr() == w.data_ptr() == start.data_ptr()
    assert len({id(one) for one in (start, w, d)}) == 3
    d -= 1
    assert (start.item(), w.item()) == (2, 2)
    assert [one.requires_grad for one in (start, w, d)] == [False, True, False]
    assert question("01.q10").right == (2, 2)
    assert "How would you protect `start`? (With `start.clone()`.)" in said("01", "q10-notes")
    w = Variable(start.clone(), requires_grad=True)
    w.data -= 1
    assert (start.item(), w.item()) == (2, 1)


def test_an_edit_through_data_is_not_noticed_and_can_spoil_a_gradient():
    assert "Lesson 09 shows a gradient that is wrong because of one, without an error." in said(
        "01", "q10-because"
    )
    assert "Lesson 09 shows what an unnoticed edit can spoil." in message("01.5", "did not notice")
    x = leaf(1.0, 2.0, 3.0)
    loss = (x**2).sum()
    x.data += 1
    loss.backward()
    assert x.grad.tolist() == [4.0, 6.0, 8.0]  # at 1, 2, 3 it is 2, 4, 6
    assert x._version == 0


def test_an_update_is_refused_while_recording_and_runs_under_no_grad():
    text = said("01", "e1-because")
    assert "**An update must not be recorded: write it under `torch.no_grad()`.**" in text
    assert "In the block nothing is recorded, and `w` stays the leaf that it was." in text
    w = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w -= 1
    assert (w - 1).grad_fn is not None
    with torch.no_grad():
        assert (w - 1).grad_fn is None
        w -= 1
    assert (w.tolist(), w.requires_grad, w.is_leaf, w.grad_fn) == ([0.0, 1.0], True, True, None)
    assert "The next `backward()` then leaves nothing in `w.grad`." in text
    assert "leaves nothing in `w.grad`" in question("01.e1").told["points"][1]
    w.grad = torch.ones(2)
    w = w - w.grad
    w.sum().backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert w.grad is None


def test_a_step_size_that_is_learned_needs_the_update_recorded():
    assert "if you want to learn the step size itself, the update has to be recorded" in said(
        "01", "e1-because"
    )
    w, rate = leaf(3.0), leaf(0.1)
    (slope,) = torch.autograd.grad(w**2, w)
    ((w - rate * slope) ** 2).backward()
    assert round(rate.grad.item(), 3) == -28.8  # 2 · 2.4 · (-6)
    with torch.no_grad():
        new = w - rate * slope
    assert new.grad_fn is None


# Idea 4


def test_volatile_warns_does_nothing_and_raises_next_to_a_flag():
    text = said("01", "d1-because")
    assert "**`volatile` has no effect today: write `with torch.no_grad():` instead.**" in text
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        t = Variable(torch.tensor(2.0), volatile=True)
    product = leaf(3.0) * t
    assert product.grad_fn is not None
    (saved,) = [one for node in snapshot(product).operations for one in node.saved]
    assert saved.state == "held"
    with torch.no_grad():
        assert (leaf(3.0) * t).grad_fn is None
    assert "next to `requires_grad=True`, the word `volatile` raises a ValueError" in text
    with (
        pytest.warns(UserWarning, match="volatile was removed"),
        pytest.raises(ValueError, match="can't be volatile"),
    ):
        Variable(leaf(1.0), volatile=True, requires_grad=True)
    assert "`python -W error`" in said("01", "d1-notes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="volatile"):
            Variable(torch.tensor(2.0), volatile=True)


def test_each_order_was_run_and_the_port_does_what_the_old_step_does():
    assert "A step takes `w` from 3 to 2.4." in said("01", "o1")
    old = ("w.data -= 0.1 * w.grad.data", "w.grad.data.zero_()")
    assert all(f"`{line}`" in said("01", "o1-because") for line in old)
    lines = ("loss = w * w", "loss.backward()", *old)
    names = {"w": leaf(3.0)}
    exec("\n".join(lines), names)
    w = names["w"]
    assert (round(w.item(), 4), w.grad.item(), w.requires_grad) == (2.4, 0, True)
    told = question("01.o1").told
    good = [letters for letters, number in told["of"].items() if told["outcomes"][number]["isGood"]]
    assert good == ["abcd"]
    assert len(told["of"]) == 325


def test_a_wrapped_update_is_a_new_tensor_and_a_forgotten_zero_is_silent():
    assert "which asks for no gradient: the next `backward()` finds no graph" in said(
        "01", "o1-because"
    )
    assert "(The first: the next step raises. The second runs, and trains badly.)" in said(
        "01", "o1-notes"
    )
    w = leaf(3.0)
    new = Variable(w - 1)
    assert (new.requires_grad, w.item()) == (False, 3)
    with pytest.raises(RuntimeError, match="does not require grad"):
        (new * new).backward()
    (w * w).backward()
    (w * w).backward()
    assert w.grad == 12


def test_a_gradient_of_none_is_not_a_gradient_of_zeros():
    assert "Lesson 06 shows the difference." in said("01", "o1-because")
    ends = []
    for gradient in (torch.zeros(1), None):
        w = torch.tensor([1.0], requires_grad=True)
        w.grad = gradient
        torch.optim.SGD([w], lr=0.2, weight_decay=0.5).step()
        ends.append(round(w.item(), 4))
    assert ends == [0.9, 1.0]


# Exercises


def gradient(w, *factors):
    """Return w.grad of the product of these functions of w."""
    w = leaf(w)
    first, second = (factor(w) for factor in factors)
    (first * second).backward()
    return w.grad.item()


NAMED = {
    75: ("both factors if nothing is wrapped", lambda w: w**2, lambda w: w),
    50: ("through `y` alone", lambda w: w**2, torch.Tensor.detach),
    10: ("the gradient of `y`", lambda w: w**2, lambda w: 1.0),
}


@pytest.mark.parametrize("number", NAMED)
def test_01_1_a_wrong_number_is_what_it_is_called(number):
    words, *factors = NAMED[number]
    assert words in judge(registry.find("01.1"), number).text
    assert gradient(5.0, *factors) == number
    assert gradient(5.0, lambda w: Variable(w**2), lambda w: w) == 25
    assert "the value of `z`" in judge(registry.find("01.1"), 5.0**2 * 5.0).text


def test_01_1_the_hint_draws_one_arrow_from_z_to_w_and_a_cut_tensor_counts_as_a_number():
    assert "Which arrow leads from `z` to `w`?" in registry.find("01.1").hints[0]
    w = leaf(5.0)
    z = Variable(w**2) * w
    (below,) = [node for node, _ in z.grad_fn.next_functions if node is not None]
    assert below.variable is w
    assert "counts as a plain number" in registry.find("01.1").principle
    assert gradient(5.0, lambda w: 25.0, lambda w: w) == 25


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
    result = RESULTS[name](x, x * 2)
    drawn = "leaf x " in show(result).text
    try:
        result.sum().backward()
    except RuntimeError:
        return "raises", x.grad is not None, drawn
    return "runs", x.grad is not None, drawn


def test_01_4_what_runs_and_what_reaches_x_and_the_leaf_in_the_picture_tells():
    assert "(If the call raises, `x.grad` stays None. `detach()` returns the values" in said(
        "01", "v2t-46"
    )
    found = {name: has_gradient(name) for name in RESULTS}
    raises, runs = ("raises", False, False), ("runs", True, True)
    assert found == {
        "a": raises,
        "b": runs,
        "c": runs,
        "d": ("runs", False, False),
        "e": runs,
        "f": raises,
    }
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
    assert "That is what `volatile` was for." in message("01.5", "have a graph behind them")


def test_01_5_a_new_tensor_has_no_gradient_yet_and_under_no_grad_asks_for_none():
    assert "gives the name `w` to a new tensor, which has no gradient yet" in message(
        "01.5", "None stood"
    )
    assert "such as `w - …` gives under `no_grad`" in message("01.5", "had no graph")
    w = leaf(1.0)
    w.backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert (w - 0.1 * w.grad).grad is None
    with torch.no_grad():
        new = w - 0.1 * w.grad
    assert (new.grad, new.requires_grad) == (None, False)
    assert "A tensor that has a `grad_fn` keeps its graph alive." in message(
        "01.5", "no plain float"
    )


def test_the_example_of_a_finder_of_old_names():
    assert 'outdated(source) # [(1, "Variable"), (2, ".data")]' in " ".join(
        said("01", "x8").split()
    )
    outdated = run(registry.find("01.8").solution)
    source = "x = Variable(t)\nprint(x.data[0])  # a Variable"
    assert outdated(source) == [(1, "Variable"), (2, ".data")]
    assert outdated("torch.utils.data.DataLoader(metadata)") == []
