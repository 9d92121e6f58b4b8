"""How the gradient of each input is made: told for every operation of the table, in forms that give
what torch handed on, and for no other.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import operations
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import often, programs
from torchgen.packaged.autograd.load_derivatives import load_derivatives

from autograd_graphs.looking.torch_formulas import formulas
from autograd_graphs.recording import local_derivatives
from autograd_graphs.recording.record import record
from autograd_graphs.recording.sentences import fallback, sentence

pytestmark = pytest.mark.slow

NAMES = "abcde"
LINES = 130  # characters of a sentence


@cache
def recorded(case):
    """Run and record a case from a gradient of unequal numbers."""
    inputs = case.inputs()
    torch.manual_seed(1)
    result = case.run(*inputs)
    gradient = torch.randn(result.shape).to(result.dtype)
    return record(result, gradient=gradient, names=dict(zip(NAMES, inputs, strict=False)))


def handed_on(trace):
    """Return (node, step, position, local) of all that a trace hands on."""
    return [
        (trace.graph.nodes[step.node], step, position, local)
        for step in trace.steps
        if not step.leaf
        for position, local in enumerate(step.locals)
        if step.grad_inputs[position] is not None
    ]


@pytest.mark.parametrize("case", operations.RULED, ids=lambda case: f"{case.name} {case.shapes}")
def test_every_input_has_a_form_that_gives_what_was_handed_on(case):
    found = handed_on(recorded(case))
    assert found
    for node, step, position, local in found:
        assert is_known(local), f"{node.operation} has no form for input {position}"
        assert "{" not in local.factor_text() + local.form_text() + local.numbers
        assert (local.sign == "") == (local.symbol == "")
        if local.sign == "×":
            arrived, handed = step.grad_outputs[0].values, step.grad_inputs[position].values
            if all(isinstance(number, float) for number in (arrived, local.value.values, handed)):
                assert handed == pytest.approx(arrived * local.value.values, rel=1e-3)


AS_PYTHON = {"²": "**2", "³": "**3", "ᵀ": ".mT", "·": "*", "×": "*", "^": "**"}
WORDS = ("sin", "cos", "exp", "sigmoid", "sign")


def test_what_is_written_in_arithmetic_is_what_torch_computes():
    computed = set()
    for case in operations.RULED:
        result = case.run(*case.inputs())
        node, arrived = result.grad_fn, torch.randn(result.shape).to(result.dtype)
        saved = {one[7:]: getattr(node, one) for one in dir(node) if one.startswith("_saved_")}
        result.backward(arrived)
        for position, local in enumerate(recorded(case).steps[0].locals):
            text = local.form_text({name: name for name in saved}) if local else ""
            found = from_text(text, saved | {"g": arrived})
            if found is not None:
                handed = node.next_functions[position][0].variable.grad
                torch.testing.assert_close(found.to(handed.dtype), handed, rtol=1e-3, atol=1e-3)
                computed.add(text)
    assert len(computed) > 40, "the others say in words what is done"


def from_text(text, names):
    """Return what a form gives, read as Python; None where it is in words."""
    for sign, python in AS_PYTHON.items():
        text = text.replace(sign, python)
    names |= {word: getattr(torch, word) for word in WORDS}
    names["log"] = lambda one: torch.as_tensor(one).log()
    if "dim" in names:  # -1 comes as an unsigned number
        names["sum"] = lambda one: one.sum(names["dim"] % 2**64 % 2 - 2, keepdim=True)
    try:
        return torch.as_tensor(eval(text, names))
    except (SyntaxError, NameError):
        return None


def is_known(local):
    return local is not None and not local.is_refuted


def local_of(result, position=0, **names):
    """Return the local derivative of one input of the operation that made a result."""
    return record(result, gradient=torch.ones_like(result), names=names).steps[0].locals[position]


def test_a_square_is_told_as_in_a_book():
    a, b, c = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
    local = local_of((a * b + c) ** 2, a=a, b=b, c=c)
    assert (local.sign, local.symbol) == ("×", "2 · {self}")
    assert local.factor_text() == "2 · 10"
    assert local.factor_text({"self": "a*b + c"}) == "2 · (a*b + c)"
    assert local.form_text({"self": "a*b + c"}) == "g × 2 · (a*b + c)"
    assert local.numbers == "2·10"
    assert local.value.values == 20.0


def test_sums_and_views_say_what_becomes_of_the_product():
    x = torch.ones(2, 3, requires_grad=True)
    assert local_of(x.sum()).form_text() == "g, spread over all 6 elements"
    assert local_of(x.sum(1)).after == "spread over dim 1"
    assert local_of(x.mean()).factor_text() == "1 / 6"
    assert local_of(x.view(6)).form_text() == "g, reshaped to (2, 3)"
    assert local_of(x.clone()).is_unchanged
    b = torch.ones(3, requires_grad=True)
    assert local_of(x * b, 1, x=x, b=b).form_text().startswith("g × x, summed over dim 0")


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.expand(20_000),
        lambda x: (x + 1j) * (2 + 3j),
        lambda x: x.expand(2, 2).to_sparse() * 2,
        lambda x: x.to("meta") * 2,
        lambda x: torch.nested.nested_tensor([x.detach()]).requires_grad_() * 2,
        lambda x: (x * float("nan")).exp(),
        lambda x: x.expand(0, 2, 1).sum(0),
        lambda x: x.half() * 3,
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_odd_tensors_do_no_harm(make):
    recorded = outcome(make, lambda result, gradient: record(result, gradient=gradient))
    assert recorded == outcome(make, torch.autograd.backward)


def outcome(make, go):
    """Go backward from an odd tensor; return the gradient, or torch's error."""
    x = torch.ones(1, requires_grad=True)
    result = make(x)
    try:
        go(result, torch.ones_like(result.detach()))
    except RuntimeError as error:
        return type(error), str(error)
    return repr(x.grad)


