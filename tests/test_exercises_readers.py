"""Each kind of answer reads what a student would reasonably write, and nothing that means something
else.
"""

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from types import FunctionType

import numpy
import pytest
import torch

from autograd_graphs.plain_values import NotRead, describe, plain
from helpers.exercises.faults import line_of
from helpers.exercises.reading import choice, letters, number, numbers, same

LEAF = torch.tensor([2.0], requires_grad=True)
TWO_HALF = [2.5, "2.5", " 2.5 ", torch.tensor([[2.5]]), numpy.float32(2.5), [2.5], "~2.5", "2,5"]
PRINTED = ["tensor([2.5], requires_grad=True)", "w.grad = 2.5", "Out[3]: 2.5", ">>> 2.5"]
LINES = ["x = torch.ones(2)", "(3 * x).backward()", "x.add_(1)", "x.add_(1)"]
READ_ONCE = [lambda: (n for n in "12"), lambda: map(float, (1, 2))]
NAMED = [{"q": 2, "p": 1}, "q = 2, p = 1", "q: 2; p: 1", {"a": 1, "b": 2}, "a == 1, b == 2"]
SAYS_TWO = ["line 2", "the line 2", "L2", "l. 2", "No. 2", "line number 2", "it is 2", "2.0", "#2"]
QUOTES = ["(3*x).backward()", "line 2: (3 * x).backward()", "(3 * x).backward()   # 2"]


def iter_of(values):
    yield from values


def used_up():
    made = iter_of("ab")
    list(made)
    return made


ACCEPTED = [
    (number(), 2.5, [*TWO_HALF, *PRINTED, "tensor(2.5000, grad_fn=<MulBackward0>)"]),
    (number(), 2.0, [2, LEAF, LEAF * 1, torch.tensor(2), "2e0", 2 * (1 + 5e-5), "two", "2 nodes"]),
    (number(), 2.0, ["2.", 2 + 0j, Fraction(2), Decimal(2), {"w": 2}, {1: 2}]),
    (number(), 2.0, [{2}, {"w": [2]}.values(), lambda: (n for n in [2]), "it is 2"]),
    (number(), None, [None, "None", [None], LEAF.grad]),
    (number(), math.nan, ["nan", torch.tensor(math.nan)]),
    (numbers(), (1.0, 2.0), [[1, 2], (1.0, 2), "1, 2", "[1, 2]", "tensor([1., 2.])", "1 and 2"]),
    (numbers(), (1.0, 2.0), [torch.tensor([[1.0], [2.0]]), range(1, 3), ["1", torch.tensor(2.0)]]),
    (numbers("p", "q"), (1.0, 2.0), [*NAMED, *READ_ONCE, "w.grad = tensor([1., 2.])"]),
    (numbers("x.grad[0]", "x.grad[1]"), (1.0, None), ["x.grad[1] = None, x.grad[0] = 1"]),
    (line_of(LINES), (2.0,), [2, {2}, ["2"], *SAYS_TWO, *QUOTES]),
    (numbers(), (1.0, None), [[1, None], ["1", "none"], "(tensor([1.]), None)"]),
    (
        choice("a", "b"),
        "b",
        ["b", "B", " b ", "(b)", "B)", "b.", "option b", "b: it raises", ["b"]],
    ),
    (letters("abc"), frozenset("ab"), [["a", "b"], "b, a", "ab", "BA", ["ab", "a"], "a and b"]),
    (letters("abc"), frozenset("ab"), ["a/b", "b+a", "a | b", {"a": 1, "b": True, "c": False}]),
    (
        letters("abc"),
        frozenset("ab"),
        [dict.fromkeys("ab").keys(), lambda: iter_of("ab")],
    ),
    (letters("abc"), frozenset(), [[], None, "none"]),
]
NO_NUMBER = [True, "thirty", [1, 2], torch.ones(2), 1j, {1: 2, 2: 3}, [], "", LEAF.exp, "2 or 3"]
REFUSED = [
    (number(), NO_NUMBER),
    (numbers("p", "q"), [{1.0, 2.0}, [True], [[1, "x"]], {"p": "x"}, "p = q = 2", "p = 1, x"]),
    (numbers(), [used_up(), (1 / 0 for _ in "1"), map(float, itertools.count())]),
    (line_of(LINES), ["x.add_(1)", "line 2: x = torch.ones(2)", "2 or 3", "line 2, no, 3", 2.5]),
    (choice("a", "b"), ["c", "a tensor", "ab", "a.grad", 1, None, ["a", "b"]]),
    (letters("abc"), [used_up(), [1], 3, "a bd", ["A", "bd"], "aba", [True, False]]),
]


@pytest.mark.parametrize(("reader", "reading", "every"), ACCEPTED)
def test_a_reasonable_form_is_read(reader, reading, every):
    read = [
        (given, reader.read(given() if isinstance(given, FunctionType) else given))
        for given in every
    ]
    assert [given for given, found in read if not same(found, reading)] == []


@pytest.mark.parametrize(("reader", "every"), REFUSED)
def test_another_meaning_is_refused(reader, every):
    for given in every:
        with pytest.raises(NotRead):
            pytest.fail(f"{given!r} is read as {reader.read(given)}")


def test_floats_are_compared_with_a_tolerance_and_the_rest_exactly():
    alike = [(math.log(10), 2.3025851249694824), (0.0, 1e-7), (math.inf, math.inf)]
    alike += [(math.nan, math.nan), ("a", "a"), ((1.0, (None,)), (1.0, (None,)))]
    other = [(1.0, 1.0002), (0.0, 1e-5), (math.inf, -math.inf), (math.nan, 1.0), (True, 1.0)]
    other += [(None, 0.0), ((1.0, 2.0), (1.0, 2.0, 3.0)), ((), 0.0)]
    for pairs, expected in ((alike, True), (other, False)):
        for left, right in pairs:
            assert same(left, right) is same(right, left) is expected, (left, right)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (True, "True"),
        (2.0, "the number 2"),
        ("a\nb", 'the text "a\\nb"'),
        ([1, [2.5, None]], "a list of 2: [1, [2.5, None]]"),
        (torch.ones(2, 2), "a tensor of shape (2, 2), float32: [[1, 1], [1, 1]]"),
        (torch.ones(9, dtype=torch.int8), "a tensor of shape (9,), int8"),
        (torch.ones(2, device="meta"), "a tensor of shape (2,), float32 on meta"),
        (dict, "the class dict"),
        (len, "the function len"),
        (torch.autograd.Function.apply, "the method apply"),
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
