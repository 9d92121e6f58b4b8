"""Judge one answer: stub, right, a known misconception, or unknown; returns data, prints nothing."""

from dataclasses import dataclass

from helpers.exercises.exercise import Exercise, Misconception, SameAs
from helpers.exercises.functions import inputs_of, is_stub
from helpers.exercises.readers import Reader
from helpers.exercises.values import same
from helpers.text import visible
from helpers.untrusted.describe import describe, show
from helpers.untrusted.plain import NotRead, is_a, plain
from helpers.untrusted.sandbox import Failed, attempt

_UNREAD = object()


@dataclass(frozen=True)
class Verdict:
    """Hold how an answer was judged ("stub", "right", "known", "unknown") and what to say."""

    kind: str
    text: str


def judge(exercise: Exercise, answer: object) -> Verdict:
    """Judge `answer` against what torch computes now; the student's code runs only inside
    `attempt`.
    """
    if is_stub(answer):
        return Verdict(
            "stub", f"not answered yet. Replace the dots by {exercise.reader.wants} and run again."
        )
    reading, trouble = _read(exercise.reader, answer)
    if reading is not _UNREAD and _right(exercise, reading) is True:
        return Verdict("right", exercise.right)
    for idea in exercise.misconceptions:
        if attempt(_matches, idea, exercise.reader, reading, answer) is True:
            return Verdict("known", idea.message)
    return Verdict("unknown", trouble or _unknown(exercise, reading, answer))


def _read(reader: Reader, answer: object) -> tuple[object, str]:
    try:
        return reader.read(answer), ""
    except NotRead as error:
        why = f"; {error}" if error.args else ""
        return _UNREAD, f"I was given {describe(answer)}{why}. This exercise wants {reader.wants}."


def _right(exercise: Exercise, reading: object) -> bool | Failed:
    """Tell whether a reading is right; a Failed when the student's function raised inside a judge."""
    if exercise.judge is not None:
        return attempt(lambda: bool(exercise.judge(reading)))
    return same(reading, exercise.reader.read(exercise.truth()), exercise.reader.rtol)


def _matches(idea: Misconception, reader: Reader, reading: object, answer: object) -> bool:
    if callable(idea.when):
        return reading is not _UNREAD and bool(idea.when(reading))
    wrong = idea.when.compute() if is_a(idea.when, SameAs) else idea.when
    if reading is _UNREAD:
        return _loose(plain(answer)) == _loose(plain(wrong))
    return same(reading, _read(reader, wrong)[0], reader.rtol)


def _loose(value: object) -> str:
    """Compare what no reader could read, such as None or "error", by its text."""
    return show(value).strip('" ').casefold()


def _unknown(exercise: Exercise, reading: object, answer: object) -> str:
    if is_a(reading, tuple) and exercise.reader.cases:
        return _of_cases(exercise, reading, answer)
    if callable(reading):
        ended = _right(exercise, reading)
        did = (
            f"it raised {ended}" if is_a(ended, Failed) else "it does not do what the exercise asks"
        )
        return f"I ran {describe(answer)}; {did}."
    return f"I read {describe(answer)}. That is not it, and I do not know what led you there."


def _of_cases(exercise: Exercise, reading: tuple, answer: object) -> str:
    """Say which cases a function failed, and for the first what it was given and what it did."""
    reader = exercise.reader
    pairs = zip(reading, reader.read(exercise.truth()), strict=True)
    wrong = [case for case, pair in enumerate(pairs) if not same(*pair, reader.rtol)]
    inputs = attempt(
        lambda: ", ".join(describe(each) for each in inputs_of(reader.cases[wrong[0]]))
    )
    failed = f"I ran {describe(answer)} on {len(reading)} cases; {len(wrong)} went wrong."
    return f"{failed} In case {wrong[0] + 1}, given {inputs}, {_did(reading[wrong[0]])}."


def _did(outcome: object) -> str:
    if not is_a(outcome, Failed):
        return f"I saw {visible(show(outcome))}"
    return f"it gave {outcome.text}" if outcome.kind == "unreadable" else f"it raised {outcome}"
