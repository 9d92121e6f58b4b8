"""Find the exercise that a call is about, say what cannot be followed, and note what was done.

`check`, `hint`, `solution` and `again` share this.
"""

import contextlib
from collections.abc import Callable

from autograd_graphs.answer_card import Card
from autograd_graphs.guard import Failed, guarded
from autograd_graphs.plain_values import NotRead, describe, plain
from autograd_graphs.text import fold
from helpers.exercises.exercise import Exercise, find, nearest
from helpers.lessons import is_gone
from helpers.pace import answered_today, comes_back, reviewed
from helpers.progress_file import EXERCISES, NotKept, change, count, kept

MISSING = object()
VARIANTS: dict[str, Exercise] = {}  # what is judged in place of the exercise of the lesson
REVIEWED: set[str] = set()  # what `review` has asked: the next answer counts
_REFUSED = {"check": "Not checked", "hint": "No hint", "again": "Not asked"}


def made(make: Callable[..., Card], *args: object) -> Card:
    """Return the card that `make(*args)` returns; one that owns to a fault where it raises."""
    card = guarded(make, *args)
    if not isinstance(card, Failed):
        return card
    text = f"check stopped: {card}. That's the exercise's fault, not yours. Please report it."
    return Card("wrong", "Stopped", "", text, fold(text))


def asked(exercise: object) -> Exercise | None:
    """Return the exercise that is meant, or the variant of it that was asked last."""
    name = _name(exercise)
    return VARIANTS.get(name) or find(name)


def no_such(exercise: object, caller: str) -> Card:
    """Say that this one went, or which ids there are."""
    name = _name(exercise)
    if is_gone(name):
        return earlier(name)
    near = nearest(name)
    call = f'{caller}("{near[0]}")'
    if caller == "check":
        call = f'check("{near[0]}", answer)'
    given = "nothing" if exercise is MISSING else describe(exercise)
    text = f"{caller} was given {given} where an exercise's id belongs. Write the id first: {call}."
    if name:
        text = f'There is no exercise "{name}". The nearest are {", ".join(near)}: {call}.'
    return unclear(text, _REFUSED.get(caller, ""))


def earlier(name: str) -> Card:
    """Answer a call about a question or an exercise of an earlier edition: nothing is to be done."""
    told = "is from an earlier edition and isn't asked any more."
    if any(name in records for records in kept().values()):
        told = "is from an earlier edition. Your answer is kept."
    text = fold(f"{name} {told}")
    return Card("partly", "Earlier edition", name, f"This one {told}", text, True)


def unclear(text: str, word: str = "Not checked") -> Card:
    """Answer a call that cannot be followed."""
    return Card("partly", word, "", text, fold(text), is_news=True)


def as_number(value: object) -> int | float | None:
    """Return what was given as a number, None where it is none."""
    try:
        number = plain(value)
    except NotRead:
        return None
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return None
    return number


def _name(exercise: object) -> str:
    """Return what was given as an id as a short text, or "" if it cannot be meant as one."""
    try:
        value = plain(exercise)
    except NotRead:
        return ""
    if isinstance(exercise, type) or not isinstance(value, (str, float)):
        return ""
    return describe(value).removeprefix("the text ").removeprefix("the number ").strip('" ')


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
