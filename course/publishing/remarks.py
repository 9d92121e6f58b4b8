"""Say of a notebook what a reader will miss in what is published of it: the build prints it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from nbformat import NotebookNode

from course.publishing import cell_roles
from course.publishing.addresses import is_elsewhere, not_held
from course.publishing.network import missing
from course.publishing.notebook_file import not_run
from course.publishing.prepare import pasted, trusted_html
from course.publishing.terminal import plain
from course.publishing.tex import Macros
from course.publishing.wording import formula, safe_markdown

MOST = 10  # formulas that are named one by one


def remarks(notebook: NotebookNode, path: Path, trust: bool = False) -> list[str]:
    """Return a sentence on each cell or formula of which something will be missed."""
    names = places(notebook)
    formulas, waits = unread(notebook), not_run(notebook, path)
    sentences = []
    if waits:
        sentences.append(waits)
    for cell, why in formulas[:MOST]:
        said = f"{names[cell]}: a formula is shown as it was written: {plain(why)}."
        sentences.append(f"{said} Write it with other TeX commands.")
    if len(formulas) > MOST:
        sentences.append(f"{len(formulas) - MOST} more formulas are shown as they were written.")
    for cell in notebook.cells:
        for lacks in not_in_file(cell, path.parent, trust):
            sentences.append(f"{names[cell.id]}: {lacks}")
    for cell in notebook.cells:
        errors = [out.ename for out in cell.get("outputs", []) if out.output_type == "error"]
        if errors and "raises-exception" not in cell.metadata.get("tags", []):
            kind = plain(errors[0])[:40]
            sentences.append(f"{names[cell.id]} ended in {kind}: its error is shown as it is.")
    return sentences


def not_in_file(cell: NotebookNode, folder: Path, trust: bool) -> Iterator[str]:
    """Yield a sentence on what trusted HTML asks other machines for, and on each picture of a text
    cell that is not there.
    """
    if trust and (lacks := missing(trusted(cell))):
        yield lacks
    if cell.cell_type != "markdown":
        return
    source = pasted(cell.source, cell.get("attachments", {}))
    for address in not_held(MarkdownIt("commonmark").render(source), folder):
        named = plain(unquote(address))[:80]
        if not is_elsewhere(address):
            yield f"the picture {named} wasn't found next to it, so its description is shown instead."
        elif not trust:  # else `missing` says so
            why = "is on another machine, so its description is shown instead"
            yield f"the picture {named} {why}. Save it next to the notebook."


def trusted(cell: NotebookNode) -> str:
    """Return the HTML that a cell has where it is trusted: its text, or its outputs."""
    if cell.cell_type == "markdown":
        return MarkdownIt("commonmark").render(cell.source)
    pages = [trusted_html(output.get("data", {})) or "" for output in cell.get("outputs", [])]
    return "\n".join(pages)


def unread(notebook: NotebookNode) -> list[tuple[str, str]]:
    """Return (id, formula and why) of each formula that cannot be read, outputs among them."""
    macros: Macros = {}
    formulas: list[tuple[str, str]] = []
    for cell in notebook.cells:
        here: list[str] = []
        if cell.cell_type == "markdown":
            safe_markdown(cell.source, macros, here)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" not in data and "text/latex" in data:
                formula(str(data["text/latex"]), macros, here)
        formulas += [(cell.id, why) for why in here]
    return formulas


def places(notebook: NotebookNode) -> dict[str, str]:
    """Return by its id how to find each cell: its id in a lesson, else its number and first words."""
    if is_lesson(notebook):
        return {cell.id: f"cell {cell.id}" for cell in notebook.cells}
    names = {}
    for number, cell in enumerate(notebook.cells, start=1):
        line = plain(cell.source.strip().partition("\n")[0])
        if len(line) > 32:
            line = f"{line[:30].rstrip()} …"
        names[cell.id] = f"cell {number}, “{line}”"
    return names


def is_lesson(notebook: NotebookNode) -> bool:
    """Tell whether cells have the roles of a lesson of the course."""
    return any("role" in cell_roles.course_of(cell) for cell in notebook.cells)
