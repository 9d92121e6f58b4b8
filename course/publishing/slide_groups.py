"""Group the cells of a lesson, each group for one slide or more, and say in which part of the lesson it
stands.
"""

from __future__ import annotations

import re

from nbformat import NotebookNode

from course.publishing.cell_renderer import Cells, split_heading
from course.publishing.cell_roles import ENDS
from course.publishing.slides import AGAIN

UNSEEN = ("setup", "try", "guess", "stub", "notes")  # nothing of these is shown to a room
AFTER = ("return", "exercise", "recap")  # the numbered parts
PARTS = {"title": "opening", "case": "case", "return": AGAIN, "lab": "lab"}
ALONE = re.compile(r"\s*progress\(\)\s*")
SHOWN = re.compile(r"^\||^```|!\[|<img", re.M)  # in a text: what one has to see


def role(cell: NotebookNode) -> str:
    return cell.metadata.course.get("role", "")


def wording(cell: NotebookNode) -> NotebookNode:
    """Return what a cell says for its slides alone (CONTRIBUTING.md lists it)."""
    return cell.metadata.course.get("slide", NotebookNode())


def with_role(group: Cells, name: str) -> Cells:
    return [cell for cell in shown(group) if role(cell) == name]


def grouped(cells: Cells) -> list[Cells]:
    """Return the cells of each round, lab, text, exercise and so on; notes with what they are on."""
    groups: list[Cells] = []
    about: Cells = []  # the round whose notes are still to come
    for cell in cells:
        at_home = groups and role(groups[-1][0]) == "exercise"
        goes_on = at_home and (role(cell) == "exercise" or is_said([cell]))
        if not groups or (role(cell) in ENDS and not goes_on):
            groups.append([])
            if role(cell) in ("question", "lab"):
                about = groups[-1]
            elif role(cell) != "text" or split_heading(cell)[0]:
                about = []
        if role(cell) == "notes" and about:
            about.append(cell)
            about = []
        else:
            groups[-1].append(cell)
    return groups


def parts(groups: list[Cells]) -> list[str]:
    """Return the part of each group: a `## ` heading between the case and its return begins one."""
    heads = [group[0] for group in groups]
    cases, number, place = list(map(role, heads)).count("case"), 0, ""
    made: list[str] = []
    for first in heads:
        cases -= role(first) == "case"
        place = role(first) if role(first) in AFTER else place
        part = "opening" if cases else named_part(first, place)
        if not part and role(first) in ("question", "text"):
            level = first.source.partition(" ")[0]
            number += level == "##" and not place
            part = "" if place else str(number or "")
            if made and not level.startswith("##"):
                part = made[-1]
        made.append(part)
    return made


def named_part(first: NotebookNode, place: str) -> str:
    """Return the name of a part that its first cell gives it, for it has no number; "" for none."""
    is_quiz = first.metadata.course.get("id", "").startswith("quiz.")
    if is_quiz or (role(first) == "lab" and place == "recap"):
        return "quiz"
    return PARTS.get(role(first), "")


def is_said(group: Cells) -> bool:
    """Tell whether a group is words alone that go on from the slide before: the speaker says them."""
    for cell in group:
        if role(cell) in UNSEEN:
            continue
        if cell.cell_type != "markdown" or SHOWN.search(cell.source):
            return False
    heading, _ = split_heading(group[0])
    return role(group[0]) == "text" and not heading


def for_room(group: Cells) -> Cells:
    return [cell for cell in shown(group) if role(cell) not in UNSEEN]


def shown(group: Cells) -> Cells:
    """Return the cells that a deck has a use for: none that it skips, none with `progress()` alone."""
    seen = [cell for cell in group if not wording(cell).get("skip")]
    return [cell for cell in seen if not ALONE.fullmatch(cell.source)]
