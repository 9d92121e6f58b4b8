"""The slips that every exercise knows, the table of what was given, came and is expected, and whose
fault an error is.
"""

from dataclasses import replace
from functools import partial
from types import MethodType

import pytest
import torch

from autograd_graphs.plain_values import NotRead
from helpers import check
from helpers.exercises import exercise as registry
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function
from helpers.exercises.reading import number, numbers
from helpers.exercises.verdict import judge
from helpers.exercises.watched_inputs import typed

pytestmark = pytest.mark.usefixtures("unfolded")
KNOWN = {"You took one.": 1.0, "You took two.": 2.0}
TWO = torch.tensor([1.0, 2.0])


def exercise(reader, truth, **parts) -> Exercise:
    texts = {"right": "Yes.", "hints": ("Look.", "Try."), "solution": "answer = 0"}
    made = {"id": "99.1", "reader": reader, "truth": truth, "known": KNOWN} | texts | parts
    return Exercise(**made)


def doubles(**parts) -> Exercise:
    usual = {"reader": function(TWO.clone), "truth": lambda: lambda x: 2 * x}
    return exercise(**usual | parts)


def told(made: Exercise, answer: object, monkeypatch, capsys, **wishes) -> str:
    monkeypatch.setattr(registry, "lessons", lambda: ("99",))
    monkeypatch.setattr(registry, "exercises", lambda lesson: (made,))
    check("99.1", answer, **wishes)
    return capsys.readouterr().out


def no_return(x):
    2 * x


def sometimes(x):
    if x.sum() < 0:
        return x


def method(x):
    return (2 * x).tolist


def unknown_name(x):
    return 2 * y  # noqa: F821


def two_arguments(x, y):
    return 2 * x


def of_value() -> float:
    return 3.0


FIVE = exercise(number(), lambda: 5.0)
THREE = exercise(numbers(), lambda: [1, 2, 3])


@pytest.mark.parametrize(
    ("made", "answer", "words"),
    [
        (doubles(), no_return, "Your function doesn't return anything"),
        (doubles(), method, "the method `tolist` itself, but you didn't call it"),
        (doubles(), unknown_name, "a name that doesn't exist: name 'y' is not defined"),
        (doubles(), two_arguments, "with 1 argument, but it takes others"),
        (doubles(), 2 * TWO, "The exercise wants a function"),
        (FIVE, of_value, "Your answer is a function, but you didn't call it"),
        (FIVE, MethodType(partial(print), 3), "a method that you didn't call"),
        (FIVE, None, "Your answer is None"),
        (THREE, [1, 2], "You gave 2 values, but the question asks for 3"),
    ],
)
def test_a_slip_is_named(made, answer, words):
    verdict = judge(made, answer)
    assert (verdict.kind, words in verdict.text) == ("known", True)


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        (doubles(), lambda x: x.grad),
        (doubles(), lambda x: 3 * x),
        (doubles(), lambda *x: x[1]),
        (doubles(), lambda x: two_arguments(x)),
        (doubles(), sometimes),
        (FIVE, 6),
        (THREE, [3, 2, 1]),
        (exercise(function(lambda: TWO), lambda: lambda x: None), abs),
    ],
)
def test_what_is_no_slip_is_not_called_one(made, answer):
    assert judge(made, answer).kind == "unknown"


def test_a_wrong_value_that_is_known_comes_before_a_slip():
    known = {"You took seven.": [7.0], "No grad.": None}
    made = exercise(numbers(), lambda: [1, 2, 3], known=known)
    assert judge(made, [7]).text == "You took seven."
    assert judge(made, None).text == "No grad."


def test_an_error_of_the_exercise_is_called_ours(monkeypatch, capsys):
    look = function(lambda: TWO, observe=lambda returned, x: returned.no_such)
    out = told(doubles(reader=look), lambda x: 3 * x, monkeypatch, capsys)
    assert out.startswith("99.1 ✗ check stopped: ")
    assert "not from your code" in out


def test_the_truth_is_computed_before_the_students_code_runs(monkeypatch):
    kept = {"factor": 2}
    made = doubles(truth=lambda: lambda x: kept["factor"] * x)

    def answer(x):
        kept["factor"] = 7
        return 7 * x

    assert judge(made, answer).kind == "unknown"


def test_a_mode_that_a_function_leaves_behind_does_not_reach_who_looks():
    look = function(lambda: TWO, observe=lambda returned, x: str(torch.ones(1).dtype))
    made = doubles(reader=look, truth=lambda: lambda x: x)
    assert judge(made, lambda x: torch.set_default_dtype(torch.float64)).kind == "right"
    assert torch.get_default_dtype() == torch.float32


PARTS = function(
    lambda: TWO.clone().requires_grad_(),
    observe=lambda returned, x: [returned, x, "a word"],
    parts=("values", "x afterwards", "word"),
)


def test_the_table_shows_only_the_parts_that_differ(monkeypatch, capsys):
    made = doubles(reader=PARTS, principle="twice is two times.")
    assert told(made, lambda x: 3 * x, monkeypatch, capsys) == (
        "99.1 ✗ I ran the function <lambda> on 1 case. 1 went wrong. Case 1:\n"
        "       given        torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "       came         values: [3, 6]\n"
        "       expected     values: 2 numbers, but not these\n"
        "       Think of this: twice is two times.\n"
        '       hint("99.1") helps. check("99.1", answer, reveal=True) shows what was expected.\n'
    )
    out = told(made, lambda x: 3 * x, monkeypatch, capsys, reveal=True)
    assert "       expected     values: [2, 4]\n" in out
    assert out.endswith('       hint("99.1") helps.\n')


def test_of_a_mistake_that_has_a_name_the_expected_is_told_on_request_too(monkeypatch, capsys):
    assert told(FIVE, 1, monkeypatch, capsys) == "99.1 ✗ You took one.\n"
    assert told(FIVE, 1, monkeypatch, capsys, reveal=True) == (
        "99.1 ✗ You took one.\n       your answer  1\n       expected     5\n"
    )
    revealed = told(doubles(), no_return, monkeypatch, capsys, reveal=True)
    assert "Your function doesn't return anything" in revealed
    assert revealed.endswith("       came         None\n       expected     [2, 4]\n")


def refused(answer) -> object:
    """Read a function as a reader does that refuses what it returned, after it has run."""
    if answer == 1:
        return 1
    function(TWO.clone).read(answer)
    raise NotRead("its log holds texts")


def test_a_function_whose_result_cannot_be_read_is_no_fault_of_ours(monkeypatch, capsys):
    """What it printed is shown, and nobody says that a function is wanted where one was given."""
    made = exercise(replace(function(TWO.clone), read=refused), lambda: 1)
    out = told(made, lambda x: print("so far"), monkeypatch, capsys)
    assert "99.1 ✗ You gave the function <lambda>. Its log holds texts.\n" in out
    assert "This exercise wants" not in out


TYPED = [
    -0.125, None, True, "cpu", [1.0, [2.0]], torch.float64,
    torch.tensor([1.0, -2.0], requires_grad=True),
    torch.tensor([[1, 2], [3, 4]]),
    torch.tensor(3.0, dtype=torch.float64),
    torch.tensor([True, False]),
]  # fmt: skip


@pytest.mark.parametrize("value", TYPED, ids=typed)
def test_an_input_is_written_so_that_it_can_be_typed(value):
    made = eval(typed(value), {"torch": torch})
    if not isinstance(value, torch.Tensor):
        assert made == value
        return
    assert made.dtype == value.dtype
    assert made.shape == value.shape
    assert made.requires_grad == value.requires_grad
    assert made.equal(value)
