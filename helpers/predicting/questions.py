"""Hold the questions of the lessons.

Beside the notebooks they are read from these. A built package has no notebooks: there setup.py wrote
questions.json.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from helpers.predicting.from_notebook import questions_at

BUILT = Path(__file__).with_name("questions.json")
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TOLERANCE = 1e-3  # relative, of a number that is asked for


@dataclass(frozen=True)
class Question:
    """Hold one question that asks for a commitment.

    `kind` is "choose", "number", "draw", "find_line", "order" or "explain"; `title` is its heading.
    `letters` are the options, "abc", or "". `right` is a letter, numbers, edges, the number of a
    line or an order, "" where nobody grades. `settled` names the lesson that answers a question of
    the quiz, which has no `right`. `why` maps a wrong letter, or numbers as text, to what tempts in
    it. `shown` is what the browser needs to ask, and `told` what it needs to answer, beside that.
    `cell` and `run` are the ids of the cell that asks and of the one that answers, whose text `code`
    is a digest of.
    """

    id: str
    kind: str = ""
    title: str = ""
    letters: str = ""
    right: str | tuple[float, ...] = ""
    tolerance: float = TOLERANCE
    settled: str = ""
    takeaway: str = ""
    why: tuple[tuple[str, str], ...] = ()
    shown: dict[str, Any] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    cell: str = ""
    run: str = ""
    code: str = ""

    @property
    def count(self) -> int:
        """Return how many numbers are asked for, 0 where it is something else."""
        return len(self.right) if self.kind == "number" else 0


def question(name: object) -> Question | None:
    """Return the question with this id, such as "05.q1"; None if there is none."""
    if not isinstance(name, str):
        return None
    return every().get(name)


@cache
def every() -> dict[str, Question]:
    """Return all questions by id, in the order of the lessons."""
    found = {}
    for asked in of_each_lesson():
        for name, data in asked.items():
            found[name] = made(name, data)
    return found


def of_each_lesson() -> Iterator[dict[str, dict]]:
    """Yield what lessons ask, by id; nothing of a notebook that cannot be read."""
    if BUILT.exists():
        yield json.loads(BUILT.read_text(encoding="utf-8"))
        return
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            yield questions_at(path)
        except Exception:  # somebody is editing it: the other lessons keep their questions
            continue


def made(name: str, data: dict) -> Question:
    """Make a question of what its file holds."""
    right = data.get("right", "")
    if isinstance(right, list):
        right = tuple(map(float, right))
    why = tuple(data.get("why", {}).items())
    kind = data.get("kind") or ("choose" if data.get("letters") else "number")
    return Question(**{**data, "id": name, "kind": kind, "right": right, "why": why})
