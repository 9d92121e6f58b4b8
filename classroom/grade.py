"""Grade what students handed in (`make grade N="03 05"`): nbgrader keeps the book, a sandbox runs the code.

From assignments/handed_in/NAME/STUDENT.ipynb to assignments/points/NAME.csv: a row for each student,
with points and a reason for each exercise; and to a page for each student in assignments/feedback/.
A file is graded again when it has changed, or with --again; points that a teacher gave by hand in
nbgrader's formgrader stay.
"""

import csv
import shutil
import sys
from pathlib import Path

import nbformat

from classroom.assignment import FOLDER, named, nbgrader, numbered
from classroom.grading import handed_in
from classroom.grading.notebook import kind_and_id
from course.workspace import ROOT

TEMPLATES = Path(__file__).parent / "grading" / "templates"
NOT_THESE = "It has no cells for {}: is it the notebook that was given out?"


def main(arguments, root=ROOT):
    """Grade all that was handed in for an assignment, and print the table."""
    again = "--again" in arguments
    name = named(numbered([word for word in arguments if word != "--again"]))
    folder = root / FOLDER
    if not (folder / "release" / name / f"{name}.ipynb").exists():
        made = ", ".join(path.name for path in sorted(folder.glob("release/*"))) or "none yet"
        there = f"There is no assignment {name}; made so far: {made}."
        sys.exit(f'{there} For example: make grade N="03 05"')
    files, others = handed_in.submissions(folder / "handed_in" / name)
    for sentence in others:
        print(sentence, file=sys.stderr)
    if not files:
        none = f"{FOLDER}/handed_in/{name}/ has no submission"
        sys.exit(f"{none}: put one notebook for each student there, such as ada.ipynb")
    rows = grade(name, files, folder, again)
    path = write(rows, folder / "points" / f"{name}.csv")
    for row in rows:
        points, most = _sums(row)
        print(f"{row['student']:20} {points:g} of {most:g}  {row['note']}".rstrip())
    print(f"{path.relative_to(root)} has the reasons,")
    print(f"{FOLDER}/feedback/STUDENT/{name}/{name}.html has them for each student.")


def grade(name, files, folder, again=False):
    """Grade these files, {student: path}; return for each student a dict of what the table says."""
    notes = {}
    for student, file in files.items():
        notes[student] = _take_in(student, file, name, folder, again)
    failed = nbgrader(folder, "autograde", name)  # those that have not been graded yet
    graded = [student for student in notes if _reasons(student, name, folder)]
    missing = sorted(set(notes) - set(graded))
    for student in missing:  # what nbgrader left half-way would be taken for graded
        shutil.rmtree(folder / "autograded" / student / name, ignore_errors=True)
    if failed and not graded:
        sys.exit(failed)
    if missing:
        print(f"Not graded: {', '.join(missing)}. {failed}", file=sys.stderr)
    _write_pages(name, folder)
    return [_row(student, name, folder, notes[student]) for student in graded]


def _reasons(student, name, folder):
    """Return what nbgrader wrote to each exercise, {"03.1": "..."}; {} where it was kept from it."""
    path = folder / "autograded" / student / name / f"{name}.ipynb"
    if not path.exists():
        return {}
    reasons = {}
    for cell in nbformat.read(path, as_version=4).cells:
        kind, id = kind_and_id(cell)
        if kind == "points" and not cell.outputs:
            return {}
        if kind == "points":
            reasons[id] = " ".join(cell.outputs[0].text.split())
    return reasons


def _take_in(student, file, name, folder, again):
    """Copy a submission to where nbgrader looks; return why an empty one stands there, or ""."""
    release = folder / "release" / name / f"{name}.ipynb"
    text, note = handed_in.notebook_in(file)
    if note:
        text = release.read_bytes()
    copy = folder / "submitted" / student / name / f"{name}.ipynb"
    changed = not copy.exists() or copy.read_bytes() != text
    if again or changed or not _reasons(student, name, folder):
        shutil.rmtree(folder / "autograded" / student / name, ignore_errors=True)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(text)
    without = handed_in.without_place(text, nbformat.read(release, as_version=4))
    return NOT_THESE.format(", ".join(without)) if without else note


def _write_pages(name, folder):
    """Write nbgrader's feedback, a page for each student, that asks no other machine for anything."""
    import nbgrader as installed

    its_own = Path(installed.__file__).parent / "server_extensions" / "formgrader" / "templates"
    folders = "--HTMLExporter.extra_template_basedirs="
    options = [f"{folders}{TEMPLATES}", f"{folders}{its_own}", "--HTMLExporter.template_name=page"]
    failed = nbgrader(folder, "generate_feedback", name, "--force", *options)
    if failed:
        print(failed, file=sys.stderr)


def _row(student, name, folder, note):
    """Return what stands in the book of one student's submission, and the reasons."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        grades = book.find_submission(name, student).notebooks[0].grades
        points = {place_of(grade.name): (grade.score, grade.max_score) for grade in grades}
    reasons, points = _reasons(student, name, folder), dict(sorted(points.items()))
    return {"student": student, "note": note, "points": points, "reasons": reasons}


def place_of(grade_id):
    """Return the exercise of one of nbgrader's ids: "points-03-1" is of 03.1."""
    return grade_id.removeprefix("points-").replace("-", ".")


def write(rows, path):
    """Write the table and return where it is."""
    ids = list(rows[0]["points"]) if rows else []
    heads = []
    for id in ids:
        heads += [id, f"{id}: why"]
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as opened:
        table = csv.writer(opened)
        table.writerow(["student", "points", "of", "note", *heads])
        for row in rows:
            cells = []
            for id in ids:
                cells += [row["points"][id][0], row["reasons"].get(id, "")]
            table.writerow([row["student"], *_sums(row), row["note"], *cells])
    return path


def _sums(row):
    return [sum(column) for column in zip(*row["points"].values(), strict=True)]


if __name__ == "__main__":
    main(sys.argv[1:])
