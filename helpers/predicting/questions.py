"""Hold the predictions of the lessons, as `make refresh` wrote them from the notebooks.

questions/NN.json are never edited by hand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "questions"
TOLERANCE = 1e-3  # relative, of a number that is asked for


@dataclass(frozen=True)
class Question:
    """Hold one prediction.

    `title` is its heading. `letters` are the options, "abc", or "" where numbers are asked for;
    `right` is one of them, or the numbers. `settled` names the lesson that answers a question of the quiz, which has no
    `right`. `why` maps a wrong letter, or numbers as text, to what tempts in it. `cell` and `run`
    are the ids of the cell that asks and of the one that answers, whose text `code` is a digest of.
    """

    id: str
    title: str = ""
    letters: str = ""
    right: str | tuple[float, ...] = ""
    tolerance: float = TOLERANCE
    settled: str = ""
    takeaway: str = ""
    why: tuple[tuple[str, str], ...] = ()
    cell: str = ""
    run: str = ""
    code: str = ""

    @property
    def count(self) -> int:
        """Return how many numbers are asked for, 0 where it is a letter."""
        return 0 if self.letters else len(self.right)


def question(name: str) -> Question | None:
    """Return the question with this id, such as "05.q1"; None if there is none."""
    return every().get(name)


@cache
def every() -> dict[str, Question]:
    """Return all questions by id, in the order of the lessons."""
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        for name, data in json.loads(path.read_text(encoding="utf-8")).items():
            found[name] = made(name, data)
    return found


def made(name: str, data: dict) -> Question:
    """Make a question of what its file holds."""
    right = data.get("right", "")
    if isinstance(right, list):
        right = tuple(map(float, right))
    why = tuple(data.get("why", {}).items())
    return Question(**{**data, "id": name, "right": right, "why": why})
