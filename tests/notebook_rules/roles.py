"""Rules about roles: which there are, what they carry, in which order they come."""

import re
from itertools import groupby, takewhile

from normal_form import SLIDE_TYPE_OF_ROLE, slide_type_of

from notebook_rules.rounds import asked, questions, rounds

CODE_ROLES = ("setup", "guess", "run", "try", "stub")
CARRIES = {  # besides the role itself
    "title": {"graph", "slide"},
    "question": {"id", "kind", "right", "answer", "tolerance", "minutes", "settled", "slide"},
    "lab": {"id", "minutes", "slide"},
    "text": {"slide"},
    "case": {"slide"},
    "return": {"slide"},
    "exercise": {"slide"},
    "recap": {"slide"},
    "run": {"ask", "caption", "expects", "graph", "slide"},  # `make refresh` writes the graph
    "stub": {"graph", "printed"},
}
OF_A_KIND = {  # besides these; `make refresh` writes what came
    "draw": {"came", "decoys"},
    "find_line": {
        *("came", "mend", "tells", "reasons", "reason", "reason_tells"),
        *("symptom", "raises"),  # recorded elsewhere
    },
    "order": {"came", "head", "lines", "start", "before", "after", "says"},
    "explain": {"good", "points"},
}
LETTERS = {"draw": "d", "find_line": "f", "order": "o", "explain": "e"}
ORDER = re.compile(
    r"question guess (?:run )+because (?:(?:run|text|try) )*notes (?:(?:run|text|try) )*"
)
LAB_ORDER = re.compile(
    r"lab run (?:try )?because (?:(?:run|text|try) )*notes (?:(?:run|text|try) )*"
)
QUIZ_ORDER = re.compile(r"question guess (?:(?:text|notes) )*")
ROUNDS, KINDS, IN_A_ROW = range(4, 7), 3, 2  # of a lesson; how many may ask alike one after another


def a_lesson_has_roles(lesson):
    """What a round is, and what comes before what in it, is read from the roles of its cells."""
    if not lesson.has_roles:
        known = ", ".join(SLIDE_TYPE_OF_ROLE)
        yield f"it has no roles: set metadata.course.role of each cell to one of {known}; CONTRIBUTING.md says what they are for."


def every_cell_has_a_known_role(lesson):
    """The role says what a cell is for: slides, pages, copies and this lint read it."""
    known = ", ".join(SLIDE_TYPE_OF_ROLE)
    for cell in lesson.cells:
        if cell.role not in SLIDE_TYPE_OF_ROLE:
            yield f"{cell} has the role {cell.role!r}: set metadata.course.role to one of {known}."
        elif cell.is_code != (cell.role in CODE_ROLES):
            kind = "code" if cell.is_code else "text"
            yield f"{cell} is a {kind} cell with the role {cell.role!r}: give it a role for {kind}."


def a_lesson_begins_with_its_title_and_has_a_recap(lesson):
    """One title, first of all; one recap."""
    roles = [cell.role for cell in lesson.cells]
    if roles[0] != "title" or roles.count("title") != 1:
        yield f"{lesson.cells[0]} is to be the one cell with the role 'title': give it that role, and no other."
    if roles.count("recap") != 1:
        yield f"it has {roles.count('recap')} cells with the role 'recap': give it exactly one, after the exercises."


def metadata_is_what_the_role_carries(lesson):
    """A key that nobody reads is a slip of the pen, and what it should have said is lost."""
    for cell in lesson.cells:
        known = CARRIES.get(cell.role, set()) | OF_A_KIND.get(cell.course.get("kind"), set())
        for key in sorted(set(cell.course) - known - {"role"}):
            yield f"{cell} carries {key!r}, which a {cell.role!r} does not have: it may have {', '.join(sorted(known)) or 'its role only'}."
        minutes = cell.course.get("minutes")
        if cell.role in ("question", "lab") and not (_is_number(minutes) and minutes > 0):
            yield f"{cell} says minutes {minutes!r}: set course.minutes to a number above 0."
        for key in ("ask", "caption"):
            if not isinstance(cell.course.get(key, ""), str):
                yield f"{cell} has {key!r} that is no text: write one sentence."
        if not _is_list_of_texts(cell.course.get("expects", [])):
            yield f"{cell} has `expects` that are no list of texts: write one text for each attempt()."


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list_of_texts(value):
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def a_round_has_its_order(lesson):
    """A guess before the run, the reason after it; then what the speaker needs."""
    for round_ in rounds(lesson):
        roles = [cell.role for cell in round_.cells]
        order, wanted = _order(round_)
        if not order.fullmatch("".join(f"{role} " for role in roles)):
            yield f"{round_.first} begins a round of {', '.join(roles)}: make it {wanted} (more runs and text after the because only)."


