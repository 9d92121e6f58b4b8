"""What lesson 05 says in its prose and its exercises, run in plain torch."""

import json
import re

import pytest
import torch
from said import NOTEBOOKS, said
from torch.autograd import gradcheck
from torch.autograd.functional import jacobian, jvp

from helpers import check
from helpers.clinic.catalogue import book
from helpers.exercises import exercise as registry
from helpers.predicting.questions import question

PULLED_BACK, STARTS, DIVISION, ROWS = registry.exercises("05")


def implicit(shape, dtype):
    """Return what `backward()` without a gradient does at an output of this shape and dtype."""
    output = 2 * torch.ones(shape, dtype=dtype, requires_grad=True)
    try:
        output.backward()
    except RuntimeError as error:
        return "real scalar" if "real scalar outputs" in str(error) else "scalar"
    return "runs"


def test_torch_puts_in_a_1_for_one_real_element_of_any_shape():
    assert "torch puts in the 1 for one real element, of any shape;" in said("05", "cell-23")
    assert "|torch, for one real element. Else you.|" in said("05", "cell-51")
    reals = (torch.float16, torch.float32, torch.float64)
    assert {implicit(shape, dtype) for shape in ((), (1,), (1, 1)) for dtype in reals} == {"runs"}
    assert {implicit(shape, torch.complex64) for shape in ((), (1,), (1, 1))} == {"real scalar"}
    assert {implicit(shape, torch.float32) for shape in ((2,), (1, 2), (0,))} == {"scalar"}


def test_the_texts_of_05_2_say_so_too():
    texts = [STARTS.right, *STARTS.hints, *(idea.message for idea in STARTS.misconceptions)]
    assert not [
        text for text in texts if "a single number only" in text or "only where one number" in text
    ]
    assert sum("one real element" in text for text in texts) == 2
    assert "one real element needs nothing handed in" in STARTS.right


def walks(batched):
    """Return how many walks from three outputs pass the last node."""
    x, met = torch.tensor([1.0, 2.0], requires_grad=True), []
    y = three(x)
    y.grad_fn.register_hook(lambda *gradients: met.append(1))
    if batched:
        torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    else:
        [torch.autograd.grad(y, x, v, retain_graph=True) for v in torch.eye(3)]
    return len(met)


def test_j_takes_a_walk_for_each_row_and_a_batched_call_one():
    assert "J takes a walk for each row." in said("05", "cell-30")
    assert "sends all three `v` along in one walk" in said("05", "cell-30")
    assert (walks(batched=False), walks(batched=True)) == (3, 1)


def test_a_second_walk_needs_the_saved_tensors_once_more():
    assert "A walk frees saved tensors: ask for `retain_graph=True`" in said("05", "cell-49")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = three(x)
    torch.autograd.grad(y, x, torch.eye(3)[0])
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(y, x, torch.eye(3)[1])


def in_memory(batched):
    """Return the shape that a gradient of a batched walk of three has in memory."""
    return torch._remove_batch_dim(batched, 1, 3, 0).shape


