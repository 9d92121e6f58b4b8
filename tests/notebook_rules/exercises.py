"""Rules about exercises: three to seven, under numbers that were never used, handed out unanswered."""

import re
from collections import defaultdict

from helpers.lessons import listings

CHECK = re.compile(r"""\bcheck\(\s*["'](\d\d\.\d+)["']""")
COUNTED = re.compile(r"(.*?)(\d+)")
HOW_MANY = range(3, 8)
UNANSWERED = "not answered yet"


def exercises_are_numbered(lesson):
    """`check("03.1", ...)`, `check("03.2", ...)` … in any order, each once; three to seven of them."""
    found = exercises(lesson)
    if len(found) not in HOW_MANY:
        yield f"it has {len(found)} exercises ({', '.join(found)}): make it three to seven."
    for name in sorted({name for name in found if found.count(name) > 1}):
        yield f"its exercise {name} is there more than once: give each a number of its own."
    for name in sorted({name for name in found if name[:2] != lesson.number}):
        yield f"its exercise {name} has the number of another lesson: give it one of this lesson."


def exercises(lesson):
    """Return the ids of its exercises, as they come."""
    return [name for cell in lesson.code for name in CHECK.findall(cell.source)]


def an_id_is_never_used_again(lesson):
    """A question or exercise that went has its id in `gone` of helpers/lessons.toml, where no other
    gets it; a new one takes the next number that was never used.
    """
    listed = listings().get(lesson.number)
    gone = set(listed.gone) if listed else set()
    there = {*exercises(lesson), *questions(lesson)}
    for name in sorted(there & gone):
        yield f"its {name} is one of those that went (`gone` in helpers/lessons.toml): give it a new id."
    for begin, numbers in numbers_of(there | gone).items():
        for number in sorted(set(range(1, max(numbers))) - numbers):
            yield f"its {begin}{number} is missing: if it went, write it into `gone` in helpers/lessons.toml; if not, it is the next id."


def questions(lesson):
    """Return the ids of its questions, as they come."""
    return [cell.course["id"] for cell in lesson.cells if is_question(cell)]


def is_question(cell):
    return cell.role == "question" and isinstance(cell.course.get("id"), str)


def numbers_of(names):
    """Return the numbers of ids by what stands before them: {"03.": {1, 2}, "03.q": {1}}."""
    found = defaultdict(set)
    for match in filter(None, map(COUNTED.fullmatch, names)):
        found[match[1]].add(int(match[2]))
    return found


def exercises_are_handed_out_unanswered(lesson):
    """The stored stub says so; an answer in it would be the solution."""
    for cell in lesson.code:
        asked, open_ = len(CHECK.findall(cell.source)), cell.shown.count(UNANSWERED)
        if asked > open_:
            yield f"{cell} does not say {UNANSWERED!r}: leave `answer = ...` in the stub and refresh."


RULES = (exercises_are_numbered, an_id_is_never_used_again, exercises_are_handed_out_unanswered)
