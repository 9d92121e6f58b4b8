"""What the text of lesson 00 and its messages claim, run in torch.

Reads notebooks/ and the exercises only.
"""

import itertools
import re
import tomllib
import warnings

import nbformat
import pytest
import torch
from said import NOTEBOOKS, said

from helpers import record, show
from helpers.exercises import exercise as registry
from helpers.exercises.verdict import judge


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


def cell_source(lesson, id):
    """Return the source of a cell as it stands in the notebook."""
    (path,) = NOTEBOOKS.glob(f"{lesson}*.ipynb")
    return next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.id == id)


def under_no_grad():
    with torch.no_grad():
        return leaf() * 2


def e_of(c=4.0):
    """Return the leaves of the lesson and its e = (a * b + c) ** 2."""
    a, b, c = leaf(2.0), leaf(3.0), leaf(c)
    return a, b, c, (a * b + c) ** 2


def test_the_first_picture_is_that_of_the_line_it_names_without_what_is_kept():
    source = said("00", "first-graph")
    alt = re.search(r"!\[([^]]*)\]\(../figs/first_graph.svg\)", source)[1]
    picture = (NOTEBOOKS.parent / "figs" / "first_graph.svg").read_text(encoding="utf-8")
    assert f"<title>{alt}</title>" in picture
    w, x, b = leaf(2.0), leaf(0.5), leaf(1.0)
    names = [name for name in node_names(torch.sin(w * x) + b) if name != "AccumulateGrad"]
    assert names == [f"{word}Backward0" for word in ("Add", "Sin", "Mul")]
    words = re.sub(r"<[^>]+>", " ", picture).split()
    assert [words[at - 1] for at, word in enumerate(words) if word == "Backward0"] == [
        "Add",
        "Sin",
        "Mul",
    ]
    assert "saved" not in picture


def test_a_card_is_the_grad_fn_of_a_result():
    assert (
        "the *backward function* of one basic operation, and the *`grad_fn`* of its result"
        in said("00", "cell-06")
    )
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


def test_the_power_kept_its_input_the_product_its_factors_and_nothing_the_product():
    text = said("00", "cell-06")
    assert "the power kept its input, the product both factors." in text
    assert "the value of `a * b`: nothing kept it." in text
    a, b, _, e = e_of()
    kept = saved(e)
    assert kept == {"PowBackward0": [10.0], "AddBackward0": [], "MulBackward0": [2.0, 3.0]}
    assert (a * b).item() not in [*itertools.chain(*kept.values())]


def test_what_each_card_does_in_the_walk_back():
    text = said("00", "cell-11")
    assert "The power makes 20 of the 1: twice the 10 that it saved." in text
    assert "The addition hands 20 on to both sides, so 20 arrives at `c`." in text
    assert "60 for `a`, 40 for `b`" in text
    leaves_and_e = e_of()
    trace = record(leaves_and_e[-1])
    assert [one.grad.item() for one in leaves_and_e[:-1]] == [60.0, 40.0, 20.0]
    assert len(trace.steps) == 6


@pytest.mark.parametrize("c", [4.0, 5.0, -6.0])
def test_walk_is_what_backward_does_and_each_gradient_goes_through_the_power(c):
    assert said("00", "cell-09").endswith("walk(2.0, 3.0, 4.0), walk(2.0, 3.0, 5.0)")
    found = {}
    exec(cell_source("00", "cell-09"), found)
    *leaves, e = e_of(c)
    gradients = [one.item() for one in torch.autograd.grad(e, leaves)]
    assert list(found["walk"](2.0, 3.0, c)) == gradients
    slope = 2 * (2.0 * 3.0 + c)
    assert gradients == [slope * 3.0, slope * 2.0, slope]
    assert "*Which of the three gradients depend on `a`?* All" in said("00", "cell-12")
    moved = found["walk"](2.5, 3.0, c)
    assert not [one for one, other in zip(moved, gradients, strict=True) if one == other]


