"""The rules of a lesson that comparing outputs cannot see.

Reads notebooks as data; runs and writes nothing.

Each rule is a function from a `Lesson` to complaints, plain sentences that name the cell and what
to do.
"""

from notebook_rules import exercises, hygiene, pictures, running, style
from notebook_rules.lesson import Lesson

RULES = (*running.RULES, *hygiene.RULES, *pictures.RULES, *style.RULES, *exercises.RULES)

__all__ = ["RULES", "Lesson"]
