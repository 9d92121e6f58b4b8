"""Every registered exercise is run: its solution, its misconceptions, its hints; and how check
judges and speaks.
"""

import re
from pathlib import Path

import pytest
import torch
from notebook_rules import Lesson
from notebook_rules.exercises import HOW_MANY
from notebook_rules.exercises import exercises as asked

from autograd_graphs.plain_values import describe, show
from helpers import check, hint, solution
from helpers.exercises import checking
from helpers.exercises import exercise as registry
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function
from helpers.exercises.letters import Letters
from helpers.exercises.reading import number
from helpers.exercises.recognise import Like, like
from helpers.exercises.reference import read

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.usefixtures("unfolded")

every_lesson = pytest.mark.parametrize("lesson", registry.lessons())


def run(code: str) -> object:
    namespace = {"torch": torch}
    exec(compile(code, "<exercise>", "exec"), namespace)
    return namespace["answer"]


def answered(exercise: Exercise, code: str) -> object:
    """Return what a solution answers; of a stage of the engine its text."""
    return code if exercise.stage else run(code)


def answer_texts(exercise: Exercise) -> list[str]:
    """Return patterns that find the right answer in a text, for the kinds where that can be told."""
    if exercise.reader.cases:
        return []
    truth = exercise.reader.read(exercise.truth())
    if isinstance(truth, float):
        texts = {f"{truth:g}", str(truth), f"{truth:.6g}"}
        return [rf"(?<![\w.]){re.escape(text)}(?![\w]|\.\d)" for text in texts]
    return [re.escape(show(truth))] if isinstance(truth, tuple) else []


@every_lesson
def test_a_lesson_has_three_to_seven_exercises_which_its_notebook_asks(lesson):
    ids = [exercise.id for exercise in registry.exercises(lesson)]
    (path,) = (ROOT / "notebooks").glob(f"{lesson}_*.ipynb")
    assert sorted(ids) == sorted(asked(Lesson.at(path)))
    assert len(ids) in HOW_MANY


@every_lesson
def test_a_solution_passes_each_time_and_is_printed_as_it_is_run(lesson, capsys):
    for exercise in registry.exercises(lesson):
        solution(exercise.id)
        for code in (capsys.readouterr().out, exercise.solution):
            check(exercise.id, answered(exercise, code))
            offer = (
                f'\n       One more like this? again("{exercise.id}")' if exercise.varies else ""
            )
            told = re.sub(
                r" Kept in my_engine\.py: \d+ lines so far\.", "", capsys.readouterr().out
            )
            assert told == f"{exercise.id} ✓ {exercise.right}{offer}\n"


@pytest.mark.slow
@every_lesson
def test_a_misconception_that_a_program_stands_for_is_named_and_no_other(lesson, capsys):
    for exercise in registry.exercises(lesson):
        for idea in exercise.misconceptions:
            if isinstance(idea.when, Like):
                check(exercise.id, run(idea.when.code))
                first, *case = capsys.readouterr().out.splitlines()
                assert first == f"{exercise.id} ✗ {idea.message}"
                assert bool(case) is exercise.reader.tells  # a build shows the case, too


@pytest.mark.slow
@every_lesson
def test_a_wrong_line_of_a_reference_is_named_by_its_own_words(lesson, capsys):
    for exercise in registry.exercises(lesson):
        if not exercise.reference:
            continue
        reference = read(exercise.reference)
        for wrong in reference.wrong:
            check(exercise.id, run(reference.with_wrong(wrong)))
            first = capsys.readouterr().out.splitlines()[0]
            assert first == f"{exercise.id} ✗ {wrong.message}"


@every_lesson
def test_no_message_and_no_reply_gives_the_answer_away(lesson, capsys):
    for exercise in registry.exercises(lesson):
        if exercise.stage:  # which reads the cell in which check stands, and no answer
            continue
        texts = [idea.message for idea in exercise.misconceptions]
        for wrong in (..., 987654.25, "no such word", object()):
            check(exercise.id, wrong)
            told = capsys.readouterr().out.removeprefix(exercise.id)
            assert ("not answered yet" in told) == (wrong is ...), told
            assert not re.search("✓|stopped", told), told
            texts.append(told)
        for pattern in answer_texts(exercise):
            assert not [text for text in texts if re.search(pattern, text)], exercise.id