def _order(round_):
    """Return the order of a round: as a pattern, and in words."""
    if round_.is_lab:
        return LAB_ORDER, "lab, run, because, notes"
    if round_.is_settled_later:
        return QUIZ_ORDER, "question, guess"
    return ORDER, "question, guess, run, because, notes"


def what_belongs_to_a_round_stands_in_one(lesson):
    """A guess or a reason without a question are left over from something."""
    inside = {cell.number for round_ in rounds(lesson) for cell in round_.cells}
    for cell in lesson.cells:
        if cell.role in ("guess", "because") and cell.number not in inside:
            yield f"{cell} has the role {cell.role!r} outside of a round: put a question (or a lab) before it."


def a_guess_asks_for_its_question(lesson):
    """`predict("05.q1")`, the same one line in every round; a program stands in it, too."""
    for round_ in asked(lesson):
        call = round_.kind if round_.kind in LETTERS else "predict"
        wanted = f'{call}("{round_.first.course.get("id")}"'
        for cell in round_.with_role("guess"):
            asks = "".join(cell.source.split())
            if not asks.startswith(wanted) or (call != "find_line" and asks != wanted + ")"):
                yield f"{cell} is to hold this call and no more: {wanted})"


def questions_have_ids(lesson):
    """Ids are NN.q1, and NN.d1, f1, o1, e1 for a drawing, a line, an order, an explanation; those of
    the quiz are quiz.1 … No id is there twice: a guess is kept under it.
    """
    seen = set()
    for round_ in asked(lesson):
        letter = LETTERS.get(round_.kind, "q")
        name = "quiz." if round_.is_settled_later else f"{lesson.number}.{letter}"
        found = str(round_.first.course.get("id"))
        if not re.fullmatch(rf"{re.escape(name)}\d+", found) or found in seen:
            yield f"{round_.first} has the id {found!r}: give it one of its own, such as {name + '1'!r}, and its guess the same."
        seen.add(found)


def questions_have_headings(lesson):
    """`## Title` begins a part, `### Title` goes on in it."""
    parts = 0
    for round_ in questions(lesson):
        parts += round_.question.level == "##"
        if not round_.question.level:
            yield f"{round_.first} has no heading: begin it with `## Title`, or with `### Title` where a part goes on."


def a_lesson_varies(lesson):
    """Four to six rounds, of three kinds at least, and no three in a row that ask alike."""
    kinds = [round_.kind for round_ in questions(lesson)]
    if len(kinds) not in ROUNDS:
        yield f"it has {len(kinds)} rounds: make it four to six."
    if len(set(kinds)) < KINDS:
        yield f"its rounds are of {len(set(kinds))} kinds, under {KINDS}: ask one of them in another way."
    for kind, alike in groupby(kinds):
        if len(list(alike)) > IN_A_ROW:
            yield f"it asks in the same way ({kind}) more than {IN_A_ROW} times in a row: change places, or ask in another way."


def the_case_comes_back_before_the_exercises(lesson):
    """One heading, `## Back to the case`, and below it a run; then nothing but the quiz asks."""
    for cell in [cell for cell in lesson.cells if cell.role == "return"]:
        after = [one for one in lesson.cells if one.number > cell.number]
        below = list(takewhile(lambda one: one.role not in ("exercise", "return", "recap"), after))
        if not cell.source.startswith("## ") or "run" not in [one.role for one in below]:
            yield f"{cell} goes back to the case without a heading, or without a run: draw below it what is broken."
        if [one.role for one in after[len(below) :]][:1] != ["exercise"]:
            yield f"{cell} goes back to the case where no exercise follows: put one such cell before the exercises."
        for one in below:
            if one.role == "lab" or (one.role == "question" and "settled" not in one.course):
                yield f"{one} asks after the case has come back: put it before."


def slide_types_are_those_of_the_roles(lesson):
    """Nobody sets slide types by hand."""
    for cell in lesson.cells:
        wanted = slide_type_of(cell.node)
        if wanted and cell.slide != wanted:
            yield f"{cell} has slide type {cell.slide!r}, its role gives {wanted!r}: run `make refresh N={lesson.number}`."


RULES = (
    every_cell_has_a_known_role,
    a_lesson_begins_with_its_title_and_has_a_recap,
    metadata_is_what_the_role_carries,
    a_round_has_its_order,
    what_belongs_to_a_round_stands_in_one,
    a_guess_asks_for_its_question,
    questions_have_ids,
    questions_have_headings,
    a_lesson_varies,
    the_case_comes_back_before_the_exercises,
    slide_types_are_those_of_the_roles,
)