def test_each_node_of_a_batched_walk_is_called_once_with_three_gradients():
    assert "Each gradient on the way is three times as large" in said("05", "q9-notes")
    x, called, sizes = torch.tensor([1.0, 2.0], requires_grad=True), [], []
    s = torch.sin(x)
    y = three(s)
    s.register_hook(lambda gradient: sizes.append(in_memory(gradient)))
    for node in (y.grad_fn, s.grad_fn):
        node.register_hook(lambda *gradients, node=node: called.append(node))
    (rows,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    assert called == [y.grad_fn, s.grad_fn]
    assert sizes == [(3, *s.shape)]
    assert torch.equal(rows, jacobian(lambda x: three(torch.sin(x)), x))


def test_no_cell_uses_autograd_grad_before_idea_4_introduces_it():
    (path,) = NOTEBOOKS.glob("05*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    ids = [cell["id"] for cell in cells]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert "## 4 · `backward()` or `autograd.grad`?" in said("05", "cell-32")
    before = cells[: ids.index("cell-32")]
    assert not [
        cell["id"]
        for cell in before
        if cell["cell_type"] == "code" and "autograd.grad" in "".join(cell["source"])
    ]
    assert not [source for source in sources if "retain_graph" in source]
    assert "`retain_graph=True` (lesson 07)" in said("05", "cell-49")


def test_grad_leaves_the_grad_of_leaves_alone_and_not_that_of_who_retains():
    assert "the `.grad` of each leaf stays as it was" in said("05", "cell-34")
    x, other = (torch.ones(2, requires_grad=True) for _ in range(2))
    x.grad = torch.tensor([7.0, 7.0])
    middle = x * other
    middle.retain_grad()
    torch.autograd.grad(middle.sum(), (x, other))
    assert x.grad.tolist() == [7, 7]
    assert other.grad is None
    assert middle.grad.tolist() == [1, 1]


def test_grad_runs_the_nodes_on_its_way_and_frees_what_they_saved_alone():
    assert "Nodes on the way to what you ask for work as in `backward()`; others do not run." in (
        said("05", "cell-34")
    )
    assert "free what the nodes on its way had saved, and no others" in said("05", "q7-notes")
    x, z, ran = *(torch.tensor(2.0, requires_grad=True) for _ in range(2)), []
    p, q = x.exp(), z.exp()
    p.grad_fn.register_hook(lambda *_: ran.append("p"))
    q.grad_fn.register_hook(lambda *_: ran.append("q"))
    torch.autograd.grad(p + q, x)
    assert ran == ["p"]
    q.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        p.backward()


def test_backward_leaves_what_option_a_says_of_grad():
    assert "- (a) 30 and 5" in said("05", "cell-32")
    assert "`(5 * m).backward()` leaves 30 and 5" in said("05", "cell-34")
    x = torch.tensor(3.0, requires_grad=True)
    m = x**2
    m.retain_grad()
    (5 * m).backward()
    assert (x.grad, m.grad) == (30, 5)


def test_gradcheck_takes_its_quotients_from_both_sides():
    assert "compares vjps with such quotients, taken from `x - h` to `x + h`" in said(
        "05", "cell-41"
    )
    x, tried = torch.tensor([2.0], dtype=torch.float64, requires_grad=True), []
    assert gradcheck(lambda x: (tried.append(x.item()), x**3)[1], x)
    assert {round((value - 2) * 1e6) for value in tried} == {-1, 0, 1}


def three(x):
    """The function of idea 5: three numbers of two."""
    return torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])