@every_lesson
def test_hints_come_one_by_one_and_end(lesson, capsys, monkeypatch):
    monkeypatch.setattr(checking, "_given", {})
    for exercise in registry.exercises(lesson):
        name, count = exercise.id, len(exercise.hints)
        for at, text in enumerate(exercise.hints, 1):
            hint(name)
            assert capsys.readouterr().out == f"{name}, hint {at} of {count}: {text}\n"
        for _ in range(2):
            hint(name)
            out = capsys.readouterr().out
            assert "last" in out
            assert f'solution("{name}")' in out


PARTS = {
    "id": "99.1",
    "reader": number(),
    "truth": lambda: torch.tensor(2.0) ** 3,
    "right": "Three twos.",
    "known": {
        "You took one.": 1.0,
        "You multiplied by the exponent.": like("answer = 2 * 3"),
    },
    "hints": ("First.", "Second."),
    "solution": "answer = 8",
}


@pytest.fixture
def lesson_99(monkeypatch):
    """Replace all lessons by one whose exercises the test gives."""

    def use(*exercises: Exercise) -> None:
        monkeypatch.setattr(
            registry, "lessons", lambda: tuple(sorted({each.id[:2] for each in exercises}))
        )
        monkeypatch.setattr(
            registry, "exercises", lambda lesson: [e for e in exercises if e.id[:2] == lesson]
        )

    return use


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"known": {"You took one.": 1.0}}, "at least 2"),
        ({"hints": ("Only.",)}, "at least 2"),
        ({"right": "First."}, "words of its own"),
        ({"right": " "}, "empty"),
        ({"truth": 8}, "truth has to be a function"),
        ({"id": "1"}, "an id is"),
        ({"letters": Letters("idea 1", (("a", "What?"),))}, "neither misconceptions nor"),
        ({"solution": "result = 8"}, "define `answer`"),
    ],
)
def test_a_faulty_exercise_is_refused_when_it_is_made(parts, why):
    Exercise(**PARTS)
    with pytest.raises(ValueError, match=why):
        Exercise(**PARTS | parts)


def test_a_kind_of_wrong_answer_that_nobody_foresaw_is_read_back(lesson_99, capsys):
    lesson_99(Exercise(**PARTS))
    check("99.1", torch.tensor([5.0]))
    out = capsys.readouterr().out
    assert out == (
        "99.1 ✗ that's not it.\n"
        "       your answer  a tensor of shape (1,), float32: [5]\n"
        '       hint("99.1") helps. check("99.1", answer, reveal=True) shows what was expected.\n'
    )


@pytest.mark.parametrize(
    ("answer", "message"),
    [(1, "took one"), (6.0, "multiplied"), (None, "no gradient"), ("Error", "It runs")],
)
def test_a_misconception_matches_by_value_by_truth_and_by_what_cannot_be_read(
    answer, message, lesson_99, capsys
):
    known = PARTS["known"] | {"There is no gradient yet.": None, "It runs.": "error"}
    lesson_99(Exercise(**PARTS | {"known": known}))
    check("99.1", answer)
    assert message in capsys.readouterr().out


def test_a_fault_of_the_exercise_is_not_blamed_on_the_student(lesson_99, capsys):
    lesson_99(Exercise(**PARTS | {"truth": lambda: 1 / 0}))
    check("99.1", 8)
    assert "check stopped: ZeroDivisionError" in capsys.readouterr().out


def test_one_value_that_is_expected_stands_without_brackets(capsys):
    check("04.7", 1, reveal=True)
    assert "       expected     3\n" in capsys.readouterr().out


