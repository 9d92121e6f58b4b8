"""Short, safe texts: numbers, names from anywhere, and how wide a line of text will be. Touches nothing."""

from __future__ import annotations

import cmath
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, takewhile

LONGEST = 200
LONGEST_LINE = 2_000  # characters of a line of a text tree
MOST_TEXT = 250_000  # characters of a text tree: a page holds it twice, and markup takes six each
# Advance widths of printable ASCII (32 to 126) in hundredths of an em, of a wide common sans (DejaVu Sans).
_EMS = """
32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 100 68 69 70 77
63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 63 55 63 62 35 63 63 28
28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84
"""
_WIDTHS = [int(ems) for ems in _EMS.split()]


def visible(text: str, limit: int = LONGEST) -> str:
    """Return `text` with control characters spelled out, cut to `limit` characters with an ellipsis."""
    if type(text) is str and len(text) <= limit and text.isprintable():  # nearly always
        return text
    cut = text[: limit + 1]
    shown = "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in cut)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def bounded(lines: Sequence[str], limit: int = MOST_TEXT) -> list[str]:
    """Return the lines that fit into `limit` characters, none overlong, and say how many do not."""
    lines = [line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines]
    ends = accumulate(len(line) + 1 for line in lines)
    fit = sum(1 for _ in takewhile(limit.__ge__, ends))
    return [*lines[:fit], *([f"… {len(lines) - fit:,} more lines"] if fit < len(lines) else [])]


def fold(text: str, columns: int = 100) -> str:
    """Break long lines at spaces: a notebook breaks the lines of an output in the middle of a word."""
    indents = [(line, " " * (len(line) - len(line.lstrip()))) for line in text.splitlines()]
    return "\n".join(
        textwrap.fill(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        for line, indent in indents
    )


def number(value: complex | float | int | bool) -> str:
    """Return the shortest text that is true to 4 significant digits; a float keeps a point: "2.0", "0.1"."""
    if isinstance(value, complex):
        joint = "" if str(value.imag).startswith("-") else "+"
        return f"{number(value.real)}{joint}{number(value.imag)}j"
    if not isinstance(value, float) or cmath.isnan(value) or cmath.isinf(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return f"{value:.1f}"
    short = f"{value:.4g}"
    return short if set(short) & set(".e") else short + ".0"


def numbers(values: object) -> str:
    """Return nested lists of numbers as text: "[1.0, 2.0]"; a lone number as `number` does."""
    if isinstance(values, list):
        return "[" + ", ".join(map(numbers, values)) + "]"
    return number(values)


@lru_cache(maxsize=4_096)
def width(text: str, size: float, bold: bool = False) -> int:
    """Return how many pixels `text` may take at font size `size` (px), rounded up; wide scripts count full."""
    ems = sum(_WIDTHS[ord(ch) - 32] if " " <= ch <= "~" else 62 if ord(ch) < 0x1100 else 100 for ch in text)
    return int(ems * size * (1.16 if bold else 1.0) / 100) + 1
