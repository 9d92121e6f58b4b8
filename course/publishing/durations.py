"""Say how long parts of a lesson take: 200 words, 3 lines of code or one guess a minute."""

from __future__ import annotations

from nbformat import NotebookNode

WORDS_A_MINUTE, SECONDS_A_LINE, SECONDS_A_ROUND = 200, 20, 60


def of_words(cells: list[NotebookNode]) -> int:
    words = sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")
    code = sum(of_code(cell) for cell in cells if cell.cell_type == "code")
    return round(60 * words / WORDS_A_MINUTE) + code


def of_code(cell: NotebookNode) -> int:
    return SECONDS_A_LINE * sum(bool(line.strip()) for line in cell.source.split("\n"))


def of_round(cells: list[NotebookNode]) -> int:
    """Return the seconds of a round: what is read of it, its code, a minute for the guess."""
    unread = ("notes", "guess", "try")
    read = [cell for cell in cells if cell.metadata.course.get("role") not in unread]
    return SECONDS_A_ROUND + of_words(read)


def of_lab(cells: list[NotebookNode]) -> int:
    """Return the seconds of a lab: its own minutes, and what is read of it."""
    own = sum(cell.metadata.course.get("minutes", 0) for cell in cells)
    return 60 * own + of_round(cells) - SECONDS_A_ROUND
