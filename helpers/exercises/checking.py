"""Hold `check`: it says what is thought of an answer; it never raises."""

from autograd_graphs.answer_card import Card, strip_marks
from autograd_graphs.text import fold
from helpers.exercises.asking import (
    MISSING,
    VARIANTS,
    sentence,
    show_made,
    unclear,
    with_exercise,
)
from helpers.exercises.exercise import Exercise
from helpers.exercises.letters import ASKED_FOR
from helpers.exercises.noting import note, worked
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
_tried: dict[str, set] = {}  # the wrong answers to each exercise in letters, and to each variant


def check(
    exercise: object = MISSING, answer: object = MISSING, *more: object, reveal: object = False
) -> None:
    """Show whether `answer` is right for the exercise with this id, and if not, what may lie
    behind it.

    Takes an id such as "02.1" and what the exercise asks for, in any reasonable form. A function is
    run on inputs of the exercise's own; what it prints stands above the answer, of the run that is
    spoken of. With `reveal=True` a wrong answer is told what was expected; for an exercise in
    letters only after three wrong ones. Never raises; an interrupt passes.
    """
    show_made(lambda: _checked(exercise, answer, more, reveal is True))


def _checked(exercise: object, answer: object, more: tuple, reveal: bool) -> Card:
    if more:
        return unclear("check takes one answer after the id: put several values in one list.")
    return with_exercise(exercise, "check", lambda known: _judged(known, answer, reveal))


def _judged(exercise: Exercise, answer: object, reveal: bool) -> Card:
    name = exercise.id
    if answer is MISSING:
        return unclear(
            f'{name}: no answer was given. Pass it after the id: check("{name}", answer).'
        )
    verdict = judge(exercise, answer, reveal)
    noted = _note(name, verdict)
    look, word = _WORDS[verdict.more or verdict.kind]
    lines = [*verdict.text.split("\n"), *_more(exercise, verdict, reveal), *noted]
    mark = _MARKS.get(verdict.kind, _WRONG)
    body = "\n".join([sentence(lines[0]), *lines[1:]])
    return Card(look, word, name, body, plainly(f"{name}{mark}", lines), True, verdict.printed)


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
        return [f"I tell the answer after {ASKED_FOR} different wrong ones. You have {left} to go."]
    if left > 0:
        return [f'hint("{exercise.id}") helps.']
    if reveal:
        return [f"The answer is: {', '.join(sorted(exercise.reader.read(exercise.truth())))}."]
    about = [f"  - {letter}: {text}" for letter, text in exercise.letters.about]
    return [*about, f'check("{exercise.id}", answer, reveal=True) tells the answer.']
