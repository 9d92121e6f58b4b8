"""Keep guesses for later (`keep`, `kept`) in one small file, guesses.json, where the notebook runs.

Writes that file and no other, and prints; asks nothing of the network. What it prints depends on
what it was given and on whether it could be kept, never on guesses of an earlier run.
"""

import json
import os
import re
from pathlib import Path

from helpers.exercises.readers import choice
from helpers.untrusted.describe import describe
from helpers.untrusted.plain import is_a
from helpers.untrusted.sandbox import attempt

FILE, MOST = "guesses.json", 100_000  # characters; ours has about a hundred
LETTERS = ("a", "b", "c")
NAME = re.compile(r"q\d{1,2}")


def keep(*unnamed: object, **guesses: object) -> None:
    """Keep one letter a question, such as keep(q1="b", q2=...); dots stay open and change nothing.

    A new guess takes the place of an old one. Prints what was kept, what is open, and what could
    not be read or written. Never raises; an interrupt passes.
    """
    letters = {
        name: attempt(choice(*LETTERS).read, value)
        for name, value in guesses.items()
        if NAME.fullmatch(name)
    }
    good = {name: letter for name, letter in letters.items() if is_a(letter, str)}
    unread = [name for name in letters if name not in good and guesses[name] is not ...]
    for name in unread:
        print(f"{name}: I was given {describe(guesses[name])}. Write one of the letters a, b, c.")
    if unnamed or len(letters) < len(guesses):
        print(
            'A guess needs the number of its question: keep(q1="b"). What came without one was left out.'
        )
    if good:
        print(_added(good))
    if still := [name for name in letters if name not in good and name not in unread]:
        print(f"Open: {', '.join(still)}. Put a letter in place of the dots and run again.")


def kept() -> dict[str, str]:
    """Return the guesses kept so far by question, {"q1": "b"}; {} if there are none or none can be
    read.
    """
    try:
        found = _read()
    except (OSError, ValueError):
        return {}
    return {name: found[name] for name in found if NAME.fullmatch(name) and found[name] in LETTERS}


def _write(guesses: dict[str, str]) -> None:
    """Write the file whole or not at all: into a neighbour first, then in its place."""
    part = Path(f".{FILE}.part")
    part.write_text(json.dumps(guesses, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(part, FILE)


def _added(good: dict[str, str]) -> str:
    """Write the guesses among the earlier ones; return what to say of it."""
    try:
        _write(_read() | good)
    except ValueError:
        return f"Not kept: {FILE} holds something else, which I leave as it is. Rename that file and run again."
    except OSError as error:
        return f"Not kept: {FILE} could not be written ({error.strerror}). Note them on paper; nothing else needs it."
    return f"Kept in {FILE}: {', '.join(good)}."


def _read() -> dict:
    """Return what the file holds, {} if there is none.

    Raises OSError, or ValueError if it is not ours.
    """
    if not Path(FILE).exists():
        return {}
    with open(FILE, encoding="utf-8") as file:
        text = file.read(MOST)
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not is_a(found, dict):
        raise ValueError("not a dictionary")
    return found
