"""Grade what students handed in (`make grade N="03 05"`): nbgrader keeps the book, a sandbox runs the code.

From assignments/handed_in/NAME/STUDENT.ipynb to assignments/points/NAME.csv: a row for each student,
with points and a reason for each exercise. A file is graded again when it has changed, or with
--again; points that a teacher gave by hand in nbgrader's formgrader stay.
"""

import csv
import os
import re
import shutil
import sys

import nbformat

from course.assignment import FOLDER, nbgrader
from course.grading.notebook import place
from course.workspace import ROOT

LARGEST = 5_000_000  # bytes of a submission
STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
NO_NAME = "{}: not graded. A file is named after its student, with letters, digits and . _ @ - only"


def main(arguments, root=ROOT):
    """Grade all that was handed in for an assignment, and print the table."""
    again = "--again" in arguments
    numbers = " ".join(one for one in arguments if one != "--again").replace(",", " ").split()
    name, folder = f"lessons_{'_'.join(number.zfill(2) for number in numbers)}", root / FOLDER
    if not (folder / "release" / name / f"{name}.ipynb").exists():
        made = ", ".join(path.name for path in sorted(folder.glob("release/*"))) or "none yet"
        sys.exit(
            f'There is no assignment {name}; made so far: {made}. For example: make grade N="03 05"'
        )
    files = sorted((folder / "handed_in" / name).glob("*.ipynb"))
    if not files:
        sys.exit(
            f"{FOLDER}/handed_in/{name}/ is empty: put one notebook for each student there, such as ada.ipynb"
        )
    rows = grade(name, files, folder, again)
    path = write(rows, folder / "points" / f"{name}.csv")
    print(*map(_line, rows), sep="\n")
    print(f"{path.relative_to(root)} has the reasons.")


def grade(name, files, folder, again=False):
    """Grade these files; return for each student a dict of what the table says."""
    unread = {}
    for file in files:
        if STUDENT.fullmatch(file.stem):
            unread[file.stem] = _take_in(file, name, folder, again)
        else:
            print(NO_NAME.format(file.name), file=sys.stderr)
    failed = nbgrader(folder, "autograde", name)  # those that have not been graded yet
    graded = {one: why for one, why in unread.items() if _graded(one, name, folder).exists()}
    missing = sorted(set(unread) - set(graded))
    if failed and not graded:
        sys.exit(failed)
    if missing:
        print(f"Not graded: {', '.join(missing)}. {failed}", file=sys.stderr)
    return [_row(student, name, folder, why) for student, why in graded.items()]


def _graded(student, name, folder):
    return folder / "autograded" / student / name / f"{name}.ipynb"


def _take_in(file, name, folder, again):
    """Copy a submission to where nbgrader looks for it; return why an empty one stands in its place,
    "" where it does not.
    """
    text, why = _read(file)
    if why:
        text = (folder / "release" / name / f"{name}.ipynb").read_bytes()
    copy = folder / "submitted" / file.stem / name / f"{name}.ipynb"
    if again or not copy.exists() or copy.read_bytes() != text:
        shutil.rmtree(folder / "autograded" / file.stem / name, ignore_errors=True)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(text)
    return why


def _read(file):
    """Return the bytes of a submission, and why it is none."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            text = opened.read(LARGEST + 1)
    except OSError as error:
        return b"", f"The file could not be opened ({error.strerror})."
    if len(text) > LARGEST:
        return (
            b"",
            f"The file is larger than {LARGEST:,} bytes: outputs cleared, it will be smaller.",
        )
    try:
        nbformat.validate(nbformat.reads(text.decode("utf-8"), as_version=4))
    except Exception as error:  # whatever a stranger's file makes nbformat raise
        return b"", f"The file holds no notebook ({type(error).__name__})."
    return text, ""


def _row(student, name, folder, unread):
    """Return what stands in the book of one student's submission, and the reasons."""
    from nbgrader.api import Gradebook

    graded = nbformat.read(_graded(student, name, folder), as_version=4)
    reasons = {
        place(cell)[1]: cell.outputs[0].text.strip()
        for cell in graded.cells
        if place(cell)[0] == "points"
    }
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        grades = book.find_submission(name, student).notebooks[0].grades
        points = {place_of(grade.name): (grade.score, grade.max_score) for grade in grades}
    return {
        "student": student,
        "note": unread,
        "points": dict(sorted(points.items())),
        "reasons": reasons,
    }


def place_of(grade_id):
    """Return the exercise of one of nbgrader's ids: "points-03-1" is of 03.1."""
    return grade_id.removeprefix("points-").replace("-", ".")


def write(rows, path):
    """Write the table and return where it is."""
    ids = list(rows[0]["points"]) if rows else []
    heads = [text for id in ids for text in (id, f"{id}: why")]
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as opened:
        table = csv.writer(opened)
        table.writerow(["student", "points", "of", "note", *heads])
        for row in rows:
            cells = [
                text for id in ids for text in (row["points"][id][0], row["reasons"].get(id, ""))
            ]
            table.writerow([row["student"], *_sums(row), row["note"], *cells])
    return path


def _sums(row):
    return [sum(column) for column in zip(*row["points"].values(), strict=True)]


def _line(row):
    points, most = _sums(row)
    return f"{row['student']:20} {points:g} of {most:g}  {row['note']}".rstrip()


if __name__ == "__main__":
    main(sys.argv[1:])
