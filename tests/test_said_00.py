"""What lesson 00 claims beyond its own cells, run in torch."""

import re

import pytest
import torch
from said import NOTEBOOKS, source

from helpers import show
from helpers.exercises import exercise as registry
from helpers.exercises.programs import run
from helpers.moons import moons


def leaf(value=2.0):
    return torch.tensor(value, requires_grad=True)


def node_names(tensor):
    """Return the type names of the nodes behind `tensor`; a node met twice counts once."""
    found, waiting = [], [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.append(node)
            waiting += [below for below, _ in node.next_functions]
    return [type(node).__name__ for node in found]


def under_no_grad():
    with torch.no_grad():
        return leaf() * 2


def test_a_card_is_the_grad_fn_of_a_result():
    product = leaf() * leaf(3.0)
    result = (product + leaf(4.0)) ** 2
    cards = [name for name in node_names(result) if name != "AccumulateGrad"]
    assert cards[0] == type(result.grad_fn).__name__
    assert result.grad_fn.next_functions[0][0].next_functions[0][0] is product.grad_fn
    assert len(cards) == 3
    assert all(name in show(result).text for name in cards)


def test_another_c_changes_all_three_gradients():
    leaves = a, b, c = leaf(2.0), leaf(3.0), leaf(5.0)
    ((a * b + c) ** 2).backward()
    assert [one.grad.item() for one in leaves] == [66.0, 44.0, 22.0]  # with a c of 4: 60, 40, 20


def test_a_card_keeps_what_its_slope_needs_and_a_few_keep_more():
    a, b = leaf(2.0), leaf(3.0)
    assert [one.item() for one in torch.autograd.grad(a * b, (a, b))] == [3, 2]
    assert [one.item() for one in torch.autograd.grad(a + b, (a, b))] == [1, 1]
    assert torch.autograd.grad(torch.add(1.0, a, alpha=3), a)[0] == 3, "and so it is said of +"
    results = a * b, a + b, a - b, a * 2, a**1, a.exp()
    assert [show(one).text.count("●") for one in results] == [2, 0, 0, 1, 1, 1]
    assert torch.autograd.grad(a**1, a)[0] == 1


def test_each_use_of_a_tensor_is_an_arrow_and_what_arrives_is_added():
    u, v = leaf(5.0), leaf()
    square = (u * u).grad_fn.next_functions
    assert [node.variable is u for node, _ in square] == [True, True]
    (u * v + u).backward()
    assert (u.grad, v.grad) == (2 + 1, 5)
    nodes = [node for node, _ in (u * (u > 0)).grad_fn.next_functions]
    assert [node is None for node in nodes] == [False, True], "the comparison was not recorded"


def test_the_line_that_lost_the_graph_is_the_next_one_that_uses_it():
    p = leaf() * 2
    k = torch.tensor(3.0)
    q = torch.tensor(p.item())
    has_graph = [one.grad_fn is not None for one in (p, k, q, q * k)]
    assert has_graph == [True, False, False, False], "k stands after p, and lost nothing"


def test_the_arrow_stands_at_backward_and_one_word_mends_the_case():
    lines, names = source("00", "case-run"), {"torch": torch, "moons": moons}
    with pytest.raises(RuntimeError, match=r"^element 0 of tensors does not require") as raised:
        exec(compile(lines, "cell", "exec"), names)
    at = [entry.lineno for entry in raised.traceback if str(entry.path).endswith("cell")]
    assert lines.split("\n")[at[0]].strip() == "loss.backward()"
    mended = lines.replace("(2, 1)", "(2, 1, requires_grad=True)").rpartition("\n")
    exec(mended[0], names)
    assert eval(mended[2], names) == 86


def test_what_is_kept_is_sent_nowhere():
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


def test_without_a_card_or_a_pill_backward_raises():
    assert (leaf() + 1).grad_fn is not None
    plain, detached = torch.ones(3).sum(), (leaf() * 2).detach()
    for made in (plain, detached, under_no_grad(), leaf() > 0, leaf().argmax()):
        assert "no graph" in show(made).text
        with pytest.raises(RuntimeError, match="does not require grad"):
            made.backward()
    flagged = source("00", "case-run").replace(
        "loss.backward()", "loss.requires_grad_().backward()"
    )
    with pytest.raises(TypeError, match="'Tensor' and 'NoneType'"):
        exec(flagged, {"torch": torch, "moons": moons})


def test_the_example_of_a_search_for_a_lost_graph():
    lost_at = run(registry.find("00.7").solution)
    h = leaf() * torch.ones(2)
    assert lost_at({"h": h, "p": h.tolist(), "loss": torch.tensor(sum(h.tolist()))}) == "p"