def test_nothing_is_computed_with_large_tensors(monkeypatch):
    computed = []
    monkeypatch.setattr(local_derivatives.StepValues, "verified", lambda *_: computed.append(1))
    for size in (10_000, 10_001):
        wide = torch.ones(size, requires_grad=True)
        local_of(wide * 2)
        local_of(wide.sum())
    assert len(computed) == 2


# The sentences


@pytest.mark.parametrize("case", operations.ALL, ids=lambda case: f"{case.name} {case.shapes}")
def test_every_step_has_a_short_sentence(case):
    trace = recorded(case)
    for step in trace.steps:
        words = sentence(trace.graph.nodes[step.node], step)
        assert 0 < len(words) <= LINES
        assert words.endswith(".")
        assert "{" not in words


@given(programs())
@settings(often, max_examples=60)
def test_what_a_sentence_claims_is_so(program):
    """ "unchanged" and "the same" are said where the numbers are the same."""
    loss = program.run()[-1].sum()
    if not loss.requires_grad:
        return
    try:
        trace = record(loss)
    except RuntimeError as error:
        trace = error.trace
    for step in trace.steps:
        words = sentence(trace.graph.nodes[step.node], step)
        handed = [gradient for gradient in step.grad_inputs if gradient is not None]
        if "unchanged." in words and "the rest" not in words:
            assert set(handed) == set(step.grad_outputs)
        if "the same gradient to both" in words and "broadcast" not in words:
            assert len(set(handed)) == 1


def said(result, position=0, **names):
    trace = record(result, gradient=torch.ones_like(result), names=names)
    step = trace.steps[position]
    return sentence(trace.graph.nodes[step.node], step)


def test_sentences_depend_on_what_was_verified():
    a = torch.tensor([2.0, 1.0], requires_grad=True)
    b = torch.tensor([1.0, 3.0], requires_grad=True)
    number = torch.tensor(5.0, requires_grad=True)
    assert said(a + b) == "A sum hands the same gradient to both its terms, unchanged."
    assert said(a + 1) == "A sum hands its term the gradient, unchanged."
    assert "unchanged" not in said(torch.add(a, b, alpha=2))
    assert said(a + number).endswith("What was broadcast gets the sum over its copies.")
    assert said(a * 3) == "A product hands a factor the gradient, times the other factor."
    assert said(a**2, a=a).endswith("times twice its base: that is why it kept a.")
    assert "twice" not in said(a**3, a=a)
    assert said(2**a) == "A power hands on what arrives, times the slope of the power there."
    assert said(a.floor()).endswith("so PyTorch hands on 0.")
    assert said(a.clamp(max=2.5)).endswith("beyond them it gets 0.")
    for limit in ("min", "max"):
        assert "beyond one, that limit gets it" in said(a.clamp(**{limit: b}))
    assert said(torch.complex(a, b) * 2) == "Mul hands on what arrives, times a factor of its own."
    assert said(torch.complex(a, b) * (2 + 3j)) == fallback("Mul")
    assert said(a - b) == (
        "A difference hands on the gradient, with the sign flipped for what it takes away."
    )


def test_a_leaf_says_where_its_gradient_stays():
    a = torch.tensor(2.0, requires_grad=True)
    assert said(a, a=a) == "a is a leaf: the gradient stays here, in a.grad."
    assert said(a, a=a).endswith(" It is added to what was there.")


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_a_custom_function_and_an_unknown_operation_have_sentences():
    x = torch.ones(3, 3, requires_grad=True)
    assert said(Twice.apply(x)).startswith("A Function written in Python")
    assert "(by its own backward)" in str(record(Twice.apply(x).sum()))
    assert said(torch.linalg.det(x + torch.eye(3))) == fallback("LinalgDet")


# What a sceptic found