def test_a_sum_keeps_no_number_a_product_does():
    text = said("00", "q4-because")
    assert "a plain sum of single numbers hands on what arrives, and keeps no tensor." in text
    assert "the difference has no circle, the product has one" in said("00", "q4-notes")
    a, b, c, _ = e_of()
    assert "●" not in show(a + b + c).text
    assert "●" not in show(a - b).text
    assert show(a * 2).text.count("●") == 1
    assert [one.item() for one in torch.autograd.grad(a + b + c, (a, b, c))] == [1.0, 1.0, 1.0]
    not_plain = torch.add(a, b, alpha=2)  # torch's addition can multiply, too
    assert torch.autograd.grad(not_plain, b)[0] == 2
    row = torch.ones(2, requires_grad=True)  # not single: three ones arrive for each number
    assert torch.autograd.grad((row + torch.ones(3, 2)).sum(), row)[0].tolist() == [3, 3]


def test_backward_frees_what_was_saved_and_leaves_cards_and_arrows():
    text = said("00", "cell-15")
    assert "The cards and arrows are still there; what these cards had saved was freed." in text
    assert "only the saved tensors were let go of" in text
    assert "so by default `backward()` lets go of them on its way." in text
    *_, e = e_of()
    power = e.grad_fn
    before = node_names(e)
    lead = arrows(e)
    assert "all five still lead where they did" in text
    assert len(lead) == 5
    assert show(e).text.count("●") == 3
    e.backward()
    assert e.grad_fn is power
    assert node_names(e) == before
    assert arrows(e) == lead
    assert (show(e).text.count("●"), show(e).text.count("○")) == (0, 3)
    *_, other = e_of()
    other.backward(retain_graph=True)
    assert show(other).text.count("●") == 3


def test_pytorch_says_that_the_graph_is_freed():
    assert (
        "The page on `Tensor.backward` (PyTorch 2.13) says that *the graph used to compute the"
        " grads will be freed*" in said("00", "cell-15")
    )
    assert "the graph used to compute the grads will be freed" in " ".join(
        torch.Tensor.backward.__doc__.split()
    )


def test_the_arrow_stands_at_the_call_of_backward():
    assert "(c) the third: `backward()` is called there" in said("00", "cell-28")
    assert "the squares and their sum could be computed" in said("00", "cell-31")
    lines = cell_source("00", "cell-30").split("\n")
    with pytest.raises(
        RuntimeError, match=r"^element 0 of tensors does not require grad"
    ) as raised:
        exec(compile("\n".join(lines), "cell", "exec"), {"torch": torch})
    at = [entry.lineno + 1 for entry in raised.traceback if str(entry.path).endswith("cell")]
    assert at == [3]
    assert lines[2] == "loss.backward()"


def test_loss_was_computed_and_has_no_card():
    text = said("00", "cell-33")
    assert "The numbers were computed all the same." in text
    assert (
        "`loss.grad_fn` is None, and `loss` asks for no gradient itself, so `backward()` has nowhere"
        " to start." in text
    )
    loss = (torch.tensor([1.0, 2.0, 3.0]) ** 2).sum()
    assert loss == 14
    assert loss.grad_fn is None
    assert not loss.requires_grad
    assert "no graph" in show(loss).text
    alone = leaf()  # without a grad_fn either, and there backward() starts
    assert alone.grad_fn is None
    alone.backward()


def test_printing_rounds_and_a_long_sum_depends_on_the_order():
    text = said("00", "cell-23")
    assert "A printed tensor shows 0.2000, as printing rounds." in text
    assert "A GPU may add a long sum in another order, and round it differently." in text
    assert "0.2000" in str(torch.tensor([6.0, 0.2]))
    numbers = torch.tensor([1e8, 1.0, -1e8])
    assert (numbers[0] + numbers[1]) + numbers[2] != (numbers[0] + numbers[2]) + numbers[1]


def test_the_quiz_names_the_lessons_that_settle_it():
    assert (
        "Lessons 01 to 04 settle 1 to 6, lesson 07 settles 7, lesson 06 settles 8, and lesson 11"
        " asks all eight once more." in said("00", "cell-46")
    )
    (path,) = NOTEBOOKS.glob("00*.ipynb")
    asked = [cell.metadata.get("course", {}) for cell in nbformat.read(path, as_version=4).cells]
    settled = {one["id"]: one["settled"] for one in asked if "settled" in one}
    assert list(settled) == [f"quiz.{number}" for number in range(1, 9)]
    assert list(settled.values()) == ["01", "02", "02", "03", "03", "04", "07", "06"]


