"""Hold an answer that came out of the sandbox against the truth, here, where no student's code runs."""

import textwrap
from dataclasses import dataclass, replace

from autograd_graphs.answer_card import strip_marks
from autograd_graphs.guard import Failed, guarded
from autograd_graphs.text import visible
from classroom.grading.encoding import decoded
from helpers.exercises.functions import Run
from helpers.exercises.reading import same
from helpers.exercises.table import of_a_case
from helpers.exercises.verdict import Verdict, judge, judge_reading

LONGEST, WIDTH = 900, 88  # characters of a reason; of a line of it on a page
ENDED = {
    "late": "the time for the whole notebook was up",
    "full": "the notebook used more memory than it's allowed",
    "loud": "the notebook printed more than we read",
    "died": "Python ended, for example by os._exit, a crash or too much memory",
}
STUB = "No answer: this is still the stub that was handed out."
MISSING = "No answer: nothing is called `answer` after these cells."


@dataclass(frozen=True)
class Mark:
    """Hold whether an answer is right, and why in words for teacher and student."""

    right: bool
    reason: str


def mark(exercise, record, before=""):
    """Judge the `record` of an answer; `before` says what happened to the cells above."""
    if not isinstance(record, dict):
        return Mark(False, _short(f"No answer: {before or 'nothing could be taken'}."))
    verdict = guarded(_verdict, exercise, record)
    if isinstance(verdict, Failed):
        return Mark(False, "Not readable: what came isn't an answer.")
    if verdict is None:
        without = STUB if record.get("kind") == "stub" else MISSING
        return Mark(False, _short(f"No answer: {before}." if before else without))
    return Mark(verdict.kind == "right", _short(_begun(verdict.text)))


def ended(how, at, here):
    """Say why nothing was taken of an exercise: how the notebook ended, `here` or before it."""
    return ENDED[how] if here else f"it wasn't run, because at {at} {ENDED[how]}"


def _begun(text):
    """Return a text as it stands alone: `check` puts a word before it."""
    return text[:1].upper() + text[1:] if text.startswith(("not yet", "that's not")) else text


def _verdict(exercise, record):
    """Return the Verdict on what was found; None where there is no answer."""
    kind = record["kind"]
    if kind == "value" and not exercise.reader.cases:
        return judge(exercise, decoded(record["value"]))
    if kind == "reading" and exercise.reader.cases:
        return _of_function(exercise, decoded(record["value"]))
    if kind == "unread":
        text = f"Not readable: {record['text']}. This exercise wants {exercise.reader.wants}."
        return Verdict("unknown", text, more="unread")
    return None


def _of_function(exercise, reading):
    """Return the Verdict on a function, with a case that went wrong where nothing else is known."""
    verdict = judge_reading(exercise, reading)
    lines = guarded(_case, exercise, reading) if verdict.kind == "unknown" else None
    if not isinstance(lines, list):
        return verdict
    return replace(verdict, text="\n".join([verdict.text, *lines]))


def _case(exercise, reading):
    """Return what the first case that went wrong was given, what came, what kind was expected."""
    reader = exercise.reader
    truth = reader.read(exercise.truth())
    pairs = enumerate(zip(reading, truth, strict=True))
    first = next(case for case, pair in pairs if not same(*pair))
    lines = of_a_case(reader, first, None, Run(), reading[first], truth[first], reveal=False)
    thought = [f"Think of this: {exercise.principle}"] if exercise.principle else []
    return [f"Case {first + 1}:", *map(strip_marks, lines), *thought]


def _short(text):
    """Return a text of a few lines, each without tabs and control characters."""
    lines = []
    for line in str(text).splitlines():
        words = " ".join(line.replace("\t", ": ").split())
        if words:
            lines.append(visible(words, LONGEST))
    return "\n".join(lines)[:LONGEST]


def wrapped(reason):
    """Return a reason in lines that a page shows whole."""
    return "\n".join(textwrap.fill(line, WIDTH) for line in reason.splitlines())
