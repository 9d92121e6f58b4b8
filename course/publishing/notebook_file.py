"""Read the notebook that is to be published, and refuse in one sentence what cannot be.

Reads that one file only.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.workspace import is_claim

HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.M)
# What Markdown means; in code a sign is a sign.
SIGNS = re.compile(r"`+([^`]+)`+|\*|(?<!\w)_|_(?!\w)|<[^>]*>")
GIVE = "Give a file that ends in .ipynb."
LONGEST = 80  # characters
ID = re.compile(r"[\w-]{1,64}", re.ASCII)
EMPTY = {"metadata": {}, "source": "", "outputs": [], "data": {}, "text": "", "traceback": []}
RUN = "Run all its cells, save it, and publish it again."


class Unpublishable(ValueError):
    """Say what was given, what was found in it, and the one thing to try."""


class NoSlides(Unpublishable):
    """Say that a notebook is not meant for slides: every cell of it is skipped."""


def notebooks_in(path: Path) -> list[Path]:
    """Return the notebooks of a folder, or the file that is given. Raises Unpublishable."""
    if not os.path.isdir(path):
        return [path]
    notebooks = sorted(path.glob("[!.]*.ipynb"))
    if not notebooks:
        raise Unpublishable(f"There is no notebook in {path}: no file ends in .ipynb.")
    return notebooks


def read_run(path: str | Path) -> NotebookNode:
    """Return the notebook in a file, every code cell of it run. Raises Unpublishable."""
    notebook = opened(path)
    if waits := not_run(notebook, path):
        raise Unpublishable(waits)
    return notebook


def opened(path: str | Path) -> NotebookNode:
    """Return the notebook in a file, run or not. Raises Unpublishable."""
    path = Path(path)
    notebook = parsed(path, text_of(path))
    if not notebook.cells:
        raise Unpublishable(f"{path} has no cell to publish. Is it the file you meant?")
    return notebook


def not_run(notebook: NotebookNode, path: str | Path) -> str:
    """Return what to say of code cells that were never run; "" where all were."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    waiting = [cell for cell in code if cell.execution_count is None and not cell.outputs]
    if not waiting:
        return ""
    if len(waiting) == len(code):
        return f"{path} was never run, so there is no output to show. {RUN}"
    first = waiting[0].source.strip().splitlines()[0][:60]
    return f"{path}: {len(waiting)} of {len(code)} code cells were not run; the first is {first!r}. {RUN}"


def text_of(path: Path) -> str:
    """Return what stands in the file. Raises Unpublishable where that is no text, or no file."""
    if os.path.isdir(path):  # says no where there can be no such name
        raise Unpublishable(f"{path} is a folder. {GIVE}")
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except FileNotFoundError:
        where = "Check the spelling, and the folder you're in."
        raise Unpublishable(f"There is no file {path}. {where}") from None
    except UnicodeDecodeError:
        raise Unpublishable(f"{path} isn't a notebook: it holds no text. {GIVE}") from None
    except (OSError, ValueError) as error:
        raise Unpublishable(f"{path} can't be read ({reason(error)}). Check who owns it.") from None


def parsed(path: Path, text: str) -> NotebookNode:
    """Return the notebook that a text holds, in today's format and without its claims. Raises
    Unpublishable.
    """
    try:
        # Half a character has no bytes.
        text = json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace").decode()
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = "too deep, or too large a number"
        if isinstance(error, json.JSONDecodeError):
            where = f"line {error.lineno}"
        raise Unpublishable(f"{path} isn't a notebook: it isn't JSON ({where}). {GIVE}") from None
    if not isinstance(data, dict) or "nbformat" not in data:
        raise Unpublishable(
            f"{path} is JSON, but not a notebook: it doesn't name an nbformat. {GIVE}"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of notebooks whose cells have no id yet
            if data["nbformat"] != 4:
                data = nbformat.reads(text, as_version=4)
                for cell in data.cells:
                    cell.pop("id", None)  # it was drawn by lot
            notebook = nbformat.reads(json.dumps(completed(data)), as_version=4)
            nbformat.validate(notebook)
    except Exception as error:  # an old or broken notebook fails in many ways while it is converted
        mended = "Open it in JupyterLab, save it, and publish it again."
        why = f"{path} is a broken notebook ({reason(error)}). {mended}"
        raise Unpublishable(why) from None
    notebook.cells = [cell for cell in notebook.cells if not is_claim(cell)]
    return notebook


def completed(notebook: dict) -> dict:
    """Return a notebook of any format 4 as one of 4.5: each cell has an id of its own, the same
    whenever the file is read, and nothing is null.
    """
    cells, names = [], set()
    minor = max(5, notebook.get("nbformat_minor") or 5)
    for number, cell in enumerate(notebook["cells"], start=1):
        made = without_nulls(cell)
        name = made.get("id")
        if type(name) is not str or not ID.fullmatch(name) or name in names:
            name = f"cell-{number}"
        while name in names:
            name += "-"
        names.add(name)
        made["id"] = name
        if "outputs" in made:
            made["outputs"] = list(map(without_nulls, made["outputs"]))
        cells.append(made)
    return {**without_nulls(notebook), "nbformat": 4, "nbformat_minor": minor, "cells": cells}


def without_nulls(thing: dict) -> dict:
    """Return a notebook, a cell or an output without fields that are null; those that it must have
    are empty instead.
    """
    made = {}
    for name, value in thing.items():
        if value is None and name in EMPTY:
            made[name] = EMPTY[name]
        elif name in ("metadata", "data"):
            made[name] = {key: one for key, one in value.items() if one is not None}
        elif value is not None or name == "execution_count":
            made[name] = value
    return made


def title_of(notebook: NotebookNode) -> str:
    """Return what a notebook is called: by its metadata, its first heading, or how it begins."""
    said = notebook.metadata.get("title")
    if isinstance(said, str) and said.strip():
        return said.strip()
    for cell in notebook.cells:
        heading = HEADING.search(cell.source)
        if heading and cell.cell_type == "markdown":
            return plain(heading[1])
    first = next((cell.source.strip() for cell in notebook.cells if cell.source.strip()), "Slides")
    return plain(first.split("\n")[0])


def plain(line: str) -> str:
    return SIGNS.sub(lambda sign: sign[1] or "", line).strip()[:LONGEST] or "Slides"


def reason(error: Exception) -> str:
    """Return the first line of what an error says, shortened."""
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return said.strip().splitlines()[0][:120]