def test_what_is_kept_is_sent_nowhere():
    assert "They are sent nowhere, and deleting the file is harmless." in said("00", "cell-02")
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


DEVICES = {torch.device("cpu"), torch.accelerator.current_accelerator(check_available=True)}


@pytest.mark.parametrize("device", sorted(map(str, DEVICES - {None})))
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_small_whole_numbers_are_exact_and_others_are_not(device, dtype):
    text = said("00", "cell-23")
    assert "the gradient of each number is its double, and this doubling rounds nothing." in text
    assert (
        "Small whole numbers are exact in `float32`; 0.1 is not, so neither is its double." in text
    )
    assert "The gradient lives where its leaf lives." in text
    x = torch.tensor([1.0, 2.0, 3.0, 0.1], dtype=dtype, device=device, requires_grad=True)
    (x**2).sum().backward()
    assert x.grad.tolist()[:3] == [2.0, 4.0, 6.0]
    assert x.grad.device == x.device
    whole = torch.arange(2**12, dtype=torch.float32, device=device)
    assert whole.tolist() == list(range(2**12))
    assert torch.equal(x.grad, 2 * x)  # a double is not rounded
    if dtype is torch.float32:
        assert x[3].item() != 0.1
        assert x.grad[3].item() == 0.20000000298023224


NO_GRAPH = {
    "plain": lambda: torch.ones(3).sum(),
    "no_grad": under_no_grad,
    "detached": lambda: (leaf() * 2).detach(),
    "compared": lambda: leaf() > 0,
}
"""Tensors that do not require grad, three of them made from one that does."""


@pytest.mark.parametrize("make", NO_GRAPH.values(), ids=list(NO_GRAPH))
def test_no_card_and_no_pill_means_that_backward_raises(make):
    assert "| no card, no pill | no graph | requires no grad: `backward()` raises |" in said(
        "00", "cell-45"
    )
    made = make()
    text = show(made).text
    assert "no graph" in text
    assert "Backward0" not in text
    assert "AccumulateGrad" not in text
    assert not made.requires_grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        made.backward()


def test_a_leaf_alone_has_a_pill_and_no_card_and_backward_works():
    text = said("00", "cell-35")
    assert "`backward()` needs a card to start at, or a leaf whose own flag is up." in text
    assert "`x`, a leaf, has its flag up, and that is enough." in text
    assert "two things that `k` lacks: the flag `requires_grad` *and* a `grad_fn`" in text
    k = torch.tensor(7.0)
    assert (k.requires_grad, k.grad_fn) == (False, None)
    x = leaf()
    text = show(x).text
    assert "AccumulateGrad (leaf x" in text
    assert "Backward0" not in text
    x.backward()
    assert x.grad == 1
    with torch.no_grad():
        view = x.view(1)  # shows the flag of x, and its own is down
    assert (view.is_leaf, view.requires_grad) == (True, True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        view.backward()
    view.requires_grad_().backward()
    assert view.grad == 1


def test_00_3_a_loss_that_is_asked_was_a_leaf_before():
    (message,) = [
        idea.message
        for idea in registry.find("00.3").misconceptions
        if "returns None" in idea.message
    ]
    assert "A flag that is set on loss afterwards makes none." in message
    assert "Is x a leaf with the flag, and not the result of an operation?" in message
    result = torch.tensor([1.0, 2.0], requires_grad=True) * 1.0
    (result**2).sum().backward()
    assert not result.is_leaf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert result.grad is None
    x = torch.tensor([1.0, 2.0])
    loss = (x**2).sum()
    assert loss.is_leaf
    loss.requires_grad_()
    assert loss.is_leaf
    loss.backward()
    assert x.grad is None


def told(id, words):
    """Return the one message, hint or principle of an exercise that holds these words."""
    exercise = registry.find(id)
    texts = [exercise.principle, *(idea.message for idea in exercise.misconceptions)]
    (text,) = [text for text in texts if words in text]
    return text


def test_00_1_what_arrives_is_added_and_a_product_hands_back_the_other_factor():
    assert "the sum of all that arrives along its arrows" in told("00.1", "sum of all")
    assert "What a product hands back to a factor is the other factor" in told("00.1", "hands back")
    u, v = leaf(5.0), leaf(2.0)
    (u * v).backward()
    assert (u.grad, v.grad) == (v.detach(), u.detach())
    u.grad = None
    (u * v + u).backward()
    assert u.grad == v.detach() + 1


def test_00_2_what_the_derivative_is_computed_from_is_saved():
    assert "where its derivative is computed from that value" in told("00.2", "derivative")
    x, y = leaf(), leaf(3.0)
    product, power, total = x * y, x.exp(), x + y
    assert product.grad_fn._saved_self is not None
    assert product.grad_fn._saved_other is not None
    assert torch.equal(power.grad_fn._saved_result, power)
    assert not [name for name in dir(total.grad_fn) if name in ("_saved_self", "_saved_other")]


def test_00_3_backward_begins_by_itself_only_at_a_single_number():
    assert "It can begin by itself only at a single one." in told("00.3", "at once")
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * 2).backward()
    (x[:1] * 2).backward()
    (x * 2).backward(torch.ones(3))
    assert x.grad.tolist() == [4.0, 2.0, 2.0]


