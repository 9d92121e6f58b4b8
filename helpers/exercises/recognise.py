"""Recognise what a function did: in words of what is seen of it, by its errors, by where it is right.

Each function here returns a predicate of two readings, what was seen of an answer and what is right:
tuples of outcomes, one a case. An outcome with named parts is a tuple of these.
"""

from collections.abc import Callable, Container
from dataclasses import dataclass

from autograd_graphs.guard import Failed
from helpers.exercises.reading import as_tuple, same

When = Callable[[tuple, tuple], bool]


@dataclass(frozen=True)
class Like:
    """Match a program's answer; of a function what is seen in each case, or these parts of it."""

    code: str
    parts: tuple[int, ...] = ()


def like(code: str, *parts: int) -> Like:
    """Match what this code answers, or parts of it: computed each time, never stored."""
    return Like(code, parts)


def fails(*fragments: str, cases: slice = slice(None)) -> When:
    """Match where one of these cases ended in an error whose words hold one of these texts."""
    return lambda seen, right: raised(seen[cases], *fragments)


def raised(seen: tuple, *fragments: str) -> bool:
    """Tell whether some case ended in an error whose words hold one of these texts."""
    errors = [str(case) for case in seen if isinstance(case, Failed)]
    return any(part in error for error in errors for part in fragments)


def shows(*words: str) -> When:
    """Match where some case shows one of these words."""
    return lambda seen, right: any(word in as_tuple(case) for case in seen for word in words)


def always(*words: str) -> When:
    """Match where every case shows all of these words."""
    return lambda seen, right: all(word in as_tuple(case) for case in seen for word in words)


def wherever_it_ran(*words: str, cases: slice = slice(None)) -> When:
    """Match where each case that did not raise shows all of these words, and there is such a case."""
    at_all = always(*words)
    return lambda seen, right: bool(ended(seen[cases])) and at_all(ended(seen[cases]), right)


def right_in(*parts: int) -> When:
    """Match where these parts are right in every case."""
    return lambda seen, right: agree(seen, right, *parts)


def wrong_in(*parts: int) -> When:
    """Match where some case that did not raise is wrong in one of these parts."""

    def matches(seen: tuple, right: tuple) -> bool:
        for case, wanted in zip(seen, right, strict=True):
            if isinstance(case, tuple) and not agree((case,), (wanted,), *parts):
                return True
        return False

    return matches


def first_wrong(number: int) -> When:
    """Match where this case, counted from 0, is the first that went wrong, and did not raise."""

    def matches(seen: tuple, right: tuple) -> bool:
        wrong = [at for at, case in enumerate(seen) if not same(case, right[at])]
        return wrong[0] == number and not isinstance(seen[number], Failed)

    return matches


def at(cases: Container[int], parts: Container[int], *came: object) -> When:
    """Match where the first case that went wrong is one of these and did not raise, its first wrong
    part is one of these, and what came there is one of these values, if any are given.
    """

    def matches(seen: tuple, right: tuple) -> bool:
        number = _first_wrong(seen, right)
        if number not in cases or isinstance(seen[number], Failed):
            return False
        pairs = zip(seen[number], right[number], strict=True)
        wrong = next(k for k, pair in enumerate(pairs) if not same(*pair))
        return wrong in parts and (not came or any(same(seen[number][wrong], one) for one in came))

    return matches


def fails_first(*fragments: str) -> When:
    """Match where the first case that went wrong ended in an error whose words hold one of these texts."""
    return lambda seen, right: raised((seen[_first_wrong(seen, right)],), *fragments)


def says(*fragments: str, cases: Container[int] = ()) -> When:
    """Match where the first case that went wrong, one of these if any are given, ended in an error, or
    came to a refusal, whose words hold one of these texts.
    """

    def matches(seen: tuple, right: tuple) -> bool:
        number = _first_wrong(seen, right)
        case = seen[number]
        words = str(case) if isinstance(case, Failed) else str(case[0])
        return (not cases or number in cases) and any(part in words for part in fragments)

    return matches


def _first_wrong(seen: tuple, right: tuple) -> int:
    return next(k for k, case in enumerate(seen) if not same(case, right[k]))


def both(first: When, second: When) -> When:
    return lambda seen, right: first(seen, right) and second(seen, right)


def each_has(part: int, value: object) -> When:
    """Match where one part is this value in each case that did not raise, and there is such a case."""
    return lambda seen, right: (
        bool(ended(seen)) and all(same(case[part], value) for case in ended(seen))
    )


def agree(seen: tuple, other: tuple, *parts: int) -> bool:
    """Tell whether two readings agree in these parts, in every case."""
    for did, wanted in zip(seen, other, strict=True):
        if not isinstance(did, tuple):
            return False
        if not all(same(did[part], wanted[part]) for part in parts):
            return False
    return True


def ended(seen: tuple) -> list:
    return [case for case in seen if not isinstance(case, Failed)]
