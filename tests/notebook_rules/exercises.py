"""Rules about exercises: three to seven, each with a number of its own, handed out unanswered."""

import re

CHECK = re.compile(r"""\bcheck\(\s*["'](\d\d\.\d+)["']""")
HOW_MANY = range(3, 8)
UNANSWERED = "not answered yet"
# Asked by old copies of a lesson only: `check` still knows them, and no other gets their number.
OLD = {"00.3", "01.2", "01.3"}
# Of earlier editions; no other exercise gets their number.
GONE = {
    "03.3", "04.1", "04.3", "06.3", "06.4", "07.1", "07.3", "08.2", "08.4", "09.4", "10.2",
    "10.3",
}  # fmt: skip


def exercises_have_numbers_of_their_own(lesson):
    """`check("03.4", ...)`, in any order: a number that went with its exercise never comes back."""
    found = [name for cell in lesson.code for name in CHECK.findall(cell.source)]
    if len(found) not in HOW_MANY:
        yield f"it has {len(found)} exercises ({', '.join(found)}): make it three to seven."
    for name in sorted(set(found)):
        if name[:2] != lesson.number or name in OLD | GONE or found.count(name) > 1:
            yield f"its exercise {name} has the number of another lesson, or one that is taken: give it the next one that was never used."


def exercises_are_handed_out_unanswered(lesson):
    """The stored stub says so; an answer in it would be the solution."""
    for cell in lesson.code:
        asked, open_ = len(CHECK.findall(cell.source)), cell.shown.count(UNANSWERED)
        if asked > open_:
            yield f"{cell} does not say {UNANSWERED!r}: leave `answer = ...` in the stub and refresh."


RULES = (exercises_have_numbers_of_their_own, exercises_are_handed_out_unanswered)
