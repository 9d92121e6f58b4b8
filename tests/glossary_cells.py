"""The text cells of the glossary that are written from autograd_graphs/diagnosing/*.toml: its contents, and one
cell for each entry. Claims stay below their entry. Changes a notebook in memory; reads and writes no file.
"""

from collections import defaultdict

import nbformat

from autograd_graphs.diagnosing.entries import SECTIONS
from course.workspace import is_claim
from helpers.clinic.index import contents, of_section

CONTENTS = "glossary-contents"
ENTRY = "entry-"  # how the ids of written cells begin


def with_entries(notebook):
    """Write contents and entries into the glossary, in place; what stands between them stays.

    The heading of a section has the id "glossary-error", "glossary-term", ... Raises ValueError where a
    claim stands below an entry that is no more.
    """
    claims = claims_below(notebook)
    cells = []
    for cell in notebook.cells:
        if is_claim(cell) or cell.get("id", "").startswith(ENTRY):
            continue
        cells += [cell, *claims.pop(cell.get("id"), [])]
        if cell.get("id") == CONTENTS:
            cell.source = f"## Contents\n\n{contents()}"
        section = cell.get("id", "").removeprefix("glossary-")
        if section not in SECTIONS:
            continue
        for entry in of_section(section):
            cells += [text_cell(entry), *claims.pop(entry.cell, [])]
    if claims:
        raise ValueError(
            f"Claims stand below {', '.join(claims)}, which is no entry now: move them."
        )
    notebook.cells = cells


def claims_below(notebook):
    """Return the claims of a notebook by the id of the cell below which they stand."""
    found, above = defaultdict(list), None
    for cell in notebook.cells:
        if is_claim(cell):
            found[above].append(cell)
        else:
            above = cell.get("id")
    return found


def text_cell(entry):
    """Return the cell of one entry."""
    return nbformat.v4.new_markdown_cell(
        entry.source, id=entry.cell, metadata={"slideshow": {"slide_type": "skip"}}
    )
