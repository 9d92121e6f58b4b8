"""Exercises in letters tell whether an answer is right and nothing else, so that trying letters
tells little.
"""

import itertools
from collections.abc import Iterator
from itertools import combinations

import pytest

from helpers import check
from helpers.exercises import checking
from helpers.exercises.exercise import exercises, lessons
from helpers.exercises.verdict import judge

pytestmark = pytest.mark.usefixtures("unfolded")
LETTERS = [one for lesson in lessons() for one in exercises(lesson) if one.letters]
MOST_GUESSED = 12
in_letters = pytest.mark.parametrize("exercise", LETTERS, ids=lambda exercise: exercise.id)


def upwards(letters: str) -> Iterator[str]:
    for count in range(len(letters) + 1):
        yield from map("".join, combinations(letters, count))


def downwards(letters: str) -> Iterator[str]:
    for count in range(len(letters), -1, -1):
        yield from map("".join, combinations(letters, count))


def counting(letters: str) -> Iterator[str]:
    for number in range(2 ** len(letters)):
        yield "".join(letter for at, letter in enumerate(letters) if number >> at & 1)


def backwards(letters: str) -> Iterator[str]:
    yield from reversed(list(counting(letters)))


def product(letters: str) -> Iterator[str]:
    """Count as itertools.product does, the first letter slowest."""
    for bits in itertools.product([0, 1], repeat=len(letters)):
        yield "".join(letter for letter, bit in zip(letters, bits, strict=True) if bit)


def backwards_product(letters: str) -> Iterator[str]:
    yield from reversed(list(product(letters)))


def one_by_one(letters: str) -> Iterator[str]:
    """Give each letter alone, then, as if the answers told it, all without one."""
    yield from letters
    yield from ("".join(letters.replace(one, "")) for one in letters)
    yield letters


BOTS = (upwards, downwards, counting, backwards, product, backwards_product, one_by_one)


@pytest.fixture(autouse=True)
def nothing_tried(monkeypatch):
    monkeypatch.setattr(checking, "_tried", {})


def right(exercise) -> str:
    return "".join(sorted(exercise.reader.read(exercise.truth())))


def test_there_are_eleven_of_them():
    assert len(LETTERS) == 11  # 01.2 is for older copies alone


@in_letters
@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: bot.__name__)
def test_a_bot_without_torch_needs_more_than_twelve_checks(exercise, bot):
    answer = right(exercise)
    guesses = [guess for guess in bot(exercise.letters.allowed) if guess]
    assert answer not in guesses[:MOST_GUESSED]


@in_letters
def test_every_wrong_answer_is_told_the_same(exercise):
    answer = right(exercise)
    wrong = [guess for guess in counting(exercise.letters.allowed) if guess != answer]
    verdicts = [judge(exercise, list(guess)) for guess in wrong]
    assert {(one.kind, one.text, one.printed, one.more) for one in verdicts} == {
        ("letters", f"not yet. Read again {exercise.letters.read}.", "", "")
    }
    assert judge(exercise, answer).kind == "right"


@in_letters
def test_what_each_letter_is_about_follows_the_third_wrong_try(exercise, capsys):
    answer = right(exercise)
    wrong = [guess for guess in counting(exercise.letters.allowed) if guess != answer]
    for guess in (wrong[1], wrong[1], wrong[2]):
        check(exercise.id, guess, reveal=True)
    early = capsys.readouterr().out
    assert "1 to go" in early
    assert "Right is" not in early
    assert exercise.letters.about[0][1] not in early
    check(exercise.id, wrong[3])
    third = capsys.readouterr().out
    for letter, text in exercise.letters.about:
        assert f"  - {letter}: {text}\n" in third
    assert "Right is" not in third
    check(exercise.id, wrong[3], reveal=True)
    assert f"Right is: {', '.join(answer)}.\n" in capsys.readouterr().out
    check(exercise.id, answer)
    assert capsys.readouterr().out == f"{exercise.id} ✓ {exercise.right}\n"


@in_letters
@pytest.mark.parametrize(
    "style",
    [
        ", ".join,
        " and ".join,
        set,
        tuple,
        str.upper,
        "/".join,
        "-".join,
        "\n- ".join,
        " or ".join,
        lambda letters: f"only {letters}!",
        lambda letters: dict.fromkeys(letters, True),
    ],
)
def test_the_letters_are_read_in_any_style(exercise, style):
    assert judge(exercise, style(right(exercise))).kind == "right"


@in_letters
def test_none_as_an_answer_is_no_try(exercise, capsys):
    for _ in range(4):
        check(exercise.id, None)
    told = capsys.readouterr().out
    assert told.count("Your answer is None") == 4
    assert exercise.letters.about[0][1] not in told


@in_letters
@pytest.mark.parametrize("wrong", ["xy", [True, False], 3, object(), "1, 2"])
def test_what_is_no_letter_is_no_try(exercise, wrong, capsys):
    for _ in range(4):
        check(exercise.id, wrong)
    told = capsys.readouterr().out
    assert "✗ I was given" in told
    assert exercise.letters.about[0][1] not in told
