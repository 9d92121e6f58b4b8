"""Each kind of answer reads what a student would reasonably write, and nothing that means something
else.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import torch

from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import NotRead, plain
from helpers.exercises.readers import (
    boolean,
    booleans,
    choice,
    letters,
    names,
    number,
    numbers,
    tensor,
    word,
    words,
)
from helpers.exercises.values import same

LEAF = torch.tensor([2.0], requires_grad=True)
ACCEPTED = [
    (
        number(),
        2.5,
        [2.5, "2.5", " 2.5 ", torch.tensor(2.5), torch.tensor([[2.5]]), numpy.float32(2.5), [2.5]],
    ),
    (
        number(),
        2.0,
        [2, LEAF, LEAF * 1, torch.tensor(2), numpy.array(2), "2", "2e0", 2 * (1 + 5e-5)],
    ),
    (number(), None, [None, "None", [None], LEAF.grad]),
    (number(), math.nan, ["nan", torch.tensor(math.nan)]),
    (
        numbers(),
        (1.0, 2.0),
        [[1, 2], (1.0, 2), "1, 2", "[1, 2]", "tensor([1., 2.])", torch.tensor([[1.0], [2.0]])],
    ),
    (numbers(), (1.0, 2.0), [numpy.arange(1, 3), range(1, 3), ["1", torch.tensor(2.0)], "1 and 2"]),
    (numbers(), (1.0, None), [[1, None], ["1", "none"]]),
    (
        tensor(),
        (1.0, 2.0),
        [torch.tensor([1, 2]), [1, 2], (1.0, 2.0), numpy.array([1.0, 2.0]), torch.Size([1, 2])],
    ),
    (
        tensor(),
        ((1.0,), (0.0,)),
        [torch.tensor([[True], [False]]), [[1], [0]], [torch.ones(1), [0]]],
    ),
    (tensor(), 5.0, [torch.tensor(5), 5, numpy.int64(5)]),
    (
        boolean(),
        True,
        [True, "true", " Yes ", "T", 1, torch.tensor(True), numpy.bool_(True), [True], "'True'"],
    ),
    (boolean(), False, [False, "false", "no", 0, torch.tensor([False])]),
    (
        booleans(),
        (True, False),
        [[True, False], "yes, no", torch.tensor([True, False]), (1, 0), "True False"],
    ),
    (
        choice("a", "b"),
        "b",
        ["b", "B", " b ", "(b)", "B)", "b.", "option b", "(b) it raises", "b: it raises", ["b"]],
    ),
    (choice("leaf", "3", "True"), "leaf", ["Leaf", "'leaf'"]),
    (choice("leaf", "3", "True"), "3", [3, 3.0, "3", torch.tensor(3)]),
    (choice("leaf", "3", "True"), "True", [True, "true"]),
    (
        word(),
        "addbackward0",
        ["AddBackward0", "<AddBackward0>", "<AddBackward0 object at 0x7f00>", (LEAF + 1).grad_fn],
    ),
    (word(), "float32", ["float32", "torch.float32", torch.float32, "FLOAT32"]),
    (word(), "tensor", [torch.Tensor, "<class 'torch.Tensor'>", "Tensor"]),
    (
        word(),
        "requires_grad_",
        ["requires_grad_", "requires_grad_()", "`requires_grad_`", ".requires_grad_()"],
    ),
    (words(), ("sum", "exp"), [["sum", "exp"], "Sum, EXP", ("sum", "exp"), "sum and exp"]),
    (
        names(),
        frozenset("ab"),
        [["a", "b"], "b, a", {"A", "B"}, ("b", "a", "a"), "a and b", "a & b"],
    ),
    (names(), frozenset("a"), ["a", ["a"], {"a"}]),
    (names(), frozenset(), [[], (), set(), None, "none", ""]),
    (letters("abc"), frozenset("ab"), [["a", "b"], "b, a", "ab", "BA", ["ab", "a"]]),
    (letters("abc"), frozenset("ab"), ["a/b", "b+a", "a | b", {"a": 1, "b": True, "c": False}]),
    (letters("abc"), frozenset(), [[], None, "none"]),
    (number(), 2.5, ["tensor(2.5)", "tensor([2.5], requires_grad=True)", "w.grad = 2.5", "2,5"]),
    (number(), 2.5, ["tensor(2.5000, grad_fn=<MulBackward0>)", "Out[3]: 2.5", ">>> 2.5", "~2.5"]),
    (number(), 2.0, ["two", "2 nodes", "2.", 2 + 0j, Fraction(2), Decimal(2), {"w": 2}, {1: 2}]),
    (number(unit="MiB"), 8.0, ["8 MiB", "8mib", "8 MB", "8 mebibytes", 8]),
    (numbers(), (1.0, None), ["(tensor([1.]), None)", "tensor(1., dtype=torch.float64), None"]),
    (
        words(),
        ("none", "accumulategrad"),
        [
            "[None, <AccumulateGrad object at 0x7f4d1c0>]",
            ["None", "AccumulateGrad object"],
            [None, "torch::autograd::AccumulateGrad"],
            "None, class AccumulateGrad",
        ],
    ),
]
REFUSED = [
    (
        number(),
        [True, "thirty", [1, 2], torch.ones(2), 1j, {1: 2, 2: 3}, [], "", LEAF.exp, "2 or 3"],
    ),
    (number(unit="MiB"), ["8 KiB", "8388608 bytes", "8 bananas"]),
    (numbers(), [{1.0, 2.0}, [True], [[1, "x"]], {"a": 1}, (i for i in "12"), "a=1, b=2"]),
    (tensor(), [[[1], [1, 2]], [1, [2]], "no", {1}, [True, "x"]]),
    (boolean(), [2, "maybe", [True, False], 0.5, None]),
    (booleans(), [{True}, [True, "maybe"], 3]),
    (choice("a", "b"), ["c", "a tensor", "ab", "a.grad", 1, None, ["a", "b"]]),
    (word(), [3, ["a", "b"], 2.5]),
    (names(), [[1], 3, {"a": 1}.items()]),
    (letters("abc"), [[1], 3, "a bd", ["A", "bd"], "aba", [True, False]]),
]


@pytest.mark.parametrize(
    ("reader", "reading", "given"), [(r, want, x) for r, want, every in ACCEPTED for x in every]
)
def test_a_reasonable_form_is_read(reader, reading, given):
    assert same(reader.read(given), reading)


@pytest.mark.parametrize(
    ("reader", "given"), [(reader, given) for reader, every in REFUSED for given in every]
)
def test_another_meaning_is_refused(reader, given):
    with pytest.raises(NotRead):
        reader.read(given)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (math.log(10), 2.3025851249694824, True),
        (1.0, 1.0002, False),
        (0.0, 1e-7, True),
        (0.0, 1e-5, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (True, 1.0, False),
        (None, 0.0, False),
        ((1.0, 2.0), (1.0, 2.0, 3.0), False),
        ((), 0.0, False),
        ("a", "a", True),
    ],
)
def test_floats_are_compared_with_a_tolerance_and_the_rest_exactly(left, right, equal):
    assert same(left, right) is equal
    assert same(right, left) is equal


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (None, "None"),
        (True, "True"),
        (3, "the number 3"),
        (2.0, "the number 2"),
        ("a\nb", 'the text "a\\nb"'),
        ([1, [2.5, None]], "a list of 2: [1, [2.5, None]]"),
        (torch.ones(2, 2), "a tensor of shape (2, 2), float32: [[1, 1], [1, 1]]"),
        (torch.ones(9, dtype=torch.int8), "a tensor of shape (9,), int8"),
        (torch.ones(2, device="meta"), "a tensor of shape (2,), float32 on meta"),
        (torch.tensor(5.0), "a tensor of shape (), float32: 5"),
        (dict, "the class dict"),
        (len, "the function len"),
        ({"a": object()}, "a dict of 1"),
        ({2, 1}, "a set of 2: {1, 2}"),
        (list(range(20)), "a list of 20: [0, 1, 2, 3, 4, 5, 6, 7, …]"),
        (object(), "an object of type object"),
    ],
)
def test_an_answer_is_described_in_a_few_words(given, text):
    assert describe(given) == text


def test_plain_values_hold_no_tensor():
    assert plain([torch.ones(1), {numpy.float32(2)}, torch.float16]) == (
        (1.0,),
        frozenset({2.0}),
        "torch.float16",
    )
