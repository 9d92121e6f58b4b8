"""The entries of the glossary, terms and symptoms, as Markdown and as plain text. No torch."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from autograd_graphs.diagnosing.catalogue import Cause, Symptom, Term, book
from autograd_graphs.diagnosing.course_links import course, link_to_lesson

SECTIONS = {
    "error": "Errors",
    "warning": "Warnings",
    "silent": "No error, no warning",
    "term": "Words",
}
STARS = re.compile(r"(?<!\s)\*|\*(?!\s)")  # what Markdown may take for emphasis
UNDERSCORES = re.compile(r"(?<!\w)_|_(?!\w)")
MARKS = re.compile(r"`|\\([*_])|(?<!\S)\*{1,2}(?=\S)|(?<=\S)\*{1,2}(?!\S)")
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
LINK_TO_LESSON = re.compile(r"\[[Ll]esson \d\d\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold one entry: its section, its heading and the text under it, in Markdown.

    `also` are other words by which it is found: other names, older messages. `typed` are what people
    type; nobody is shown them.
    """

    section: str
    heading: str
    text: str
    also: tuple[str, ...]
    lessons: tuple[str, ...]
    typed: str = ""

    @property
    def name(self) -> str:
        """Return the heading without marks: what a reader sees."""
        return plain(self.heading)

    @property
    def anchor(self) -> str:
        """Return what JupyterLab calls the heading in links: "#saved-tensor"."""
        return lab_name(self.name)

    @property
    def words(self) -> str:
        return plain(self.text)

    @property
    def line(self) -> str:
        """Return what it means and its lessons, in one line of Markdown."""
        means = re.sub(r"^\*\*\w+\.\*\* ", "", self.text.partition("\n\n")[0])
        means, also, rest = means.partition(" Also: ")
        links = dict.fromkeys(LINK_TO_LESSON.findall(self.text))
        if not links:
            return means
        if self.section == "term":
            return f"{means} {rest[rest.index('[') :]}" if also else means
        return f"{means} ({', '.join(links)})"

    @property
    def cell(self) -> str:
        name = re.sub(r"\W+", "-", self.name).strip("-_").lower()
        return f"entry-{name}"[:64].rstrip("-_")

    @property
    def link(self) -> str:
        """Return a link to it in the glossary of a course; its name where there is none.

        It names the cell: to a heading JupyterLab goes only in a notebook that is open already.
        """
        here = course()
        name = literal(self.name)
        if here is None:
            return name
        return f"[{name}]({here.glossary}#cell-id={self.cell})"

    @property
    def source(self) -> str:
        return f"### {self.heading}\n\n{self.text}"


@cache
def entries() -> tuple[Entry, ...]:
    """Return all entries, in the order of the glossary."""
    sections = list(SECTIONS)
    symptoms = sorted(book().symptoms, key=lambda symptom: sections.index(symptom.kind))
    return (*map(_symptom, symptoms), *map(_term, book().terms))


def of_section(section: str) -> list[Entry]:
    """Return the entries of a section, in the order of the glossary."""
    return [entry for entry in entries() if entry.section == section]


def plain(text: str) -> str:
    """Return Markdown of ours as plain text: no marks, of a link its words."""
    return MARKS.sub(lambda mark: mark[1] or "", LINK.sub(r"\1", text))


def lab_name(heading: str) -> str:
    """Return what JupyterLab calls a heading in links."""
    return heading.replace(" ", "-")


def literal(text: str) -> str:
    """Keep Markdown from reading stars and underscores of code as emphasis."""
    text = STARS.sub(r"\\*", text)
    return UNDERSCORES.sub(r"\\_", text)


def _term(term: Term) -> Entry:
    also = _also(map(literal, term.also))
    text = f"{term.says}{also} {link_to_lesson(term.lesson, 'Lesson')}".rstrip()
    return Entry("term", term.name, text, term.also, (term.lesson,))


def _symptom(symptom: Symptom) -> Entry:
    text, older = literal(symptom.means), symptom.also
    if symptom.kind != "silent":
        text = f"**{symptom.type}.** {text}"
        older = [f"`{message}`" for message in symptom.also]
    if symptom.source:
        text += f" *{literal(symptom.source)}*"
    text += f"{_also(older)}\n\n" + "\n".join(map(_cause, symptom.causes))
    here = course()
    places = [f"{here.clinic}#cell-id=case-{case}" for case in symptom.cases] if here else []
    if places:
        first, *more = places
        text += f"\n\nIn the clinic: [a program like that]({first})"
        text += "".join(f", [and another]({place})" for place in more)
    message = literal(symptom.message)
    lessons = tuple(cause.lesson for cause in symptom.causes if cause.lesson)
    return Entry(symptom.kind, message, text, symptom.also, lessons, symptom.typed)


def _also(names: Iterable[str]) -> str:
    """Name other names, or older messages; say nothing where there are none."""
    listed = ", ".join(names)
    return f" Also: {listed}." if listed else ""


def _cause(cause: Cause) -> str:
    said = f"- {literal(cause.what)}. *Try:* {literal(cause.remedy)}"
    lesson = link_to_lesson(cause.lesson)
    return f"{said} ({lesson})" if lesson else f"{said}."
