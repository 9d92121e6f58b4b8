"""Know the course that teaches what is found, if there is one: a course says so itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Course:
    """Hold the notebooks of a course: that of a lesson by its number, the glossary, the clinic."""

    lesson: Callable[[str], str]
    glossary: str
    clinic: str


_TAUGHT: list[Course] = []


def taught_by(course: Course) -> None:
    """Link to a course from now on; what was looked up before has no links."""
    _TAUGHT[:] = [course]


def course() -> Course | None:
    return _TAUGHT[0] if _TAUGHT else None


def link_to_lesson(number: str, word: str = "lesson") -> str:
    """Return a link to a lesson, "[lesson 07](07_retain_graph.ipynb)"; "" without a course,
    and of what no lesson teaches, whose number is "".
    """
    here = course()
    if here is None or not number:
        return ""
    return f"[{word} {number}]({here.lesson(number)})"