def doubles(**parts: object) -> Exercise:
    """Return an exercise that asks for a function that doubles."""
    cases = (lambda: torch.tensor([1.0, 2.0]), lambda: (torch.rand(3),))
    known = {
        "You returned the input.": like("answer = lambda x: x"),
        "You squared.": like("answer = torch.square"),
    }
    defaults = {"reader": function(*cases), "truth": lambda: lambda x: 2 * x, "known": known}
    return Exercise(**PARTS | defaults | parts)


def reply_to(answer: object, capsys: pytest.CaptureFixture) -> str:
    check("99.1", answer)
    return capsys.readouterr().out


def test_a_function_is_judged_by_what_it_does(lesson_99, capsys):
    lesson_99(doubles())
    assert "✓" in reply_to(lambda x: x + x, capsys)
    assert "✓" in reply_to(lambda x: (2 * x).tolist(), capsys)
    assert "You returned the input." in reply_to(torch.clone, capsys)
    assert "You squared." in reply_to(lambda x: x**2, capsys)
    unknown = reply_to(lambda x: x + 1, capsys)
    assert unknown == (
        "99.1 ✗ I ran the function <lambda> on 2 cases. 2 went wrong. Case 1:\n"
        "       given        torch.tensor([1.0, 2.0])\n"
        "       came         [2, 3]\n"
        "       expected     2 numbers, but not these\n"
        '       hint("99.1") helps. check("99.1", answer, reveal=True) shows what was expected.\n'
    )
    failed = reply_to(lambda x: 1 / 0, capsys)
    assert "came         ZeroDivisionError: division by zero\n" in failed
    assert "on 2 cases. It failed with an error in 2 of 2. Case 1:" in failed
    made = reply_to(lambda x: (i for i in x), capsys)
    assert "came         an object of type generator\n" in made
    assert "The exercise wants a function" in reply_to(3, capsys)
    assert "the class dict. It isn't a function." in reply_to(dict, capsys)
    later = reply_to(lambda x: 2 * x if len(x) == 2 else x + 1, capsys)
    assert re.search(
        r"2 cases\. 1 went wrong\. Case 2:\n *given +torch\.tensor\(\[[\d., ]+\]\)\n", later
    )


def test_a_function_gets_fresh_inputs_and_the_same_random_numbers(lesson_99, capsys):
    lesson_99(doubles())

    def answer(x):
        x *= 2
        torch.manual_seed(1)
        torch.rand(5)
        return x

    assert "✓" in reply_to(answer, capsys)


def test_a_function_can_be_watched_for_what_it_does_to_its_inputs(lesson_99, capsys):
    reader = function(lambda: torch.ones(2), observe=lambda returned, x: x)
    lesson_99(doubles(reader=reader, truth=lambda: torch.Tensor.zero_))
    assert "✓" in reply_to(lambda x: x.fill_(0), capsys)
    assert "✗" in reply_to(torch.zeros_like, capsys)


def dots(x): ...


def documented_dots(x):
    """Say what to do."""
    ...


@pytest.mark.parametrize(
    "stub", [dots, documented_dots, lambda x: ...], ids=["bare", "documented", "lambda"]
)
def test_a_function_of_dots_is_a_stub(stub, lesson_99, capsys):
    lesson_99(doubles())
    assert "not answered yet" in reply_to(stub, capsys)


NEAREST = {
    "02.77": "02.1",
    "2.2": "02.2",
    2.1: "02.1",
    "99": "99.1",
    "03.1": "03.2",
    "9.1\n": "99.1",
}


@pytest.mark.parametrize("call", [check, hint, solution])
def test_an_unknown_id_names_its_nearest(call, lesson_99, capsys):
    lesson_99(*(Exercise(**PARTS | {"id": id}) for id in ("02.1", "02.2", "03.2", "03.3", "99.1")))
    for wrong, nearest in NEAREST.items():
        call(wrong) if call is not check else call(wrong, 1)
        out = capsys.readouterr().out
        assert re.search(rf'The nearest are {nearest}, .*{call.__name__}\("{nearest}"', out)
        assert out.count("\n") == 1


