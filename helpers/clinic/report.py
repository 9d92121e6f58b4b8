"""Hold `diagnose`, which prints what an error means, where it came from and what to try.

It never raises.
"""

from __future__ import annotations

from helpers.clinic.catalogue import Cause, Symptom, book
from helpers.clinic.errors import family, is_error, last_error, text_of, traceback_of, types_of
from helpers.clinic.failing_line import scene
from helpers.clinic.message_clues import clue
from helpers.text import fold
from helpers.untrusted.describe import describe
from helpers.untrusted.messages import first_sentence, type_name

_NOTHING = (
    "There is no error to look at. Run the cell that fails, then diagnose() in a cell of its own; "
    "or give it an exception: diagnose(error)."
)
_UNKNOWN = (
    "The course does not treat this one, so nothing is guessed here. Read the last line of the traceback, then "
    "go up to the line of your own cell. The glossary lists the symptoms that are known."
)


def diagnose(error: object = None) -> None:
    """Print what an error means, which tensor and operation it tells of, what to try, and the
    lesson.

    Takes an exception, a warning, or the text of a message; without one, the last error of this
    session. Says so where the message is unknown. Never raises; an interrupt passes.
    """
    try:
        text = _diagnosed(error)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:
        text = f"diagnose stopped ({type_name(type(fault))}). The fault is its own, not yours; please report it."
    try:
        print(text)
    except UnicodeEncodeError:
        print(text.encode("ascii", "replace").decode())


def _diagnosed(error: object) -> str:
    if error is None:
        error = last_error()
    if error is None:
        return fold(_NOTHING)
    if issubclass(type(error), str):
        return _of_text(str.__getitem__(error, slice(10_000)))
    if not is_error(error):
        return fold(f"diagnose was given {describe(error)}, which is no exception. {_NOTHING}")
    return _of_error(error)


def _of_text(text: str) -> str:
    found = book().find((), text)
    head = first_sentence(text) or "an empty text"
    return (
        _page(head, found, clue(text) if found else "", []) if found else _joined([head, _UNKNOWN])
    )


def _of_error(error: BaseException) -> str:
    """Tell of the first member of the family whose message is known; else of the exception itself."""
    for one in family(error):
        text = text_of(one)
        if found := book().find(types_of(one), text):
            origin = [] if one is error else [f"It stands behind {_head(error)}"]
            return _page(
                _head(one), found, clue(text), [*origin, *scene(traceback_of(one), found.look)]
            )
    return _joined([_head(error), _UNKNOWN, *scene(traceback_of(error))])


def _head(error: BaseException) -> str:
    text = first_sentence(text_of(error))
    return f"{types_of(error)[0]}: {text}" if text else types_of(error)[0]


def _page(head: str, found: Symptom, told: str, seen: list[str]) -> str:
    one = len(found.causes) == 1
    question = (
        "Often behind it, and what to try:"
        if one
        else "Often behind it, one of these, and what to try:"
    )
    return _joined(
        [head, f"What it means: {found.means}", told, *seen, question, *map(_cause, found.causes)]
    )


def _cause(cause: Cause) -> str:
    return f"  - {cause.what}. Try: {cause.remedy} (lesson {cause.lesson})"


def _joined(lines: list[str]) -> str:
    head, *rest = lines
    return "\n".join([fold(head), *(fold(line) for line in rest if line)])
