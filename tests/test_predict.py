"""A guess is read in any reasonable form, the first one is kept, and its answer comes after the guess
and the run of the one cell that settles it, in whichever order.
"""

import json
import os
from datetime import date

import made_up_guesses
import pytest
from jupyter_client.manager import KernelManager
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

from helpers.predicting import questions
from helpers.predicting.again import Recall
from helpers.predicting.attempting import attempt
from helpers.predicting.due import due
from helpers.predicting.from_notebook import digest
from helpers.predicting.kinds import kind_of
from helpers.predicting.overview import progress
from helpers.predicting.prediction import NO_DRAFT, answer_of, asked_of, predict
from helpers.predicting.questions import question
from helpers.progress_file import change, kept

PLACES = {  # the cells that ask and settle a question
    "99.q1": {"cell": "guess1", "run": "run1", "code": digest("x = 1\nx")},
    "99.q2": {"cell": "guess2", "run": "run2", "code": digest("y = 1")},
    "quiz.9": {"cell": "guess3"},
}
DATA = {name: data | PLACES[name] for name, data in made_up_guesses.DATA.items()}
ALL = {name: questions.made(name, data) for name, data in DATA.items()}
LETTERS, NUMBERS = ALL["99.q1"], ALL["99.q2"]
A_DAY = date(2026, 11, 25)
TODAY = {"day": A_DAY.isoformat()}


class Broken:
    """Fail at whatever a cell would print of it."""

    def __repr__(self):
        return self.text


@pytest.fixture(autouse=True)
def _three(tmp_path, monkeypatch):
    monkeypatch.setenv("PROGRESS_FOLDER", str(tmp_path))
    monkeypatch.setattr("helpers.pace.today", lambda: A_DAY)
    monkeypatch.setattr("helpers.pace.minutes_worked", lambda: 0)
    for module in ("overview", "prediction", "questions"):
        monkeypatch.setattr(f"helpers.predicting.{module}.every", lambda: ALL)


READ = [
    (LETTERS, "b", ["b", "B", "(b)", " b) ", "b.", ["b"]]),
    (LETTERS, "", ["", "d", "ab", 2, None, ["b", "c"], "b" * 999, object()]),
    (
        NUMBERS,
        "405, -0.5",
        ["405, -0.5", "405. −.5", "[405.0, -5e-1]", "x: 405 y: -0.5", (405, -0.5)],
    ),
    (NUMBERS, "", ["405", "1, 2, 3", "none", True, None, [405], [1, None]]),
]


@pytest.mark.parametrize(("asked", "reading", "every"), READ)
def test_a_guess_is_read_in_any_reasonable_form_and_nothing_else_is(asked, reading, every):
    assert [given for given in every if kind_of(asked).read(asked, given) != reading] == []


def test_a_guess_is_answered_with_its_own_reason():
    assert (
        kind_of(LETTERS).reply(LETTERS, "a")
        == "It's (b), but you said (a). It sounds so: a < b.</script>"
    )
    assert kind_of(LETTERS).reply(LETTERS, "b") == "You said (b), and that's right. It multiplies."
    of_numbers = kind_of(NUMBERS)
    said = "It's 405, -0.5, but you said 33, 5. 33 is the sum."
    assert of_numbers.reply(NUMBERS, "33, 5") == said
    assert of_numbers.reply(NUMBERS, "1, 2") == "It's 405, -0.5, but you said 1, 2. Paths add."
    right = "You said 405.1, -0.5, and that's right. Paths add."
    assert of_numbers.reply(NUMBERS, "405.1, -0.5") == right


def test_the_browser_is_told_nothing_of_the_answer_beforehand():
    made = predict("99.q1")
    state = json.dumps(made.get_state(made.keys))
    for told in ("multiplies", "sounds so", "matrix", "run1", '"right"'):
        assert told not in state
    assert "right" not in asked_of(LETTERS)
    assert answer_of(LETTERS)["right"] == "b"


def test_the_first_guess_is_kept_and_the_second_is_not(capsys):
    assert repr(predict("99.q1", "(A)")) == "99.q1: You said (a). Now run the next cell."
    assert repr(predict("99.q1", "b")) == "99.q1: You said (a). Now run the next cell."
    assert kept()["predictions"]["99.q1"] == {"first": "a", "sure": False, **TODAY}


def test_what_the_browser_sends_is_kept_and_what_it_may_not_send_is_not():
    made = predict("99.q1")
    made.choice = "z"
    assert (made.choice, kept()["predictions"]) == ("", {})
    made.set_state({"choice": "c", "sure": True})
    assert kept()["predictions"]["99.q1"] == {"first": "c", "sure": True, **TODAY}


def test_what_is_not_sent_comes_back_and_counts_as_nothing(tmp_path):
    half = {"given": "c", "sure": True}
    predict("99.q1").set_state({"draft": half})
    assert (predict("99.q1").draft, predict("99.q1").choice) == (half, "")
    assert kept()["predictions"] == {}
    assert (progress().lessons, due(kept())) == ((), [])
    predict("99.q1", "a")
    assert "draft" not in (tmp_path / "progress.json").read_text()
    assert predict("99.q1").draft == NO_DRAFT


