"""Rules about shape: slides, notes, lengths, and the kinds of code that belong in `helpers`
instead.

An idea begins at a text cell of slide type `slide` whose first line is a `## ` heading, and ends
before the next `#` or `## ` heading. Headings that frame a lesson begin no idea: see FRAME.
"""

import ast
import re
from statistics import median

from notebook_rules.rounds import parsed, until_in_rounds

SLIDE_TYPES = ("slide", "subslide", "fragment", "skip", "notes")
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
CODE_LINES, CODE_MEDIAN, WORDS, CELLS, IN_A_ROW = 15, 6, 120, range(25, 46), 2


def every_cell_has_a_slide_type(lesson):
    """A cell without one lands wherever the deck happens to be."""
    for cell in lesson.cells:
        if cell.slide not in SLIDE_TYPES:
            yield f"{cell} has slide type {cell.slide!r}: give it one of {', '.join(SLIDE_TYPES)}."


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


@until_in_rounds
def cells_are_short(lesson):
    """What shows on one slide fits 1280×720."""
    for cell in lesson.cells:
        lines, words = cell.source.count("\n") + 1, len(cell.source.split())
        if cell.is_code and lines > CODE_LINES:
            yield f"{cell} has {lines} lines of code, over {CODE_LINES}: split it or use helpers."
        if not cell.is_code and words > WORDS:
            yield f"{cell} has {words} words, over {WORDS}: cut or split it."
    middle = median([cell.source.count("\n") + 1 for cell in lesson.code] or [0])
    if middle > CODE_MEDIAN:
        yield f"half of its code cells have {middle:g} lines or more: bring the median to {CODE_MEDIAN}."


@until_in_rounds
def it_has_the_length_of_a_lesson(lesson):
    """25 to 45 cells; 45 are about forty minutes. Speaker notes do not count."""
    count = len(lesson.read_by_students)
    if count not in CELLS:
        yield f"it has {count} cells without the notes, not {CELLS.start} to {CELLS.stop - 1}."


@until_in_rounds
def code_does_not_pile_up(lesson):
    """Predict, run, explain: a reader meets words after two code cells at the latest."""
    row = 0
    for cell in lesson.read_by_students:
        row = row + 1 if cell.is_code else 0
        if row > IN_A_ROW:
            yield f"{cell} is code cell {row} in a row: put a prediction or an explanation before it."


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
    every_cell_has_a_slide_type,
    every_idea_has_notes,
    cells_are_short,
    it_has_the_length_of_a_lesson,
    code_does_not_pile_up,
    keys_are_named_after_a_click,
    no_machinery_in_lessons,
)
