"""The rules of a lesson that comparing outputs cannot see.

Reads notebooks as data; runs and writes nothing. `python -m notebook_rules 05` prints a report.

Each rule is a function from a `Lesson` to complaints, plain sentences that name the cell and what
to do. `IN_ROUNDS` are those of the new form: they hold for lessons whose cells have roles.
`COURSE` are rules for all of these lessons together.
"""

from notebook_rules import (
    answers,
    duration,
    exercises,
    hygiene,
    leaks,
    letters,
    outcomes,
    pictures,
    roles,
    running,
    sizes,
    style,
    terms,
)
from notebook_rules.lesson import Lesson

IN_ROUNDS = (
    *roles.RULES,
    *answers.RULES,
    *sizes.RULES,
    *leaks.RULES,
    *outcomes.RULES,
    *letters.RULES,
    *terms.RULES,
    *duration.RULES,
)
RULES = (
    *running.RULES,
    *hygiene.RULES,
    *pictures.RULES,
    *style.RULES,
    *exercises.RULES,
    *IN_ROUNDS,
)
COURSE = (letters.right_letters_are_spread_over_all,)

__all__ = ["COURSE", "IN_ROUNDS", "RULES", "Lesson"]
