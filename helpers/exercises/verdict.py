"""Judge one answer: stub, right, a known misconception, or unknown; returns data, prints nothing."""

from dataclasses import dataclass

from helpers.exercises.exercise import Exercise, Misconception, SameAs
from helpers.exercises.functions import hear, inputs_of, is_stub, listening
from helpers.exercises.readers import Reader
from helpers.exercises.values import same
from helpers.text import shortened, visible
from helpers.untrusted.describe import describe, show
from helpers.untrusted.plain import NotRead, is_a, plain
from helpers.untrusted.sandbox import Failed, Heard, attempt

MOST_LINES, LONGEST_LINE = 40, 400  # of what a student's function prints
_UNREAD = object()


@dataclass(frozen=True)
class Verdict:
    """Hold how an answer was judged ("stub", "right", "known", "unknown") and what to say.

    `printed` is what the student's function printed, in the run that is spoken of. `more` says of
    what is unknown that it could not be read, "unread", or that a function did some cases right,
    "partly".
    """

    kind: str
    text: str
    printed: str = ""
    more: str = ""


def judge(exercise: Exercise, answer: object) -> Verdict:
    """Judge `answer` against what torch computes now; the student's code runs only inside
    `attempt`.
    """
    if is_stub(answer):
        return Verdict(
            "stub", f"not answered yet. Replace the dots by {exercise.reader.wants} and run again."
        )
    with listening() as runs:
        reading, trouble = _read(exercise.reader, answer)
    with listening() as judged:
        is_right = reading is not _UNREAD and _right(exercise, reading) is True
    if exercise.judge is not None:
        runs = judged
    printed = _printed(exercise, reading, runs)
    if is_right:
        return Verdict("right", exercise.right, printed)
    for idea in exercise.misconceptions:
        if attempt(_matches, idea, exercise.reader, reading, answer) is True:
            return Verdict("known", idea.message, printed)
    if trouble:
        return Verdict("unknown", trouble, more="unread")
    return Verdict("unknown", *_unknown(exercise, reading, answer, printed))


def _read(reader: Reader, answer: object) -> tuple[object, str]:
    try:
        return reader.read(answer), ""
    except NotRead as error:
        why = f"; {error}" if error.args else ""
        return _UNREAD, f"I was given {describe(answer)}{why}. This exercise wants {reader.wants}."


def _right(exercise: Exercise, reading: object) -> bool | Failed:
    """Tell whether a reading is right; a Failed when the student's function raised inside a judge."""
    if exercise.judge is not None:
        return attempt(lambda: bool(exercise.judge(reading)), heard=hear())
    return same(reading, exercise.reader.read(exercise.truth()), exercise.reader.rtol)


def _printed(exercise: Exercise, reading: object, runs: list[Heard]) -> str:
    """Return what was printed in the first run that went wrong, or in the first of all."""
    if not any(run.count for run in runs):
        return ""
    wrong = _wrong(exercise, reading) if exercise.reader.cases else []
    heard = runs[wrong[0] if wrong and wrong[0] < len(runs) else 0]
    lines = heard.text.split("\n")
    shown = "\n".join(shortened(line, LONGEST_LINE) for line in lines[:MOST_LINES])
    if heard.count > len(heard.text) or len(lines) > MOST_LINES:
        return f"{shown}\n… (your function printed {heard.count:,} characters)\n"
    return shown if shown.endswith("\n") else f"{shown}\n"


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


def _unknown(
    exercise: Exercise, reading: object, answer: object, printed: str
) -> tuple[str, str, str]:
    """Return what to say of an answer that no misconception explains, what it printed, and more."""
    if is_a(reading, tuple) and exercise.reader.cases:
        text, some_right = _of_cases(exercise, reading, answer)
        return text, printed, "partly" if some_right else ""
    if callable(reading):
        ended = _right(exercise, reading)
        did = (
            f"it raised {ended}" if is_a(ended, Failed) else "it does not do what the exercise asks"
        )
        return f"I ran {describe(answer)}; {did}.", printed, ""
    text = f"I read {describe(answer)}. That is not it, and I do not know what led you there."
    return text, printed, ""


def _of_cases(exercise: Exercise, reading: tuple, answer: object) -> tuple[str, bool]:
    """Say which cases a function failed, and for the first what it was given and what it did; and
    whether it did some right.
    """
    wrong = _wrong(exercise, reading)
    case = exercise.reader.cases[wrong[0]]
    inputs = attempt(lambda: ", ".join(describe(each) for each in inputs_of(case)))
    failed = f"I ran {describe(answer)} on {len(reading)} cases; {len(wrong)} went wrong."
    did = f"In case {wrong[0] + 1}, given {inputs}, {_did(reading[wrong[0]])}."
    return f"{failed} {did}", len(wrong) < len(reading)


def _wrong(exercise: Exercise, reading: tuple) -> list[int]:
    """Return the numbers, from 0, of the cases in which a function went wrong."""
    reader = exercise.reader
    pairs = zip(reading, reader.read(exercise.truth()), strict=True)
    return [case for case, pair in enumerate(pairs) if not same(*pair, reader.rtol)]


def _did(outcome: object) -> str:
    if not is_a(outcome, Failed):
        return f"I saw {visible(show(outcome))}"
    return f"it gave {outcome.text}" if outcome.kind == "unreadable" else f"it raised {outcome}"
