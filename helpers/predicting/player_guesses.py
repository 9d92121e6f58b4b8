"""Keep the guesses that a student commits in a player: the first one at each frame counts.

They stand in the progress file, under the lesson whose notebook runs. A server of Jupyter names it
to the kernel in the variable JPY_SESSION_NAME; without that nothing is kept.
"""

import contextlib
import hashlib
import os
import re
from pathlib import PurePath

from helpers.progress_file import PLAYERS, NotKept, change

SESSION = "JPY_SESSION_NAME"
MOST = 500  # guesses that are kept of a lesson


def keep(film: str, content: object) -> None:
    """Keep what the browser sent, {"frame": 3, "guesses": [[guess, truth, is right], …]}, of a film
    in JSON; anything else is passed over.
    """
    lesson, right = lesson_of(os.environ.get(SESSION, "")), verdict(content)
    if not lesson or right is None:
        return
    name = f"{hashlib.sha256(film.encode()).hexdigest()[:8]}:{content['frame']}"

    def added(record: dict) -> dict:
        if len(record) >= MOST:
            return record
        return {name: right} | record

    with contextlib.suppress(NotKept):
        change(PLAYERS, lesson, added)


def lesson_of(session: str) -> str:
    """Return the number of the lesson whose notebook a session runs, "" for another notebook."""
    match = re.match(r"(\d\d)_", PurePath(session).name)
    return match[1] if match else ""


def verdict(content: object) -> str | None:
    """Return "right" where all guesses of a frame are, else "wrong"; None for what is no guess."""
    if not isinstance(content, dict) or type(content.get("frame")) is not int:
        return None
    guesses = content.get("guesses")
    if not isinstance(guesses, list) or not guesses:
        return None
    if not all(isinstance(guess, list) and len(guess) == 3 for guess in guesses):
        return None
    return "right" if all(guess[2] is True for guess in guesses) else "wrong"
