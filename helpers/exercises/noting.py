"""Note in the progress file when an exercise was worked on, and what came of it at review."""

import contextlib
from collections.abc import Callable

from helpers.exercises.asking import REVIEWED, VARIANTS
from helpers.pace import answered_today, comes_back, reviewed
from helpers.progress_file import EXERCISES, NotKept, change, count


def note(name: str, is_right: bool, changed: Callable[[dict], dict]) -> list[str]:
    """Note an answer or a hint: at review as its outcome, else by `changed`. A variant that nobody
    has to review is practice, and leaves no trace. Return what is to be said of it.
    """
    if name in REVIEWED:
        return _at_review(name, is_right)
    if name not in VARIANTS:
        with contextlib.suppress(NotKept):
            change(EXERCISES, name, changed)
    return []


def worked(record: dict) -> dict:
    """Return the day and the minutes of an exercise, with those of now."""
    now = answered_today()
    minutes = count(record, "minutes") + count(now, "minutes")
    return now | {"minutes": minutes} if minutes else now


def _at_review(name: str, is_right: bool) -> list[str]:
    """Count the first answer at review; return when the exercise comes back."""
    REVIEWED.discard(name)
    try:
        record = change(EXERCISES, name, lambda record: _after_review(record, is_right))
    except NotKept as error:
        return [str(error)]
    return [comes_back(record)]


def _after_review(record: dict, is_right: bool) -> dict:
    return reviewed(record, is_right) | {"solved": is_right or record.get("solved") is True}
