"""Hold the kinds of answer: each says what it wants and reads what a student may reasonably write;
no torch.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from autograd_graphs.text import visible
from autograd_graphs.untrusted.plain import NotRead, is_a, plain
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
    rtol: float = 1e-4
    cases: tuple[Callable[[], object], ...] = ()
    parts: tuple[str, ...] = ()
    of: Callable[..., "Reader"] | None = None
    tells: bool = False


def number(rtol: float = 1e-4, unit: str = "") -> Reader:
    """Read one number: an int, a float, a text that says one, a tensor, list or dict of one element;
    None stays None.

    `unit` is what may stand behind the number in a text, such as "MiB"; any word, where it is not given.
    """

    def read(answer: object) -> float | None:
        inside = tuple(dict.values(answer)) if is_a(answer, dict) else answer
        return values.number(values.single(plain(inside)), unit)

    return Reader("a number such as 2.5", read, rtol)


def numbers(rtol: float = 1e-4) -> Reader:
    """Read several numbers in order: a list, a tensor or array (flattened), or a text; None stays
    None.
    """
    return _ordered("a list of numbers in order, such as [2.0, 3.0]", values.number, rtol)


def tensor(rtol: float = 1e-4) -> Reader:
    """Read a tensor: shape and values count, the dtype does not; nested lists and arrays will do."""
    return Reader(
        "a tensor, or the nested list of its values",
        lambda answer: values.rows(plain(answer)),
        rtol,
    )


def boolean() -> Reader:
    """Read True or False: a bool, a tensor of one bool, 0 or 1, or a text such as "yes"."""
    return _one("True or False", values.boolean)


def booleans() -> Reader:
    """Read several booleans in order."""
    return _ordered("a list of True and False in order, such as [True, False]", values.boolean)


def choice(*options: str) -> Reader:
    """Read one of `options`, in any case, in parentheses or not; a letter may bring its text: "(a)
    it fails".
    """
    wants = "one of " + ", ".join(f'"{option}"' for option in options)
    return _one(wants, lambda value: values.option(value, options))


def word() -> Reader:
    """Read one name; case, spaces, `torch.`, `<…>` and addresses do not count.

    A dtype, class or node will do.
    """
    return _one('one name as a text, such as "sum"', values.word)


def words() -> Reader:
    """Read several names, whose order counts."""
    return _ordered('a list of names in order, such as ["sum", "exp"]', values.word)


def names() -> Reader:
    """Read several names, whose order does not count; one name alone, and none at all, will do; of
    a dict its keys, but for those that stand for False.
    """
    wants = 'a list of names in any order, such as ["a", "b"]'

    def read(answer: object) -> frozenset:
        return frozenset(values.items(plain(_chosen(answer)), values.word)) - _NONE

    return Reader(wants, read)


def _chosen(answer: object) -> object:
    """Return the keys of a dict, but for those that stand for False; anything else as it is."""
    if not is_a(answer, dict):
        return answer
    return [key for key, value in dict.items(answer) if not _is_no(value)]


def _is_no(value: object) -> bool:
    if is_a(value, str):
        return value.strip().casefold() in ("no", "false", "n", "f")
    return value is None or (is_a(value, int, float) and value == 0)


def letters(allowed: str) -> Reader:
    """Read which of the `allowed` letters are meant, in any order and style: "bd", "b, d", {"b",
    "d"}, "b and d", "none".
    """
    every = ", ".join(allowed)
    wants = f'the letters of those that are meant, such as ["{allowed[0]}", "{allowed[1]}"]'

    def read(answer: object) -> frozenset:
        spoken = values.items(_spaced(plain(_chosen(answer))), values.word)
        return frozenset(letter for word in spoken for letter in apart(word))

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
    if not is_a(value, str):
        return value
    words = re.split(r"[\W_]+", value)
    return " ".join(word for word in words if word.casefold() not in _FILLERS)


_FILLERS = {"and", "or", "only", "just", "answer", "answers", "letters", "letter"}
_NONE = {"none", "nothing", ""}


def _one(wants: str, read: Callable[[object], object], rtol: float = 1e-4) -> Reader:
    return Reader(wants, lambda answer: read(values.single(plain(answer))), rtol)


def _ordered(wants: str, read: Callable[[object], object], rtol: float = 1e-4) -> Reader:
    def read_all(answer: object) -> tuple:
        value = plain(answer)
        if is_a(value, frozenset):
            raise NotRead("a set has no order")
        return values.items(value, read)

    return Reader(wants, read_all, rtol)
