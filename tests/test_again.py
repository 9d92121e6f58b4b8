"""`again` asks an exercise once more: another program or other hidden cases, which `check` judges."""

import re

import pytest

from autograd_graphs.plain_values import show
from helpers import again, check, hint, solution
from helpers.exercises import asking
from helpers.exercises.exercise import exercises, find, lessons
from helpers.exercises.programs import run
from helpers.exercises.verdict import judge

pytestmark = pytest.mark.usefixtures("unfolded")
ALL = [one for lesson in lessons() for one in exercises(lesson)]
CODE = [one for one in ALL if one.reader.cases and one.varies]
OTHERS = [one for one in ALL if not one.reader.cases and one.varies]
SEEDS = range(100)
NUMBER = re.compile(r"\d+(\.\d+)?")


@pytest.fixture(autouse=True)
def nothing_asked_again():
    yield
    asking.VARIANTS.clear()


def said(capsys, call, *args, **named):
    call(*args, **named)
    return capsys.readouterr().out


@pytest.mark.parametrize("exercise", OTHERS, ids=lambda one: one.id)
def test_a_hundred_variants_can_be_solved_and_differ_in_more_than_digits(exercise):
    variants = [exercise.variant(seed) for seed in SEEDS]
    assert len({one.program for one in variants}) >= 20
    assert len({NUMBER.sub("#", one.program) for one in variants}) >= 3
    for one in variants:
        answer = one.truth()
        assert judge(one, answer).kind == "right"
        assert one.asked
        assert "answer" not in one.program
        assert unknown_names(one) == set()
        assert not is_told(one)
    assert exercise.variant(3).solution == variants[3].solution


EXPLAINED = {  # names that the sentence itself explains
    "00.6": {"cards", "arrows", "at_x"},
    "01.4": {"result"},
    "04.2": {"MulBackward0"},
    "09.1": {"_version"},
    "15.2": {"saved", "kept", "runs"},
}


def unknown_names(variant):
    """Return the names in the code of what is asked that the program shows nowhere."""
    names = set()
    for code in re.findall("`([^`]+)`", variant.asked):
        names |= set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", code))
    names -= {"None", "del", *EXPLAINED.get(variant.id, ())}
    return names - set(re.findall(r"[A-Za-z_]\w*", variant.program))


def is_told(variant):
    """Tell whether the answer stands in the statement: a list as a list, a number anywhere."""
    truth, text = variant.reader.read(variant.truth()), variant.program + variant.asked
    if isinstance(truth, float):
        return truth in [float(number[0]) for number in NUMBER.finditer(text)]
    return show(truth) in text or str(variant.truth()) in text


@pytest.mark.parametrize("exercise", [one for one in OTHERS if one.letters], ids=lambda one: one.id)
def test_a_letter_is_right_by_its_own_line_alone(exercise):
    """Lines do not help each other, and in each variant some letters are right and some are not."""
    bank, letters = exercise.vary.__self__, "ABCDEFGHIJKLMNOPQRSTU"
    for begin in bank.begins:
        together = run(bank.of(letters, begin)["solution"])
        for letter, line in zip(letters, bank.lines, strict=False):
            alone = run(bank.of("AB", begin, [line])["solution"])
            assert bool(alone) is (letter in together)
    for seed in SEEDS:
        variant = exercise.variant(seed)
        assert 0 < len(variant.truth()) < len(variant.letters.about) == 6


def test_no_variant_turns_on_how_torch_rounds_a_half():
    for seed in range(300):
        data = find("12.2").variant(seed).quantities.data
        assert all(round(10 * number) * data["k"] % 10 != 5 for number in data["x"]), data


@pytest.mark.parametrize("exercise", CODE, ids=lambda one: one.id)
def test_a_function_meets_other_cases_which_its_solution_passes(exercise):
    variant = exercise.variant(7)
    assert len(variant.reader.cases) == len(exercise.reader.cases)
    assert not set(variant.reader.cases) <= set(exercise.reader.cases)
    answer = variant.solution if variant.stage else run(variant.solution)
    assert judge(variant, answer).kind == "right"


def test_every_exercise_of_a_lesson_has_variants():
    assert [one.id for one in ALL if not one.varies] == []


def test_check_hint_and_solution_are_about_the_variant_until_the_original_is_asked_for(capsys):
    told = said(capsys, again, "06.1", seed=3)
    variant = find("06.1").variant(3)
    assert variant.program.splitlines()[1] in told
    assert 'again("06.1", seed=3)' in told
    right = said(capsys, check, "06.1", variant.truth())
    assert "✓" in right
    assert "again(" not in right, "it is one already"
    assert "✗" in said(capsys, check, "06.1", find("06.1").truth())
    assert said(capsys, solution, "06.1").strip() == variant.solution.strip()
    assert "hint 1 of" in said(capsys, hint, "06.1", 1)
    assert "as it is in the lesson" in said(capsys, again, "06.1", original=True)
    assert "✓" in said(capsys, check, "06.1", find("06.1").truth())


def test_without_a_seed_another_variant_comes_and_a_seed_that_is_none_is_said(capsys):
    assert len({said(capsys, again, "09.1") for _ in range(5)}) > 1
    assert "A seed is a whole number" in said(capsys, again, "06.1", seed="three")
    assert "There is no exercise" in said(capsys, again, "66.1")


def test_a_variant_leaves_the_progress_file_as_it_is(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    again("06.1", seed=1)
    check("06.1", [1, 2])
    hint("06.1")
    assert list(tmp_path.iterdir()) == []
