"""Find the name of a type and the words of an error without running their own code."""

import re

from autograd_graphs.text import visible

_END = re.compile(r"[.!?](?=\s+(?:[\"'(\[]?[A-Z0-9]|`))")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|approx|fig|no|incl)|\bet al)\.$", re.IGNORECASE
)


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
    text = first_sentence(str(error))
    return f"{type_name(type(error))}: {text}".removesuffix(": ")


def type_name(kind: type) -> str:
    """Return the name of a class without running anything that it or its metaclass defines."""
    return visible(type.__dict__["__name__"].__get__(kind), 60)


def error_text(error: BaseException) -> str:
    """Return the text that an exception was made with, or "", without calling its `__str__`."""
    args = BaseException.__dict__["args"].__get__(error)
    return str.__str__(args[0]) if args and issubclass(type(args[0]), str) else ""
