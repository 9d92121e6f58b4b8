"""A wrong function is told which line of the reference is missing or wrong, by what it does."""

import pytest
import torch

from helpers.exercises.exercise import Exercise, exercises, lessons
from helpers.exercises.functions import function
from helpers.exercises.mistakes import mistakes
from helpers.exercises.mutants import SAID, mutants
from helpers.exercises.recognise import shows
from helpers.exercises.reference import purposes_of, read
from helpers.exercises.verdict import judge, judge_reading

REFERENCE = """
def answer(w, parts):
    w.grad = None  # nothing from before may be in the sum
    for part in parts:  # each part counts
~   for part in parts[1:]:  # You left the
~       # first part out.
        loss = (w * part).sum()
        if part.sum() > 0:  # negative parts are left out
            (2 * loss).backward()  # each part counts twice
~           loss.backward()
~           w.grad.neg_()  # You turned the sum round.
    return w.grad  # what was added up
"""


def case(*parts):
    def make():
        w = torch.ones(2, requires_grad=True)
        w.grad = torch.full((2,), 100.0)
        return w, [torch.tensor(part) for part in parts]

    return make


def look(returned, w, parts):
    return [returned, "learns" if w.requires_grad else "frozen"]


ADDED = Exercise(
    id="99.1",
    reader=function(
        case([1.0, 2.0], [3.0, 5.0]), case([1.0, 4.0], [2.0, 3.0], [-7.0, 2.0]), observe=look
    ),
    right="All of it.",
    hints=("First.", "Second."),
    reference=REFERENCE,
    known={"You froze it.": shows("frozen")},
)


def answer(
    first="w.grad = None",
    parts="parts",
    when="part.sum() > 0",
    loss="2 * (w * part).sum()",
    then="pass",
    after="pass",
    returned="w.grad",
):
    code = f"""
def answer(w, parts):
    {first}
    for part in {parts}:
        if {when}:
            ({loss}).backward()
        {then}
    {after}
    return {returned}
"""
    names = {}
    exec(code, names)
    return names["answer"]


TOLD = [
    (answer(), "All of it."),
    (answer(first="pass"), "One step seems to be missing: nothing from before may be in the sum."),
    (answer(parts="parts[1:]"), "You left the first part out."),
    (answer(when="True"), "One step seems to be done every time"),
    (
        answer(returned="w"),
        "A tensor seems to be used where its gradient is needed: what was added",
    ),
    (answer(then="break"), "A loop seems to end after its first round."),
    (
        answer(loss="(w * part).sum()"),
        "Half of a formula seems to be missing: each part counts twice.",
    ),
    (answer(loss="2 * (w * part).detach().sum()"), "One step doesn't seem to be recorded"),
    (answer(loss="(w * part).sum()", after="w.grad.neg_()"), "I ran the function"),
    (
        answer(first="pass", parts="parts[1:]"),
        "There are two mistakes here. One step seems to be missing: nothing from before may be in the sum."
        " You left the first part out.",
    ),
    (answer(after="w.requires_grad_(False)"), "You froze it."),
    (answer(first="pass", after="w.requires_grad_(False)"), "You froze it."),
]


@pytest.mark.parametrize(("given", "words"), TOLD, ids=[words for _, words in TOLD])
def test_what_an_answer_does_tells_which_line_is_missing_or_wrong(given, words):
    assert judge(ADDED, given).text.startswith(words)


def test_what_comes_out_of_a_sandbox_is_named_alike():
    given = answer(parts="parts[1:]")
    reading = ADDED.reader.read(given)
    assert judge_reading(ADDED, reading).text == judge(ADDED, given).text
    assert judge_reading(ADDED, (reading[0],)).kind == "unknown"


def test_students_see_the_program_without_its_wrong_lines():
    assert "~" not in ADDED.solution
    assert ADDED.solution.count("\n") == 6
    assert "# each part counts twice" in ADDED.solution


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("~   pass  # You.\n", "stands below"),
        ("x = 1\n~x = 2\n", "nothing says"),
        ("x = 1\n~   # You.\n", "nothing to say it of"),
    ],
)
def test_a_reference_that_cannot_be_read_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        read(text)


def test_a_loop_that_does_not_end_is_stopped():
    program = "def answer(n):\n    while n > 0:\n        n -= 1  # it counts down\n    return n"
    reader = function(lambda: 3)
    outcomes = [mistake.does(reader, 0) for mistake in mistakes(program, reader.cases)]
    assert "does not end" in str(outcomes[0])


def test_every_kind_of_step_is_made_and_each_mutant_compiles_or_is_left_out():
    program = """
def answer(model, x):
    with torch.no_grad():
        y = model(x).mean()
    for one in x:
        y = y + one
        if one > 0:
            torch.autograd.grad(-y, x, create_graph=True)
    print(x.grad, x)
    return y
"""
    assert {mutant.kind for mutant in mutants(program)} == set(SAID)


def test_what_a_line_is_for_follows_on_a_colon():
    for lesson in lessons():
        for exercise in exercises(lesson):
            for purpose in purposes_of(read(exercise.reference).program).values():
                assert not purpose.endswith("."), (exercise.id, purpose)
                assert purpose[0] == "`" or not purpose[0].isupper() or "Or in" in purpose, purpose
