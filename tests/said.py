"""What a lesson or an exercise says, for tests that run it. Reads notebooks/ and the exercises only."""

import json
from functools import cache
from pathlib import Path

from helpers.exercises.exercise import find

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


@cache
def _cells(lesson):
    (path,) = NOTEBOOKS.glob(f"{lesson}*.ipynb")
    return {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    }


def source(lesson, cell):
    """Return the source of a cell as it stands."""
    return _cells(lesson)[cell]


def message(exercise, words):
    """Return the one message or principle of an exercise that holds these words."""
    one = find(exercise)
    (text,) = [text for text in (one.principle, *one.known) if words in text]
    return text


def refusal(call):
    """Return the message of the error that a call raises, "" without one."""
    try:
        call()
    except (RuntimeError, TypeError) as error:
        return str(error)
    return ""


def said(lesson, cell):
    """Return the source of the cell with id `cell` in lesson `lesson` ("08", "glossary"), white
    space folded.
    """
    return " ".join(_cells(lesson)[cell].split())
