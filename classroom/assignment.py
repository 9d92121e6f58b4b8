"""Make an assignment out of the lessons' exercises (`make assignment N="03 05"`), for nbgrader.

assignments/ is a course of nbgrader's: source/ has the graded version, with solutions and points,
release/ what students get, gradebook.db the book. It is the teacher's alone and no part of build/:
`make clean` leaves it.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from classroom.grading.handed_in import submissions
from classroom.grading.notebook import POINTS, described, points_cell, statement, text_cell
from classroom.grading.reader_source import separable, source_of
from course.workspace import ROOT, lessons
from helpers.engine.putting_together import STAGES, given, text
from helpers.exercises.exercise import exercises

FOLDER = "assignments"
INSTALL = "python -m pip install -r classroom/grading-requirements.txt"
CONFIG = """# How nbgrader makes and grades the course's assignments. Yours to edit; it is written once.
c = get_config()  # noqa: F821
c.ClearSolutions.code_stub = {"python": ""}  # the dots above it stay
c.Autograde.sanitize_preprocessors = ["classroom.grading.nbgrader_parts.Whole"]
c.Autograde.autograde_preprocessors = [
    "classroom.grading.nbgrader_parts.Sandboxed",  # in the place of nbgrader's Execute
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]
c.Sandboxed.cell_seconds = 20
c.Sandboxed.all_seconds = 300
"""
INTRODUCTION = """# Assignment: {title}

Put your answers in place of the dots. You may add code cells of your own below each. Then save this file and hand it in.
These exercises come from the lessons, so where one mentions a cell or an error above it, look there.

We run it from top to bottom, without a network and with nobody to answer an `input()`. Only your code counts, not its outputs,
so before you hand it in, try *Restart Kernel and Run All Cells*. A cell may take 20 seconds. You aren't told here whether an
answer is right. An exercise gives all of its points or none."""
LEFT_OUT = "Not asked here: {}. They are in their lessons, where `check` tells you how they went."
CALL = re.compile(
    r'my_engine\("\d\d[a-z]?"(?:, show=True)?\)'
)  # for which a cell stands here with what it brings
STUB = re.compile(r'\s*\bcheck\("(\d\d\.\d+)", (?:answer|Value)\)\s*$')


def main(arguments, root=ROOT):
    """Make the assignment of the lessons named, and say where its two versions are."""
    numbers = numbered(arguments)
    known = [number for number in lessons(root) if exercises(number)]
    if not numbers or set(numbers) - set(known):
        wrong = f"{' '.join(numbers)!r}: " if numbers else ""
        there = f"Which lessons? There are {' '.join(known)}."
        sys.exit(f'{wrong}{there} For example: make assignment N="03 05"')
    name, folder = named(numbers), root / FOLDER
    files, others = submissions(folder / "handed_in" / name)
    if files or others:
        sys.exit(
            f"{FOLDER}/handed_in/{name} has submissions already: they belong to the assignment as it was given out,"
            f" so it stays as it is. To start over, move {FOLDER} away."
        )
    left_out = make(name, numbers, folder, root)
    for id in left_out:
        print(
            f"{id} is left out, because its function can't be tried without the code that computes its answer."
        )
    print(f"{FOLDER}/release/{name}/{name}.ipynb is for your students,")
    print(f"{FOLDER}/source/{name}/{name}.ipynb has the solutions and the points.")
    print(f"Put what comes back into {FOLDER}/handed_in/{name}/, named after the students,")
    print(f'such as ada.ipynb, then: make grade N="{" ".join(numbers)}"')


def numbered(arguments):
    """Return which lessons are meant by arguments such as ["5, 03"], each once and in order."""
    words = " ".join(arguments).replace(",", " ").split()
    return sorted({word.zfill(2) for word in words})


def named(numbers):
    """Return the name of the assignment of these lessons: "lessons_03_05"."""
    return f"lessons_{'_'.join(numbers)}"


def make(name, numbers, folder, root=ROOT):
    """Write the assignment into `folder`; return the ids of exercises that cannot be graded."""
    titles, cells, left_out = [], [], []
    for number in numbers:
        title, asked, not_asked = source(number, lessons(root)[number], numbers)
        titles.append(title)
        cells += asked
        left_out += not_asked
    folder.mkdir(mode=0o700, exist_ok=True)
    config = folder / "nbgrader_config.py"
    if not config.exists():
        config.write_text(CONFIG, "utf-8")
    (folder / "handed_in" / name).mkdir(parents=True, exist_ok=True)
    path = folder / "source" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(_notebook(", ".join(titles), cells, left_out), path)
    failed = nbgrader(folder, "generate_assignment", name, "--force")
    if failed:
        sys.exit(failed)
    return left_out


def nbgrader(folder, *arguments):
    """Run a command of nbgrader's in the folder of its course; return "", or what it said if it failed."""
    package = importlib.util.find_spec("nbgrader")
    if package is None:
        sys.exit(
            f"nbgrader isn't installed. `make assignment` installs it; without make: {INSTALL}"
        )
    programs = [Path(package.origin).parents[1] / "bin", Path(sys.executable).parent]  # has alembic
    path = os.pathsep.join([*map(str, programs), os.environ.get("PATH", "")])
    call = [sys.executable, "-m", "nbgrader", *arguments, "--log-level=WARN"]
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    said = (done.stderr or done.stdout).strip().splitlines()[-15:]
    return "\n".join([f"nbgrader {' '.join(arguments)} didn't work:", *said])


