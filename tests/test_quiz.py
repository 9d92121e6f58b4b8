"""Guesses are kept in one file, and nothing given to `keep` or found in that file makes it raise."""

import json
import re
from datetime import date
from pathlib import Path

import nbformat
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import predict, progress
from helpers.predicting.again import Again
from helpers.predicting.kinds import KEY
from helpers.progress_file import FILE, OLDER, PREDICTIONS
from helpers.progress_file import kept as all_kept
from helpers.quiz import keep, kept, then_and_now

LESSONS = Path(__file__).resolve().parents[1] / "notebooks"
OPEN = "Open: q1, q2. Put a letter in place of the dots and run again.\n"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.delenv("PROGRESS_FOLDER")
    monkeypatch.chdir(tmp_path)


def test_dots_keep_nothing_and_say_the_same_whether_a_file_is_there_or_not(capsys):
    keep(q1=..., q2=...)
    assert capsys.readouterr().out == OPEN
    assert not Path(FILE).exists()
    keep(q1="b")
    capsys.readouterr()
    keep(q1=..., q2=...)
    assert capsys.readouterr().out == OPEN
    assert kept() == {"q1": "b"}


def test_a_guess_is_kept_beside_earlier_ones_and_replaces_its_own(capsys):
    keep(q1="b", q2="C")
    keep(q1=..., q2="(a) fails")
    assert kept() == {"q1": "b", "q2": "a"}
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "Kept in progress.json: q1, q2."
    assert out[1:] == ["Kept in progress.json: q2.", OPEN.strip().replace(", q2", "")]


def test_guesses_of_an_older_copy_are_taken_over_and_left_as_they_are():
    text = '{"q1": {"a": 1}, "q2": "z", "note": "mine", "q3": "c", "q4": ["a"]}'
    Path(OLDER).write_text(text)
    assert kept() == {"q3": "c"}
    assert not Path(FILE).exists()
    keep(q5="b")
    assert kept() == {"q3": "c", "q5": "b"}
    assert sorted(json.loads(Path(FILE).read_text())[PREDICTIONS]) == ["quiz.3", "quiz.5"]
    assert Path(OLDER).read_text() == text
    keep(q3="a")
    assert kept() == {"q3": "a", "q5": "b"}


class Broken:
    """Fail at whatever a cell would print of it."""

    def __repr__(self):
        return self.text


ODD = {"broken": Broken, "tensor": lambda: torch.ones(3), "endless": lambda: iter(int, 1)}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_what_is_no_letter_is_named_and_the_others_are_kept(make, capsys):
    keep(q1=make(), q2="c")
    out = capsys.readouterr().out
    assert out.startswith("q1: you gave ")
    assert len(out) < 400
    assert kept() == {"q2": "c"}


ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
JUNK = ATOMS | st.lists(ATOMS, max_size=3) | st.dictionaries(st.text(max_size=5), ATOMS, max_size=3)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    junk=st.dictionaries(st.from_regex(r"q?\d{1,2}|\w{1,3}", fullmatch=True), JUNK, max_size=4),
    file=JUNK,
)
def test_no_junk_raises(junk, file):
    Path(FILE).write_text(json.dumps(file, default=repr))
    keep(**junk)
    then_and_now(**junk)
    assert set(kept().values()) <= {"a", "b", "c"}


def cells_of(lesson):
    """Return the cells of a lesson that belong to the quiz."""
    cells = nbformat.read(LESSONS / lesson, as_version=4).cells
    return [one for one in cells if one.id.startswith(("loop-48", "loop-50", "quiz-"))]


def options(text):
    """Return the options of a question by letter."""
    found = re.split(r"(?m)(?:^- | )\(([a-z])\) ", text)[1:]
    return dict(zip(found[::2], found[1::2], strict=True))


def asked_last():
    """Return the questions of lesson 11, each with its options by letter."""
    text = "\n".join(cell.source for cell in cells_of("11_training_loop.ipynb"))
    return {nr: options(words) for nr, words in re.findall(r"(?m)^\d\. `q(\d)`: (.+)$", text)}


def asked_first():
    """Return the questions of lesson 00, which asks each in a cell of its own."""
    cells = nbformat.read(LESSONS / "00_start_here.ipynb", as_version=4).cells
    named = [(cell.metadata.get("course", {}).get("id", ""), cell.source) for cell in cells]
    return {name[5:]: options(text) for name, text in named if name.startswith("quiz.")}


def raises(loss):
    """Tell whether a second backward() raises."""
    loss.backward()
    try:
        loss.backward()
    except RuntimeError:
        return True
    return False


