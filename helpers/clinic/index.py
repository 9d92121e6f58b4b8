"""Show the glossary, and parts of it, as Markdown: for its notebook and whoever asks."""

from __future__ import annotations

from itertools import groupby

from autograd_graphs.diagnosing.entries import SECTIONS, Entry, lab_name, literal, of_section


class Page(str):
    """A text that a notebook shows as Markdown."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


def terms() -> Page:
    """Return every term with one sentence and the lesson where it is earned."""
    return symptoms("term")


def symptoms(kind: str) -> Page:
    """Return the symptoms of a kind, "error", "warning" or "silent": what each means, what to try,
    the lesson.
    """
    return Page("\n\n".join(entry.source for entry in of_section(kind)))


def contents() -> str:
    """Return the contents of the glossary: a link to each section, and to each word by its letter."""
    counts, groups = [], []
    for section, title in SECTIONS.items():
        counts.append(f"[{title}](<#{lab_name(title)}>) ({len(of_section(section))})")
    letters = groupby(of_section("term"), key=lambda term: term.name.lstrip("_")[0].upper())
    for letter, words in letters:
        groups.append(f"**{letter}** {', '.join(map(link, words))}")
    return "\n\n".join([" · ".join(counts), " ".join(groups)])


def link(entry: Entry) -> str:
    """Return a link to an entry, from within the glossary.

    JupyterLab follows a heading's name as it is: signs written as %28 lead nowhere.
    """
    return f"[{literal(entry.name)}](<#{entry.anchor}>)"
