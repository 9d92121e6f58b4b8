"""Hold `hint` and `solution`; they never raise."""

from autograd_graphs.answer_card import Card, say
from autograd_graphs.plain_values import describe
from autograd_graphs.text import fold
from helpers.exercises.asking import (
    MISSING,
    as_number,
    made,
    sentence,
    show_made,
    unclear,
    with_exercise,
)
from helpers.exercises.exercise import Exercise
from helpers.exercises.noting import note, worked
from helpers.progress_file import count

_given: dict[str, int] = {}  # how many hints of each exercise


def hint(exercise: object = MISSING, number: object = MISSING, *more: object) -> None:
    """Show the next hint of the exercise with this id, or once more the one with this `number`.

    Each call without a number gives one more. Never raises.
    """
    show_made(lambda: _hinted(exercise, number, more))


def solution(exercise: object = MISSING) -> None:
    """Print code that solves the exercise with this id and defines `answer`. Never raises."""
    card = made(lambda: with_exercise(exercise, "solution", _solved))
    say(card.text)


def _hinted(exercise: object, number: object, more: tuple) -> Card:
    if more:
        return unclear('hint takes one number after the id, such as hint("02.1", 1).', "No hint")
    if number is MISSING:
        return with_exercise(exercise, "hint", _next_hint)
    return with_exercise(exercise, "hint", lambda known: _hint_again(known, number))


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
        f"hint was asked for {describe(wanted)}, and {name} has {count} hints. "
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


def _solved(exercise: Exercise) -> Card:
    code = exercise.solution.strip()
    note(exercise.id, False, lambda record: _helped(record, {"solution": True}))
    return Card("right", "Solution", exercise.id, code, code)
