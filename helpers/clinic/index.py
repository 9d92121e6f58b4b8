"""Show the glossary and the symptom index as Markdown, for notebooks/glossary.ipynb and whoever
asks in a cell.
"""

from __future__ import annotations

from helpers.clinic.catalogue import Book, Cause, Symptom, book

KINDS = ("error", "warning", "silent")


class Page(str):
    """A text that a notebook shows as Markdown."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


def terms() -> Page:
    """Return every term with one sentence and the lesson where it is earned, as a table."""
    whole = book()
    rows = [f"| {one.name} | {one.says} | {_link(whole, one.lesson)} |" for one in whole.terms]
    return Page("\n".join(["| Term | In one sentence | Lesson |", "|:---|:---|:---|", *rows]))


def symptoms(kind: str) -> Page:
    """Return the symptoms of a kind, "error", "warning" or "silent": what each means, what to try,
    the lesson.

    Raises ValueError for another kind.
    """
    if kind not in KINDS:
        raise ValueError(
            f"There are no symptoms of kind {kind!r}. Ask for one out of {', '.join(KINDS)}."
        )
    whole = book()
    return Page("\n\n".join(_entry(whole, one) for one in whole.symptoms if one.kind == kind))


def _entry(whole: Book, one: Symptom) -> str:
    seen = f"**{one.message}**" if one.kind == "silent" else f"**{one.type}:** `… {one.message} …`"
    older = "".join(f" Also: `… {text} …`" for text in one.also)
    causes = "\n".join(_cause(whole, cause) for cause in one.causes)
    return f"{seen}{older}\n\n{one.means}\n\n{causes}"


def _cause(whole: Book, cause: Cause) -> str:
    return (
        f"- {_literal(cause.what)}. *Try:* {_literal(cause.remedy)} ({_link(whole, cause.lesson)})"
    )


def _link(whole: Book, lesson: str) -> str:
    return f"[{lesson}]({whole.lessons[lesson]}.ipynb)"


def _literal(text: str) -> str:
    """Keep Markdown from reading stars and underscores of code as emphasis."""
    return text.replace("*", r"\*").replace("_", r"\_")
