"""Short, safe texts: numbers, names from anywhere, and how wide a line of text will be."""

from __future__ import annotations

import cmath
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

LONGEST = 200
LONGEST_LINE = 2_000  # characters of a line of a text tree
MOST_TEXT = 250_000  # characters of a text tree: a page holds it twice, and markup takes six each
# Advance widths of printable ASCII (32 to 126) in hundredths of an em, of a wide common sans
# (DejaVu Sans).
_EMS = """
32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53
100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84
50 50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84
"""
_WIDTHS = list(map(int, _EMS.split()))
_END = re.compile(r"[.!?](?=\s+(?:[\"'(\[]?[A-Z0-9]|`))")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|approx|fig|no|incl)|\bet al)\.$", re.IGNORECASE
)


def visible(text: str, limit: int = LONGEST) -> str:
    """Return `text` with control characters spelled out, cut to `limit` characters."""
    if len(text) <= limit and text.isprintable():  # nearly always
        return text
    cut = text[: limit + 1]
    for letter in set(cut):
        if not letter.isprintable():
            cut = cut.replace(letter, letter.encode("unicode_escape").decode())
    return shortened(cut, limit)


def message_of(error: BaseException) -> str:
    """Return what an error says; nothing where its own `__str__` fails."""
    try:
        return str(error)
    except Exception:
        return ""


def first_line(error: BaseException, limit: int = 600) -> str:
    """Return the first line of what an error says, or the name of its class."""
    return visible(message_of(error).partition("\n")[0], limit) or type(error).__name__


def first_sentence(message: str, limit: int = 240) -> str:
    """Return the first sentence of an error message's first line: `e.g.` and `x.grad` end none."""
    line = next((part.strip() for part in message[:10_000].splitlines() if part.strip()), "")
    for end in _END.finditer(line):
        head = line[: end.end()]
        if head.count("(") <= head.count(")") and not _ABBREVIATION.search(head):
            return visible(head, limit)
    return visible(line, limit)


def in_one_line(error: BaseException) -> str:
    """Return the kind of an error and the first sentence of what it says."""
    text = first_sentence(message_of(error))
    return f"{type(error).__name__}: {text}".removesuffix(": ")


def shortened(text: str, limit: int) -> str:
    """Return `text` cut to `limit` characters, with an ellipsis where something is missing."""
    if len(text) <= limit:
        return text
    return text[: limit - 1] + "…"


def ending(path: str, limit: int) -> str:
    """Return a dotted path cut to `limit` characters: what it ends in says which one is meant."""
    shown = visible(path)
    if len(shown) <= limit or "." not in shown:
        return shortened(shown, limit)
    return "…" + shown[-(limit - 1) :]


def bounded(lines: Sequence[str], limit: int = MOST_TEXT) -> list[str]:
    """Return the lines that fit into `limit` characters, none overlong, and say how many do not."""
    kept: list[str] = []
    for line in lines:
        line = shortened(line, LONGEST_LINE)
        limit -= len(line) + 1
        if limit < 0:
            return [*kept, f"… {len(lines) - len(kept):,} more lines"]
        kept.append(line)
    return kept


def sentence(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def fold(text: str, columns: int = 100) -> str:
    """Break long lines at spaces: a notebook breaks lines of an output within a word."""
    wrapper = textwrap.TextWrapper(columns, break_long_words=False, break_on_hyphens=False)
    wrapped = []
    for line in text.splitlines():
        wrapper.subsequent_indent = " " * (len(line) - len(line.lstrip()))
        wrapped.append(wrapper.fill(line))
    return "\n".join(wrapped)


def number(value: complex | float | int | bool) -> str:
    """Return the shortest text that is true to 4 significant digits: "2.0", "0.1"."""
    if isinstance(value, complex):
        imaginary = number(value.imag)
        if not imaginary.startswith("-"):
            imaginary = "+" + imaginary
        return f"{number(value.real)}{imaginary}j"
    if not isinstance(value, float) or cmath.isnan(value) or cmath.isinf(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return f"{value:.1f}"
    short = f"{value:.4g}"
    if "." in short or "e" in short:
        return short
    return short + ".0"


def short_number(value: complex | float | int | bool) -> str:
    """Return the same without a point where the number is whole to 4 digits: "20", "0.1"."""
    return number(value).removesuffix(".0")


def short_numbers(values: object) -> str:
    """Return nested numbers as text, without points where they are whole: "[1, 0.5]"."""
    return numbers(values, short_number)


def in_bytes(count: int) -> str:
    """Return a number of bytes in SI units: "512 bytes", "1.2 MB"."""
    if count < 1_000:
        return f"{count} bytes"
    size, units = count / 1_000, ["kB", "MB", "GB", "TB", "PB"]
    while round(size, 1) >= 1_000 and len(units) > 1:
        size /= 1_000
        units.pop(0)
    return f"{size:,.1f} {units[0]}"


def numbers(values: object, written: Callable[[Any], str] = number) -> str:
    """Return nested lists or tuples of numbers as text: "[1.0, 2.0]"."""
    if not isinstance(values, list | tuple):
        return written(values)
    return "[" + ", ".join([numbers(value, written) for value in values]) + "]"


@lru_cache(maxsize=4_096)
def width(text: str, size: float, bold: bool = False) -> int:
    """Return how many px `text` may take at a font size, rounded up; wide scripts count full."""
    px = sum(map(_advance, text)) * size
    if bold:
        px *= 1.16
    return int(px / 100) + 1


def _advance(letter: str) -> int:
    """Return how wide a letter is, in hundredths of an em."""
    if " " <= letter <= "~":
        return _WIDTHS[ord(letter) - 32]
    return 62 if ord(letter) < 0x1100 else 100


def is_ours(module: object) -> bool:
    """Say whether a module of this name is of this library, or of the course's that call it."""
    return isinstance(module, str) and module.partition(".")[0] in ("autograd_graphs", "helpers")


FIRST = re.compile(r"\[call 1\]")


def call_labels(calls: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return for each module call its label, and how often its module was called there.

    A call is the path of its module, and in how many calls it was made, in the order in which they
    began. No two get the same label: the calls of a module are numbered, "D[call 2]", and what was
    called in one of them is called by it, "D[call 2].net".
    """
    times: Counter[str] = Counter()
    running: list[tuple[str, str]] = []
    numbered: list[tuple[str, str]] = []
    for path, depth in calls:
        del running[depth:]
        called = path
        for outer, label in reversed(running):
            if path.startswith(f"{outer}."):
                called = label + path.removeprefix(outer)
                break
        times[called] += 1
        label = f"{called}[call {times[called]}]"
        running.append((path, label))
        numbered.append((label, called))

    def if_needed(number: re.Match[str]) -> str:
        return number[0] if times[number.string[: number.start()]] > 1 else ""

    labels = [(FIRST.sub(if_needed, label), times[called]) for label, called in numbered]
    return distinct_labels(labels)


def distinct_labels(labels: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Number labels that are equal: those of a module that was called from two places."""
    times, met = Counter(label for label, _ in labels), Counter[str]()
    apart = []
    for label, count in labels:
        if times[label] > 1:
            met[label] += 1
            label, count = f"{label}[call {met[label]}]", times[label]
        apart.append((label, count))
    return apart
