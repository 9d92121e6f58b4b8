"""The two places where nbgrader's autograding is ours: before it runs a submission, and running it.

nbgrader would run hidden tests in the kernel in which the student's code ran, as the teacher's own
user. Here a submission runs in the sandbox, and what came out is judged outside. nbgrader keeps the
book, shows it (formgrader), and writes feedback. Named in nbgrader_config.py.
"""

from pathlib import Path

import nbformat
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Float

from classroom.grading import sandbox
from classroom.grading.judging import ended, mark, wrapped
from classroom.grading.notebook import kind_and_id, whole
from helpers.exercises.exercise import find


class Whole(NbGraderPreprocessor):
    """Take the code of a submission, and all else from the release."""

    def preprocess(self, nb, resources):
        """Return the release with the student's code in it."""
        return whole(nb, _release(resources)), resources


class Sandboxed(NbGraderPreprocessor):
    """Run a submission in the sandbox and write into each points cell what it is worth, and why."""

    cell_seconds = Float(20, help="Seconds for one cell.").tag(config=True)
    all_seconds = Float(300, help="Seconds for one submission.").tag(config=True)
    tried = False

    def preprocess(self, nb, resources):
        """Return the notebook with points; ends the program where there is no sandbox."""
        steps, asked = _steps(nb)
        if _code_of(nb) == _code_of(_release(resources)):
            empty = [{"step": step, "found": {"kind": "stub"}} for step in asked]
            _write_points(nb, asked, empty, "")
            return nb, resources
        limits = sandbox.Limits(cell_seconds=self.cell_seconds, all_seconds=self.all_seconds)
        with sandbox.furnished(sorted({id[:2] for id in asked.values()})) as folder:
            self._try(folder)
            heard, how = sandbox.run(steps, folder, limits)
        heard += _of_stages(nb, asked, limits)
        _write_points(nb, asked, heard, how)
        return nb, resources

    def _try(self, folder):
        """Try once whether the sandbox holds: a student must not find solutions or the gradebook."""
        if not Sandboxed.tried:
            secrets = [Path("gradebook.db"), *Path("source").rglob("*.ipynb")]
            if trouble := sandbox.trouble(folder, *secrets):
                raise SystemExit(trouble)
            Sandboxed.tried = True


def _release(resources):
    named = resources["nbgrader"]
    path = Path("release", named["assignment"], f"{named['notebook']}.ipynb")
    return nbformat.read(path, as_version=4)


def _code_of(nb):
    return [cell.source for cell in nb.cells if cell.cell_type == "code"]


def _steps(nb):
    """Return the steps for the sandbox, and which step takes which exercise's answer."""
    steps, asked = [], {}
    for cell in nb.cells:
        if cell.cell_type == "code":
            kind, id = kind_and_id(cell)
            if kind == "points":
                asked[len(steps)] = id
            collects = kind == "points" and not find(id).stage
            steps.append({"collect": id} if collects else {"code": cell.source})
    return steps, asked


def _of_stages(nb, asked, limits):
    """Take the answers that are stages of the engine, each in a sandbox of its own: the text of its
    cell is tried on top of our stages before it, which are the answers to other exercises.
    """
    sources = {kind_and_id(cell): cell.source for cell in nb.cells}
    records = []
    for step, id in asked.items():
        if stage := find(id).stage:
            code = f"from helpers.engine.cells import Cell\nanswer = Cell({stage!r}, {sources['answer', id]!r})"
            with sandbox.furnished([id[:2]], stage) as folder:
                heard, how = sandbox.run([{"code": code}, {"collect": id}], folder, limits)
            taken = next(
                (record for record in heard if record.get("step") == 1), {"late": how == "late"}
            )
            records.append({**taken, "step": step})
    return records


def _write_points(nb, asked, heard, how):
    """Put an output into each points cell. One without would have all its points, says nbgrader."""
    cells = {}
    for cell in nb.cells:
        kind, id = kind_and_id(cell)
        if kind == "points":
            cells[id] = cell
    by_step = {}
    for record in heard:
        if isinstance(record.get("step"), int):
            by_step[record["step"]] = record
    first, at = 0, ""
    for step, id in asked.items():
        before = _trouble([by_step.get(number, {}) for number in range(first, step + 1)])
        if step not in by_step and how:
            before, at = ended(how, at or id, here=not at), at or id
        judged = mark(find(id), by_step.get(step, {}).get("found"), before)
        first = step + 1
        most = float(cells[id].metadata.nbgrader["points"])
        cells[id].outputs = [
            new_output("stream", name="stdout", text=f"{wrapped(judged.reason)}\n"),
            new_output("execute_result", {"text/plain": str(most if judged.right else 0.0)}),
        ]


def _trouble(records):
    """Say what kept the cells of an answer from ending well; "" where nothing did."""
    if any(record.get("late") for record in records):
        return "it didn't end within the seconds that a cell has"
    for record in records:
        if record.get("raised"):
            return f"a cell of it ended with {str(record['raised']).rstrip(' .:')}"
    return ""