OPERATIONS = {
    "square": lambda x: x**2,
    "sine": torch.sin,
    "running sums": lambda x: x.cumsum(0),
    "softmax": lambda x: x.softmax(0),
    "turned round": lambda x: x.flip(0),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_node_of_an_operation_returns_v_times_j(name):
    assert "The node of an operation returns what arrives times its derivative" in said(
        "05", "q1-because"
    )
    v, x = torch.tensor([1.0, 10.0, -3.0]), torch.tensor([2.0, 3.0, 0.5], requires_grad=True)
    returned = OPERATIONS[name](x).grad_fn(v)
    assert torch.allclose(returned, v @ jacobian(OPERATIONS[name], x))


def test_the_texts_speak_of_real_numbers():
    assert "The derivatives of all elements, real numbers here, make a matrix" in said(
        "05", "q1-because"
    )
    x = torch.tensor([2 + 3j], requires_grad=True)
    one = torch.ones(1, dtype=x.dtype)
    assert torch.equal((x**2).grad_fn(one), (2 * x).conj())


def gradient(function, at):
    x = torch.tensor(at, requires_grad=True)
    function(x).sum().backward()
    return x.grad


def test_x_grad_is_the_gradient_of_the_sum_and_looks_like_dy_dx_for_squares():
    assert "is the gradient of one number, here `y.sum()`, and not the matrix dy/dx" in said(
        "05", "cell-07"
    )
    assert "For `x**2` the matrix is diagonal, and `x.grad` looks like dy/dx" in said(
        "05", "cell-07"
    )
    ones = torch.ones(3)
    rows = jacobian(OPERATIONS["running sums"], ones)
    assert torch.equal(gradient(OPERATIONS["running sums"], [1.0, 1.0, 1.0]), ones @ rows)
    assert not torch.equal(ones @ rows, rows.diagonal())
    rows = jacobian(lambda x: x**2, torch.tensor([2.0, 3.0]))
    assert torch.equal(rows, rows.diagonal().diag())
    assert gradient(lambda x: x**2, [2.0, 3.0]).tolist() == rows.diagonal().tolist() == [4, 6]
    assert OPERATIONS["running sums"](ones).tolist() == [1, 2, 3], "what (c) names"
    assert "Each running sum has slope 1 in each of its terms" in said("05", "cell-07")
    sums = jacobian(OPERATIONS["running sums"], ones)
    assert torch.equal(sums, torch.ones(3, 3).tril())
    assert sums[:, 0].tolist() == [1, 1, 1], "x[0] is a term of all three"


def test_the_note_of_the_running_sums_asks_what_runs_and_comes():
    note = said("05", "cell-08")
    assert "(`[111., 110., 100.]`: what was handed in, times the matrix." in note
    assert "With the `x` of the run" in note
    names = {"torch": torch, "jacobian": jacobian}
    exec("\n".join(source("cell-06").splitlines()[:2]), names)
    (asked,) = re.findall(r"`(torch\.autograd\.grad\(.*?\]\)\))`", note)
    (came,) = eval(asked, names)
    sums = jacobian(lambda x: x.cumsum(0), torch.ones(3))
    assert came.tolist() == [111, 110, 100]
    assert torch.equal(came, torch.tensor([1.0, 10.0, 100.0]) @ sums)


def source(cell):
    """Return the source of a cell of lesson 05 as it stands."""
    (path,) = NOTEBOOKS.glob("05*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return next("".join(one["source"]) for one in cells if one["id"] == cell)


def test_the_two_numbers_may_be_handed_in_twice():
    names, came = {"torch": torch}, []
    exec("\n".join(source("cell-24").splitlines()[:-1]), names)
    for _ in range(2):
        exec(source("cell-25"), names)
        came.append(names["x"].grad.tolist())
    assert came == [[1, 30, 2]] * 2


def test_what_one_tries_after_the_running_sums():
    assert "x**3 at [2., 5.]. # Then for x**2 + 3 at 1.0. Where does the 3 show?" in said(
        "05", "q2-try"
    )
    assert str(gradient(lambda x: x**3, [2.0, 5.0])) == "tensor([12., 75.])"
    assert str(gradient(lambda x: x**2 + 3, 1.0)) == "tensor(2.)"
    assert gradient(lambda x: x**2, 1.0) == gradient(lambda x: x**2 + 3, 1.0), "nowhere"


def test_sine_and_square_use_the_one_tensor_that_each_saved():
    assert "each used the one tensor that it had saved" in said("05", "cell-13")
    assert "sin(2) = 0.9093, cos(2) = −0.4161" in said("05", "cell-09")
    x = torch.tensor(2.0, requires_grad=True)
    s = torch.sin(x)
    y = s**2
    assert [round(one.item(), 4) for one in (s, torch.cos(x))] == [0.9093, -0.4161]
    for node, kept in ((y.grad_fn, s), (s.grad_fn, x)):
        names = [name for name in dir(node) if name.startswith("_saved_")]
        tensors = [one for name in names if torch.is_tensor(one := getattr(node, name))]
        assert len(tensors) == 1
        assert torch.equal(tensors[0], kept)
    y.backward()
    assert "the slope of sin(x)**2 is sin(2 * x)" in said("05", "cell-10")
    assert x.grad.item() == pytest.approx(torch.sin(2 * x).item()) == pytest.approx(-0.756802)


def test_the_slope_vanishes_where_the_sine_or_the_cosine_does():
    assert "Where the sine or the cosine does." in said("05", "cell-14")
    at = torch.linspace(-7, 7, 10_001, dtype=torch.float64, requires_grad=True)
    (slopes,) = torch.autograd.grad((torch.sin(at) ** 2).sum(), at)
    nearest = torch.minimum(torch.sin(at).abs(), torch.cos(at).abs())
    assert ((slopes.abs() < 1e-3) == (nearest < 5e-4)).all()


def test_a_node_called_by_hand_is_recorded():
    assert "a node that is called by hand is recorded like any calculation" in said(
        "05", "q1-notes"
    )
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    returned = (x**2).grad_fn(torch.zeros(2))
    assert returned.tolist() == [0, 0], "linear in what arrives"
    assert returned.grad_fn is not None


def test_what_the_second_square_on_paper_takes():
    assert "36 is the value of `p + q`" in said("05", "cell-18")
    assert 3**2 + 3**3 == 36


def turns_of_the_leaf(build):
    """Return x.grad, and how often it is the turn of the node of the leaf x = 3."""
    x, turns = torch.tensor(3.0, requires_grad=True), []
    y = build(x)
    torch.autograd.graph.get_gradient_edge(x).node.register_hook(lambda *_: turns.append(1))
    y.backward()
    return x.grad.item(), len(turns)


def test_where_paths_meet_gradients_are_added_and_the_leaf_has_one_turn():
    assert "The leaf's turn came once, when both gradients were there" in said("05", "cell-18")
    assert turns_of_the_leaf(lambda x: x**2 + x**3) == (33, 1)
    assert turns_of_the_leaf(lambda x: 2 * x + 3 * x) == (5, 1)
    assert turns_of_the_leaf(lambda x: x**2 * x**3) == (405, 1)
    assert gradient(lambda x: x**2 * x**3, 5.0) == 3125


def test_a_product_hands_each_factor_what_arrived_times_the_other():
    assert "A product of two numbers hands each of them what arrived, times the other one." in (
        said("05", "lab-because")
    )
    s, wide = torch.tensor(5.0, requires_grad=True), torch.ones(3)
    assert torch.autograd.grad(s * wide, s, wide)[0] == 3, "of other shapes a sum is handed on"
    p, q = (torch.tensor(value, requires_grad=True) for value in (25.0, 125.0))
    assert (p * q).grad_fn(torch.tensor(1.0)) == (125, 25)
    assert (p * q).grad_fn(torch.tensor(-5.0)) == (-5 * 125, -5 * 25)


def test_two_paths_can_cancel():
    assert "15 and −2, for instance: 15 · 10 − 2 · 75 = 0" in said("05", "lab-because")
    x = torch.tensor(5.0, requires_grad=True)
    (15 * x**2 - 2 * x**3).backward()
    assert x.grad is not None
    assert x.grad == 0


def test_ones_are_for_the_sum_and_halves_for_the_mean():
    assert "Ones would be right for the sum, halves for the mean" in said("05", "cell-23")
    for reduce, v in ((torch.sum, [1.0, 1.0]), (torch.mean, [0.5, 0.5])):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (wanted,) = torch.autograd.grad(reduce(x**2), x)
        assert torch.equal(torch.autograd.grad(x**2, x, torch.tensor(v))[0], wanted)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 2), (2, 1), (2, 2)], ids=str)
