"""Hold what an assignment's notebook is: which cells it has, and how a submission is made whole.

Plain notebooks, as nbformat reads them. In `metadata.nbgrader` stands what nbgrader wants to know of
a cell; the ids are "ask-03-1", "answer-03-1" and "points-03-1", and "given-04-9" where code is given.
"""

import copy
import re

from nbformat.v4 import new_code_cell, new_markdown_cell

from autograd_graphs.data import counted

MOST_CELLS, LONGEST = 300, 50_000  # of a submission; characters of a cell
POINTS = {"easy": 1, "medium": 2, "harder": 3, "hard": 3, "build": 4, "the last one": 5}


def described(cell, kind, id, points=None):
    """Give a cell its place in nbgrader's book: "ask" and "points" cells are locked."""
    cell.metadata["nbgrader"] = {
        "grade_id": f"{kind}-{id.replace('.', '-')}",
        "grade": kind == "points",
        "solution": kind == "answer",
        "locked": kind != "answer",
        "task": False,
        "schema_version": 3,
    }
    if kind == "points":
        cell.metadata["nbgrader"]["points"] = points
    if kind != "answer":
        cell.metadata |= {"editable": False, "deletable": False}
    cell.id = cell.metadata["nbgrader"]["grade_id"]
    return cell


def points_cell(id, points):
    """Return the cell to which nbgrader gives the points of an exercise; it runs nothing."""
    text = f"# {id} · {counted(points, 'point')}: leave this cell as it is."
    return described(new_code_cell(text), "points", id, points)


def kind_and_id(cell):
    """Return what a cell is for and of which exercise, ("answer", "03.1"); ("", "") for any other."""
    book = cell.metadata.get("nbgrader")
    if not isinstance(book, dict) or not isinstance(book.get("grade_id"), str):
        return "", ""
    kind, _, number = book["grade_id"].partition("-")
    return (kind, number.replace("-", ".")) if number else ("", "")


def whole(submission, release):
    """Return the release with the code of a submission in it.

    Of the submission only code is taken: that of the cells for answers, and of cells between them,
    in its order. Statements, points, ids and all other metadata come from the release, once each,
    so that nothing of what the grader goes by is the student's. Texts are left out: a text cell
    can hold markup that runs in the browser of who reads it.
    """
    original = {kind_and_id(cell): cell for cell in release.cells}
    numbers = [number for kind, number in original if kind == "answer"]
    taken = _by_exercise(submission, numbers)
    cells = [copy.deepcopy(cell) for cell in release.cells if kind_and_id(cell)[1] not in numbers]
    given = {cell.source for cell in cells}
    cells += [new_code_cell(source) for source in taken.pop("", []) if source not in given]
    for number in sorted(numbers, key=(list(taken) + numbers).index):
        for kind in ("ask", "given", "answer", "points"):
            if (kind, number) not in original:
                continue
            cell = copy.deepcopy(original[kind, number])
            if kind == "answer" and number in taken:
                cell.source, *more = taken[number]
                cells += [cell, *map(new_code_cell, more)]
            else:
                cells.append(cell)
    made = copy.deepcopy(release)
    made.cells = cells
    return made


def _by_exercise(submission, numbers):
    """Return the code of a submission by exercise, in its order; under "" what stands before all."""
    taken, now = {"": []}, ""
    for cell in submission.cells[:MOST_CELLS]:
        if cell.cell_type != "code":
            continue
        kind, number = kind_and_id(cell)
        if kind == "answer" and number in numbers and number not in taken:
            now = number
            taken[now] = []
        if kind in ("", "answer") or number not in numbers:
            taken[now].append(cell.source[:LONGEST])
    return taken


def statement(text, id):
    """Return a statement without what stands above it, such as how to ask for a hint."""
    begin = re.search(rf"^(?:\*\*|#+ ){re.escape(id)}\b", text, re.MULTILINE)
    if begin:
        text = text[begin.start() :]
    return text.strip()


def text_cell(text, id):
    return described(new_markdown_cell(text), "ask", id)
