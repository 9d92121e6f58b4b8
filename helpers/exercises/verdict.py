"""Judge one answer: stub, right, a known misconception, or unknown; returns data, prints nothing."""

from collections.abc import Callable
from dataclasses import dataclass

from autograd_graphs.data import counted
from autograd_graphs.guard import Failed, guarded
from autograd_graphs.plain_values import NotRead, describe, plain, show
from autograd_graphs.text import sentence, shortened
from helpers.engine.cells import Cell
from helpers.exercises import mistakes, slips
from helpers.exercises.exercise import Exercise, Misconception
from helpers.exercises.functions import Ours, Run, is_stub, listening
from helpers.exercises.programs import run
from helpers.exercises.reading import Reader, same, single
from helpers.exercises.recognise import Like, agree
from helpers.exercises.table import of_a_case, of_a_value, row

MOST_LINES, LONGEST_LINE = 40, 400  # of what a student's function prints
_UNREAD = object()


@dataclass(frozen=True)
class Verdict:
    """Hold how an answer was judged and what to say.

    `kind` is "stub", "right", "known", "letters" (wrong, and not said which), "unknown", or "ours"
    where the exercise itself failed. `printed` is what the student's function printed, in the run
    that is spoken of. `more` says of what is unknown that it could not be read, "unread", or that a
    function did some cases right, "partly". `seen` is the reading.
    """

    kind: str
    text: str
    printed: str = ""
    more: str = ""
    seen: object = None


@dataclass(frozen=True)
class _Trial:
    """Hold what is known of one answer while it is judged."""

    exercise: Exercise
    answer: object
    reading: object
    truth: object
    runs: list[Run]  # of the answer
    own_runs: list[Run]  # of the exercise's own function
    reveal: bool

    @property
    def is_function(self) -> bool:
        return bool(self.exercise.reader.cases)


def judge(exercise: Exercise, answer: object, reveal: bool = False) -> Verdict:
    """Judge `answer` against what torch computes now; with `reveal` the expected values are told.

    The truth is computed before the student's code runs, which itself runs only inside `guarded`.
    """
    reader = exercise.reader
    if exercise.stage and isinstance(answer, str):
        answer = Cell(exercise.stage, answer)
    if isinstance(answer, Cell) and (answer.dots or answer.missing):
        return _unfinished(answer)
    if is_stub(answer):
        return Verdict(
            "stub", f"not answered yet. Replace the dots with {reader.wants} and run again."
        )
    with listening() as own_runs:
        truth = reader.read(exercise.truth())
    with listening() as runs:
        reading, trouble = _read(reader, answer)
    trial = _Trial(exercise, answer, reading, truth, runs, own_runs, reveal)
    broken = _broken(reading)
    if broken:
        return Verdict("ours", broken)
    if reading is not _UNREAD and same(reading, truth):
        return Verdict("right", exercise.right, _printed(trial), seen=reading)
    return _wrong(trial, trouble)


def _unfinished(cell: Cell) -> Verdict:
    """Say what a cell still has to define."""
    if cell.dots:
        return Verdict("stub", f"not answered yet. There are still dots in {', '.join(cell.dots)}.")
    text = (
        f"This cell doesn't define {', '.join(cell.missing)}. I read the whole cell that"
        " `check` is in and keep what it defines, so everything this stage needs belongs there."
    )
    return Verdict("unknown", text, more="unread")


def judge_reading(exercise: Exercise, reading: object) -> Verdict:
    """Judge what a function did in each case, where it ran in another process: `reading` is what
    the exercise's reader made of it there. It may be anything plain, and is not believed to have
    the form that a reading has.
    """
    reader = exercise.reader
    truth = reader.read(exercise.truth())
    broken = _broken(reading)
    if broken:
        return Verdict("ours", broken)
    if guarded(same, reading, truth) is True:
        return Verdict("right", exercise.right, seen=reading)
    trial = _Trial(exercise, None, reading, truth, [], [], False)
    message = _mistake(trial)
    if message:
        return Verdict("known", message, seen=reading)
    wrong = len(truth)
    if _has_each_case(trial):
        wrong = len(guarded(_wrong_cases, trial))
    what = "engine" if exercise.stage else "function"
    text = f"I ran your {what} on {counted(len(truth), 'case')}. {wrong} went wrong."
    return Verdict("unknown", text, seen=reading)


