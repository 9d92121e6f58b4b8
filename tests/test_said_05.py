"""What lesson 05 says in its prose and its exercises, run in plain torch."""

import pytest
import torch
from said import said
from torch.autograd import gradcheck

from helpers import check
from helpers.exercises import exercise as registry

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
    assert "For one real element, of any shape, torch creates it" in said("05", "cell-23")
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
    y = torch.stack([x[0] * x[1], x[0] ** 2, 3 * x[1]])
    y.grad_fn.register_hook(lambda *gradients: met.append(1))
    if batched:
        torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    else:
        [torch.autograd.grad(y, x, v, retain_graph=True) for v in torch.eye(3)]
    return len(met)


def test_a_loop_takes_one_walk_for_each_output():
    assert "A loop like this takes one walk for each *output*" in said("05", "cell-30")
    assert walks(batched=False) == 3
    assert walks(batched=True) == 1  # so the lesson speaks of the loop


def test_grad_leaves_the_grad_of_leaves_alone_and_not_that_of_who_retains():
    assert "leaves the `.grad` of every leaf as it was" in said("05", "cell-34")
    x, other = (torch.ones(2, requires_grad=True) for _ in range(2))
    x.grad = torch.tensor([7.0, 7.0])
    middle = x * other
    middle.retain_grad()
    torch.autograd.grad(middle.sum(), (x, other))
    assert x.grad.tolist() == [7, 7]
    assert other.grad is None
    assert middle.grad.tolist() == [1, 1]


def test_gradcheck_takes_its_quotients_from_both_sides():
    assert "compares vjps with such quotients, taken from `x - h` to `x + h`" in said(
        "05", "cell-41"
    )
    x, tried = torch.tensor([2.0], dtype=torch.float64, requires_grad=True), []
    assert gradcheck(lambda x: (tried.append(x.item()), x**3)[1], x)
    assert {round((value - 2) * 1e6) for value in tried} == {-1, 0, 1}


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
