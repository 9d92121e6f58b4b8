"""Keep the guesses of the quiz (`keep`, `kept`), as copies of lessons 00 and 11 call it that have no buttons,
and compare those of lesson 00 with today's (`then_and_now`).

They stand in the progress file, among the other predictions. What `keep` prints depends on what it
was given and on whether it could be kept, never on guesses of an earlier run.
"""

import re
from functools import partial

from helpers.exercises.readers import choice
from helpers.predicting.questions import every
from helpers.progress_file import FILE, PREDICTIONS, NotKept, change, read
from helpers.untrusted.describe import describe
from helpers.untrusted.plain import is_a
from helpers.untrusted.sandbox import guarded

LETTERS = ("a", "b", "c")
NAME = re.compile(r"q\d{1,2}")
# What torch does, by question; tests/test_quiz.py asks it. Lessons 01 to 07 show each in a run.
KEY = {"q1": "c", "q2": "b", "q3": "a", "q4": "c", "q5": "a", "q6": "b", "q7": "c", "q8": "b"}
NEVER_GUESSED = "No guess of lesson 00 is kept here, and none is needed: these count as your first."


def keep(*unnamed: object, **guesses: object) -> None:
    """Keep one letter a question, such as keep(q1="b", q2=...); dots stay open and change nothing.

    A new guess takes the place of an old one. Prints what was kept, what is open, and what could
    not be read or written. Never raises; an interrupt passes.
    """
    good, still = _letters("keep", unnamed, guesses)
    if good:
        print(_added(good, "first"))
    if still:
        print(_open(still))


def then_and_now(*unnamed: object, **guesses: object) -> None:
    """Show, for each question that is given a letter, the guess of lesson 00, the one of now, what is
    right and which lesson showed it; dots stay open. The letters are kept. Never raises; an interrupt
    passes.
    """
    now, still = _letters("then_and_now", unnamed, guesses)
    now = {name: letter for name, letter in now.items() if name in KEY}
    if now:
        problem, then = _added(now, "now"), kept()
        rows = [("", "then", "now", "it is", "shown in"), *(_row(name, then, now) for name in now)]
        for row in rows:
            print("  ".join(cell.ljust(5) for cell in row).rstrip())
        print(_counted(then, now))
        if problem.startswith("Not kept"):
            print(problem)
    if still:
        print(_open(still))


def _row(name: str, then: dict[str, str], now: dict[str, str]) -> tuple[str, ...]:
    """Return a question as a row: its name, three letters, its lesson."""
    before = f"({then[name]})" if name in then else "–"
    lesson = every()[name.replace("q", "quiz.")].settled
    return name, before, f"({now[name]})", f"({KEY[name]})", f"lesson {lesson}"


def _counted(then: dict[str, str], now: dict[str, str]) -> str:
    """Say how many guesses were right in lesson 00, and how many are now."""
    before = [then[name] == KEY[name] for name in now if name in then]
    after = [now[name] == KEY[name] for name in now]
    if not before:
        return NEVER_GUESSED
    return f"Right then: {sum(before)} of {len(before)}. Right now: {sum(after)} of {len(after)}."


def _letters(call: str, unnamed: tuple, guesses: dict[str, object]) -> tuple[dict, list[str]]:
    """Return the letters that can be read, and which questions are open; say what was not read."""
    letters = {
        name: guarded(choice(*LETTERS).read, value)
        for name, value in guesses.items()
        if NAME.fullmatch(name)
    }
    good = {name: letter for name, letter in letters.items() if is_a(letter, str)}
    unread = [name for name in letters if name not in good and guesses[name] is not ...]
    for name in unread:
        print(f"{name}: I was given {describe(guesses[name])}. Write one of the letters a, b, c.")
    if unnamed or len(letters) < len(guesses):
        print(
            f'A guess needs the number of its question: {call}(q1="b"). What came without one was left out.'
        )
    return good, [name for name in letters if name not in good and name not in unread]


def _open(still: list[str]) -> str:
    return f"Open: {', '.join(still)}. Put a letter in place of the dots and run again."


def kept() -> dict[str, str]:
    """Return the guesses kept so far by question, {"q1": "b"}; {} if there are none or none can be
    read.
    """
    found = {name: record.get("first") for name, record in read()[PREDICTIONS].items()}
    return {
        name.replace("quiz.", "q"): letter
        for name, letter in sorted(found.items())
        if re.fullmatch(r"quiz\.\d{1,2}", name) and letter in LETTERS
    }


def _added(good: dict[str, str], when: str) -> str:
    """Write the guesses among the earlier ones, as the "first" or those of "now"; return what to say of
    it.
    """
    try:
        for name, letter in good.items():
            change(PREDICTIONS, name.replace("q", "quiz."), partial(_with, when, letter))
    except NotKept as error:
        return str(error)
    return f"Kept in {FILE}: {', '.join(good)}."


def _with(when: str, letter: str, record: dict) -> dict:
    """Add a guess; that of "now" is the first one, as its answer stands beside it."""
    return {"now": letter} | record if when == "now" else record | {"first": letter}
