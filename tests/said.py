"""The cells of the lessons, for tests that run them. Reads notebooks only."""

import json
from functools import cache
from pathlib import Path

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


@cache
def _cells(lesson):
    (path,) = NOTEBOOKS.glob(f"{lesson}*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: "".join(cell["source"]) for cell in cells}


def source(lesson, cell):
    """Return the source of a cell as it stands."""
    return _cells(lesson)[cell]
