"""Hold `check`, `hint` and `solution`: the only functions of this package that show results; they
never raise.
"""

from collections.abc import Callable

from helpers.answers import Card, say, show
from helpers.exercises.exercise import Exercise, find, nearest
from helpers.exercises.verdict import judge
from helpers.text import fold
from helpers.untrusted.describe import describe
from helpers.untrusted.plain import NotRead, is_a, plain
from helpers.untrusted.sandbox import Failed, attempt

_MISSING = object()
_MARKS = {"stub": ": ", "right": " ✓ "}  # in plain text; the others are wrong
_WRONG = " ✗ "
_WORDS = {  # of a card: its look and the word beside the sign
    "stub": ("partly", "Not yet"),
    "right": ("right", "Right"),
    "known": ("wrong", "Not right"),
    "unknown": ("wrong", "Not right"),
    "partly": ("partly", "Partly right"),
    "unread": ("partly", "Not understood"),
}
_given: dict[str, int] = {}


def check(exercise: object = _MISSING, answer: object = _MISSING, *more: object) -> None:
    """Show whether `answer` is right for the exercise with this id, and if not, what may lie
    behind it.

    Takes an id such as "02.1" and what the exercise asks for, in any reasonable form. A function is
    run on inputs of the exercise's own; what it prints stands above the answer, of the run that is
    spoken of. Never raises; an interrupt passes.
    """
    _show(lambda: _checked(exercise, answer, more))


def hint(exercise: object = _MISSING, number: object = _MISSING, *more: object) -> None:
    """Show the next hint of the exercise with this id, or once more the one with this `number`.

    Each call without a number gives one more. Never raises.
    """
    _show(lambda: _hinted(exercise, number, more))


def solution(exercise: object = _MISSING) -> None:
    """Print code that solves the exercise with this id and defines `answer`. Never raises."""
    card = _made(lambda: _with(exercise, "solution", _solved))
    say(card.text)


def _checked(exercise: object, answer: object, more: tuple) -> Card:
    if more:
        return _unclear("check takes one answer after the id: put several values in one list.")
    return _with(exercise, "check", lambda found: _judged(found, answer))


def _judged(exercise: Exercise, answer: object) -> Card:
    name = exercise.id
    if answer is _MISSING:
        return _unclear(
            f'{name}: no answer was given. Pass it after the id: check("{name}", answer).'
        )
    verdict = judge(exercise, answer)
    look, word = _WORDS[verdict.more or verdict.kind]
    body = sentence(verdict.text)
    text = f"{name}{_MARKS.get(verdict.kind, _WRONG)}{verdict.text}"
    if verdict.kind == "unknown":
        advice = f'hint("{name}") gives a hint.'
        body, text = f"{body}\n{advice}", f"{text}\n       {advice}"
    return Card(look, word, name, body, fold(text), is_news=True, printed=verdict.printed)


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning, which follows on an id no more."""
    return text[:1].upper() + text[1:]


def _hinted(exercise: object, number: object, more: tuple) -> Card:
    if more:
        return _unclear('hint takes one number after the id, such as hint("02.1", 1).', "No hint")
    then = _next_hint if number is _MISSING else lambda found: _hint_again(found, number)
    return _with(exercise, "hint", then)


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
    return _unclear(
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
    plain_text = fold(f"{name}, hint {number} of {count}: {text}")
    return Card("partly", f"Hint {number} of {count}", name, text, plain_text, is_news=True)


def _unclear(text: str, word: str = "Not checked") -> Card:
    """Answer a call that cannot be followed."""
    return Card("partly", word, "", text, fold(text), is_news=True)


def _with(exercise: object, caller: str, then: Callable[[Exercise], Card]) -> Card:
    """Find the exercise and go on with it, or say which ids there are."""
    name = _name(exercise)
    found = find(name)
    if found:
        return then(found)
    near = nearest(name)
    word = {"check": "Not checked", "hint": "No hint"}.get(caller, "")
    call = f'{caller}("{near[0]}", answer)' if caller == "check" else f'{caller}("{near[0]}")'
    if name:
        text = f'There is no exercise "{name}". The nearest are {", ".join(near)}: {call}.'
        return _unclear(text, word)
    given = "nothing" if exercise is _MISSING else describe(exercise)
    text = f"{caller} was given {given} where an exercise's id belongs. Write the id first: {call}."
    return _unclear(text, word)


def _name(exercise: object) -> str:
    """Return what was given as an id as a short text, or "" if it cannot be meant as one."""
    try:
        value = plain(exercise)
    except NotRead:
        return ""
    one_id = is_a(value, str, float) and not is_a(exercise, type)
    return (
        describe(value).removeprefix("the text ").removeprefix("the number ").strip('" ')
        if one_id
        else ""
    )


def _solved(exercise: Exercise) -> Card:
    code = exercise.solution.strip()
    return Card("right", "Solution", exercise.id, code, code)


def _show(make: Callable[[], Card]) -> None:
    show(_made(make))


def _made(make: Callable[[], Card]) -> Card:
    """Return the card that `make` returns; one that owns to a fault where it raises."""
    card = attempt(make)
    if not is_a(card, Failed):
        return card
    text = f"check stopped: {card}. The fault is the exercise's, not yours; please report it."
    return Card("wrong", "Stopped", "", text, fold(text))
