"""Hold the kinds of answer: each says what it wants and reads what a student may reasonably write;
no torch.
"""

from collections.abc import Callable
from dataclasses import dataclass

from helpers.exercises import values
from helpers.untrusted.plain import NotRead, is_a, plain


@dataclass(frozen=True)
class Reader:
    """Pair the words for what is wanted ("a number such as 2.5") with a function that reads it or
    raises NotRead.

    A reader of functions also holds its cases: functions of no arguments that make fresh inputs;
    and the names of the `parts` that are seen of each outcome, where it is a list of several.
    """

    wants: str
    read: Callable[[object], object]
    rtol: float = 1e-4
    cases: tuple[Callable[[], object], ...] = ()
    parts: tuple[str, ...] = ()


def number(rtol: float = 1e-4) -> Reader:
    """Read one number: an int, a float, a numeric text, a tensor or list of one element; None stays
    None.
    """
    return _one("a number such as 2.5", values.number, rtol)


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
    """Read several names, whose order does not count; one name alone, and none at all, will do."""
    wants = 'a list of names in any order, such as ["a", "b"]'
    return Reader(wants, lambda answer: frozenset(values.items(plain(answer), values.word)) - _NONE)


def letters(allowed: str) -> Reader:
    """Read names that are one letter each; a word of the `allowed` letters alone, such as "bd", is
    taken apart.
    """
    listed = names()

    def read(answer: object) -> frozenset:
        found = set()
        for name in listed.read(answer):
            found.update(name if set(name) <= set(allowed) else [name])
        return frozenset(found)

    return Reader(listed.wants, read)


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
