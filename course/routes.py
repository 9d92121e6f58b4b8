"""Read the routes of TEACHING.md: its day and its weeks, which parts of which lesson in which order.

The tables are the data: what stands in them is what `make present ROUTE=day` shows.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

SESSIONS_A_WEEK = 2
ROW = re.compile(r"^\|(.+)\|\s*$", re.MULTILINE)
PART = re.compile(r"(?:(\d)(?:, (first|second) question)?|(case|lab|quiz))\b")
LESSON = re.compile(r"\d\d")
QUESTION = {"first": "a", "second": "b", None: ""}


@dataclass(frozen=True)
class Pause:
    """One row of a plan without slides: an opening, slack or a break, its minutes and what to do in it."""

    what: str
    minutes: int
    do: str = ""

    def __str__(self) -> str:
        return " · ".join(filter(None, [self.what, f"{self.minutes} minutes", self.do]))


@dataclass(frozen=True)
class Block:
    """One row of a plan: when it starts, its minutes, its lesson and the parts of it that are shown.

    `do` is what the plan says of them; `before` and `after` are the pauses before it, and after the last.
    """

    start: str
    minutes: int
    lesson: str
    parts: tuple[str, ...]
    do: str = ""
    before: tuple[Pause, ...] = ()
    after: tuple[Pause, ...] = ()

    @property
    def begins(self) -> str:
        return self.start if ":" in self.start else f"Session {self.start}"


def routes(folder: Path) -> dict[str, list[Block]]:
    """Return the routes by name: "day", "week-1" and so on, as they stand in TEACHING.md."""
    text = (folder / "TEACHING.md").read_text(encoding="utf-8")
    named = {"day": blocks(section(text, "One day"))}
    for block in blocks(section(text, "Week by week")):
        week = (int(block.start) - 1) // SESSIONS_A_WEEK + 1
        named.setdefault(f"week-{week}", []).append(block)
    return named


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def blocks(text: str) -> list[Block]:
    """Return the rows of a table that show a lesson: Start or Session, Minutes, What, Do."""
    shown: list[Block] = []
    before: list[Pause] = []
    for row in ROW.findall(text):
        start, minutes, what, do, *_ = [cell.strip() for cell in row.split("|")] + ["", "", "", ""]
        if LESSON.fullmatch(what) and minutes.isdigit() and parts(do):
            shown.append(Block(start, int(minutes), what, parts(do), do, tuple(before)))
            before = []
        elif minutes.isdigit() and int(minutes):
            before.append(Pause(what.strip("*"), int(minutes), do))
    if shown:
        shown[-1] = replace(shown[-1], after=tuple(before))
    return shown


def parts(do: str) -> tuple[str, ...]:
    """Return the parts that a cell names: "case (4) · 2, first question (5)" is "case", "2a"."""
    # in the day a dot stands between two parts, in the weeks a comma or a semicolon
    pieces = do.split(" · ") if "·" in do else re.split(r"[;,] (?!first|second)", do)
    matches = [PART.match(piece.strip()) for piece in pieces]
    return tuple([match[3] or match[1] + QUESTION[match[2]] for match in matches if match])
