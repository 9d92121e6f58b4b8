"""Hold what a student's calls share: find an exercise by its id, and answer whatever was given."""

from collections.abc import Callable

from autograd_graphs.text import fold
from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.plain import NotRead, plain
from autograd_graphs.untrusted.sandbox import Failed, guarded
from helpers.answers import Card, show
from helpers.exercises.exercise import Exercise, find, nearest

MISSING = object()
VARIANTS: dict[str, Exercise] = {}  # what is judged in place of the exercise of the lesson
REVIEWED: set[str] = set()  # what `review` has asked: the next answer counts
_REFUSED = {"check": "Not checked", "hint": "No hint", "again": "Not asked"}


def show_made(make: Callable[[], Card]) -> None:
    show(made(make))


def made(make: Callable[[], Card]) -> Card:
    """Return the card that `make` returns; one that owns to a fault where it raises."""
    card = guarded(make)
    if not isinstance(card, Failed):
        return card
    text = f"check stopped: {card}. That is the exercise's fault, not yours. Please report it."
    return Card("wrong", "Stopped", "", text, fold(text))


def with_exercise(exercise: object, caller: str, then: Callable[[Exercise], Card]) -> Card:
    """Find the exercise and go on with it, or say which ids there are."""
    name = _name(exercise)
    known = VARIANTS.get(name) or find(name)
    if known:
        return then(known)
    near = nearest(name)
    call = f'{caller}("{near[0]}")'
    if caller == "check":
        call = f'check("{near[0]}", answer)'
    given = "nothing" if exercise is MISSING else describe(exercise)
    text = f"{caller} was given {given} where an exercise's id belongs. Write the id first: {call}."
    if name:
        text = f'There is no exercise "{name}". The nearest are {", ".join(near)}: {call}.'
    return unclear(text, _REFUSED.get(caller, ""))


def unclear(text: str, word: str = "Not checked") -> Card:
    """Answer a call that cannot be followed."""
    return Card("partly", word, "", text, fold(text), is_news=True)


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning, which follows on an id no more."""
    return text[:1].upper() + text[1:]


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
