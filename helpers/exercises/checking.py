"""Hold `check`, `hint` and `solution`: the only functions of this package that print results; they
never raise.
"""

from collections.abc import Callable

from helpers.exercises.exercise import Exercise, find, nearest
from helpers.exercises.verdict import judge
from helpers.text import fold
from helpers.untrusted.describe import describe
from helpers.untrusted.plain import NotRead, is_a, plain
from helpers.untrusted.sandbox import Failed, attempt

_MISSING = object()
_MARKS = {"stub": ": ", "right": " ✓ ", "known": " ✗ ", "unknown": " ✗ "}
_given: dict[str, int] = {}


def check(exercise: object = _MISSING, answer: object = _MISSING, *more: object) -> None:
    """Print whether `answer` is right for the exercise with this id, and if not, what may lie
    behind it.

    Takes an id such as "02.1" and what the exercise asks for, in any reasonable form. A function is
    run on inputs of the exercise's own; what it prints meanwhile is dropped. Never raises; an
    interrupt passes.
    """
    _say(lambda: fold(_checked(exercise, answer, more)))


def hint(exercise: object = _MISSING) -> None:
    """Print the next hint of the exercise with this id; each call gives one more. Never raises."""
    _say(lambda: fold(_with(exercise, "hint", _next_hint)))


def solution(exercise: object = _MISSING) -> None:
    """Print code that solves the exercise with this id and defines `answer`. Never raises."""
    _say(lambda: _with(exercise, "solution", lambda found: found.solution.strip()))


def _checked(exercise: object, answer: object, more: tuple) -> str:
    if more:
        return "check takes one answer after the id: put several values in one list."
    return _with(exercise, "check", lambda found: _judged(found, answer))


def _judged(exercise: Exercise, answer: object) -> str:
    name = exercise.id
    if answer is _MISSING:
        return f'{name}: no answer was given. Pass it after the id: check("{name}", answer).'
    verdict = judge(exercise, answer)
    more = f'\n       hint("{name}") gives a hint.' if verdict.kind == "unknown" else ""
    return f"{name}{_MARKS[verdict.kind]}{verdict.text}{more}"


def _next_hint(exercise: Exercise) -> str:
    name, count = exercise.id, len(exercise.hints)
    given = _given.get(name, 0)
    if given >= count:
        return f'{name}: that was the last of {count} hints. solution("{name}") shows the code.'
    _given[name] = given + 1
    return f"{name}, hint {given + 1} of {count}: {exercise.hints[given]}"


def _with(exercise: object, caller: str, then: Callable[[Exercise], str]) -> str:
    """Find the exercise and go on with it, or say which ids there are."""
    name = _name(exercise)
    found = find(name)
    if found:
        return then(found)
    near = nearest(name)
    call = f'{caller}("{near[0]}", answer)' if caller == "check" else f'{caller}("{near[0]}")'
    if name:
        return f'There is no exercise "{name}". The nearest are {", ".join(near)}: {call}.'
    given = "nothing" if exercise is _MISSING else describe(exercise)
    return f"{caller} was given {given} where an exercise's id belongs. Write the id first: {call}."


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


def _say(make: Callable[[], str]) -> None:
    """Print the text that `make` returns, with "?" for ✓ where the output cannot show it."""
    text = attempt(make)
    if is_a(text, Failed):
        text = f"check stopped: {text}. The fault is the exercise's, not yours; please report it."
    try:
        print(text)
    except UnicodeEncodeError:
        print(text.encode("ascii", "replace").decode())