def _notebook(titles, cells, left_out):
    text = INTRODUCTION.format(title=titles)
    if left_out:
        text += f"\n\n{LEFT_OUT.format(', '.join(left_out))}"
    first = described(new_markdown_cell(text), "ask", "begin")
    setup = described(new_code_cell("import torch"), "ask", "setup")
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return new_notebook(cells=[first, setup, *cells], metadata={"kernelspec": kernel})


def source(number, master, numbers):
    """Return a lesson's title, its exercises as cells, and the ids that cannot be graded, in an
    assignment of the lessons with these numbers.
    """
    notebook = nbformat.read(master, as_version=4)
    asked = _asked(notebook)
    apart = separable(source_of(number))
    cells, left_out = [], []
    for exercise in exercises(number):
        if exercise.id in asked and exercise.reader.cases and exercise.id not in apart:
            left_out.append(exercise.id)
        elif exercise.id in asked:
            cells += _cells(exercise, *asked[exercise.id], numbers)
    title = notebook.cells[0].source.splitlines()[0].strip("# ")
    return title, cells, left_out


def _asked(notebook):
    """Return what the lesson says of each exercise: {"03.1": (texts and code above, the stub)}."""
    asked, above = {}, []
    for cell in notebook.cells:
        role = cell.metadata.get("course", {}).get("role")
        stub = STUB.search(cell.source) if role == "stub" else None
        if stub:
            asked[stub[1]] = above, CALL.sub("", cell.source[: stub.start()]).strip()
            above = []
        elif role in ("exercise", "stub") and not CALL.match(cell.source):
            above.append(cell)
    return asked


def _cells(exercise, above, stub, numbers):
    """Return the cells of one exercise: what is asked and given, the stub with the solution, the points."""
    id, texts, shown = exercise.id, [], []
    for cell in above:
        if cell.cell_type == "code":
            shown.append(f"```python\n{cell.source}\n```")
        else:
            texts.append(statement(cell.source, id) if id in cell.source else cell.source)
    whole = "\n\n".join([*texts, *shown])
    difficulty = re.search(rf"{re.escape(id)}.*?({'|'.join(POINTS)})\b", whole)[1]
    answer = f"{stub}\n### BEGIN SOLUTION\n{exercise.solution.strip()}\n### END SOLUTION"
    asked, answered = text_cell(whole, id), described(new_code_cell(answer), "answer", id)
    given = [
        described(new_code_cell(code), "given", id) for code in _given(exercise.stage, numbers)
    ]
    return [asked, *given, answered, points_cell(id, POINTS[difficulty])]


def _given(stage, numbers):
    """Return the code that goes before a stage of the engine: ours of earlier ones that are not asked, too."""
    if not stage:
        return []
    earlier = [name for name in STAGES if name < stage and name not in numbers]
    return ["\n\n".join([*map(text, earlier), given(stage)]).strip()]


if __name__ == "__main__":
    main(sys.argv[1:])
