"""The text of a cell of a lesson, for tests that run what it says. Reads notebooks/ only."""

import json
from functools import cache
from pathlib import Path

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


@cache
def _cells(lesson):
    (path,) = NOTEBOOKS.glob(f"{lesson}*.ipynb")
    return {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    }


def said(lesson, cell):
    """Return the source of the cell with id `cell` in lesson `lesson` ("08", "glossary"), white
    space folded.
    """
    return " ".join(_cells(lesson)[cell].split())
