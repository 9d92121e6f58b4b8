"""Hold `hint` and `solution`; they never raise."""

from autograd_graphs.text import fold
from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import NotRead, is_a, plain
from helpers.answers import Card, say
from helpers.exercises.asking import MISSING, made, sentence, show_made, unclear, with_exercise
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
    then = _next_hint if number is MISSING else lambda found: _hint_again(found, number)
    return with_exercise(exercise, "hint", then)


def _next_hint(exercise: Exercise) -> Card:
    name, count = exercise.id, len(exercise.hints)
    given = _given.get(name, 0)
    if given >= count:
        last = f'that was the last of {count} hints. solution("{name}") shows the code.'
        body = f'{sentence(last)}\nhint("{name}", 1) shows the first again.'
        return Card("partly", "No more hints", name, body, fold(f"{name}: {last}"), is_news=True)
    return _hint(exercise, given + 1)


def _hint_again(exercise: Exercise, number: object) -> Card:
    """Give the hint with a number, or say which numbers there are."""
    name, count = exercise.id, len(exercise.hints)
    asked = _number(number)
    if asked in range(1, count + 1):
        return _hint(exercise, int(asked))
    numbers = " or ".join(map(str, range(1, count + 1)))
    return unclear(
        f"hint was asked for {describe(number)}, and {name} has {count} hints. "
        f'Ask for {numbers}, such as hint("{name}", 1), or for the next one: hint("{name}").',
        "No hint",
    )


def _number(number: object) -> object:
    """Return what was given as a number, None where it is none."""
    try:
        value = plain(number)
    except NotRead:
        return None
    return value if is_a(value, int, float) and not is_a(value, bool) else None


def _hint(exercise: Exercise, number: int) -> Card:
    """Give a hint; the next one is the one after it."""
    name, count, text = exercise.id, len(exercise.hints), exercise.hints[number - 1]
    _given[name] = max(number, _given.get(name, 0))
    _note(name, number)
    plain_text = fold(f"{name}, hint {number} of {count}: {text}")
    return Card("partly", f"Hint {number} of {count}", name, text, plain_text, is_news=True)


def _note(name: str, number: int) -> None:
    """Note in the progress file how many hints were taken."""
    note(name, False, lambda record: _hinted_once_more(record, number))


def _hinted_once_more(record: dict, number: int) -> dict:
    return record | {"hints": max(number, count(record, "hints"))} | worked(record)


def _solved(exercise: Exercise) -> Card:
    code = exercise.solution.strip()
    return Card("right", "Solution", exercise.id, code, code)
