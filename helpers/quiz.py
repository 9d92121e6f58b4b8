"""Keep the guesses of the quiz (`keep`, `kept`), as older copies of lessons 00 and 11 call it, and ask
its four questions once more (`then_and_now`).

They stand in the progress file, among the other predictions. What `keep` prints depends on what it
was given and on whether it could be kept, never on guesses of an earlier run.
"""

import re
from functools import partial

from IPython.display import display

from autograd_graphs.guard import guarded
from autograd_graphs.plain_values import describe
from helpers.exercises.asking import earlier
from helpers.exercises.reading import choice
from helpers.lessons import is_gone
from helpers.predicting.again import Again
from helpers.predicting.kinds import KEY
from helpers.progress_file import FILE, PREDICTIONS, NotKept, change
from helpers.progress_file import kept as all_kept

LETTERS = ("a", "b", "c")
FOUR = f"Four are left: {', '.join(name.replace('quiz.', 'q') for name in KEY)}."
NAME = re.compile(r"q\d{1,2}")


def keep(*unnamed: object, **guesses: object) -> None:
    """Keep one letter a question, such as keep(q1="b", q2=...); dots stay open and change nothing.

    A new guess takes the place of an old one. Prints what was kept, what is open, and what could
    not be read or written. Never raises; an interrupt passes.
    """
    good, still = _letters("keep", unnamed, guesses)
    if good:
        print(_added(good))
    if still:
        print(f"Open: {', '.join(still)}. Put a letter in place of the dots and run again.")


def then_and_now(*unnamed: object, **guesses: object) -> None:
    """Ask questions of the quiz once more, a row of buttons each: then_and_now(q3=..., q4=...). After
    the choice a row tells what is right, and what was guessed in lesson 00.

    A letter in place of the dots is a choice without buttons; the first one is kept. Never raises;
    an interrupt passes.
    """
    good, still = _letters("then_and_now", unnamed, guesses)
    for name in [name for name in guesses if name in good or name in still]:
        if name.replace("q", "quiz.") in KEY:
            display(Again(name, good.get(name, "")))
        else:
            print(gone(name))


def gone(call: str) -> str:
    """Say of a question that is not asked, "q1", that it went; or which ones there are."""
    name = call.replace("q", "quiz.")
    return earlier(name).text if is_gone(name) else f"{call}: there's no such question. {FOUR}"


def _letters(call: str, unnamed: tuple, guesses: dict[str, object]) -> tuple[dict, list[str]]:
    """Return the letters that can be read, and which questions are open; say what was not read."""
    letters = {}
    for name in filter(NAME.fullmatch, guesses):
        letters[name] = guarded(choice(*LETTERS).read, guesses[name])
    good = {name: letter for name, letter in letters.items() if isinstance(letter, str)}
    unread = [name for name in letters if name not in good and guesses[name] is not ...]
    for name in unread:
        given = f"{name}: you gave {describe(guesses[name])}."
        print(f"{given} Write one of the letters a, b, c, in quotes.")
    if unnamed or len(letters) < len(guesses):
        needed = f'A guess needs the number of its question: {call}(q1="b").'
        print(f"{needed} I left out whatever came without one.")
    return good, [name for name in letters if name not in good and name not in unread]


def kept() -> dict[str, str]:
    """Return the guesses kept so far by question, {"q1": "b"}; {} if there are none or none can be
    read.
    """
    letters = {}
    for name, record in sorted(all_kept()[PREDICTIONS].items()):
        if re.fullmatch(r"quiz\.\d{1,2}", name) and record.get("first") in LETTERS:
            letters[name.replace("quiz.", "q")] = record["first"]
    return letters


def _added(good: dict[str, str]) -> str:
    """Write the guesses among the earlier ones; return what to say of it."""
    try:
        for name, letter in good.items():  # in the place of an earlier one
            change(PREDICTIONS, name.replace("q", "quiz."), partial(dict, first=letter))
    except NotKept as error:
        return str(error)
    return f"Kept in {FILE}: {', '.join(good)}."