def number(*values):
    """Return a leaf with these values; a lone one is a single number."""
    return torch.tensor(values if len(values) > 1 else values[0], requires_grad=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: a * b,
        lambda a, b: a + b,
        lambda a, b: a**2,
        lambda a, b: a.exp(),
        lambda a, b: a.sum(),
        lambda a, b: a.view(1, 2),
        lambda a, b: a.softmax(0) * 1,
    ],
)
def test_a_hook_on_a_node_is_suspected_where_the_rule_gives_something_else(make):
    result = make(number(2.0, 3.0), number(4.0, 5.0))
    result.grad_fn.register_hook(
        lambda handed, arrived: (handed[0] * 7, *[None] * (len(handed) - 1))
    )
    trace = record(result, gradient=torch.ones_like(result))
    first = trace.steps[0]
    assert "a hook on this node may have changed it" in sentence(trace.graph.nodes[0], first)
    assert trace.steps[0].locals[0].is_refuted
    assert "(not what the rule gives: a hook?)" in str(trace)
    assert trace.steps[0].locals[0].form_text() == "not what the rule gives: a hook?"


def fills(shape):
    """Return numbers of a shape at which a rule may be another."""
    count = torch.Size(shape).numel()
    torch.manual_seed(0)
    odd = torch.tensor([-3.0, 3.0, 0.3, 0.1, -0.5, 0.7, 6.0, 1.0, 0.0])
    yield torch.zeros(shape)
    yield torch.ones(shape)
    yield odd[torch.arange(count) % 9].reshape(shape)
    yield torch.randn(shape) * 50
    yield torch.randn(shape) * (torch.rand(shape) > 0.5)
    yield torch.full(shape, float("nan"))
    yield torch.full(shape, float("inf"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "case", operations.RULED[::6], ids=lambda case: f"{case.name} {case.shapes}"
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_no_hook_is_suspected_where_there_is_none(case, dtype):
    """Neither at kinks, nor where much is rounded, does a form of ours give something else than
    torch.
    """
    for values in zip(*map(fills, case.shapes), strict=True):
        inputs = [value.to(dtype).requires_grad_() for value in values]
        try:
            result = case.run(*inputs)
            trace = record(result, gradient=torch.randn(result.shape).to(result.dtype))
        except (RuntimeError, IndexError):  # what torch has not in this dtype, or refuses
            continue
        for step in trace.steps:
            assert not any(local and local.is_refuted for local in step.locals)


def test_what_is_too_large_to_try_is_told_in_words_that_are_true_of_all():
    wide, x = torch.ones(20_000, requires_grad=True), number(2.0)
    copies = " What was broadcast gets the sum over its copies."
    second = "times alpha (alpha is 1 unless given) for the second."
    assert said(wide + x) == f"A sum hands both terms the gradient, {second}{copies}"
    assert said(wide + wide) == f"A sum hands both terms the gradient, {second}"
    assert said(wide + 1) == "A sum hands its term the gradient."
    assert said(wide - x) == (
        "A difference hands on the gradient, times -alpha "
        f"(alpha is 1 unless given) for what it takes away.{copies}"
    )
    assert said(wide * x).endswith(copies)


@pytest.mark.parametrize(
    ("make", "numbers"),
    [
        (lambda: number(6.0).relu(), ""),
        (lambda: (number(3.0) * number(2.0)).tanh(), ""),
        (lambda: number(1.0).tanh(), "1 - 0.7616²"),
        (lambda: number(3.0) ** 2, "2·3"),
        (lambda: number(4.0).sqrt(), "1 / (2·2)"),
        (lambda: number(-4.0).abs(), "sign(-4)"),
    ],
)
def test_numbers_give_the_factor_as_they_are_written(make, numbers):
    assert local_of(make()).numbers == numbers


@given(
    st.sampled_from([torch.tanh, torch.sigmoid, torch.sqrt, torch.log1p, torch.reciprocal]),
    st.floats(1e-3, 30),
)
@settings(often, max_examples=60)
def test_written_numbers_can_be_computed_again(make, value):
    local = local_of(make(number(value)))
    if local.numbers:
        plain = local.numbers.replace("²", "**2").replace("·", "*")
        assert eval(plain) == pytest.approx(local.value.values, rel=1.1e-3)


@pytest.mark.thorough
def test_every_operation_and_input_is_found_as_by_torchs_own_generator():
    packaged = files("torchgen") / "packaged"
    paths = (
        "autograd/derivatives.yaml",
        "ATen/native/native_functions.yaml",
        "ATen/native/tags.yaml",
    )
    infos, _ = load_derivatives(*[str(packaged / path) for path in paths])
    theirs = {
        info.op: [argument.name for argument in info.args_with_derivatives]
        for per_key in infos.values()
        for info in per_key.values()
        if info.op
    }
    assert len(theirs) > 600
    assert {op: list(formulas(op)) for op in theirs} == theirs
