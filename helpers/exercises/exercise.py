"""Hold what an exercise is: plain frozen records that check themselves when they are made."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from helpers.exercises.readers import Reader


@dataclass(frozen=True)
class SameAs:
    """Hold a function of no arguments that gives an answer: computed each time, never stored."""

    compute: Callable[[], object]


def same_as(compute: Callable[[], object]) -> SameAs:
    """Match the answer that `compute()` gives; a function matches one that does the same in every case."""
    return SameAs(compute)


@dataclass(frozen=True)
class Misconception:
    """Name one wrong idea.

    `example` is an answer that comes of it, or source text that defines `answer`. `when` is that wrong
    answer, a `same_as(...)`, or a predicate of the reading. `message` says what was thought and what torch does.
    """

    example: object
    when: object
    message: str


@dataclass(frozen=True)
class Exercise:
    """Describe one exercise, with a `truth` (gives a right answer) or a `judge` (of the reading), not both.

    Raises ValueError when a part is missing, doubled or empty.
    """

    id: str
    reader: Reader
    right: str
    misconceptions: tuple[Misconception, ...]
    hints: tuple[str, ...]
    solution: str
    truth: Callable[[], object] | None = None
    judge: Callable[[object], bool] | None = field(default=None)

    def __post_init__(self) -> None:
        for broken, why in _faults(self):
            if broken:
                raise ValueError(f"Exercise {self.id!r}: {why}")


def _faults(exercise: Exercise) -> tuple[tuple[bool, str], ...]:
    messages = [idea.message for idea in exercise.misconceptions]
    texts = [exercise.right, *exercise.hints, *messages]
    return (
        (not re.fullmatch(r"\d\d\.\d+", exercise.id), 'an id is the lesson and a number, such as "02.1".'),
        ((exercise.truth is None) == (exercise.judge is None), "give it a truth or a judge, not both."),
        (len(messages) < 2, f"it knows {len(messages)} misconceptions; write at least 2."),
        (len(exercise.hints) < 2, f"it has {len(exercise.hints)} hints; write at least 2."),
        (len(set(texts)) < len(texts), "two of its texts are the same; each needs words of its own."),
        (not all(text.strip() for text in texts), "one of its texts is empty."),
        ("answer" not in exercise.solution, "its solution has to define `answer`."),
    )
