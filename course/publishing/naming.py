"""Say what a notebook is called."""

from __future__ import annotations

import re

from nbformat import NotebookNode

HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.M)
SIGNS = re.compile(
    r"`+([^`]+)`+|\*|(?<!\w)_|_(?!\w)|<[^>]*>"
)  # what Markdown means; in code a sign is a sign
LONGEST = 80  # characters


def title_of(notebook: NotebookNode) -> str:
    """Return what a notebook is called: its metadata say it, or its first heading, or how it begins."""
    said = notebook.metadata.get("title")
    if isinstance(said, str) and said.strip():
        return said.strip()
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    found = next(filter(None, map(HEADING.search, texts)), None)
    if found:
        return plain(found[1])
    first = next((cell.source.strip() for cell in notebook.cells if cell.source.strip()), "Slides")
    return plain(first.split("\n")[0])


def plain(line: str) -> str:
    """Return a line of Markdown without its signs."""
    return SIGNS.sub(lambda found: found[1] or "", line).strip()[:LONGEST] or "Slides"