ASKED = "def answer(values):\n    x = torch.tensor(values, requires_grad=True)\n"
WITHOUT_A_GRAPH = {
    "nothing asks": "def answer(values):\n    x = torch.tensor(values)\n    loss = (x**2).sum()\n",
    "nothing recorded": f"{ASKED}    with torch.no_grad():\n        loss = (x**2).sum()\n",
    "cut off": f"{ASKED}    loss = (x**2).sum().detach()\n",
}


@pytest.mark.parametrize("begins", WITHOUT_A_GRAPH.values(), ids=list(WITHOUT_A_GRAPH))
def test_00_3_the_same_error_has_three_causes(begins):
    message = told("00.3", "the same RuntimeError")
    assert (
        "Either nothing that asks for a gradient went into it, or nothing was recorded, or the"
        " graph was cut off later." in message
    )
    given = {"torch": torch}
    exec(begins + "    loss.backward()\n    return x.grad", given)
    assert message in judge(registry.find("00.3"), given["answer"]).text


def test_00_3_the_gradient_is_zero_only_where_x_is():
    assert "zero only where x is" in told("00.3", "You returned zeros.")
    assert leaf_gradient([0.0, -0.5, 1e-3]).eq(0).tolist() == [True, False, False]


def test_00_3_nothing_is_recorded_where_no_input_asks():
    assert "where no input asks for a gradient nothing is" in told(
        "00.3", "walks what was recorded"
    )
    assert (torch.ones(2) ** 2).grad_fn is None
    with pytest.raises(TypeError, match=r"\*\* or pow\(\): 'list'"):
        pow([1.0], 2)


HONEST = {
    "backward": lambda v: leaf_gradient(v),
    "torch.func.grad": lambda v: torch.func.grad(lambda x: (x * x).sum())(torch.tensor(v)),
    "forward mode": lambda v: torch.func.jacfwd(lambda x: (x * x).sum())(torch.tensor(v)),
}


def leaf_gradient(values):
    x = torch.tensor(values, requires_grad=True)
    (x**2).sum().backward()
    return x.grad


@pytest.mark.parametrize("answer", HONEST.values(), ids=list(HONEST))
def test_00_3_whatever_of_autograd_computed_it_is_right_also_when_it_is_kept(answer):
    exercise, kept = registry.find("00.3"), {}

    def keeping(values):
        return kept.setdefault(tuple(values), answer(values))

    assert [judge(exercise, keeping).kind for _ in range(2)] == ["right", "right"]


def test_00_3_a_formula_is_found_out():
    assert (
        "autograd computed nothing"
        in judge(registry.find("00.3"), lambda v: [2 * x for x in v]).text
    )


def test_forward_builds_a_graph_where_gradients_are_asked_for():
    terms = tomllib.loads((NOTEBOOKS.parent / "helpers/clinic/terms.toml").read_text("utf-8"))
    (forward,) = [one["says"] for one in terms["term"] if one["name"] == "forward"]
    assert "where gradients are asked for, they build the graph on the way" in forward
    assert (leaf() * 2).grad_fn is not None
    assert (torch.tensor(2.0) * 2).grad_fn is None
    assert under_no_grad().grad_fn is None
