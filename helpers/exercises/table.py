"""Set out what an answer was given, what came and what kind of thing is expected, as labelled lines.

A line of the table is a label, a tab, and the rest.
"""

from collections.abc import Callable
from types import FunctionType

from autograd_graphs.answer_card import code
from autograd_graphs.data import counted
from autograd_graphs.guard import Failed
from autograd_graphs.looking.users_line import UsersLine
from autograd_graphs.plain_values import describe, show
from autograd_graphs.text import visible
from helpers.engine.cells import Cell
from helpers.exercises.functions import Run, inputs_of
from helpers.exercises.reading import Reader, same, single
from helpers.exercises.watched_inputs import typed

_NOTHING = object()
MOST_PARTS = 3  # parts of an outcome that are set out
LONGEST = 320  # characters of one line


def of_a_value(answer: object, reading: object, truth: object, reveal: bool) -> list[str]:
    """Set out a value; what kind is expected only where it is another kind, or the value itself."""
    given = describe(answer).removeprefix("the number ").removeprefix("the text ")
    lines = [row("your answer", given)]
    if reveal:
        lines.append(row("expected", show(single(truth))))
    elif kind(reading) != kind(truth):
        lines.append(row("expected", kind(truth)))
    return lines


def of_a_case(
    reader: Reader, number: int, answer: object, run: Run, seen: object, truth: object, reveal: bool
) -> list[str]:
    reveal = reveal or reader.tells
    lines = [row("given", inputs_text(reader.cases[number], answer), code)]
    if isinstance(seen, Failed):
        text = seen.text if seen.kind == "unreadable" else str(seen)
        lines.append(row("came", text))
        if run.line and run.line.text:
            lines.append(row(_whose(answer, run.line), run.line.text, code))
        return [*lines, row("expected", _of_parts(reader, truth, reveal))]
    for label, part, wanted in _differing(reader, seen, truth):
        lines.append(row("came", label + show(part)))
        lines.append(row("expected", label + expected(wanted, reveal, part)))
    return lines


def _whose(answer: object, line: UsersLine) -> str:
    """Return the label of a line that failed: an engine also runs lines that the course gives."""
    if isinstance(answer, Cell) and not answer.has(line):
        return "in this line"
    return "in your line"


def _of_parts(reader: Reader, truth: object, reveal: bool) -> str:
    """Return what is expected of a whole outcome: part by part where these have names."""
    if not reader.parts or not isinstance(truth, tuple) or len(truth) != len(reader.parts):
        return expected(truth, reveal)
    named = []
    for name, part in list(zip(reader.parts, truth, strict=True))[:MOST_PARTS]:
        text = name
        if reveal or not isinstance(part, str):
            text = f"{name}: {expected(part, reveal)}"
        named.append(text)
    return "; ".join(named)


def row(label: str, text: str, mark: Callable[[str], str] = str) -> str:
    return f"{label}\t{mark(visible(text, LONGEST))}"


def _differing(reader: Reader, seen: object, truth: object) -> list[tuple[str, object, object]]:
    """Return label, what came and what should have, of the parts that differ, or of the whole."""
    count = len(reader.parts)
    are_lists = (
        isinstance(seen, tuple) and isinstance(truth, tuple) and len(seen) == len(truth) == count
    )
    if not count or not are_lists:
        return [("", seen, truth)]
    parts = zip(reader.parts, seen, truth, strict=True)
    differing = [(f"{name}: ", a, b) for name, a, b in parts if not same(a, b)]
    return differing[:MOST_PARTS]


def inputs_text(case: Callable[[], object], answer: object) -> str:
    """Return how the inputs of a case can be typed, each with its name in the student's function."""
    text = getattr(case, "written", "")
    if text:
        return text
    inputs = inputs_of(case)
    names = _arguments(answer)
    if len(inputs) == 1 or len(names) != len(inputs):
        return ", ".join(map(typed, inputs))
    return ", ".join(f"{name} = {typed(value)}" for name, value in zip(names, inputs, strict=True))


def _arguments(answer: object) -> list[str]:
    if not isinstance(answer, FunctionType):
        return []
    code = answer.__code__
    return list(code.co_varnames[: code.co_argcount])


def expected(value: object, reveal: bool = False, seen: object = _NOTHING) -> str:
    """Return the kind of a plain value; the value itself where it is asked for. Where what came is
    of this kind as well, say that it is a different one.
    """
    if reveal:
        return show(value)
    if seen is not _NOTHING and kind(seen) == kind(value):
        return OTHERS.get(kind(value), f"{kind(value)}, but not these")
    return kind(value)


OTHERS = {
    "a number": "a different number",
    "a word": "a different word",
    "True or False": "the other one",
    "1 number": "a different number",
}


def kind(value: object) -> str:
    """Return in a few words what kind of plain value this is, and not which."""
    if value is None:
        return "None"
    if isinstance(value, Failed):
        return "an error"
    if isinstance(value, bool):
        return "True or False"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a word"
    if isinstance(value, frozenset):
        return "some names"
    return _kind_of_rows(value) if isinstance(value, tuple) else "something else"


def _kind_of_rows(value: tuple) -> str:
    count = len(value)
    if not count:
        return "an empty list"
    if all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in value):
        return counted(count, "number")
    kinds = {kind(part) for part in value}
    if len(kinds) == 1 and isinstance(value[0], tuple):
        return f"{counted(count, 'row')}, each of {kinds.pop()}"
    return f"a list of {count}"
