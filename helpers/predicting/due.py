"""Find what is to be reviewed: questions that were missed at first guess, and exercises that took
hints or a second try; and choose from it what fits into ten minutes.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from zlib import crc32

from helpers import pace
from helpers.exercises.exercise import find
from helpers.lessons import exercise_minutes, is_in_lesson, listings
from helpers.predicting.kinds import kind_of
from helpers.predicting.questions import Question, every
from helpers.progress_file import EXERCISES, PREDICTIONS, count

MOST = 10  # minutes of one review
LONG = 5  # minutes: what takes longer would push all else out of a review
MINUTES = {"choose": 1, "number": 1.5, "draw": 2, "find_line": 2, "order": 2, "explain": 2}
NEARLY_FORGOTTEN = 10  # days: what has waited so long goes first, however seldom it comes back
UNKNOWN = 5  # minutes of an exercise whose lesson cannot be read


@dataclass(frozen=True)
class Due:
    """Hold something that is to be reviewed: its section and name in the progress file, its record,
    and for how many days it has waited (less than 0: it is not due yet).
    """

    section: str
    name: str
    record: dict
    days: int

    @property
    def lesson(self) -> str:
        return self.name[:2]

    @property
    def is_long(self) -> bool:
        return self.minutes > LONG

    @property
    def minutes(self) -> float:
        if self.section == EXERCISES:
            return exercise_minutes(self.name, UNKNOWN)
        return MINUTES[every()[self.name].kind]


def waiting(sections: dict[str, dict[str, dict]]) -> list[Due]:
    """Return all that was missed and is not learnt yet: first what is nearly forgotten, then what has
    waited longest for the time that it should have waited. What has waited equally long is mixed.
    """
    missed = [
        *_missed(PREDICTIONS, sections[PREDICTIONS], was_missed),
        *_missed(EXERCISES, sections[EXERCISES], was_hard),
    ]
    return sorted(missed, key=_order)


def _order(item: Due) -> tuple[bool, float, int]:
    lateness = item.days / pace.DAYS[pace.box_of(item.record)]
    return item.days < NEARLY_FORGOTTEN, -lateness, crc32(item.name.encode())


def due(sections: dict[str, dict[str, dict]]) -> list[Due]:
    """Return what is due today, in the order of `waiting`."""
    return [item for item in waiting(sections) if item.days >= 0]


def sitting(items: Iterable[Due]) -> list[Due]:
    """Return what fits into one review, mixed: the first ones, as there is time; nothing long."""
    chosen, minutes = [], 0.0
    for item in items:
        if not item.is_long and minutes + item.minutes <= MOST:
            chosen.append(item)
            minutes += item.minutes
    return mixed(chosen)


def mixed(items: list[Due]) -> list[Due]:
    """Put items in an order in which no two neighbours are from one lesson, where that can be."""
    left, placed = list(items), []
    while left:
        many = Counter(item.lesson for item in left)
        before = placed[-1].lesson if placed else ""
        others = [item for item in left if item.lesson != before] or left
        placed.append(max(others, key=lambda item: many[item.lesson]))
        left.remove(placed[-1])
    return placed


def _missed(section: str, records: dict, is_missed: Callable[[str, dict], bool]) -> list[Due]:
    missed = []
    for name, record in records.items():
        if pace.box_of(record) < pace.LEARNT and is_missed(name, record):
            missed.append(Due(section, name, record, pace.overdue(record)))
    return missed


def was_missed(name: str, record: dict) -> bool:
    """Tell whether the first guess on a question of a lesson was wrong. Nobody grades an explanation, and
    what notebooks without a number ask stays there.
    """
    asked = every().get(name) if name[:2] in listings() else None
    return asked is not None and bool(asked.right) and is_wrong(asked, record)


def is_wrong(asked: Question, record: dict) -> bool:
    kind = kind_of(asked)
    first = kind.read(asked, record.get("first", ""))
    return bool(first) and not kind.is_right(asked, first)


def was_hard(name: str, record: dict) -> bool:
    """Tell whether an exercise took help, or was not solved at the first try."""
    tries, is_solved = count(record, "tries"), record.get("solved") is True
    was_easy = not was_helped(record) and (tries == 0 or (tries == 1 and is_solved))
    return not was_easy and find(name) is not None and is_in_lesson(name)


def was_helped(record: dict) -> bool:
    """Tell whether a hint was taken, or the solution looked at, before an exercise was solved."""
    return count(record, "hints") > 0 or record.get("solution") is True
