"""Hold `check`, `hint` and `solution`: what a student calls about an exercise. They never raise."""

import sys
from dataclasses import replace
from types import FrameType

from autograd_graphs.answer_card import Card, say, show, strip_marks
from autograd_graphs.plain_values import describe
from autograd_graphs.text import fold, sentence
from helpers.engine.cells import Cell, running
from helpers.engine.keeping import earlier, keep
from helpers.exercises.asking import (
    MISSING,
    VARIANTS,
    as_number,
    asked,
    made,
    no_such,
    note,
    unclear,
    worked,
)
from helpers.exercises.exercise import Exercise
from helpers.exercises.letters import ASKED_FOR
from helpers.exercises.verdict import Verdict, judge
from helpers.progress_file import count

_MARKS = {"stub": ": ", "right": " ✓ "}  # in plain text; the others are wrong
_WRONG = " ✗ "
_WORDS = {  # of a card: its look and the word beside the sign
    "stub": ("partly", "Not yet"),
    "right": ("right", "Right"),
    "known": ("wrong", "Not right"),
    "letters": ("wrong", "Not right"),
    "unknown": ("wrong", "Not right"),
    "ours": ("wrong", "Stopped"),
    "partly": ("partly", "Partly right"),
    "unread": ("partly", "Not understood"),
}
COLUMN = 13  # where what follows on a label begins
_given: dict[str, int] = {}  # how many hints of each exercise
_tried: dict[str, set] = {}  # the wrong answers to each exercise in letters, and to each variant


def check(
    exercise: object = MISSING, answer: object = MISSING, *more: object, reveal: object = False
) -> None:
    """Show whether `answer` is right for the exercise with this id, and if not, what may lie
    behind it.

    Takes an id such as "02.1" and what the exercise asks for, in any reasonable form. Of a stage of
    your engine it reads the cell in which it stands. A function is
    run on inputs of the exercise's own; what it prints stands above the answer, of the run that is
    spoken of. With `reveal=True` a wrong answer is told what was expected; for an exercise in
    letters only after three wrong ones. Never raises; an interrupt passes.
    """
    show(made(_checked, exercise, answer, more, reveal is True, sys._getframe(1)))


def _checked(exercise: object, answer: object, more: tuple, reveal: bool, frame: FrameType) -> Card:
    if more:
        return unclear(
            "check takes one answer after the id. If you have several values, put them in one list."
        )
    task = asked(exercise)
    if task is None:
        return no_such(exercise, "check")
    if answer is MISSING:
        call = f'check("{task.id}", answer)'
        return unclear(f"{task.id}: there's no answer to check. Put it after the id: {call}.")
    if task.stage:
        source = answer if isinstance(answer, str) else running(frame)
        answer = Cell(task.stage, source, earlier(task.stage)[0])
    verdict = judge(task, answer, reveal)
    if task.stage and verdict.kind == "right":
        verdict = replace(verdict, text=f"{verdict.text} {keep(answer)}")
    noted = _note(task.id, verdict)
    return _card(task, verdict, [*_more(task, verdict, reveal), *noted])


def _card(task: Exercise, verdict: Verdict, more: list[str]) -> Card:
    """Return the card of a verdict, with what is said below it."""
    look, word = _WORDS[verdict.more or verdict.kind]
    lines = [*verdict.text.split("\n"), *more]
    body = "\n".join([sentence(lines[0]), *lines[1:]])
    begin = f"{task.id}{_MARKS.get(verdict.kind, _WRONG)}"
    return Card(look, word, task.id, body, plainly(begin, lines), True, verdict.printed)


def _note(name: str, verdict: Verdict) -> list[str]:
    """Count a try in the progress file; an exercise that is not answered yet, or that stopped by
    our own fault, is none. Return what is to be said of it: at review, when the exercise comes back.
    """
    if verdict.kind in ("stub", "ours") or verdict.more == "unread":
        return []
    is_right = verdict.kind == "right"
    return note(name, is_right, lambda record: _tried_once_more(record, is_right))


def _tried_once_more(record: dict, is_right: bool) -> dict:
    if record.get("solved") is True:
        return record
    tries = count(record, "tries") + 1
    return record | {"tries": tries, "solved": is_right} | worked(record)


def plainly(begin: str, lines: list[str]) -> str:
    """Return the lines of an answer for a terminal: a label and its text stand in columns."""
    inner = ["       " + line.replace("\t", " " * (COLUMN - line.find("\t"))) for line in lines[1:]]
    return "\n".join(fold(strip_marks(line)) for line in [begin + lines[0], *inner])


