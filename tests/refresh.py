"""Re-execute the lessons and store them in normal form (`make refresh N=03`); the entries of the
glossary and the minutes of a lesson are written first.

Writes notebooks/ only.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from computed import store_what_came
from drawn_cards import CannotBeDrawn
from glossary_cells import with_entries
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager
from normal_form import stored_text
from notebook_rules.lesson import Lesson
from slide_programs import store_graphs

from course.workspace import PAGE, UNNUMBERED, is_claim
from helpers import progress_file
from helpers.predicting.from_notebook import CannotBeAsked
from helpers.predicting.player_guesses import SESSION

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def main(arguments=None, folder=NOTEBOOKS):
    """Refresh the lessons named on the command line, or all; return 1 if one could not run."""
    os.environ.setdefault("GPU_CELLS", "stored")  # see helpers/gpu.py
    os.environ.setdefault("FOLDING_FAULTS", "raise")  # see autograd_graphs/large/fold.py
    parser = argparse.ArgumentParser(description=__doc__)
    helped = (
        f"numbers such as 03, or {', '.join((*UNNUMBERED, PAGE))}; all of them if none is given"
    )
    parser.add_argument("lesson", nargs="*", help=helped)
    paths = chosen(parser.parse_args(arguments).lesson, folder)
    return max([refresh(path) for path in paths], default=0)


def chosen(numbers, folder=NOTEBOOKS):
    """Return the notebooks with these numbers, or all."""
    lessons = {path.name[:2]: path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}
    for name in (*UNNUMBERED, PAGE):
        lessons |= {path.stem: path for path in folder.glob(f"{name}.ipynb")}
    unknown = [number for number in numbers if number.zfill(2) not in lessons]
    if unknown:
        there = ", ".join(lessons) or "none yet"
        sys.exit(f"There is no lesson {', '.join(unknown)}. Lessons: {there}.")
    return [lessons[number.zfill(2)] for number in numbers] or list(lessons.values())


def refresh(path):
    """Run one notebook from top to bottom, store it if anything changed."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    try:
        if path.stem == "glossary":
            with_entries(notebook)
        else:
            store_what_came(Lesson(path.name, stored_text(notebook)), notebook)
            store_graphs(Lesson(path.name, stored_text(notebook)), notebook)
            store_questions(path, notebook, before)
        after = stored_text(executed(notebook, path))
    except (CannotBeAsked, CannotBeDrawn) as error:
        print(f"{path.name}: NOT refreshed.\n{error}", file=sys.stderr)
        return 1
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"{path.name}: NOT refreshed, a cell failed.\n{error}", file=sys.stderr)
        return 1
    if after != before:
        path.write_text(after, encoding="utf-8", newline="\n")
    print(f"{path.name}: {'refreshed' if after != before else 'unchanged'}")
    return 0


def store_questions(path, notebook, before):
    """Write what was computed of new questions: the kernel reads its questions in the file."""
    text = stored_text(notebook)
    if said_of_questions(text) != said_of_questions(before):
        path.write_text(text, encoding="utf-8", newline="\n")


def said_of_questions(text):
    courses = [cell.metadata.get("course", {}) for cell in nbformat.reads(text, as_version=4).cells]
    return [course for course in courses if course.get("role") == "question"]


class Client(NotebookClient):
    """Runs claims without a number of their own: the counts are those of a student's copy."""

    async def async_execute_cell(self, cell, cell_index, execution_count=None, store_history=True):
        counts = not is_claim(cell)
        made = await super().async_execute_cell(cell, cell_index, execution_count, counts)
        self.code_cells_executed -= not counts
        return made


def executed(notebook, path):
    """Return `notebook` after running every cell in a fresh kernel, as the file at `path`."""
    notebook.metadata.pop("widgets", None)
    specs = NbvalKernelspecManager()
    kernel = AsyncKernelManager(kernel_name=CURRENT_ENV_KERNEL_NAME, kernel_spec_manager=specs)
    resources = {"metadata": {"path": str(path.parent)}}
    how = {"timeout": 60, "record_timing": False, "resources": resources}
    client = Client(notebook, km=kernel, **how)
    with tempfile.TemporaryDirectory() as progress:  # nothing was guessed yet, whoever runs this
        env = os.environ | {progress_file.FOLDER: progress, SESSION: str(path)}
        # the kernel's own chatter is no output
        return client.execute(cleanup_kc=True, stderr=subprocess.DEVNULL, env=env)


if __name__ == "__main__":
    sys.exit(main())