def test_v_is_neither_cut_nor_stretched(shape):
    assert "torch cuts nothing here, and stretches nothing" in said("05", "cell-26")
    y = torch.ones(2, 3) @ torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        y.backward(torch.ones(shape))
    y.backward(torch.ones_like(y))


def test_an_element_that_is_taken_first_and_used_counts():
    assert "Had `y` been computed from `first`, it would count" in said("05", "cell-36")
    assert "`grad` returns that 0 only with `materialize_grads=True`" in said("05", "cell-36")
    assert "`allow_unused=True` turns the error into `None`" in said("05", "cell-36")
    x = torch.ones(3, requires_grad=True)
    first = x[0]
    assert torch.autograd.grad(first**2, first) == (2,)
    (unused,) = torch.autograd.grad((x**2).sum(), x[0], allow_unused=True)
    assert unused is None
    (zero,) = torch.autograd.grad((x**2).sum(), x[0], materialize_grads=True)
    assert zero == 0


def test_any_v_gives_v_times_j_and_a_column_takes_forward_mode():
    assert "picks one output, and v·J is then one row of J" in said("05", "cell-30")
    assert "That takes another kind of walk, forward mode" in said("05", "cell-30")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    rows = jacobian(three, x)
    for v in (*torch.eye(3), torch.ones(3), torch.tensor([5.0, -7.0, 0.5])):
        assert torch.allclose(torch.autograd.grad(three(x), x, v)[0], v @ rows)
    assert torch.equal(jvp(three, x, torch.eye(2)[1])[1], rows[:, 1])


def off(h):
    return abs(((2 + h) ** 3 - 2**3) / h - 12)


def test_the_bend_costs_6_h_and_rounding_more_with_a_smaller_step():
    assert "The bend puts the quotient off by about 6·h" in said("05", "cell-41")
    assert "At 1e-16, `2 + h` *is* 2 in float64: the quotient is 0, off by 12" in said(
        "05", "cell-41"
    )
    for h in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
        assert off(h) == pytest.approx(6 * h, rel=0.02)
    steps = [10.0**-k for k in range(1, 17)]
    assert min(steps, key=off) == 1e-8
    assert off(1e-14) > 100 * off(1e-11) > 100 * off(1e-8)
    assert 2 + 1e-16 == 2
    assert off(1e-16) == 12


