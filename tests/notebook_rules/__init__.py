"""The rules of a lesson that comparing outputs cannot see.

Reads notebooks as data; runs and writes nothing. `python -m notebook_rules 05` prints a report.

Each rule is a function from a `Lesson` to complaints, plain sentences that name the cell and what
to do.
"""

from functools import wraps

from notebook_rules import (
    answers,
    claims,
    clinic,
    duration,
    exercises,
    hygiene,
    leaks,
    outcomes,
    pictures,
    roles,
    running,
    sizes,
    style,
    terms,
)
from notebook_rules.lesson import Lesson


def given_roles(rule):
    """Make a rule that reads roles silent where there are none: `a_lesson_has_roles` says so, once."""

    @wraps(rule)
    def held(lesson):
        if lesson.has_roles:
            yield from rule(lesson)

    return held


READ_ROLES = (
    *roles.RULES,
    *answers.RULES,
    *sizes.RULES,
    *leaks.RULES,
    *outcomes.RULES,
    *terms.RULES,
    *duration.RULES,
)
RULES = (
    *running.RULES,
    *hygiene.RULES,
    *pictures.RULES,
    *style.RULES,
    *exercises.RULES,
    *claims.RULES,
    roles.a_lesson_has_roles,
    *map(given_roles, READ_ROLES),
)
CLINIC = (
    *(rule for rule in running.RULES if rule is not running.one_traceback_is_genuine),
    *hygiene.RULES,
    *pictures.RULES,
    style.no_machinery_in_lessons,
    *claims.RULES,
    *clinic.RULES,
)
CAPSTONE = (
    *running.RULES,
    *hygiene.RULES,
    *pictures.RULES,
    *style.RULES,
    *claims.RULES,
    *answers.RULES,
    *leaks.RULES,
    *outcomes.RULES,
    exercises.an_id_is_never_used_again,
    clinic.a_program_can_be_read_at_a_glance,
    roles.what_belongs_to_a_round_stands_in_one,
    roles.a_guess_asks_for_its_question,
    roles.questions_have_ids,
    roles.questions_have_headings,
    roles.a_lesson_varies,
)

__all__ = ["CAPSTONE", "CLINIC", "RULES", "Lesson"]