def torch_says():
    """Answer the four questions by running them: for each the letter, and what the right option
    says.
    """
    x, v = torch.tensor(3.0, requires_grad=True), torch.ones(2, requires_grad=True)
    plain = torch.ones(2)
    w = torch.ones(2, requires_grad=True) * 0.1
    for loss in (x * 2, x * 2, x * 2, w.sum()):
        loss.backward()
    plain.required_grad = True
    second = [raises((v + 1).sum()), raises((v**2).sum())]
    nameless = w.grad_fn.next_functions[0][0].variable
    return {
        "3": ("c" if plain.requires_grad else "a", "nothing"),
        "4": ("c" if nameless.grad is not None else "b", "name"),
        "7": ("abc"[[[False, False], [True, True], [False, True]].index(second)], "only"),
        "8": ({2: "a", 6: "b", 8: "c"}[x.grad.item()], "6"),
    }


def test_lesson_11_asks_the_quiz_of_notebook_00_and_its_key_is_what_torch_does():
    says = torch_says()
    told = "\n".join(cell.source for cell in cells_of("11_training_loop.ipynb"))
    right = {nr: letter for nr, (letter, _) in says.items()}
    assert dict(re.findall(r"(?m)^\d\. `q(\d)` is \*\*\(([a-z])\)\*\*", told)) == right
    assert {nr.removeprefix("quiz."): letter for nr, letter in KEY.items()} == right
    for questions in (asked_first(), asked_last()):
        assert questions.keys() == says.keys()
        for nr, (letter, words) in says.items():
            assert words in questions[nr][letter], f"option {letter} of question {nr}"


def test_a_choice_is_answered_at_once_with_the_guess_of_then_beside_it(capsys):
    predict("quiz.4", "b")
    predict("quiz.7", "c")
    then_and_now(q4="c", q3="a", q7="(b)", q8=..., q1=...)
    assert capsys.readouterr().out.splitlines() == [
        "q4: You said (c), and that's right. In lesson 00 you said (b). Lesson 03 shows it.",
        "q3: You said (a), and that's right. Lesson 02 shows it.",
        "q7: It's (c), but you said (b). In lesson 00 you said (c). Lesson 07 shows it.",
        'q8: your guess, one of a, b, c. Without buttons: then_and_now(q8="a")',
        "quiz.1 is from an earlier edition and isn't asked any more.",
    ]
    assert kept() == {"q4": "b", "q7": "c"}


def test_the_browser_is_told_what_is_right_and_what_was_guessed_only_after_the_choice(monkeypatch):
    monkeypatch.setattr("helpers.pace.today", lambda: date(2026, 11, 24))
    predict("quiz.4", "b")
    made = Again("q4")
    state = json.dumps(made.get_state(set(made.keys) - {"_esm", "_css"}))
    assert (made.choice, made.answer) == ("", None)
    assert '"right"' not in state
    assert "In lesson 00" not in state
    made.set_state({"choice": "a", "sure": True})
    assert (made.answer["right"], made.answer["why"]) == ("c", [])
    assert made.answer["takeaway"] == "In lesson 00 you said (b). Lesson 03 shows it."
    assert all_kept()[PREDICTIONS]["quiz.4"] == {
        "first": "b",
        "sure": False,
        "day": "2026-11-24",
        "now": "a",
        "sure_now": True,
    }


def test_a_second_run_shows_the_first_choice_again_and_keeps_it(capsys):
    then_and_now(q4="a")
    first = capsys.readouterr().out
    then_and_now(q4=...)
    then_and_now(q4="c")
    assert capsys.readouterr().out == first * 2
    assert all_kept()[PREDICTIONS]["quiz.4"]["now"] == "a"
    assert kept() == {}


def test_progress_counts_the_quiz_then_and_now_once_lesson_11_has_asked():
    predict("quiz.4", "b")
    predict("quiz.7", "c")
    assert repr(progress()) == "Quiz: 2 guesses kept. Lesson 11 asks once more."
    then_and_now(q4="c", q8="b", q3="c")
    assert repr(progress()) == "Quiz: right in lesson 00 1 of 2, right in lesson 11 2 of 3."


def test_what_cannot_be_kept_is_said_and_answered_all_the_same(capsys):
    Path(FILE).write_text('["mine"]')
    then_and_now(q4="c")
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("q4: You said (c), and that's right. Lesson 03 shows it. Not kept: ")
    assert Path(FILE).read_text() == '["mine"]'
