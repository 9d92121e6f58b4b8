"""Rules about shape: slides, notes, keys, and the kinds of code that belong in `helpers` instead.

An idea begins at a text cell of slide type `slide` whose first line is a `## ` heading, and ends
before the next `#` or `## ` heading. Headings that frame a lesson begin no idea: see FRAME.
"""

import ast
import re

from notebook_rules.rounds import parsed

FRAME = re.compile(
    r"(?:set-?\s?up|(?:what )?you (?:will|need)|needs|before you|labs?|exercises?|recap|summary|where next"
    r"|quiz)\b",
    re.I,
)
HEADING = re.compile(r"(#{1,2}) +(.*)")
KEY = re.compile(
    r"\b(?:keys? [0-9a-z]\b|arrow keys?|(?:right|left) arrow|undo with u)\b|\(→\)|→ and ←", re.I
)
CLICK = re.compile(r"\bclick (?:in|into|the|on)\b", re.I)


def ideas(lesson):
    """Return the ideas of a lesson, each the list of its cells, heading first."""
    found, current = [], None
    for cell in lesson.cells:
        heading = None if cell.is_code else HEADING.match(cell.source)
        if heading:
            begins = heading[1] == "##" and cell.slide == "slide" and not FRAME.match(heading[2])
            current = [] if begins else None
            found += [current] if begins else []
        if current is not None:
            current.append(cell)
    return found


def every_idea_has_notes(lesson):
    """The speaker needs to know what students will guess, how long to wait and what to ask next."""
    if not ideas(lesson):
        yield "it has no idea: a text cell of slide type `slide` that begins with `## `."
    for cells in ideas(lesson):
        if not any(cell.slide == "notes" for cell in cells):
            yield f"{cells[0]} begins an idea without notes: add a text cell of slide type `notes` to it."


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
    every_idea_has_notes,
    keys_are_named_after_a_click,
    no_machinery_in_lessons,
)