@pytest.mark.parametrize("written", ["b", {"given": 3}, {"given": None, "sure": 1}])
def test_a_draft_that_somebody_wrote_by_hand_is_no_draft(written):
    change("predictions", "99.q1", lambda record: {"draft": written})
    assert predict("99.q1").draft == NO_DRAFT


def test_a_review_has_a_draft_of_its_own():
    predict("99.q1", "a")
    Recall(question("99.q1")).set_state({"draft": {"given": "b", "sure": False}})
    assert Recall(question("99.q1")).draft["given"] == "b"
    assert (predict("99.q1").draft, predict("99.q1").choice) == (NO_DRAFT, "a")


def test_what_is_no_question_and_no_guess_gets_a_sentence(capsys):
    assert predict("99.q7") is None
    assert predict(3) is None
    assert predict(Broken()) is None
    predict("99.q1", True)
    predict("99.q2", "b")
    predict("99.q2", Broken())
    said = capsys.readouterr().out.replace("\n", " ")
    assert 'There\'s no question "99.q7". There are 99.q1, 99.q2.' in said
    assert "99.q1: you gave True, but it asks for one of a, b, c" in said
    assert '99.q2: you gave the text "b", but it asks for 2 numbers' in said
    assert kept()["predictions"] == {}


SETUP = """
from helpers.pace import today
from helpers.predicting import questions
known = {name: questions.made(name, data) for name, data in {data}.items()}
questions.every = lambda: known
import helpers.predicting.prediction as prediction
prediction.every = questions.every
from helpers import predict
"""


def ran(tmp_path, *cells):
    """Run cells, given as (id, source), in a kernel that is told the ids, as JupyterLab does."""
    manager = KernelManager(
        kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=NbvalKernelspecManager()
    )
    manager.start_kernel(env=os.environ | {"PROGRESS_FOLDER": str(tmp_path)})
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=60)
        run(client, "setup", SETUP.replace("{data}", repr(DATA)))
        return {name: run(client, name, source) for name, source in cells}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client, name, source):
    """Run one cell under its id; return the text that it ended on, or the error's name."""
    request = client.session.msg("execute_request", {"code": source, "store_history": True})
    request["metadata"]["cellId"] = name
    client.shell_channel.send(request)
    found = ""
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
            continue
        content = message["content"]
        if message["msg_type"] == "execute_result":
            found = content["data"]["text/plain"]
        if message["msg_type"] == "error":
            found = content["ename"]
        if content.get("execution_state") == "idle":
            return found


@pytest.mark.slow
def test_only_the_paired_cell_brings_the_answer_and_without_ids_of_ours_the_code_tells(tmp_path):
    said = ran(
        tmp_path,
        ("guess1", 'made = predict("99.q1", "a")\nmade'),
        ("other", "x = 1\nmade.answer is None, made.ran"),
        ("run1", "x = = 1"),
        ("later", "made.answer is None, made.ran"),
        ("run1", "1 / 0"),
        ("after", "made.answer['right'], made.ran"),
        ("mine1", 'made = predict("99.q2", "1, 2")\nmade.ran'),
        ("run2", "y = 2\nmade.ran"),
        ("mine4", "\ny = 1  \n"),
        ("mine5", "made.ran"),
    )
    assert said["guess1"] == "99.q1: You said (a). Now run the next cell."
    assert said["other"] == said["later"] == "(True, False)"
    assert said["run1"] == "ZeroDivisionError"  # it ran, and shows what it shows
    assert said["after"] == "('b', True)"
    assert [said[name] for name in ("mine1", "run2", "mine5")] == ["False", "False", "True"]


def test_progress_counts_and_says_what_to_look_at_again():
    predict("99.q1", "a")
    predict("99.q2", "405, -0.5")
    predict("quiz.9", "a")
    change("predictions", "99.q1", lambda record: record | {"sure": True})
    change("predictions", "98.q1", lambda record: {"first": "a"})  # of a lesson that is no more
    change("exercises", "99.1", lambda record: {"tries": 3, "solved": True, "hints": 1})
    change("exercises", "99.2", lambda record: {"tries": 1, "solved": False, "hints": 2})
    change("exercises", "99.3", lambda record: {"hints": "many"})
    change("players", "99", lambda record: {"a:1": "right", "a:2": "wrong", "a:3": 7})
    (lesson,) = [one for one in progress().lessons if one.number == "99"]
    assert (lesson.right, lesson.guesses) == (2, 4)
    assert (lesson.solved, lesson.tried, lesson.hints) == (1, 2, 3)
    assert lesson.again == ("99.q1, One (you were sure)", "exercise 99.2")
    assert "99.q1, One (you were sure)" in repr(progress())
    assert "Quiz: 1 guess kept. Lesson 11 asks once more." in repr(progress())
    assert "<table " in progress()._repr_mimebundle_()["text/html"]


def test_attempt_prints_what_came_whatever_it_was(capsys):
    with attempt():
        raise ValueError("first. Second sentence")
    with attempt():
        pass
    with attempt():
        raise KeyError
    assert capsys.readouterr().out == "ValueError: first.\n(no error)\nKeyError\n"
    with pytest.raises(KeyboardInterrupt), attempt():
        raise KeyboardInterrupt
    with pytest.raises(SystemExit), attempt():
        raise SystemExit
