"""Turn plain values into the one form that a kind of answer compares, and compare; knows no torch."""

import math
import re
from collections.abc import Callable

from autograd_graphs.untrusted.plain import NotRead, is_a

_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_LETTER = re.compile(r"\s*\(?([a-z])(?:\)|[.:](?=\s|$))")
_PRINTED = re.compile(  # what torch prints around the numbers of a tensor
    r"Parameter containing:|,\s*(?:requires_grad=\w+|grad_fn=<[^>]*>|dtype=[\w.]+|device='[^']*')"
    r"|\b(?:torch\.)?tensor(?=\()|^\s*>>>|^\s*Out\[\d+\]:"
)
_NODE = re.compile(r"<(?:class\s+')?([\w.:]+)[^<>]*>")
_OBJECT = re.compile(r"\bclass\s+|\s+object(?:\s+at\s+0x[0-9a-f]+)?\b", re.IGNORECASE)
_ASSIGNED = re.compile(r"^\s*[\w.]+\s*==?\s*(?=\S)")
_COUNTED = re.compile(r"([-+]?[\d.]+(?:e[-+]?\d+)?)\s*([a-z]+)", re.IGNORECASE)
_SPOKEN = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_SPELLED = {"MiB": ("mib", "mb", "mebibyte", "mebibytes")}  # other units are not turned into it


def single(value: object) -> object:
    """Take a value out of lists and tuples that hold nothing else."""
    while is_a(value, tuple) and len(value) == 1:
        value = value[0]
    return value


def items(value: object, read: Callable[[object], object]) -> tuple:
    """Read a flat list of values, each with `read`; a text is split at commas and spaces."""
    if is_a(value, str):
        bare = _OBJECT.sub("", _NODE.sub(r"\1", _PRINTED.sub(" ", value)))
        bare = re.sub(r"[\[\](){}]|\band\b", " ", bare)
        if "=" in bare:
            raise NotRead("write the values alone, in order, without names")
        value = tuple(part for part in re.split(r"[\s,;&]+", bare) if part)
    return tuple(read(item) for item in _flat(value))


def _flat(value: object) -> list:
    if is_a(value, tuple, frozenset):
        return [inner for item in value for inner in _flat(item)]
    return [value]


def number(value: object, unit: str = "") -> float | None:
    """Read a number; None and "None" stay None, for a gradient that is not there.

    A text may be what torch printed, may name what it is ("g = 3"), be a word ("three") or bring
    its unit, which has to be `unit` where that is given. A bool is no number.
    """
    if is_a(value, str):
        value = _bare_number(value, unit)
    if value is None:
        return None
    if is_a(value, bool) or not is_a(value, int, float):
        raise NotRead("it is not a number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise NotRead("it is not a number") from None


def _bare_number(text: str, unit: str) -> float | None:
    """Return the number that a text says, None for the text "None"."""
    bare = _ASSIGNED.sub("", _PRINTED.sub(" ", text)).strip(" \t\n()[]{}\"'`~≈,;").casefold()
    bare = bare.removesuffix(".") if bare[-2:-1].isdigit() else bare
    if bare == "none":
        return None
    if bare in _SPOKEN:
        return float(_SPOKEN.index(bare))
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+", bare):
        bare = bare.replace(",", "")
    if re.fullmatch(r"[-+]?\d+,\d+", bare):  # a decimal comma
        bare = bare.replace(",", ".")
    counted = _COUNTED.fullmatch(bare)
    try:
        return _in_unit(*counted.groups(), unit) if counted else float(bare)
    except ValueError:
        raise NotRead("it is not a number") from None


def _in_unit(digits: str, word: str, unit: str) -> float:
    """Return a number that has its unit behind it; where no unit is asked for, any word will do."""
    if unit and word not in _SPELLED[unit]:
        raise NotRead(f"it is asked for in {unit}: write that number alone")
    return float(digits)


def rows(value: object) -> object:
    """Check that nested tuples have one shape, and turn what they hold into floats."""
    if not is_a(value, tuple):
        return number(float(value) if is_a(value, bool) else value)
    inside = tuple(rows(item) for item in value)
    if len({_shape(row) for row in inside}) > 1:
        raise NotRead("its rows differ in length")
    return inside


def _shape(value: object) -> tuple[int, ...]:
    if not is_a(value, tuple):
        return ()
    return (len(value), *(_shape(value[0]) if value else ()))


def boolean(value: object) -> bool:
    """Read True or False, also from 0, 1, "yes" and "no"."""
    text = word(str(value) if is_a(value, int) else value)
    if text not in _TRUE + _FALSE:
        raise NotRead("it is neither True nor False")
    return text in _TRUE


def word(value: object) -> str:
    """Read a name: casefolded, without quotes, `torch.`, `<…>`, addresses or empty parentheses."""
    if value is None or is_a(value, bool):
        return str(value).casefold()
    if not is_a(value, str):
        raise NotRead("it is not a text")
    inside = _NODE.search(value)
    text = inside.group(1) if inside else _OBJECT.sub("", value)
    text = text.replace("torch::autograd::", "").strip(" \t\n\"'`.():")
    return text.casefold().removeprefix("torch.")


def option(value: object, options: tuple[str, ...]) -> str:
    """Read one of `options`; a letter may stand in parentheses or before its text."""
    if is_a(value, int, float) and not is_a(value, bool):
        value = f"{value:.6g}"
    text = value if is_a(value, str) else word(value)
    bare, letter = word(text).removeprefix("option").strip(" ()"), _LETTER.match(text.casefold())
    for name in options:
        if name.casefold() in (word(text), bare, letter and letter.group(1)):
            return name
    raise NotRead("it is not one of the options")


def same(left: object, right: object, rtol: float = 1e-4) -> bool:
    """Compare two plain values: floats within `rtol` (1e-6 near zero), nan equal to nan, the rest
    exactly.
    """
    if is_a(left, tuple) and is_a(right, tuple):
        return len(left) == len(right) and all(
            same(a, b, rtol) for a, b in zip(left, right, strict=True)
        )
    if any(is_a(side, bool) or not is_a(side, int, float) for side in (left, right)):
        return type(left) is type(right) and left == right
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=rtol, abs_tol=1e-6)
