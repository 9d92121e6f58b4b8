"""Hold what the lessons are called, which one builds on which, and what their notebooks say.

lessons.toml is the one list. A notebook is looked for where the student works, then in the course.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
PLACES = (Path("."), HERE.parent / "notebooks")
MINUTES = re.compile(r"\b(\d+) minutes\b")
HEADING = re.compile(r"\A#+ .*\n+")


@dataclass(frozen=True)
class Listing:
    """Hold how a lesson is listed: number, notebook, title, what it builds on, lane on the map,
    whether it goes beyond the training loop, and the ids of what it asked once and asks no more.
    """

    number: str
    file: str
    title: str
    needs: tuple[str, ...]
    lane: int = 0
    beyond: bool = False
    gone: tuple[str, ...] = ()

    @property
    def link(self) -> str:
        """The address of its notebook, as seen from another lesson."""
        return f"{self.file}.ipynb"


@cache
def listings() -> dict[str, Listing]:
    """Return all lessons by number."""
    import tomllib  # not needed to import helpers

    table = tomllib.loads((HERE / "lessons.toml").read_text(encoding="utf-8"))
    for number, entry in table.items():
        entry |= {name: tuple(entry.get(name, ())) for name in ("needs", "gone")}
        table[number] = Listing(number, **entry)
    return table


def notebook(number: str) -> str:
    """Return the address of a lesson's notebook, as seen from another one."""
    return listings()[number].link


def is_gone(name: str) -> bool:
    """Tell whether a question or an exercise was asked by an earlier edition only."""
    return any(name in listing.gone for listing in listings().values())


def arrows() -> list[tuple[str, str]]:
    """Return which lesson leads to which, without arrows that others already say in two steps."""
    lessons = listings()
    behind: dict[str, set[str]] = {}
    pairs = []
    for number, listing in lessons.items():
        known = set().union(*[behind[needed] for needed in listing.needs])
        pairs += [(needed, number) for needed in listing.needs if needed not in known]
        behind[number] = known | set(listing.needs)
    return pairs


def question_text(name: str) -> str:
    """Return the text of a question from its lesson, without a heading; "" if it is not there."""
    for source, said in _markdown(name[:2]):
        if said.get("id") == name:
            return HEADING.sub("", source)
    return ""


@cache
def exercise_text(name: str) -> str:
    """Return the statement of an exercise, from its bold number on; "" if it is not there."""
    for source, said in _markdown(name[:2]):
        _, mark, statement = source.partition(f"**{name}**")
        if mark and said.get("role") == "exercise":
            return mark + statement
    return ""


def is_in_lesson(name: str) -> bool:
    """Tell whether a lesson still has an exercise; where it cannot be read, we suppose so."""
    return bool(exercise_text(name)) or not _markdown(name[:2])


def exercise_minutes(name: str, otherwise: float) -> float:
    minutes = MINUTES.search(exercise_text(name))
    return float(minutes[1]) if minutes else otherwise


@cache
def _markdown(number: str) -> list[tuple[str, dict]]:
    """Return the texts of a lesson and what their metadata say; none if it cannot be read."""
    if number not in listings():
        return []
    for folder in PLACES:
        try:
            notebook = json.loads((folder / listings()[number].link).read_text(encoding="utf-8"))
            cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
            return [("".join(cell["source"]), cell["metadata"].get("course", {})) for cell in cells]
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue
    return []
