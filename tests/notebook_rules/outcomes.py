"""Rules about runs: what each attempt() ends in, what a cell ends on."""

import ast
import re
from itertools import pairwise

from notebook_rules.rounds import parsed

NOTHING_RAISED = "(no error)"
OUTCOME = re.compile(
    r"^(?:\(no error\)|[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit)\b)", re.M
)
LABEL = re.compile(r"[:=]\s*$")


def what_was_expected_came(lesson):
    """`expects` says for each attempt() which error comes, in which words: the stored run agrees."""
    for cell in lesson.code:
        expects, came, wanted = cell.course.get("expects", []), _outcomes(cell), _attempts(cell)
        if wanted is None:
            wanted = len(expects) or len(came)
        if not wanted and not expects:
            continue
        if len(expects) != wanted:
            yield (
                f"{cell} has {wanted} outcomes of attempt() and {len(expects)} texts in course.expects:"
                ' write one for each, "RuntimeError: words of it" or "(no error)".'
            )
            continue
        if len(came) != len(expects):
            yield f"{cell} printed {len(came)} outcomes of {len(expects)} attempts: run `make refresh N={lesson.number}`."
            continue
        for expected, outcome in zip(expects, came, strict=True):
            if not _agree(expected, outcome):
                yield f"{cell} printed {outcome[:90]!r}, and {expected!r} is expected: set right which of them is wrong."


def _attempts(cell):
    """Return how many `with attempt():` a cell has; None where a loop runs one of them, or a
    function.
    """
    tree = parsed(cell)
    for node in ast.walk(tree):
        repeats = isinstance(node, ast.For | ast.While | ast.FunctionDef)
        if repeats and any(_is_attempt(inner) for inner in ast.walk(node)):
            return None
    return sum(_is_attempt(node) for node in ast.walk(tree))


def _outcomes(cell):
    """Return what each attempt() printed; a long message was folded into several lines."""
    printed = "".join(
        output.get("text", "") for output in cell.outputs if output["output_type"] == "stream"
    )
    begins = [found.start() for found in OUTCOME.finditer(printed)]
    return [
        " ".join(printed[begin:end].split()) for begin, end in pairwise([*begins, len(printed)])
    ]


def _agree(expected, outcome):
    """Tell whether the kind is the same and the words stand in the message."""
    if NOTHING_RAISED in (expected, outcome[: len(NOTHING_RAISED)]):
        return outcome.startswith(expected) and expected == NOTHING_RAISED
    kind, _, words = expected.partition(": ")
    found, _, message = outcome.partition(": ")
    return kind == found.split()[0] and bool(words or not message) and words in message


def a_run_ends_on_an_expression(lesson):
    """The last line is what one looks at; where the error is the result, the attempt is."""
    for cell in lesson.code:
        body = parsed(cell).body
        if cell.role != "run" or not body or "raises-exception" in cell.tags:
            continue
        last = body[-1]
        if not (isinstance(last, ast.Expr) or _is_attempt(last) or _shows_itself(last)):
            yield f"{cell} ends on {ast.unparse(last)[:40]!r}: end it on an expression that shows the answer."


def _is_attempt(node):
    """Tell whether a node is `with attempt(): …`."""
    return isinstance(node, ast.With) and ast.unparse(node.items[0]) == "attempt()"


def _shows_itself(node):
    """Tell whether a node is a function that its decorator runs, such as `@on_gpu("10.a")`."""
    return isinstance(node, ast.FunctionDef) and bool(node.decorator_list)


def nothing_is_printed_with_a_label(lesson):
    """`print("x:", x)` says twice what the code says: end the cell on `x`."""
    for cell in lesson.code:
        for node in ast.walk(parsed(cell)):
            if cell.role == "run" and _prints_a_label(node):
                yield f"{cell} prints a label, {ast.unparse(node)[:50]!r}: end it on the value, or on a tuple of values."


def _prints_a_label(node):
    """Tell whether a node is a call such as `print("x:", x)`."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "print" or not node.args:
        return False
    first = node.args[0]
    return (
        len(node.args) > 1
        and isinstance(first, ast.Constant)
        and isinstance(first.value, str)
        and bool(LABEL.search(first.value))
    )


RULES = (what_was_expected_came, a_run_ends_on_an_expression, nothing_is_printed_with_a_label)
