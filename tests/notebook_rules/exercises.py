"""Rules about exercises: three to six, numbered in order, handed out unanswered."""

import itertools
import re

CHECK = re.compile(r"""\bcheck\(\s*["'](\d\d\.\d+)["']""")
HOW_MANY = range(3, 7)
UNANSWERED = "not answered yet"
# Asked by old copies of a lesson only: `check` still knows them, and no other gets their number.
OLD = {"00.3", "01.2", "01.3"}
# Of earlier editions; no other exercise gets their number.
GONE = {
    "03.3", "04.1", "04.3", "06.3", "06.4", "07.1", "07.3", "08.2", "08.4", "09.4", "10.2",
    "10.3",
}  # fmt: skip


def exercises_are_numbered(lesson):
    """`check("03.1", ...)`, `check("03.2", ...)` … as they come, the numbers of old ones left out; the
    last one, which repairs the case, keeps the number that it has.
    """
    found = [name for cell in lesson.code for name in CHECK.findall(cell.source)]
    free = (name for k in itertools.count(1) if (name := f"{lesson.number}.{k}") not in OLD | GONE)
    wanted = list(itertools.islice(free, len(found)))
    if len(found) not in HOW_MANY:
        yield f"it has {len(found)} exercises ({', '.join(found)}): make it three to six."
    if not in_order(found, wanted):
        yield f"its exercises are {', '.join(found)}; number them {', '.join(wanted)}."


def in_order(found, wanted):
    """Tell whether these numbers are the wanted ones, and rise but for the last."""
    return sorted(found) == wanted and found[:-1] == sorted(found[:-1])


def exercises_are_handed_out_unanswered(lesson):
    """The stored stub says so; an answer in it would be the solution."""
    for cell in lesson.code:
        asked, open_ = len(CHECK.findall(cell.source)), cell.shown.count(UNANSWERED)
        if asked > open_:
            yield f"{cell} does not say {UNANSWERED!r}: leave `answer = ...` in the stub and refresh."


RULES = (exercises_are_numbered, exercises_are_handed_out_unanswered)
