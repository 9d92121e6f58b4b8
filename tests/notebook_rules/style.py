"""Rules about shape: keys, and the kinds of code that belong in `helpers` instead."""

import ast
import re

from notebook_rules.rounds import parsed

KEY = re.compile(
    r"\b(?:keys? [0-9a-z]\b|arrow keys?|(?:right|left) arrow|undo with u)\b|\(→\)|→ and ←", re.I
)
CLICK = re.compile(r"\bclick (?:in|into|the|on)\b", re.I)


def keys_are_named_after_a_click(lesson):
    """A key that is pressed before a player has the focus goes to JupyterLab, which may change the
    cell.
    """
    named = [
        (cell, KEY.search(cell.source)) for cell in lesson.read_by_students if not cell.is_code
    ]
    for cell, key in [(cell, key) for cell, key in named if key][:1]:
        if not CLICK.search(cell.source[: key.start()]):
            yield f"{cell} names {key[0]!r} before any click: say first that one clicks into the player or the lab."


def no_machinery_in_lessons(lesson):
    """try/except is how wrong claims survive; classes belong in helpers, unless a class is the
    lesson.
    """
    for cell in lesson.code:
        kinds = {type(node) for node in ast.walk(parsed(cell))}
        if kinds & {ast.Try, ast.TryStar}:
            yield f"{cell} has try: use `with attempt():`, which prints what was raised."
        if ast.ClassDef in kinds and "class-is-the-lesson" not in cell.tags:
            yield f"{cell} defines a class: move it into helpers, or tag the cell `class-is-the-lesson`."


RULES = (
    keys_are_named_after_a_click,
    no_machinery_in_lessons,
)