def test_what_the_notes_ask_of_quotients_is_so():
    assert "In float32 `gradcheck` fails even for the square" in said("05", "cell-42")
    assert "Its step: too small for float32." in said("05", "cell-42")
    assert "Its step suits float64." in said("05", "cell-41")
    assert "|Neither large nor tiny, and float64.|" in said("05", "cell-51")
    single = torch.tensor([2.0, 5.0], requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision"):
        assert not gradcheck(torch.square, single, raise_exception=False)
    with pytest.warns(UserWarning, match="not a double precision"):
        assert gradcheck(torch.square, single, eps=1e-2, atol=1e-2), "the step was at fault"
    central = abs(((2 + 0.1) ** 3 - (2 - 0.1) ** 3) / 0.2 - 12)
    assert central < off(0.1) / 10, "the bend is what becomes smaller"


def test_gradcheck_catches_the_square_that_hides_a_factor():
    assert "a square that hides one factor from autograd" in said("05", "cell-41")
    assert "Its gradient is `x`, not `2 * x`." in said("05", "cell-42")
    x = torch.tensor([2.0, 5.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(torch.square, x)
    with pytest.raises(RuntimeError, match=r"(?s)numerical:.*4[.]0.*analytical:.*2[.]"):
        gradcheck(lambda x: x * x.detach(), x)
    assert torch.equal(torch.autograd.grad((x * x.detach()).sum(), x)[0], x)


def test_the_engine_of_05_3_is_caught_by_a_quotient():
    assert "A check like that of idea 6 would have caught it" in said("05", "cell-47")
    a, b, h = 3.0, 2.0, 1e-6
    for_b = (a / (b + h) - a / b) / h
    assert abs(1 / a - for_b) > 1
    assert -a / b**2 == pytest.approx(for_b, rel=1e-5)


def entry(name):
    return next(term.says for term in book().terms if term.name == name)


def test_the_glossary_says_what_lesson_05_shows():
    assert "the product of the derivatives of its steps; over several paths" in entry("chain rule")
    x = torch.tensor(3.0, requires_grad=True)
    torch.sin(x**2).backward()
    assert x.grad.item() == pytest.approx((torch.cos(x**2) * 2 * x).item())
    assert turns_of_the_leaf(lambda x: x**2 + x**3)[0] == 6 + 27
    assert "a check on a gradient, with an error of its own" in entry("finite differences")
    assert min(off(10.0**-k) for k in range(1, 17)) > 0
    assert "adds to their `.grad`" in entry("`backward()`")
    (2 * x).backward()
    assert x.grad.item() == pytest.approx((torch.cos(x**2) * 2 * x).item() + 2)


def test_a_node_of_an_operation_needs_no_room_for_the_table_of_derivatives():
    assert "What the node of an operation computes" in entry("vector-Jacobian product")
    assert "without writing that table down" in entry("vector-Jacobian product")
    x = torch.ones(1_000_000, requires_grad=True)  # the table of these would take 4 terabytes
    for made in (x**2, x.cumsum(0), torch.sin(x), x.softmax(0)):
        assert made.grad_fn(torch.ones_like(x)).shape == x.shape


def shown(tensor):
    return str(tensor.detach()).removeprefix("tensor(").removesuffix(")")


RIGHT_OPTIONS = {  # what the option begins with
    "05.q1": (
        "cell-03",
        lambda: shown(gradient(lambda x: x**2, [2.0, 3.0]) * torch.tensor([1, 10])),
    ),
    "05.q2": ("q2", lambda: shown(gradient(OPERATIONS["running sums"], [1.0, 1.0, 1.0]))),
    "05.q10": ("cell-38", lambda: str(min((10.0**-k for k in range(1, 17)), key=off))),
}


@pytest.mark.parametrize("name", RIGHT_OPTIONS)
def test_the_right_option_says_what_comes_and_no_other_does(name):
    cell, computed = RIGHT_OPTIONS[name]
    options = re.findall(r"- \(([a-c])\) (.*?)(?= - \(|$)", said("05", cell).replace("`", ""))
    value = computed().replace(" ", "").replace("1e-08", "1e-8")
    assert [letter for letter, words in options if value in words.replace(" ", "")] == [
        question(name).right
    ]


def verdict_of(code, capsys):
    namespace = {"torch": torch}
    exec(code, namespace)
    check("05.4", namespace["answer"])
    return " ".join(capsys.readouterr().out.split())


J = "torch.autograd.functional.jacobian"
BY_JACOBIAN = {
    "itself": f"answer = {J}",
    "inside": f"answer = lambda f, x: {J}(f, x)",
    "under another name": f"rows = {J}\ndef answer(f, x):\n    return rows(f, x)",
    "asked for by text": "answer = lambda f, x: getattr(torch.autograd.functional, 'jaco' + 'bian')(f, x)",
    "vectorized": f"answer = lambda f, x: {J}(f, x, vectorize=True)",
    "forward": f"answer = lambda f, x: {J}(f, x, vectorize=True, strategy='forward-mode')",
    "of a function around f": f"answer = lambda f, x: {J}(lambda t: f(t), x).clone()",
    "transposed": f"answer = lambda f, x: {J}(f, x).T",
}
LOOP = "[torch.autograd.grad(y, x, v, retain_graph=True)[0] for v in torch.eye(len(y))]"
CHANGES = {
    "to zero": "x.data.zero_()",
    "a step forward": "x.data += 1",
    "its shape": "x.data = x.data[None]",
}
RIGHT = {
    "a loop": f"def answer(f, x):\n    y = f(x)\n    return torch.stack({LOOP})",
    "backward and a new .grad": "def answer(f, x):\n    rows = []\n    for v in torch.eye(len(f(x))):\n"
    "        x.grad = None\n        f(x).backward(v)\n        rows.append(x.grad)\n    return torch.stack(rows)",
    "rows in a list": f"def answer(f, x):\n    y = f(x)\n    return {LOOP}",
    "vjp": "def answer(f, x):\n    n = len(f(x))\n"
    "    return torch.stack([torch.autograd.functional.vjp(f, x, v)[1] for v in torch.eye(n)])",
    "batched": "def answer(f, x):\n    y = f(x)\n"
    "    return torch.autograd.grad(y, x, torch.eye(len(y)), is_grads_batched=True)[0]",
    "jacrev": "answer = lambda f, x: torch.func.jacrev(f)(x)",
}


@pytest.mark.parametrize("answer", BY_JACOBIAN)
def test_jacobian_is_known_by_any_name(answer, capsys):
    assert verdict_of(BY_JACOBIAN[answer], capsys) == f"05.4 ✗ {ROWS.misconceptions[0].message}"


@pytest.mark.parametrize("answer", CHANGES)
def test_who_changes_x_is_told_so(answer, capsys):
    code = f"def answer(f, x):\n    y = f(x)\n    rows = {LOOP}\n    {CHANGES[answer]}\n    return torch.stack(rows)"
    assert verdict_of(code, capsys) == f"05.4 ✗ {ROWS.misconceptions[1].message}"


@pytest.mark.parametrize("answer", RIGHT)
def test_rows_pass_in_any_style(answer, capsys):
    assert verdict_of(RIGHT[answer], capsys) == f"05.4 ✓ {ROWS.right}"


def test_the_principles_of_05_say_what_nodes_and_walks_return():
    assert "a node multiplies what arrives by its derivative" in PULLED_BACK.principle
    assert "what arrives, times the derivative with respect to that input" in DIVISION.principle
    assert "a walk that starts at the output with `v` returns `v` times the Jacobian" in (
        ROWS.principle
    )
    v, a, b = torch.tensor([1.0, -3.0]), torch.tensor([6.0, 5.0]), torch.tensor([2.0, -4.0])
    a.requires_grad_()
    square = (a**2).grad_fn(v)
    assert torch.allclose(square, v * 2 * a)
    step = 1e-3
    for_a, for_b = DIVISION.truth()(v, a, b)
    assert torch.allclose(for_a, v * ((a + step) / b - (a - step) / b) / (2 * step), rtol=1e-2)
    assert torch.allclose(for_b, v * (a / (b + step) - a / (b - step)) / (2 * step), rtol=1e-2)
    for case in ROWS.reader.cases:
        f, x = case()
        y = f(x)
        v = torch.arange(1.0, len(y) + 1)
        rows = torch.autograd.functional.jacobian(f, x)
        assert torch.allclose(torch.autograd.grad(y, x, v)[0], v @ rows)


def test_the_truth_of_05_4_is_the_jacobian_of_torch():
    for case in ROWS.reader.cases:
        f, x = case()
        rows = torch.autograd.functional.jacobian(f, x)
        assert torch.equal(ROWS.truth()(f, x), rows)


def test_a_vector_of_the_wrong_size_is_not_called_one_hot(capsys):
    told = verdict_of(
        "answer = lambda f, x: torch.autograd.grad(f(x), x, torch.ones_like(x))[0]", capsys
    )
    assert told.startswith("05.4 ✗ What you hand in does not have the shape of the output")