@pytest.mark.parametrize("call", [check, hint, solution])
def test_what_is_no_id_is_named_and_answered_by_an_example(call, lesson_99, capsys):
    lesson_99(Exercise(**PARTS))
    for wrong in (" ", None, 3, torch.ones(2), object(), "x" * 5000, [], ["02.1"], ...):
        call(wrong) if call is not check else call(wrong, 1)
        out = capsys.readouterr().out
        said = f"{call.__name__} was given {describe(wrong)} where an exercise's id belongs. "
        assert out.startswith(said)
        assert f'{call.__name__}("99.1"' in out


@pytest.mark.parametrize(
    ("args", "words"), [(("02.1",), "no answer"), ((), "nothing"), (("02.1", 1, 2), "one list")]
)
def test_a_call_with_too_few_or_too_many_arguments_says_what_to_write(args, words, capsys):
    assert check(*args) is None
    assert words in capsys.readouterr().out


def chatty(x):
    print("given", x.tolist())
    return 2 * x


def test_what_a_function_prints_appears_once_above_the_answer(lesson_99, capsys):
    lesson_99(doubles())
    assert reply_to(chatty, capsys) == "given [1.0, 2.0]\n99.1 ✓ Three twos.\n"


def test_of_a_wrong_function_the_run_that_went_wrong_is_heard_up_to_its_error(lesson_99, capsys):
    lesson_99(doubles())

    def answer(x):
        print("of", len(x), end="")
        return 2 * x if len(x) == 2 else x[7]

    told = reply_to(answer, capsys)
    begin = "of 3\n99.1 ✗ I ran the function answer on 2 cases. 1 went wrong. Case 2:"
    assert told.startswith(begin)


@pytest.mark.parametrize("line", ["x" * 5000, "\n" * 500, "word\n" * 5000])
def test_much_that_is_printed_is_cut_and_counted(line, lesson_99, capsys):
    lesson_99(doubles())
    told = reply_to(lambda x: print(line) or 2 * x, capsys)
    assert f"\n… (your function printed {len(line) + 1:,} characters)\n99.1 ✓" in told
    assert len(told) < 2_200
    assert told.count("\n") < 45


def test_a_hint_can_be_had_again(lesson_99, capsys, monkeypatch):
    monkeypatch.setattr(checking, "_given", {})
    lesson_99(Exercise(**PARTS))
    for again, told in [((), "hint 1 of 2: First."), ((1,), "hint 1 of 2: First.")]:
        hint("99.1", *again)
        assert capsys.readouterr().out == f"99.1, {told}\n"
    hint("99.1")
    assert capsys.readouterr().out == "99.1, hint 2 of 2: Second.\n"
    hint("99.1", 1.0)
    assert capsys.readouterr().out == "99.1, hint 1 of 2: First.\n"
    hint("99.1")
    assert "that was the last" in capsys.readouterr().out


def test_a_hint_that_is_not_there_is_answered_by_those_that_are(lesson_99, capsys):
    lesson_99(Exercise(**PARTS))
    for wrong in (0, 3, 1.5, True, None, "1", float("nan"), float("inf"), 10**400, [1], object()):
        hint("99.1", wrong)
        out = capsys.readouterr().out
        assert out.startswith(f"99.1 has 2 hints, but you asked for {describe(wrong)}. ")
        assert 'Ask for 1 or 2, such as hint("99.1", 1), or for the next one: hint("99.1").' in out


def test_a_forward_given_to_the_class_of_a_net_is_gone_in_the_next_try():
    from helpers.exercises.exercise import find
    from helpers.exercises.verdict import judge

    steps = """
    model = DDP(net)
    sgd = torch.optim.SGD(model.parameters(), lr=1.0)
    for _ in range(5):
        sgd.zero_grad()
        model(points, moon).backward()
        sgd.step()
"""
    space = {"torch": torch}
    exec(f"def plain(DDP, net, points, moon):{steps}", space)
    exec(
        f"def given(DDP, net, points, moon):\n    type(net).forward = type(net).loss{steps}", space
    )
    exercise = find("18.6")
    assert judge(exercise, space["given"]).kind == "right"
    assert "this net has none" in judge(exercise, space["plain"]).text