def _read(reader: Reader, answer: object) -> tuple[object, str]:
    try:
        return reader.read(answer), ""
    except NotRead as error:
        given = f"You gave {describe(answer)}"
        if error.args:
            given += f". {sentence(str(error))}"
        if reader.cases and callable(answer) and not isinstance(answer, type):
            return _UNREAD, f"{given}."
        return _UNREAD, f"{given}. This exercise wants {reader.wants}."


def _broken(reading: object) -> str:
    """Return what to say where a case of the exercise failed by itself; "" where none did."""
    if not isinstance(reading, tuple):
        return ""
    ours = [case for case in reading if isinstance(case, Ours)]
    if not ours:
        return ""
    return (
        f"check stopped: {ours[0].error}. The error seems to come from the exercise itself,"
        " not from your code. Please report it."
    )


def _wrong(trial: _Trial, trouble: str) -> Verdict:
    """Say of a wrong answer what lies behind it: a slip, a misconception, or what is seen of it."""
    printed = _printed(trial)
    if trial.exercise.letters is not None:
        if trial.answer is None:
            return Verdict("known", slips.NOTHING)
        if trouble:
            return Verdict("unknown", trouble, more="unread")
        return Verdict(
            "letters",
            f"not yet. Go back and read {trial.exercise.letters.read}.",
            seen=trial.reading,
        )
    message = _named(trial)
    if message:
        if trial.reveal or trial.exercise.reader.tells:
            message = "\n".join([message, *_table(trial)])
        return Verdict("known", message, printed, seen=trial.reading)
    if trouble:
        return Verdict("unknown", "\n".join([trouble, *_asked(trial)]), more="unread")
    if trial.is_function:
        text, more = _of_cases(trial)
        return Verdict("unknown", text, printed, more, trial.reading)
    return Verdict("unknown", _set_out(trial, "that's not it."), seen=trial.reading)


def _named(trial: _Trial) -> str:
    """Return the message for a mistake that is recognised; "" where none is.

    A value is first compared with the wrong values that are known; then come the slips that every
    exercise has; then what a misconception recognises by its look.
    """
    answer, reading, truth = trial.answer, trial.reading, trial.truth
    if trial.is_function:
        return slips.of_a_function(answer, trial.runs, trial.own_runs) or _mistake(trial)
    ideas = trial.exercise.misconceptions
    exact = [idea for idea in ideas if not callable(idea.when)]
    others = [idea for idea in ideas if callable(idea.when)]
    return (
        _message(exact, trial)
        or slips.of_a_value(answer, reading, truth)
        or _of_quantities(trial)
        or _message(others, trial)
    )


def _mistake(trial: _Trial) -> str:
    """Say which line of the reference is wrong, what is known of an answer, or which line is missing."""
    return (
        _by_reference(mistakes.named, trial)
        or _message(trial.exercise.misconceptions, trial)
        or _by_reference(mistakes.likened, trial)
    )


def _by_reference(search: Callable, trial: _Trial) -> str:
    """Say what `search` finds in the reference; "" where nothing is found."""
    exercise = trial.exercise
    if not exercise.reference or trial.reading is _UNREAD or not _has_each_case(trial):
        return ""
    said = guarded(search, exercise.reference, exercise.reader, trial.reading, trial.truth)
    return "" if isinstance(said, Failed) else said


def _has_each_case(trial: _Trial) -> bool:
    """Tell whether a reading is as long as it should be: from a sandbox comes anything."""
    return isinstance(trial.reading, tuple) and len(trial.reading) == len(trial.truth)


