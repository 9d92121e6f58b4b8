"""Read an answer: the kinds that there are, each with what it wants, the one form in which values are
compared, and how.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from types import GeneratorType

from autograd_graphs.guard import Failed, guarded
from autograd_graphs.plain_values import MOST, NotRead, plain
from autograd_graphs.text import visible

_VIEWS = type({}.keys()), type({}.values())
_READ_ONCE = GeneratorType, map, filter, zip
_LETTER = re.compile(r"\s*\(?([a-z])(?:\)|[.:](?=\s|$))")
_PRINTED = re.compile(  # what torch prints around the numbers of a tensor
    r"Parameter containing:|,\s*(?:requires_grad=\w+|grad_fn=<[^>]*>|dtype=[\w.]+|device='[^']*')"
    r"|\b(?:torch\.)?tensor(?=\()|^\s*>>>|^\s*Out\[\d+\]:"
)
_NAME = re.compile(r"['\"`]?\b([a-z_][\w.\[\]]*)['\"`]?\s*(?:==?|:)\s*(?=\S)", re.IGNORECASE)
_BEGINS = re.compile(r"^\s*(?:it|that|the answer)(?: is|'s)\s+", re.IGNORECASE)
_COUNTED = re.compile(r"([-+]?[\d.]+(?:e[-+]?\d+)?)\s*[a-z]+", re.IGNORECASE)
_SPOKEN = "zero one two three four five six seven eight nine ten eleven twelve"


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
    return Reader("a number such as 2.5", lambda answer: read_number(_single(answer)))


def _single(answer: object) -> object:
    return single(opened(answer))


def numbers(*names: str) -> Reader:
    """Read numbers in order: a list, a tensor or array (flattened), a text, a dict; None stays None.
    Where each has its own of these `names`, they may come in any order.
    """

    def read(answer: object) -> tuple:
        value = opened(answer)
        if isinstance(value, frozenset):
            raise NotRead("a set has no order")
        found = items(value, read_number)
        given = _names(answer)
        if len(found) == len(given) and sorted(given) == sorted(names):
            return tuple(found[given.index(name)] for name in names)
        return found

    return Reader("a list of numbers in order, such as [2.0, 3.0]", read)


def _names(answer: object) -> list[str]:
    """Return the names that a dict or a text gives to its"""
    if isinstance(answer, dict):
        return list(map(str, dict.keys(answer)))
    if isinstance(answer, str):
        return [name for name, _ in named(answer)]
    return []


def choice(*options: str) -> Reader:
    """Read one of `options`, in any case, in parentheses or not; its text may stand behind it."""
    wants = "one of " + ", ".join(f'"{option}"' for option in options)
    return Reader(wants, lambda answer: read_option(_single(answer), options))


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
    wants = f'the letters you choose, such as ["{allowed[0]}", "{allowed[1]}"]'

    def read(answer: object) -> frozenset:
        spoken = items(_spaced(opened(chosen(answer))), read_word)
        return frozenset("".join(map(apart, spoken)))

    def apart(word: str) -> str:
        if word in _NONE:
            return ""
        if not set(word) <= set(allowed):
            raise NotRead(f'"{visible(word, 30)}" isn\'t one of the letters {every}')
        if len(word) > len(set(word)):
            raise NotRead(f'"{visible(word, 30)}" names a letter twice')
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


def as_tuple(value: object) -> tuple:
    """Return a tuple as it is, and anything else alone in one."""
    return value if isinstance(value, tuple) else (value,)


def listed(answer: object) -> object:
    """Return the values of a dict, what a view of one holds, and what a generator, `map`, `filter` or
    `zip` makes, as a list; anything else as it is.
    """
    if isinstance(answer, dict):
        return list(dict.values(answer))
    if isinstance(answer, _VIEWS):
        return list(answer)
    if not isinstance(answer, _READ_ONCE):
        return answer
    made = guarded(lambda: list(islice(answer, MOST + 1)))
    if isinstance(made, Failed):
        raise NotRead(f"it failed with {made}")
    if not made:
        raise NotRead(
            "nothing comes out of it, perhaps because it has been read already, so give a list"
        )
    return made


def opened(answer: object) -> object:
    """Return an answer as plain values."""
    return plain(listed(answer))


def single(value: object) -> object:
    """Take a value out of lists, tuples and sets that hold nothing else."""
    while isinstance(value, (tuple, frozenset)) and len(value) == 1:
        (value,) = value
    return value


def items(value: object, read: Callable[[object], object]) -> tuple:
    """Read a flat list of values, each with `read`; a text is split at commas and spaces."""
    if isinstance(value, str):
        value = tuple(said for _, said in named(value))
    return tuple(read(item) for item in _flat(value))


def named(text: str) -> list[tuple[str, str]]:
    """Split a text at commas and spaces, and return what stands there, each with its name, as in
    "p = 3, q = 4"; "" where it has none.
    """
    words = re.split(r"[\s,;&]+", _NAME.sub(r"\1=", _PRINTED.sub(" ", text)))
    pairs = [word.split("=") for word in words if re.search(r"\w", word) and word != "and"]
    if any(len(pair) > 2 for pair in pairs):
        raise NotRead("one value has two names")
    return [("", *pair)[-2:] for pair in pairs]


def _flat(value: object) -> list:
    if isinstance(value, (tuple, frozenset)):
        return [inner for item in value for inner in _flat(item)]
    return [value]


def read_number(value: object) -> float | None:
    """Read a number; None and "None" stay None, for a gradient that is not there.

    A text may be what torch printed, may name what it is ("g = 3"), be a word ("three") or have one
    behind the number. A bool is no number.
    """
    if isinstance(value, str):
        value = _bare_number(value)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise NotRead("it isn't a number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise NotRead("it isn't a number") from None


def _bare_number(text: str) -> float | None:
    """Return the number that a text says, None for the text "None"."""
    said = _BEGINS.sub("", _PRINTED.sub(" ", text)).strip(" \t\n()[]{}\"'`~≈,;")
    said = _NAME.sub("", said, count=1).strip(" ()[]{}~≈").casefold()
    if said[-2:-1].isdigit():
        said = said.removesuffix(".")
    if said == "none":
        return None
    spoken = _SPOKEN.split()
    if said in spoken:
        return float(spoken.index(said))
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+", said):
        said = said.replace(",", "")
    if re.fullmatch(r"[-+]?\d+,\d+", said):  # a decimal comma
        said = said.replace(",", ".")
    counted = _COUNTED.fullmatch(said)
    try:
        return float(counted[1] if counted else said)
    except ValueError:
        raise NotRead("it isn't a number") from None


def read_word(value: object) -> str:
    """Read a name: casefolded, without quotes, dots or parentheses around it."""
    if value is None or isinstance(value, bool):
        return str(value).casefold()
    if not isinstance(value, str):
        raise NotRead("letters and names are text, in quotes")
    return value.strip(" \t\n\"'`.():").casefold()


def read_option(value: object, options: tuple[str, ...]) -> str:
    """Read one of the letters `options`, which may stand in parentheses or before its text."""
    text = read_word(value)
    letter = _LETTER.match(str(value).casefold())
    for name in (text, text.removeprefix("option").strip(" ()"), letter and letter[1]):
        if name in options:
            return name
    raise NotRead("it isn't one of the options")


def same(left: object, right: object) -> bool:
    """Compare plain values: floats within 1e-4 (1e-6 near zero), nan as nan, the rest exactly."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if any(isinstance(side, bool) or not isinstance(side, (int, float)) for side in (left, right)):
        return type(left) is type(right) and left == right
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=1e-4, abs_tol=1e-6)
