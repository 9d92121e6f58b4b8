"""What the text of lesson 00 and its messages claim, run in torch.

Reads notebooks/ and the exercises only.
"""

import itertools
import re
import tomllib

import nbformat
import pytest
import torch
from said import NOTEBOOKS, said, source

from helpers import record, show
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons
from helpers.predicting.programs import outcome
from helpers.predicting.questions import question


def node_names(tensor):
    """Return the type names of the nodes behind `tensor`, walking back; a node met twice counts
    once.
    """
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.append(node)
            waiting += [below for below, _ in node.next_functions]
    return [type(node).__name__ for node in found]


def arrows(tensor):
    """Return each arrow behind `tensor` as the pair of nodes that it joins."""
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        below = [after for after, _ in node.next_functions if after is not None]
        found += [(node, after) for after in below]
        waiting += below
    return found


def leaf(value=2.0):
    return torch.tensor(value, requires_grad=True)


def saved(tensor):
    """Return what each node behind `tensor` keeps: its name and the values, sorted."""
    found, waiting = {}, [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
        found[type(node).__name__] = sorted(
            value.item() for value in values if isinstance(value, torch.Tensor)
        )
        waiting += [below for below, _ in node.next_functions if hasattr(below, "next_functions")]
    found.pop("AccumulateGrad", None)
    return found


def under_no_grad():
    with torch.no_grad():
        return leaf() * 2


def e_of(c=4.0):
    """Return the leaves of the lesson and its e = (a * b + c) ** 2."""
    a, b, c = leaf(2.0), leaf(3.0), leaf(c)
    return a, b, c, (a * b + c) ** 2


def test_a_card_is_the_grad_fn_of_a_result():
    text = said("00", "parts")
    assert "On the card sits the operation's *backward function*." in text
    assert "The result of the operation stores it as *`grad_fn`*." in text
    product = leaf() * leaf(3.0)
    result = (product + leaf(4.0)) ** 2
    cards = [name for name in node_names(result) if name != "AccumulateGrad"]
    assert cards[0] == type(result.grad_fn).__name__
    assert result.grad_fn.next_functions[0][0].next_functions[0][0] is product.grad_fn
    text = show(result).text
    assert len(cards) == 3
    assert all(name in text for name in cards)
    x = torch.ones(1, 1, requires_grad=True)
    layer = torch.nn.Linear(1, 1)  # two basic operations, and so two cards
    assert sorted(node_names(layer(x)))[-2:] == ["AddmmBackward0", "TBackward0"]


def test_the_square_kept_its_input_the_product_its_factors_and_nothing_the_product():
    assert "The product kept two numbers, and the square kept one. The addition kept none." in said(
        "00", "e1"
    )
    assert "Where is 6, the value of `a * b`? (Nowhere. No card kept it.)" in said(
        "00", "first-notes"
    )
    a, b, _, e = e_of()
    kept = saved(e)
    assert kept == {"PowBackward0": [10.0], "AddBackward0": [], "MulBackward0": [2.0, 3.0]}
    assert (a * b).item() not in [*itertools.chain(*kept.values())]


def test_what_each_card_does_in_backward():
    text = said("00", "cell-11")
    assert "**The square turns the 1 into 20, and the addition hands 20 to both sides.**" in text
    assert "60 arrives at `a`, and 40 at `b`" in text
    leaves_and_e = e_of()
    trace = record(leaves_and_e[-1])
    assert [one.grad.item() for one in leaves_and_e[:-1]] == [60.0, 40.0, 20.0]
    assert len(trace.steps) == 6
    assert "So all three gradients would change." in said("00", "q2-notes")
    *others, e = e_of(5.0)
    e.backward()
    assert [one.grad.item() for one in others] == [66.0, 44.0, 22.0]


def test_a_sum_keeps_no_number_a_product_does():
    assert "The slope of an addition is 1, so it keeps nothing." in said("00", "q4-because")
    assert (
        "The slope of a product by one factor is the other one, so the product keeps both."
        in said("00", "q4-because")
    )
    assert "How many circles has `a - b`, and how many has `a * 2`? (None, and one." in said(
        "00", "q4-notes"
    )
    assert (
        "The slope of an addition is 1, whatever the numbers are." in question("00.e1").told["good"]
    )
    a, b, c, _ = e_of()
    slopes = torch.autograd.grad(a * b, (a, b))
    assert [one.item() for one in slopes] == [b.item(), a.item()]
    assert "●" not in show(a + b + c).text
    assert "●" not in show(a - b).text
    assert show(a * 2).text.count("●") == 1
    assert [one.item() for one in torch.autograd.grad(a + b + c, (a, b, c))] == [1.0, 1.0, 1.0]


def test_some_operations_keep_more_than_they_need():
    assert "a few operations keep more than they need. `x**1` keeps `x`, although its slope" in (
        said("00", "q4-because")
    )
    x = leaf(2.0)
    assert "self" in show(x**1).text, "the slope of x**1 is 1, and x was kept all the same"
    assert show(x**1).text.count("●") == 1
    for value in (2.0, -3.0, 0.0):
        x = leaf(value)
        (x**1).backward()
        assert x.grad == 1


def test_each_use_of_a_tensor_is_an_arrow_and_a_second_name_is_none():
    assert "**Each use of a tensor is an arrow.**" in said("00", "d1-because")
    assert "How many arrows lead to `u` in `u * u`? (Two, from one card.)" in said("00", "d1-notes")
    u, v = leaf(5.0), leaf()
    for result, count in ((u * v + u, 2), (u * u, 2), (u + v, 1)):
        ends = [below for _, below in arrows(result) if getattr(below, "variable", None) is u]
        assert len(ends) == count
    assert "After `g = u` you have two names for one tensor, and nothing is written down." in said(
        "00", "d1-because"
    )
    g = u
    assert g is u
    assert g.grad_fn is None


def test_the_arrow_stands_at_backward_and_one_word_mends_the_case():
    assert "The arrow `---->` points at the line where PyTorch noticed." in said("00", "case-then")
    assert "repair the program with one word, and it will get 86 points right" in said(
        "00", "case-then"
    )
    lines, names = source("00", "case-run"), {"torch": torch, "moons": moons}
    with pytest.raises(
        RuntimeError, match=r"^element 0 of tensors does not require grad"
    ) as raised:
        exec(compile(lines, "cell", "exec"), names)
    at = [entry.lineno for entry in raised.traceback if str(entry.path).endswith("cell")]
    assert lines.split("\n")[at[0]].strip() == "loss.backward()"
    mended = lines.replace("(2, 1)", "(2, 1, requires_grad=True)").rpartition("\n")
    exec(mended[0], names)
    assert eval(mended[2], names) == 86
    assert len(moons()[0]) == 100


def test_loss_was_computed_and_has_no_card():
    text = said("00", "cell-33")
    assert "All the numbers were computed, and no operation left a card." in text
    assert "`loss.grad_fn` is None, so `backward()` has nowhere to begin." in text
    loss = (torch.tensor([1.0, 2.0, 3.0]) ** 2).sum()
    assert loss == 14
    assert loss.grad_fn is None
    assert "no graph" in show(loss).text
    assert "It silences the error, and `w.grad` stays None." in said("00", "q7-notes")
    w = torch.zeros(2)
    loss = (w + 1).sum()
    loss.requires_grad_().backward()
    assert w.grad is None


def test_a_plain_number_has_no_card():
    text = said("00", "f1-because")
    assert "`p.item()` returns a plain Python number, and plain numbers have no card." in text
    assert "Here `loss` and `r` have none, and `p` has one." in text
    lines = question("00.f1").shown["lines"]
    program, names = "\n".join(lines), {"torch": torch}
    exec("\n".join(lines[:6]), names)
    assert [names[name].grad_fn is None for name in ("loss", "r", "p")] == [True, True, False]
    assert not torch.is_tensor(names["q"])
    assert lines[3].startswith("q = p"), "the line after the one that made p"
    assert "does not require grad" in outcome(program).error
    flagged = program.replace("tensor(q)", "tensor(q, requires_grad=True)")
    assert "no error, and `a.grad` is None" in said("00", "f1-notes")
    assert outcome(flagged).words == "None\n(no error)"


def test_the_quiz_is_answered_by_lessons_and_asked_again():
    assert "the lessons answer them, and lesson 11 asks all four once more" in said("00", "cell-46")
    (path,) = NOTEBOOKS.glob("00*.ipynb")
    asked = [cell.metadata.get("course", {}) for cell in nbformat.read(path, as_version=4).cells]
    settled = {one["id"]: one["settled"] for one in asked if "settled" in one}
    assert settled == {"quiz.3": "02", "quiz.4": "03", "quiz.7": "07", "quiz.8": "06"}


def test_what_is_kept_is_sent_nowhere():
    assert "They are sent nowhere, and you may delete the file." in said("00", "cell-02")
    networks = re.compile(
        r"^\s*(?:import|from) (?:socket|ssl|http|urllib|requests|asyncio)\b", re.MULTILINE
    )
    sources = {
        path.name: path.read_text(encoding="utf-8")
        for package in ("autograd_graphs", "helpers")
        for path in (NOTEBOOKS.parent / package).rglob("*.py")
    }
    assert "progress_file.py" in sources
    assert not [name for name, source in sources.items() if networks.search(source)]


NO_GRAPH = {
    "plain": lambda: torch.ones(3).sum(),
    "no_grad": under_no_grad,
    "detached": lambda: (leaf() * 2).detach(),
    "compared": lambda: leaf() > 0,
}
"""Tensors that do not require grad, three of them made from one that does."""


@pytest.mark.parametrize("make", NO_GRAPH.values(), ids=list(NO_GRAPH))
def test_without_a_card_or_a_pill_backward_raises(make):
    text = said("00", "cell-45")
    assert "draw the loss, then what it was computed from, until you find a graph" in text
    assert "An operation on something that requires grad leaves a card." in text
    assert (leaf() + 1).grad_fn is not None
    made = make()
    text = show(made).text
    assert "no graph" in text
    assert "Backward0" not in text
    assert "AccumulateGrad" not in text
    assert not made.requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        made.backward()


def told(id, words):
    """Return the one message, hint or principle of an exercise that holds these words."""
    exercise = registry.find(id)
    texts = [exercise.principle, *(idea.message for idea in exercise.misconceptions)]
    places = exercise.quantities.places if exercise.quantities else ()
    texts += [name for place in places for name in place.known]
    (text,) = [text for text in texts if words in text]
    return text


def test_00_1_what_arrives_is_added_and_a_product_hands_back_the_other_factor():
    assert "the sum of all that arrives along its arrows" in told("00.1", "sum of all")
    assert "a product hands back the other factor" in told("00.1", "hands back")
    u, v = leaf(5.0), leaf(2.0)
    (u * v).backward()
    assert (u.grad, v.grad) == (v.detach(), u.detach())
    u.grad = None
    (u * v + u).backward()
    assert u.grad == v.detach() + 1


def test_00_2_what_the_derivative_is_computed_from_is_saved():
    assert "if its slope is computed from that value" in told("00.2", "if its slope")
    x, y = leaf(), leaf(3.0)
    product, power, total = x * y, x.exp(), x + y
    assert product.grad_fn._saved_self is not None
    assert product.grad_fn._saved_other is not None
    assert torch.equal(power.grad_fn._saved_result, power)
    assert not [name for name in dir(total.grad_fn) if name in ("_saved_self", "_saved_other")]


def test_00_4_without_no_grad_a_leaf_is_not_changed_in_place():
    assert "it does not let you change a leaf in place" in told("00.4", "protects")
    w = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        w -= 1


def test_forward_builds_a_graph_where_gradients_are_asked_for():
    terms = tomllib.loads((NOTEBOOKS.parent / "helpers/clinic/terms.toml").read_text("utf-8"))
    (forward,) = [one["says"] for one in terms["term"] if one["name"] == "forward"]
    assert "If somebody asked for gradients, these lines build the graph as they run" in forward
    assert (leaf() * 2).grad_fn is not None
    assert (torch.tensor(2.0) * 2).grad_fn is None
    assert under_no_grad().grad_fn is None


def test_the_example_of_a_search_for_a_lost_graph():
    assert 'lost_at({"h": h, "p": h.tolist(), "loss": loss}) # "p"' in said("00", "x7")
    lost_at = run(registry.find("00.7").solution)
    h = leaf() * torch.ones(2)
    results = {"h": h, "p": h.tolist(), "loss": torch.tensor(sum(h.tolist()))}
    assert lost_at(results) == "p"
    assert lost_at(results | {"loss": h.sum()}) is None
