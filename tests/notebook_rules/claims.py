"""Rules about claims: a code cell below a sentence, which fails if the sentence is false."""

import ast
from symtable import symtable

from course.workspace import is_claim
from notebook_rules.rounds import parsed


def a_claim_stands_below_a_sentence(lesson):
    """What holds a sentence up is found right below it."""
    before = None
    for cell in lesson.with_claims:
        if not is_claim(cell.node):
            before = cell
        elif before is None or before.is_code:
            yield f"{cell} is a claim below no text: put it right below the sentence that it holds up."


def a_claim_is_run_and_can_fail(lesson):
    """It is code with a count, no tag excuses it, and it asserts or ends on what nbval compares."""
    for cell in lesson.claims:
        if not cell.is_code or cell.node["execution_count"] is None or cell.tags:
            yield f"{cell} is a claim that is not run, or has tags: make it a code cell, and run `make refresh N={lesson.number}`."
        elif not _can_fail(cell):
            yield f"{cell} is a claim that cannot fail: assert what the sentence says, or end on a value."
        if set(cell.course) != {"role"}:
            yield f"{cell} is a claim that carries more than its role: take away the rest."


def _can_fail(cell):
    body = parsed(cell).body
    asserts = any(isinstance(node, ast.Assert) for one in body for node in ast.walk(one))
    return asserts or (bool(body) and isinstance(body[-1], ast.Expr))


def a_claim_leaves_the_lesson_alone(lesson):
    """It binds no name of the lesson, so the lesson is the same without it, as students have it."""
    used = set()
    for cell in lesson.code:
        used |= _names(cell)
    for cell in lesson.claims:
        shared = sorted(_bound(cell) & used)
        if shared:
            yield f"{cell} is a claim that binds {', '.join(shared)}, which the lesson uses: take other names, or those of a function."


def _names(cell):
    """Return all names that a cell uses or binds, those inside its functions too."""
    nodes = ast.walk(parsed(cell))
    return _bound(cell) | {node.id for node in nodes if isinstance(node, ast.Name)}


def _bound(cell):
    """Return the names that a cell binds for the cells after it."""
    table = symtable(ast.unparse(parsed(cell)), "cell", "exec")
    symbols = table.get_symbols()
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


RULES = (
    a_claim_stands_below_a_sentence,
    a_claim_is_run_and_can_fail,
    a_claim_leaves_the_lesson_alone,
)