def _more(exercise: Exercise, verdict: Verdict, reveal: bool) -> list[str]:
    """Return the lines that follow on what is said of an answer."""
    name = exercise.id
    if verdict.kind == "right" and exercise.varies and name not in VARIANTS:
        return [f'One more like this? again("{name}")']
    if verdict.kind == "letters":
        return _after_tries(exercise, verdict, reveal)
    if verdict.kind != "unknown":
        return []
    advice = f'hint("{name}") helps'
    if verdict.more == "unread" or reveal or exercise.reader.tells:
        return [f"{advice}."]
    return [f'{advice}. check("{name}", answer, reveal=True) shows what was expected.']


def _after_tries(exercise: Exercise, verdict: Verdict, reveal: bool) -> list[str]:
    """Return what is said of letters after some tries: what each is about, at last the answer."""
    tried = _tried.setdefault(exercise.id + exercise.solution, set())
    tried.add(verdict.seen)
    left = ASKED_FOR - len(tried)
    if left > 0 and reveal:
        return [
            f"I'll show the answer after {ASKED_FOR} different wrong ones. You have {left} to go."
        ]
    if left > 0:
        return [f'hint("{exercise.id}") helps.']
    if reveal:
        return [f"The answer is: {', '.join(sorted(exercise.reader.read(exercise.truth())))}."]
    about = [f"  - {letter}: {text}" for letter, text in exercise.letters.about]
    return [*about, f'check("{exercise.id}", answer, reveal=True) shows which.']


def hint(exercise: object = MISSING, number: object = MISSING, *more: object) -> None:
    """Show the next hint of the exercise with this id, or once more the one with this `number`.

    Each call without a number gives one more. Never raises.
    """
    show(made(_hinted, exercise, number, more))


def solution(exercise: object = MISSING) -> None:
    """Print code that solves the exercise with this id and defines `answer`. Never raises."""
    say(made(_solved, exercise).text)


def _hinted(exercise: object, number: object, more: tuple) -> Card:
    if more:
        return unclear('hint takes one number after the id, such as hint("02.1", 1).', "No hint")
    task = asked(exercise)
    if task is None:
        return no_such(exercise, "hint")
    return _next_hint(task) if number is MISSING else _hint_again(task, number)


def _next_hint(exercise: Exercise) -> Card:
    name, count = exercise.id, len(exercise.hints)
    given = _given.get(name, 0)
    if given >= count:
        last = f'that was the last of {count} hints. solution("{name}") shows the code.'
        body = f'{sentence(last)}\nhint("{name}", 1) shows the first again.'
        return Card("partly", "No more hints", name, body, fold(f"{name}: {last}"), is_news=True)
    return _hint(exercise, given + 1)


def _hint_again(exercise: Exercise, wanted: object) -> Card:
    name, count = exercise.id, len(exercise.hints)
    asked = as_number(wanted)
    if asked in range(1, count + 1):
        return _hint(exercise, int(asked))
    numbers = " or ".join(map(str, range(1, count + 1)))
    return unclear(
        f"{name} has {count} hints, but you asked for {describe(wanted)}. "
        f'Ask for {numbers}, such as hint("{name}", 1), or for the next one: hint("{name}").',
        "No hint",
    )


def _hint(exercise: Exercise, at: int) -> Card:
    """Give a hint, and note in the progress file how many were taken; the next one is after it."""
    name, count, text = exercise.id, len(exercise.hints), exercise.hints[at - 1]
    _given[name] = max(at, _given.get(name, 0))
    note(name, False, lambda record: _hinted_once_more(record, at))
    plain_text = fold(f"{name}, hint {at} of {count}: {text}")
    return Card("partly", f"Hint {at} of {count}", name, text, plain_text, is_news=True)


def _hinted_once_more(record: dict, taken: int) -> dict:
    return _helped(record, {"hints": max(taken, count(record, "hints"))})


def _helped(record: dict, news: dict) -> dict:
    """Return a record after help was taken; what comes after the right answer is no help."""
    if record.get("solved") is True:
        return record
    return record | news | worked(record)


def _solved(exercise: object) -> Card:
    task = asked(exercise)
    if task is None:
        return no_such(exercise, "solution")
    code = task.solution.strip()
    note(task.id, False, lambda record: _helped(record, {"solution": True}))
    return Card("right", "Solution", task.id, code, code)
