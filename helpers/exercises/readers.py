"""Hold the kinds of answer: each says what it wants, and reads what one may write."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from autograd_graphs.text import visible
from autograd_graphs.untrusted.plain import NotRead
from helpers.exercises import values


@dataclass(frozen=True)
class Reader:
    """Pair the words for what is wanted ("a number such as 2.5") with a function that reads it or
    raises NotRead.

    A reader of functions also holds its cases: functions of no arguments that make fresh inputs;
    the names of the `parts` that are seen of each outcome, where it is a list of several; `of`,
    which reads the same of other cases; and whether a wrong answer `tells` what was wanted.
    """

    wants: str
    read: Callable[[object], object]
    cases: tuple[Callable[[], object], ...] = ()
    parts: tuple[str, ...] = ()
    of: Callable[..., "Reader"] | None = None
    tells: bool = False


def number() -> Reader:
    """Read one number: an int, a float, a text, a tensor, list or dict of one; None stays None."""
    return Reader("a number such as 2.5", lambda answer: values.number(_single(answer)))


def _single(answer: object) -> object:
    return values.single(values.opened(answer))


def numbers(*names: str) -> Reader:
    """Read numbers in order: a list, a tensor or array (flattened), a text, a dict; None stays None.
    Where each has its own of these `names`, they may come in any order.
    """

    def read(answer: object) -> tuple:
        value = values.opened(answer)
        if isinstance(value, frozenset):
            raise NotRead("a set has no order")
        found = values.items(value, values.number)
        given = _names(answer)
        if len(found) == len(given) and sorted(given) == sorted(names):
            return tuple(found[given.index(name)] for name in names)
        return found

    return Reader("a list of numbers in order, such as [2.0, 3.0]", read)


def _names(answer: object) -> list[str]:
    """Return the names that a dict or a text gives to its values."""
    if isinstance(answer, dict):
        return list(map(str, dict.keys(answer)))
    if isinstance(answer, str):
        return [name for name, _ in values.named(answer)]
    return []


def choice(*options: str) -> Reader:
    """Read one of `options`, in any case, in parentheses or not; its text may stand behind it."""
    wants = "one of " + ", ".join(f'"{option}"' for option in options)
    return Reader(wants, lambda answer: values.option(_single(answer), options))


def chosen(answer: object) -> object:
    """Return the keys of a dict, but for those that stand for False; anything else as it is."""
    if not isinstance(answer, dict):
        return answer
    return [key for key, value in dict.items(answer) if not _is_no(value)]


def _is_no(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in ("no", "false", "n", "f")
    for base in (list, tuple):
        if isinstance(value, base):
            return base.__len__(value) == 0
    return value is None or (isinstance(value, (int, float)) and value == 0)


def letters(allowed: str) -> Reader:
    """Read which `allowed` letters are meant, in any style: "bd", "b, d", {"b", "d"}, "none"."""
    every = ", ".join(allowed)
    wants = f'the letters of those that are meant, such as ["{allowed[0]}", "{allowed[1]}"]'

    def read(answer: object) -> frozenset:
        spoken = values.items(_spaced(values.opened(chosen(answer))), values.word)
        return frozenset("".join(map(apart, spoken)))

    def apart(word: str) -> str:
        if word in _NONE:
            return ""
        if not set(word) <= set(allowed):
            raise NotRead(f'"{visible(word, 30)}" is none of the letters {every}')
        if len(word) > len(set(word)):
            raise NotRead(f'"{visible(word, 30)}" has a letter twice')
        return word

    return Reader(wants, read)


def _spaced(value: object) -> object:
    """Return a text with spaces between its letters, and without the words that go with a list."""
    if not isinstance(value, str):
        return value
    words = re.split(r"[\W_]+", value)
    return " ".join(word for word in words if word.casefold() not in _FILLERS)


_FILLERS = {"and", "or", "only", "just", "answer", "answers", "letters", "letter"}
_NONE = {"none", "nothing", ""}