def _of_quantities(trial: _Trial) -> str:
    """Say which quantities of the exercise were given, and where; "" where none is recognised."""
    quantities = trial.exercise.quantities
    if quantities is None or trial.reading is _UNREAD:
        return ""
    said = guarded(quantities.said_of, trial.reading, trial.truth)
    return "" if isinstance(said, Failed) else said


def _message(ideas: list[Misconception], trial: _Trial) -> str:
    for idea in ideas:
        if guarded(_matches, idea, trial) is True:
            return idea.message
    return ""


def _matches(idea: Misconception, trial: _Trial) -> bool:
    reader, reading = trial.exercise.reader, trial.reading
    if callable(idea.when):
        return reading is not _UNREAD and bool(idea.when(reading, trial.truth))
    wrong, parts = idea.when, ()
    if isinstance(wrong, Like):
        wrong, parts = run(wrong.code), wrong.parts
    if reading is _UNREAD:
        return _loose(plain(trial.answer)) == _loose(plain(wrong))
    read = _read(reader, wrong)[0]
    return agree(reading, read, *parts) if parts else same(reading, read)


def _loose(value: object) -> str:
    """Compare what no reader could read, such as None or "error", by its text."""
    return show(value).strip('" ').casefold()


def _of_cases(trial: _Trial) -> tuple[str, str]:
    """Set out the first case that went wrong; say "partly" where some are right and most run."""
    wrong, count = _wrong_cases(trial), len(trial.reading)
    failed = [case.kind for case in trial.reading if isinstance(case, Failed)]
    raised = len(failed) - failed.count("unreadable")
    how, more = f"It failed with an error in {raised} of {count}", ""
    if raised <= count / 2:
        how = f"{len(wrong)} went wrong"
        if len(wrong) < count:
            more = "partly"
    what = "your engine" if trial.exercise.stage else describe(trial.answer)
    ran = f"I ran {what} on {counted(count, 'case')}."
    return _set_out(trial, f"{ran} {how}. Case {wrong[0] + 1}:"), more


def _set_out(trial: _Trial, head: str) -> str:
    """Return a head, the table under it, and what to think of."""
    lines = [head, *_table(trial)]
    if trial.exercise.principle:
        lines.append(f"Think of this: {trial.exercise.principle}")
    return "\n".join(lines)


def _table(trial: _Trial) -> list[str]:
    """Return what was given, came and is expected, of the first case where there are several."""
    if trial.reading is _UNREAD:
        return _asked(trial)
    if not trial.is_function:
        return of_a_value(trial.answer, trial.reading, trial.truth, trial.reveal)
    first = _wrong_cases(trial)[0]
    outcomes = trial.runs[first], trial.reading[first], trial.truth[first]
    return of_a_case(trial.exercise.reader, first, trial.answer, *outcomes, trial.reveal)


def _asked(trial: _Trial) -> list[str]:
    """Return what is expected of a value, where that is to be told though it could not be read."""
    if not trial.reveal or trial.is_function:
        return []
    return [row("expected", show(single(trial.truth)))]


def _wrong_cases(trial: _Trial) -> list[int]:
    """Return the numbers, from 0, of the cases in which a function went wrong."""
    pairs = zip(trial.reading, trial.truth, strict=True)
    return [case for case, pair in enumerate(pairs) if not same(*pair)]


def _printed(trial: _Trial) -> str:
    """Return what was printed in the first run that went wrong, or in the first of all."""
    if not any(run.heard.count for run in trial.runs):
        return ""
    spoken_of = [0]
    if trial.reading is not _UNREAD:
        spoken_of = _wrong_cases(trial) or spoken_of
    heard = trial.runs[spoken_of[0]].heard
    lines = heard.text.split("\n")
    shown = "\n".join(shortened(line, LONGEST_LINE) for line in lines[:MOST_LINES])
    if heard.count > len(heard.text) or len(lines) > MOST_LINES:
        return f"{shown}\n… (your function printed {heard.count:,} characters)\n"
    return shown.removesuffix("\n") + "\n"
