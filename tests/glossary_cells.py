"""The text cells of the glossary that are written from autograd_graphs/diagnosing/*.toml: its contents, and one
cell for each entry. Changes a notebook in memory; reads and writes no file.
"""

import nbformat

from autograd_graphs.diagnosing.entries import SECTIONS
from helpers.clinic.index import contents, of_section

CONTENTS = "glossary-contents"
ENTRY = "entry-"  # how the ids of written cells begin


def with_entries(notebook):
    """Write contents and entries into the glossary, in place; what stands between them stays.

    The heading of a section has the id "glossary-error", "glossary-term", ...
    """
    cells = []
    for cell in notebook.cells:
        if cell.get("id", "").startswith(ENTRY):
            continue
        cells.append(cell)
        if cell.get("id") == CONTENTS:
            cell.source = f"## Contents\n\n{contents()}"
        section = cell.get("id", "").removeprefix("glossary-")
        if section in SECTIONS:
            cells += [text_cell(one) for one in of_section(section)]
    notebook.cells = cells


def text_cell(entry):
    """Return the cell of one entry."""
    return nbformat.v4.new_markdown_cell(
        entry.source, id=entry.cell, metadata={"slideshow": {"slide_type": "skip"}}
    )
