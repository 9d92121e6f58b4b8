"""Hold an answer that came out of the sandbox against the truth, here, where no student's code runs."""

from dataclasses import dataclass

from course.grading.encoding import read
from helpers.exercises.verdict import judge, judge_reading
from helpers.text import visible
from helpers.untrusted.sandbox import Failed, guarded

LONGEST = 600  # characters of a reason
NOT_REACHED = {
    "late": "the notebook as a whole had not ended when its time was up",
    "loud": "the notebook showed more than is read",
    "died": "Python had ended before, in this cell or in one above",
}


@dataclass(frozen=True)
class Mark:
    """Hold whether an answer is right, and why in words for teacher and student."""

    right: bool
    reason: str


def mark(exercise, found, before=""):
    """Judge one exercise: `found` is what was taken in the sandbox, None where nothing was; `before`
    says in words what happened to the cells above.
    """
    if not isinstance(found, dict):
        return Mark(False, _short(f"No answer: {before or 'nothing could be taken'}."))
    verdict = guarded(_verdict, exercise, found)
    if isinstance(verdict, Failed):
        return Mark(False, "Not readable: what came is no answer.")
    if verdict is None:
        return Mark(False, _short(f"No answer{before and ': '}{before}."))
    return Mark(verdict.kind == "right", _short(verdict.text))


def _verdict(exercise, found):
    """Return the Verdict on what was found; None where there is no answer."""
    kind = found["kind"]
    if kind == "value" and not exercise.reader.cases:
        return judge(exercise, read(found["value"]))
    if kind == "reading" and exercise.reader.cases:
        return judge_reading(exercise, read(found["value"]))
    if kind == "unread":
        return _Unread(f"Not readable: {found['text']}. Wanted is {exercise.reader.wants}.")
    return None


@dataclass(frozen=True)
class _Unread:
    text: str
    kind: str = "unread"


def _short(text):
    return visible(" ".join(str(text).split()), LONGEST)
